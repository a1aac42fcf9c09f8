"""Checks of the settings of the learner and the tree features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from disambig.api import UserError

MOST_C = 1e12


def check_c(value: Any) -> None:
    """Refuse a C that is no number above zero and up to `MOST_C` (D700)."""
    if not (_is_number(value) and 0 < value <= MOST_C):
        raise UserError("D700", seen=repr(value), most=MOST_C)


def check_count(setting: str, value: Any, *, least: int = 1) -> None:
    """Refuse what is no whole number from `least`, one or zero, on (D452, D457)."""
    if not (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        raise UserError("D452" if least else "D457", setting=setting, value=value)


def check_above_zero(setting: str, value: Any) -> None:
    """Refuse what is no finite number above zero (D760)."""
    if not (_is_number(value) and 0 < value < math.inf):
        raise UserError("D760", setting=setting, value=value)


def check_choice(setting: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse what is none of the choices (D671)."""
    if not (isinstance(value, str) and value in choices):
        raise UserError("D671", setting=setting, value=value, names=", ".join(choices))


def check_decoder(setting: str, value: Any) -> None:
    """Refuse what is neither None nor a decoder (D711)."""
    if value is not None and not (hasattr(value, "best") and hasattr(value, "marginals")):
        raise UserError("D711", setting=setting, seen=type(value).__name__)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
