"""The quadratic program of eq. (6) as the paper writes it, by a general solver: exact, for small problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from disambig.api import DenseBlocks, SparseRows
from disambig.api.batches import convert

from .regulariser import Floats, Regulariser


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """What the general solver found."""

    weights: Floats
    objective: float


def reference(
    batch: DenseBlocks, regulariser: Regulariser, C: float, *, prior: Floats | None = None
) -> Optimum:
    """Solve the primal with one slack an example by cvxpy; the parameters are those of `solve`.

    The variance of a subset is written as the least sum of squares around any mean.

    Raises
    ------
    ImportError
        Where cvxpy is not installed.
    """
    import cvxpy

    rows = convert(batch, SparseRows).rows
    n, k = batch.costs.shape
    gold = np.repeat(np.arange(n) * k + batch.costs.argmin(axis=1), k)
    w, slack = cvxpy.Variable(rows.shape[1]), cvxpy.Variable(n, nonneg=True)
    change = w if prior is None else w - prior
    penalty: Any = 0.0
    for number in np.unique(regulariser.subset):
        inside = np.flatnonzero((regulariser.subset == number) & (regulariser.strength > 0))
        if not len(inside):
            continue
        around = change[inside] - cvxpy.Variable() if number >= 0 else change[inside]
        root = np.sqrt(regulariser.strength[inside])
        penalty += 0.5 * cvxpy.sum_squares(cvxpy.multiply(root, around))
    margins = (rows - rows[gold]) @ w + batch.cost.astype(np.float64)
    constraints = [margins <= slack[np.repeat(np.arange(n), k)]]
    problem = cvxpy.Problem(cvxpy.Minimize(penalty + C * cvxpy.sum(slack)), constraints)
    objective = problem.solve(solver=cvxpy.CLARABEL)
    return Optimum(np.asarray(w.value), float(objective))
