"""Time of training under many masks, beside scikit-learn's fits on masked copies of the same rows.

Made documents in the size of a 20 Newsgroups problem: 2,000 rows of 28,000 words, a few words frequent and
most of them rare, 120 of them in a row. Each measure of ours has its peer's in the same run: the two are
timed in turns, in the processor's time, and the ratio of the best of each is in ``extra_info`` (shown by
``--benchmark-json FILE``).
"""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from disambig_random_subspace.learners import (
    SGD,
    ConfidenceWeighted,
    PassiveAggressive,
    Perceptron,
    RandomSubspaces,
    keep_masks,
)
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier

from disambig.data import CrossedRows, numbered

pytestmark = pytest.mark.benchmark
SUBSPACES = int(os.environ.get("SUBSPACES", "250"))
DOCUMENTS, WORDS, LENGTH = 2_000, 28_000, 240
BASES = {
    "perceptron": (
        Perceptron(),
        {"loss": "perceptron", "penalty": None, "learning_rate": "constant", "eta0": 1.0},
    ),
    "sgd": (SGD(), {"loss": "hinge"}),
    "pa": (PassiveAggressive(), {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 1.0}),
}


def documents(n, *, seed):
    """Return TF-IDF rows of length one, and which of two labels each has."""
    rng = np.random.default_rng(seed)
    right = rng.integers(2, size=n)
    frequency = 1.0 / np.arange(1, WORDS + 1)
    tilt = np.random.default_rng(0).normal(scale=0.15, size=WORDS)
    shares = frequency * np.exp(np.stack([tilt, -tilt]))
    shares /= shares.sum(axis=1, keepdims=True)
    words = np.concatenate([rng.choice(WORDS, LENGTH, p=shares[label]) for label in right]).astype(np.int32)
    starts = np.arange(n + 1, dtype=np.int32) * LENGTH
    rows = csr_array((np.ones(len(words)), words, starts), (n, WORDS))
    rows.sum_duplicates()
    rows.data *= np.log(n / (1.0 + np.bincount(rows.indices, minlength=WORDS)))[rows.indices] + 1.0
    rows.data /= np.repeat(np.sqrt(rows.multiply(rows).sum(axis=1)), np.diff(rows.indptr))
    return rows, right


def batch_of(rows, right):
    costs = np.ones((len(right), 2), np.float32)
    costs[np.arange(len(right)), right] = 0.0
    return CrossedRows(rows, costs, numbered(2 * rows.shape[1]))


def masked_copies(rows, right, settings, n):
    """Return the mean of scikit-learn's weights, and intercepts, over fits on masked copies."""
    order = np.random.default_rng(0).permutation(len(right))
    rows, right = rows[order], right[order]
    weights, intercept = np.zeros(rows.shape[1]), 0.0
    for k in range(n):
        (mask,) = keep_masks(k, k + 1, dimensions=rows.shape[1], removal_rate=0.1, seed=0)
        copy = rows.copy()
        copy.data *= mask[copy.indices]
        fitted = SGDClassifier(max_iter=5, tol=None, shuffle=False, **settings).fit(copy, right)
        weights += fitted.coef_[0] / n
        intercept += fitted.intercept_[0] / n
    return weights, intercept


def seconds(call):
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


@pytest.fixture(scope="module")
def data():
    return documents(DOCUMENTS, seed=1), documents(DOCUMENTS, seed=2)


@pytest.mark.parametrize("name", BASES)
def test_training_under_masks_beside_fits_on_masked_copies(data, name, benchmark):
    base, settings = BASES[name]
    (rows, right), (test_rows, test_right) = data
    batch, test_batch = batch_of(rows, right), batch_of(test_rows, test_right)
    learner = RandomSubspaces(base=base, n_subspaces=SUBSPACES)
    RandomSubspaces(base=base, n_subspaces=1).fit(batch)  # machine code is made once
    ours, theirs = [], []
    for _ in range(3):
        ours.append(seconds(lambda: learner.fit(batch).scorer))
        theirs.append(seconds(lambda: masked_copies(rows, right, settings, SUBSPACES)))
    benchmark.pedantic(learner.fit, args=(batch,), rounds=1)
    ratio = min(taken for taken, _ in ours) / min(taken for taken, _ in theirs)
    weights, intercept = theirs[0][1]
    best = ours[0][1].scores(test_batch).reshape(-1, 2).argmax(axis=1)
    accuracies = np.mean(best == test_right), np.mean((test_rows @ weights + intercept > 0) == test_right)
    benchmark.extra_info.update(ratio=ratio, ours=accuracies[0], theirs=accuracies[1])
    assert accuracies[0] == pytest.approx(accuracies[1], abs=1e-3)
    assert accuracies[0] > 0.75


def test_confidence_weighted_training_under_masks(data, benchmark):
    """No library has it under masks, nor at all: only its time is shown."""
    batch = batch_of(*data[0])
    learner = RandomSubspaces(base=ConfidenceWeighted(), n_subspaces=SUBSPACES)
    RandomSubspaces(base=ConfidenceWeighted(), n_subspaces=1).fit(batch)
    benchmark.pedantic(learner.fit, args=(batch,), rounds=1)


def test_prediction_beside_that_of_one_linear_model(data, benchmark):
    batch = batch_of(*data[1])
    one = SGD().fit(batch).scorer
    many = RandomSubspaces(n_subspaces=16).fit(batch).scorer
    assert type(many) is type(one) and many.weights.shape == one.weights.shape
    times = {"one": [], "many": []}
    for _ in range(30):
        times["one"].append(seconds(lambda: one.scores(batch))[0])
        times["many"].append(seconds(lambda: many.scores(batch))[0])
    benchmark.pedantic(many.scores, args=(batch,), rounds=10)
    benchmark.extra_info["ratio"] = min(times["many"]) / min(times["one"])
