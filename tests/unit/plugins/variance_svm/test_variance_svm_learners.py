"""Learners of the plugin: what they solve, choice of C, priors, shared weights of groups, errors."""

from __future__ import annotations

import itertools
from dataclasses import replace

import cvxpy
import numpy as np
import pytest
from disambig_variance_svm.learners import (
    CRAMMER_SINGER,
    GRID,
    KSVM,
    MAX_PASSES,
    ONE_VERSUS_ALL,
    SUM,
    ConditionalLogit,
    CrossedScorer,
    Majority,
    OneVersusAll,
    SharedScorer,
    SumLM,
    VarianceSVM,
    attributes,
    counts_passes,
    dev_quality,
    fit_best_c,
    fold_crossed_sum,
    fold_sum,
    variance_svm as prior_weights,
    weights_from_prior,
    with_sum,
)
from disambig_variance_svm.svm import solve
from hypothesis import given, settings, strategies as st
from model_configs import model_config
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info
from toy_texts import SENTENCES

from disambig.config import resolve
from disambig.data import Columns, CrossedRows, DenseBlocks, SparseRows, convert, numbered
from disambig.errors import UserError
from disambig.formats import Labelled
from disambig.models import load_model, save_model
from disambig.testing import blocks, check_learner, lists
from disambig.testing.checks import GROUPS
from disambig.text import Words, view_of_texts
from disambig.training import train, train_labelled
from disambig.types import HasOpenSettings


def test_sum_and_majority():
    batch = blocks(50)
    scores = SumLM(patterns=("3-gram", "5-gram")).fit(batch).scorer.scores(batch)
    assert scores == pytest.approx((batch.values[:, :, 1] + batch.values[:, :, 3]).ravel())
    assert not SumLM().needs_training
    scores = Majority().fit(batch).scorer.scores(batch).reshape(50, 3)
    assert (scores == (batch.costs == 0).sum(axis=0)).all()


@pytest.mark.parametrize("learner", [VarianceSVM(variance=("2-gram", "4-gram")), KSVM()])
def test_c_is_the_first_of_the_best_on_development_data(learner):
    train, dev = blocks(40, seed=1), blocks(40, seed=2)
    fitted = learner.fit(train, dev=dev, rng=np.random.default_rng(0))
    tried = {float(c): share for c, share in fitted.report["dev_accuracy"].items()}
    if isinstance(learner, VarianceSVM):
        assert list(tried) == [float(f"{c / 40:g}") for c in GRID[: len(tried)]]
    assert fitted.report["C"] == next(c for c, share in tried.items() if share == max(tried.values()))
    assert dev_quality(dev, fitted.scorer.scores(dev)) == max(tried.values())
    again = learner.fit(train, dev=dev, rng=np.random.default_rng(1))
    assert np.array_equal(again.scorer.weights, fitted.scorer.weights) and again.report == fitted.report


def test_a_given_c_is_kept():
    train, dev = blocks(40, seed=1), blocks(40, seed=2)
    report = VarianceSVM(variance=("2-gram", "4-gram")).fit(train, dev=dev).report
    alone = VarianceSVM(C=report["C"], variance=("2-gram", "4-gram")).fit(train)
    assert alone.report["objective"] == pytest.approx(report["objective"], rel=2e-3)
    train, dev = blocks(30, seed=3), blocks(30, seed=4)
    assert VarianceSVM(C=0.5, variance=("3-gram",)).fit(train, dev=dev).report["C"] == 0.5
    fitted = VarianceSVM(variance=("3-gram",)).fit(train, dev=dev)  # right everywhere from the start
    assert fitted.report["C"] == float(f"{GRID[0] / 30:g}")
    assert len(fitted.report["dev_accuracy"]) == 1  # nothing can be better


def test_a_full_matrix_needs_class_blocks():
    with pytest.raises(UserError, match=r"D459.*accepts DenseBlocks.*produce SparseRows"):
        VarianceSVM(full_matrix=True).fit(convert(blocks(3), SparseRows))


class ShareRight:
    """A scorer that decides a share of the instances right."""

    def __init__(self, share):
        self.share = share

    def scores(self, batch):
        right = np.arange(len(batch.costs)) < round(self.share * len(batch.costs))
        return np.where(right[:, None], -batch.costs, batch.costs).ravel().astype(float)


def test_a_plateau_does_not_end_the_search_for_c():
    """Small values of C may choose the most frequent class everywhere; larger ones are better."""
    shares = [0.8] * 7 + [0.79, 0.8, 0.9, 0.89, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]
    scorers = map(ShareRight, shares)
    dev = blocks(100, seed=2)
    scorer, extra, C, path = fit_best_c(
        lambda C: (next(scorers), f"at {C:g}"), 20, dev, C=None, default=1.0, grid=GRID
    )
    assert (scorer.share, C, extra) == (0.9, float(f"{GRID[9] / 20:g}"), f"at {C:g}")
    assert list(path.values()) == shares[:14]


NAN = float("nan")
BAD = {
    ("D451", "p"): [{"7-gram": 1.0}],
    ("D451", "sum"): [("7-gram",)],
    ("D451", "variance"): [("7-gram",)],
    ("D451", "free"): [("none",)],
    ("D700", "C"): [0.0, -1e-3, float("inf"), "a", True, np.array([1.0, 2.0]), 1e300],
    ("D701", "free"): [("3-gram",)],  # which is in the variance subset
    ("D701", "variance"): [(("2-gram", "3-gram"), ("3-gram",))],
    ("D702", "p"): [
        *({"3-gram": value} for value in (-1.0, NAN)),
        *({"bias": value} for value in ("x", True)),
        dict.fromkeys(GROUPS, 0.0),
        [1, 2],
    ],
    ("D704", "prior"): [
        *([value] * 15 for value in (NAN, "a", True)),
        [0.0] * 7,
        np.ones((15, 2)),
        [[1.0], [1.0, 2.0]],
    ],
    ("D710", "variance"): ["3-gram", None, (("3-gram", 4),)],
    ("D710", "free"): ["bias", (("bias",),)],
    ("D710", "sum"): ["3-gram"],
    ("D760", "tolerance"): [-1, NAN, "x"],
}


@pytest.mark.parametrize(("code", "name"), BAD)
def test_invalid_settings(code, name):
    for value in BAD[code, name]:
        with pytest.raises(UserError) as caught:
            VarianceSVM(**{"variance": ("3-gram",)} | {name: value}).fit(blocks(10))
        assert caught.value.code == code
        message = str(caught.value)[7:]
        if code == "D451":
            assert "bias" in message  # a group that exists
        elif code not in ("D701", "D704"):
            assert message.startswith((f"{name} ", f"VarianceSVM.{name} "))


SYSTEMS = {
    "VAR-SVM": {"variance": ("2-gram", "3-gram", "4-gram", "5-gram")},
    "VAR-SVM and L2": {"variance": ("3-gram", "4-gram")},
    "VAR-SVM, two subsets": {"variance": (("2-gram",), ("3-gram", "5-gram"))},
    "VAR-SVM, all in subsets": {"variance": (("2-gram", "bias"), ("3-gram",), ("4-gram", "5-gram"))},
    "VAR-SVM+FreeB": {"variance": ("3-gram", "4-gram"), "free": ("bias",)},
    "weighted": {"variance": ("3-gram", "4-gram"), "p": {"3-gram": 3.0, "2-gram": 0.1, "bias": 0.0}},
    "CS-SVM": {"variance": ()},
    "CS-SVM+": {"variance": (), "sum": ("3-gram", "4-gram")},
    "full matrix": {"variance": ("3-gram", "4-gram"), "full_matrix": True},
    "full matrix+": {"variance": ("3-gram",), "sum": ("3-gram", "4-gram"), "full_matrix": True},
    "prior": {"variance": ("3-gram", "4-gram"), "prior": "random"},
}


def lowest_objective(batch, regulariser, C, prior):
    """Return the minimum of the quadratic program of eq. (6), with one slack variable per example."""
    rows = convert(batch, SparseRows).rows
    n, k = batch.costs.shape
    gold = np.repeat(np.arange(n) * k + batch.costs.argmin(axis=1), k)
    weights, slack = cvxpy.Variable(rows.shape[1]), cvxpy.Variable(n, nonneg=True)
    change = weights if prior is None else weights - prior
    penalty = 0.0
    for number in np.unique(regulariser.subset):
        inside = np.flatnonzero((regulariser.subset == number) & (regulariser.strength > 0))
        if not len(inside):
            continue
        # the variance of a subset is the minimum of the sum of squares around any mean
        centred = change[inside] - cvxpy.Variable() if number >= 0 else change[inside]
        root = np.sqrt(regulariser.strength[inside])
        penalty += 0.5 * cvxpy.sum_squares(cvxpy.multiply(root, centred))
    margins = (rows - rows[gold]) @ weights + batch.cost.astype(np.float64)
    constraints = [margins <= slack[np.repeat(np.arange(n), k)]]
    problem = cvxpy.Problem(cvxpy.Minimize(penalty + C * cvxpy.sum(slack)), constraints)
    return float(problem.solve(solver=cvxpy.CLARABEL))


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(sorted(SYSTEMS)),
    st.integers(1, 25),
    st.integers(2, 4),
    st.integers(0, 10**6),
    st.floats(-5, 3),
)
def test_systems_reach_the_optimum_of_the_quadratic_program(system, n, k, seed, exponent):
    batch, C = blocks(n, labels=k, seed=seed), 10**exponent
    setting = dict(SYSTEMS[system])
    if setting.get("prior"):
        setting["prior"] = np.random.default_rng(seed).normal(size=len(batch.columns))
    problem, regulariser, prior = VarianceSVM(**setting).problem(batch)
    solution = solve(problem, regulariser, C, prior=prior)
    best = lowest_objective(problem, regulariser, C, prior)
    rounding = 1e-9 * C * n + 1e-7  # where the examples can be separated, the optimum may be zero
    assert solution.gap <= 1e-3
    assert solution.dual - solution.primal <= 1e-6 * solution.primal + rounding
    assert solution.primal <= best + 1.1e-3 * best + rounding
    assert solution.dual <= best + 1e-3 * best + rounding


def test_solutions_without_a_mistake_are_kept():
    batch = blocks(40)
    prior = np.where(batch.columns.in_groups(["3-gram"]), 5.0, 0.0)  # right by a margin of 5
    fitted = VarianceSVM(C=1.0, variance=(), prior=prior).fit(batch)
    assert fitted.scorer.weights == pytest.approx(prior, abs=1e-6)
    without = VarianceSVM(C=1e-7, variance=()).fit(batch).scorer.weights
    assert np.abs(without).max() < 1e-2
    near = VarianceSVM(C=1e-7, variance=(), prior=-prior).fit(batch).scorer.weights
    assert near == pytest.approx(-prior, abs=0.05)
    # where the unsupervised sum makes no mistake, equal weights solve the problem at no cost
    batch = blocks(50, seed=3)
    fitted = VarianceSVM(C=1.0, variance=("3-gram",)).fit(batch)
    weights = fitted.scorer.weights
    inside = batch.columns.in_groups(["3-gram"])
    assert weights[inside] == pytest.approx(weights[inside].mean())
    assert weights[~inside] == pytest.approx(0.0, abs=1e-6)
    assert fitted.report["objective"] < 1e-4
    assert fitted.report["gap"] <= 1e-3


def test_a_free_bias_is_not_regularised():
    """Counts are wrong by a constant, so that only a bias far from zero is right."""
    batch = blocks(80, seed=2)
    batch.values[:, 1, 1] += 40.0
    free = VarianceSVM(C=1e-2, variance=("3-gram",), free=("bias",)).fit(batch).scorer
    held = VarianceSVM(C=1e-2, variance=("3-gram", "bias")).fit(batch).scorer
    problem, regulariser, _ = VarianceSVM(variance=("3-gram",), free=("bias",)).problem(batch)
    shifted = free.weights + 100.0 * batch.columns.in_groups(["bias"])
    assert regulariser.penalty(shifted) == regulariser.penalty(free.weights)
    scores = problem.scores(shifted), free.scores(batch), held.scores(batch)
    by_shifted, by_free, by_held = (item.reshape(80, 3).argmax(axis=1) for item in scores)
    assert (by_shifted == by_free).all()
    right = batch.costs.argmin(axis=1)
    assert np.mean(by_free == right) == 1.0
    assert np.mean(by_held == right) < 1.0


def test_k_svm_plus_is_the_k_svm_on_attributes_with_the_sum():
    batch, groups = blocks(40, seed=4), ("3-gram", "5-gram")
    plus = KSVM(C=0.05, sum=groups).fit(batch).scorer.scores(batch)
    wider = with_sum(batch, groups)
    assert plus == pytest.approx(KSVM(C=0.05).fit(wider).scorer.scores(wider), abs=1e-5)


@pytest.mark.parametrize("learner", [OneVersusAll(C=0.5), KSVM(C=0.5)])
def test_classes_with_all_examples_or_none(learner):
    batch = blocks(60, seed=5)
    right = batch.costs.argmin(axis=1)
    seen = batch.take(np.flatnonzero(right != 1))
    scores = learner.fit(seen).scorer.scores(seen).reshape(-1, 3)
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) != 1).all()
    only = batch.take(np.flatnonzero(right == 2))
    assert dev_quality(only, replace(learner, C=None).fit(only).scorer.scores(only)) == 1.0


def test_convergence_is_reported(monkeypatch):
    fitted = OneVersusAll(C=100.0, max_iter=1, tolerance=1e-9).fit(blocks(60, seed=7))
    assert fitted.report["converged"] is False
    assert OneVersusAll(C=1e-6).fit(blocks(60, seed=7)).report["converged"] is True
    # the solver stops at convergence or at the limit of LIBLINEAR, and reports which
    counted = counts_passes(CRAMMER_SINGER)
    one, many = (KSVM(C=0.1, max_iter=m, tolerance=1e-4).fit(blocks(60, seed=7)) for m in (1, MAX_PASSES))
    assert np.array_equal(one.scorer.weights, many.scorer.weights)
    assert one.report["converged"] is (True if counted else None)
    endless = KSVM(C=100.0, tolerance=1e-15).fit(blocks(12, seed=7))
    assert endless.report["converged"] is (False if counted else None)
    assert KSVM(C=1e-6).fit(blocks(60, seed=7)).report["converged"] in ((True,) if counted else (True, None))
    # scikit-learn before 1.9.1 reads something else as their number
    monkeypatch.setattr("sklearn.__version__", "1.7.2")
    assert counts_passes(ONE_VERSUS_ALL) and not counts_passes(CRAMMER_SINGER)
    fitted = KSVM(C=100.0, max_iter=1, tolerance=1e-9).fit(blocks(60, seed=7))
    assert fitted.report["converged"] is None


@pytest.mark.parametrize("learner", [OneVersusAll(), KSVM(), KSVM(sum=("3-gram",)), KSVM(C=2.0)])
@pytest.mark.parametrize("dev", [None, blocks(10, labels=1, seed=1)], ids=["alone", "with-dev"])
def test_a_single_candidate_needs_no_weights(learner, dev):
    batch = blocks(10, labels=1)
    fitted = learner.fit(batch, dev=dev)
    assert (fitted.scorer.scores(batch) == 0).all()
    assert fitted.report["converged"] is True


PATTERNS = ("3-gram", "4-gram")


def test_the_sum_is_the_last_attribute_of_each_candidate():
    batch = blocks(9)
    wider = with_sum(batch, PATTERNS)
    assert wider.values[:, :, -1] == pytest.approx(batch.values[:, :, 1] + batch.values[:, :, 2])
    assert np.array_equal(wider.values[:, :, :-1], batch.values)
    assert wider.columns.in_groups([SUM]).nonzero()[0].tolist() == [15, 16, 17]
    assert wider.columns.labels[-3:].tolist() == [0, 1, 2]
    assert len(wider.columns) == len(wider.columns.names)
    column_of = batch.column_of.copy()
    column_of[1, 1] = column_of[0, 1]
    with pytest.raises(ValueError, match="share some of the summed columns"):
        with_sum(replace(batch, column_of=column_of), PATTERNS)


def test_folded_weights_score_the_same():
    batch = blocks(9)
    columns = Columns(np.full(5, -1, np.int32), np.arange(5, dtype=np.int32), batch.columns.group_names)
    shared = replace(batch, column_of=np.tile(np.arange(5), (3, 1)), columns=columns)
    for candidates, n, wider_n in ((batch, 15, 18), (shared, 5, 6)):
        wider = with_sum(candidates, PATTERNS)
        assert len(wider.columns) == wider_n
        weights = np.random.default_rng(0).normal(size=wider_n)
        folded = fold_sum(weights, candidates, PATTERNS)
        assert len(folded) == len(candidates.columns) == n
        assert candidates.scores(folded) == pytest.approx(wider.scores(weights), abs=1e-5)


def test_folded_crossed_weights_score_the_same():
    batch = blocks(9)
    weights = np.random.default_rng(0).normal(size=3 * 18)
    folded = CrossedScorer(fold_crossed_sum(weights, batch, PATTERNS))
    expected = CrossedScorer(weights).scores(with_sum(batch, PATTERNS))
    assert folded.scores(batch) == pytest.approx(expected, abs=1e-5)
    assert len(folded.columns(batch)) == 45
    again = CrossedScorer.from_state(folded.state())
    assert np.array_equal(again.scores(batch), folded.scores(batch))
    with pytest.raises(ValueError, match="54 weights for 45 crossed columns"):
        CrossedScorer(weights).scores(batch)


LEARNERS = (KSVM, OneVersusAll, VarianceSVM)


@pytest.mark.parametrize("learner", LEARNERS)
def test_c_is_that_of_the_middle_fit(learner):
    assert isinstance(learner(), HasOpenSettings)
    assert learner().with_tuned([{"C": 10.0}, {"C": 0.1}, {"C": 1.0}]).C == 1.0
    assert learner(C=0.5).with_tuned([{"C": 10.0}]).C == 0.5  # a given C is kept
    assert learner().with_tuned([{"C": 10.0}, {}]).C is None
    assert learner().with_tuned([]).C is None


def test_c_of_folds_in_a_model_of_labels():
    words = {"money": "bank money loan".split(), "river": "river water shore".split()}
    labelled = []
    for i, (label, cues) in itertools.product(range(40), words.items()):
        text = f"{cues[i % 3]} {cues[(i + 1) % 3]} number {i}"
        labelled.append(Labelled(text, 0, len(text), label, text, f"made, line {i}"))
    task = ("random_subspace.Topic.v1", {"labels": ["money", "river"]})
    config = model_config(task, {"words": "disambig.Tfidf.v1"}, learner=None)
    seen = []

    class Watched(KSVM):
        """Keeps the reports of folds."""

        def with_tuned(self, reports):
            seen.extend(report["C"] for report in reports)
            return super().with_tuned(reports)

    model = train_labelled({**resolve(config), "learner": Watched()}, labelled, name="topics")
    (report,) = model.provenance["groups"].values()
    assert len(seen) == 5
    assert report["C"] == pytest.approx(np.median(seen))


def train_small_model(table, *, pairs=("quite/quiet", "peace/piece"), name="VarianceSVM", **learner):
    settings = {"variance": ["3-gram"]} if name == "VarianceSVM" else {}
    config = model_config(
        ("toys.Pairs.v1", {"pairs": list(pairs)}),
        {"ngrams": ("disambig.NgramCounts.v1", {"counts": str(table)})},
        (f"variance_svm.{name}.v1", settings | learner),
        "variance_svm.SumLM.v1",
    )
    texts = {"train": SENTENCES * 3, "dev": SENTENCES}
    return train(resolve(config), texts, name="small", config=config, min_examples=3)


@pytest.fixture
def save_small_model(load_with, small_table, tmp_path):
    load_with(toys="toy_plugin")

    def save(**settings):
        save_model(train_small_model(small_table, **settings), tmp_path / "other", force=True)
        return str(tmp_path / "other"), load_model(tmp_path / "other")

    return save


@pytest.fixture
def saved_model(save_small_model):
    return save_small_model(C=1.0, variance=[])[0]


def make_batch(model, group):
    view = view_of_texts(SENTENCES, Words())
    instances = model.task.instances(view)
    return model.features(view, instances.take(instances.groups == group), group).batch


def test_weights_of_a_prior_by_group(saved_model, small_table):
    model = load_model(saved_model)
    for group, scorer in enumerate(model.scorers):
        assert (weights_from_prior(saved_model, make_batch(model, group)) == scorer.weights).all()
    assert not np.array_equal(model.scorers[0].weights, model.scorers[1].weights)
    turned = train_small_model(small_table, pairs=("peace/piece", "quite/quiet"), C=1e-9, prior=saved_model)
    assert (weights_from_prior(saved_model, make_batch(turned, 1)) == model.scorers[0].weights).all()


def test_without_loss_the_weights_are_those_of_the_prior_up_to_the_mean(saved_model, small_table):
    model = train_small_model(small_table, C=1e-9, prior=saved_model)
    for mine, prior in zip(model.scorers, load_model(saved_model).scorers, strict=True):
        gap = mine.weights - prior.weights
        in_subset = make_batch(model, 0).columns.in_groups(["3-gram"])
        assert np.ptp(gap[in_subset]) < 1e-4 and np.abs(gap[~in_subset]).max() < 1e-4
    plain = train_small_model(small_table, C=1e-9)
    assert not np.allclose(plain.scorers[0].weights, model.scorers[0].weights)


def test_prior_for_a_group_with_too_few_examples(save_small_model, monkeypatch):
    too_few = ("quite/quiet", "desert/dessert")
    path, model = save_small_model(pairs=too_few)
    assert model.scorers[1] is None
    with pytest.raises(UserError, match=r"D750.*too few examples to learn weights for 'desert/dessert'"):
        weights_from_prior(path, make_batch(model, 1))
    path, model = save_small_model(pairs=too_few, name="ConditionalLogit")  # which has shared weights
    batch = make_batch(model, 1)
    assert model.scorers[1] is None and model.shared.weights.any()
    result = weights_from_prior(path, batch)
    assert (result == np.tile(model.shared.weights, 2)).all()
    assert (result != weights_from_prior(path, make_batch(model, 0))).any()
    assert batch.scores(result) == pytest.approx(model.shared.scores(batch))
    short = replace(model, shared=SharedScorer(model.shared.weights[:-1]))
    monkeypatch.setattr(prior_weights, "load_model", lambda prior: short)
    message = r"D750.*its scorer for 'desert/dessert' does not have one weight per column"
    with pytest.raises(UserError, match=message):
        weights_from_prior("other", batch)


def test_unsuitable_priors(save_small_model, small_table):
    path, model = save_small_model(C=1.0, full_matrix=True)
    with pytest.raises(UserError, match="D750"):
        weights_from_prior(path, make_batch(model, 0))
    path, _ = save_small_model(C=1.0, variance=[])
    with pytest.raises(UserError, match=r"D750.*maybe"):
        train_small_model(small_table, pairs=("maybe/may be",), prior=path)
    with pytest.raises(UserError, match="D750"):
        VarianceSVM(variance=(), prior=path).fit(blocks(5))
    with pytest.raises(UserError, match=r"D404.*no/such/model"):
        VarianceSVM(prior="no/such/model").fit(blocks(5))


CONTRACTS = {  # settings that the contracts of registered learners do not have
    "free bias": (VarianceSVM(variance=("3-gram",), free=("bias",)), 1.0),
    "full matrix": (VarianceSVM(C=0.1, **SYSTEMS["full matrix"]), 1.0),
    "one-versus-all": (OneVersusAll(C=0.1), 0.9),
    "k": (KSVM(C=0.1), 0.9),
    "k-plus": (KSVM(C=0.1, sum=("3-gram", "4-gram")), 0.9),
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_contracts(name):
    learner, least = CONTRACTS[name]
    for check in check_learner(learner, least=least):
        check()


@pytest.mark.parametrize(
    ("learner", "settings", "problem"),
    [
        *((kind, {"tolerance": bad}, rf"D760.*{kind.__name__}\.tolerance is")
          for kind in (KSVM, OneVersusAll) for bad in (0, -1.0, float("nan"), "x")),
        *((kind, {"max_iter": bad}, rf"D452.*{kind.__name__}\.max_iter is")
          for kind in (KSVM, OneVersusAll) for bad in (0, 2.5, True)),
        *((kind, {"C": bad}, "D700") for kind in (KSVM, OneVersusAll) for bad in (0.0, -1.0, "a", True)),
        (KSVM, {"C": 1e300}, "D700"),
        (KSVM, {"sum": ("7-gram",)}, "D451"),
        (KSVM, {"sum": "3-gram"}, "D710"),
        (SumLM, {"patterns": ("7-gram",)}, "D451"),
    ],
)  # fmt: skip
def test_invalid_settings_of_other_learners(learner, settings, problem):
    with pytest.raises(UserError, match=problem):
        learner(**settings).fit(blocks(5))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("learner", [KSVM(), VarianceSVM(), VarianceSVM(variance=("3-gram",))])
def test_attributes_that_are_not_numbers(learner, bad):
    spoilt = blocks(10)
    spoilt.values[4, 1, 2] = bad
    problem = r"D703.* 1 are NaN or infinite, the first in example 4, attribute 2"
    for examples, dev in ((spoilt, None), (blocks(10), spoilt)):
        with pytest.raises(UserError, match=problem):
            learner.fit(examples, dev=dev)
    with pytest.raises(UserError, match="D703"):
        KSVM().fit(convert(spoilt, CrossedRows))


@pytest.mark.parametrize("learner", [VarianceSVM(), OneVersusAll(), ConditionalLogit()])
def test_no_examples(learner):
    with pytest.raises(UserError, match="D705"):
        learner.fit(blocks(5).take(np.array([], np.int64)))


def drawn_choices(n, k, truth, seed=0, spread=0.0):
    """Draw choices of a conditional logit: weights `truth`, and deviations of each candidate by `spread`."""
    rng = np.random.default_rng(seed)
    truth = np.asarray(truth)
    a = len(truth)
    values = rng.normal(size=(n, k, a)).astype(np.float32)
    weights = truth + spread * np.random.default_rng(99).normal(size=(k, a))
    utilities = np.einsum("nka,ka->nk", values, weights) + rng.gumbel(size=(n, k))
    labels = np.repeat(np.arange(k, dtype=np.int32), a)
    columns = Columns(labels, np.zeros(k * a, np.int32), ("all",), [""] * (k * a))
    costs = (np.arange(k) != utilities.argmax(axis=1)[:, None]).astype(np.float32)
    return DenseBlocks(values, np.arange(k * a).reshape(k, a), columns, costs)


def test_shared_weights_of_a_logit():
    """Of two candidates, those of a logistic regression on differences; of many choices, the true ones."""
    from sklearn.linear_model import LogisticRegression

    truth = [1.0, -0.5, 0.2]
    batch = drawn_choices(300, 2, truth)
    shared = ConditionalLogit(shared_strength=4.0).fit_shared([batch]).weights
    reference = LogisticRegression(C=1 / 4.0, fit_intercept=False, tol=1e-8)
    reference.fit(batch.values[:, 0] - batch.values[:, 1], batch.costs[:, 0] == 0)
    assert shared == pytest.approx(reference.coef_[0], abs=2e-3)
    batches = [drawn_choices(4000, k, truth, seed=k) for k in (2, 3, 5)]
    assert ConditionalLogit().fit_shared(batches).weights == pytest.approx(truth, abs=0.1)


def test_a_strong_ridge_gives_shared_weights_and_a_weak_one_own_weights():
    batch = drawn_choices(4000, 3, [1.0, -0.5], spread=1.0)
    learners = (ConditionalLogit(strength=strength) for strength in (1e7, 1e-3))
    strong, weak = (learner.fit(batch).scorer.weights.reshape(3, 2) for learner in learners)
    assert np.ptp(strong, axis=0) == pytest.approx([0, 0], abs=1e-2)
    true = np.array([1.0, -0.5]) + np.random.default_rng(99).normal(size=(3, 2))
    assert weak == pytest.approx(true, abs=0.3)
    shared = SharedScorer(np.array([2.0, -1.0]))  # few examples stay near the weights that are given
    batch = drawn_choices(3, 4, [0.0, 0.0])
    learner = ConditionalLogit(shared_strength=1000.0).with_prior(shared)
    weights = learner.fit(batch).scorer.weights.reshape(4, 2)
    assert weights == pytest.approx(np.tile(shared.weights, (4, 1)), abs=0.05)
    assert shared.scores(batch) == pytest.approx((batch.values @ shared.weights).ravel())


def test_development_data_choose_the_strength():
    def report(n, spread):
        train, dev = (drawn_choices(n, 3, [1.0, 0.5], seed, spread=spread) for seed in (0, 1))
        return ConditionalLogit().fit(train, dev=dev).report

    alike, apart = report(500, 0.0), report(2000, 2.0)
    assert apart["strength"] < alike["strength"]
    assert min(apart["dev_log_loss"].values()) == apart["dev_log_loss"][f"{apart['strength']:g}"]


def test_batches_that_cannot_share_weights():
    assert attributes(lists()).tolist() == list(range(8))  # of no candidate: shared by all
    with pytest.raises(ValueError, match="not 7"):
        SharedScorer(np.zeros(7)).scores(blocks())
    with pytest.raises(ValueError, match="2 shared weights for 5 attributes"):
        ConditionalLogit(prior=SharedScorer(np.zeros(2))).fit(blocks())
    batch, none, learner = blocks(20), blocks(5).take(np.array([], np.int64)), ConditionalLogit()
    for batches in ([none, none], []):
        with pytest.raises(UserError, match="D705"):
            learner.fit_shared(batches)
    alone = learner.fit_shared([batch]).weights
    assert (learner.fit_shared([none, batch]).weights == alone).all()
    assert alone.any()
    batch = blocks(20)
    batch.values[:2, 0, 0] = 3e38
    for call in (ConditionalLogit().fit, lambda batch: ConditionalLogit().fit_shared([batch])):
        with pytest.warns(UserWarning, match="conditional logit stopped after 0 steps"):
            call(batch)


@pytest.mark.parametrize("name", ["strength", "shared_strength"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), "a", True, np.array([1.0, 2.0])])
def test_invalid_strengths(name, value):
    with pytest.raises(UserError, match=rf"D760.*ConditionalLogit\.{name}"):
        ConditionalLogit(**{name: value})


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_attributes_of_logits_that_are_not_numbers(bad):
    good, spoilt = blocks(10), blocks(10, seed=1)
    spoilt.values[4, 1, 2] = bad
    learner, chosen = ConditionalLogit(), ConditionalLogit(strength=1.0)
    for call in (
        lambda: learner.fit(spoilt),
        lambda: learner.fit(good, dev=spoilt),
        lambda: chosen.fit(good, dev=spoilt),
        lambda: learner.fit_shared([good, spoilt]),
    ):
        with pytest.raises(UserError, match=r"D703.*example 4, attribute 2"):
            call()
    with pytest.raises(UserError, match=r"D703.*example 4"):
        learner.fit(convert(spoilt, SparseRows))


def test_lists_on_one_thread_and_sparse():
    """Threads that wait for each other make wide lists several times slower."""
    rng = np.random.default_rng(0)
    n_threads, widths = set(), set()

    class Watched(SparseRows):
        def scores(self, weights):
            n_threads.update(item["num_threads"] for item in threadpool_info() if item["user_api"] == "blas")
            widths.add(type(self.rows))
            return super().scores(weights)

    rows = csr_array(rng.random((60, 5000)) * (rng.random((60, 5000)) < 0.01))
    offsets = np.arange(0, 61, 3)
    cost = (np.arange(60) % 3 > 0).astype(np.float32)
    result = ConditionalLogit(strength=1.0).fit(Watched(rows, offsets, cost, numbered(5000)))
    assert n_threads == {1} and widths == {csr_array}
    # the optimum, by the gradient written out: features of the right ones less those expected, and the ridge
    weights, dense = result.scorer.weights, rows.toarray().reshape(20, 3, 5000)
    shares = np.exp(dense @ weights)
    shares /= shares.sum(axis=1, keepdims=True)
    slope = np.einsum("nk,nkd->d", shares, dense) - dense[:, 0].sum(axis=0) + weights
    assert np.abs(slope).max() < 1e-3 < np.abs(weights).max()
