"""What an author tells the checker in comments of a text: one grammar in all markups.

``disambig: ignore-line``        nothing is flagged in the line of the comment
``disambig: ignore-next-line``   nothing is flagged in the line after it
``disambig: off``, ``on``        nothing is flagged between the two; without ``on`` up to the end
``disambig: ignore-file``        nothing is flagged in the whole text

Behind each may stand what alone is meant, by commas: words, and tasks such as ``task:spelling``.
``disambig: ignore quite, then`` is short for ``ignore-file quite, then``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from disambig.checking.places import Places
from disambig.errors import UserError

_DIRECTIVE = re.compile(
    r"(?:<!--|%+|\.\.|#+|//+|/\*+|--+|;+|\{#|\{-)?\s*disambig\s*:\s*(.*?)\s*(?:--+>|\*+/|#\}|-\})?\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""A whole comment, between the marks of any markup."""
_LONGEST = 10_000
_TASK = "task:"
_KNOWN = ("ignore", "ignore-file", "ignore-line", "ignore-next-line", "off", "on")


@dataclass(frozen=True, slots=True)
class Hidden:
    """One thing that a directive hides.

    Attributes
    ----------
    start, end : int
        What begins there is hidden.
    line : int
        That of the comment, from 1.
    said : str
        The directive, with this one item.
    word, task : str
        What alone is hidden, a word as `plain_word` returns it; "" for any.
    """

    start: int
    end: int
    line: int
    said: str
    word: str = ""
    task: str = ""

    def hides(self, start: int, observed: str, task: str) -> bool:
        """Tell whether a flag of `task` at `start`, where the plain word `observed` stands, is hidden."""
        return (
            self.start <= start < self.end and self.word in ("", observed) and self.task in ("", task.lower())
        )


@dataclass(frozen=True, slots=True)
class Directives:
    """What is hidden in one text.

    Attributes
    ----------
    hidden : tuple of Hidden
        In the order of the comments.
    problems : tuple of UserError
        Comments that are addressed to the checker and say nothing it knows (D641).
    """

    hidden: tuple[Hidden, ...] = ()
    problems: tuple[UserError, ...] = ()

    def hiding(self, start: int, observed: str, *tasks: str) -> list[Hidden]:
        """Return all that hides a flag at `start`, where `observed` stands.

        Parameters
        ----------
        *tasks : str
            That of the flag, and those that would put something else there: one that is hidden takes all.
        """
        word = plain_word(observed)
        return [each for each in self.hidden if any(each.hides(start, word, task) for task in tasks)]


def plain_word(word: str) -> str:
    """Return a word, or several, as they are compared: lower case, plain apostrophes, single spaces."""
    return " ".join(word.lower().replace("\u2019", "'").split())


def read_directives(path: str, text: str, comments: Iterable[tuple[int, int]], places: Places) -> Directives:
    """Return what the comments of a text, at their offsets, ask for."""
    reader = _Reader(path, text, places)
    for start, end in comments:
        match = _DIRECTIVE.match(text[start : min(end, start + _LONGEST)])
        if match:
            reader.read(start, end, match[1])
    return reader.done()


class _Reader:
    """The directives of one text, read one after the other."""

    def __init__(self, path: str, text: str, places: Places) -> None:
        self._path, self._text, self._end, self._places = path, text, len(text), places
        self._hidden: list[Hidden] = []
        self._open: dict[tuple[str, str], Hidden] = {}  # switched off, by what
        self._problems: list[UserError] = []

    def read(self, start: int, end: int, said: str) -> None:
        """Read what one comment, from `start` to `end`, says."""
        what, items = _parsed(said)
        line = self._places.of(start)[0]
        if what not in _KNOWN or not items:
            self._problems.append(UserError("D641", path=self._path, line=line, said=said[:40]))
        elif what == "on":
            self._switch_on(end, line, items)
        elif what == "off":
            for word, task in items:
                found = Hidden(start, self._end + 1, line, _shown(what, word, task), word, task)
                self._open.setdefault((word, task), found)
        else:
            first, last = self._region(what, start, end)
            for word, task in items:
                self._hidden.append(Hidden(first, last, line, _shown(what, word, task), word, task))

    def done(self) -> Directives:
        """Return what was read; what is still switched off is so up to the end."""
        hidden = sorted([*self._hidden, *self._open.values()], key=lambda each: each.line)
        return Directives(tuple(hidden), tuple(self._problems))

    def _region(self, what: str, start: int, end: int) -> tuple[int, int]:
        if what == "ignore-line":
            return self._places.line_around(start)
        if what == "ignore-next-line":
            return self._next_line(max(start, end - 1))
        return 0, self._end + 1

    def _next_line(self, offset: int) -> tuple[int, int]:
        """Return the first line after that of `offset` that is not blank; nothing where there is none."""
        start = self._places.line_around(offset)[1]
        while start < self._end:
            first, last = self._places.line_around(start)
            if first < start:  # the text ends without a line end
                break
            if self._text[first:last].strip():
                return first, last
            start = last
        return self._end, self._end

    def _switch_on(self, end: int, line: int, items: list[tuple[str, str]]) -> None:
        """End what is switched off: all of it, or what is named; without any the comment does nothing."""
        for item in items:
            ended = list(self._open) if item == ("", "") else [item] if item in self._open else []
            self._hidden += [replace(self._open.pop(key), end=end) for key in ended]
            if not ended:
                self._hidden.append(Hidden(end, end, line, _shown("on", *item), *item))


def _parsed(said: str) -> tuple[str, list[tuple[str, str]]]:
    """Return what a directive says to do, and to what: (word, task) each; none where it says it wrongly."""
    what, rest = (*said.split(None, 1), "", "")[:2]
    what = what.lower()
    if not rest:
        return what, [] if what == "ignore" else [("", "")]
    items = []
    for item in rest.split(","):
        plain = plain_word(item)
        if plain.startswith(_TASK):
            items.append(("", plain.removeprefix(_TASK).strip()))
        elif plain:
            items.append((plain, ""))
    return what, [item for item in items if any(item)]


def _shown(what: str, word: str, task: str) -> str:
    return " ".join(filter(None, [what, word or (task and f"{_TASK}{task}")]))
