"""RLRS: the average of linear models, each learned without some of the dimensions.

After Søgaard and Johannsen (2012), figure 2: words that test documents lack "remove" dimensions, so what is
minimised is the expected loss over random removals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, CrossedRows, Fitted, Scorer, SparseRows, UserError

from .checks import check_count, check_rate
from .linear.margin_learners import SGD
from .masked_copies import MaskedCopies
from .masks import keep_masks, removed

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
        ``scorer_of(average, batch)`` or, if it has none, ``from_state({"weights": average})``; with
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

        def sum_of(first: int, last: int) -> NDArray[np.float64]:
            masks = keep_masks(
                first, last, dimensions=dimensions, removal_rate=self.removal_rate, seed=self.seed
            )
            return np.asarray(base.fit_masked(ready, masks))

        def scorer_of(average: NDArray[np.float64]) -> Scorer:
            if hasattr(base, "scorer_of"):
                return base.scorer_of(average, batch)
            return base.from_state({"weights": average})

        found: dict[int, Scorer] = {}
        total: Any = 0.0
        done = 0
        for size in sorted(set(sizes)):
            while done + BLOCK <= size:
                total = total + sum_of(done, done + BLOCK)
                done += BLOCK
            rest = sum_of(done, size) if done < size else 0.0
            found[size] = scorer_of((total + rest) / size)
        gone = removed(dimensions, self.removal_rate)
        return [
            Fitted(found[size], {"n_subspaces": int(size), "dimensions": dimensions, "removed": gone})
            for size in sizes
        ]

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        scorer: Scorer = self.base.from_state(arrays)
        return scorer
