"""Hypergraphs compared with all derivations: best, k best, marginals, expectations, semirings."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import all_derivations, allowed_derivations, count_derivations, graph_problems, random_graphs
from hypothesis import given, settings, strategies as st

from disambig.decode import (
    BEST,
    COUNT,
    EXPECTATION,
    LOG_SUM,
    Enumerated,
    Hypergraph,
    Hypergraphs,
    k_best,
    totals,
)

DECODER = Hypergraph()


def row_counts(rows, n):
    return np.bincount(np.asarray(rows, np.int64), minlength=n).astype(float)


@given(graph_problems())
@settings(deadline=None)
def test_the_best_derivation_is_that_of_brute_force(problem):
    layout, scores = problem
    listed = allowed_derivations(layout, scores)
    if not all(listed):
        with pytest.raises(ValueError, match=f"hypergraph {[bool(x) for x in listed].index(False)}: every"):
            DECODER.best(scores, layout)
        return
    mass = DECODER.best(scores, layout)
    for i, result in enumerate(listed):
        rows_of_graph = slice(*layout.offsets[i : i + 2])
        best = [rows for score, rows in result if score >= result[0][0] - 1e-9]
        assert any(
            np.array_equal(mass[rows_of_graph], row_counts(rows, len(scores))[rows_of_graph]) for rows in best
        )


@given(graph_problems(), st.integers(1, 12))
@settings(deadline=None)
def test_the_k_best_derivations_are_those_of_brute_force(problem, k):
    layout, scores = problem
    listed = allowed_derivations(layout, scores)
    for (some, derived), result in zip(DECODER.top(scores, layout, k), listed, strict=True):
        assert some == pytest.approx([score for score, _ in result[:k]])
        derivations = {tuple(rows) for _, rows in result}
        given_ones = [tuple(rows.tolist()) for rows in derived]
        assert len(set(given_ones)) == len(given_ones) == min(k, len(result))
        assert set(given_ones) <= derivations
        assert [scores[rows].sum() for rows in derived] == pytest.approx(some)


@given(graph_problems())
@settings(deadline=None)
def test_the_first_of_the_k_best_is_the_best(problem):
    layout, scores = problem
    if not all(allowed_derivations(layout, scores)):
        return
    mass = sum(row_counts(rows[0], len(scores)) for _, rows in DECODER.top(scores, layout, 3))
    assert np.array_equal(mass, DECODER.best(scores, layout))


@given(graph_problems(), st.integers(0, 2**32))
@settings(deadline=None)
def test_sums_are_those_of_brute_force(problem, seed):
    layout, scores = problem
    values = np.random.default_rng(seed).normal(size=len(scores))
    listed = allowed_derivations(layout, scores)
    if not all(listed):
        with pytest.raises(ValueError, match="every derivation is forbidden"):
            DECODER.marginals(scores, layout)
        with pytest.raises(ValueError, match="every derivation is forbidden"):
            DECODER.expected(scores, values, layout)
        return
    mass, partition = DECODER.marginals(scores, layout)
    expected = np.zeros(len(scores))
    means = []
    for result, log_sum in zip(listed, partition, strict=True):
        amounts = np.array([score for score, _ in result])
        assert log_sum == pytest.approx(np.logaddexp.reduce(amounts))
        shares = np.exp(amounts - np.logaddexp.reduce(amounts))
        for share, (_, rows) in zip(shares, result, strict=True):
            expected += share * row_counts(rows, len(scores))
        means.append(sum(share * values[rows].sum() for share, (_, rows) in zip(shares, result, strict=True)))
    assert mass == pytest.approx(expected, abs=1e-9)
    assert DECODER.expected(scores, values, layout) == pytest.approx(means, abs=1e-9)


@given(graph_problems())
@settings(deadline=None)
def test_semirings_agree(problem):
    layout, scores = problem
    listed = allowed_derivations(layout, scores)
    weights = scores.tolist()
    assert totals(layout, weights, BEST) == pytest.approx([x[0][0] if x else -np.inf for x in listed])
    assert totals(layout, (scores > -np.inf).astype(int).tolist(), COUNT) == [len(x) for x in listed]
    singles = [(score,) if score > -np.inf else () for score in weights]
    for some, result in zip(totals(layout, singles, k_best(3)), listed, strict=True):
        assert some == pytest.approx([score for score, _ in result[:3]])
    if all(listed) and np.abs(scores[scores > -np.inf]).max() < 50:
        _, partition = DECODER.marginals(scores, layout)
        assert totals(layout, weights, LOG_SUM) == pytest.approx(partition)
        values = np.arange(len(scores)) % 5
        pairs = [(p, p * value) for p, value in zip(np.exp(scores).tolist(), values.tolist(), strict=True)]
        sums = totals(layout, pairs, EXPECTATION)
        assert [r / p for p, r in sums] == pytest.approx(DECODER.expected(scores, values, layout))


def test_a_batch_is_its_instances():
    rng = np.random.default_rng(3)
    layout = random_graphs(rng, 40)
    layout = layout.take(np.array([i for i in range(len(layout)) if count_derivations(layout, i)]))
    scores = rng.normal(size=len(layout.heads))
    order = rng.permutation(len(layout))
    taken = layout.take(order)
    rows = np.concatenate([np.arange(*layout.offsets[i : i + 2]) for i in order])
    mass, _ = DECODER.marginals(scores, layout)
    assert np.array_equal(DECODER.marginals(scores[rows], taken)[0], mass[rows])
    assert np.array_equal(DECODER.best(scores[rows], taken), DECODER.best(scores, layout)[rows])
    mask = rng.random(len(layout)) < 0.5
    assert np.array_equal(layout.take(mask).heads, layout.take(np.flatnonzero(mask)).heads)


def test_no_instances():
    none = Hypergraphs([0], [0], [], np.empty((0, 2)))
    assert len(none) == 0 and len(DECODER.best(np.zeros(0), none)) == 0
    mass, partition = DECODER.marginals(np.zeros(0), none)
    assert mass.shape == partition.shape == (0,)
    assert DECODER.top(np.zeros(0), none, 2) == []
    assert len(none.take(np.zeros(0, np.int64))) == 0


def test_values_of_forbidden_edges_do_not_count():
    layout = Hypergraphs([0, 2], [0, 1], [0, 0], [[-1, -1], [-1, -1]])
    assert DECODER.expected(np.array([0.0, -np.inf]), np.array([2.0, np.nan]), layout) == [2.0]


def test_many_derivations_and_deep_ones():
    """With 2**400 derivations, the best are found in order, and sums do not overflow."""
    n = 400
    heads = np.repeat(np.arange(n), 2)
    tails = np.column_stack([heads - 1, np.full(2 * n, -1)])
    layout = Hypergraphs([0, 2 * n], [0, n], heads, tails)
    scores = np.tile([0.0, -1.0], n)
    ((some, derived),) = DECODER.top(scores, layout, 1000)
    assert some[:402].tolist() == [0.0, *[-1.0] * 400, -2.0]
    assert len({tuple(rows) for rows in derived}) == 1000
    _, partition = DECODER.marginals(scores + 1000.0, layout)
    assert partition == pytest.approx([n * (1000.0 + np.log1p(np.exp(-1.0)))])


BAD = {
    "sort rows": ([0, 2], [0, 2], [1, 0], [[-1, -1]] * 2),
    "has the head 2, its nodes are 0 to 1": ([0, 2], [0, 2], [0, 2], [[-1, -1]] * 2),
    r"row 1 of hypergraph 0, head 1, has the tails \[1, -1\]": ([0, 2], [0, 2], [0, 1], [[-1, -1], [1, -1]]),
    "a single tail comes first": ([0, 2], [0, 2], [0, 1], [[-1, -1], [-1, 0]]),
    "hypergraph 1 has no row": ([0, 1, 1], [0, 1, 2], [0], [[-1, -1]]),
    "from 0 to 3 for 2 rows": ([0, 3], [0, 2], [0, 1], [[-1, -1]] * 2),
    "offsets decrease at hypergraph 1": ([0, 2, 1, 2], [0, 1, 2, 3], [0, 0], [[-1, -1]] * 2),
    "shapes": ([0, 2], [0, 2], [0, 1], [-1, -1]),
}


@pytest.mark.parametrize("problem", BAD)
def test_invalid_hypergraphs(problem):
    with pytest.raises(ValueError, match=problem):
        Hypergraphs(*map(np.array, BAD[problem]))


def test_invalid_scores():
    layout = Hypergraphs([0, 1], [0, 1], [0], [[-1, -1]])
    with pytest.raises(ValueError, match="2 scores for 1 edges"):
        DECODER.best(np.zeros(2), layout)
    with pytest.raises(ValueError, match="the score of row 0 is nan"):
        DECODER.marginals(np.array([np.nan]), layout)
    with pytest.raises(ValueError, match="the score of row 0 is inf"):
        DECODER.top(np.array([np.inf]), layout, 2)
    with pytest.raises(ValueError, match="2 values for 1 edges"):
        DECODER.expected(np.zeros(1), np.zeros(2), layout)
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        DECODER.top(np.zeros(1), layout, 0)


@given(graph_problems(), st.integers(0, 2**32))
@settings(deadline=None)
def test_keeping_rows_keeps_their_derivations(problem, seed):
    layout, scores = problem
    expected = np.random.default_rng(seed).random(len(scores)) < 0.8
    allowed = [[rows for rows in result if expected[rows].all()] for result in all_derivations(layout)]
    inside = np.zeros(len(scores), bool)
    for derivation in (item for result in allowed for item in result):
        inside[derivation] = True
    assert np.array_equal(layout.reached(expected), inside)
    if not all(allowed):
        with pytest.raises(ValueError, match="has no derivation left"):
            layout.keep(expected)
        return
    kept, rows = layout.keep(expected)
    assert np.array_equal(rows, np.flatnonzero(inside))
    again = [[rows[item].tolist() for item in result] for result in all_derivations(kept)]
    assert [sorted(item) for item in again] == [sorted(item) for item in allowed]


def test_keeping_rows_is_one_pass_over_them(monkeypatch):
    layout = Hypergraphs([0, 2, 3], [0, 2, 3], [0, 1, 0], [[-1, -1], [0, -1], [-1, -1]])
    reached, passes = Hypergraphs.reached, []
    monkeypatch.setattr(Hypergraphs, "reached", lambda *given: passes.append(0) or reached(*given))
    layout.keep(np.ones(len(layout.heads), bool))
    assert len(passes) == 1


def test_enumerated_candidates():
    """The best is the first of ties."""
    offsets = np.array([0, 3, 4, 6])
    mass = Enumerated().best(np.array([1.0, 2.0, 2.0, -5.0, 0.0, 0.0]), offsets)
    assert mass.tolist() == [0, 1, 0, 1, 1, 0]
    result = Enumerated().top(np.array([1.0, 3.0, 2.0, -5.0, 0.0, 1.0]), offsets, 2)
    assert [rows.tolist() for _, rows in result] == [[1, 2], [3], [5, 4]]
    assert [scores.tolist() for scores, _ in result] == [[3.0, 2.0], [-5.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        Enumerated().top(np.zeros(6), offsets, 0)


def test_enumerated_without_instances():
    nothing, offsets = np.empty(0), np.array([0])
    assert Enumerated().best(nothing, offsets).size == 0
    assert [part.size for part in Enumerated().marginals(nothing, offsets)] == [0, 0]
