"""Learners of regularised least squares and SVMs: formulas, weights, leave-one-out, errors."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_kernel_rls.rls import (
    LAMBDA_OF_MANY,
    RLSC,
    FeatureGroups,
    GaussianKernel,
    LinearKernel,
    PolynomialKernel,
    RLSCComb,
    RLSCLin,
    SVMComb,
    SVMLin,
    alignment_weights,
    alignments,
    auto_regularisation,
    break_ties,
    find_winners,
    leave_one_out_qualities,
    search_weights,
)
from examples import fewer_examples
from hypothesis import given, strategies as st
from scipy.sparse import csr_array
from sense_rows import GROUPS, make_rows, make_sense_batch
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from disambig.data import CrossedColumns, CrossedRows, numbered
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


def fit_scores(learner, batch, test=None):
    test = batch if test is None else test
    return learner.fit(batch).scorer.scores(test).reshape(test.costs.shape)


def scores_by_hand(batch, gram, lam):
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
def test_scores_equal_the_formula(kernel, width):
    batch = make_rows(50, width, several=0.2)
    rows = kernel.rows(batch)
    learner = RLSC(kernel=kernel, regularisation=1e-3)
    expected = pytest.approx(scores_by_hand(batch, kernel.gram(rows, rows), 1e-3), abs=1e-8)
    assert fit_scores(learner, batch) == expected
    form = learner.fit(batch).report["form"]
    assert form == ("primal" if kernel.is_linear and width < 50 else "dual")


@fewer_examples
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.95), width=st.sampled_from([20, 90]))
def test_comb_is_rlsc_on_scaled_feature_groups(seed, share, width):
    batch, test = make_rows(30, width, seed=seed), make_rows(9, width, seed=seed + 1)
    weights = {"local": share, "broad": 1 - share}
    kernel = LinearKernel(normalise="groups", weights=weights)
    plain = RLSC(kernel=LinearKernel(normalise="none"), regularisation=1e-4)
    expected = fit_scores(plain, *(CrossedRows(kernel.rows(b), b.costs, b.columns) for b in (batch, test)))
    for learner in (RLSCComb(weights=weights, regularisation=1e-4), RLSC(kernel=kernel, regularisation=1e-4)):
        assert fit_scores(learner, batch, test) == pytest.approx(expected, abs=1e-8)


def test_equal_weights_are_the_default_and_only_ratios_matter():
    batch, test = make_rows(), make_rows(seed=1)
    expected = fit_scores(RLSCComb(), batch)
    by_group = LinearKernel(normalise="groups")
    for learner in (RLSCComb(weights={"local": 7, "broad": 7}), RLSC(kernel=by_group)):
        assert fit_scores(learner, batch) == pytest.approx(expected, abs=1e-7)
    assert fit_scores(RLSCLin(), batch) == pytest.approx(fit_scores(RLSC(), batch), abs=1e-12)
    for learner in (RLSCComb, SVMComb):
        weights = ({"local": most, "broad": most / 2} for most in (1.0, 1.5e308))
        one, largest = (fit_scores(learner(weights=item), batch) for item in weights)
        assert largest.tolist() == one.tolist()
    kernel = LinearKernel(normalise="groups", weights={"local": 1.5e308, "broad": 1.5e308})
    assert (kernel.rows(batch) - by_group.rows(batch)).nnz == 0
    assert np.abs(fit_scores(RLSCLin(), batch, test) - fit_scores(RLSCComb(), batch, test)).max() > 1e-2


def test_linear_scorer_equals_the_kernel_expansion():
    """Columns that no training row has count for the length of new rows and have no weight."""
    batch = make_rows(30, 80)
    full = batch.rows.toarray()
    full[:, 60:] = 0.0
    batch = make_sense_batch(full, batch.costs.argmin(axis=1), 3)
    test = make_rows(10, 80, seed=5)
    kernel = LinearKernel(normalise="groups")
    train_rows, test_rows = kernel.rows(batch), kernel.rows(test)
    gram = kernel.gram(train_rows, train_rows)
    targets = np.where(batch.costs == 0, 1.0, -1.0)
    coefficients = np.linalg.solve(gram + 30 * 1e-2 * np.eye(30), targets)
    scorer = RLSCComb(regularisation=1e-2).fit(batch).scorer
    expected = pytest.approx(kernel.gram(test_rows, train_rows) @ coefficients, abs=1e-8)
    assert scorer.scores(test).reshape(10, 3) == expected
    assert scorer.columns.max() < 60 and len(scorer.weights) == 3 * len(scorer.columns)
    one_by_one = [scorer.scores(test.take(np.array([i]))) for i in range(10)]
    assert np.concatenate(one_by_one) == pytest.approx(scorer.scores(test), abs=1e-12)


def test_support_vector_machines_equal_scikit_learn():
    batch, test = make_rows(60, 80, several=0.2), make_rows(20, 80, seed=1)
    weights = {"local": 1, "broad": 2}
    for learner, kernel in (
        (SVMLin(C=2.0), LinearKernel()),
        (SVMComb(C=2.0, weights=weights), LinearKernel(normalise="groups", weights=weights)),
    ):
        rows, new = kernel.rows(batch), kernel.rows(test)
        result = fit_scores(learner, batch, test)
        for k in range(3):
            machine = SVC(kernel="precomputed", C=2.0).fit(kernel.gram(rows, rows), batch.costs[:, k] == 0)
            assert result[:, k] == pytest.approx(machine.decision_function(kernel.gram(new, rows)), abs=1e-6)


@pytest.mark.parametrize("name", LEARNERS)
def test_words_with_few_senses_instances_or_features(name):
    batch = make_sense_batch(make_rows(12).rows, [1] * 12, 3)
    assert (fit_scores(LEARNERS[name], batch).argmax(axis=1) == 1).all()
    other = make_sense_batch(make_rows(12).rows, [0] * 12, 1)
    assert np.isfinite(fit_scores(LEARNERS[name], other)).all()
    batch = make_rows(20)
    one = make_sense_batch(batch.rows[[3]], [2], 3)
    assert (fit_scores(LEARNERS[name], one, batch).argmax(axis=1) == 2).all()
    for right in ([0, 1, 1, 2, 1, 2], [2, 1, 0, 0, 2, 2]):
        scores = fit_scores(LEARNERS[name], make_sense_batch(np.zeros((6, 5)), right))
        assert (scores.argmax(axis=1) == np.bincount(right).argmax()).all()
        if name.startswith(("lin", "comb")):
            assert np.abs(scores).max() < 3e-6
    batch = make_sense_batch(make_rows(40).rows, make_rows(40).costs.argmin(axis=1), 5)
    result = fit_scores(LEARNERS[name], batch, make_sense_batch(make_rows(30, seed=8).rows, [0] * 30, 5))
    assert set(result.argmax(axis=1)) <= {0, 1, 2}


@pytest.mark.parametrize("name", ["lin", "lin-loo", "comb", "comb-alignment", "comb-loo"])
def test_unseen_features_get_the_most_frequent_sense(name):
    values = np.zeros((5, 8))
    values[np.arange(5), [0, 0, 1, 2, 2]] = 1.0
    batch = make_sense_batch(values, [0, 0, 1, 2, 2][::-1])
    new = np.zeros((2, 8))
    new[1, 7] = 4.0
    scores = fit_scores(LEARNERS[name], batch, make_sense_batch(new, [0, 0], 3))
    assert scores.argmax(axis=1).tolist() == [0, 0]  # as often as the third: the first


def test_several_right_senses_and_winners():
    batch = make_sense_batch(np.eye(3), [[0, 2], [1], [2]])
    assert np.sign(fit_scores(RLSCLin(), batch)).tolist() == [[1, -1, 1], [-1, 1, -1], [-1, -1, 1]]
    scores = np.array([[1.0, 1.0, 0.0], [0.5, 1.0, 1.0 + 1e-12], [0.0, 0.0, 0.0], [2.0, 1.0, 3.0]])
    for frequencies, winners in (
        ([1, 5, 5], [1, 1, 1, 2]),
        ([9, 0, 1], [0, 2, 0, 2]),
        ([[0, 1, 9], [0, 0, 1], [0, 0, 0], [9, 9, 0]], [1, 2, 0, 2]),
    ):
        assert find_winners(scores, np.array(frequencies)).tolist() == winners


@given(seed=st.integers(0, 10**6))
def test_break_ties(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(3, size=(8, 4)) / 2 + 1e-8 * rng.random((8, 4))
    frequencies = rng.integers(9, size=4)
    result = break_ties(scores, frequencies)
    assert result.argmax(axis=1).tolist() == find_winners(scores, frequencies).tolist()
    assert find_winners(result, frequencies).tolist() == find_winners(scores, frequencies).tolist()
    alone = (scores >= scores.max(axis=1, keepdims=True) - 1e-6).sum(axis=1) == 1
    assert (result[alone] == scores[alone]).all()
    assert ((result != scores).sum(axis=1) == ~alone).all()
    assert np.abs(result - scores).max() < 3e-6


@pytest.mark.parametrize("name", LEARNERS)
def test_states_of_several_words_in_one_file(name, tmp_path):
    learner = LEARNERS[name]
    words = [make_rows(40, seed=1), make_rows(25, senses=5, seed=2)]
    words += [make_sense_batch(make_rows(1).rows, [0], 2), make_sense_batch(np.zeros((3, 60)), [0, 1, 1])]
    scorers = [learner.fit(batch).scorer for batch in words]
    np.savez(tmp_path / "weights.npz", **stack([scorer.state() for scorer in scorers]))
    with np.load(tmp_path / "weights.npz", allow_pickle=False) as arrays:
        states = unstack(dict(arrays), len(words))
    for batch, scorer, state in zip(words, scorers, states, strict=True):
        assert learner.from_state(state).scores(batch).tobytes() == scorer.scores(batch).tobytes()


DAMAGES = {
    "columns": [
        lambda a: a[::-1],
        lambda a: a - a.max(),
        lambda a: a * 0,
        lambda a: a + 0.5,
        lambda a: a[:-1],
    ],
    "weights": [lambda a: a[:-1], lambda a: a.reshape(3, -1)],
    "bias": [lambda a: a[:-1]],
    "shares": [lambda a: a.reshape(-1, 1)],
    "frequencies": [lambda a: -a, lambda a: a * 1.0, lambda a: a[:-1]],
}
ROW_DAMAGES = {
    "indices": (lambda a: a - 60, lambda a: a + 60, lambda a: a * 1.0, lambda a: a[:-1]),
    "indptr": (lambda a: a[::-1], lambda a: a[1:], lambda a: a[:0], lambda a: a * 1.0),
    "data": (lambda a: a[:-1],),
    "width": (lambda a: a - 1, lambda a: a * 0, lambda a: a[:0], lambda a: -a),
    "coefficients": (lambda a: a[:-1], lambda a: a[:, :-1], lambda a: a.ravel()),
    "frequencies": DAMAGES["frequencies"],
}


@pytest.mark.parametrize(
    ("learner", "key", "damages"),
    [
        (learner, key, of_key)
        for learner, damages in ((RLSCComb(), DAMAGES), (RLSC(kernel=GaussianKernel()), ROW_DAMAGES))
        for key, of_key in damages.items()
    ],
)
def test_damaged_states_are_refused(learner, key, damages):
    state = learner.fit(make_rows(width=60)).scorer.state()
    learner.from_state(state)
    for damage in damages:
        with pytest.raises(ValueError):
            learner.from_state({**state, key: damage(state[key])})


def test_states_and_reports():
    state = RLSCComb().fit(make_rows(10, 500)).scorer.state()
    d = len(state["columns"])
    assert d < 500 and state["columns"].dtype == np.int32
    assert state["weights"].shape == (3 * d,) and state["weights"].dtype == np.float64
    assert state["bias"].tolist() == [0.0] * 3 and state["shares"].tolist() == [0.5, 0.5]
    assert state["frequencies"].sum() == 10
    report = RLSCComb(weights="loo", regularisation="loo").fit(make_rows()).report
    assert set(report) == {"examples", "regularisation", "form", "columns", "leave_one_out", "weights"}
    assert sum(report["weights"].values()) == pytest.approx(1.0)
    assert 0 < report["leave_one_out"] < 1
    assert RLSCLin().fit(make_rows()).report["regularisation"] == 1e-9


@pytest.mark.parametrize("name", ["lin", "comb-loo", "svm-lin", "svm-comb"])
def test_explanation_in_named_columns(name):
    batch, test = make_rows(30), make_rows(5, seed=3)
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


def test_rows_of_other_types_and_shapes():
    batch = make_rows()
    for learner in (RLSCLin(), RLSCComb(), RLSC(kernel=GaussianKernel())):
        expected = fit_scores(learner, batch)
        for rows in (batch.rows.toarray(), batch.rows.astype(np.float32), csr_array(batch.rows.tocoo())):
            other = CrossedRows(rows, batch.costs, batch.columns)
            assert fit_scores(learner, other) == pytest.approx(expected, abs=1e-6)
    for learner in (RLSCLin(), RLSC(kernel=GaussianKernel())):
        with pytest.raises(ValueError, match="3 candidates, examples of 4"):
            learner.fit(make_rows()).scorer.scores(make_rows(senses=4))
    with pytest.raises(ValueError, match="columns"):
        RLSCLin().fit(make_rows()).scorer.scores(make_rows(width=20))


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
def test_invalid_settings(learner, settings, code):
    with pytest.raises(UserError, match=rf"{code}.*{learner.__name__}\.{next(iter(settings))}"):
        learner(**settings)


@pytest.mark.parametrize("name", LEARNERS)
def test_invalid_examples(name):
    learner, batch = LEARNERS[name], make_rows()
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
def test_weights_of_other_feature_groups(learner):
    for weights, code in (({"local": 1, "near": 1}, "D451"), ({"local": 1}, "D476")):
        with pytest.raises(UserError, match=code):
            learner(weights=weights).fit(make_rows())


NAMES = ("signal", "noise", "more noise")


def make_informative_rows(n=60, *, seed=0):
    """Return instances with three feature groups, of which only the first predicts the sense."""
    rng = np.random.default_rng(seed)
    right = rng.integers(3, size=n)
    signal = (rng.random((n, 60)) < np.where(np.arange(60) % 3 == right[:, None], 0.25, 0.1)).astype(float)
    noise = (rng.random((n, 120)) < 0.1).astype(float)
    groups = np.repeat(np.arange(3), 60).astype(np.int32)
    return make_sense_batch(np.hstack([signal, noise]), right, 3, groups=groups, group_names=NAMES)


@given(n=st.integers(2, 25), seed=st.integers(0, 10**6), several=st.sampled_from([0.0, 0.4]))
def test_alignment_equals_its_definition(n, seed, several):
    batch = make_rows(n, 30, seed=seed, several=several)
    groups = FeatureGroups.from_batch(batch)
    targets = np.where(batch.costs == 0, 1.0, -1.0)
    centring = np.eye(n) - 1 / n
    ideal = centring @ targets @ targets.T @ centring
    expected = []
    for g in (0, 1):
        part = normalize(batch.rows.toarray()[:, g::2])
        assert groups.grams[g] == pytest.approx(part @ part.T)
        gram = centring @ part @ part.T @ centring
        lengths = np.linalg.norm(gram) * np.linalg.norm(ideal)
        expected.append((gram * ideal).sum() / lengths if lengths > 1e-10 else 0.0)
    result = alignments(groups.grams, targets)
    assert result == pytest.approx(expected, abs=1e-9)
    shares = alignment_weights(groups)
    assert shares.sum() == pytest.approx(1.0) and (shares >= 0).all()
    positive = np.maximum(expected, 0)
    if positive.sum() > 1e-6:
        assert shares == pytest.approx(positive / positive.sum(), abs=1e-6)


def test_search_goes_half_the_way_to_the_best_weights():
    groups = FeatureGroups.from_batch(make_informative_rows(50))
    shares = search_weights(groups, 1e-3)
    best = 2 * shares - 1 / 3
    assert best.sum() == pytest.approx(1.0) and (best > -1e-12).all()

    def quality(shares):
        return leave_one_out_qualities(groups.problem, groups.system(shares), [1e-3])[0]

    highest = quality(np.maximum(best, 0))
    assert highest > quality(groups.equal())
    for giver, taker in ((0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)):  # no step from it is better
        moved = np.maximum(best, 0)
        part = min(1 / 16, moved[giver])
        moved[giver] -= part
        moved[taker] += part
        assert quality(moved) <= highest


@pytest.mark.parametrize("weights", [None, "alignment", "loo"])
def test_groups_without_features_or_one_group_alone(weights):
    def fit_weights(values, **settings):
        return (
            RLSCComb(weights=weights)
            .fit(make_sense_batch(values, [0, 1, 1, 0], **settings))
            .report["weights"]
        )

    assert fit_weights(np.zeros((4, 6))) == {"local": 0.5, "broad": 0.5}
    first = np.zeros(4, np.int32)
    assert fit_weights(np.eye(4), groups=first, group_names=("words",)) == {"words": 1.0}
    assert sum(fit_weights(np.eye(4), groups=first).values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "learner",
    [
        RLSC(kernel=PolynomialKernel(normalise="groups"), regularisation="loo"),
        RLSCLin(regularisation="loo"),
        RLSCComb(weights="loo", regularisation="loo"),
    ],
    ids=["polynomial", "lin", "comb"],
)
def test_lambda_is_chosen_by_leave_one_out(learner):
    batch = make_rows(several=0.2)
    assert learner.leave_one_out(batch) == learner.fit(batch).report["leave_one_out"]


def make_noisy_examples(n, seed):
    """Return examples of a dozen words each, one label in ten wrong, and the true senses."""
    weights = np.random.default_rng(7).normal(size=650) * (np.arange(650) < 90)
    often = 1 / (np.arange(650) + 10.0)
    rng = np.random.default_rng(seed)
    words = np.array([rng.choice(650, 12, replace=False, p=often / often.sum()) for _ in range(n)])
    true = weights[words].sum(axis=1) > 0
    output = true ^ (rng.random(n) < 0.1)
    rows = csr_array((np.ones(n * 12), words.ravel(), np.arange(0, n * 12 + 1, 12)), (n, 650))
    costs = np.stack([output, ~output], axis=1).astype(np.float32)
    return CrossedRows(rows, costs, CrossedColumns(numbered(650), ("one", "other"))), true


def test_regularisation_for_many_noisy_examples():
    batch, _ = make_noisy_examples(640, 0)
    test, true = make_noisy_examples(1000, 1)
    learners = (RLSCLin(regularisation=value) for value in (1e-9, "auto", "loo"))
    decided = (fit_scores(learner, batch, test).argmax(axis=1) for learner in learners)
    fixed, auto, chosen = ((labels == true).mean() for labels in decided)
    assert fixed < 0.7 and auto > fixed + 0.1 and chosen > fixed + 0.1
    assert auto_regularisation(100) == pytest.approx(LAMBDA_OF_MANY / 10)
    assert auto_regularisation(1000) == auto_regularisation(9000) == LAMBDA_OF_MANY


BATCHES = {"two": (crossed(labels=2), 0.95), "three": (crossed(), 0.95), "blocks": (blocks(), 0.6)}


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", LEARNERS)
def test_contract(name, batch):
    examples, least = BATCHES[batch]
    for check in check_learner(LEARNERS[name], examples, least=least):
        check()
