"""The linear learners: their rules on an example worked out by hand, scikit-learn's answers, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_random_subspace.learners import (
    SGD,
    ConfidenceWeighted,
    InterceptScorer,
    PassiveAggressive,
    Perceptron,
    RandomSubspaces,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import __version__
from sklearn.linear_model import SGDClassifier

from disambig.data import Columns, CrossedRows
from disambig.errors import UserError
from disambig.testing import blocks, chains, check_learner, crossed

SKLEARN = tuple(int(number) for number in __version__.split(".")[:2])
LEARNERS = {
    "perceptron": Perceptron,
    "sgd": SGD,
    "pa": PassiveAggressive,
    "cw": ConfidenceWeighted,
}
CONTRACTS = [
    pytest.param(check, id=f"{name}-{storage}-{check}")
    for name, learner in {**LEARNERS, "subspaces": lambda: RandomSubspaces(n_subspaces=20)}.items()
    for storage, batch in {"crossed": crossed(), "two": crossed(labels=2), "blocks": blocks()}.items()
    for check in check_learner(learner(), batch, least=0.95 if storage != "blocks" else 0.7)
]


@pytest.mark.parametrize("check", CONTRACTS)
def test_contract(check):
    check()


def batch_of(rows, right, n_labels=2):
    """Return rows (sparse, or an array) and the label of each, as a batch."""
    rows = csr_array(rows, dtype=np.float64)
    costs = np.ones((len(right), n_labels), np.float32)
    costs[np.arange(len(right)), right] = 0.0
    n = n_labels * rows.shape[1]
    labels = np.repeat(np.arange(n_labels, dtype=np.int32), rows.shape[1])
    names = [f"word{i % rows.shape[1]}" for i in range(n)]
    return CrossedRows(rows, costs, Columns(labels, np.zeros(n, np.int32), ("words",), names))


def made(n=60, dimensions=12, labels=2, *, seed=0, noise=0.5):
    """Return rows some of whose first dimensions speak for the label; a third of the numbers are zero."""
    rng = np.random.default_rng(seed)
    right = rng.integers(labels, size=n)
    right[:labels] = np.arange(labels)
    rows = noise * rng.normal(size=(n, dimensions))
    rows[np.arange(n), right] += 1.0
    return batch_of(rows * (rng.random(rows.shape) < 0.7), right, labels)


def of_two(scorer):
    """Return what tells the second of two labels from the first: weights and intercept."""
    weights = scorer.weights.reshape(2, -1)
    return (weights[1] - weights[0])[:-1], (weights[1] - weights[0])[-1]


# The rules


def in_order(rows, right):
    """Return a batch of which a learner of seed 0 sees the rows in the order given."""
    place = np.empty(len(rows), np.int64)
    place[np.random.default_rng(0).permutation(len(rows))] = np.arange(len(rows))
    return batch_of(np.asarray(rows)[place], np.asarray(right)[place])


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
def test_the_rules_on_an_example_worked_out_by_hand(name):
    learner, weights, intercept = BY_HAND[name]
    batch = in_order([[1.0, 0.0], [1.0, 1.0]], [1, 0])
    for scorer in (learner.fit(batch).scorer, masked(learner, batch, np.ones((1, 2), bool))):
        found = of_two(scorer)
        assert found[0] == pytest.approx(weights, abs=1e-6)
        assert found[1] == pytest.approx(intercept, abs=1e-6)


def test_confidence_weighted_reaches_the_confidence_it_asks_for():
    """With a single dimension the closed form is exact: the margin becomes phi times the new variance."""
    from disambig_random_subspace.learners import confidence_labels

    means, variances, intercepts = np.zeros((1, 8)), np.ones((1, 8)), np.zeros(8)
    rows = np.array([0, 0], np.uint64), np.array([], np.uint32), np.array([])  # the constant alone
    confidence_labels(*rows, np.array([-1.0]), 1, 1.3, means, variances, intercepts)
    variance = 1 / (1 + 2 * 1.3 * -intercepts[0])
    assert -intercepts[0] == pytest.approx(1.3 * variance)
    assert (means == 0).all() and (variances == 1).all()


@pytest.mark.parametrize("labels", [2, 3, 5])
@pytest.mark.parametrize("name", ["perceptron", "sgd", "pa"])
def test_without_masks_they_are_scikit_learns(name, labels):
    settings = {
        "perceptron": {"loss": "perceptron", "penalty": None, "learning_rate": "constant", "eta0": 1.0},
        "sgd": {"loss": "hinge", "alpha": 1e-3},
        "pa": {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 0.3},
    }[name]
    learner = {"perceptron": Perceptron(seed=4), "sgd": SGD(alpha=1e-3, seed=4)}.get(
        name, PassiveAggressive(C=0.3, seed=4)
    )
    batch = made(labels=labels)
    order = np.random.default_rng(4).permutation(60)
    theirs = SGDClassifier(max_iter=5, tol=None, shuffle=False, **settings)
    if name == "pa" and SKLEARN < (1, 8):
        from sklearn.linear_model import PassiveAggressiveClassifier  # it goes away in 1.10

        theirs = PassiveAggressiveClassifier(C=0.3, max_iter=5, tol=None, shuffle=False)
    theirs.fit(batch.rows[order], batch.costs[order].argmin(axis=1))
    scorer = learner.fit(batch).scorer
    if labels == 2:
        weights, intercept = of_two(scorer)
        assert weights == pytest.approx(theirs.coef_[0], abs=1e-12)
        assert intercept == pytest.approx(theirs.intercept_[0], abs=1e-12)
    else:
        weights = scorer.weights.reshape(labels, -1)
        assert weights[:, :-1] == pytest.approx(theirs.coef_, abs=1e-12)
        assert weights[:, -1] == pytest.approx(theirs.intercept_, abs=1e-12)
    assert (
        scorer.scores(batch).reshape(-1, labels).argmax(axis=1).tolist()
        == theirs.predict(batch.rows).tolist()
    )


# Masks


def masked(learner, batch, masks):
    return learner.from_state({"weights": learner.fit_masked(batch, masks) / len(masks)})


@given(
    name=st.sampled_from(sorted(LEARNERS)),
    labels=st.integers(2, 4),
    n_masks=st.integers(1, 19),
    rate=st.floats(0, 0.9),
    seed=st.integers(0, 2**16),
    alpha=st.sampled_from([1e-4, 1e-2, 1.0, 30.0]),
)
def test_masked_training_is_training_on_masked_copies(name, labels, n_masks, rate, seed, alpha):
    learner = SGD(alpha=alpha, passes=3) if name == "sgd" else LEARNERS[name](passes=3)
    batch = made(25, 10, labels, seed=seed)
    masks = np.random.default_rng(seed).random((n_masks, 10)) >= rate
    copies = [
        learner.fit(CrossedRows(csr_array(batch.rows.toarray() * mask), batch.costs, batch.columns))
        for mask in masks
    ]
    expected = np.sum([copy.scorer.weights for copy in copies], axis=0)
    assert learner.fit_masked(batch, masks) == pytest.approx(expected, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_removed_dimension_has_no_influence(name):
    learner, batch = LEARNERS[name](), made()
    masks = np.ones((3, 12), bool)
    masks[:, [0, 5]] = False
    other = batch.rows.toarray()
    other[:, [0, 5]] = np.random.default_rng(9).normal(size=(60, 2))
    first, second = (
        learner.fit_masked(CrossedRows(csr_array(rows), batch.costs, batch.columns), masks)
        for rows in (batch.rows, other)
    )
    assert second == pytest.approx(first, rel=1e-12)
    assert (first.reshape(2, -1)[:, [0, 5]] == 0).all()
    assert (first.reshape(2, -1)[:, [1, 2]] != 0).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_the_sum_is_the_same_bit_for_bit_however_it_is_asked_for(name):
    learner, batch = LEARNERS[name](), made(labels=3)
    masks = np.random.default_rng(0).random((20, 12)) > 0.2
    ready = learner.prepare(batch)
    at_once = learner.fit_masked(batch, masks)
    in_blocks = sum(learner.fit_masked(ready, masks[i : i + 8]) for i in (0, 8, 16))
    assert at_once.tobytes() == in_blocks.tobytes()


# What stands in the examples


@pytest.mark.parametrize("name", LEARNERS)
def test_labels_without_examples_are_never_chosen(name):
    learner, batch = LEARNERS[name](), made(80, labels=5)
    seen = batch.take(np.flatnonzero(~np.isin(batch.costs.argmin(axis=1), [0, 3])))
    for scorer in (learner.fit(seen).scorer, RandomSubspaces(base=learner, n_subspaces=9).fit(seen).scorer):
        scores = scorer.scores(batch).reshape(-1, 5)
        assert (scores.max(axis=1, keepdims=True) >= scores[:, [0, 3]] + 1 - 1e-9).all()
        assert set(scores.argmax(axis=1)) == {1, 2, 4}


@pytest.mark.parametrize("labels", [1, 2, 4])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_label_alone_is_always_chosen(name, labels):
    batch = batch_of(np.random.default_rng(0).normal(size=(6, 3)), [labels - 1] * 6, labels)
    scores = LEARNERS[name]().fit(batch).scorer.scores(batch).reshape(6, labels)
    assert (scores.argmax(axis=1) == labels - 1).all()
    assert (scores == np.append(np.full(labels - 1, -1.0), 0.0)).all()


def test_of_several_right_labels_the_first_counts():
    batch, tied = made(labels=3), made(labels=3)
    tied.costs[tied.costs.argmin(axis=1) == 0, 2] = 0.0
    assert (Perceptron().fit(tied).scorer.weights == Perceptron().fit(batch).scorer.weights).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_rows_of_unseen_or_no_dimensions_are_decided_by_the_intercepts(name):
    batch = made()
    rows = batch.rows.toarray()
    rows[:, 7] = 0.0
    rows[3] = 0.0
    scorer = LEARNERS[name]().fit(batch_of(rows, batch.costs.argmin(axis=1))).scorer
    new = np.zeros((2, 12))
    new[1, 7] = 5.0
    intercepts = scorer.weights.reshape(2, -1)[:, -1]
    assert scorer.scores(batch_of(new, [0, 0])).tolist() == [*intercepts, *intercepts]


@pytest.mark.parametrize("name", LEARNERS)
def test_examples_without_any_dimension_leave_the_intercepts(name):
    batch = batch_of(np.zeros((5, 3)), [0, 1, 1, 1, 1])
    for scorer in (
        LEARNERS[name]().fit(batch).scorer,
        RandomSubspaces(base=LEARNERS[name]()).fit(batch).scorer,
    ):
        assert (scorer.weights.reshape(2, -1)[:, :-1] == 0).all()
        assert np.isfinite(scorer.scores(batch)).all()


def test_dense_and_sparse_rows_are_the_same():
    batch = made()
    dense = CrossedRows(batch.rows.toarray(), batch.costs, batch.columns)
    for learner in LEARNERS.values():
        sparse_scorer, dense_scorer = learner().fit(batch).scorer, learner().fit(dense).scorer
        assert sparse_scorer.weights.tobytes() == dense_scorer.weights.tobytes()
        assert dense_scorer.scores(dense) == pytest.approx(sparse_scorer.scores(batch), abs=1e-12)


# The scorer


def test_the_scorer_is_linear_in_rows_with_a_constant():
    batch = made(labels=3)
    scorer = InterceptScorer(np.random.default_rng(0).normal(size=3 * 13))
    wider, weights = scorer.linear(batch)
    assert wider.scores(weights) == pytest.approx(scorer.scores(batch))
    assert len(wider.columns) == len(weights) == len(wider.columns.names)
    assert wider.columns.labels.tolist() == [label for label in range(3) for _ in range(13)]
    assert wider.columns.in_groups(["intercept"]).nonzero()[0].tolist() == [12, 25, 38]
    assert list(wider.columns.names) == [*(f"word{i}" for i in range(12)), "intercept"] * 3


def test_the_scorer_refuses_other_columns():
    with pytest.raises(ValueError, match="6 weights for 24 columns of 2 labels"):
        InterceptScorer(np.zeros(6)).scores(made())


# Bad input


@pytest.mark.parametrize(
    ("learner", "settings", "code"),
    [
        *((learner, {"passes": bad}, "D452") for learner in LEARNERS.values() for bad in (0, 1.5, True, "5")),
        *((learner, {"seed": bad}, "D457") for learner in LEARNERS.values() for bad in (-1, None)),
        *((SGD, {"alpha": bad}, "D760") for bad in (0, -1.0, np.inf, np.nan, "x", None)),
        *((PassiveAggressive, {"C": bad}, "D760") for bad in (0, -1.0, np.inf, True)),
        *((ConfidenceWeighted, {"confidence": bad}, "D771") for bad in (0.5, 1, 0, np.nan, "x", None)),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_once(learner, settings, code):
    with pytest.raises(UserError, match=rf"{learner.__name__}\.{next(iter(settings))} is") as caught:
        learner(**settings)
    assert caught.value.code == code


@pytest.mark.parametrize("name", LEARNERS)
def test_examples_that_make_no_sense_are_named(name):
    learner, batch = LEARNERS[name](), made()
    with pytest.raises(UserError, match="D705"):
        learner.fit(batch.take(np.array([], np.int64)))
    for bad in (np.nan, -np.inf):
        rows = batch.rows.toarray()
        rows[4, 2] = rows[7, 1] = bad
        spoilt = batch_of(rows, batch.costs.argmin(axis=1))
        with pytest.raises(UserError, match=r"D772.* 2 are NaN.*example 4, dimension 2"):
            learner.fit(spoilt)
        with pytest.raises(UserError, match="D772"):
            learner.fit_masked(spoilt, np.ones((1, 12), bool))
    with pytest.raises(UserError, match="D459"):
        learner.fit(chains())


@pytest.mark.parametrize("size", [1e101, 1e308])
@pytest.mark.parametrize("name", LEARNERS)
def test_numbers_too_large_to_be_summed_are_named(name, size):
    learner = LEARNERS[name]()
    batch = batch_of(size * np.array([[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0]]), [1, 0, 0])
    with pytest.raises(UserError, match="D773"):
        learner.fit(batch)
    with pytest.raises(UserError, match="D773"):
        learner.fit_masked(batch, np.ones((2, 2), bool))


@pytest.mark.parametrize("name", LEARNERS)
def test_large_numbers_below_are_learned_from(name):
    batch = batch_of(1e99 * np.array([[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0]]), [1, 0, 0])
    assert np.isfinite(LEARNERS[name]().fit(batch).scorer.weights).all()
