"""SumLM, majority, VAR-SVM, K-SVM and one-versus-all: what they solve, choice of C, priors, errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from disambig_variance_svm.learners import (
    CRAMMER_SINGER,
    GRID,
    KSVM,
    MOST_PASSES,
    ONE_VERSUS_ALL,
    SUM,
    CrossedScorer,
    Majority,
    OneVersusAll,
    SharedScorer,
    SumLM,
    VarianceSVM,
    counts_passes,
    dev_accuracy,
    fold_crossed_sum,
    fold_sum,
    variance_svm,
    variance_svm as prior_weights,
    weights_from_prior,
    with_sum,
)
from disambig_variance_svm.svm import solve, solve_reference
from hypothesis import given, settings, strategies as st
from toy_texts import SENTENCES

from disambig.config import resolve
from disambig.data import Columns, CrossedRows, SparseRows, convert
from disambig.errors import UserError
from disambig.formats import Labelled
from disambig.models import load_model, save_model
from disambig.testing import blocks, check_learner
from disambig.testing.checks import GROUPS
from disambig.text import Words, view_of_texts
from disambig.training import train, train_labelled
from disambig.types import HasOpenSettings


def test_sum_of_patterns():
    batch = blocks(7)
    scorer = SumLM(patterns=("3-gram", "5-gram")).fit(batch).scorer
    expected = batch.values[:, :, 1] + batch.values[:, :, 3]
    assert scorer.scores(batch) == pytest.approx(expected.ravel())
    assert not SumLM().needs_training


def test_majority():
    batch = blocks(50)
    scores = Majority().fit(batch).scorer.scores(batch).reshape(50, 3)
    assert (scores == (batch.costs == 0).sum(axis=0)).all()


def test_c_is_chosen_on_development_data_from_the_grid():
    train, dev = blocks(40, seed=1), blocks(40, seed=2)
    fitted = VarianceSVM(variance=("2-gram", "4-gram")).fit(train, dev=dev)
    tried = {float(c): share for c, share in fitted.report["dev_accuracy"].items()}
    assert list(tried) == [float(f"{c / 40:g}") for c in GRID[: len(tried)]]
    assert tried[fitted.report["C"]] == max(tried.values())
    assert dev_accuracy(dev, fitted.scorer.scores(dev)) == max(tried.values())
    alone = VarianceSVM(C=fitted.report["C"], variance=("2-gram", "4-gram")).fit(train)
    assert alone.report["objective"] == pytest.approx(fitted.report["objective"], rel=2e-3)


def test_a_given_c_is_kept_and_the_first_of_equal_ones_is_chosen():
    train, dev = blocks(30, seed=3), blocks(30, seed=4)
    assert VarianceSVM(C=0.5, variance=("3-gram",)).fit(train, dev=dev).report["C"] == 0.5
    fitted = VarianceSVM(variance=("3-gram",)).fit(train, dev=dev)  # right everywhere from the start
    assert fitted.report["C"] == float(f"{GRID[0] / 30:g}")
    assert len(fitted.report["dev_accuracy"]) == 1  # nothing can be better


def test_learns_more_than_the_sum_where_weights_differ():
    batch = blocks(80, seed=7)
    patterns = ("2-gram", "3-gram", "4-gram", "5-gram")
    unsupervised = dev_accuracy(batch, SumLM(patterns=patterns).fit(batch).scorer.scores(batch))
    learned = VarianceSVM(C=1.0, variance=patterns).fit(batch).scorer.scores(batch)
    assert unsupervised < 0.9
    assert dev_accuracy(batch, learned) == 1.0


def test_a_full_matrix_needs_class_blocks():
    with pytest.raises(UserError, match=r"D459.*accepts DenseBlocks.*produce SparseRows"):
        VarianceSVM(full_matrix=True).fit(convert(blocks(3), SparseRows))


def test_a_plateau_does_not_end_the_search_for_c(monkeypatch):
    """Small values of C may choose the most frequent class everywhere; larger ones are better."""
    shares = [0.8] * 7 + [0.79, 0.8, 0.9, 0.89, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]
    qualities = iter(shares)
    monkeypatch.setattr(variance_svm, "dev_quality", lambda batch, scores: next(qualities))
    fitted = VarianceSVM(variance=("3-gram",)).fit(blocks(20, seed=1), dev=blocks(40, seed=2))
    assert fitted.report["C"] == float(f"{GRID[9] / 20:g}")
    assert list(fitted.report["dev_accuracy"].values()) == shares[:14]


BAD = {
    "D451": {"p": {"7-gram": 1.0}},
    "D451 sum": {"sum": ("7-gram",)},
    "D451 variance": {"variance": ("7-gram",)},
    "D451 free": {"free": ("none",)},
    "D700": {"C": 0.0},
    "D700 negative": {"C": -1e-3},
    "D700 infinite": {"C": float("inf")},
    "D700 string": {"C": "a"},
    "D700 truth": {"C": True},
    "D700 array": {"C": np.array([1.0, 2.0])},
    "D700 beyond": {"C": 1e300},
    "D701": {"variance": ("3-gram",), "free": ("3-gram",)},
    "D701 subsets": {"variance": (("2-gram", "3-gram"), ("3-gram",))},
    "D702": {"p": {"3-gram": -1.0}},
    "D702 NaN": {"p": {"3-gram": float("nan")}},
    "D702 zero sum": {"p": dict.fromkeys(GROUPS, 0.0)},
    "D702 string": {"p": {"bias": "x"}},
    "D702 truth": {"p": {"bias": True}},
    "D702 list": {"p": [1, 2]},
    "D704": {"prior": [0.0] * 7},
    "D704 NaN": {"prior": [float("nan")] * 15},
    "D704 strings": {"prior": ["a"] * 15},
    "D704 matrix": {"prior": np.ones((15, 2))},
    "D704 ragged": {"prior": [[1.0], [1.0, 2.0]]},
    "D704 truths": {"prior": [True] * 15},
    "D710 variance": {"variance": "3-gram"},
    "D710 none": {"variance": None},
    "D710 number": {"variance": (("3-gram", 4),)},
    "D710 free": {"free": "bias"},
    "D710 nested": {"free": (("bias",),)},
    "D710 sum": {"sum": "3-gram"},
    "D760 below": {"tolerance": -1},
    "D760 NaN": {"tolerance": float("nan")},
    "D760 string": {"tolerance": "x"},
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_settings(case):
    with pytest.raises(UserError) as caught:
        VarianceSVM(**{"variance": ("3-gram",)} | BAD[case]).fit(blocks(10))
    assert caught.value.code == case[:4]
    name, message = next(iter(BAD[case])), str(caught.value)[7:]
    if "D451" in case:
        assert "bias" in message  # a group that exists
    elif case[:4] not in ("D701", "D704"):
        assert message.startswith((f"{name} ", f"VarianceSVM.{name} "))


def test_only_proportions_of_p_count():
    """The sum of large numbers is infinite: nothing would be regularised."""
    batch = blocks(30, seed=1)

    def weights(scale):
        p = {name: scale * (i + 1) for i, name in enumerate(GROUPS)}
        return VarianceSVM(C=0.01, variance=("3-gram",), p=p).fit(batch).scorer.weights

    assert weights(2e307) == pytest.approx(weights(1.0))
    assert weights(1e-300) == pytest.approx(weights(1.0))
    assert np.isfinite(
        VarianceSVM(C=1e12, variance=("3-gram",)).fit(batch).scorer.weights
    ).all()  # the largest


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


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(sorted(SYSTEMS)),
    st.integers(1, 25),
    st.integers(2, 4),
    st.integers(0, 10**6),
    st.floats(-5, 3),
)
def test_systems_reach_the_optimum_of_the_quadratic_program(system, n, k, seed, exponent):
    pytest.importorskip("cvxpy")
    batch, C = blocks(n, labels=k, seed=seed), 10**exponent
    setting = dict(SYSTEMS[system])
    if setting.get("prior"):
        setting["prior"] = np.random.default_rng(seed).normal(size=len(batch.columns))
    problem, regulariser, prior = VarianceSVM(**setting).problem(batch)
    solution = solve(problem, regulariser, C, prior=prior)
    best = solve_reference(problem, regulariser, C, prior=prior).objective
    rounding = 1e-9 * C * n + 1e-7  # where the examples can be separated, the optimum may be zero
    assert solution.gap <= 1e-3
    assert solution.dual - solution.primal <= 1e-6 * solution.primal + rounding
    assert solution.primal <= best + 1.1e-3 * best + rounding
    assert solution.dual <= best + 1e-3 * best + rounding


def test_a_prior_that_makes_no_mistake_is_kept():
    batch = blocks(40)
    prior = np.where(batch.columns.in_groups(["3-gram"]), 5.0, 0.0)  # right by a margin of 5
    fitted = VarianceSVM(C=1.0, variance=(), prior=prior).fit(batch)
    assert fitted.scorer.weights == pytest.approx(prior, abs=1e-6)
    without = VarianceSVM(C=1e-7, variance=()).fit(batch).scorer.weights
    assert np.abs(without).max() < 1e-2
    near = VarianceSVM(C=1e-7, variance=(), prior=-prior).fit(batch).scorer.weights
    assert near == pytest.approx(-prior, abs=0.05)


def test_a_free_bias_is_not_regularised():
    """Counts are wrong by a constant, so that only a bias far from zero is right."""
    batch = blocks(80, seed=2)
    batch.values[:, 1, 1] += 40.0
    free = VarianceSVM(C=1e-2, variance=("3-gram",), free=("bias",)).fit(batch)
    held = VarianceSVM(C=1e-2, variance=("3-gram", "bias")).fit(batch)
    problem, regulariser, _ = VarianceSVM(variance=("3-gram",), free=("bias",)).problem(batch)
    bias = batch.columns.in_groups(["bias"])
    shifted = free.scorer.weights + 100.0 * bias
    assert regulariser.penalty(shifted) == regulariser.penalty(free.scorer.weights)
    assert problem.scores(shifted).reshape(80, 3).argmax(axis=1) == pytest.approx(
        free.scorer.scores(batch).reshape(80, 3).argmax(axis=1)
    )
    right = batch.costs.argmin(axis=1)
    assert np.mean(free.scorer.scores(batch).reshape(80, 3).argmax(axis=1) == right) == 1.0
    assert np.mean(held.scorer.scores(batch).reshape(80, 3).argmax(axis=1) == right) < 1.0


def test_equal_weights_if_the_sum_makes_no_mistake():
    """Where the unsupervised sum makes no mistake, equal weights solve the problem at no cost."""
    batch = blocks(50, seed=3)
    fitted = VarianceSVM(C=1.0, variance=("3-gram",)).fit(batch)
    weights = fitted.scorer.weights
    inside = batch.columns.in_groups(["3-gram"])
    assert weights[inside] == pytest.approx(weights[inside].mean())
    assert weights[~inside] == pytest.approx(0.0, abs=1e-6)
    assert fitted.report["objective"] < 1e-4
    assert fitted.report["gap"] <= 1e-3


def test_classes_without_examples_are_chosen_by_their_counts():
    batch, fresh = blocks(30, labels=4), blocks(60, labels=4, seed=1)
    kept = batch.take(np.flatnonzero(batch.costs.argmin(axis=1) < 3))
    scores = VarianceSVM(C=1e-3, variance=("3-gram",)).fit(kept).scorer.scores(fresh).reshape(60, 4)
    unseen = fresh.costs[:, 3] == 0
    assert unseen.any()
    assert (scores[unseen].argmax(axis=1) == 3).all()


@pytest.mark.parametrize("setting", [{}, {"free": ("bias",)}, {"variance": ()}, {"full_matrix": True}])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_fewer_examples_than_classes(setting, n):
    batch = blocks(30, labels=4)
    same = np.flatnonzero(batch.costs.argmin(axis=1) == 0)[:n]
    fitted = VarianceSVM(**{"C": 0.1, "variance": ("3-gram",)} | setting).fit(batch.take(same))
    assert np.isfinite(fitted.scorer.weights).all()
    assert fitted.report["gap"] <= 1e-3


def objective(weights, batch, C):
    scores = batch.scores(weights).reshape(batch.costs.shape)
    right = batch.costs.argmin(axis=1)
    of_right = scores[np.arange(len(right)), right]
    others = np.where(batch.costs > 0, scores + 1, -np.inf).max(axis=1)
    return 0.5 * weights @ weights + C * np.maximum(others - of_right, 0).sum()


def test_k_svm_minimises_the_objective_of_crammer_and_singer():
    batch = convert(blocks(30, seed=3), CrossedRows)
    weights = KSVM(C=0.02, tolerance=1e-6, max_iter=100_000).fit(batch).scorer.weights
    least = objective(weights, batch, 0.02)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(20):
            other = weights + size * rng.normal(size=len(weights))
            assert objective(other, batch, 0.02) > least - 1e-6


def test_k_svm_plus_is_the_k_svm_on_attributes_with_the_sum():
    batch, groups = blocks(40, seed=4), ("3-gram", "5-gram")
    plus = KSVM(C=0.05, sum=groups).fit(batch).scorer.scores(batch)
    wider = with_sum(batch, groups)
    assert plus == pytest.approx(KSVM(C=0.05).fit(wider).scorer.scores(wider), abs=1e-5)


@pytest.mark.parametrize("learner", [OneVersusAll(C=0.5), KSVM(C=0.5)])
def test_a_class_without_examples_is_not_chosen(learner):
    batch = blocks(60, seed=5)
    seen = batch.take(np.flatnonzero(batch.costs.argmin(axis=1) != 1))
    scorer = learner.fit(seen).scorer
    scores = scorer.scores(seen).reshape(-1, 3)
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) != 1).all()


@pytest.mark.parametrize("learner", [OneVersusAll(), KSVM()])
def test_one_class_only_is_always_chosen(learner):
    batch = blocks(60, seed=6)
    only = batch.take(np.flatnonzero(batch.costs.argmin(axis=1) == 2))
    assert dev_accuracy(only, learner.fit(only).scorer.scores(only)) == 1.0


def test_c_is_the_smallest_of_the_best_on_development_data():
    train, dev = blocks(40, seed=1), blocks(40, seed=2)
    fitted = KSVM().fit(train, dev=dev)
    tried = {float(c): share for c, share in fitted.report["dev_accuracy"].items()}
    assert fitted.report["C"] == next(c for c, share in tried.items() if share == max(tried.values()))
    assert dev_accuracy(dev, fitted.scorer.scores(dev)) == max(tried.values())


def test_too_few_passes_are_reported():
    fitted = OneVersusAll(C=100.0, max_iter=1, tolerance=1e-9).fit(blocks(60, seed=7))
    assert fitted.report["converged"] is False
    assert OneVersusAll(C=1e-6).fit(blocks(60, seed=7)).report["converged"] is True


def test_crammer_and_singer_ignore_max_iter():
    """The solver stops at convergence or at the limit of LIBLINEAR, and reports which."""
    counted = counts_passes(CRAMMER_SINGER)
    one, many = (KSVM(C=0.1, max_iter=m, tolerance=1e-4).fit(blocks(60, seed=7)) for m in (1, MOST_PASSES))
    assert np.array_equal(one.scorer.weights, many.scorer.weights)
    assert one.report["converged"] is (True if counted else None)
    endless = KSVM(C=100.0, tolerance=1e-15).fit(blocks(12, seed=7))
    assert endless.report["converged"] is (False if counted else None)
    assert KSVM(C=1e-6).fit(blocks(60, seed=7)).report["converged"] in ((True,) if counted else (True, None))


def test_passes_that_are_not_counted_are_not_reported(monkeypatch):
    """scikit-learn before 1.9.1 reads something else as their number."""
    monkeypatch.setattr("sklearn.__version__", "1.7.2")
    assert counts_passes(ONE_VERSUS_ALL) and not counts_passes(CRAMMER_SINGER)
    fitted = KSVM(C=100.0, max_iter=1, tolerance=1e-9).fit(blocks(60, seed=7))
    assert fitted.report["converged"] is None


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"tolerance": 0}, "D760"),
        ({"tolerance": -1.0}, "D760"),
        ({"tolerance": float("nan")}, "D760"),
        ({"tolerance": "x"}, "D760"),
        ({"max_iter": 0}, "D452"),
        ({"max_iter": 2.5}, "D452"),
        ({"max_iter": True}, "D452"),
    ],
)
@pytest.mark.parametrize("learner", [KSVM, OneVersusAll])
def test_invalid_stopping_criteria(learner, settings, code):
    with pytest.raises(UserError, match=rf"{code}.*{learner.__name__}\.{next(iter(settings))} is"):
        learner(**settings).fit(blocks(5))


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


def test_folded_weights_score_the_same():
    batch = blocks(9)
    weights = np.random.default_rng(0).normal(size=18)
    folded = fold_sum(weights, batch, PATTERNS)
    assert len(folded) == len(batch.columns)
    assert batch.scores(folded) == pytest.approx(with_sum(batch, PATTERNS).scores(weights), abs=1e-5)


def test_candidates_that_share_their_weights_share_the_sum():
    batch = blocks(9)
    shared = replace(
        batch,
        column_of=np.tile(np.arange(5), (3, 1)),
        columns=Columns(np.full(5, -1, np.int32), np.arange(5, dtype=np.int32), batch.columns.group_names),
    )
    wider = with_sum(shared, PATTERNS)
    assert len(wider.columns) == 6
    weights = np.random.default_rng(0).normal(size=6)
    assert shared.scores(fold_sum(weights, shared, PATTERNS)) == pytest.approx(
        wider.scores(weights), abs=1e-5
    )


def test_partly_shared_columns_have_no_sum():
    batch = blocks(9)
    column_of = batch.column_of.copy()
    column_of[1, 1] = column_of[0, 1]
    with pytest.raises(ValueError, match="share some of the summed columns"):
        with_sum(replace(batch, column_of=column_of), PATTERNS)


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


def test_c_of_folds_in_a_model_of_labels(load_with):
    load_with(toys="toy_plugin")
    words = "bank money loan river water shore".split()
    labelled = [
        Labelled(text, 0, len(text), label, text, f"made, line {i}")
        for i in range(40)
        for label, own in (("money", words[:3]), ("river", words[3:]))
        for text in [f"{own[i % 3]} {own[(i + 1) % 3]} number {i}"]
    ]
    config = {
        "task": {"@disambig_tasks": "random_subspace.Topic.v1", "labels": ["money", "river"]},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"words": {"@disambig_extractors": "disambig.Tfidf.v1"}},
        "learner": {"@disambig_learners": "variance_svm.KSVM.v1"},
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }
    parts = resolve(config)
    seen = []

    class Watched:
        """Passes on, and keeps the reports of folds."""

        needs_training, takes = True, parts["learner"].takes

        def fit(self, batch, **about):
            return parts["learner"].fit(batch, **about)

        def from_state(self, arrays):
            return parts["learner"].from_state(arrays)

        def with_tuned(self, reports):
            seen.extend(report["C"] for report in reports)
            return parts["learner"].with_tuned(reports)

    model = train_labelled({**parts, "learner": Watched()}, labelled, name="topics")
    (report,) = model.provenance["groups"].values()
    assert len(seen) == 5
    assert report["C"] == pytest.approx(np.median(seen))


TEXTS = {"train": SENTENCES * 3, "dev": SENTENCES}


def train_small_model(table, *, pairs=("quite/quiet", "peace/piece"), name="VarianceSVM", **learner):
    settings = {"variance": ["3-gram"]} if name == "VarianceSVM" else {}
    config = {
        "task": {"@disambig_tasks": "toys.Pairs.v1", "pairs": list(pairs)},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"ngrams": {"@disambig_extractors": "disambig.NgramCounts.v1", "counts": str(table)}},
        "learner": {"@disambig_learners": f"variance_svm.{name}.v1", **settings, **learner},
        "baseline": {"@disambig_learners": "variance_svm.SumLM.v1"},
    }
    return train(resolve(config), TEXTS, name="small", config=config, min_examples=3)


@pytest.fixture
def save_small_model(load_with, small_table, tmp_path):
    load_with(toys="toy_plugin")

    def save(**settings):
        save_model(train_small_model(small_table, **settings), tmp_path / "other")
        return str(tmp_path / "other"), load_model(tmp_path / "other")

    return save


@pytest.fixture
def saved_model(save_small_model):
    return save_small_model(C=1.0, variance=[])[0]


def make_batch(model, group):
    view = view_of_texts(SENTENCES, Words())
    instances = model.task.instances(view)
    return model.features(view, instances.take(instances.groups == group), group).batch


def test_each_group_gets_the_weights_of_its_own_columns(saved_model):
    model = load_model(saved_model)
    for group, scorer in enumerate(model.scorers):
        assert (weights_from_prior(saved_model, make_batch(model, group)) == scorer.weights).all()
    assert not np.array_equal(model.scorers[0].weights, model.scorers[1].weights)


def test_without_loss_the_weights_are_those_of_the_prior_up_to_the_mean(saved_model, small_table):
    model = train_small_model(small_table, C=1e-9, prior=saved_model)
    for mine, prior in zip(model.scorers, load_model(saved_model).scorers, strict=True):
        gap = mine.weights - prior.weights
        in_subset = make_batch(model, 0).columns.in_groups(["3-gram"])
        assert np.ptp(gap[in_subset]) < 1e-4 and np.abs(gap[~in_subset]).max() < 1e-4
    assert not np.allclose(
        train_small_model(small_table, C=1e-9).scorers[0].weights, model.scorers[0].weights
    )


def test_the_order_of_the_groups_does_not_matter(saved_model, small_table):
    turned = train_small_model(small_table, pairs=("peace/piece", "quite/quiet"), C=1e-9, prior=saved_model)
    saved_weights = load_model(saved_model).scorers[0].weights
    assert (weights_from_prior(saved_model, make_batch(turned, 1)) == saved_weights).all()


TOO_FEW = ("quite/quiet", "desert/dessert")


def test_prior_without_weights_for_a_group(save_small_model):
    path, model = save_small_model(pairs=TOO_FEW)
    assert model.scorers[1] is None
    with pytest.raises(UserError, match=r"D750.*too few examples to learn weights for 'desert/dessert'"):
        weights_from_prior(path, make_batch(model, 1))


def test_prior_with_shared_weights_for_a_group(save_small_model, monkeypatch):
    path, model = save_small_model(pairs=TOO_FEW, name="ConditionalLogit")
    batch = make_batch(model, 1)
    assert model.scorers[1] is None and model.shared.weights.any()
    result = weights_from_prior(path, batch)
    assert (result == np.tile(model.shared.weights, 2)).all()
    assert (result != weights_from_prior(path, make_batch(model, 0))).any()
    assert batch.scores(result) == pytest.approx(model.shared.scores(batch))
    short = replace(model, shared=SharedScorer(model.shared.weights[:-1]))
    monkeypatch.setattr(prior_weights, "load_model", lambda prior: short)
    with pytest.raises(UserError, match=r"D750.*its scorer for 'desert/dessert' is not one weight a column"):
        weights_from_prior("other", batch)


def test_prior_of_a_full_matrix(save_small_model):
    path, model = save_small_model(C=1.0, full_matrix=True)
    with pytest.raises(UserError, match="D750"):
        weights_from_prior(path, make_batch(model, 0))


def test_other_candidates_and_unnamed_columns_are_refused(saved_model, small_table):
    with pytest.raises(UserError, match=r"D750.*maybe"):
        train_small_model(small_table, pairs=("maybe/may be",), prior=saved_model)
    with pytest.raises(UserError, match="D750"):
        VarianceSVM(variance=(), prior=saved_model).fit(blocks(5))
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
    ("learner", "code"),
    [
        (KSVM(C=0.0), "D700"),
        (OneVersusAll(C=-1.0), "D700"),
        (KSVM(C="a"), "D700"),
        (OneVersusAll(C=True), "D700"),
        (KSVM(C=1e300), "D700"),
        (KSVM(sum=("7-gram",)), "D451"),
        (KSVM(sum="3-gram"), "D710"),
        (SumLM(patterns=("7-gram",)), "D451"),
    ],
)
def test_invalid_settings_of_other_learners(learner, code):
    with pytest.raises(UserError, match=code):
        learner.fit(blocks(5))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("learner", [KSVM(), VarianceSVM(), VarianceSVM(variance=("3-gram",))])
def test_attributes_that_are_not_numbers(learner, bad):
    spoilt = blocks(10)
    spoilt.values[4, 1, 2] = bad
    for examples, dev in ((spoilt, None), (blocks(10), spoilt)):
        with pytest.raises(
            UserError, match=r"D703.* 1 are NaN or infinite, the first in example 4, attribute 2"
        ):
            learner.fit(examples, dev=dev)
    with pytest.raises(UserError, match="D703"):
        KSVM().fit(convert(spoilt, CrossedRows))


@pytest.mark.parametrize("learner", [VarianceSVM(), OneVersusAll()])
def test_no_examples(learner):
    with pytest.raises(UserError, match="D705"):
        learner.fit(blocks(5).take(np.array([], np.int64)))


def test_repeatable_with_development_data():
    train, dev = blocks(40, seed=5), blocks(40, seed=6)
    learner = VarianceSVM(variance=("2-gram",))
    first, second = (learner.fit(train, dev=dev, rng=np.random.default_rng(i)) for i in range(2))
    assert np.array_equal(first.scorer.weights, second.scorer.weights)
    assert first.report == second.report
