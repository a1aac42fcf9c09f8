"""Time of the variance SVM's solver, beside LIBLINEAR's Crammer-Singer on the same examples.

Made examples in the shape of the preposition task: 34 classes, 14 counts each. Sizes are small by default;
``SOLVER_EXAMPLES=10000`` asks for the size that figures are given for.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from disambig_variance_svm.learners import VarianceSVM, sum_weights
from disambig_variance_svm.svm import solve

from disambig.data import Columns, DenseBlocks

pytestmark = pytest.mark.benchmark
EXAMPLES = int(os.environ.get("SOLVER_EXAMPLES", "500"))
CLASSES, PATTERNS = 34, 14


def prepositions(n, *, seed=0):
    """Return examples in which the right filler's counts tend to be larger, short patterns' most of all."""
    rng = np.random.default_rng(seed)
    right = np.minimum(rng.geometric(0.15, n) - 1, CLASSES - 1)
    values = np.log1p(rng.poisson(3.0, (n, CLASSES, PATTERNS)) * (rng.random((n, CLASSES, PATTERNS)) < 0.3))
    values[np.arange(n), right] += rng.exponential(1.0, (n, PATTERNS))
    kinds = np.array([0] * 2 + [1] * 3 + [2] * 4 + [3] * 5, np.int32)
    columns = Columns(
        np.repeat(np.arange(CLASSES, dtype=np.int32), PATTERNS),
        np.tile(kinds, CLASSES),
        ("2-gram", "3-gram", "4-gram", "5-gram"),
    )
    costs = np.ones((n, CLASSES), np.float32)
    costs[np.arange(n), right] = 0.0
    column_of = np.arange(CLASSES * PATTERNS).reshape(CLASSES, PATTERNS)
    return DenseBlocks(values.astype(np.float32), column_of, columns, costs)


@pytest.mark.parametrize("n", [EXAMPLES, 10 * EXAMPLES])
def test_the_variance_svm_is_solved(benchmark, n):
    batch = prepositions(n)
    problem, regulariser, prior = VarianceSVM().problem(batch)
    start = prior + sum_weights(regulariser)
    found = benchmark.pedantic(
        lambda: solve(problem, regulariser, 1.0 / n, start=start), rounds=3, warmup_rounds=1
    )
    assert found.gap <= 1e-3


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
def test_liblinear_is_solved(benchmark):
    """Its tolerance is the largest dual violation; its own iteration limit for this solver is 100,000."""
    from sklearn.svm import LinearSVC

    batch = prepositions(EXAMPLES)
    joint = batch.values.reshape(EXAMPLES, -1).astype(np.float64)
    right = batch.costs.argmin(axis=1)
    learner = LinearSVC(multi_class="crammer_singer", C=1e-3, tol=1e-2, random_state=0)
    benchmark.pedantic(learner.fit, args=(joint, right), rounds=1)
    assert learner.score(joint, right) > 0.5


def test_memory_beyond_the_attributes_is_small():
    """The solver's own arrays take less than half of what the attribute tensor takes."""
    import tracemalloc

    batch = prepositions(4 * EXAMPLES)
    problem, regulariser, _ = VarianceSVM().problem(batch)
    fixed = 12 * len(batch.columns) ** 2 * 8  # the Hessian and its copies do not grow with the examples
    solve(problem, regulariser, 1e-4)
    tracemalloc.start()
    solve(problem, regulariser, 1e-4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - fixed <= 0.5 * batch.values.nbytes
