"""The texts that are open in the editor, as they are now."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from disambig.errors import UserError
from disambig.lsp.lines import Encoding, Lines
from disambig.text.markup import PlainText, has_markup

if TYPE_CHECKING:
    from disambig.checking.flags import Flag
    from disambig.checking.live.candidates import Candidate
    from disambig.checking.live.text import LiveText

_SUFFIXES = {
    "markdown": ".md", "latex": ".tex", "tex": ".tex", "plaintex": ".tex", "python": ".py", "rust": ".rs",
    "javascript": ".js", "typescript": ".ts", "javascriptreact": ".jsx", "typescriptreact": ".tsx",
    "go": ".go", "c": ".c", "shellscript": ".sh", "sh": ".sh", "bash": ".sh",
}  # fmt: skip
"""Of languages as editors name them: what a text without a file is read as."""


@dataclass(frozen=True, slots=True)
class Found:
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
    candidates: tuple[list[Candidate], ...]
    diagnostics: list[Any]
    unused: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A text as it was at one moment."""

    version: int
    text: str
    lines: Lines


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
    state: State
    settings: int = 0
    live: LiveText | None = None
    live_settings: int = 0
    found: Found | None = None
    lost: UserError | None = None
    read: Callable[[str], PlainText] | None = None
    is_open: bool = True
    is_waiting: bool = False

    @classmethod
    def opened(cls, uri: str, name: str, version: int, text: str, encoding: Encoding) -> TextDocument:
        """Return a text that was just opened."""
        return cls(uri, name, encoding, State(version, text, Lines(text, encoding)))

    def is_now(self, state: State, settings: int) -> bool:
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
                lines, self.lost = Lines(change.text, self.encoding), None
            elif self.lost is None:
                try:
                    start = lines.offset(where.start.line, where.start.character)
                    end = lines.offset(where.end.line, where.end.character)
                    if end < start:
                        raise UserError("D844")
                except UserError as problem:
                    self.lost = UserError("D843", path=self.name, problem=problem.text)
                    continue
                lines = lines.changed(start, end, change.text)
        self.state = State(version, lines.text, lines)
        if self.lost is not None:
            raise self.lost


def path_of(uri: str) -> str:
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


def name_of(uri: str, language: str, root: str) -> str:
    """Return what a text is called: the path of its file, or of one that its language would have.

    Parameters
    ----------
    language : str
        As the client names it; it counts where the path's suffix says nothing of markup.
    root : str
        Folder whose settings hold for a text without a file.
    """
    path = path_of(uri)
    suffix = _SUFFIXES.get(language.lower(), ".txt")
    if not path:
        return os.path.join(root, f"untitled{suffix}")
    if has_markup(path) or not has_markup(f"x{suffix}"):
        return path
    return path + suffix
