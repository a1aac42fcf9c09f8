"""Validation of the settings of kernels and learners."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from disambig.api import UserError, nearest_first

CHOSEN = ("alignment", "loo")
MOST_REGULARISATION, MOST_DEGREE = 1e100, 100


def check_above_zero(setting: str, value: Any) -> None:
    """Raise D760 unless `value` is a finite number above zero."""
    if not (_is_number(value) and 0 < value < math.inf):
        raise UserError("D760", setting=setting, value=value)


def check_not_negative(setting: str, value: Any) -> None:
    """Raise D780 unless `value` is a finite number that is not negative."""
    if not (_is_number(value) and 0 <= value < math.inf):
        raise UserError("D780", setting=setting, value=value)


def check_count(setting: str, value: Any) -> None:
    """Raise D452 unless `value` is a positive integer."""
    if not (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1):
        raise UserError("D452", setting=setting, value=value)


def check_degree(setting: str, value: Any) -> None:
    """Raise D452 unless `value` is a positive integer, and D513 if it is above 100."""
    check_count(setting, value)
    if value > MOST_DEGREE:
        raise UserError("D513", setting=setting, value=value, least=1, most=MOST_DEGREE)


def check_regularisation(setting: str, value: Any) -> None:
    """Raise D776 unless `value` is a number above zero and at most 1e100, "auto" or "loo"."""
    if not (
        (isinstance(value, str) and value in ("auto", "loo"))
        or (_is_number(value) and 0 < value <= MOST_REGULARISATION)
    ):
        raise UserError("D776", setting=setting, value=value)


def check_name(setting: str, value: Any, names: Sequence[str]) -> None:
    """Raise D778 unless `value` is one of `names`."""
    if not isinstance(value, str) or value not in names:
        raise UserError("D778", setting=setting, value=value, names=nearest_first(str(value), names))


def check_weights(setting: str, value: Any, ways: Sequence[str] = ()) -> None:
    """Raise D777 unless `value` is None, one of `ways`, or a mapping of weights of feature groups."""
    if value is None or (isinstance(value, str) and value in ways):
        return
    if isinstance(value, Mapping):
        weights = list(value.values())
        if all(_is_number(weight) and 0 <= weight < math.inf for weight in weights) and any(weights):
            return
    raise UserError("D777", setting=setting, value=value)


def check_kernel(setting: str, value: Any) -> None:
    """Raise D781 unless `value` is a kernel."""
    if isinstance(value, type) or not all(hasattr(value, name) for name in ("is_linear", "rows", "gram")):
        seen = value.__name__ if isinstance(value, type) else type(value).__name__
        raise UserError("D781", setting=setting, seen=seen)


def _is_number(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and not abs(value) > sys.float_info.max  # Python's integers may exceed the range of floats
