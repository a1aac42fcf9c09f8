"""What a batch of parts may tell of itself, so that a number for each part of all instances can be kept.

A learner that goes from instance to instance reads few of the columns at a time (`Narrows`), and where a
part's features are sums, as those of a chain's edges are, what is linear in them is a sum, too (`HasTerms`).
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.types import CandidateBatch

Floats = NDArray[np.float64]


@runtime_checkable
class Narrows(Protocol):
    """A batch that can be had without the columns that do not occur in it."""

    def narrowed(self) -> tuple[CandidateBatch, NDArray[np.int64]]:
        """Return the same rows in fewer columns, and which of the columns these are, none twice."""


@runtime_checkable
class HasTerms(Protocol):
    """A batch whose rows' scores and costs are sums of terms, which are fewer than the rows.

    Terms of one batch may be added and scaled like vectors: ``of_terms`` is linear.
    """

    @property
    def cost_terms(self) -> Floats:
        """Terms of the rows' costs, counted from the least that a candidate of the instance costs."""

    def terms(self, weights: Floats) -> Floats:
        """Return terms of the rows' scores, such that ``of_terms(terms(weights))`` is ``scores(weights)``."""

    def of_terms(self, terms: Floats) -> Floats:
        """Return the numbers of the rows, shape ``(n_rows,)``."""
