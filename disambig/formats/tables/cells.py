"""Cells that spreadsheets would take for formulas: an apostrophe before them makes them text.

What begins with ``= + - @``, a TAB or a carriage return, or with apostrophes and then one of these, gets one
apostrophe more; so each cell comes back when one is taken away again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from disambig.formats.tables.decision_rows import columns

_RISKY = re.compile(r"'*[=+\-@\t\r]")
_MADE_SAFE = re.compile(r"'+[=+\-@\t\r]")


def harmless(cell: str) -> str:
    """Return a cell as no spreadsheet calculates it."""
    return f"'{cell}" if _RISKY.match(cell) else cell


def undone(cell: str) -> str:
    """Return the cell of which `harmless` made this one."""
    return cell[1:] if _MADE_SAFE.match(cell) else cell


def are_ours(names: Sequence[str]) -> bool:
    """Tell whether a table with these columns is one of decisions, written by `CsvFormat`."""
    return tuple(names) in (columns(text=True), columns(text=False))
