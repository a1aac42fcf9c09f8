"""Validation of the settings of the learner and of the tree features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from disambig.api import UserError

MOST_C = 1e12


def check_c(value: Any) -> None:
    """Raise an error for a C that is not a number above zero and at most `MOST_C` (D700)."""
    if not (_is_number(value) and 0 < value <= MOST_C):
        raise UserError("D700", seen=repr(value), most=MOST_C)


def check_count(setting: str, value: Any, *, least: int = 1) -> None:
    """Raise an error for a value that is not an integer of at least `least`, which is 0 or 1 (D452, D457)."""
    if not (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        raise UserError("D452" if least else "D457", setting=setting, value=value)


def check_above_zero(setting: str, value: Any) -> None:
    """Raise an error for a value that is not a finite number above zero (D760)."""
    if not (_is_number(value) and 0 < value < math.inf):
        raise UserError("D760", setting=setting, value=value)


def check_choice(setting: str, value: Any, choices: Sequence[str]) -> None:
    """Raise an error for a value that is not one of the choices (D671)."""
    if not (isinstance(value, str) and value in choices):
        raise UserError("D671", setting=setting, value=value, names=", ".join(choices))


def check_decoder(setting: str, value: Any) -> None:
    """Raise an error for a value that is neither None nor a decoder (D711)."""
    if value is not None and not (hasattr(value, "best") and hasattr(value, "marginals")):
        raise UserError("D711", setting=setting, seen=type(value).__name__)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
