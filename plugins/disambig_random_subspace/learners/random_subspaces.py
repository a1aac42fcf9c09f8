"""RLRS: the average of linear models, each trained without some dimensions (the paper's figure 2, eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from disambig.api import (
    Arrays,
    CandidateBatch,
    CrossedRows,
    DenseBlocks,
    Fitted,
    Learner,
    Scorer,
    SparseRows,
    UserError,
)
from disambig.api.batches import convert
from disambig.api.settings import COUNT, NON_NEGATIVE_COUNT, real_number, validate_settings

from .linear import SGD


def n_removed_dimensions(dimensions: int, removal_rate: float) -> int:
    """Return the number of dimensions that each mask removes: the share, rounded to the nearest integer."""
    return round(removal_rate * dimensions)


def keep_masks(
    first: int, last: int, *, dimensions: int, removal_rate: float, seed: int
) -> NDArray[np.bool_]:
    """Return the masks xi with the numbers `first` to `last` (exclusive): figure 2, line 4.

    A mask depends only on its number and the seed, so fewer subspaces use the first masks of more subspaces.

    They have the shape ``(last - first, dimensions)``, and are false for exactly
    ``n_removed_dimensions(dimensions, removal_rate)`` dimensions of each mask.
    """
    masks = np.ones((last - first, dimensions), np.bool_)
    for mask, number in zip(masks, range(first, last), strict=True):
        rng = np.random.default_rng((seed, number))
        out = rng.choice(
            dimensions, n_removed_dimensions(dimensions, removal_rate), replace=False, shuffle=False
        )
        mask[out] = False
    return masks


@dataclass(frozen=True, slots=True)
class MaskedCopies:
    """Adds ``fit_masked`` to a learner without it, for sparse rows and a scorer with only weights.

    The scorer must be linear (have ``linear``) and its state must be a single array ``weights``.
    """

    base: Learner

    def dimensions(self, batch: CandidateBatch) -> int:
        """Return the number of columns of the rows.

        Raises D459 and D774 for a batch that is neither crossed rows nor lists.
        """
        return int(self._rows(batch).rows.shape[1])

    def fit_masked(self, batch: CandidateBatch, masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the sum of the flat weights learned under each mask.

        Raises D774 for a learner whose scorers cannot be averaged.
        """
        crossed = self._rows(batch)
        return np.sum([self._weights(crossed, mask) for mask in masks], axis=0)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Return the base's scorer."""
        return self.base.from_state(arrays)

    def _weights(self, batch: CrossedRows | SparseRows, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the weights of the base learner on a batch without the masked columns."""
        if isinstance(batch.rows, np.ndarray):
            rows = batch.rows * mask
        else:
            rows = batch.rows.tocsr(copy=True)
            rows.data *= mask[rows.indices]
        scorer = self.base.fit(replace(batch, rows=rows)).scorer
        state = scorer.state()
        if not hasattr(scorer, "linear") or set(state) != {"weights"}:
            raise self._unusable("its scorer is not linear, or has more than weights")
        return np.asarray(state["weights"], np.float64)

    def _rows(self, batch: CandidateBatch) -> CrossedRows | SparseRows:
        if isinstance(batch, DenseBlocks):
            raise self._unusable(f"it has no fit_masked, and the examples are {type(batch).__name__}")
        return convert(batch, CrossedRows, SparseRows)

    def _unusable(self, problem: str) -> UserError:
        return UserError("D774", base=type(self.base).__name__, problem=problem)


BLOCK = 8
"""Number of masks per block. Sums are taken block by block, so changing it changes the results of a seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSubspaces:
    """Learn under random masks and average the weights; the result is one linear model.

    Parameters
    ----------
    base : Learner, optional
        Trained under each mask, if possible under all masks at once: with ``fit_masked(batch, masks)``, the
        sum of the flat weights under each mask, ``dimensions(batch)``, the number of dimensions, and
        ``make_scorer(average, batch)`` or, without it, ``from_state({"weights": average})``; an optional
        ``prepare(batch)`` is called once for all masks. Any other learner with a linear scorer is trained on
        masked copies of crossed rows. By default `SGD`.
    n_subspaces : int
        Number of masks.
    removal_rate : float
        Share of the dimensions that each mask removes, in [0, 1); 0 is the base learner.
    seed : int
        Seed for the masks; the order of the examples is the base's, and the same under all masks.
    """

    base: Any = field(default_factory=SGD)
    n_subspaces: int = 100
    removal_rate: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        rate = real_number("D770", lambda value: 0 <= value < 1)
        validate_settings(self, n_subspaces=COUNT, removal_rate=rate, seed=NON_NEGATIVE_COUNT)
        if not (hasattr(self.base, "fit") and hasattr(self.base, "from_state")):
            raise UserError("D774", base=type(self.base).__name__, problem="it is not a learner")

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer of the average; `dev` and `rng` are not used, since seeds determine everything.

        Raises D774 for a base whose models cannot be averaged, and the errors of the base.
        """
        return self.fit_sizes(batch, [self.n_subspaces])[0]

    @property
    def takes(self) -> tuple[type, ...]:
        """The storages of the base; a base without ``fit_masked`` gets masked copies of sparse rows."""
        if hasattr(self.base, "fit_masked"):
            return tuple(getattr(self.base, "takes", ()))
        return CrossedRows, SparseRows

    @property
    def own_labels(self) -> bool:
        """Whether the base accepts instances with labels of their own."""
        return hasattr(self.base, "fit_masked") and bool(getattr(self.base, "own_labels", False))

    def fit_sizes(self, batch: CandidateBatch, sizes: Sequence[int]) -> list[Fitted]:
        """Return the result of `fit` for each number of subspaces in `sizes`; each mask is trained once.

        (Except up to seven masks per size: masks are summed in whole blocks.)
        """
        for size in sizes:
            COUNT.check("sizes", size)
        base = self.base if hasattr(self.base, "fit_masked") else MaskedCopies(self.base)
        dimensions = base.dimensions(batch)
        prepared = base.prepare(batch) if hasattr(base, "prepare") else batch

        def sum_weights(first: int, last: int) -> NDArray[np.float64]:
            masks = keep_masks(
                first, last, dimensions=dimensions, removal_rate=self.removal_rate, seed=self.seed
            )
            return np.asarray(base.fit_masked(prepared, masks))

        def average_scorer(average: NDArray[np.float64]) -> Scorer:
            if hasattr(base, "make_scorer"):
                return base.make_scorer(average, batch)
            return base.from_state({"weights": average})

        scorers: dict[int, Scorer] = {}
        total: Any = 0.0
        done = 0
        for size in sorted(set(sizes)):
            while done + BLOCK <= size:
                total = total + sum_weights(done, done + BLOCK)
                done += BLOCK
            rest = sum_weights(done, size) if done < size else 0.0
            scorers[size] = average_scorer((total + rest) / size)  # figure 2, line 13
        n_removed = n_removed_dimensions(dimensions, self.removal_rate)
        return [
            Fitted(scorers[size], {"n_subspaces": int(size), "dimensions": dimensions, "removed": n_removed})
            for size in sizes
        ]

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        scorer: Scorer = self.base.from_state(arrays)
        return scorer
