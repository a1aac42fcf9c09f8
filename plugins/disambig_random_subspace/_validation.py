"""Validation of the learners' settings."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from disambig.api import UserError


def check_count(setting: str, value: Any, *, least: int = 1) -> None:
    """Raise an error for a value that is not an integer of at least `least`, which is 0 or 1 (D457, D452)."""
    if not (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least):
        if least:
            raise UserError("D452", setting=setting, value=value)
        raise UserError("D457", setting=setting, value=value)


def check_above_zero(setting: str, value: Any) -> None:
    """Raise an error for a value that is not a finite number above zero (D760)."""
    if not (_is_number(value) and 0 < value < math.inf):
        raise UserError("D760", setting=setting, value=value)


def check_rate(setting: str, value: Any) -> None:
    """Raise an error for a value that is not in the half-open interval [0, 1) (D770)."""
    if not (_is_number(value) and 0 <= value < 1):
        raise UserError("D770", setting=setting, value=value)


def check_confidence(setting: str, value: Any) -> None:
    """Raise an error for a value that is not a probability above 0.5 and below 1 (D771)."""
    if not (_is_number(value) and 0.5 < value < 1):
        raise UserError("D771", setting=setting, value=value)


def check_decoder(setting: str, value: Any) -> None:
    """Raise an error for a value that is neither None nor a decoder (D711)."""
    if value is not None and not (hasattr(value, "best") and hasattr(value, "marginals")):
        raise UserError("D711", setting=setting, seen=type(value).__name__)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
