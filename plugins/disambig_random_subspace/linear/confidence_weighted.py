"""Confidence-weighted learning (Dredze, Crammer and Pereira 2008), diagonal, by the variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..checks import check_confidence, check_count
from .learner import LinearLearner
from .lists import ListProblem
from .problem import Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceWeighted(LinearLearner):
    """Keep a mean and a variance of each weight; rare dimensions, still uncertain, move the most.

    Each row asks for a change to the nearest weights, by the Kullback-Leibler divergence, that decide it
    right with the probability `confidence`: ``y m . x >= phi x' S x``, phi the normal quantile of
    `confidence` and S the variances, which begin as one. The intercept is the weight of a constant of one.

    Parameters
    ----------
    confidence : float
        Above a half, below one.
    passes : int
        Over the examples.
    seed : int
        Of the order of the examples, which is the same in all passes.
    """

    confidence: float = 0.9
    passes: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_confidence("ConfidenceWeighted.confidence", self.confidence)
        check_count("ConfidenceWeighted.passes", self.passes)
        check_count("ConfidenceWeighted.seed", self.seed, least=0)

    def _masked(
        self, problem: Problem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        from statistics import NormalDist

        from .confidence_kernels import confidence_weighted

        means, intercepts = np.zeros(keep.shape), np.zeros(lanes)
        phi = NormalDist().inv_cdf(float(self.confidence))
        variances = keep.astype(np.float64)
        confidence_weighted(*problem.rows, targets, self.passes, phi, means, variances, intercepts)
        return means, intercepts

    def _of_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        from statistics import NormalDist

        from .list_kernels import confidence_weighted

        means, variances = np.zeros(keep.shape), keep.astype(np.float64)
        phi, longest = NormalDist().inv_cdf(float(self.confidence)), problem.longest
        confidence_weighted(*problem.examples, self.passes, phi, longest, means, variances, lanes)
        return means
