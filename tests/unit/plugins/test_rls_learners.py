"""The learners of regularised least squares and their peers: contracts, equalities, states, odd words."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_kernel_rls.rls import (
    RLSC,
    GaussianKernel,
    LinearKernel,
    PolynomialKernel,
    RLSCComb,
    RLSCLin,
    SVMComb,
    SVMLin,
    break_ties,
    find_winners,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sense_rows import GROUPS, made, rows_of

from disambig.data import CrossedRows, numbered
from disambig.errors import UserError
from disambig.models import stack, unstack
from disambig.testing import blocks, chains, check_learner, crossed

LEARNERS = {
    "rlsc": RLSC(),
    "rlsc-gaussian": RLSC(kernel=GaussianKernel()),
    "rlsc-polynomial-loo": RLSC(kernel=PolynomialKernel(normalise="groups"), regularisation="loo"),
    "lin": RLSCLin(),
    "lin-loo": RLSCLin(regularisation="loo"),
    "comb": RLSCComb(),
    "comb-alignment": RLSCComb(weights="alignment"),
    "comb-loo": RLSCComb(weights="loo", regularisation="loo"),
    "svm-lin": SVMLin(C=10.0),
    "svm-comb": SVMComb(C=10.0, weights="loo"),
}
CONTRACTS = [
    pytest.param(check, id=f"{name}-{storage}-{check}")
    for name, learner in LEARNERS.items()
    for storage, batch in {"crossed": crossed(), "two": crossed(labels=2), "blocks": blocks()}.items()
    for check in check_learner(learner, batch, least=0.95 if storage != "blocks" else 0.6)
]


@pytest.mark.parametrize("check", CONTRACTS)
def test_contract(check):
    check()


def scores_of(learner, batch, test=None):
    test = batch if test is None else test
    return learner.fit(batch).scorer.scores(test).reshape(test.costs.shape)


# What equals what


def by_hand(batch, gram, lam):
    """Return the scores of the training rows by numpy's solver."""
    targets = np.where(batch.costs == 0, 1.0, -1.0)
    coefficients = np.linalg.solve(gram + lam * len(gram) * np.eye(len(gram)), targets)
    return break_ties(gram @ coefficients, (targets > 0).sum(axis=0))


@pytest.mark.parametrize(
    "kernel",
    [LinearKernel(), LinearKernel(normalise="none"), GaussianKernel(), PolynomialKernel(degree=3)],
    ids=str,
)
@pytest.mark.parametrize("width", [25, 120], ids=["narrow", "wide"])
def test_scores_are_those_of_the_formula(kernel, width):
    batch = made(50, width, several=0.2)
    rows = kernel.rows(batch)
    learner = RLSC(kernel=kernel, regularisation=1e-3)
    assert scores_of(learner, batch) == pytest.approx(by_hand(batch, kernel.gram(rows, rows), 1e-3), abs=1e-8)
    form = learner.fit(batch).report["form"]
    assert form == ("primal" if kernel.is_linear and width < 50 else "dual")


@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.95), width=st.sampled_from([20, 90]))
def test_comb_is_rlsc_on_scaled_feature_groups(seed, share, width):
    batch, test = made(30, width, seed=seed), made(9, width, seed=seed + 1)
    weights = {"local": share, "broad": 1 - share}
    comb = RLSCComb(weights=weights, regularisation=1e-4)
    scaled = LinearKernel(normalise="groups", weights=weights).rows
    plain = RLSC(kernel=LinearKernel(normalise="none"), regularisation=1e-4)
    expected = scores_of(plain, *(CrossedRows(scaled(b), b.costs, b.columns) for b in (batch, test)))
    assert scores_of(comb, batch, test) == pytest.approx(expected, abs=1e-8)
    kernel = LinearKernel(normalise="groups", weights=weights)
    assert scores_of(RLSC(kernel=kernel, regularisation=1e-4), batch, test) == pytest.approx(
        expected, abs=1e-8
    )


def test_equal_weights_are_the_default_and_only_ratios_matter():
    batch = made()
    expected = scores_of(RLSCComb(), batch)
    assert scores_of(RLSCComb(weights={"local": 7, "broad": 7}), batch) == pytest.approx(expected, abs=1e-7)
    assert scores_of(RLSC(kernel=LinearKernel(normalise="groups")), batch) == pytest.approx(
        expected, abs=1e-7
    )
    assert scores_of(RLSCLin(), batch) == pytest.approx(scores_of(RLSC(), batch), abs=1e-12)
    for learner in (RLSCComb, SVMComb):
        one, largest = (
            learner(weights={"local": most, "broad": most / 2}).fit(batch).scorer.scores(batch)
            for most in (1.0, 1.5e308)
        )
        assert largest.tolist() == one.tolist()
    kernel = LinearKernel(normalise="groups", weights={"local": 1.5e308, "broad": 1.5e308})
    assert (kernel.rows(batch) - LinearKernel(normalise="groups").rows(batch)).nnz == 0
    test = made(seed=1)
    assert np.abs(scores_of(RLSCLin(), batch, test) - scores_of(RLSCComb(), batch, test)).max() > 1e-2


def test_the_linear_scorer_is_the_kernel_expansion_on_new_rows():
    """New rows have columns that no training row has: these count in their length and weigh nothing."""
    batch = made(30, 80)
    full = batch.rows.toarray()
    full[:, 60:] = 0.0
    batch = rows_of(full, batch.costs.argmin(axis=1), 3)
    test = made(10, 80, seed=5)
    kernel = LinearKernel(normalise="groups")
    train_rows, test_rows = kernel.rows(batch), kernel.rows(test)
    gram = kernel.gram(train_rows, train_rows)
    targets = np.where(batch.costs == 0, 1.0, -1.0)
    coefficients = np.linalg.solve(gram + 30 * 1e-2 * np.eye(30), targets)
    scorer = RLSCComb(regularisation=1e-2).fit(batch).scorer
    assert scorer.scores(test).reshape(10, 3) == pytest.approx(
        kernel.gram(test_rows, train_rows) @ coefficients, abs=1e-8
    )
    assert scorer.columns.max() < 60 and len(scorer.weights) == 3 * len(scorer.columns)
    one_by_one = [scorer.scores(test.take(np.array([i]))) for i in range(10)]
    assert np.concatenate(one_by_one) == pytest.approx(scorer.scores(test), abs=1e-12)


def test_support_vector_machines_are_scikit_learns():
    from sklearn.svm import SVC

    batch, test = made(60, 80, several=0.2), made(20, 80, seed=1)
    for learner, kernel in (
        (SVMLin(C=2.0), LinearKernel()),
        (
            SVMComb(C=2.0, weights={"local": 1, "broad": 2}),
            LinearKernel(normalise="groups", weights={"local": 1, "broad": 2}),
        ),
    ):
        rows, new = kernel.rows(batch), kernel.rows(test)
        found = scores_of(learner, batch, test)
        for k in range(3):
            machine = SVC(kernel="precomputed", C=2.0).fit(kernel.gram(rows, rows), batch.costs[:, k] == 0)
            assert found[:, k] == pytest.approx(machine.decision_function(kernel.gram(new, rows)), abs=1e-6)


# Odd words


@pytest.mark.parametrize("name", LEARNERS)
def test_a_word_of_one_sense_gets_it(name):
    batch = rows_of(made(12).rows, [1] * 12, 3)
    assert (scores_of(LEARNERS[name], batch).argmax(axis=1) == 1).all()
    other = rows_of(made(12).rows, [0] * 12, 1)
    assert np.isfinite(scores_of(LEARNERS[name], other)).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_word_of_one_instance_gets_its_sense(name):
    batch = made(20)
    one = rows_of(batch.rows[[3]], [2], 3)
    assert (scores_of(LEARNERS[name], one, batch).argmax(axis=1) == 2).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_instances_without_features_get_the_most_frequent_sense(name):
    batch = rows_of(np.zeros((6, 5)), [0, 1, 1, 2, 1, 2])
    for right in ([0, 1, 1, 2, 1, 2], [2, 1, 0, 0, 2, 2]):
        batch = rows_of(np.zeros((6, 5)), right)
        found = scores_of(LEARNERS[name], batch)
        assert (found.argmax(axis=1) == np.bincount(right).argmax()).all()
        if "lin" in name or "comb" in name:
            assert np.abs(found).max() < 3e-6 or "svm" in name


@pytest.mark.parametrize("name", LEARNERS)
def test_a_new_instance_of_unseen_features_gets_the_most_frequent_sense(name):
    values = np.zeros((5, 8))
    values[np.arange(5), [0, 0, 1, 2, 2]] = 1.0
    batch = rows_of(values, [0, 0, 1, 2, 2][::-1])
    new = np.zeros((2, 8))
    new[1, 7] = 4.0
    found = scores_of(LEARNERS[name], batch, rows_of(new, [0, 0], 3))
    if "svm" not in name and "gaussian" not in name and "polynomial" not in name:
        assert found.argmax(axis=1).tolist() == [0, 0]  # as often as the third: the first


@pytest.mark.parametrize("name", LEARNERS)
def test_a_sense_without_examples_is_not_chosen(name):
    batch = rows_of(made(40).rows, made(40).costs.argmin(axis=1), 5)
    found = scores_of(LEARNERS[name], batch, rows_of(made(30, seed=8).rows, [0] * 30, 5))
    assert set(found.argmax(axis=1)) <= {0, 1, 2}


@pytest.mark.parametrize(
    "learner", [RLSCLin(), RLSCComb(), RLSC(kernel=GaussianKernel())], ids=["lin", "comb", "gaussian"]
)
def test_twins_of_different_senses_get_the_more_frequent_one(learner):
    values = np.zeros((6, 6))
    values[np.arange(6), [0, 1, 0, 1, 2, 3]] = 1.0
    values[:, 4:] = 1.0
    batch = rows_of(values, [0, 1, 1, 0, 1, 2])
    assert scores_of(learner, batch).argmax(axis=1).tolist() == [1, 1, 1, 1, 1, 2]


def test_several_right_senses_are_all_learned():
    batch = rows_of(np.eye(3), [[0, 2], [1], [2]])
    assert np.sign(scores_of(RLSCLin(), batch)).tolist() == [[1, -1, 1], [-1, 1, -1], [-1, -1, 1]]


def test_winners_breaks_ties_by_frequency_and_then_order():
    scores = np.array([[1.0, 1.0, 0.0], [0.5, 1.0, 1.0 + 1e-12], [0.0, 0.0, 0.0], [2.0, 1.0, 3.0]])
    assert find_winners(scores, np.array([1, 5, 5])).tolist() == [1, 1, 1, 2]
    assert find_winners(scores, np.array([9, 0, 1])).tolist() == [0, 2, 0, 2]
    assert find_winners(scores, np.array([[0, 1, 9], [0, 0, 1], [0, 0, 0], [9, 9, 0]])).tolist() == [
        1,
        2,
        0,
        2,
    ]


@given(seed=st.integers(0, 10**6))
def test_scores_are_settled_where_they_are_equal_and_nowhere_else(seed):
    rng = np.random.default_rng(seed)
    scores, frequencies = (
        rng.integers(3, size=(8, 4)) / 2 + 1e-8 * rng.random((8, 4)),
        rng.integers(9, size=4),
    )
    found = break_ties(scores, frequencies)
    assert found.argmax(axis=1).tolist() == find_winners(scores, frequencies).tolist()
    assert find_winners(found, frequencies).tolist() == find_winners(scores, frequencies).tolist()
    alone = (scores >= scores.max(axis=1, keepdims=True) - 1e-6).sum(axis=1) == 1
    assert (found[alone] == scores[alone]).all()
    assert ((found != scores).sum(axis=1) == ~alone).all()
    assert np.abs(found - scores).max() < 3e-6


# States and explanations


@pytest.mark.parametrize("name", LEARNERS)
def test_states_of_several_words_lie_in_one_file(name, tmp_path):
    learner = LEARNERS[name]
    words = [
        made(40, seed=1),
        made(25, senses=5, seed=2),
        rows_of(made(1).rows, [0], 2),
        rows_of(np.zeros((3, 60)), [0, 1, 1]),
    ]
    scorers = [learner.fit(batch).scorer for batch in words]
    np.savez(tmp_path / "weights.npz", **stack([scorer.state() for scorer in scorers]))
    with np.load(tmp_path / "weights.npz", allow_pickle=False) as arrays:
        states = unstack(dict(arrays), len(words))
    for batch, scorer, state in zip(words, scorers, states, strict=True):
        assert learner.from_state(state).scores(batch).tobytes() == scorer.scores(batch).tobytes()


DAMAGES = {
    "columns": (
        lambda a: a[::-1],
        lambda a: a - a.max(),
        lambda a: a * 0,
        lambda a: a + 0.5,
        lambda a: a[:-1],
    ),
    "weights": (lambda a: a[:-1], lambda a: a.reshape(3, -1)),
    "bias": (lambda a: a[:-1],),
    "shares": (lambda a: a.reshape(-1, 1),),
    "frequencies": (lambda a: -a, lambda a: a * 1.0, lambda a: a[:-1]),
}
DAMAGES_OF_ROWS = {
    "indices": (lambda a: a - 60, lambda a: a + 60, lambda a: a * 1.0, lambda a: a[:-1]),
    "indptr": (lambda a: a[::-1], lambda a: a[1:], lambda a: a[:0], lambda a: a * 1.0),
    "data": (lambda a: a[:-1],),
    "width": (lambda a: a - 1, lambda a: a * 0, lambda a: a[:0], lambda a: -a),
    "coefficients": (lambda a: a[:-1], lambda a: a[:, :-1], lambda a: a.ravel()),
    "frequencies": DAMAGES["frequencies"],
}


@pytest.mark.parametrize(
    ("learner", "key", "damage"),
    [
        (learner, key, damage)
        for learner, damages in ((RLSCComb(), DAMAGES), (RLSC(kernel=GaussianKernel()), DAMAGES_OF_ROWS))
        for key, each in damages.items()
        for damage in each
    ],
)
def test_damaged_states_are_refused(learner, key, damage):
    state = learner.fit(made(width=60)).scorer.state()
    learner.from_state(state)
    with pytest.raises(ValueError):
        learner.from_state({**state, key: damage(state[key])})


def test_the_state_is_of_the_used_columns_only():
    state = RLSCComb().fit(made(10, 500)).scorer.state()
    d = len(state["columns"])
    assert d < 500 and state["columns"].dtype == np.int32
    assert state["weights"].shape == (3 * d,) and state["weights"].dtype == np.float64
    assert state["bias"].tolist() == [0.0] * 3 and state["shares"].tolist() == [0.5, 0.5]
    assert state["frequencies"].sum() == 10


@pytest.mark.parametrize("name", ["lin", "comb-loo", "svm-lin", "svm-comb"])
def test_the_scorer_explains_itself_in_named_columns(name):
    batch, test = made(30), made(5, seed=3)
    scorer = LEARNERS[name].fit(batch).scorer
    same, weights = scorer.linear(test)
    assert same.scores(weights) == pytest.approx(scorer.scores(test), abs=1e-9)
    assert len(same.columns) == len(weights)
    width = same.rows.shape[1]
    assert same.columns.names[width] == "sense 1: feature " + str(scorer.columns[0])
    if "svm" in name:
        assert same.columns.names[2 * width - 1] == "sense 1: bias"
        assert same.columns.group_names == (*GROUPS, "bias")
    nameless = CrossedRows(test.rows, test.costs, numbered(len(test.columns)))
    if name in ("lin", "svm-lin"):
        assert scorer.linear(nameless)[0].scores(weights) == pytest.approx(scorer.scores(test), abs=1e-9)


def test_dense_and_sparse_and_single_precision_rows_are_the_same():
    batch = made()
    for learner in (RLSCLin(), RLSCComb(), RLSC(kernel=GaussianKernel())):
        expected = scores_of(learner, batch)
        for rows in (batch.rows.toarray(), batch.rows.astype(np.float32), csr_array(batch.rows.tocoo())):
            other = CrossedRows(rows, batch.costs, batch.columns)
            assert scores_of(learner, other) == pytest.approx(expected, abs=1e-6)


def test_the_scorer_refuses_other_candidates_and_columns():
    for learner in (RLSCLin(), RLSC(kernel=GaussianKernel())):
        with pytest.raises(ValueError, match="3 candidates, examples of 4"):
            learner.fit(made()).scorer.scores(made(senses=4))
    with pytest.raises(ValueError, match="columns"):
        RLSCLin().fit(made()).scorer.scores(made(width=20))


# Reports and bad input


def test_reports_say_what_was_chosen():
    report = RLSCComb(weights="loo", regularisation="loo").fit(made()).report
    assert set(report) == {"examples", "regularisation", "form", "columns", "leave_one_out", "weights"}
    assert sum(report["weights"].values()) == pytest.approx(1.0)
    assert 0 < report["leave_one_out"] < 1
    assert RLSCLin().fit(made()).report["regularisation"] == 1e-9


@pytest.mark.parametrize(
    ("learner", "settings", "code"),
    [
        *(
            (kind, {"regularisation": bad}, "D776")
            for kind in (RLSC, RLSCLin, RLSCComb)
            for bad in (0, -1e-9, np.nan, "x", True, None)
        ),
        *((kind, {"C": bad}, "D760") for kind in (SVMLin, SVMComb) for bad in (0, -1.0, np.inf, "x", None)),
        *(
            (kind, {"weights": bad}, "D777")
            for kind in (RLSCComb, SVMComb)
            for bad in ("equal", {"local": -1}, {"local": 0}, 1, [1])
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_once(learner, settings, code):
    with pytest.raises(UserError, match=rf"{learner.__name__}\.{next(iter(settings))}") as caught:
        learner(**settings)
    assert caught.value.code == code


@pytest.mark.parametrize("name", LEARNERS)
def test_examples_that_make_no_sense_are_named(name):
    learner, batch = LEARNERS[name], made()
    with pytest.raises(UserError, match="D705"):
        learner.fit(batch.take(np.array([], np.int64)))
    rows = batch.rows.toarray()
    rows[4, 2] = rows[7, 1] = np.nan
    with pytest.raises(UserError, match=r"D772.*2 are NaN.*example 4, dimension 2"):
        learner.fit(CrossedRows(rows, batch.costs, batch.columns))
    with pytest.raises(UserError, match="D773"):
        learner.fit(CrossedRows(csr_array(batch.rows * 1e120), batch.costs, batch.columns))
    with pytest.raises(UserError, match="D459"):
        learner.fit(chains())


@pytest.mark.parametrize("learner", [RLSCComb, SVMComb])
def test_weights_of_other_feature_groups_are_named(learner):
    for weights, code in (({"local": 1, "near": 1}, "D451"), ({"local": 1}, "D476")):
        with pytest.raises(UserError) as caught:
            learner(weights=weights).fit(made())
        assert caught.value.code == code
