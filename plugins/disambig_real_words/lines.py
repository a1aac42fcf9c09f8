"""Lines that are no running text: headings, list items, verse, rows of tables, lines in capitals.

There, articles and other small words are left out on purpose. What a line is shows in its marks, in how it
ends, and in the lines around it: lines between blank ones are a block.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Line = tuple[int, int, str]
"""Where it begins and ends, and what stands in it."""

_LINES = re.compile("[^\r\n\u2029]+")
_ITEM = re.compile(r"(?:[-*+\u2022\u2023\u25aa\u25e6\u00b7]|\d{1,3}[.)]|\(\d{1,3}\)|\(?[a-z]\))\s+\S")
_TITLE = re.compile(r"#{1,6}\s")
_UNDERLINE = re.compile(r"(?:=+|-+|~+)\s*")
_CELLS = re.compile(r"\S\s*\t+\s*\S|(?:^|\s)\|(?:\s|$)")
_COLUMN = re.compile(r"\s{2,}(?=(\S+))")
_ENDED = re.compile(r"[.!?\u2026:;,][)\]\"'\u2019\u201d\u00bb*_]*$")
_LONGEST_TITLE = 100
_LONGEST_VERSE = 60
_LEAST_VERSES = 3


def lines_apart(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the lines that are no running text begin and end, shapes ``(m,)``, ascending."""
    blocks = _blocks(text)
    found = [
        line[:2]
        for block in blocks
        for line, apart in zip(block, _apart(block, alone=len(blocks) == 1), strict=True)
        if apart
    ]
    places = np.array(found, np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def _blocks(text: str) -> list[list[Line]]:
    """Return the lines that are not empty, those without an empty one between them together."""
    blocks: list[list[Line]] = []
    behind = -1
    for match in _LINES.finditer(text):
        start, end = match.span()
        if not match[0].strip():
            continue
        between = text[behind:start] if blocks else ""
        if not blocks or "\u2029" in between or len(re.findall("\r\n|\r|\n", between)) > 1:
            blocks.append([])
        blocks[-1].append((start, end, match[0].strip()))
        behind = end
    return blocks


def _apart(block: list[Line], *, alone: bool) -> list[bool]:
    """Tell of each line of a block whether it is no running text; `alone` where there is no other block."""
    said = [line for _, _, line in block]
    if _is_verse(said) or (len(said) == 1 and not alone and _is_title(said[0])):
        return [True] * len(said)
    found = [
        (line.isupper() and len(line) > 1) or bool(_TITLE.match(line) or _CELLS.search(line)) for line in said
    ]
    is_list = False
    for i, line in enumerate(said):
        opens = not i or is_list or said[i - 1].endswith(":")
        is_list = is_list or (opens and bool(_ITEM.match(line)))  # up to the end of the block
        found[i] |= is_list
    columns = [_columns(line) for line in said]
    for i, (above, below) in enumerate(pairwise(columns)):
        if above & below:
            found[i] = found[i + 1] = True
        if _UNDERLINE.fullmatch(said[i + 1]):
            found[i] = True
    return found


def _is_title(line: str) -> bool:
    return len(line) <= _LONGEST_TITLE and not _ENDED.search(line)


def _is_verse(lines: list[str]) -> bool:
    """Tell whether all lines are short and begin with a capital, though not all of them begin a sentence."""
    short = len(lines) >= _LEAST_VERSES and all(len(line) <= _LONGEST_VERSE for line in lines)
    capitals = short and all(line.lstrip("\"'\u201c\u2018(")[:1].isupper() for line in lines)
    return capitals and any(line[-1] not in ".!?" for line in lines[:-1])


def _columns(line: str) -> set[int]:
    """Return where words behind a wide blank begin and end in a line."""
    return {at for match in _COLUMN.finditer(line) for at in match.span(1)}
