"""Exponentiated gradient by parts: on chains and charts, its weights equal those for listed structures."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from disambig_exponentiated_gradient.learners import (
    EG,
    ChainDual,
    ChartDual,
    ListDual,
    PackedDual,
    PairwiseCharts,
    ReducedLists,
)
from scipy.sparse import csr_array

from disambig.api import Columns
from disambig.api.batches import PartRows
from disambig.api.decoding import ChartParser, Hypergraph
from disambig.data import SequenceRows, SparseRows
from disambig.decode import BinaryGrammar, Chain, WordScores, path_edges
from disambig.errors import UserError
from disambig.testing import chains


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
            own = edges.offsets[i] + path_edges(np.array(labels), k)
            rows.append(edges.rows[own].sum(axis=0))
            cost.append(edges.cost[own].sum())
        sizes.append(k ** int(last - first))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return SparseRows(csr_array(np.array(rows)), offsets, np.array(cost, np.float32), batch.columns)


def test_terms_of_chains_add_up_to_the_edges():
    edges = small_chains().as_chains()
    weights = np.random.default_rng(1).normal(size=len(edges.columns))
    np.testing.assert_allclose(edges.of_terms(edges.terms(weights)), edges.scores(weights), atol=1e-12)
    np.testing.assert_allclose(edges.of_terms(edges.cost_terms), edges.cost)


@pytest.mark.parametrize("make", [lambda: small_chains().as_chains(), lambda: small_chains().edges()])
def test_narrowed_batches_say_the_same(make):
    batch = make().take(np.array([2, 0]))
    narrow, columns = batch.narrowed()
    weights = np.random.default_rng(1).normal(size=len(batch.columns))
    assert len(np.unique(columns)) == len(columns) == len(narrow.columns)
    np.testing.assert_allclose(narrow.scores(weights[columns]), batch.scores(weights), atol=1e-12)
    mass = np.random.default_rng(2).random(len(batch.cost))
    whole = np.zeros(len(weights))
    whole[columns] = narrow.adjoint(mass)
    np.testing.assert_allclose(whole, batch.adjoint(mass), atol=1e-12)


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
    if "charts" in storage:
        batch = small_charts()
        listed = derivations_written_out(batch)
    else:
        batch = small_chains()
        listed = labellings_written_out(batch)
    if storage == "sequences":
        packed = ChainDual(batch, loss, C, steps=steps)
    elif storage == "edges":
        packed = PackedDual(batch, Chain(), loss, C, steps=steps)
    elif storage == "written edges":
        packed = PackedDual(batch.edges(), Chain(3), loss, C, steps=steps)
    elif storage == "charts":
        packed = ChartDual(batch, loss, C, steps=steps)
    else:
        packed = PackedDual(batch, Hypergraph(), loss, C, steps=steps)
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


@pytest.mark.parametrize("of", ["labellings", "derivations"])
def test_it_comes_to_the_optimum_of_all_that_it_packs(of):
    if of == "labellings":
        batch, decoder = small_chains(3), Chain()
        written = labellings_written_out(batch)
    else:
        batch, decoder = small_charts(3), Hypergraph()
        written = derivations_written_out(batch)
    wanted = EG(C=0.5, gap=1e-5, epochs=3000).fit(written).scorer.weights
    packed = EG(C=0.5, gap=1e-4, epochs=3000, decoder=decoder).fit(batch)
    assert packed.report["gap"] <= 1e-4
    weights = packed.scorer.weights
    weights = weights() if of == "labellings" else weights
    assert np.linalg.norm(weights - wanted) <= 0.03 * np.linalg.norm(wanted)


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
    words = [
        WordScores(n, np.repeat(np.arange(n), 2), np.tile([1, 2], n).astype(np.int32), np.zeros(2 * n))
        for n in sizes
    ]
    charts = ChartParser(GRAMMAR).charts(words)
    n = len(charts.edges)
    n_parts = 25
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
        for own in derivations:
            rows.append(features[own].sum(axis=0))
            cost.append(batch.cost[own].sum())
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


def test_pairwise_steps_need_fewer_passes_than_exponentiated_ones():
    online, pairwise = (
        EG(C=0.5, decoder=Hypergraph(), updates=updates, epochs=300, gap=1e-3).fit(small_charts(3)).report
        for updates in ("online", "pairwise")
    )
    assert pairwise["epochs"] <= 10 < online["epochs"]


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
    charts = small_charts(6)
    dual = PairwiseCharts(charts, 0.7)
    rng = np.random.default_rng(0)
    for _ in range(3):
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
        np.testing.assert_allclose(dual.weights, 0.7 * moved, atol=1e-9)
        value = 0.7 * dual.cost @ dual.mass - 0.5 * dual.weights @ dual.weights
        assert dual.dual == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("C", [0.05, 0.5, 2.0])
def test_pairwise_steps_reach_the_optimum_of_a_general_solver(C):
    cvxpy = pytest.importorskip("cvxpy")
    charts = small_charts(7)
    lists = derivations_written_out(charts)
    features = lists.rows.toarray()
    weights, loss = cvxpy.Variable(features.shape[1]), 0.0
    for first, last in zip(lists.offsets[:-1], lists.offsets[1:], strict=True):
        gold = first + int(np.argmin(lists.cost[first:last]))
        margins = (features[gold] - features[first:last]) @ weights
        loss += cvxpy.max(lists.cost[first:last] - margins)
    objective = C * loss + 0.5 * cvxpy.sum_squares(weights)
    least = cvxpy.Problem(cvxpy.Minimize(objective)).solve(cvxpy.CLARABEL)
    report = EG(C=C, decoder=Hypergraph(), updates="pairwise", epochs=500, gap=1e-4).fit(charts).report
    assert report["gap"] <= 1e-4
    assert min(report["path"]["primal"]) == pytest.approx(least, rel=2e-4)
    assert report["path"]["dual"][-1] == pytest.approx(least, rel=2e-4)


def test_another_value_of_C_starts_from_the_same_marginals():
    charts = small_charts(8)
    dual = PairwiseCharts(charts, 0.2)
    dual.epoch(np.arange(len(dual)))
    mass = dual.mass.copy()
    dual.at(1.0)
    np.testing.assert_array_equal(dual.mass, mass)
    value = dual.cost @ mass - 0.5 * dual.weights @ dual.weights
    assert dual.dual == pytest.approx(value, rel=1e-9)
    before = dual.dual
    dual.epoch(np.arange(len(dual)))
    assert dual.dual > before


@pytest.mark.parametrize("settings", [{"loss": "log"}, {"decoder": Chain()}])
def test_pairwise_steps_are_for_quadratic_duals_of_lists_and_charts(settings):
    with pytest.raises(UserError, match="D616"):
        EG(**{"decoder": Hypergraph(), "updates": "pairwise", **settings}).fit(small_charts())
