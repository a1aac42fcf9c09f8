"""Senses with many examples: about as many as there are features, some of them wrong."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_kernel_rls.rls import OF_MANY, RLSCLin, auto_regularisation
from scipy.sparse import csr_array

from disambig.data import CrossedColumns, CrossedRows, numbered
from disambig.training import fit, sanity_baseline

WORDS, EACH, TELLING = 650, 12, 90


def made(n, seed):
    """Return examples of a dozen words each, one label in ten wrong, and the true senses."""
    weights = np.random.default_rng(7).normal(size=WORDS) * (np.arange(WORDS) < TELLING)
    often = 1 / (np.arange(WORDS) + 10.0)
    rng = np.random.default_rng(seed)
    words = np.array([rng.choice(WORDS, EACH, replace=False, p=often / often.sum()) for _ in range(n)])
    true = weights[words].sum(axis=1) > 0
    said = true ^ (rng.random(n) < 0.1)
    rows = csr_array((np.ones(n * EACH), words.ravel(), np.arange(0, n * EACH + 1, EACH)), (n, WORDS))
    right = np.stack([~said, said], axis=1)
    columns = CrossedColumns(numbered(WORDS), ("one", "other"))
    return CrossedRows(rows, (~right).astype(np.float32), columns), right, true


def accuracy(learner, batch, test, true):
    scores = fit(learner, batch).scorer.scores(test).reshape(len(true), -1)
    return (scores.argmax(axis=1) == true).mean()


def test_what_a_hundred_examples_need_ruins_hundreds_and_the_default_does_not():
    batch, _, _ = made(640, 0)
    test, _, true = made(1000, 1)
    fixed, auto, chosen = (
        accuracy(RLSCLin(regularisation=value), batch, test, true) for value in (1e-9, "auto", "loo")
    )
    assert fixed < 0.7 and auto > fixed + 0.1 and chosen > fixed + 0.1


def test_training_would_say_so():
    batch, right, _ = made(640, 0)
    folds = np.arange(640) % 5

    def told(learner):
        held_out = np.empty(right.shape)
        for fold in range(5):
            inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            scorer = fit(learner, batch.take(inside)).scorer
            held_out[outside] = scorer.scores(batch.take(outside)).reshape(-1, 2)
        return sanity_baseline(batch, right, folds, held_out)

    own, cheap = told(RLSCLin(regularisation=1e-9))
    assert cheap > own + 0.05
    assert told(RLSCLin(regularisation="loo")) is None


def test_the_regularisation_grows_with_the_examples():
    assert (
        auto_regularisation(100) == pytest.approx(OF_MANY / 10)
        and auto_regularisation(1000) == auto_regularisation(9000) == OF_MANY
    )
