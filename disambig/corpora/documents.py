"""A document, and one that could not be read: what every reader yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from disambig.errors import UserError

Kind = Literal["file", "line", "json"]


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
        Number of its line in the file, from 1; 0 where the document is the whole file.
    kind : "file", "line" or "json"
    ending : str
        The line end that stood behind a ``"line"``: LF, CR LF or nothing.
    meta : mapping
        The other keys of its JSON object.
    """

    id: str
    text: str
    path: str
    line: int = 0
    kind: Kind = "file"
    ending: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def blank(self) -> bool:
        """Whether this is a line that holds no document: kept only where lines must stay lines."""
        return self.kind == "line" and not self.text.strip()


@dataclass(frozen=True, slots=True)
class Bad:
    """A document that could not be read or annotated, and why; the message names its path."""

    path: str
    error: UserError
