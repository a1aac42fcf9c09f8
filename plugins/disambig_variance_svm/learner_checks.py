"""What a user can get wrong in the settings and the examples of a variance SVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks, UserError


def check_settings(
    *, C: float | None, p: Mapping[str, float] | None, subsets: Sequence[Sequence[str]]
) -> None:
    """Refuse settings that make no sense whatever the examples.

    Raises
    ------
    UserError
        D700 for a `C` that is not above zero, D701 for a feature group in two subsets, D702 for
        a `p` that is no weighting.
    """
    if C is not None:
        check_c(C)
    names = [name for subset in subsets for name in subset]
    for name in names:
        if names.count(name) > 1:
            raise UserError("D701", name=name)
    for name, weight in (p or {}).items():
        if not (np.isfinite(weight) and weight >= 0):
            raise UserError("D702", problem=f"{name!r} has {weight}")


def check_c(C: float) -> None:
    """Refuse a `C` that is not a number above zero (D700)."""
    if not (np.isfinite(C) and C > 0):
        raise UserError("D700", seen=C)


def check_attributes(batch: DenseBlocks, prior: Sequence[float] | NDArray[np.float64] | None) -> None:
    """Refuse examples that cannot be learned from.

    Raises
    ------
    UserError
        D703 for attributes that are NaN or infinite, D704 for a `prior` of another length, D705
        where there is no example.
    """
    if not len(batch.values):
        raise UserError("D705")
    # a sum is finite where all are, and it takes no memory; a finite sum may overflow, hence the second look
    if not np.isfinite(batch.values.sum(dtype=np.float64)):
        bad = np.argwhere(~np.isfinite(batch.values))
        if len(bad):
            raise UserError("D703", n=len(bad), example=int(bad[0, 0]), attribute=int(bad[0, 2]))
    if prior is not None:
        if len(prior) != len(batch.columns):
            raise UserError("D704", seen=len(prior), expected=len(batch.columns))
        if not np.isfinite(prior).all():
            raise UserError("D704", seen="NaN or infinite", expected=len(batch.columns))
