"""The K-SVM and the one-versus-all SVM on lists of candidates: one weight a column, and no classes.

The K-SVM asks of each list what it asks of the classes: that the right candidate scores above each other
one by what that costs. One-versus-all tells right candidates from wrong ones, whichever list they are in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, Fitted, SparseRows
from disambig.api.decoding import from_the_least

from ..svm.lists import Ranked, solve_lists
from .c_search import CSearch, quality
from .checks import check_finite
from .crossed_scorer import CrossedScorer
from .liblinear import GRID, Settings, train

Floats = NDArray[np.float64]
_DEFAULT = 10.0
"""C times the number of lists, or of candidates, without development data."""


def fit_ranked(
    batch: SparseRows, settings: Settings, *, dev: CandidateBatch | None, sum: Sequence[str]
) -> Fitted:
    """Return the scorer of the K-SVM of lists for the best C, with the sum of the groups in `sum`."""
    inside = batch.columns.in_groups(sum, setting="KSVM.sum")
    wider = _with_sum(batch, inside) if sum else batch
    last: list[Ranked] = []

    def solve(C: float) -> tuple[Floats, bool | None]:
        start = last[-1] if last else None
        found = solve_lists(wider, C, tolerance=settings.tolerance, max_iter=settings.max_iter, start=start)
        last[:] = [found]
        weights = found.weights[: len(inside)] + (found.weights[-1] * inside if sum else 0.0)
        return weights, found.gap <= settings.tolerance

    return _of_best(solve, len(batch.offsets) - 1, settings, dev)


def fit_pointwise(batch: SparseRows, settings: Settings, *, dev: CandidateBatch | None) -> Fitted:
    """Return the scorer of the binary SVM that tells right candidates from wrong ones, for the best C."""
    from scipy.sparse import csr_array, hstack

    n = len(batch.cost)
    rows = csr_array(hstack([batch.rows, np.ones((n, 1))], format="csr"), dtype=np.float64)
    right = (from_the_least(batch) == 0).astype(np.int64)

    def solve(C: float) -> tuple[Floats, bool | None]:
        weights, converged = train(rows, right, settings, C)
        return (weights[-1] - weights[0])[:-1], converged

    return _of_best(solve, n, settings, dev)


def _of_best(
    solve: Callable[[float], tuple[Floats, bool | None]],
    n: int,
    settings: Settings,
    dev: CandidateBatch | None,
) -> Fitted:
    if settings.C is not None or dev is None or len(dev.offsets) < 2:
        C = _DEFAULT / n if settings.C is None else settings.C
        weights, converged = solve(C)
        return _fitted(weights, converged, C, {})
    check_finite(dev)
    search = CSearch[tuple[Floats, bool | None]](n, len(dev.offsets) - 1)
    for value in GRID:
        C = float(f"{value / n:g}")
        weights, converged = solve(C)
        if not search.add(C, quality(dev, dev.scores(weights)), (weights, converged)):
            break
    assert search.best is not None
    _, C, (weights, converged) = search.best
    return _fitted(weights, converged, C, search.report())


def _fitted(weights: Floats, converged: bool | None, C: float, path: dict[str, float]) -> Fitted:
    report = {"C": float(f"{C:g}"), "converged": converged, "dev_accuracy": path}
    return Fitted(CrossedScorer(weights), report)


def _with_sum(batch: SparseRows, inside: NDArray[np.bool_]) -> SparseRows:
    from scipy.sparse import csr_array, hstack

    total = batch.rows @ inside.astype(np.float64)
    rows = csr_array(hstack([batch.rows, total[:, None]], format="csr"))
    return SparseRows(rows, batch.offsets, batch.cost, batch.columns)
