"""Linear learners, averages over random subspaces and RandomSubspaceClassifier: rules, masks, folds."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from disambig_random_subspace import NAMES, RandomSubspaceClassifier
from disambig_random_subspace.learners import (
    SGD,
    ConfidenceWeighted,
    InterceptScorer,
    PassiveAggressive,
    Perceptron,
    RandomSubspaces,
    descend_folds,
    keep_masks,
    prepare_labels,
)
from disambig_variance_svm.learners import OneVersusAll
from examples import fewer_examples
from hypothesis import given, strategies as st
from scipy.sparse import csr_array
from sklearn import __version__
from sklearn.linear_model import SGDClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator
from subspace_weights import fingerprint
from toy_learners import KernelRidge, Perceptron as ToyPerceptron

from disambig.data import Columns, CrossedRows
from disambig.errors import UserError
from disambig.testing import blocks, chains, check_learner, crossed, lists
from disambig.training import FitsFolds, fit_folds
from disambig.types import HasOpenSettings

SKLEARN = tuple(int(number) for number in __version__.split(".")[:2])
LEARNERS = {"perceptron": Perceptron, "sgd": SGD, "pa": PassiveAggressive, "cw": ConfidenceWeighted}


def labelled_batch(rows, right, n_labels=2):
    """Return rows (sparse, or an array) and the label of each, as a batch."""
    rows = csr_array(rows, dtype=np.float64)
    costs = np.ones((len(right), n_labels), np.float32)
    costs[np.arange(len(right)), right] = 0.0
    n = n_labels * rows.shape[1]
    labels = np.repeat(np.arange(n_labels, dtype=np.int32), rows.shape[1])
    names = [f"word{i % rows.shape[1]}" for i in range(n)]
    return CrossedRows(rows, costs, Columns(labels, np.zeros(n, np.int32), ("words",), names))


def make_batch(n=60, dimensions=12, labels=2, *, seed=0, noise=0.5):
    """Return rows whose first dimensions predict the label; a third of the numbers are zero."""
    rng = np.random.default_rng(seed)
    right = rng.integers(labels, size=n)
    right[:labels] = np.arange(labels)
    rows = noise * rng.normal(size=(n, dimensions))
    rows[np.arange(n), right] += 1.0
    return labelled_batch(rows * (rng.random(rows.shape) < 0.7), right, labels)


def second_of_two(scorer):
    """Return the weights and the intercept of the second label relative to the first."""
    weights = scorer.weights.reshape(2, -1)
    return (weights[1] - weights[0])[:-1], (weights[1] - weights[0])[-1]


def batch_in_order(rows, right):
    """Return a batch of which a learner of seed 0 sees the rows in the order given."""
    place = np.empty(len(rows), np.int64)
    place[np.random.default_rng(0).permutation(len(rows))] = np.arange(len(rows))
    return labelled_batch(np.asarray(rows)[place], np.asarray(right)[place])


# First (1, 0) of the second label (y = 1), then (1, 1) of the first (y = -1); both twice. The intercept
# takes a hundredth of each step, that of CW a step by its own variance.
BY_HAND = {
    # y (w . x + b) <= 0: 0 -> w = (1, 0), b = .01; -1.01 -> (0, -1), 0; 0 -> (1, -1), .01; -.01 -> (0, -2), 0
    "perceptron": (Perceptron(passes=2), [0.0, -2.0], 0.0),
    # alpha = 1/16: t0 = 1 / (sqrt(1 / sqrt(alpha)) alpha) = 8; steps 16/8, 16/9, 16/10, 16/11 of all four,
    # before which the weights shrink by 7/8, 8/9, 9/10, 10/11:
    # (2, 0), .02; (0, -16/9), .02 - .16/9; (1.6, -1.6), + .016; (0, -32/11), - .16/11
    "sgd": (SGD(alpha=1 / 16, passes=2), [0.0, -32 / 11], 0.02 - 0.16 / 9 + 0.016 - 0.16 / 11),
    # steps min(C, loss / |x|^2): 1; min(1, 2.01 / 2) = 1; 1; 1.01 / 2 = .505
    "pa": (PassiveAggressive(passes=2), [0.495, -1.505], 0.00495),
    # min(.5, 1) and min(.5, 1.505 / 2)
    "pa-small-steps": (PassiveAggressive(C=0.5, passes=1), [0.0, -0.5], 0.0),
    # phi = 1. m = 0, v = 1 + 1: step (sqrt(1 + 16) - 1) / 8 = .3903882,
    # variances 1 / (1 + 2 step) = .5615528;
    # m = -.7807764, v = 2 (.5615528) + 1 = 2.1231056:
    # step (sqrt((1 - 2 m)^2 + 8 v) - 1 - 2 m) / (4 v) = .6375114
    "cw": (ConfidenceWeighted(confidence=0.8413447460685429, passes=1), [0.0323919, -0.6375114], 0.0323919),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_rules_by_hand(name):
    learner, weights, intercept = BY_HAND[name]
    batch = batch_in_order([[1.0, 0.0], [1.0, 1.0]], [1, 0])
    for scorer in (learner.fit(batch).scorer, fit_masked(learner, batch, np.ones((1, 2), bool))):
        result = second_of_two(scorer)
        assert result[0] == pytest.approx(weights, abs=1e-6)
        assert result[1] == pytest.approx(intercept, abs=1e-6)


def test_confidence_weighted_reaches_its_confidence():
    """With a single dimension the closed form is exact: the margin becomes phi times the new variance."""
    from disambig_random_subspace.learners import confidence_labels

    means, variances, intercepts = np.zeros((1, 8)), np.ones((1, 8)), np.zeros(8)
    rows = np.array([0, 0], np.uint64), np.array([], np.uint32), np.array([])  # the constant alone
    confidence_labels(*rows, np.array([-1.0]), 1, 1.3, means, variances, intercepts)
    variance = 1 / (1 + 2 * 1.3 * -intercepts[0])
    assert -intercepts[0] == pytest.approx(1.3 * variance)
    assert (means == 0).all() and (variances == 1).all()


@pytest.mark.parametrize("labels", [2, 3, 5])
@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        (Perceptron(seed=4), {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0}),
        (SGD(alpha=1e-3, seed=4), {"loss": "hinge", "penalty": "l2", "alpha": 1e-3}),
        (PassiveAggressive(C=0.3, seed=4), {"loss": "hinge", "learning_rate": "pa1", "eta0": 0.3}),
    ],
    ids=["perceptron", "sgd", "pa"],
)
def test_without_masks_equal_to_scikit_learn(learner, settings, labels):
    batch = make_batch(labels=labels)
    order = np.random.default_rng(4).permutation(60)
    theirs = SGDClassifier(max_iter=5, tol=None, shuffle=False, **{"penalty": None} | settings)
    if isinstance(learner, PassiveAggressive) and SKLEARN < (1, 8):
        from sklearn.linear_model import PassiveAggressiveClassifier  # it goes away in 1.10

        theirs = PassiveAggressiveClassifier(C=0.3, max_iter=5, tol=None, shuffle=False)
    theirs.fit(batch.rows[order], batch.costs[order].argmin(axis=1))
    scorer = learner.fit(batch).scorer
    weights = scorer.weights.reshape(labels, -1)
    if labels == 2:
        weights = weights[1:] - weights[:1]
    assert weights[:, :-1] == pytest.approx(theirs.coef_, abs=1e-12)
    assert weights[:, -1] == pytest.approx(theirs.intercept_, abs=1e-12)
    chosen = scorer.scores(batch).reshape(-1, labels).argmax(axis=1)
    assert chosen.tolist() == theirs.predict(batch.rows).tolist()


def fit_masked(learner, batch, masks):
    return learner.from_state({"weights": learner.fit_masked(batch, masks) / len(masks)})


@fewer_examples
@given(
    name=st.sampled_from(sorted(LEARNERS)),
    labels=st.integers(2, 4),
    n_masks=st.integers(1, 19),
    rate=st.floats(0, 0.9),
    seed=st.integers(0, 2**16),
    alpha=st.sampled_from([1e-4, 1e-2, 1.0, 30.0]),
)
def test_masks_equal_masked_copies(name, labels, n_masks, rate, seed, alpha):
    learner = SGD(alpha=alpha, passes=3) if name == "sgd" else LEARNERS[name](passes=3)
    batch = make_batch(25, 10, labels, seed=seed)
    masks = np.random.default_rng(seed).random((n_masks, 10)) >= rate
    expected = sum(learner.fit(copy).scorer.weights for copy in masked_copies(batch, masks))
    assert learner.fit_masked(batch, masks) == pytest.approx(expected, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("labels", [1, 2, 4])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_single_label_is_always_chosen(name, labels):
    batch = labelled_batch(np.random.default_rng(0).normal(size=(6, 3)), [labels - 1] * 6, labels)
    scores = LEARNERS[name]().fit(batch).scorer.scores(batch).reshape(6, labels)
    assert (scores.argmax(axis=1) == labels - 1).all()
    assert (scores == np.append(np.full(labels - 1, -1.0), 0.0)).all()


def test_rows_of_several_labels_and_types():
    batch, tied = make_batch(labels=3), make_batch(labels=3)
    tied.costs[tied.costs.argmin(axis=1) == 0, 2] = 0.0
    assert (Perceptron().fit(tied).scorer.weights == Perceptron().fit(batch).scorer.weights).all()
    batch = make_batch()
    dense = CrossedRows(batch.rows.toarray(), batch.costs, batch.columns)
    for learner in LEARNERS.values():
        sparse_scorer, dense_scorer = learner().fit(batch).scorer, learner().fit(dense).scorer
        assert sparse_scorer.weights.tobytes() == dense_scorer.weights.tobytes()
        assert dense_scorer.scores(dense) == pytest.approx(sparse_scorer.scores(batch), abs=1e-12)


@pytest.mark.parametrize("name", LEARNERS)
def test_rows_of_unseen_or_no_dimensions_are_decided_by_the_intercepts(name):
    batch = make_batch()
    rows = batch.rows.toarray()
    rows[:, 7] = 0.0
    rows[3] = 0.0
    scorer = LEARNERS[name]().fit(labelled_batch(rows, batch.costs.argmin(axis=1))).scorer
    new = np.zeros((2, 12))
    new[1, 7] = 5.0
    intercepts = scorer.weights.reshape(2, -1)[:, -1]
    assert scorer.scores(labelled_batch(new, [0, 0])).tolist() == [*intercepts, *intercepts]
    batch = labelled_batch(np.zeros((5, 3)), [0, 1, 1, 1, 1])
    for learner in (LEARNERS[name](), RandomSubspaces(base=LEARNERS[name]())):
        scorer = learner.fit(batch).scorer
        assert (scorer.weights.reshape(2, -1)[:, :-1] == 0).all()
        assert np.isfinite(scorer.scores(batch)).all()
    learner, batch = LEARNERS[name](), make_batch(80, labels=5)
    seen = batch.take(np.flatnonzero(~np.isin(batch.costs.argmin(axis=1), [0, 3])))
    for scorer in (learner.fit(seen).scorer, RandomSubspaces(base=learner, n_subspaces=9).fit(seen).scorer):
        scores = scorer.scores(batch).reshape(-1, 5)
        assert (scores.max(axis=1, keepdims=True) >= scores[:, [0, 3]] + 1 - 1e-9).all()
        assert set(scores.argmax(axis=1)) == {1, 2, 4}


def test_the_scorer_is_linear_in_rows_with_a_constant():
    batch = make_batch(labels=3)
    scorer = InterceptScorer(np.random.default_rng(0).normal(size=3 * 13))
    wider, weights = scorer.linear(batch)
    assert wider.scores(weights) == pytest.approx(scorer.scores(batch))
    assert len(wider.columns) == len(weights) == len(wider.columns.names)
    assert wider.columns.labels.tolist() == [label for label in range(3) for _ in range(13)]
    assert wider.columns.in_groups(["intercept"]).nonzero()[0].tolist() == [12, 25, 38]
    assert list(wider.columns.names) == [*(f"word{i}" for i in range(12)), "intercept"] * 3
    with pytest.raises(ValueError, match="6 weights for 24 columns of 2 labels"):
        InterceptScorer(np.zeros(6)).scores(make_batch())


@pytest.mark.parametrize(
    ("learner", "settings", "code"),
    [
        *((learner, {"passes": bad}, "D452") for learner in LEARNERS.values() for bad in (0, 1.5, True, "5")),
        *((learner, {"seed": bad}, "D457") for learner in LEARNERS.values() for bad in (-1, None)),
        *((SGD, {"alpha": bad}, "D760") for bad in (0, -1.0, np.inf, np.nan, "x", None, [], [1e-4, 0.0])),
        *((PassiveAggressive, {"C": bad}, "D760") for bad in (0, -1.0, np.inf, True)),
        *((ConfidenceWeighted, {"confidence": bad}, "D771") for bad in (0.5, 1, 0, np.nan, "x", None)),
    ],
)
def test_invalid_settings(learner, settings, code):
    with pytest.raises(UserError, match=rf"{code}.*{learner.__name__}\.{next(iter(settings))} is"):
        learner(**settings)


@pytest.mark.parametrize("name", LEARNERS)
def test_invalid_examples(name):
    learner, batch = LEARNERS[name](), make_batch()
    with pytest.raises(UserError, match="D705"):
        learner.fit(batch.take(np.array([], np.int64)))
    for bad in (np.nan, -np.inf):
        rows = batch.rows.toarray()
        rows[4, 2] = rows[7, 1] = bad
        spoilt = labelled_batch(rows, batch.costs.argmin(axis=1))
        with pytest.raises(UserError, match=r"D772.* 2 are NaN.*example 4, dimension 2"):
            learner.fit(spoilt)
        with pytest.raises(UserError, match="D772"):
            learner.fit_masked(spoilt, np.ones((1, 12), bool))
    with pytest.raises(UserError, match="D459"):
        learner.fit(chains())
    rows = np.array([[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0]])
    for size in (1e101, 1e308):
        batch = labelled_batch(size * rows, [1, 0, 0])
        with pytest.raises(UserError, match="D773"):
            learner.fit(batch)
        with pytest.raises(UserError, match="D773"):
            learner.fit_masked(batch, np.ones((2, 2), bool))
    assert np.isfinite(learner.fit(labelled_batch(1e99 * rows, [1, 0, 0])).scorer.weights).all()


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("n_folds", [2, 5, 9])
def test_folds_equal_scikit_learn(labels, n_folds):
    batch = make_batch(90, labels=labels)
    folds = np.random.default_rng(1).integers(n_folds, size=90)
    problem = prepare_labels(batch, seed=0)
    held_out, coefficients, intercepts = descend_folds(problem, folds, passes=3, alpha=1e-2)
    rows, of_row = problem.matrix, folds[problem.order]
    settings = {"alpha": 1e-2, "max_iter": 3, "tol": None, "shuffle": False}
    for p, targets in enumerate(problem.targets):
        whole = SGDClassifier(**settings).fit(rows, targets)
        np.testing.assert_allclose(coefficients[p], whole.coef_[0], rtol=1e-8)
        np.testing.assert_allclose(intercepts[p], whole.intercept_[0], rtol=1e-8)
        for fold in range(n_folds):
            theirs = SGDClassifier(**settings).fit(rows[of_row != fold], targets[of_row != fold])
            decided = theirs.decision_function(rows[of_row == fold]) / (2 if labels == 2 else 1)
            ours = held_out[problem.order[of_row == fold], problem.seen[p if labels > 2 else 1]]
            np.testing.assert_allclose(ours, decided, rtol=1e-8)


def test_scorer_of_folds_equals_fit_in_float32():
    batch, folds = make_batch(90, labels=3), np.arange(90) % 5
    result, scores = fit_folds(SGD(), batch, folds)
    alone = SGD().fit(batch).scorer
    np.testing.assert_allclose(result.scorer.weights, alone.weights, rtol=1e-6)
    assert result.scorer.state()["weights"].dtype == np.float32
    assert alone.state()["weights"].dtype == np.float64
    again = SGD().from_state(result.scorer.state())
    np.testing.assert_array_equal(again.scores(batch), result.scorer.scores(batch))
    assert scores.shape == (90 * 3,)


def test_alpha_is_chosen_on_folds():
    batch, folds = make_batch(200, labels=3, noise=1.5), np.arange(200) % 5
    learner = SGD(alpha=[10.0, 1e-2])  # so large a weight of the norm leaves nothing else to learn
    assert isinstance(learner, FitsFolds) and isinstance(learner, HasOpenSettings)
    result, scores = fit_folds(learner, batch, folds)
    accuracy = (batch.costs[np.arange(200), scores.reshape(200, 3).argmax(axis=1)] == 0).mean()
    report = result.report
    assert report["accuracy"][f"{report['alpha']:g}"] == max(report["accuracy"].values()) == accuracy
    assert learner.with_tuned([report]) == SGD(alpha=report["alpha"])
    assert learner.with_tuned([report, {}]) is learner and learner.with_tuned([]) is learner
    assert learner.fit(batch).scorer.weights.tolist() == SGD(alpha=10.0).fit(batch).scorer.weights.tolist()


def test_alpha_per_example():
    batch, folds = make_batch(90, labels=3), np.arange(90) % 3
    shared, whole = SGD(alpha=[0.9, 0.45], per_example=True), SGD(alpha=[0.9 / 90, 0.45 / 90])
    ours, theirs = fit_folds(shared, batch, folds), fit_folds(whole, batch, folds)
    np.testing.assert_allclose(ours[1], theirs[1])
    assert set(ours[0].report["accuracy"]) == {"0.9", "0.45"}
    np.testing.assert_allclose(shared.fit(batch).scorer.weights, whole.fit(batch).scorer.weights)
    masks = np.ones((2, batch.rows.shape[1]), bool)
    np.testing.assert_allclose(shared.fit_masked(batch, masks), whole.fit_masked(batch, masks))


BASES = {name: learner(seed=3) for name, learner in LEARNERS.items()}


def masked_copies(batch, masks):
    return [CrossedRows(csr_array(batch.rows.toarray() * mask), batch.costs, batch.columns) for mask in masks]


@given(
    dimensions=st.integers(1, 3000),
    rate=st.floats(0, 1, exclude_max=True),
    first=st.integers(0, 300),
    n=st.integers(0, 9),
    seed=st.integers(0, 2**40),
)
def test_masks_remove_the_exact_share(dimensions, rate, first, n, seed):
    masks = keep_masks(first, first + n, dimensions=dimensions, removal_rate=rate, seed=seed)
    assert masks.shape == (n, dimensions)
    assert (np.sum(~masks, axis=1) == round(rate * dimensions)).all()


@given(first=st.integers(0, 20), last=st.integers(20, 40), seed=st.integers(0, 2**16))
def test_masks_only_depend_on_their_number_and_the_seed(first, last, seed):
    settings = {"dimensions": 50, "removal_rate": 0.3, "seed": seed}
    assert (keep_masks(first, last, **settings) == keep_masks(0, 40, **settings)[first:last]).all()
    other = keep_masks(first, last, **{**settings, "seed": seed + 1})
    assert (keep_masks(first, last, **settings) != other).any() or first == last


def test_all_dimensions_are_removed_equally_often():
    masks = keep_masks(0, 2000, dimensions=20, removal_rate=0.25, seed=0)
    assert np.abs(np.mean(~masks, axis=0) - 0.25).max() < 0.05


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("name", BASES)
def test_average_of_decision_values(name, labels):
    batch, base = crossed(labels=labels), BASES[name]
    masks = keep_masks(0, 13, dimensions=8, removal_rate=0.3, seed=5)
    item = [base.fit(copy).scorer for copy in masked_copies(batch, masks)]
    averaged = RandomSubspaces(base=base, n_subspaces=13, removal_rate=0.3, seed=5).fit(batch)
    assert averaged.report == {"n_subspaces": 13, "dimensions": 8, "removed": 2}
    mean = np.mean([scorer.scores(batch) for scorer in item], axis=0)
    assert averaged.scorer.scores(batch) == pytest.approx(mean, abs=1e-12)
    assert averaged.scorer.weights == pytest.approx(np.mean([s.weights for s in item], axis=0), abs=1e-12)


@pytest.mark.parametrize("name", BASES)
def test_fit_sizes_equals_fit(name):
    batch, sizes = crossed(labels=3), [24, 1, 9, 16, 25, 9]
    path = RandomSubspaces(base=BASES[name], seed=2).fit_sizes(batch, sizes)
    assert [fitted.report["n_subspaces"] for fitted in path] == sizes
    for size, fitted in zip(sizes, path, strict=True):
        alone = RandomSubspaces(base=BASES[name], seed=2, n_subspaces=size).fit(batch).scorer
        assert fitted.scorer.weights.tobytes() == alone.weights.tobytes()


def test_same_bits_in_another_process():
    code = "import subspace_weights; print(subspace_weights.fingerprint())"
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == fingerprint(), done.stderr[-2000:]


@pytest.mark.parametrize(
    "check", check_learner(RandomSubspaces(base=ToyPerceptron(), n_subspaces=5), crossed())
)
def test_contract_with_a_learner_without_masks(check):
    check()


@pytest.mark.parametrize("base", [ToyPerceptron(), OneVersusAll(C=0.1)], ids=["toy", "other-plugin"])
@pytest.mark.parametrize("dense", [False, True])
def test_a_learner_without_masks_gets_masked_copies(base, dense):
    batch = crossed()
    if dense or isinstance(base, OneVersusAll):  # LIBLINEAR's rows are arrays
        batch = CrossedRows(batch.rows.toarray(), batch.costs, batch.columns)
    masks = keep_masks(0, 10, dimensions=8, removal_rate=0.25, seed=0)
    rows = batch.rows if isinstance(batch.rows, np.ndarray) else batch.rows.toarray()
    item = [base.fit(CrossedRows(rows * mask, batch.costs, batch.columns)).scorer.weights for mask in masks]
    result = RandomSubspaces(base=base, n_subspaces=10, removal_rate=0.25).fit(batch).scorer
    assert result.weights == pytest.approx(np.mean(item, axis=0), abs=1e-9)
    assert result.scores(batch).shape == batch.cost.shape


def test_invalid_base_learners():
    with pytest.raises(UserError, match=r"D774.*KernelRidge.*not linear"):
        RandomSubspaces(base=KernelRidge(), n_subspaces=2).fit(crossed())
    with pytest.raises(UserError, match=r"D774.*OneVersusAll.*DenseBlocks"):
        RandomSubspaces(base=OneVersusAll(), n_subspaces=2).fit(blocks())
    with pytest.raises(UserError, match=r"D774.*str.*not a learner"):
        RandomSubspaces(base="sgd")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        *(({"n_subspaces": bad}, "D452") for bad in (0, -1, 2.5, True, None)),
        *(({"removal_rate": bad}, "D770") for bad in (1, 1.0, -0.1, np.nan, True, "x", None)),
        *(({"seed": bad}, "D457") for bad in (-1, 0.5, None)),
    ],
)
def test_invalid_settings_of_subspaces(settings, code):
    with pytest.raises(UserError, match=rf"{code}.*RandomSubspaces\.{next(iter(settings))} is"):
        RandomSubspaces(**settings)
    if "n_subspaces" in settings:
        with pytest.raises(UserError, match="D452"):
            RandomSubspaces().fit_sizes(crossed(), [5, settings["n_subspaces"]])


def test_folds_without_a_label_and_of_lists():
    batch = make_batch(90, labels=4)
    seen = batch.take(np.flatnonzero(batch.costs.argmin(axis=1) < 3))
    _, scores = fit_folds(SGD(), seen, np.arange(len(seen.costs)) % 3)
    assert (scores.reshape(-1, 4).argmax(axis=1) < 3).all()  # the label without examples is never chosen
    batch = lists()
    assert fit_folds(SGD(), batch, np.arange(len(batch.offsets) - 1) % 2) is None


CHECKS = []
for name in NAMES:
    for i, pair in enumerate(estimator_checks_generator(RandomSubspaceClassifier(name, n_subspaces=10))):
        check_name = getattr(pair[1], "func", pair[1]).__name__
        CHECKS.append(pytest.param(*pair, id=f"{name}-{i}-{check_name}"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_documents(n=120, words=40, classes=2, *, seed=0):
    """Return counts of words, some more frequent in one class, and the classes by name."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    rates = np.full((classes, words), 0.3)
    for label in range(classes):
        rates[label, label :: 2 * classes] = 1.5
    return rng.poisson(rates[y]).astype(float), np.array(["comp", "rec", "sci", "talk"])[y]


@pytest.mark.parametrize("classes", [2, 3])
def test_equal_to_the_learner(classes):
    X, y = make_documents(classes=classes)
    fitted = RandomSubspaceClassifier(n_subspaces=12, removal_rate=0.3, alpha=1e-3, random_state=5).fit(X, y)
    learner = RandomSubspaces(base=SGD(alpha=1e-3, seed=5), n_subspaces=12, removal_rate=0.3, seed=5)
    batch = labelled_batch(X, np.unique(y, return_inverse=True)[1], classes)
    scores = learner.fit(batch).scorer.scores(batch).reshape(-1, classes)
    expected = scores[:, 1] - scores[:, 0] if classes == 2 else scores
    assert fitted.decision_function(X) == pytest.approx(expected)


def test_settings_reach_the_base():
    X, y = make_documents()
    ours = RandomSubspaceClassifier("pa", n_subspaces=1, removal_rate=0, C=0.01, passes=2, random_state=1)
    batch = labelled_batch(X, np.unique(y, return_inverse=True)[1])
    base = PassiveAggressive(C=0.01, passes=2, seed=1).fit(batch).scorer
    assert ours.fit(X, y).coef_[0] == pytest.approx(second_of_two(base)[0])
    settings = {"n_subspaces": 2, "random_state": 1}
    cw = [RandomSubspaceClassifier("cw", confidence=c, **settings).fit(X, y).coef_ for c in (0.6, 0.99)]
    assert (cw[0] != cw[1]).any()


def test_random_states():
    X, y = make_documents()
    same = [RandomSubspaceClassifier(n_subspaces=9, random_state=3).fit(X, y).coef_ for _ in range(2)]
    assert same[0].tobytes() == same[1].tobytes()
    states = [np.random.RandomState(seed) for seed in (3, 3, 4)]
    drawn = [RandomSubspaceClassifier(n_subspaces=9, random_state=s).fit(X, y).coef_ for s in states]
    assert drawn[0].tobytes() == drawn[1].tobytes() != drawn[2].tobytes()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        *(({"estimator": bad}, "D775") for bad in ("svm", None)),
        *(({"n_subspaces": bad}, "D452") for bad in (0, 2.0)),
        *(({"removal_rate": bad}, "D770") for bad in (1.0, -0.1)),
        ({"passes": 0}, "D452"),
        ({"alpha": 0.0}, "D760"),
        ({"estimator": "pa", "C": -1.0}, "D760"),
        ({"estimator": "cw", "confidence": 0.5}, "D771"),
        ({"random_state": -1}, "D457"),
    ],
)
def test_invalid_settings_of_the_classifier(settings, code):
    X, y = make_documents()
    estimator = RandomSubspaceClassifier(**settings)  # scikit-learn's manner: nothing is checked before fit
    with pytest.raises(UserError, match=code):
        estimator.fit(X, y)


def test_invalid_examples_of_the_classifier():
    X, y = make_documents()
    fitted = RandomSubspaceClassifier(n_subspaces=2).fit(X, y)
    with pytest.raises(UserError, match=r"D706.*'comp'"):
        RandomSubspaceClassifier().fit(X, ["comp"] * len(X))
    X[3, 7] = np.nan
    for rows in (X, csr_array(X)):
        for call in (fitted.predict, lambda rows: RandomSubspaceClassifier().fit(rows, y)):
            with pytest.raises(UserError, match=r"D772.*1 are NaN.*example 3, dimension 7"):
                call(rows)
