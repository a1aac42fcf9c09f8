"""OvA-SVM, K-SVM and K-SVM+ keep the contract and are the problems that they are said to be."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.learners import (
    CRAMMER_SINGER,
    KSVM,
    MOST_PASSES,
    ONE_VERSUS_ALL,
    OneVersusAll,
    counts_passes,
    dev_accuracy,
    with_sum,
)

from disambig.data import CrossedRows, DenseBlocks, convert
from disambig.errors import UserError
from disambig.testing import blocks, chains, check_learner

LEARNERS = {
    "one-versus-all": check_learner(OneVersusAll(C=0.1), least=0.9),
    "k": check_learner(KSVM(C=0.1), least=0.9),
    "k-plus": check_learner(KSVM(C=0.1, sum=("3-gram", "4-gram")), least=0.9),
}


@pytest.mark.parametrize(
    "check",
    [pytest.param(check, id=f"{name}-{check}") for name, checks in LEARNERS.items() for check in checks],
)
def test_contract(check):
    check()


def objective(weights, batch, C):
    scores = batch.scores(weights).reshape(batch.costs.shape)
    right = batch.costs.argmin(axis=1)
    of_right = scores[np.arange(len(right)), right]
    others = np.where(batch.costs > 0, scores + 1, -np.inf).max(axis=1)
    return 0.5 * weights @ weights + C * np.maximum(others - of_right, 0).sum()


def test_the_k_svm_minimises_crammer_and_singers_objective():
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
def test_a_class_without_examples_changes_nothing_for_the_others(learner):
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


def test_passes_of_crammer_and_singer_are_not_bounded_by_what_is_asked():
    """It goes on until it has converged, or to LIBLINEAR's own bound, and which of them is reported."""
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


def test_bad_settings_and_attributes_are_named():
    batch = blocks(5)
    values = batch.values.copy()
    values[2, 1, 3] = np.nan
    spoilt = DenseBlocks(values, batch.column_of, batch.columns, batch.costs)
    for learner, examples, code in (
        (KSVM(C=0.0), batch, "D700"),
        (OneVersusAll(C=-1.0), batch, "D700"),
        (KSVM(C="a"), batch, "D700"),
        (OneVersusAll(C=True), batch, "D700"),
        (KSVM(C=1e300), batch, "D700"),
        (KSVM(sum=("7-gram",)), batch, "D451"),
        (KSVM(sum="3-gram"), batch, "D710"),
        (KSVM(), convert(spoilt, CrossedRows), "D703"),
        (KSVM(), spoilt, "D703"),
        (OneVersusAll(), batch.take(np.array([], np.int64)), "D705"),
    ):
        with pytest.raises(UserError) as caught:
            learner.fit(examples)
        assert caught.value.code == code
    with pytest.raises(UserError, match="D459"):
        OneVersusAll().fit(chains())


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
def test_stopping_criteria_that_make_no_sense_are_named(learner, settings, code):
    with pytest.raises(UserError, match=rf"{learner.__name__}\.{next(iter(settings))} is") as caught:
        learner(**settings).fit(blocks(5))
    assert caught.value.code == code


@pytest.mark.parametrize("learner", [OneVersusAll(), KSVM(), KSVM(sum=("3-gram",)), KSVM(C=2.0)])
@pytest.mark.parametrize("dev", [None, blocks(10, labels=1, seed=1)], ids=["alone", "with-dev"])
def test_a_single_candidate_needs_no_weights(learner, dev):
    batch = blocks(10, labels=1)
    fitted = learner.fit(batch, dev=dev)
    assert (fitted.scorer.scores(batch) == 0).all()
    assert fitted.report["converged"] is True


def test_development_attributes_that_are_no_numbers_are_named():
    dev = blocks(10, seed=1)
    dev.values[4, 1, 2] = np.nan
    with pytest.raises(UserError, match=r"D703.*example 4, attribute 2"):
        KSVM().fit(blocks(10), dev=dev)
