"""Time and memory of the learners on made examples, beside their peers in the same run.

    pytest -s -m benchmark tests/benchmarks/test_learner_benchmarks.py -k lasso  # eg_, rls, subspaces, solve

``-s`` shows what was measured; other figures are in ``extra_info`` (``--benchmark-json FILE``).

Boosted lasso: lists of 20 candidates; ``LASSO_LISTS=72000`` asks for another size than 8,000 lists. What a
step costs must not depend on features that it does not touch. Exponentiated gradient: ``EG_LISTS=36000`` asks
for the size that the learner is measured by (1,008,000 candidates, 500,000 features, of which a candidate has
about 122; about 6 GB of memory) instead of 2,000 lists; the peers are the averaged perceptron, LIBLINEAR on
differences of pairs, and dlib's structured SVM where it is installed, on few lists. Regularised least
squares: words in the sizes of Senseval-2, beside scikit-learn's SVC over the same kernels and beside
refitting. Random subspaces: documents in the size of a 20 Newsgroups problem, beside scikit-learn's fits on
masked copies. The variance SVM: 34 classes, 14 counts each, beside LIBLINEAR's Crammer-Singer;
``SOLVER_EXAMPLES=10000`` asks for the size that figures are given for.
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
from disambig_exponentiated_gradient.learners import EG, ChainDual, ReducedLists
from disambig_kernel_rls.rls import DualSystem, LinearKernel, RLSCComb, RLSCLin, prepare_problem
from disambig_random_subspace.learners import (
    SGD,
    ConfidenceWeighted,
    PassiveAggressive,
    Perceptron,
    RandomSubspaces,
    keep_masks,
)
from disambig_variance_svm.learners import VarianceSVM, sum_weights
from disambig_variance_svm.svm import solve
from made_lists import made_lists, made_reranking
from scipy.sparse import block_diag, csr_array, vstack
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC

from disambig.data import (
    Columns,
    CrossedColumns,
    CrossedRows,
    DenseBlocks,
    SequenceRows,
    SparseRows,
    numbered,
    segments,
)
from disambig.decode import from_the_least

pytestmark = pytest.mark.benchmark
LISTS = int(os.environ.get("LASSO_LISTS", "8000"))
SECONDS = {8000: 60.0, 72000: 720.0}
"""What training to convergence may take on one core."""


@pytest.fixture(scope="module")
def examples():
    for learner in (BLasso(max_steps=5), Boosting(max_steps=5), AveragedPerceptron(passes=1)):
        learner.fit(made_lists(20), dev=made_lists(20))  # compiled before the measurement
    return made_lists(LISTS, readings=50_000)


def class_name(learner):
    return type(learner).__name__


@pytest.mark.parametrize("learner", [BLasso(), FBoosting(), FSLR(), Boosting()], ids=class_name)
def test_lasso_converges_in_time(examples, learner):
    began = time.process_time()
    path = learner.path(examples)
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\n{class_name(learner)}: {LISTS:,} lists, {len(examples.columns):,} columns,", end=" ")
    print(f"{seconds:.1f} s,", end=" ")
    print(f"{len(path):,} steps ({path.backward.sum():,} back), {memory:.1f} GB in all,", end=" ")
    print(f"ExpLoss {path.losses[0]:.0f}, {path.losses[-1]:.0f}, L1 {path.norms[-1]:.0f},", end=" ")
    print(f"{np.count_nonzero(path.weights()):,} weights")
    assert path.ended == "no step lowers the loss"
    assert seconds <= SECONDS.get(LISTS, np.inf)


def test_lasso_development_data_cost_little(examples):
    dev = examples.take(np.arange(LISTS // 4))  # its contents have no influence on the time
    began = time.process_time()
    alone = BLasso(max_steps=50_000).path(examples)
    between = time.process_time()
    BLasso(max_steps=50_000, patience=50_000).path(examples, dev=dev)
    ended = time.process_time()
    print(f"\n{len(alone):,} steps: {between - began:.1f} s, beside held-out lists {ended - between:.1f} s")
    assert ended - between <= 2.0 * (between - began) + 1.0


def test_lasso_perceptron(examples):
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


@pytest.mark.parametrize("learner", [BLasso(), Boosting()], ids=class_name)
def test_lasso_steps_cost_no_more_among_ten_times_the_features(learner):
    few = made_lists(1000, readings=20_000)
    many = beside_others(few, made_lists(18_000, readings=20_000, seed=2, least=1))
    taken, features = [], []
    for batch in (few, many):
        pairs = build_pairs(batch, "base score")
        stepper = Stepper(pairs, learner.rule(), 1e-7)
        seconds = []
        for _ in range(5):
            began = time.process_time()
            steps, _ = stepper.take(1500)
            seconds.append((time.process_time() - began) / len(steps[0]))
        taken.append(min(seconds))
        features.append(len(pairs.columns))
    for n, duration in zip(features, taken, strict=True):
        print(f"\n{n:,} features: {1e6 * duration:.1f} us a step", end="")
    assert features[1] > 9 * features[0]
    assert taken[1] < 3.0 * taken[0]  # the tournament has more rounds, and less of all is in the cache


def test_lasso_memory_beyond_the_examples_is_bounded():
    """At most 48 bytes for each difference of a pair, 500 for each feature, 200 for each pair."""
    batch = made_lists(2000)
    pairs = build_pairs(batch, "base score")
    tracemalloc.start()
    BLasso(max_steps=1000).path(batch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 48 * len(pairs.features) + 500 * len(pairs.columns) + 200 * len(pairs)


RERANKING_LISTS = int(os.environ.get("EG_LISTS", "2000"))
FEATURES = 500_000 if RERANKING_LISTS > 10_000 else 50_000
C = 0.01
PAIRS = 5
"""Rivals of each gold candidate that LIBLINEAR learns from: the wrong ones with the best base score."""


@pytest.fixture(scope="module")
def problem():
    train = made_reranking(RERANKING_LISTS, features=FEATURES)
    held = made_reranking(1000, features=FEATURES, seed=1)
    some = train.take(np.arange(20))
    for loss in ("hinge", "log"):
        EG(C=C, loss=loss, epochs=1).fit(some)  # compiled before it is timed
    AveragedPerceptron(passes=1).fit(some)
    return train, held


def hinge(batch, weights):
    """Return the objective that all are compared by."""
    scores, cost = batch.scores(weights), from_the_least(batch)
    gold = batch.offsets[:-1] + segments.argmax(-cost, batch.offsets)
    augmented = scores + (cost > 0)
    loss = segments.maxima(augmented, batch.offsets) - scores[gold]
    return C * float(loss.sum()) + 0.5 * float(weights @ weights)


def accuracy(batch, weights):
    winners = batch.offsets[:-1] + segments.argmax(batch.scores(weights), batch.offsets)
    return float((batch.cost[winners] == 0).mean())


def shown(name, seconds, problem, weights):
    train, held = problem
    objective, right = hinge(train, weights), accuracy(held, weights)
    print(f"\n{name}: {seconds:.1f} s, objective {objective:.2f}, held-out accuracy {right:.1%}", end="")
    return objective, right


def test_eg_epochs_and_gap(problem):
    """At 36,000 lists at most 5 s an epoch, and a gap of 1 % in at most 20 epochs."""
    train = problem[0]
    began = time.perf_counter()
    lists = ReducedLists.from_batch(train)
    made_ready = time.perf_counter() - began
    print(f"\n{RERANKING_LISTS:,} lists, {len(train.cost):,} candidates,", end=" ")
    print(f"{train.rows.nnz:,} numbers, of which", end=" ")
    print(f"{len(lists.values):,} differ in a list (found in {made_ready:.1f} s)", end="")
    assert np.diff(train.rows.indptr).max() <= 200
    del lists
    for loss in ("hinge", "cost", "log"):
        began = time.perf_counter()
        fitted = EG(C=C, loss=loss, gap=0.01, epochs=20).fit(train)
        path = fitted.report["path"]
        shown(f"EG {loss}", time.perf_counter() - began, problem, fitted.scorer.state()["weights"])
        epoch_seconds = np.diff([0.0, *path["seconds"]])
        longest = epoch_seconds.max()
        gap = fitted.report["gap"]
        print(f", {len(epoch_seconds)} epochs of {longest:.2f} s at most, gap {gap:.4f}", end="")
        assert gap <= 0.01
        assert longest <= 5.0 * max(RERANKING_LISTS / 36_000, 0.1)


def test_eg_online_against_batch(problem):
    train = problem[0]
    paths = {}
    for updates in ("online", "batch"):
        fitted = EG(C=C, loss="hinge", updates=updates, gap=1e-9, epochs=10).fit(train)
        paths[updates] = fitted.report["path"]
        print(f"\n{updates}: gap by epoch", *(f"{gap:.3f}" for gap in paths[updates]["gap"]), end="")
    assert paths["online"]["gap"][-1] < 0.2 * paths["batch"]["gap"][-1]


def test_eg_beside_its_peers(problem):
    train = problem[0]
    began = time.perf_counter()
    fitted = EG(C=C, loss="hinge", gap=0.01).fit(train)
    least, right = shown("EG", time.perf_counter() - began, problem, fitted.scorer.state()["weights"])
    began = time.perf_counter()
    for base in ("base score", "none"):  # its weight set before all others, or learned like them
        perceptron = AveragedPerceptron(passes=10, base=base).fit(train).scorer.state()["weights"]
        name = f"averaged perceptron, base {base}"
        objective, of_perceptron = shown(
            name, time.perf_counter() - began, problem, at_its_best(train, perceptron)
        )
        assert least < objective
        assert right >= of_perceptron - 0.02
        began = time.perf_counter()
    began = time.perf_counter()
    weights = pairwise(train)
    seconds = time.perf_counter() - began
    objective, _ = shown("LIBLINEAR on pairs", seconds, problem, at_its_best(train, weights))
    assert least < objective


def at_its_best(train, weights):
    """Return weights scaled so that the objective is least: winners are the same."""
    scaled = (weights * scale for scale in 10.0 ** np.arange(-5, 1.1, 0.5))
    return min(scaled, key=lambda candidate: hinge(train, candidate))


def pairwise(train):
    """Return the weights of LIBLINEAR on differences between gold and its rivals, both ways."""
    from sklearn.svm import LinearSVC

    cost = from_the_least(train)
    gold = train.offsets[:-1] + segments.argmax(-cost, train.offsets)
    base = np.asarray(train.rows[:, [0]].todense()).ravel()
    rivals = segments.top(np.where(cost > 0, base, -np.inf), train.offsets, PAIRS)
    which = np.repeat(np.arange(len(gold)), PAIRS)
    pairs = train.rows[gold[which]] - train.rows[rivals.ravel()]
    sign = np.where(np.arange(pairs.shape[0]) % 2, -1.0, 1.0)
    signed = csr_array(pairs.multiply(sign[:, None]))
    signed.indices, signed.indptr = signed.indices.astype(np.int32), signed.indptr.astype(np.int32)
    return LinearSVC(C=C, loss="hinge", fit_intercept=False, max_iter=1000).fit(signed, sign).coef_.ravel()


def test_eg_and_dlib_find_the_same_optimum():
    dlib = pytest.importorskip("dlib")
    train = made_reranking(200, features=5000)
    rows, offsets = train.rows, train.offsets
    gold = offsets[:-1] + segments.argmax(-train.cost, offsets)

    def vector(row):
        one = dlib.sparse_vector()
        for at in range(rows.indptr[row], rows.indptr[row + 1]):
            one.append(dlib.pair(int(rows.indices[at]), float(rows.data[at])))
        return one

    vectors = [vector(row) for row in range(rows.shape[0])]

    class Problem:
        C = 0.01 * 200  # dlib's loss is the mean of examples
        num_samples = 200
        num_dimensions = rows.shape[1]
        epsilon = 1e-4
        be_verbose = False

        def get_truth_joint_feature_vector(self, i):
            return vectors[gold[i]]

        def separation_oracle(self, i, solution):
            candidates = np.arange(offsets[i], offsets[i + 1])
            weights = np.array(solution)
            wrong = (train.cost[candidates] > 0).astype(float)
            best = candidates[(rows[candidates] @ weights + wrong).argmax()]
            return float(train.cost[best] > 0), vectors[best]

    began = time.perf_counter()
    theirs = np.array(dlib.solve_structural_svm_problem(Problem()))
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    ours = EG(C=C, loss="hinge", gap=1e-3, epochs=500).fit(train).scorer.state()["weights"]
    print(f"\n200 lists: dlib {seconds:.2f} s, objective {hinge(train, theirs):.4f};", end=" ")
    print(f"EG {time.perf_counter() - began:.2f} s, objective {hinge(train, ours):.4f}")
    assert hinge(train, ours) <= 1.002 * hinge(train, theirs)
    assert hinge(train, theirs) <= 1.01 * hinge(train, ours)


def test_eg_tagger_of_fifty_labels():
    """The size of a treebank, an eighth of it by default: at most ten seconds a pass for 12,500 sentences."""
    n, labels, features = (12_500 if RERANKING_LISTS > 10_000 else 1500), 50, 100_000
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 33, n)
    share = np.cumsum(1.0 / (np.arange(20_000) + 5.0))
    words = np.searchsorted(share, rng.random(sizes.sum()) * share[-1])
    right = np.where(rng.random(len(words)) < 0.9, words * 7919 % labels, rng.integers(0, labels, len(words)))
    columns = np.stack([(words * (2 * j + 1) + 7919 * j) % (features >> j % 5) for j in range(20)], axis=1)
    starts = np.arange(len(words) + 1) * 20
    rows = csr_array((np.ones(columns.size), columns.ravel(), starts), (len(words), features))
    costs = (np.arange(labels) != right[:, None]).astype(np.float32)
    batch = SequenceRows(rows, costs, np.repeat(np.arange(n), sizes))
    ChainDual(batch.take(np.arange(20)), "cost", 0.03).epoch(np.arange(1))
    dual = ChainDual(batch, "cost", 0.03)
    for _ in range(10):
        began = time.perf_counter()
        dual.epoch(rng.permutation(len(dual)))
        seconds = time.perf_counter() - began
        gap = dual.gap() / (dual.dual + dual.gap())
    print(f"\n{n:,} sentences of {len(words):,} words: {seconds:.1f} s a pass, gap {gap:.4f} after ten")
    assert gap <= 0.01
    assert seconds <= 10.0 * n / 12_500


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
    row_columns = Columns(np.full(len(groups), -1, np.int32), groups, ("local", "broad"))
    return CrossedRows(rows, costs, CrossedColumns(row_columns, tuple(map(str, range(senses)))))


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
def test_rls_beside_support_vector_machines_over_the_same_kernel(size, benchmark):
    kernel = LinearKernel(normalise="groups")
    problem = prepare_problem(word(*SIZES[size]), kernel)
    gram, targets = kernel.gram(problem.rows, problem.rows), problem.targets
    system = DualSystem(gram)

    def theirs():
        return [SVC(kernel="precomputed").fit(gram, target) for target in targets.T]

    compared(benchmark, lambda: system.solve(targets, len(gram) * LAMBDA), theirs)


@pytest.mark.parametrize("size", SIZES)
def test_rls_leave_one_out_beside_refitting(size, benchmark):
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
def test_rls_learning_from_rows(size, weights, benchmark):
    """Kernels and weights of columns included: the time a word costs in training."""
    batch = word(*SIZES[size])
    benchmark.pedantic(RLSCComb(weights=weights).fit, args=(batch,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("learner", [RLSCLin(), RLSCComb()], ids=["lin", "comb"])
def test_rls_scoring_a_few_instances(learner, benchmark):
    batch = word(*SIZES["median"])
    scorer, few = learner.fit(batch).scorer, batch.take(np.arange(5))
    benchmark.pedantic(scorer.scores, args=(few,), rounds=200, warmup_rounds=5)


SUBSPACES = int(os.environ.get("SUBSPACES", "250"))
DOCUMENTS, WORDS, SUBSPACE_LENGTH = 2_000, 28_000, 240
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
    words = [rng.choice(WORDS, SUBSPACE_LENGTH, p=shares[label]).astype(np.int32) for label in right]
    words = np.concatenate(words)
    starts = np.arange(n + 1, dtype=np.int32) * SUBSPACE_LENGTH
    rows = csr_array((np.ones(len(words)), words, starts), (n, WORDS))
    rows.sum_duplicates()
    rows.data *= np.log(n / (1.0 + np.bincount(rows.indices, minlength=WORDS)))[rows.indices] + 1.0
    rows.data /= np.repeat(np.sqrt(rows.multiply(rows).sum(axis=1)), np.diff(rows.indptr))
    return rows, right


def two_candidates(rows, right):
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


def subspace_seconds(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


@pytest.fixture(scope="module")
def data():
    return documents(DOCUMENTS, seed=1), documents(DOCUMENTS, seed=2)


@pytest.mark.parametrize("name", BASES)
def test_subspaces_beside_fits_on_masked_copies(data, name, benchmark):
    base, settings = BASES[name]
    (rows, right), (test_rows, test_right) = data
    batch, test_batch = two_candidates(rows, right), two_candidates(test_rows, test_right)
    learner = RandomSubspaces(base=base, n_subspaces=SUBSPACES)
    RandomSubspaces(base=base, n_subspaces=1).fit(batch)  # machine code is made once
    ours, theirs = [], []
    for _ in range(3):
        ours.append(subspace_seconds(lambda: learner.fit(batch).scorer))
        theirs.append(subspace_seconds(lambda: masked_copies(rows, right, settings, SUBSPACES)))
    benchmark.pedantic(learner.fit, args=(batch,), rounds=1)
    ratio = min(taken for taken, _ in ours) / min(taken for taken, _ in theirs)
    weights, intercept = theirs[0][1]
    best = ours[0][1].scores(test_batch).reshape(-1, 2).argmax(axis=1)
    accuracies = np.mean(best == test_right), np.mean((test_rows @ weights + intercept > 0) == test_right)
    benchmark.extra_info.update(ratio=ratio, ours=accuracies[0], theirs=accuracies[1])
    assert accuracies[0] == pytest.approx(accuracies[1], abs=1e-3)
    assert accuracies[0] > 0.75


def test_subspaces_of_confidence_weighted_learning(data, benchmark):
    """No library has it under masks, nor at all: only its time is shown."""
    batch = two_candidates(*data[0])
    learner = RandomSubspaces(base=ConfidenceWeighted(), n_subspaces=SUBSPACES)
    RandomSubspaces(base=ConfidenceWeighted(), n_subspaces=1).fit(batch)
    benchmark.pedantic(learner.fit, args=(batch,), rounds=1)


def test_subspaces_predict_like_one_linear_model(data, benchmark):
    batch = two_candidates(*data[1])
    one = SGD().fit(batch).scorer
    many = RandomSubspaces(n_subspaces=16).fit(batch).scorer
    assert type(many) is type(one) and many.weights.shape == one.weights.shape
    times = {"one": [], "many": []}
    for _ in range(30):
        times["one"].append(subspace_seconds(lambda: one.scores(batch))[0])
        times["many"].append(subspace_seconds(lambda: many.scores(batch))[0])
    benchmark.pedantic(many.scores, args=(batch,), rounds=10)
    benchmark.extra_info["ratio"] = min(times["many"]) / min(times["one"])


EXAMPLES = int(os.environ.get("SOLVER_EXAMPLES", "500"))
CLASSES, PATTERNS = 34, 14


def prepositions(n, *, seed=0):
    """Return examples in which the right filler's counts tend to be larger, short patterns' most of all."""
    rng = np.random.default_rng(seed)
    right = np.minimum(rng.geometric(0.15, n) - 1, CLASSES - 1)
    values = np.log1p(rng.poisson(3.0, (n, CLASSES, PATTERNS)) * (rng.random((n, CLASSES, PATTERNS)) < 0.3))
    values[np.arange(n), right] += rng.exponential(1.0, (n, PATTERNS))
    kinds = np.array([0] * 2 + [1] * 3 + [2] * 4 + [3] * 5, np.int32)
    labels, groups = np.repeat(np.arange(CLASSES, dtype=np.int32), PATTERNS), np.tile(kinds, CLASSES)
    columns = Columns(labels, groups, ("2-gram", "3-gram", "4-gram", "5-gram"))
    costs = np.ones((n, CLASSES), np.float32)
    costs[np.arange(n), right] = 0.0
    column_of = np.arange(CLASSES * PATTERNS).reshape(CLASSES, PATTERNS)
    return DenseBlocks(values.astype(np.float32), column_of, columns, costs)


@pytest.mark.parametrize("n", [EXAMPLES, 10 * EXAMPLES])
def test_the_variance_svm_is_solved(benchmark, n):
    batch = prepositions(n)
    problem, regulariser, prior = VarianceSVM().problem(batch)
    start = prior + sum_weights(regulariser)
    settings = {"args": (problem, regulariser, 1.0 / n), "kwargs": {"start": start}}
    result = benchmark.pedantic(solve, **settings, rounds=3, warmup_rounds=1)
    assert result.gap <= 1e-3


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
    batch = prepositions(4 * EXAMPLES)
    problem, regulariser, _ = VarianceSVM().problem(batch)
    fixed = 12 * len(batch.columns) ** 2 * 8  # the Hessian and its copies do not grow with the examples
    solve(problem, regulariser, 1e-4)
    tracemalloc.start()
    solve(problem, regulariser, 1e-4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - fixed <= 0.5 * batch.values.nbytes
