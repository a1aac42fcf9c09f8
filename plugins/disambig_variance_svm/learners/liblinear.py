"""scikit-learn's LIBLINEAR on crossed rows: the K-SVM and the one-versus-all SVM of the paper.

Every class weighs the attributes of all classes, and the bias attributes among them stand for an
intercept. LIBLINEAR knows the classes that it sees: a class without examples gets one whose attributes
are all zero, which adds a constant to every loss and changes no weight of the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, CrossedRows, DenseBlocks, Fitted, SparseRows
from disambig.api.batches import convert

from .c_search import CSearch, accuracy
from .checks import check_above_zero, check_attributes, check_c, check_count, check_finite
from .crossed_scorer import CrossedScorer

Floats = NDArray[np.float64]

GRID = tuple(float(f"{10.0**step:.1g}") for step in np.arange(-2.0, 3.1, 0.5))
"""Values of C times the number of examples tried on development data, smallest first."""
_DEFAULT = 10.0
"""C times the number of examples without development data."""
ONE_VERSUS_ALL, CRAMMER_SINGER = "ovr", "crammer_singer"
MOST_PASSES = 100_000
"""What LIBLINEAR's solver for Crammer and Singer makes at most; it is not told of any other number."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How LIBLINEAR is run; `max_iter` bounds the passes of `ONE_VERSUS_ALL` alone (see `MOST_PASSES`)."""

    kind: str
    C: float | None
    tolerance: float
    max_iter: int


def check(learner: str, settings: Settings, batch: CandidateBatch) -> None:
    """Refuse settings and examples that cannot be learned from.

    Parameters
    ----------
    learner : str
        Its name in messages.

    Raises
    ------
    UserError
        D452 for `max_iter`, D700 for `C`, D760 for `tolerance`; D703 and D705 for the examples.
    """
    if settings.C is not None:
        check_c(settings.C)
    check_above_zero(f"{learner}.tolerance", settings.tolerance)
    check_count(f"{learner}.max_iter", settings.max_iter)
    check_attributes(batch, None)


def crossed(batch: CandidateBatch) -> CrossedRows | SparseRows:
    """Return `batch` as crossed rows, or lists as sparse rows; D459 for what is neither."""
    return convert(batch, CrossedRows, SparseRows)


def fit_scorer(
    batch: CrossedRows,
    settings: Settings,
    *,
    dev: CandidateBatch | None,
    fold: Callable[[Floats], Floats] = lambda weights: weights,
) -> Fitted:
    """Return the scorer of the C that is best on `dev`, the smallest of equals.

    Parameters
    ----------
    fold : callable
        Turns the weights found into those that the scorer has.
    """
    n, k = batch.costs.shape
    gold = batch.costs.argmin(axis=1)
    sparse = hasattr(batch.rows, "indptr")
    given = batch.rows.astype(np.float64) if sparse else np.asarray(batch.rows, np.float64)
    rows, labels = _with_every_class(given, gold, k)
    if settings.C is not None or not isinstance(dev, DenseBlocks | CrossedRows) or len(dev.offsets) < 2:
        C = _DEFAULT / n if settings.C is None else settings.C
        weights, converged = train(rows, labels, settings, C)
        return _fitted(CrossedScorer(fold(weights.ravel())), converged, C, {})
    check_finite(dev)
    search = CSearch[tuple[CrossedScorer, bool | None]](n, len(dev.offsets) - 1)
    for value in GRID:
        C = float(f"{value / n:g}")
        weights, converged = train(rows, labels, settings, C)
        scorer = CrossedScorer(fold(weights.ravel()))
        if not search.add(C, accuracy(dev, scorer.scores(dev)), (scorer, converged)):
            break
    assert search.best is not None
    _, C, (scorer, converged) = search.best
    return _fitted(scorer, converged, C, search.report())


def _fitted(scorer: CrossedScorer, converged: bool | None, C: float, path: dict[str, float]) -> Fitted:
    return Fitted(scorer, {"C": float(f"{C:g}"), "converged": converged, "dev_accuracy": path})


def _with_every_class(rows: Any, gold: NDArray[np.int64], k: int) -> tuple[Any, NDArray[np.int64]]:
    missing = np.setdiff1d(np.arange(k), gold)
    if not len(missing):
        return rows, gold
    if not isinstance(rows, np.ndarray):
        from scipy.sparse import csr_array, vstack

        wider = csr_array(vstack([rows, csr_array((len(missing), rows.shape[1]))], format="csr"))
        return wider, np.concatenate([gold, missing])
    return np.concatenate([rows, np.zeros((len(missing), rows.shape[1]))]), np.concatenate([gold, missing])


def train(rows: Any, gold: NDArray[np.int64], settings: Settings, C: float) -> tuple[Floats, bool | None]:
    """Return one row of weights a class, and whether LIBLINEAR reached its tolerance: None, nobody knows.

    A single class needs no weights, and LIBLINEAR takes none.
    """
    if len(np.unique(gold)) == 1:
        return np.zeros((1, rows.shape[1])), True
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    svm = LinearSVC(
        C=C,
        loss="hinge",
        multi_class=settings.kind,
        fit_intercept=False,
        tol=settings.tolerance,
        max_iter=settings.max_iter,
        random_state=0,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        svm.fit(rows, gold)
    converged: bool | None = not any(issubclass(each.category, ConvergenceWarning) for each in caught)
    if not converged and settings.kind == CRAMMER_SINGER:  # it warns from `max_iter` on, where none stopped
        converged = svm.n_iter_ < MOST_PASSES if counts_passes(settings.kind) else None
    weights = svm.coef_.astype(np.float64)
    if len(weights) == 1:  # two classes: what tells the second from the first
        weights = np.concatenate([-weights, weights]) / 2
    return weights, converged


def counts_passes(kind: str) -> bool:
    """Tell whether scikit-learn counts LIBLINEAR's passes over a problem of this kind.

    Before 1.9.1 it reads those of Crammer and Singer where there are none (its issue 34029).
    """
    from packaging.version import Version
    from sklearn import __version__

    return kind != CRAMMER_SINGER or Version(__version__) >= Version("1.9.1")
