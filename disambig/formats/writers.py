"""The output formats for decisions, by name."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from disambig.errors import UserError, nearest_first
from disambig.files import without_compression
from disambig.formats.conllu import ConlluFormat
from disambig.formats.corrected import CorrectedFormat, M2Format
from disambig.formats.docbin import SpacyFormat
from disambig.formats.documents import Input, Kind
from disambig.formats.html import HtmlFormat
from disambig.formats.jsonl import JsonlFormat
from disambig.formats.record_schema import RECORD_VERSIONS
from disambig.formats.results import AnnotatedDocument, ReadableFormat
from disambig.formats.tables import CsvFormat, ParquetFormat

FORMATS = ("jsonl", "text", "corrected", "html", "csv", "tsv", "parquet", "conllu", "spacy", "m2")
BINARY = ("parquet", "spacy")
LANGUAGE_FORMATS = ("html", "conllu", "spacy")
"""The formats that depend on the language."""
_FORMATS_BY_SUFFIX = {
    ".jsonl": ("jsonl", "corrected"),
    ".ndjson": ("jsonl", "corrected"),
    ".txt": ("text", "corrected"),
    ".html": ("html",),
    ".htm": ("html",),
    ".csv": ("csv",),
    ".tsv": ("tsv",),
    ".parquet": ("parquet",),
    ".conllu": ("conllu",),
    ".spacy": ("spacy",),
    ".m2": ("m2",),
}
"""The formats that a file with this suffix can have; the first is the default."""


class Format(Protocol):
    """An output format: `encode` runs in the workers, `join` in the process that writes the output."""

    @property
    def name(self) -> str:
        """One of `FORMATS`."""
        ...

    @property
    def suffix(self) -> str:
        """Suffix of output files."""
        ...

    @property
    def mirrors(self) -> tuple[Kind, ...]:
        """Kinds of input whose files a job writes under their own names, and never splits."""
        ...

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Encode some documents as a chunk."""
        ...

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write chunks, in order, as one output file."""
        ...


def make_format(
    name: str,
    *,
    field: str = "text",
    text: bool = True,
    language: str = "en",
    safe_cells: bool | None = None,
    records: int = RECORD_VERSIONS[-1],
) -> Format:
    """Return the format `name`.

    Raises D601 for an unknown name, D530 for an unknown version.

    Parameters
    ----------
    name : str
        One of `FORMATS`.
    field : str
        Key of the text in JSONL inputs (for ``"corrected"``).
    text : bool
        Whether ``"jsonl"`` repeats each document's text, and tables the text around a decision.
    language : str
        Language of the blank spaCy pipeline (``"spacy"`` and ``"conllu"``) and of the page (``"html"``).
    safe_cells : bool, optional
        Whether formulas in ``"csv"`` and ``"tsv"`` are escaped; by default only in ``"csv"``.
    records : int
        Version of the records in ``"jsonl"``, one of `RECORD_VERSIONS`.
    """
    if records not in RECORD_VERSIONS:
        raise UserError("D530", version=records, versions=", ".join(map(str, RECORD_VERSIONS)))
    makers: dict[str, Callable[[], Format]] = {
        "jsonl": lambda: JsonlFormat(text=text, version=records),
        "text": ReadableFormat,
        "corrected": lambda: CorrectedFormat(field=field),
        "html": lambda: HtmlFormat(language=language),
        "csv": lambda: CsvFormat(text=text, safe_cells=safe_cells is not False),
        "tsv": lambda: CsvFormat(text=text, safe_cells=bool(safe_cells), name="tsv", suffix=".tsv"),
        "parquet": lambda: ParquetFormat(text=text),
        "conllu": lambda: ConlluFormat(language=language),
        "spacy": lambda: SpacyFormat(language=language),
        "m2": M2Format,
    }
    assert tuple(makers) == FORMATS
    if name not in makers:
        raise UserError("D601", name=name, names=nearest_first(name, FORMATS))
    return makers[name]()


def guess_format(path: str | None, *, terminal: bool = False) -> str:
    """Return the default format of an output (see `check_suffix` for unknown suffixes)."""
    if path is None:
        return "text" if terminal else "jsonl"
    return _FORMATS_BY_SUFFIX.get(_suffix(path), ("jsonl",))[0]


def check_suffix(path: str) -> None:
    """Check whether the suffix of an output names a format; a name without a suffix is accepted.

    Raises D351 for an unknown suffix.
    """
    suffix = _suffix(path)
    if suffix and suffix not in _FORMATS_BY_SUFFIX:
        raise UserError("D351", path=path, suffix=suffix, endings=", ".join(_FORMATS_BY_SUFFIX))


def check_output(path: str, format: str) -> None:
    """Check whether a file with this name can have this format.

    Raises D330 if its suffix is that of another format.
    """
    suffix = _suffix(path)
    if format not in _FORMATS_BY_SUFFIX.get(suffix, FORMATS):
        right = " or ".join(end for end, formats in _FORMATS_BY_SUFFIX.items() if format in formats)
        raise UserError("D330", path=path, suffix=suffix, format=format, right=right)


def check_inputs(format: Format, inputs: Iterable[Input]) -> None:
    """Check whether the format can be written for these inputs.

    Raises D321 for corrected text from tokenised inputs.
    """
    for entry in inputs:
        if format.name in ("corrected", "m2") and entry.kind in ("conllu", "spacy"):
            raise UserError("D321", format=format.name, kind=entry.kind, path=entry.path)


def _suffix(path: str) -> str:
    return os.path.splitext(without_compression(path))[1].lower()


DECISION_FORMATS = ("jsonl", "csv", "tsv", "parquet", "text")
"""The formats that list decisions, so that some can be left out; the others contain the whole text."""


class FlagsOnlyFormat:
    """A format restricted to flagged decisions, and to documents that have any.

    Its attributes and options are those of the format; an option that the format does not have is None.
    """

    def __init__(self, format: Format) -> None:
        self.format = format
        self.name, self.suffix, self.mirrors = format.name, format.suffix, format.mirrors
        self.text: bool | None = getattr(format, "text", None)
        self.version: int | None = getattr(format, "version", None)
        self.safe_cells: bool | None = getattr(format, "safe_cells", None)

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Encode the flags of some documents as a chunk."""
        return self.format.encode(
            [flagged for flagged in map(_flagged, results) if any(map(len, flagged.decisions))]
        )

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the chunks with the format."""
        self.format.join(chunks, write)


def _flagged(result: AnnotatedDocument) -> AnnotatedDocument:
    decisions = tuple(decisions.take(np.flatnonzero(decisions.flagged)) for decisions in result.decisions)
    return dataclasses.replace(result, decisions=decisions)


def only_flags(format: Format, *, can_flag: bool) -> FlagsOnlyFormat:
    """Return `format` restricted to flags.

    Raises D650 for a format that contains the whole text, D651 if nothing can be flagged.

    Parameters
    ----------
    can_flag : bool
        Whether any model can flag anything.
    """
    if format.name not in DECISION_FORMATS:
        raise UserError("D650", format=format.name, formats=", ".join(DECISION_FORMATS))
    if not can_flag:
        raise UserError("D651")
    return FlagsOnlyFormat(format)
