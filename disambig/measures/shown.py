"""Figures for people."""

from __future__ import annotations

from math import isnan


def shown(value: float | None, form: str) -> str:
    """Return a figure in a format such as ``".2%"``; a dash for one that is not defined."""
    return "-" if value is None or isnan(value) else format(value, form)
