"""VAR-SVM: an SVM with class-specific attributes whose weights are drawn to be equal.

Bergsma, Lin and Schuurmans (CoNLL 2010), section 3. As C falls the answer becomes the unsupervised
sum of the counts (SumLM); as it grows, that of the CS-SVM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disambig.api import Arrays, CandidateBatch, DenseBlocks, Fitted, LinearScorer, segments

from .solver import Regulariser, Solution, solve

GRID = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 1e-2)
"""Values of C tried on development data, each from the solution before it."""
_PATIENCE = 2
"""The path ends when so many values in a row were worse than the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSVM:
    """Crammer-Singer SVM with a variance term on some subsets of the weights.

    Every weight counts 1/N, N the number of weights, in variance and L2 subsets alike, so that the
    two kinds of subset are in balance and C does not change its meaning with N.

    Parameters
    ----------
    C : float, optional
        Weight of the training loss. By default chosen on development data from `GRID`, smallest first;
        without development data it is 1e-5.
    variance : list of str or of lists of str
        Feature groups whose weights, taken together, keep a low variance; lists of them: each list a
        subset of its own (eq. 7 of the paper, several theta_j).
    free : list of str
        Feature groups whose weights are not regularised; all others are, by L2.
    tolerance : float
        Relative duality gap to reach.
    """

    C: float | None = None
    variance: Sequence[str] | Sequence[Sequence[str]] = ("3-gram", "4-gram", "5-gram")
    free: tuple[str, ...] | list[str] = ()
    tolerance: float = 1e-3
    needs_training: bool = True

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer of least objective; `rng` is not used (the problem is convex)."""
        if not isinstance(batch, DenseBlocks):
            raise TypeError(f"VarianceSVM needs dense class blocks, not {type(batch).__name__}")
        regulariser = self.regulariser(batch)
        start = regulariser_mean(regulariser)
        if self.C is not None or dev is None or len(dev.offsets) < 2:
            C = 1e-5 if self.C is None else self.C
            return self._fitted(solve(batch, regulariser, C, start=start, tolerance=self.tolerance), C, {})
        path: dict[float, float] = {}
        best: tuple[float, float, Solution] | None = None
        worse = 0
        for C in GRID:
            solution = solve(batch, regulariser, C, start=start, tolerance=self.tolerance)
            start = solution.weights
            path[C] = accuracy(dev, dev.scores(solution.weights))
            if best is None or path[C] > best[0]:
                best, worse = (path[C], C, solution), 0
            else:
                worse += 1
            if worse == _PATIENCE:
                break
        assert best is not None
        return self._fitted(best[2], best[1], path)

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)

    def regulariser(self, batch: CandidateBatch) -> Regulariser:
        """Return the regulariser of `batch`'s columns."""
        n = len(batch.columns)
        strength = np.full(n, 1.0 / n)
        strength[batch.columns.in_groups(self.free)] = 0.0
        subset = np.full(n, -1, np.int64)
        for number, names in enumerate(self.subsets):
            subset[batch.columns.in_groups(names)] = number
        return Regulariser(strength, subset)

    @property
    def subsets(self) -> list[list[str]]:
        """The variance subsets: those given as lists, and one of all the names given alone."""
        alone = [names for names in self.variance if isinstance(names, str)]
        lists = [list(names) for names in self.variance if not isinstance(names, str)]
        return [alone, *lists] if alone else lists

    def _fitted(self, solution: Solution, C: float, path: dict[float, float]) -> Fitted:
        report: dict[str, Any] = {
            "C": C,
            "objective": solution.primal,
            "gap": solution.gap,
            "n_iter": solution.n_iter,
            "dev_accuracy": {f"{c:g}": value for c, value in path.items()},
        }
        return Fitted(LinearScorer(solution.weights), report)


def regulariser_mean(regulariser: Regulariser) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return SumLM's direction: ones on the variance subsets, zeros elsewhere."""
    return np.where(regulariser.subset >= 0, 1.0, 0.0)


def accuracy(batch: CandidateBatch, scores: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return the share of instances whose best-scored candidate costs nothing."""
    best = batch.offsets[:-1] + segments.argmax(scores, batch.offsets)
    return float(np.mean(batch.cost[best] == 0))
