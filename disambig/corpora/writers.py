"""The formats that decisions are written in, by name. Where they are written is decided elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from disambig.corpora.corrected import CorrectedFormat
from disambig.corpora.docbin import SpacyFormat
from disambig.corpora.jsonl_format import JsonlFormat
from disambig.corpora.opening import without_compression
from disambig.corpora.readable import ReadableFormat
from disambig.corpora.results import Annotated
from disambig.errors import UserError, nearest_first

FORMATS = ("jsonl", "corrected", "spacy", "text")


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

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return some documents as a chunk."""
        ...

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write chunks, in order, as one output."""
        ...


def make_format(name: str, *, field: str = "text", text: bool = True, language: str = "en") -> Format:
    """Return the format `name`.

    Parameters
    ----------
    name : str
        One of `FORMATS`.
    field : str
        Key of the text in JSONL inputs (for ``"corrected"``).
    text : bool
        Whether ``"jsonl"`` repeats each document's text.
    language : str
        Of the blank spaCy pipeline (for ``"spacy"``).

    Raises
    ------
    UserError
        D601 for another name.
    """
    if name == "jsonl":
        return JsonlFormat(text=text)
    if name == "corrected":
        return CorrectedFormat(field=field)
    if name == "spacy":
        return SpacyFormat(language=language)
    if name == "text":
        return ReadableFormat()
    raise UserError("D601", name=name, names=nearest_first(name, FORMATS))


def format_of(path: str | None, *, terminal: bool = False) -> str:
    """Return the format that an output asks for when none is named."""
    if path is None:
        return "text" if terminal else "jsonl"
    name = without_compression(path)
    return "spacy" if name.endswith(".spacy") else "text" if name.endswith(".txt") else "jsonl"
