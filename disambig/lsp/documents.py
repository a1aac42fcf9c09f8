"""Open texts of an editor, and their lines and columns in the encodings of the protocol."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt

from disambig.errors import UserError
from disambig.markup import PlainText, has_markup

if TYPE_CHECKING:
    from disambig.checking import Flag, FlagCandidate, LiveText


Encoding = Literal["utf-8", "utf-16", "utf-32"]
_LINE_END = re.compile("\r\n|\r|\n")
_WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class ProtocolLines:
    """The lines of a text.

    Parameters
    ----------
    text : str
    encoding : "utf-8", "utf-16" or "utf-32"
        What columns count the units of.

    Attributes
    ----------
    text : str
    """

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text
        self._codec, self._width = _WIDTHS[encoding]
        self._is_utf_32 = encoding == "utf-32"
        found = _line_ends(text, 0, len(text))
        self._starts = np.concatenate(([0], found[:, 1]))
        self._ends = np.concatenate((found[:, 0], [len(text)]))

    def __len__(self) -> int:
        return len(self._starts)

    def changed(self, start: int, end: int, new: str) -> ProtocolLines:
        """Return the lines of the text where `new` stands from `start` to `end`, found anew only there."""
        made = copy(self)
        made.text = self.text[:start] + new + self.text[end:]
        longer = len(new) - (end - start)
        first, last = self._line(max(start - 1, 0)), self._line(end)  # CR before may now belong to LF behind
        is_last = last + 1 == len(self)
        stop = len(made.text) if is_last else int(self._starts[last + 1]) + longer
        found = _line_ends(made.text, int(self._starts[first]), stop)
        behind = [len(made.text)] if is_last else self._ends[last + 1 :] + longer
        made._ends = np.concatenate((self._ends[:first], found[:, 0], behind))
        made._starts = np.concatenate(
            (self._starts[: first + 1], found[:, 1], self._starts[last + 2 :] + longer)
        )
        return made

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both from 0."""
        line = self._line(offset)
        return line, self._units(self.text[self._starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place, both from 0; a column behind the line's end is at its end.

        Within a character it is before that. The line behind the last one is the end of the text, for clients
        that so name all of it.

        Raises
        ------
        UserError
            D842 for a line further down.
        """
        if line >= len(self._starts):
            if line == len(self._starts):
                return len(self.text)
            raise UserError("D842", line=line + 1, lines=len(self._starts))
        low, end = self.line_at(line)
        high = min(end, low + column)
        if self._is_utf_32 or self.text[low:high].isascii():
            return high
        while low < high:  # the place is from one to the other
            middle = (low + high + 1) // 2
            units = self._units(self.text[low:middle])
            if units > column:
                high = middle - 1
            else:
                low, column = middle, column - units
        return low

    def line_span(self, offset: int) -> tuple[int, int]:
        """Return where the line of an offset begins and where it ends, its line end left out."""
        return self.line_at(self._line(offset))

    def line_at(self, number: int) -> tuple[int, int]:
        """Return where a line, counted from 0, begins and where it ends, its line end left out."""
        return int(self._starts[number]), int(self._ends[number])

    def _line(self, offset: int) -> int:
        return int(np.searchsorted(self._starts, offset, side="right")) - 1

    def _units(self, text: str) -> int:
        if self._is_utf_32 or text.isascii():
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width


def _line_ends(text: str, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return where each line end begins and ends, of shape (line ends, 2)."""
    found = [match.span() for match in _LINE_END.finditer(text, start, stop)]
    return np.array(found, np.int64).reshape(-1, 2)


_SUFFIXES = {
    "markdown": ".md", "latex": ".tex", "tex": ".tex", "plaintex": ".tex", "python": ".py", "rust": ".rs",
    "javascript": ".js", "typescript": ".ts", "javascriptreact": ".jsx", "typescriptreact": ".tsx",
    "go": ".go", "c": ".c", "shellscript": ".sh", "sh": ".sh", "bash": ".sh",
}  # fmt: skip
"""Of languages as editors name them: what a text without a file is read as."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was found in a text.

    Attributes
    ----------
    version : int
        Of the text.
    flags : tuple of Flag
    candidates : tuple of list of Candidate
        What may stand in the place of each flag.
    diagnostics : list
        The flags as the protocol has them.
    unused : list of (diagnostic, change or None)
        Comments that hide nothing, and what takes them out.
    """

    version: int
    flags: tuple[Flag, ...]
    candidates: tuple[list[FlagCandidate], ...]
    diagnostics: list[Any]
    unused: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class TextState:
    """A text as it was at one moment."""

    version: int
    text: str
    lines: ProtocolLines


@dataclass(slots=True, eq=False)
class TextDocument:
    """A text that is open. Only the thread of the protocol changes its state, only the worker what checks it.

    Attributes
    ----------
    uri, name : str
        What the client calls it; the path of its file, or a made-up one.
    state : State
        What it is now.
    settings : int
        How often settings changed since it was opened.
    live : LiveText, optional
        What checked it last; None before the first time.
    live_settings : int
        The `settings` that `live` was made for.
    found : Found, optional
        What was found last, and published.
    lost : UserError, optional
        Why it is not known what the text is.
    read : callable, optional
        Reads its markup, for the thread of the protocol; None as long as nothing was asked.
    is_open, is_waiting : bool
        Whether it is open, and whether somebody is about to check it.
    """

    uri: str
    name: str
    encoding: Encoding
    state: TextState
    settings: int = 0
    live: LiveText | None = None
    live_settings: int = 0
    found: CheckResult | None = None
    unchecked: UserError | None = None
    read: Callable[[str], PlainText] | None = None
    is_open: bool = True
    is_waiting: bool = False

    @classmethod
    def opened(cls, uri: str, name: str, version: int, text: str, encoding: Encoding) -> TextDocument:
        """Return a text that was just opened."""
        return cls(uri, name, encoding, TextState(version, text, ProtocolLines(text, encoding)))

    def is_now(self, state: TextState, settings: int) -> bool:
        """Tell whether it is still open, and what it is and the settings are still those."""
        return self.is_open and self.state is state and self.settings == settings

    def change(self, version: int, changes: Sequence[Any]) -> None:
        """Apply changes of the client, one after the other.

        Raises
        ------
        UserError
            D843 for an edit outside the text; from then on it is `lost`, until the client sends all of it.
        """
        lines = self.state.lines
        for change in changes:
            where = getattr(change, "range", None)
            if where is None:
                lines, self.unchecked = ProtocolLines(change.text, self.encoding), None
            elif self.unchecked is None:
                try:
                    start = lines.offset(where.start.line, where.start.character)
                    end = lines.offset(where.end.line, where.end.character)
                    if end < start:
                        raise UserError("D844")
                except UserError as problem:
                    self.unchecked = UserError("D843", path=self.name, problem=problem.text)
                    continue
                lines = lines.changed(start, end, change.text)
        self.state = TextState(version, lines.text, lines)
        if self.unchecked is not None:
            raise self.unchecked


def uri_to_path(uri: str) -> str:
    """Return the path of a URI; "" where it names no file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme not in ("file", ""):
        return ""
    path = unquote(parts.path)
    if os.name == "nt":  # pragma: no cover
        path = path.lstrip("/").replace("/", os.sep)
    return path


def document_name(uri: str, language: str, root: str) -> str:
    """Return what a text is called: the path of its file, or of one that its language would have.

    Parameters
    ----------
    language : str
        As the client names it; it counts where the path's suffix says nothing of markup.
    root : str
        Folder whose settings hold for a text without a file.
    """
    path = uri_to_path(uri)
    suffix = _SUFFIXES.get(language.lower(), ".txt")
    if not path:
        return os.path.join(root, f"untitled{suffix}")
    if has_markup(path) or not has_markup(f"x{suffix}"):
        return path
    return path + suffix
