"""Readers of labelled corpora and their keys, of mistakes, and of CoNLL-U; text of unknown origin in HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.formats.conllu.sentences import ConlluSentence as ConlluSentence
    from disambig.formats.conllu.sentences import ConlluToken as ConlluToken
    from disambig.formats.conllu.sentences import read_conllu as read_conllu
    from disambig.formats.fixes.fix import Clean as Clean
    from disambig.formats.fixes.fix import Fix as Fix
    from disambig.formats.fixes.reader import read_clean as read_clean
    from disambig.formats.fixes.reader import read_fixes as read_fixes
    from disambig.formats.html.escaping import escape as escape
    from disambig.formats.labelled.contract import ExampleReader as ExampleReader
    from disambig.formats.labelled.contract import ReaderOptions as ReaderOptions
    from disambig.formats.labelled.contract import Source as Source
    from disambig.formats.labelled.example import Labelled as Labelled
    from disambig.formats.noad.reader import read_noad as read_noad
    from disambig.formats.senseval.keys import read_key as read_key
    from disambig.formats.senseval.keys import read_sensemap as read_sensemap
    from disambig.formats.senseval.reader import SenseInstance as SenseInstance
    from disambig.formats.senseval.reader import read_senseval as read_senseval
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
