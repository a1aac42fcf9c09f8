"""The learner by exponentiated gradient on listed candidates: the slides' figures, the optimum, the dual."""

from __future__ import annotations

import cvxpy
import numpy as np
import pytest
from disambig_exponentiated_gradient.learners import EG, ListDual, PairwiseLists, ReducedLists
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array

from disambig.data import Columns, SparseRows, convert
from disambig.errors import UserError
from disambig.testing import blocks, crossed, crossed_lists, dense_lists, lists

LOSSES = ("hinge", "cost", "log")


def batch_of(rows, sizes, cost):
    """Return lists of candidates with the rows of a dense matrix."""
    rows = csr_array(np.asarray(rows, np.float64))
    columns = Columns(np.full(rows.shape[1], -1, np.int32), np.zeros(rows.shape[1], np.int32), ("all",))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return SparseRows(rows, offsets, np.asarray(cost, np.float32), columns)


def random_batch(seed, *, n=8, columns=5, whole=True):
    """Return lists of two to five candidates, one of which has no cost."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, n)
    cost = rng.integers(1, 4, sizes.sum()).astype(float)
    cost[np.cumsum(sizes) - sizes + rng.integers(0, sizes)] = 0.0
    rows = rng.integers(-1, 3, (sizes.sum(), columns)) if whole else rng.normal(size=(sizes.sum(), columns))
    return batch_of(rows, sizes, cost)


def primal_of(batch, weights, C, loss):
    """Return the objective, by its definition."""
    scores, total = batch.rows @ weights, 0.0
    for first, last in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        cost, own = batch.cost[first:last].astype(float), scores[first:last]
        margins = own[cost.argmin()] - own
        if loss == "log":
            total += np.log(np.exp(-margins).sum())
        else:
            total += max(0.0, ((cost if loss == "cost" else np.sign(cost)) - margins).max())
    return C * total + 0.5 * weights @ weights


def optimum(batch, C, loss):
    """Return the minimum of the objective, by cvxpy."""
    rows = batch.rows.toarray()
    weights, terms = cvxpy.Variable(rows.shape[1]), []
    for first, last in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        cost, own = batch.cost[first:last].astype(float), rows[first:last]
        behind = (own - own[cost.argmin()]) @ weights
        if loss == "log":
            terms.append(cvxpy.log_sum_exp(behind))
        else:
            terms.append(cvxpy.max(behind + (cost if loss == "cost" else np.sign(cost))))
    problem = cvxpy.Problem(
        cvxpy.Minimize(C * cvxpy.sum(cvxpy.hstack(terms)) + 0.5 * cvxpy.sum_squares(weights))
    )
    problem.solve(solver="CLARABEL")
    return float(problem.value), np.asarray(weights.value)


def dual_of(batch, C=1.0, loss="hinge", **settings):
    return ListDual(ReducedLists.from_batch(batch), loss, C, **settings)


def test_the_worked_example_of_the_slides():
    """Scores 13.6 (gold), 13.0, 14.8 and 3.3, eta = 1: slides, "updating the dual variables"."""
    from disambig_exponentiated_gradient.learners import moved, normalise, slopes

    scores, loss = np.array([13.6, 13.0, 14.8, 3.3]), np.array([0.0, 1.0, 1.0, 1.0])
    theta, nabla = np.log([0.1, 0.3, 0.5, 0.1]), np.empty(4)
    slopes(loss, scores, 0, theta, False, nabla)
    np.testing.assert_allclose(loss - nabla, [0.0, 0.6, -1.2, 10.3])  # margins
    np.testing.assert_allclose(nabla, [0.0, 0.4, 2.2, -9.3])
    assert [round(float(x), 2) for x in np.exp(nabla[:3])] == [1.0, 1.49, 9.03]
    assert round(float(np.exp(nabla[3])), 5) == 0.00009  # the slides print 0.00001
    then, alpha = np.empty(4), np.empty(4)
    moved(theta, nabla, 1.0, np.inf, then)
    normalise(then, alpha)
    expected = [0.02, 0.088, 0.89, 0.0]
    assert [round(float(x), places) for x, places in zip(alpha, (2, 3, 2, 1), strict=True)] == expected


@pytest.mark.parametrize(
    ("loss", "margins", "costs", "expected"),
    [
        ("hinge", (1.0, 1.5, 10.3, 4.2, 2.5), (1, 1, 1, 1, 1), 0.0),
        ("hinge", (0.6, 1.5, 10.3, 4.2, 2.5), (1, 1, 1, 1, 1), 0.4),
        ("hinge", (0.6, -1.2, 10.3, 4.2, 2.5), (1, 1, 1, 1, 1), 2.2),
        ("cost", (0.6, -1.2, 10.3, 4.2, 2.5), (5.0, 1.0, 2.3, 1.7, 2.5), 4.4),
    ],
)
def test_the_losses_of_the_slides(loss, margins, costs, expected):
    batch = batch_of(np.concatenate([[0.0], -np.array(margins)])[:, None], [6], [0.0, *costs])
    dual = dual_of(batch, loss=loss)
    dual.weights[:] = 1.0
    dual.theta = np.array([0.0, *[-1e6] * 5])  # all of alpha on gold: the gap is the loss
    assert dual.gap() == pytest.approx(expected, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(LOSSES), st.sampled_from([0.01, 0.3, 10.0]), st.booleans())
def test_alpha_stays_on_the_simplex_and_the_dual_never_falls(seed, loss, C, online):
    batch = random_batch(seed, whole=seed % 2 == 0)
    dual = dual_of(batch, C, loss)
    order = np.random.default_rng(seed)
    for _ in range(12):
        before = dual.dual
        if online:
            dual.epoch(order.permutation(len(dual)))
        else:
            dual.batch_step()
        alpha = np.exp(dual.theta)
        assert (alpha >= 0).all()
        np.testing.assert_allclose(np.add.reduceat(alpha, batch.offsets[:-1]), 1.0, atol=1e-12)
        assert dual.dual >= before - 1e-9 * abs(before)
        gold = np.zeros(len(alpha))
        gold[batch.offsets[:-1] + dual.lists.gold] = 1.0
        np.testing.assert_allclose(dual.weights, C * batch.adjoint(gold - alpha), atol=1e-9 * max(C, 1.0))
        assert dual.dual + dual.gap() == pytest.approx(primal_of(batch, dual.weights, C, loss), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(("hinge", "cost")), st.sampled_from([0.01, 0.3, 10.0]))
def test_pairwise_steps_keep_alpha_on_the_simplex_and_the_dual_never_falls(seed, loss, C):
    batch = random_batch(seed, whole=seed % 2 == 0)
    dual = PairwiseLists(ReducedLists.from_batch(batch), loss, C)
    gold = dual.mass.copy()
    order = np.random.default_rng(seed)
    for epoch in range(6):
        before = dual.dual
        dual.epoch(order.permutation(len(dual)))
        assert (dual.mass >= 0).all()
        np.testing.assert_allclose(np.add.reduceat(dual.mass, batch.offsets[:-1]), 1.0, atol=1e-12)
        assert dual.dual >= before
        np.testing.assert_allclose(dual.weights, C * batch.adjoint(gold - dual.mass), atol=1e-9 * max(C, 1.0))
        assert dual.dual + dual.gap() == pytest.approx(primal_of(batch, dual.weights, C, loss), rel=1e-9)
        if epoch == 3:
            dual.at(C := 2 * C)


@pytest.mark.parametrize(
    ("loss", "updates"),
    [
        *((loss, way) for loss in LOSSES for way in ("online", "batch")),
        ("hinge", "pairwise"),
        ("cost", "pairwise"),
    ],
)
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 10.0])
def test_it_finds_the_optimum(loss, C, updates):
    gap, n = (1e-4, 4) if updates == "batch" else (1e-5, 8)  # all at once takes many times as many epochs
    for seed in range(3):
        batch = random_batch(seed, n=n, whole=seed != 1)
        least, weights = optimum(batch, C, loss)
        learned = EG(C=C, loss=loss, updates=updates, gap=gap, epochs=20_000).fit(batch)
        assert learned.report["gap"] <= gap
        found = learned.scorer.state()["weights"]
        assert primal_of(batch, found, C, loss) == pytest.approx(least, rel=2 * gap)
        # 1/2 |w - w*|^2 <= primal - optimum, for the objective is strongly convex
        assert 0.5 * np.sum((found - weights) ** 2) <= 2 * gap * least + 1e-6


def test_lists_take_pairwise_steps_unless_the_loss_is_the_log_loss():
    batch = random_batch(5, n=60, columns=20)
    online, pairwise, default = (
        EG(C=1.0, loss="hinge", updates=updates, gap=1e-4, epochs=500).fit(batch).report
        for updates in ("online", "pairwise", None)
    )
    assert default["path"]["dual"] == pairwise["path"]["dual"]
    assert 2 * pairwise["epochs"] < online["epochs"]
    with pytest.raises(UserError, match="D616"):
        EG(loss="log", updates="pairwise").fit(batch)


def test_a_large_c_gives_the_hard_margin():
    rng = np.random.default_rng(3)
    direction = rng.normal(size=4)
    rows = rng.normal(size=(40, 4))
    sizes = np.full(10, 4)
    scores = (rows @ direction).reshape(10, 4)
    cost = (scores < scores.max(axis=1, keepdims=True)).astype(float).ravel()
    batch = batch_of(rows, sizes, cost)
    weights, limits = cvxpy.Variable(4), []
    for first in range(0, 40, 4):
        gold = first + int(cost[first : first + 4].argmin())
        limits += [(rows[gold] - rows[y]) @ weights >= 1 for y in range(first, first + 4) if y != gold]
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(weights)), limits).solve(solver="CLARABEL")
    away = []
    for C in (0.1, 10.0, 1000.0):
        found = EG(C=C, loss="hinge", gap=1e-4, epochs=20_000).fit(batch).scorer.state()["weights"]
        away.append(float(np.linalg.norm(found - weights.value) / np.linalg.norm(weights.value)))
    assert away[0] > away[1] > 0.9 * away[2]
    assert away[2] < 0.02


def test_only_shared_features_are_omitted():
    rng = np.random.default_rng(0)
    common = rng.integers(1, 4, (6, 30)).repeat(5, axis=0)
    rows = common + (rng.random((30, 30)) < 0.1)
    batch = batch_of(
        np.hstack([rows, rng.integers(0, 2, (30, 4))]), np.full(6, 5), np.tile([0, 1, 2, 1, 3], 6)
    )
    lists_ = ReducedLists.from_batch(batch)
    assert len(lists_.values) < batch.rows.nnz / 4
    for i in range(6):
        own = np.zeros((5, lists_.n_columns))
        first, last = lists_.col_starts[i]
        begins = lists_.ptr[lists_.ptr_starts[i] : lists_.ptr_starts[i] + 6]
        for y in range(5):
            at = slice(lists_.starts[i, 0] + begins[y], lists_.starts[i, 0] + begins[y + 1])
            own[y, lists_.cols[first:last][lists_.local[at]]] = lists_.values[at]
        whole = batch.rows.toarray()[5 * i : 5 * i + 5]
        np.testing.assert_array_equal(own - own[0], whole - whole[0])


@pytest.mark.parametrize("make", [blocks, crossed, crossed_lists, dense_lists, lists])
@pytest.mark.parametrize("loss", LOSSES)
def test_storages_are_read_as_what_they_are_written_out(make, loss):
    batch = make(20)
    learner = EG(C=0.3, loss=loss, epochs=3, gap=1e-9)
    found = learner.fit(batch).scorer.state()["weights"]
    written = learner.fit(convert(batch, SparseRows)).scorer.state()["weights"]
    np.testing.assert_allclose(found, written, rtol=1e-6, atol=1e-9)
    assert np.abs(found).max() > 0.01


def test_lists_with_candidates_that_are_no_rivals():
    batch = batch_of([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [3], [0, 0, 1])
    found = EG(C=10.0, gap=1e-8, epochs=1000).fit(batch).scorer.state()["weights"]
    np.testing.assert_allclose(
        found, [0.0, 1.0], atol=1e-3
    )  # the second column tells gold from its one rival
    batch = batch_of([[5.0], [7.0], [1.0], [0.0]], [1, 1, 2], [0, 3, 0, 1])
    found = EG(C=10.0, gap=1e-8, epochs=1000).fit(batch).scorer.state()["weights"]
    np.testing.assert_allclose(found, [1.0], atol=1e-3)
    batch = batch_of([[0, 1, 0], [1, 0, 1], [1, 1, 0], [0, 2, 0], [3, 0, 0]], [3, 2], [2, 1, 3, 0, 1])
    fitted = EG(C=10.0, gap=1e-6, epochs=500).fit(batch)
    assert fitted.report["gold_missing"] == 1
    scores = fitted.scorer.scores(batch)
    assert scores[:3].argmax() == 1
    assert scores[3:].argmax() == 0
    batch = batch_of([[1.0], [5.0], [0.0]], [3], [0.0, 0.0, 2.0])
    dual = PairwiseLists(ReducedLists.from_batch(batch), "cost", 1.0)
    for _ in range(5):
        dual.epoch(np.arange(1))
    assert dual.mass[1] == 0.0 and dual.gap() == pytest.approx(0.0, abs=1e-12)
    assert dual.weights[0] == pytest.approx(1.0)  # C = 1 bounds it: half of the margin that the cost asks for


def test_c_is_chosen_on_development_data_and_settled_on_folds():
    batch, dev = random_batch(0, n=80, whole=False), random_batch(1, n=40, whole=False)
    fitted = EG().fit(batch, dev=dev)
    costs = fitted.report["dev_cost"]
    assert len(costs) > 1
    assert costs[f"{fitted.report['C']:g}"] == min(costs.values())
    assert len(fitted.report["path"]["dev_cost"]) == fitted.report["epochs"]
    assert EG().with_tuned([{"C": 0.1}, {"C": 1.0}, {"C": 0.3}]).C == 0.3


def test_what_is_reported_is_a_certificate():
    batch = lists(60)
    report = EG(C=0.3, gap=0.005, epochs=200).fit(batch).report
    path = report["path"]
    assert report["gap"] <= 0.005 < path["gap"][-2]
    assert all(after >= before for before, after in zip(path["dual"], path["dual"][1:], strict=False))
    assert min(path["primal"]) >= path["dual"][-1]
    assert len(path["seconds"]) == report["epochs"]


def test_bad_examples_are_refused():
    for rows, cost, code in (
        ([[np.nan], [1.0]], [0, 1], "D703"),
        ([[np.inf], [1.0]], [0, 1], "D703"),
        ([[0.0], [1.0]], [0, np.nan], "D610"),
        ([[0.0], [1.0]], [0, np.inf], "D610"),
    ):
        with pytest.raises(UserError, match=code):
            EG().fit(batch_of(rows, [2], cost))
    with pytest.raises(UserError, match="D705"):
        EG().fit(batch_of(np.zeros((0, 2)), [], []))


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"C": 0}, "D700"),
        ({"loss": "squared"}, "D671"),
        ({"updates": "both"}, "D671"),
        ({"epochs": 0}, "D452"),
        ({"gap": 0.0}, "D760"),
        ({"decoder": "chain"}, "D711"),
        ({"seed": -1}, "D457"),
    ],
)
def test_bad_settings_are_refused(setting, code):
    with pytest.raises(UserError, match=code):
        EG(**setting)
