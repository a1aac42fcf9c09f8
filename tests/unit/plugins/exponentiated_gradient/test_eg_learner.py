"""The learner by exponentiated gradient: on lists, and by parts on chains and charts."""

from __future__ import annotations

from itertools import pairwise, product

import cvxpy
import numpy as np
import pytest
from disambig_exponentiated_gradient.learners import (
    EG,
    ChainDual,
    ChartDual,
    ListDual,
    PackedDual,
    PairwiseCharts,
    PairwiseLists,
    ReducedLists,
)
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array

from disambig.api.batches import PartRows
from disambig.api.decoding import ChartParser, Hypergraph
from disambig.data import Columns, SequenceRows, SparseRows, convert
from disambig.decode import BinaryGrammar, Chain, WordScores, path_edges
from disambig.errors import UserError
from disambig.testing import blocks, chains, crossed, crossed_lists, dense_lists, lists

LOSSES = ("hinge", "cost", "log")
LOSSES_AND_UPDATES = [*product(LOSSES, ("online", "batch")), ("hinge", "pairwise"), ("cost", "pairwise")]


def sparse_rows(rows, sizes, cost):
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
    return sparse_rows(rows, sizes, cost)


def compute_primal(batch, weights, C, loss):
    """Return the objective, by its definition."""
    scores, total = batch.rows @ weights, 0.0
    for first, last in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        cost, list_scores = batch.cost[first:last].astype(float), scores[first:last]
        margins = list_scores[cost.argmin()] - list_scores
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
        cost, list_rows = batch.cost[first:last].astype(float), rows[first:last]
        behind = (list_rows - list_rows[cost.argmin()]) @ weights
        if loss == "log":
            terms.append(cvxpy.log_sum_exp(behind))
        else:
            terms.append(cvxpy.max(behind + (cost if loss == "cost" else np.sign(cost))))
    objective = C * cvxpy.sum(cvxpy.hstack(terms)) + 0.5 * cvxpy.sum_squares(weights)
    problem = cvxpy.Problem(cvxpy.Minimize(objective))
    problem.solve(solver="CLARABEL")
    return float(problem.value), np.asarray(weights.value)


def make_dual(batch, C=1.0, loss="hinge", **settings):
    return ListDual(ReducedLists.from_batch(batch), loss, C, **settings)


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
    batch = sparse_rows(np.concatenate([[0.0], -np.array(margins)])[:, None], [6], [0.0, *costs])
    dual = make_dual(batch, loss=loss)
    dual.weights[:] = 1.0
    dual.theta = np.array([0.0, *[-1e6] * 5])  # all of alpha on gold: the gap is the loss
    assert dual.gap() == pytest.approx(expected, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(LOSSES_AND_UPDATES), st.sampled_from([0.01, 0.3, 10.0]))
def test_alpha_stays_on_the_simplex_and_the_dual_never_falls(seed, loss_and_updates, C):
    loss, updates = loss_and_updates
    batch = random_batch(seed, whole=seed % 2 == 0)
    pairs = updates == "pairwise"
    dual = PairwiseLists(ReducedLists.from_batch(batch), loss, C) if pairs else make_dual(batch, C, loss)
    gold = batch.cost == 0
    order = np.random.default_rng(seed)
    for epoch in range(12):
        before = dual.dual
        if updates == "batch":
            dual.batch_step()
        else:
            dual.epoch(order.permutation(len(dual)))
        alpha = dual.mass if pairs else np.exp(dual.theta)
        assert (alpha >= 0).all()
        np.testing.assert_allclose(np.add.reduceat(alpha, batch.offsets[:-1]), 1.0, atol=1e-12)
        assert dual.dual >= before - (0.0 if pairs else 1e-9 * abs(before))
        np.testing.assert_allclose(dual.weights, C * batch.adjoint(gold - alpha), atol=1e-9 * max(C, 1.0))
        assert dual.dual + dual.gap() == pytest.approx(compute_primal(batch, dual.weights, C, loss), rel=1e-9)
        if pairs and epoch == 3:
            dual.at(C := 2 * C)


@pytest.mark.parametrize(("loss", "updates"), LOSSES_AND_UPDATES)
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 10.0])
def test_it_finds_the_optimum(loss, C, updates):
    gap, n = (1e-4, 4) if updates == "batch" else (1e-5, 8)  # all at once takes many times as many epochs
    for seed in range(2):
        batch = random_batch(seed, n=n, whole=seed != 1)
        least, weights = optimum(batch, C, loss)
        learned = EG(C=C, loss=loss, updates=updates, gap=gap, epochs=20_000).fit(batch)
        assert learned.report["gap"] <= gap
        learned_weights = learned.scorer.state()["weights"]
        assert compute_primal(batch, learned_weights, C, loss) == pytest.approx(least, rel=2 * gap)
        # 1/2 |w - w*|^2 <= primal - optimum, for the objective is strongly convex
        assert 0.5 * np.sum((learned_weights - weights) ** 2) <= 2 * gap * least + 1e-6


def test_lists_take_pairwise_steps_unless_the_loss_is_the_log_loss():
    batch = random_batch(5, n=60, columns=20)
    settings = {"C": 1.0, "loss": "hinge", "gap": 1e-4, "epochs": 500}
    learners = (EG(updates=updates, **settings) for updates in ("online", "pairwise", None))
    online, pairwise, default = (learner.fit(batch).report for learner in learners)
    assert default["path"]["dual"] == pairwise["path"]["dual"]
    assert 2 * pairwise["epochs"] < online["epochs"]
    with pytest.raises(UserError, match="D616"):
        EG(loss="log", updates="pairwise").fit(batch)


def test_shared_features_are_omitted():
    rng = np.random.default_rng(0)
    common = rng.integers(1, 4, (6, 30)).repeat(5, axis=0)
    batch = sparse_rows(common + (rng.random((30, 30)) < 0.1), np.full(6, 5), np.tile([0, 1, 2, 1, 3], 6))
    assert len(ReducedLists.from_batch(batch).values) < batch.rows.nnz / 4


@pytest.mark.parametrize("make", [blocks, crossed, crossed_lists, dense_lists, lists])
@pytest.mark.parametrize("loss", LOSSES)
def test_storages_are_read_as_what_they_are_written_out(make, loss):
    batch = make(20)
    learner = EG(C=0.3, loss=loss, epochs=3, gap=1e-9)
    weights = learner.fit(batch).scorer.state()["weights"]
    written = learner.fit(convert(batch, SparseRows)).scorer.state()["weights"]
    np.testing.assert_allclose(weights, written, rtol=1e-6, atol=1e-9)
    assert np.abs(weights).max() > 0.01


def test_lists_with_candidates_that_are_no_rivals():
    batch = sparse_rows([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [3], [0, 0, 1])
    weights = EG(C=10.0, gap=1e-8, epochs=1000).fit(batch).scorer.state()["weights"]
    np.testing.assert_allclose(weights, [0.0, 1.0], atol=1e-3)  # the second column tells gold from its rival
    batch = sparse_rows([[5.0], [7.0], [1.0], [0.0]], [1, 1, 2], [0, 3, 0, 1])
    weights = EG(C=10.0, gap=1e-8, epochs=1000).fit(batch).scorer.state()["weights"]
    np.testing.assert_allclose(weights, [1.0], atol=1e-3)
    batch = sparse_rows([[0, 1, 0], [1, 0, 1], [1, 1, 0], [0, 2, 0], [3, 0, 0]], [3, 2], [2, 1, 3, 0, 1])
    fitted = EG(C=10.0, gap=1e-6, epochs=500).fit(batch)
    assert fitted.report["gold_missing"] == 1
    scores = fitted.scorer.scores(batch)
    assert scores[:3].argmax() == 1
    assert scores[3:].argmax() == 0
    batch = sparse_rows([[1.0], [5.0], [0.0]], [3], [0.0, 0.0, 2.0])
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


def test_bad_examples_are_refused():
    for rows, cost, code in (
        ([[np.nan], [1.0]], [0, 1], "D703"),
        ([[np.inf], [1.0]], [0, 1], "D703"),
        ([[0.0], [1.0]], [0, np.nan], "D610"),
        ([[0.0], [1.0]], [0, np.inf], "D610"),
    ):
        with pytest.raises(UserError, match=code):
            EG().fit(sparse_rows(rows, [2], cost))
    with pytest.raises(UserError, match="D705"):
        EG().fit(sparse_rows(np.zeros((0, 2)), [], []))


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


def small_chains(seed=0, *, labels=3, sizes=(1, 4, 2, 3, 4), words=5):
    """Return short sequences of random features and labels."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    costs = np.ones((n, labels), np.float32)
    costs[np.arange(n), rng.integers(0, labels, n)] = 0.0
    rows = csr_array(rng.integers(0, 3, (n, words)) * (rng.random((n, words)) < 0.6))
    return SequenceRows(rows.astype(np.float64), costs, np.repeat(np.arange(len(sizes)), sizes))


def labellings_written_out(batch):
    """Return a list of all labellings for each sequence."""
    edges, k, starts = batch.edges(), batch.costs.shape[1], batch.layout
    rows, cost, sizes = [], [], []
    for i, (first, last) in enumerate(pairwise(starts)):
        for labels in product(range(k), repeat=int(last - first)):
            path_rows = edges.offsets[i] + path_edges(np.array(labels), k)
            rows.append(edges.rows[path_rows].sum(axis=0))
            cost.append(edges.cost[path_rows].sum())
        sizes.append(k ** int(last - first))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return SparseRows(csr_array(np.array(rows)), offsets, np.array(cost, np.float32), batch.columns)


def check_same_weights(packed, explicit, steps):
    """Take steps with both, online with a number of steps per visit or as a batch (0), and compare them."""
    for dual in (explicit, packed):  # each would begin with units of its own
        dual.restart(kappa=2.0, eta=0.3)
    orders = np.random.default_rng(0)
    for _ in range(6 if steps <= 1 else 2):  # later some alphas are 0 or 1 but for rounding
        assert packed.dual == pytest.approx(explicit.dual, rel=1e-9)
        assert packed.gap() == pytest.approx(explicit.gap(), rel=1e-7)
        np.testing.assert_allclose(packed.weights, explicit.weights, atol=1e-9)
        before = packed.dual
        order = orders.permutation(len(packed))
        for dual in (explicit, packed):
            if steps:
                dual.epoch(order)
            else:
                dual.batch_step()
        assert packed.dual >= before - 1e-9 * abs(before)
    assert np.abs(packed.weights).max() > 0.05


@pytest.mark.parametrize("storage", ["sequences", "edges", "written edges", "charts", "packed charts"])
@pytest.mark.parametrize("loss", ["cost", "log"])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_packed_makes_the_weights_of_all_that_it_packs(storage, loss, C, steps):
    of_charts = "charts" in storage
    batch = small_charts() if of_charts else small_chains()
    listed = derivations_written_out(batch) if of_charts else labellings_written_out(batch)
    packed = {
        "sequences": lambda: ChainDual(batch, loss, C, steps=steps),
        "edges": lambda: PackedDual(batch, Chain(), loss, C, steps=steps),
        "written edges": lambda: PackedDual(batch.edges(), Chain(3), loss, C, steps=steps),
        "charts": lambda: ChartDual(batch, loss, C, steps=steps),
        "packed charts": lambda: PackedDual(batch, Hypergraph(), loss, C, steps=steps),
    }[storage]()
    explicit = ListDual(ReducedLists.from_batch(listed), loss, C, steps=steps, floor=np.inf)
    check_same_weights(packed, explicit, steps)


def test_a_tagger_learns_and_is_saved():
    batch = chains(30)
    for loss in ("cost", "log"):
        learner = EG(C=3.0, loss=loss, decoder=Chain(), epochs=30)
        fitted = learner.fit(batch, dev=chains(10, seed=1))
        best = fitted.scorer.scores(batch).reshape(batch.costs.shape).argmax(axis=1)
        assert (best == batch.costs.argmin(axis=1)).mean() > 0.95
        again = learner.from_state(fitted.scorer.state())
        np.testing.assert_array_equal(again.scores(batch), fitted.scorer.scores(batch))
        assert len(fitted.report["path"]["dev_cost"]) == fitted.report["epochs"]


def test_chains_of_odd_costs_and_numbers():
    chain = small_chains()
    chain.costs[0] = [3.0, 1.0, 2.0]
    fitted = EG(C=1.0, decoder=Chain()).fit(chain)
    assert fitted.report["gold_missing"] == 1
    assert fitted.scorer.scores(chain)[:3].argmax() == 1
    with pytest.raises(UserError, match="D611"):
        EG(loss="hinge", decoder=Chain())
    chain = small_chains()
    chain.rows.data[0] = np.nan
    with pytest.raises(UserError, match="D703"):
        EG(decoder=Chain()).fit(chain)


SYMBOLS = ("S", "A", "B")
GRAMMAR = BinaryGrammar(
    symbols=SYMBOLS,
    root=0,
    binary=np.array([[0, 1, 1], [0, 1, 2], [0, 2, 1], [1, 1, 2], [1, 2, 1], [2, 1, 1]], np.int32),
    binary_scores=np.zeros(6),
    unary=np.array([[0, 1], [1, 2], [0, 2]], np.int32),
    unary_scores=np.zeros(3),
)


def small_charts(seed=0, *, sizes=(1, 3, 2, 4), columns=7):
    """Return charts of short sentences with a gold derivation, and features of parts that edges share."""
    rng = np.random.default_rng(seed)
    symbols = [np.tile([1, 2], n).astype(np.int32) for n in sizes]
    words = [WordScores(len(s) // 2, np.arange(len(s)) // 2, s, np.zeros(len(s))) for s in symbols]
    charts = ChartParser(GRAMMAR).charts(words)
    n, n_parts = len(charts.edges), 25
    rows = csr_array(rng.integers(-1, 3, (n_parts, columns)) * (rng.random((n_parts, columns)) < 0.4))
    gold = Hypergraph().best(rng.normal(size=n), charts.graphs)
    parts = rng.integers(-1, n_parts, (n, 2)).astype(np.int32)
    named = Columns(np.full(columns, -1, np.int32), np.zeros(columns, np.int32), ("all",))
    cost = (gold == 0).astype(np.float32)
    return PartRows(rows.astype(np.float64), parts, charts.graphs, cost, named)


def derivations_written_out(batch):
    """Return a list of all derivations for each chart."""
    rows, cost, sizes = [], [], []
    features = batch.rows().toarray()
    for _, derivations in Hypergraph().top(np.zeros(len(batch.cost)), batch.layout, 10_000):
        assert 1 < len(derivations) < 10_000
        sizes.append(len(derivations))
        for derivation in derivations:
            rows.append(features[derivation].sum(axis=0))
            cost.append(batch.cost[derivation].sum())
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return SparseRows(csr_array(np.array(rows)), offsets, np.array(cost, np.float32), batch.columns)


@pytest.mark.parametrize("loss", ["cost", "log"])
@pytest.mark.parametrize("updates", ["online", "batch", None])
def test_the_dual_never_falls_and_the_gap_closes(loss, updates):
    learner = EG(C=0.5, loss=loss, updates=updates, decoder=Hypergraph(), epochs=300, gap=0.02)
    report = learner.fit(small_charts(1)).report
    path = report["path"]
    assert (np.diff(path["dual"]) >= -1e-9 * np.abs(path["dual"][:-1])).all()
    assert report["gap"] <= 0.02 < path["gap"][0]
    assert all(dual <= primal for dual, primal in zip(path["dual"], path["primal"], strict=True))


def test_values_that_single_precision_rounds_are_kept():
    charts = small_charts(4)
    charts.features.data[:] *= 1.0 / 3.0
    packed, slow = ChartDual(charts, "cost", 1.0), PackedDual(charts, Hypergraph(), "cost", 1.0)
    for dual in (packed, slow):
        dual.restart(kappa=1.0, eta=0.3)
        dual.epoch(np.arange(len(dual)))
    np.testing.assert_allclose(packed.weights, slow.weights, atol=1e-12)


def test_charts_of_odd_costs_and_numbers():
    charts = small_charts(5)
    charts.cost[charts.offsets[1] : charts.offsets[2]] += 1.0
    fitted = EG(C=1.0, decoder=Hypergraph(), epochs=3).fit(charts)
    assert fitted.report["gold_missing"] == 1
    charts = small_charts()
    charts.features.data[0] = np.inf
    with pytest.raises(UserError, match="D703"):
        EG(decoder=Hypergraph()).fit(charts)
    charts = small_charts()
    charts.cost[0] = np.nan
    with pytest.raises(UserError, match="D610"):
        EG(decoder=Hypergraph()).fit(charts)


def test_pairwise_steps_keep_the_marginals_and_the_dual_right():
    charts, C = small_charts(6), 0.7
    dual = PairwiseCharts(charts, C)
    rng = np.random.default_rng(0)
    for epoch in range(5):
        before = dual.dual
        dual.epoch(rng.permutation(len(dual)))
        assert dual.dual >= before
        graphs = charts.layout
        for i in range(len(dual)):
            rows = slice(graphs.offsets[i], graphs.offsets[i + 1])
            heads, tails, mass = graphs.heads[rows], graphs.tails[rows], dual.mass[rows]
            size = int(graphs.nodes[i + 1] - graphs.nodes[i])
            into = np.bincount(heads, mass, size)
            out = sum(np.bincount(side[side >= 0], mass[side >= 0], size) for side in tails.T)
            out[-1] += 1.0  # the root
            np.testing.assert_allclose(into, out, atol=1e-9)
            assert (mass >= 0).all()
        gold = Hypergraph().best(np.where(charts.cost > 0, -np.inf, 0.0), graphs)
        moved = (gold - dual.mass) @ charts.rows().toarray()
        np.testing.assert_allclose(dual.weights, C * moved, atol=1e-9)
        value = C * dual.cost @ dual.mass - 0.5 * dual.weights @ dual.weights
        assert dual.dual == pytest.approx(value, rel=1e-9)
        if epoch == 2:  # another C starts from the same marginals
            mass = dual.mass.copy()
            dual.at(C := 2.0)
            np.testing.assert_array_equal(dual.mass, mass)


@pytest.mark.parametrize("C", [0.05, 0.5, 2.0])
def test_pairwise_steps_reach_the_optimum_of_a_general_solver(C):
    charts = small_charts(7)
    least, _ = optimum(derivations_written_out(charts), C, "cost")
    report = EG(C=C, decoder=Hypergraph(), updates="pairwise", epochs=500, gap=1e-4).fit(charts).report
    assert report["gap"] <= 1e-4
    assert min(report["path"]["primal"]) == pytest.approx(least, rel=2e-4)
    assert report["path"]["dual"][-1] == pytest.approx(least, rel=2e-4)


@pytest.mark.parametrize("settings", [{"loss": "log"}, {"decoder": Chain()}])
def test_pairwise_steps_are_for_quadratic_duals_of_lists_and_charts(settings):
    with pytest.raises(UserError, match="D616"):
        EG(**{"decoder": Hypergraph(), "updates": "pairwise", **settings}).fit(small_charts())
