"""Checks of options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Sequence

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


def rates_asked(values: Sequence[str] | None) -> float | dict[str, float] | None:
    """Return what ``--flags-per-1000`` asks for: one number, or one a task; None where it is not given.

    Raises
    ------
    UserError
        D951 for what is neither, D602 for a number that is no rate.
    """
    if not values:
        return None
    said = ",".join(values)
    parts = [part.strip() for part in said.split(",")]
    if len(parts) == 1 and "=" not in parts[0]:
        return _rate(parts[0], said)
    rates: dict[str, float] = {}
    for part in parts:
        task, separator, number = (each.strip() for each in part.partition("="))
        if not (task and separator):
            raise UserError("D951", value=said, problem=f"{part!r} names no task and its number")
        if task in rates:
            raise UserError("D951", value=said, problem=f"{task!r} has two numbers")
        rates[task] = _rate(number, said)
    return rates


def _rate(number: str, said: str) -> float:
    try:
        rate = float(number)
    except ValueError:
        raise UserError("D951", value=said, problem=f"{number!r} is no number") from None
    check_rate(rate)
    return rate
