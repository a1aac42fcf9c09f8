"""A cheap alternative beside what was learned: where it is far better, the settings of the learner are wrong.

A linear support vector machine as it comes, on the same features and the same folds. It is held against the
scores alone: what a judge adds (calibration, biases) must not hide a fault of the learner.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.conversions import convert
from disambig.data.batches.feature_groups import normalised
from disambig.data.batches.sparse import CrossedRows
from disambig.errors import UserError
from disambig.measures.significance import mcnemar
from disambig.types import CandidateBatch

LEAST = 300
"""Examples of a group below which it is not tried: of fewer a difference says little."""
MOST, FOLDS = 1500, 2
"""Examples that it learns from, the first in text order, and folds of them that it is tried on."""
FAR, SURE = 0.02, 0.001
"""By how much it must be better, and how sure that must be, to be worth a word."""


def far_better(
    batch: CandidateBatch, right: NDArray[np.bool_], folds: NDArray[np.int64], held_out: NDArray[np.float64]
) -> tuple[float, float] | None:
    """Return the accuracies of a learner and of the alternative where that is far better; else None.

    Parameters
    ----------
    batch : CandidateBatch
        The examples of a group.
    right : array of bool, shape (n, K)
        Which candidates are right.
    folds : array of int, shape (n,)
    held_out : array of float64, shape (n, K)
        Scores by what did not see the example.
    """
    n = min(len(right), MOST)
    if len(right) < LEAST or right.shape[1] < 2:
        return None
    try:
        crossed: Any = convert(batch.take(np.arange(n)), CrossedRows)
    except UserError:  # each candidate has features of its own
        return None
    right, folds = right[:n], folds[:n]
    hits = right[np.arange(n), held_out[:n].argmax(axis=1)]
    chosen = _chosen(crossed, right.argmax(axis=1), folds)
    tried = np.flatnonzero(chosen >= 0)
    hits, other = hits[tried], right[tried, chosen[tried]]
    own, cheap = float(hits.mean()), float(other.mean())
    return (own, cheap) if cheap - own > FAR and mcnemar(other, hits) < SURE else None


def _chosen(crossed: CrossedRows, gold: NDArray[np.int64], folds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what the alternative chooses for examples of the first folds without these; -1 for others."""
    from scipy.sparse import csr_array
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    rows = csr_array(normalised(CrossedRows(csr_array(crossed.rows), crossed.costs, crossed.columns)).rows)
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    chosen = np.full(len(gold), -1, np.int64)
    for fold in np.unique(folds)[:FOLDS].tolist():
        learn, tell = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if len(np.unique(gold[learn])) < 2:
            chosen[tell] = gold[learn[0]] if len(learn) else 0
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learned = LinearSVC(max_iter=200, random_state=0).fit(rows[learn], gold[learn])
        chosen[tell] = learned.predict(rows[tell])
    return chosen
