"""Checks of the settings and the examples of the learners."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, DenseBlocks, UserError


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


MOST_C = 1e12
"""Weights stop changing long before; sums and squares of far larger numbers would overflow."""


def check_settings(
    *, C: float | None, p: Mapping[str, float] | None, subsets: Sequence[Sequence[str]]
) -> None:
    """Refuse settings that make no sense whatever the examples.

    Raises
    ------
    UserError
        D700 for `C` (see `check_c`), D701 for a feature group in two subsets, D702 for a `p` that is no
        weighting.
    """
    if C is not None:
        check_c(C)
    names = [name for subset in subsets for name in subset]
    for name in names:
        if names.count(name) > 1:
            raise UserError("D701", name=name)
    if not isinstance(p, Mapping | None):
        raise UserError("D702", problem=f"{p!r} names no feature groups")
    for name, weight in (p or {}).items():
        if not (is_number(weight) and 0 <= weight < np.inf):
            raise UserError("D702", problem=f"{name!r} has {weight!r}")


def check_c(C: Any) -> None:
    """Refuse a `C` that is no number above zero and up to `MOST_C` (D700)."""
    if not (is_number(C) and 0 < C <= MOST_C):
        raise UserError("D700", seen=repr(C), most=MOST_C)


def check_above_zero(setting: str, value: Any) -> None:
    """Refuse what is no finite number above zero (D760)."""
    if not finite_above_zero(value):
        raise UserError("D760", setting=setting, value=value)


def check_decoder(setting: str, value: Any) -> None:
    """Refuse what is neither None nor a decoder (D711)."""
    if value is not None and not (hasattr(value, "best") and hasattr(value, "marginals")):
        raise UserError("D711", setting=setting, seen=type(value).__name__)


def check_count(setting: str, value: Any) -> None:
    """Refuse what is no whole number from one on (D452)."""
    if not (is_whole(value) and value >= 1):
        raise UserError("D452", setting=setting, value=value)


def check_names(setting: str, names: Any, *, nested: bool = False) -> None:
    """Refuse what is no list of feature groups (D710), such as a single string.

    Parameters
    ----------
    nested : bool
        Whether lists of them may stand among them.
    """

    def fits(item: Any) -> bool:
        return isinstance(item, str) or (nested and _is_list(item) and all(isinstance(x, str) for x in item))

    if not (_is_list(names) and all(fits(item) for item in names)):
        raise UserError("D710", setting=setting, value=names)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def check_attributes(batch: CandidateBatch, prior: Sequence[float] | NDArray[np.float64] | None) -> None:
    """Refuse examples that cannot be learned from.

    Raises
    ------
    UserError
        D703 for attributes that are NaN or infinite, D704 for a `prior` of another length or of other
        things than finite numbers, D705 where there is no example.
    """
    if len(batch.offsets) < 2:
        raise UserError("D705")
    check_finite(batch)
    if prior is None:
        return
    numbers, expected = real_numbers(prior), len(batch.columns)
    if numbers is None:
        raise UserError("D704", seen="other than numeric", expected=expected)
    if numbers.shape != (expected,):
        raise UserError("D704", seen=len(numbers) if numbers.ndim == 1 else numbers.shape, expected=expected)
    if not np.isfinite(numbers).all():
        raise UserError("D704", seen="NaN or infinite", expected=expected)


def check_finite(batch: CandidateBatch) -> None:
    """Refuse attributes that are NaN or infinite (D703)."""
    if not isinstance(batch, DenseBlocks):
        rows = np.flatnonzero(~np.isfinite(batch.row_sqnorm()))
        if len(rows):
            example = int(np.searchsorted(batch.offsets, rows[0], side="right")) - 1
            raise UserError("D703", n=f"those of {len(rows)} rows", example=example, attribute="unknown")
        return
    # a sum is finite where all are, and it takes no memory; a finite sum may overflow, hence the second look
    with np.errstate(invalid="ignore"):
        if np.isfinite(batch.values.sum(dtype=np.float64)):
            return
    bad = np.argwhere(~np.isfinite(batch.values))
    if len(bad):
        raise UserError("D703", n=len(bad), example=int(bad[0, 0]), attribute=int(bad[0, 2]))
