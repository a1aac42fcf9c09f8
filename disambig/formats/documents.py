"""A document, and one that could not be read: what every reader yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from disambig.errors import UserError

Kind = Literal["file", "line", "json", "csv", "conllu", "spacy", "parquet"]


@dataclass(frozen=True, slots=True)
class Document:
    """One text to annotate.

    Attributes
    ----------
    id : str
        The ``id`` of its JSON object, else the path, with ``:line`` for one of many in a file.
    text : str
        The original text, to which all offsets refer; line ends are as in the file.
    path : str
        The file it comes from, as the user named it; or ``<stdin>``.
    line : int
        Number of its (first) line in the file, or of its row or Doc, from 1; 0 where the document is
        the whole file.
    kind : Kind
        What its file holds.
    ending : str
        The line end that stood behind a ``"line"``: LF, CR LF or nothing.
    meta : mapping
        The other keys of its JSON object, or columns of its row.
    source : object
        The document as it stood in its file, for the formats that write it again: the bytes of
        CoNLL-U, the `StoredDoc` of a ``.spacy`` file; else None.
    """

    id: str
    text: str
    path: str
    line: int = 0
    kind: Kind = "file"
    ending: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    source: Any = None

    @property
    def blank(self) -> bool:
        """Whether this is a line that holds no document: kept only where lines must stay lines."""
        return self.kind == "line" and not self.text.strip()


@dataclass(frozen=True, slots=True)
class Bad:
    """A document that could not be read or annotated, and why; the message names its path."""

    path: str
    error: UserError


def unfit(text: str) -> str | None:
    """Say why a text from inside a file's structure is no text; None where it is."""
    if "\0" in text:
        return f"a NUL character at offset {text.index(chr(0)):,} of its text"
    return None if can_be_encoded(text) else "half a surrogate pair in its text"


def can_be_encoded(text: str) -> bool:
    """Tell whether UTF-8 can hold `text`: it has no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encodable(value: Any) -> Any:
    """Return plain values with what UTF-8 cannot hold, such as bytes of a file name, as escapes."""
    if isinstance(value, str):
        return value if can_be_encoded(value) else value.encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return {encodable(key): encodable(each) for key, each in value.items()}
    return [encodable(each) for each in value] if isinstance(value, list | tuple) else value


def id_of(given: object, path: str, number: int) -> str:
    """Return the id of a row: the one that it gives itself, else its place."""
    named = isinstance(given, (str, int)) and not isinstance(given, bool) and given != ""
    return str(given) if named and can_be_encoded(str(given)) else f"{path}:{number}"
