"""Stochastic gradient descent on all examples, and on all but each fold of them, at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .problem import Problem

Floats = NDArray[np.float64]


def descend_folds(
    problem: Problem, folds: NDArray[np.int64], *, passes: int, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Learn by the hinge loss without each fold, and from all examples.

    Parameters
    ----------
    problem : Problem
    folds : array of int64, shape (n,)
        Of the examples as they were given, not in the problem's order.

    Returns
    -------
    held_out : array of float64, shape (n, n_labels)
        The scores of each example by what did not see its fold, in the order given.
    coefficients, intercepts : arrays of float64, shapes (n_problems, d) and (n_problems,)
        Of all examples.
    """
    from .fold_kernels import descend_without
    from .kernels import LANES

    of_row = folds[problem.order]
    models = np.append(np.unique(folds), -1)
    coefficients, intercepts = problem.zeros()
    n = len(of_row)
    decided = np.zeros((len(problem.targets), n))
    for first in range(0, len(models), LANES):
        left_out = models[first : first + LANES]
        lane_of = np.searchsorted(left_out[left_out >= 0], of_row)
        rows = np.flatnonzero(np.isin(of_row, left_out))
        keep = np.ones((len(problem.used), LANES), np.uint8)
        matrix = problem.matrix[rows]
        for p, targets in enumerate(problem.targets):
            weights, of_lanes = np.zeros(keep.shape), np.zeros(len(left_out))
            descend_without(
                *problem.rows, targets, of_row, left_out, passes, 1.0, alpha, weights, of_lanes, keep
            )
            scores = np.asarray(matrix @ weights)
            decided[p, rows] = scores[np.arange(len(rows)), lane_of[rows]] + of_lanes[lane_of[rows]]
            if left_out[-1] < 0:
                coefficients[p], intercepts[p] = weights[:, len(left_out) - 1], of_lanes[-1]
    held_out = np.zeros((n, problem.n_labels))
    held_out[problem.order] = problem.scores(decided)
    return held_out, coefficients, intercepts
