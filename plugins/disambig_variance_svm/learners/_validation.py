"""Validation of the learners' settings and training examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, DenseBlocks, UserError
from disambig.api.settings import SVM_C, is_number


def real_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return `values` as an array of any shape, or None if they are not numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None


def check_settings(
    *, C: float | None, p: Mapping[str, float] | None, subsets: Sequence[Sequence[str]]
) -> None:
    """Raise an error for settings that are invalid for any training examples.

    Raises D700 for `C`, D701 for a feature group in two subsets, D702 for an invalid `p`.
    """
    SVM_C.or_none.check("C", C)
    names = [name for subset in subsets for name in subset]
    for name in names:
        if names.count(name) > 1:
            raise UserError("D701", name=name)
    if not isinstance(p, Mapping | None):
        raise UserError("D702", problem=f"{p!r} is not a mapping from feature groups to weights")
    for name, weight in (p or {}).items():
        if not (is_number(weight) and 0 <= weight < np.inf):
            raise UserError("D702", problem=f"{name!r} has {weight!r}")


def check_names(setting: str, names: Any, *, nested: bool = False) -> None:
    """Raise D710 unless `names` is a list of feature groups; a single string is not.

    `nested` says whether the list may also contain lists of feature groups.
    """

    def fits(item: Any) -> bool:
        return isinstance(item, str) or (nested and _is_list(item) and all(isinstance(x, str) for x in item))

    if not (_is_list(names) and all(fits(item) for item in names)):
        raise UserError("D710", setting=setting, value=names)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def check_attributes(batch: CandidateBatch, prior: Sequence[float] | NDArray[np.float64] | None) -> None:
    """Raise an error for unusable training examples.

    Raises D703 for attributes that are NaN or infinite, D704 for a `prior` of another length or with values
    that are not finite numbers, D705 if there is no example.
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
