"""The formats that decisions are written in, by name. Where they are written is decided elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from disambig.errors import UserError, nearest_first
from disambig.files.opening import without_compression
from disambig.formats.conllu.format import ConlluFormat
from disambig.formats.corrected import CorrectedFormat
from disambig.formats.docbin.format import SpacyFormat
from disambig.formats.documents import Kind
from disambig.formats.html import HtmlFormat
from disambig.formats.inputs import Input
from disambig.formats.jsonl.format import JsonlFormat
from disambig.formats.m2 import M2Format
from disambig.formats.readable import ReadableFormat
from disambig.formats.results import Annotated
from disambig.formats.tables.csv_format import CsvFormat
from disambig.formats.tables.parquet_format import ParquetFormat

FORMATS = ("jsonl", "text", "corrected", "html", "csv", "tsv", "parquet", "conllu", "spacy", "m2")
BINARY = ("parquet", "spacy")
OF_LANGUAGE = ("html", "conllu", "spacy")
"""Those that are made otherwise for another language."""
_OF_SUFFIX = {
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
"""The formats that a file of such a name may hold, the one it asks for first."""


class Format(Protocol):
    """How documents are written: `encode` runs in the workers, `join` where the output is."""

    @property
    def name(self) -> str:
        """One of `FORMATS`."""
        ...

    @property
    def suffix(self) -> str:
        """What names of files end in."""
        ...

    @property
    def mirrors(self) -> tuple[Kind, ...]:
        """Kinds of input whose files come out of a job under their own names, and are never cut."""
        ...

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return some documents as a chunk."""
        ...

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write chunks, in order, as one output."""
        ...


def make_format(
    name: str,
    *,
    field: str = "text",
    text: bool = True,
    language: str = "en",
    safe_cells: bool | None = None,
) -> Format:
    """Return the format `name`.

    Parameters
    ----------
    name : str
        One of `FORMATS`.
    field : str
        Key of the text in JSONL inputs (for ``"corrected"``).
    text : bool
        Whether ``"jsonl"`` repeats each document's text, and tables the text around a decision.
    language : str
        Of the blank spaCy pipeline (for ``"spacy"`` and ``"conllu"``), and of the page (``"html"``).
    safe_cells : bool, optional
        Whether formulas in ``"csv"`` and ``"tsv"`` are made harmless; if not given, in ``"csv"``.

    Raises
    ------
    UserError
        D601 for another name.
    """
    makers: dict[str, Callable[[], Format]] = {
        "jsonl": lambda: JsonlFormat(text=text),
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


def format_of(path: str | None, *, terminal: bool = False) -> str:
    """Return the format that an output asks for when none is named."""
    if path is None:
        return "text" if terminal else "jsonl"
    return _OF_SUFFIX.get(_suffix(path), ("jsonl",))[0]


def strange_suffix(path: str) -> str:
    """Return the suffix of an output's name if it asks for no format, empty if it does."""
    suffix = _suffix(path)
    return "" if suffix in _OF_SUFFIX else suffix


def check_output(path: str, format: str) -> None:
    """Make sure that a file of this name can hold this format.

    Raises
    ------
    UserError
        D330 where its name says that it holds another one.
    """
    suffix = _suffix(path)
    if format not in _OF_SUFFIX.get(suffix, FORMATS):
        right = " or ".join(end for end, formats in _OF_SUFFIX.items() if format in formats)
        raise UserError("D330", path=path, suffix=suffix, format=format, right=right)


def check_inputs(format: Format, inputs: Iterable[Input]) -> None:
    """Make sure that the format can be made of what is read.

    Raises
    ------
    UserError
        D321 for corrected text of what comes as tokens.
    """
    for entry in inputs:
        if format.name in ("corrected", "m2") and entry.kind in ("conllu", "spacy"):
            raise UserError("D321", format=format.name, kind=entry.kind, path=entry.path)


def _suffix(path: str) -> str:
    return os.path.splitext(without_compression(path))[1].lower()
