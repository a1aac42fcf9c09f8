"""Readers of labelled corpora, answer keys, mistakes and CoNLL-U; schemas of records; escaping for HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.formats import Clean as Clean
    from disambig.formats import ConlluSentence as ConlluSentence
    from disambig.formats import ConlluToken as ConlluToken
    from disambig.formats import ExampleReader as ExampleReader
    from disambig.formats import ExampleSource as ExampleSource
    from disambig.formats import Fix as Fix
    from disambig.formats import FlagReading as FlagReading
    from disambig.formats import Labelled as Labelled
    from disambig.formats import ReaderTraits as ReaderTraits
    from disambig.formats import SenseInstance as SenseInstance
    from disambig.formats import arrow_schema as arrow_schema
    from disambig.formats import escape as escape
    from disambig.formats import read_clean as read_clean
    from disambig.formats import read_conllu as read_conllu
    from disambig.formats import read_fixes as read_fixes
    from disambig.formats import read_flag_readings as read_flag_readings
    from disambig.formats import read_key as read_key
    from disambig.formats import read_noad as read_noad
    from disambig.formats import read_sensemap as read_sensemap
    from disambig.formats import read_senseval as read_senseval
    from disambig.formats import record_schema as record_schema
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
