"""Validation of the learners' settings."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from disambig.api import UserError


def check_above_zero(setting: str, value: Any) -> None:
    """Raise an error for a value that is not a finite number above zero (D760)."""
    if not (_is_number(value) and 0 < value < math.inf):
        raise UserError("D760", setting=setting, value=value)


def check_fraction(setting: str, value: Any) -> None:
    """Raise an error for a value that is not a number above zero and at most one (D646)."""
    if not (_is_number(value) and 0 < value <= 1):
        raise UserError("D646", setting=setting, value=value)


def check_non_negative(setting: str, value: Any) -> None:
    """Raise an error for a value that is not a finite number of at least zero (D780)."""
    if not (_is_number(value) and 0 <= value < math.inf):
        raise UserError("D780", setting=setting, value=value)


def check_count(setting: str, value: Any) -> None:
    """Raise an error for a value that is not an integer of at least one (D452)."""
    if not (_is_whole(value) and value >= 1):
        raise UserError("D452", setting=setting, value=value)


def check_non_negative_count(setting: str, value: Any) -> None:
    """Raise an error for a value that is not an integer of at least zero (D457)."""
    if not (_is_whole(value) and value >= 0):
        raise UserError("D457", setting=setting, value=value)


def check_group_name(setting: str, value: Any) -> None:
    """Raise an error for a value that is not the name of a feature group (D647)."""
    if not isinstance(value, str):
        raise UserError("D647", setting=setting, value=value)


def check_flag(setting: str, value: Any) -> None:
    """Raise an error for a value that is not a bool (D648)."""
    if not isinstance(value, bool):
        raise UserError("D648", setting=setting, value=value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
