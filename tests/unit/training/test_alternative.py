"""A cheap alternative beside the learner: said where it is far better, and only there."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from disambig.data import CrossedColumns, CrossedRows, Group, numbered
from disambig.tasks import OwnCandidates
from disambig.training import LEAST, baseline_warnings, sanity_baseline


def examples(n=600, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, n)
    rows = rng.normal(size=(n, 8)) + gold[:, None]
    right = np.eye(2)[gold] > 0
    columns = CrossedColumns(numbered(8), ("one", "other"))
    batch = CrossedRows(csr_array(rows), (~right).astype(np.float32), columns)
    return batch, right, np.arange(n) % 5


def test_bad_scores_are_told_and_good_ones_are_not():
    batch, right, folds = examples()
    rng = np.random.default_rng(1)
    own, cheap = sanity_baseline(batch, right, folds, rng.normal(size=right.shape))
    assert 0.4 < own < 0.6 and cheap > 0.85
    assert sanity_baseline(batch, right, folds, right + 0.0) is None


def test_examples_sorted_by_label_are_no_easy_task():
    batch, right, folds = examples(4000)
    order = np.argsort(right[:, 0], kind="stable")
    scores = right + np.random.default_rng(2).normal(scale=0.5, size=right.shape)
    assert sanity_baseline(batch.take(order), right[order], folds, scores[order]) is None


def test_few_examples_and_one_label_say_nothing():
    batch, right, folds = examples(LEAST - 1)
    assert sanity_baseline(batch, right, folds, np.zeros(right.shape)) is None
    batch, right, folds = examples()
    assert sanity_baseline(batch, right[:, :1], folds, np.zeros((len(right), 1))) is None


def test_the_note_names_the_group():
    task = OwnCandidates(candidates=["a", "b"])
    assert baseline_warnings(task, [None]) == []
    (note,) = baseline_warnings(task, [(0.84, 0.955)])
    assert "84.0%" in note and "95.5%" in note and "regularisation" in note
    assert Group("g", ("a",)).learned
