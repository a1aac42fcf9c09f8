"""Lines and columns as the protocol counts them, in any of its encodings.

Lines end in LF, CR LF or CR, and nowhere else: Python's ``splitlines`` knows more line ends than clients do.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Literal

import numpy as np
import numpy.typing as npt

from disambig.errors import UserError

Encoding = Literal["utf-8", "utf-16", "utf-32"]
_LINE_END = re.compile("\r\n|\r|\n")
_WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Lines:
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

    def changed(self, start: int, end: int, new: str) -> Lines:
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

    def line_of(self, offset: int) -> tuple[int, int]:
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
