"""RLRS: the average of linear models, each trained without some of the dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
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

from .._validation import check_count, check_rate
from .linear import SGD


def removed(dimensions: int, removal_rate: float) -> int:
    """Return how many dimensions a mask removes: the share asked, rounded to the nearest."""
    return round(removal_rate * dimensions)


def keep_masks(
    first: int, last: int, *, dimensions: int, removal_rate: float, seed: int
) -> NDArray[np.bool_]:
    """Return the masks of the numbers `first` to `last`, without the last.

    A mask depends on its number and the seed alone, so those of few subspaces are the first of many.

    Returns
    -------
    array of bool, shape (last - first, dimensions)
        False for exactly ``removed(dimensions, removal_rate)`` dimensions of each.
    """
    masks = np.ones((last - first, dimensions), np.bool_)
    for mask, number in zip(masks, range(first, last), strict=True):
        rng = np.random.default_rng((seed, number))
        out = rng.choice(dimensions, removed(dimensions, removal_rate), replace=False, shuffle=False)
        mask[out] = False
    return masks


@dataclass(frozen=True, slots=True)
class MaskedCopies:
    """Give a learner without ``fit_masked`` one, for sparse rows and a scorer of nothing but weights.

    The scorer must be linear (have ``linear``) and its state a single array ``weights``.
    """

    base: Learner

    def dimensions(self, batch: CandidateBatch) -> int:
        """Return how many numbers a row has.

        Raises
        ------
        UserError
            D459 and D774 for a batch that is neither crossed rows nor lists.
        """
        return int(self._rows(batch).rows.shape[1])

    def fit_masked(self, batch: CandidateBatch, masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the sum of the flat weights learned under each mask.

        Raises
        ------
        UserError
            D774 for a learner whose scorers cannot be averaged.
        """
        crossed = self._rows(batch)
        return np.sum([self._weights(crossed, mask) for mask in masks], axis=0)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Return the base's scorer."""
        return self.base.from_state(arrays)

    def _weights(self, batch: CrossedRows | SparseRows, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        if isinstance(batch.rows, np.ndarray):
            rows = batch.rows * mask
        else:
            rows = batch.rows.tocsr(copy=True)
            rows.data *= mask[rows.indices]
        scorer = self.base.fit(replace(batch, rows=rows)).scorer
        state = scorer.state()
        if not hasattr(scorer, "linear") or set(state) != {"weights"}:
            raise self._refused("its scorer is not linear, or has more than weights")
        return np.asarray(state["weights"], np.float64)

    def _rows(self, batch: CandidateBatch) -> CrossedRows | SparseRows:
        if isinstance(batch, DenseBlocks):
            raise self._refused(f"it has no fit_masked, and the examples are {type(batch).__name__}")
        return convert(batch, CrossedRows, SparseRows)

    def _refused(self, problem: str) -> UserError:
        return UserError("D774", base=type(self.base).__name__, problem=problem)


BLOCK = 8
"""Masks asked for at once. Sums are taken block by block, so it is part of what a seed means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSubspaces:
    """Learn under random masks and average the weights; the result is one linear model.

    Parameters
    ----------
    base : Learner, optional
        Learns under each mask, best all masks at once: by ``fit_masked(batch, masks)``, the sum of the flat
        weights under each, ``dimensions(batch)``, how many there are to remove, and
        ``make_scorer(average, batch)`` or, if it has none, ``from_state({"weights": average})``; with
        ``prepare(batch)``, if it has that, done once for all masks. Any other learner of a linear scorer is
        given masked copies of crossed rows. By default `SGD`.
    n_subspaces : int
        How many masks.
    removal_rate : float
        Share of the dimensions that each removes, 0 to below 1; 0 is the base learner.
    seed : int
        Of the masks; the order of the examples is the base's, and the same under all masks.
    """

    base: Any = field(default_factory=SGD)
    n_subspaces: int = 100
    removal_rate: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("RandomSubspaces.n_subspaces", self.n_subspaces)
        check_rate("RandomSubspaces.removal_rate", self.removal_rate)
        check_count("RandomSubspaces.seed", self.seed, least=0)
        if not (hasattr(self.base, "fit") and hasattr(self.base, "from_state")):
            raise UserError("D774", base=type(self.base).__name__, problem="it is no learner")

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer of the average; `dev` and `rng` are not used: seeds say all.

        Raises
        ------
        UserError
            D774 for a base whose models cannot be averaged, and what the base raises.
        """
        return self.fit_sizes(batch, [self.n_subspaces])[0]

    @property
    def takes(self) -> tuple[type, ...]:
        """What the base takes; any other than ours is given masked copies of sparse rows."""
        if hasattr(self.base, "fit_masked"):
            return tuple(getattr(self.base, "takes", ()))
        return CrossedRows, SparseRows

    def fit_sizes(self, batch: CandidateBatch, sizes: Sequence[int]) -> list[Fitted]:
        """Return what `fit` returns for each number of subspaces in `sizes`, each mask trained once.

        (But for up to seven a size: whole blocks of masks are summed.)
        """
        for size in sizes:
            check_count("sizes", size)
        base = self.base if hasattr(self.base, "fit_masked") else MaskedCopies(self.base)
        dimensions = base.dimensions(batch)
        ready = base.prepare(batch) if hasattr(base, "prepare") else batch

        def sum_weights(first: int, last: int) -> NDArray[np.float64]:
            masks = keep_masks(
                first, last, dimensions=dimensions, removal_rate=self.removal_rate, seed=self.seed
            )
            return np.asarray(base.fit_masked(ready, masks))

        def average_scorer(average: NDArray[np.float64]) -> Scorer:
            if hasattr(base, "make_scorer"):
                return base.make_scorer(average, batch)
            return base.from_state({"weights": average})

        found: dict[int, Scorer] = {}
        total: Any = 0.0
        done = 0
        for size in sorted(set(sizes)):
            while done + BLOCK <= size:
                total = total + sum_weights(done, done + BLOCK)
                done += BLOCK
            rest = sum_weights(done, size) if done < size else 0.0
            found[size] = average_scorer((total + rest) / size)
        gone = removed(dimensions, self.removal_rate)
        return [
            Fitted(found[size], {"n_subspaces": int(size), "dimensions": dimensions, "removed": gone})
            for size in sizes
        ]

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        scorer: Scorer = self.base.from_state(arrays)
        return scorer
