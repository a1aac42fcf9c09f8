"""Time of regularised least squares, beside scikit-learn's SVC over the same kernels, and beside refitting.

Made words in the sizes of Senseval-2: the median, a large one, the largest. Each measure of ours has its
peer's in the same run: the two are timed in turns, in the processor's time, and the ratio of the best of
each is in ``extra_info`` (shown by ``--benchmark-json FILE``).
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from disambig_kernel_rls.rls import DualSystem, LinearKernel, RLSCComb, RLSCLin, prepare_problem
from scipy.sparse import csr_array
from sklearn.svm import SVC

from disambig.data import Columns, CrossedColumns, CrossedRows

pytestmark = pytest.mark.benchmark
SIZES = {"median": (120, 5), "large": (300, 12), "largest": (600, 20)}  # examples, senses
VOCABULARY, LENGTH = 20_000, 100
LAMBDA = 1e-9


def word(n, senses, *, seed=0):
    """Return instances with 15 features in their first feature group and `LENGTH` words in the other."""
    rng = np.random.default_rng(seed)
    right = np.minimum(rng.geometric(0.35, n) - 1, senses - 1)
    right[:senses] = np.arange(senses)
    frequency = 1.0 / np.arange(1, VOCABULARY + 1)
    tilt = np.exp(np.random.default_rng(1).normal(scale=0.5, size=(senses, VOCABULARY)))
    shares = frequency * tilt
    shares /= shares.sum(axis=1, keepdims=True)
    local = rng.integers(200, size=(n, 15)) * (rng.random((n, 15)) < 0.7) + np.arange(15) * 200
    broad = np.stack([rng.choice(VOCABULARY, LENGTH, p=shares[sense]) for sense in right]) + 3_000
    columns = np.hstack([local, broad]).astype(np.int32)
    starts = np.arange(n + 1) * columns.shape[1]
    rows = csr_array((np.ones(columns.size), columns.ravel(), starts), (n, 3_000 + VOCABULARY))
    rows.sum_duplicates()
    groups = np.repeat(np.arange(2, dtype=np.int32), [3_000, VOCABULARY])
    costs = (np.arange(senses) != right[:, None]).astype(np.float32)
    own = Columns(np.full(len(groups), -1, np.int32), groups, ("local", "broad"))
    return CrossedRows(rows, costs, CrossedColumns(own, tuple(map(str, range(senses)))))


def seconds(call, *, times=1):
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def compared(benchmark, ours, theirs, *, rounds=5, times=20):
    """Time the two in turns and write down the ratio of their best times."""
    ours(), theirs()
    pairs = [(seconds(ours, times=times), seconds(theirs)) for _ in range(rounds)]
    benchmark.pedantic(ours, rounds=rounds)
    best = np.min(pairs, axis=0)
    benchmark.extra_info.update(ours=best[0], theirs=best[1], times_faster=best[1] / best[0])


@pytest.mark.parametrize("size", SIZES)
def test_learning_beside_support_vector_machines_over_the_same_kernel(size, benchmark):
    kernel = LinearKernel(normalise="groups")
    problem = prepare_problem(word(*SIZES[size]), kernel)
    gram, targets = kernel.gram(problem.rows, problem.rows), problem.targets
    system = DualSystem(gram)

    def theirs():
        return [SVC(kernel="precomputed").fit(gram, target) for target in targets.T]

    compared(benchmark, lambda: system.solve(targets, len(gram) * LAMBDA), theirs)


@pytest.mark.parametrize("size", SIZES)
def test_leave_one_out_beside_refitting(size, benchmark):
    problem = prepare_problem(word(*SIZES[size]), LinearKernel())
    gram, targets = (problem.rows @ problem.rows.T).toarray(), problem.targets
    system, shift = DualSystem(gram), len(gram) * LAMBDA

    def refitted():
        scores = np.empty(targets.shape)
        for i in range(len(gram)):
            rest = np.delete(np.arange(len(gram)), i)
            coefficients = DualSystem(gram[np.ix_(rest, rest)]).solve(targets[rest], shift)
            scores[i] = gram[i, rest] @ coefficients
        return scores

    ours = next(iter(system.left_out(targets, [shift])))
    assert ours == pytest.approx(refitted(), abs=1e-4)
    compared(benchmark, lambda: next(iter(system.left_out(targets, [shift]))), refitted, rounds=3, times=10)


@pytest.mark.parametrize("weights", [None, "alignment", "loo"])
@pytest.mark.parametrize("size", SIZES)
def test_learning_from_rows(size, weights, benchmark):
    """Kernels and weights of columns included: the time a word costs in training."""
    batch = word(*SIZES[size])
    benchmark.pedantic(RLSCComb(weights=weights).fit, args=(batch,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("learner", [RLSCLin(), RLSCComb()], ids=["lin", "comb"])
def test_scoring_a_few_instances(learner, benchmark):
    batch = word(*SIZES["median"])
    scorer, few = learner.fit(batch).scorer, batch.take(np.arange(5))
    benchmark.pedantic(scorer.scores, args=(few,), rounds=200, warmup_rounds=5)
