"""What counts as a number in a setting: not a truth value, not a string of digits."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number, NaN and infinity included."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Return whether `value` is an integer."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def finite_above_zero(value: Any) -> bool:
    """Return whether `value` is a number between zero and infinity."""
    return is_number(value) and 0 < value < math.inf


def real_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return `values` as an array, of whatever shape; None where they are no numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None
