"""Offsets as JavaScript, Java and LanguageTool's interface count them: in code units of UTF-16."""

from __future__ import annotations

import re
from bisect import bisect_left

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Utf16:
    """Offsets of one text.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str) -> None:
        self._astral = [] if text.isascii() else [match.start() for match in _ASTRAL.finditer(text)]

    def of(self, offset: int) -> int:
        """Return how many code units are before the character at `offset`."""
        return offset + bisect_left(self._astral, offset)


def units(text: str) -> int:
    """Return the length of a text in code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
