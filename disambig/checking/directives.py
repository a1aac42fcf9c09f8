"""What an author tells the checker in comments of a text.

``disambig: ignore quite, then``   these words are left alone in the whole text
``disambig: off``, ``disambig: on``   between the two nothing is flagged; without ``on`` up to the end
``disambig: ignore-line``   nothing is flagged in the line of the comment

A comment is ``<!-- ... -->`` in Markdown and in plain text, ``% ...`` in LaTeX.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from disambig.checking.places import Places
from disambig.errors import UserError

_DIRECTIVE = re.compile(r"(?:<!--|%+)\s*disambig\s*:\s*(.*?)\s*(?:-->)?\Z", re.DOTALL | re.IGNORECASE)
_LONGEST = 10_000


@dataclass(frozen=True, slots=True)
class Directives:
    """What is left alone in one text.

    Attributes
    ----------
    words : frozenset of str
        As `plain_word` returns them.
    regions : tuple of (start, end)
        Offsets, in text order, none overlapping another.
    problems : tuple of UserError
        Comments that are addressed to the checker and say nothing it knows (D641).
    """

    words: frozenset[str] = frozenset()
    regions: tuple[tuple[int, int], ...] = ()
    problems: tuple[UserError, ...] = ()

    def leave_alone(self, start: int, end: int, observed: str) -> bool:
        """Tell whether nothing is to be said of ``start:end``."""
        if plain_word(observed) in self.words:
            return True
        place = bisect_right(self.regions, (start, 2**62)) - 1
        return place >= 0 and start < self.regions[place][1]


def plain_word(word: str) -> str:
    """Return a word, or several, as they are compared: lower case, plain apostrophes, single spaces."""
    return " ".join(word.lower().replace("\u2019", "'").split())


def read_directives(path: str, text: str, comments: Iterable[tuple[int, int]], places: Places) -> Directives:
    """Return what the comments of a text, at their offsets, ask for."""
    words: set[str] = set()
    lines: list[tuple[int, int]] = []
    problems = []
    switched_off: list[tuple[int, int]] = []
    off = -1
    for start, end in comments:
        match = _DIRECTIVE.match(text[start : min(end, start + _LONGEST)])
        if not match:
            continue
        said = match[1]
        what = said.split(None, 1)[0].lower() if said else ""
        if what == "off" and said.lower() == "off":
            off = start if off < 0 else off
        elif what == "on" and said.lower() == "on":
            if off >= 0:
                switched_off.append((off, end))
            off = -1
        elif what == "ignore-line" and said.lower() == "ignore-line":
            lines.append(places.line_around(start))
        elif (
            what == "ignore" and (named := [plain_word(word) for word in said[6:].split(",")]) and any(named)
        ):
            words.update(word for word in named if word)
        else:
            problems.append(UserError("D641", path=path, line=places.of(start)[0], said=said[:40]))
    if off >= 0:
        switched_off.append((off, len(text)))
    return Directives(frozenset(words), _merged(switched_off + lines), tuple(problems))


def _merged(regions: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(regions):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)
