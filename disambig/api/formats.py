"""Readers of labelled corpora, answer keys, mistakes and CoNLL-U; schemas of records; escaping for HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.files import corpus_files as corpus_files
    from disambig.formats import (
        Clean as Clean,
        ConlluSentence as ConlluSentence,
        ConlluToken as ConlluToken,
        ExampleReader as ExampleReader,
        ExampleSource as ExampleSource,
        Fix as Fix,
        FlagReading as FlagReading,
        Labelled as Labelled,
        ReaderTraits as ReaderTraits,
        SenseInstance as SenseInstance,
        apply_records as apply_records,
        arrow_schema as arrow_schema,
        escape as escape,
        list_instances as list_instances,
        page_head as page_head,
        read_clean as read_clean,
        read_conllu as read_conllu,
        read_fixes as read_fixes,
        read_flag_readings as read_flag_readings,
        read_key as read_key,
        read_noad as read_noad,
        read_sensemap as read_sensemap,
        read_senseval as read_senseval,
        record_schema as record_schema,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
