"""From offsets to lines and columns, as editors count them."""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_END = re.compile("\r\n|\r|\n")
_MARK = "\ufeff"


class Places:
    """The lines of a text.

    Parameters
    ----------
    text : str
        With any line ends, a byte order mark included where it has one.
    """

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._text = text
        self._length = len(text)
        self._marked = text.startswith(_MARK)

    def of(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both from 1; columns count characters."""
        line, start = self._line_of(offset)
        column = offset - start + 1
        return line, column - (1 if self._marked and line == 1 and column > 1 else 0)

    def in_utf16(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset; columns count UTF-16 code units, no byte order mark."""
        line, start = self._line_of(offset)
        before = self._text[start:offset].removeprefix(_MARK if start == 0 else "")
        return line, len(before.encode("utf-16-le")) // 2 + 1

    def in_utf8(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset; columns count the bytes of the line as it is in the file."""
        line, start = self._line_of(offset)
        return line, len(self._text[start:offset].encode()) + 1

    def line_around(self, offset: int) -> tuple[int, int]:
        """Return start and end, its line end included, of the line that holds `offset`."""
        line = bisect_right(self._starts, offset)
        return self._starts[line - 1], self._starts[line] if line < len(self._starts) else self._length

    def _line_of(self, offset: int) -> tuple[int, int]:
        """Return the number of the line that holds `offset`, and where it begins."""
        line = bisect_right(self._starts, offset)
        return line, self._starts[line - 1]
