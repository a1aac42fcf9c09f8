"""The fast solver against the paper's quadratic program, and the systems of the paper against each other."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.learners import VarianceSVM
from disambig_variance_svm.svm import solve
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.testing import blocks

cvxpy = pytest.importorskip("cvxpy")
from disambig_variance_svm.svm import solve_reference  # noqa: E402  (after the skip)

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
def test_every_system_reaches_the_optimum_of_the_quadratic_program(system, n, k, seed, exponent):
    batch, C = blocks(n, labels=k, seed=seed), 10**exponent
    setting = dict(SYSTEMS[system])
    if setting.get("prior"):
        setting["prior"] = np.random.default_rng(seed).normal(size=len(batch.columns))
    problem, regulariser, prior = VarianceSVM(**setting).problem(batch)
    found = solve(problem, regulariser, C, prior=prior)
    best = solve_reference(problem, regulariser, C, prior=prior).objective
    rounding = 1e-9 * C * n + 1e-7  # where the examples can be separated, the optimum may be zero
    assert found.gap <= 1e-3
    assert found.dual - found.primal <= 1e-6 * found.primal + rounding
    assert found.primal <= best + 1.1e-3 * best + rounding
    assert found.dual <= best + 1e-3 * best + rounding


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
    """Counts that point the wrong way but for a constant: only a bias far from zero is right."""
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


def test_sums_that_are_always_right_need_nothing_else():
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
def test_fewer_examples_than_classes_and_one_class_have_an_answer(setting, n):
    batch = blocks(30, labels=4)
    same = np.flatnonzero(batch.costs.argmin(axis=1) == 0)[:n]
    fitted = VarianceSVM(**{"C": 0.1, "variance": ("3-gram",)} | setting).fit(batch.take(same))
    assert np.isfinite(fitted.scorer.weights).all()
    assert fitted.report["gap"] <= 1e-3


BAD = {
    "D700": {"C": 0.0},
    "D700 negative": {"C": -1e-3},
    "D700 infinite": {"C": float("inf")},
    "D701": {"variance": ("3-gram",), "free": ("3-gram",)},
    "D701 subsets": {"variance": (("2-gram", "3-gram"), ("3-gram",))},
    "D702": {"p": {"3-gram": -1.0}},
    "D702 NaN": {"p": {"3-gram": float("nan")}},
    "D702 zero sum": {"p": dict.fromkeys(("2-gram", "3-gram", "4-gram", "5-gram", "bias"), 0.0)},
    "D451": {"p": {"7-gram": 1.0}},
    "D451 sum": {"sum": ("7-gram",)},
    "D704": {"prior": [0.0] * 7},
    "D704 NaN": {"prior": [float("nan")] * 15},
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings_are_named(case):
    with pytest.raises(UserError) as caught:
        VarianceSVM(**BAD[case]).fit(blocks(10))
    assert caught.value.code == case[:4]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_attributes_that_are_no_numbers_are_named(bad):
    batch = blocks(10)
    batch.values[4, 1, 2] = bad
    with pytest.raises(UserError, match=r"D703.*1 are NaN or infinite, the first in example 4, attribute 2"):
        VarianceSVM().fit(batch)


def test_no_examples_are_named():
    with pytest.raises(UserError, match="D705"):
        VarianceSVM().fit(blocks(5).take(np.array([], np.int64)))


@pytest.mark.parametrize("system", sorted(set(SYSTEMS) - {"prior"}))
def test_every_system_is_the_same_bit_for_bit(system):
    fits = [VarianceSVM(C=0.01, **SYSTEMS[system]).fit(blocks(40, seed=5)) for _ in range(2)]
    assert fits[0].scorer.weights.tobytes() == fits[1].scorer.weights.tobytes()
