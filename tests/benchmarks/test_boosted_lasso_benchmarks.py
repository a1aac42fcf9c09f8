"""Time and memory of the boosted lasso and related learners on synthetic lists of 20 candidates.

``LASSO_LISTS=72000`` asks for another size than 8,000 lists; ``-s`` shows what was measured. What a step
costs must not depend on features that it does not touch: the same lists beside many times as many columns of
other lists, which no step comes to.
"""

from __future__ import annotations

import os
import resource
import time
import tracemalloc

import numpy as np
import pytest
from disambig_boosted_lasso.learners import (
    FSLR,
    AveragedPerceptron,
    BLasso,
    Boosting,
    FBoosting,
    Stepper,
    build_pairs,
)
from made_lists import made_lists
from scipy.sparse import block_diag, csr_array, vstack

from disambig.data import Columns, SparseRows

pytestmark = pytest.mark.benchmark
LISTS = int(os.environ.get("LASSO_LISTS", "8000"))
SECONDS = {8000: 60.0, 72000: 720.0}
"""What training to convergence may take on one core."""


@pytest.fixture(scope="module")
def examples():
    for learner in (BLasso(max_steps=5), Boosting(max_steps=5), AveragedPerceptron(passes=1)):
        learner.fit(made_lists(20), dev=made_lists(20))  # compiled before the measurement
    return made_lists(LISTS, readings=50_000)


def name_of(learner):
    return type(learner).__name__


@pytest.mark.parametrize("learner", [BLasso(), FBoosting(), FSLR(), Boosting()], ids=name_of)
def test_it_converges_in_time(examples, learner):
    began = time.process_time()
    path = learner.path(examples)
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"\n{name_of(learner)}: {LISTS:,} lists, {len(examples.columns):,} columns, {seconds:.1f} s,", end=" "
    )
    print(f"{len(path):,} steps ({path.backward.sum():,} back), {memory:.1f} GB in all,", end=" ")
    print(f"ExpLoss {path.losses[0]:.0f}, {path.losses[-1]:.0f}, L1 {path.norms[-1]:.0f},", end=" ")
    print(f"{np.count_nonzero(path.weights()):,} weights")
    assert path.ended == "no step lowers the loss"
    assert seconds <= SECONDS.get(LISTS, np.inf)


def test_development_data_cost_little(examples):
    dev = examples.take(np.arange(LISTS // 4))  # its contents have no influence on the time
    began = time.process_time()
    alone = BLasso(max_steps=50_000).path(examples)
    between = time.process_time()
    BLasso(max_steps=50_000, patience=50_000).path(examples, dev=dev)
    ended = time.process_time()
    print(f"\n{len(alone):,} steps: {between - began:.1f} s, beside held-out lists {ended - between:.1f} s")
    assert ended - between <= 2.0 * (between - began) + 1.0


def test_the_perceptron(examples):
    began = time.process_time()
    AveragedPerceptron(passes=10).fit(examples)
    seconds = time.process_time() - began
    print(f"\n10 passes over {LISTS:,} lists: {seconds:.1f} s")
    assert seconds <= SECONDS.get(LISTS, np.inf)


def beside_others(batch, others):
    """Return lists beside lists of two with columns of their own, there both ways: no step helps these."""
    first, second = others.rows[0::2, 1:], others.rows[1::2, 1:]
    both = vstack([first, second, second, first]).tocsr()
    n = first.shape[0]
    order = np.arange(4 * n).reshape(4, n).reshape(2, 2, n).transpose(2, 0, 1).ravel()
    rows = csr_array(block_diag([batch.rows, both[order]], format="csr"))
    offsets = np.concatenate([batch.offsets, batch.offsets[-1] + 2 * np.arange(1, 2 * n + 1)])
    cost = np.concatenate([batch.cost, np.tile([0.0, 1.0], 2 * n)]).astype(np.float32)
    kinds = np.ones(rows.shape[1], np.int32)
    kinds[0] = 0
    columns = Columns(np.full(len(kinds), -1, np.int32), kinds, batch.columns.group_names)
    return SparseRows(rows, offsets, cost, columns)


@pytest.mark.parametrize("learner", [BLasso(), Boosting()], ids=name_of)
def test_a_step_does_not_cost_more_among_ten_times_the_features(learner):
    few = made_lists(1000, readings=20_000)
    many = beside_others(few, made_lists(18_000, readings=20_000, seed=2, least=1))
    taken, features = [], []
    for batch in (few, many):
        pairs = build_pairs(batch, "base score")
        stepper = Stepper(pairs, learner.rule(), 1e-7)
        seconds = []
        for _ in range(5):
            began = time.process_time()
            found, _ = stepper.take(1500)
            seconds.append((time.process_time() - began) / len(found[0]))
        taken.append(min(seconds))
        features.append(len(pairs.columns))
    print(
        "".join(
            f"\n{n:,} features: {1e6 * each:.1f} us a step" for n, each in zip(features, taken, strict=True)
        )
    )
    assert features[1] > 9 * features[0]
    assert taken[1] < 3.0 * taken[0]  # the tournament has more rounds, and less of all is in the cache


def test_memory_beyond_the_examples_is_bounded():
    """At most 48 bytes for each difference of a pair, 500 for each feature, 200 for each pair."""
    batch = made_lists(2000)
    pairs = build_pairs(batch, "base score")
    tracemalloc.start()
    BLasso(max_steps=1000).path(batch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 48 * len(pairs.features) + 500 * len(pairs.columns) + 200 * len(pairs)
