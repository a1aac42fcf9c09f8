"""Checks of options that several commands share."""

from __future__ import annotations

import math

from disambig.errors import UserError


def check_rate(flags_per_1000: float | None, *, option: str = "--flags-per-1000") -> None:
    """Refuse a rate that is none.

    Raises
    ------
    UserError
        D602.
    """
    if flags_per_1000 is not None and not (math.isfinite(flags_per_1000) and flags_per_1000 >= 0):
        problem = "give a number such as 1, or 0 for no flags"
        raise UserError("D602", option=option, value=flags_per_1000, problem=problem)
