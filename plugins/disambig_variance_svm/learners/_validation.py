"""Validation of the learners' settings and training examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, DenseBlocks, UserError


def is_number(value: Any) -> bool:
    """Return True if `value` is a real number, including NaN and infinity."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Return True if `value` is an integer."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def finite_above_zero(value: Any) -> bool:
    """Return True if `value` is a number between zero and infinity, both excluded."""
    return is_number(value) and 0 < value < math.inf


def real_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return `values` as an array of any shape, or None if they are not numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None


MOST_C = 1e12
"""Weights stop changing long before this C; sums and squares of much larger numbers would overflow."""


def check_settings(
    *, C: float | None, p: Mapping[str, float] | None, subsets: Sequence[Sequence[str]]
) -> None:
    """Raise an error for settings that are invalid for any training examples.

    Raises
    ------
    UserError
        D700 for `C` (see `check_c`), D701 for a feature group in two subsets, D702 for an invalid `p`.
    """
    if C is not None:
        check_c(C)
    names = [name for subset in subsets for name in subset]
    for name in names:
        if names.count(name) > 1:
            raise UserError("D701", name=name)
    if not isinstance(p, Mapping | None):
        raise UserError("D702", problem=f"{p!r} is not a mapping from feature groups to weights")
    for name, weight in (p or {}).items():
        if not (is_number(weight) and 0 <= weight < np.inf):
            raise UserError("D702", problem=f"{name!r} has {weight!r}")


def check_c(C: Any) -> None:
    """Raise D700 unless `C` is a number above zero and at most `MOST_C`."""
    if not (is_number(C) and 0 < C <= MOST_C):
        raise UserError("D700", seen=repr(C), most=MOST_C)


def check_above_zero(setting: str, value: Any) -> None:
    """Raise D760 unless `value` is a finite number above zero."""
    if not finite_above_zero(value):
        raise UserError("D760", setting=setting, value=value)


def check_decoder(setting: str, value: Any) -> None:
    """Raise D711 unless `value` is None or a decoder."""
    if value is not None and not (hasattr(value, "best") and hasattr(value, "marginals")):
        raise UserError("D711", setting=setting, seen=type(value).__name__)


def check_count(setting: str, value: Any) -> None:
    """Raise D452 unless `value` is a positive integer."""
    if not (is_whole(value) and value >= 1):
        raise UserError("D452", setting=setting, value=value)


def check_names(setting: str, names: Any, *, nested: bool = False) -> None:
    """Raise D710 unless `names` is a list of feature groups; a single string is not.

    Parameters
    ----------
    nested : bool
        Whether the list may also contain lists of feature groups.
    """

    def fits(item: Any) -> bool:
        return isinstance(item, str) or (nested and _is_list(item) and all(isinstance(x, str) for x in item))

    if not (_is_list(names) and all(fits(item) for item in names)):
        raise UserError("D710", setting=setting, value=names)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def check_attributes(batch: CandidateBatch, prior: Sequence[float] | NDArray[np.float64] | None) -> None:
    """Raise an error for unusable training examples.

    Raises
    ------
    UserError
        D703 for attributes that are NaN or infinite, D704 for a `prior` of another length or with values that
        are not finite numbers, D705 if there is no example.
    """
    if len(batch.offsets) < 2:
        raise UserError("D705")
    check_finite(batch)
    if prior is None:
        return
    numbers, expected = real_numbers(prior), len(batch.columns)
    if numbers is None:
        raise UserError("D704", seen="not numeric", expected=expected)
    if numbers.shape != (expected,):
        raise UserError("D704", seen=len(numbers) if numbers.ndim == 1 else numbers.shape, expected=expected)
    if not np.isfinite(numbers).all():
        raise UserError("D704", seen="NaN or infinite", expected=expected)


def check_finite(batch: CandidateBatch) -> None:
    """Raise D703 if an attribute is NaN or infinite."""
    if not isinstance(batch, DenseBlocks):
        rows = np.flatnonzero(~np.isfinite(batch.row_sqnorm()))
        if len(rows):
            example = int(np.searchsorted(batch.offsets, rows[0], side="right")) - 1
            raise UserError("D703", n=f"those of {len(rows)} rows", example=example, attribute="unknown")
        return
    # Summing needs no extra memory, and a finite sum means that all values are finite. The sum of finite
    # values may overflow, hence the exact check below.
    with np.errstate(invalid="ignore"):
        if np.isfinite(batch.values.sum(dtype=np.float64)):
            return
    bad = np.argwhere(~np.isfinite(batch.values))
    if len(bad):
        raise UserError("D703", n=len(bad), example=int(bad[0, 0]), attribute=int(bad[0, 2]))
