"""Shares in words: "4 in 5", as a user writes them."""

from __future__ import annotations

import re
from typing import Any

from disambig.errors import UserError

_QUOTIENT = re.compile(r"(\d+)\s*(?:/|in|of|out of)\s*(\d+)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
SHARE = r"^(\d+ ?(/|in|of|out of) ?\d+|\d+(\.\d+)? ?%|1|0?\.\d+)$"
"""What an editor takes for one."""
EXAMPLES = ("4 in 5", "4/5", "80 %", "0.8")


def share_of(said: Any) -> float:
    """Return the share that somebody wrote as one of `EXAMPLES`: above 0, up to 1.

    Raises
    ------
    UserError
        D860 for what is none.
    """
    share = _number(said.strip()) if isinstance(said, str) else said
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise UserError("D860", value=said)
    if not 0 < share <= 1:
        raise UserError("D860", value=said)
    return float(share)


def _number(said: str) -> float | None:
    if found := _QUOTIENT.fullmatch(said):
        return int(found[1]) / int(found[2]) if int(found[2]) else None
    if found := _PERCENT.fullmatch(said):
        return float(found[1]) / 100
    try:
        return float(said)
    except ValueError:
        return None
