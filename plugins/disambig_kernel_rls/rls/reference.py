"""The paper's problem handed to a general solver: slow, for small problems, to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def reference(gram: Floats, targets: Floats, regularisation: float) -> Floats:
    """Return the coefficients of ``min_c 1/n |y - K c|^2 + lambda c'Kc`` for each column of targets.

    Needs cvxpy. Where K is singular, other coefficients give the same scores ``K c``.

    Parameters
    ----------
    gram : array of float64, shape (n, n)
    targets : array of float64, shape (n, K)
    """
    import cvxpy

    values, vectors = np.linalg.eigh(gram)
    root: Any = vectors * np.sqrt(np.maximum(values, 0.0))  # root root' = K
    coefficients = cvxpy.Variable(targets.shape)
    loss = cvxpy.sum_squares(targets - root @ (root.T @ coefficients)) / len(gram)
    length = cvxpy.sum_squares(root.T @ coefficients)
    cvxpy.Problem(cvxpy.Minimize(loss + regularisation * length)).solve(solver=cvxpy.CLARABEL)
    return np.asarray(coefficients.value)
