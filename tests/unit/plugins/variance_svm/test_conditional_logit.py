"""Conditional logit against scikit-learn and its own gradient; shared weights of groups."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.learners import ConditionalLogit, SharedScorer, attributes
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info

from disambig.data import Columns, DenseBlocks, SparseRows, convert, numbered
from disambig.errors import UserError
from disambig.testing import blocks, lists


def problem(n, k, truth, seed=0, own=0.0):
    """Draw choices from a conditional logit with shared weights `truth`, and own ones of spread `own`."""
    rng = np.random.default_rng(seed)
    a = len(truth)
    values = rng.normal(size=(n, k, a)).astype(np.float32)
    weights = truth + own * np.random.default_rng(99).normal(size=(k, a))
    utilities = np.einsum("nka,ka->nk", values, weights) + rng.gumbel(size=(n, k))
    columns = Columns(
        np.repeat(np.arange(k, dtype=np.int32), a), np.zeros(k * a, np.int32), ("all",), [""] * (k * a)
    )
    costs = (np.arange(k) != utilities.argmax(axis=1)[:, None]).astype(np.float32)
    return DenseBlocks(values, np.arange(k * a).reshape(k, a), columns, costs)


def test_two_candidates_are_logistic_regression_on_differences():
    from sklearn.linear_model import LogisticRegression

    batch = problem(300, 2, np.array([1.0, -0.5, 0.2]))
    shared = ConditionalLogit(shared_strength=4.0).fit_shared([batch]).weights
    differences = batch.values[:, 0] - batch.values[:, 1]
    reference = LogisticRegression(C=1 / 4.0, fit_intercept=False, tol=1e-8).fit(
        differences, batch.costs[:, 0] == 0
    )
    assert shared == pytest.approx(reference.coef_[0], abs=2e-3)


def test_weights_of_drawn_choices():
    truth = np.array([1.0, -0.5, 0.2])
    batches = [problem(4000, k, truth, seed=k) for k in (2, 3, 5)]
    assert ConditionalLogit().fit_shared(batches).weights == pytest.approx(truth, abs=0.1)


def test_a_strong_ridge_gives_shared_weights_and_a_weak_one_own_weights():
    batch = problem(4000, 3, np.array([1.0, -0.5]), own=1.0)
    strong = ConditionalLogit(strength=1e7).fit(batch).scorer.weights.reshape(3, 2)
    weak = ConditionalLogit(strength=1e-3).fit(batch).scorer.weights.reshape(3, 2)
    assert np.ptp(strong, axis=0) == pytest.approx([0, 0], abs=1e-2)
    true = np.array([1.0, -0.5]) + np.random.default_rng(99).normal(size=(3, 2))
    assert weak == pytest.approx(true, abs=0.3)


def test_development_data_choose_the_strength():
    alike = ConditionalLogit().fit(
        problem(500, 3, np.array([1.0, 0.5])), dev=problem(500, 3, np.array([1.0, 0.5]), 1)
    )
    apart = ConditionalLogit().fit(
        problem(2000, 3, np.array([1.0, 0.5]), own=2.0),
        dev=problem(2000, 3, np.array([1.0, 0.5]), 1, own=2.0),
    )
    assert apart.report["strength"] < alike.report["strength"]
    assert (
        min(apart.report["dev_log_loss"].values())
        == apart.report["dev_log_loss"][f"{apart.report['strength']:g}"]
    )


def test_few_examples_stay_near_the_shared_weights():
    shared = SharedScorer(np.array([2.0, -1.0]))
    batch = problem(3, 4, np.array([0.0, 0.0]))
    weights = (
        ConditionalLogit(shared_strength=1000.0).with_prior(shared).fit(batch).scorer.weights.reshape(4, 2)
    )
    assert weights == pytest.approx(np.tile(shared.weights, (4, 1)), abs=0.05)
    assert shared.scores(batch) == pytest.approx((batch.values @ shared.weights).ravel())


def test_batches_that_cannot_share_weights_are_refused():
    assert attributes(lists()).tolist() == list(range(8))  # of no candidate: shared by all
    with pytest.raises(ValueError, match="not 7"):
        SharedScorer(np.zeros(7)).scores(blocks())
    with pytest.raises(ValueError, match="2 shared weights for 5 attributes"):
        ConditionalLogit(prior=SharedScorer(np.zeros(2))).fit(blocks())


@pytest.mark.parametrize("name", ["strength", "shared_strength"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), "a", True, np.array([1.0, 2.0])])
def test_invalid_strengths(name, value):
    with pytest.raises(UserError, match=rf"D760.*ConditionalLogit\.{name}"):
        ConditionalLogit(**{name: value})


NOTHING = np.array([], np.int64)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_attributes_that_are_not_numbers(bad):
    good, spoilt = blocks(10), blocks(10, seed=1)
    spoilt.values[4, 1, 2] = bad
    rows = convert(spoilt, SparseRows)
    for call in (
        lambda: ConditionalLogit().fit(spoilt),
        lambda: ConditionalLogit().fit(good, dev=spoilt),
        lambda: ConditionalLogit(strength=1.0).fit(good, dev=spoilt),
        lambda: ConditionalLogit().fit_shared([good, spoilt]),
    ):
        with pytest.raises(UserError, match=r"D703.*example 4, attribute 2"):
            call()
    with pytest.raises(UserError, match=r"D703.*example 4"):
        ConditionalLogit().fit(rows)


def test_no_examples():
    for call in (
        lambda: ConditionalLogit().fit(blocks(5).take(NOTHING)),
        lambda: ConditionalLogit().fit_shared([blocks(5).take(NOTHING)] * 2),
        lambda: ConditionalLogit().fit_shared([]),
    ):
        with pytest.raises(UserError, match="D705"):
            call()


def test_a_group_without_examples_does_not_change_shared_weights():
    batch, learner = blocks(20), ConditionalLogit()
    alone = learner.fit_shared([batch]).weights
    assert (learner.fit_shared([blocks(5).take(NOTHING), batch]).weights == alone).all()
    assert alone.any()


def test_warning_for_huge_attributes():
    batch = blocks(20)
    batch.values[:2, 0, 0] = 3e38
    with pytest.warns(UserWarning, match="conditional logit stopped after 0 steps"):
        ConditionalLogit().fit(batch)
    with pytest.warns(UserWarning, match="conditional logit stopped after 0 steps"):
        ConditionalLogit().fit_shared([batch])


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
