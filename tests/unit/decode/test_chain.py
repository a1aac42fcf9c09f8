"""Chains compared with all sequences and with hypergraphs; objectives of chains and lists."""

from __future__ import annotations

import itertools
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array

from disambig.data import ChainLayout, SparseRows
from disambig.decode import (
    Chain,
    Hypergraph,
    StructuredExamples,
    averaged_perceptron,
    best_path,
    best_states,
    best_with_states,
    from_the_least,
    graphs_of_chains,
    log_sums,
    max_marginals,
    path_edges,
    shared_sums,
    structured_examples,
    subgradient,
)
from disambig.errors import UserError
from disambig.testing import chains, dense_lists, lists


@st.composite
def any_chains(draw):
    """Draw scores of states, (L, K), and of transitions, (L - 1, K, K); some are forbidden."""
    n, k = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    place, step = rng.normal(size=(n, k)), rng.normal(size=(n - 1, k, k))
    if draw(st.booleans()) and k > 1:
        place[rng.integers(n), rng.integers(k)] = -np.inf
    return place, step


def best_paths(place, step, starts, path):
    """Write the best states of each sequence to `path`; `step` has the transitions of each position."""
    longest, k = int(np.diff(starts).max()), place.shape[1]
    total, back = np.empty((2, k), place.dtype), np.empty((longest, k), np.int32)
    for first, last in pairwise(starts):
        if last > first:
            best_path(place[first:last], step, total, back, path[first:last])


def all_sequences(place, step):
    """Return all sequences with their scores, best first."""
    n, k = place.shape
    result = []
    for states in itertools.product(range(k), repeat=n):
        score = sum(place[t, states[t]] for t in range(n))
        score += sum(step[t, states[t], states[t + 1]] for t in range(n - 1))
        result.append((score, states))
    return sorted(result, key=lambda item: -item[0])


def join_edge_scores(place, step):
    """Return the scores of the edges; the score of a state is added to each edge into it."""
    return np.concatenate([place[0], (step + place[1:, None, :]).ravel()])


def read_states(chain, mass):
    """Return the states of the one sequence in `mass`."""
    k = chain.n_states
    steps = mass[k:].reshape(-1, k, k)
    return (int(mass[:k].argmax()), *(int(item.sum(axis=0).argmax()) for item in steps))


@given(any_chains())
@settings(deadline=None)
def test_the_best_sequence_is_that_of_brute_force(problem):
    place, step = problem
    rows = join_edge_scores(place, step)
    chain = Chain(place.shape[1])
    mass = chain.best(rows, np.array([0, len(rows)]))
    assert read_states(chain, mass) == all_sequences(place, step)[0][1]
    assert mass.sum() == len(place)


@given(any_chains(), st.integers(1, 9))
@settings(deadline=None)
def test_the_k_best_sequences_are_those_of_brute_force(problem, k):
    place, step = problem
    rows = join_edge_scores(place, step)
    ((scores, states),) = Chain(place.shape[1]).top(rows, np.array([0, len(rows)]), k)
    expected = [item for item in all_sequences(place, step) if item[0] > -np.inf][:k]
    assert [tuple(item) for item in states.tolist()] == [states for _, states in expected]
    assert scores == pytest.approx([score for score, _ in expected])


@given(any_chains())
@settings(deadline=None)
def test_marginals_sum_to_one_at_every_place(problem):
    place, step = problem
    rows = join_edge_scores(place, step)
    k = place.shape[1]
    mass, partition = Chain(k).marginals(rows, np.array([0, len(rows)]))
    assert mass[:k].sum() == pytest.approx(1.0)
    assert mass[k:].reshape(-1, k * k).sum(axis=1) == pytest.approx(np.ones(len(place) - 1))
    total = np.logaddexp.reduce([score for score, _ in all_sequences(place, step)])
    assert partition[0] == pytest.approx(total)


@given(any_chains())
@settings(deadline=None)
def test_max_marginals_are_the_best_scores_with_a_state_fixed(problem):
    place, step = problem
    result = np.empty(place.shape)
    starts = np.array([0, len(place)])
    max_marginals(place, step if len(step) else np.zeros((1, *step.shape[1:])), starts, result)
    for t, b in np.ndindex(place.shape):
        expected = max(score for score, states in all_sequences(place, step) if states[t] == b)
        assert result[t, b] == pytest.approx(expected)


def test_sequences_that_share_their_steps_are_decoded_one_by_one():
    rng = np.random.default_rng(5)
    place, step = rng.normal(size=(7, 3)), rng.normal(size=(1, 3, 3))
    starts, path = np.array([0, 3, 3, 7]), np.zeros(7, np.int64)
    best_paths(place, step, starts, path)
    for first, last in ((0, 3), (3, 7)):
        steps = np.repeat(step, last - first - 1, axis=0)
        assert tuple(path[first:last]) == all_sequences(place[first:last], steps)[0][1]


def test_rows_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="5 rows are not a chain of 2 states"):
        Chain(2).best(np.zeros(5), np.array([0, 5]))


def test_a_chain_of_ten_thousand_places():
    rng = np.random.default_rng(0)
    place, step = rng.normal(size=(10_000, 4)), rng.normal(size=(1, 4, 4))
    rows = join_edge_scores(place, np.repeat(step, 9_999, axis=0))
    mass, _ = Chain(4).marginals(rows, np.array([0, len(rows)]))
    assert mass.sum() == pytest.approx(10_000)


def test_no_sequence_at_all_is_an_error():
    chain, layout = Chain(2), np.array([0, 6])
    with pytest.raises(ValueError, match="every sequence is forbidden"):
        chain.best(np.full(6, -np.inf), layout)
    with pytest.raises(ValueError, match="every sequence is forbidden"):
        chain.marginals(np.full(6, -np.inf), layout)
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        chain.top(np.zeros(6), layout, 0)
    assert len(chain.top(np.full(6, -np.inf), layout, 3)[0][0]) == 0


def test_long_sequences_lose_nothing_in_single_precision():
    rng = np.random.default_rng(1)
    n, k = 60_000, 3
    place, step = 5 + rng.normal(size=(n, k)), rng.normal(size=(1, k, k))
    starts, exact, single = np.array([0, n]), np.zeros(n, np.int64), np.zeros(n, np.int64)
    best_paths(place, step, starts, exact)
    best_paths(place.astype(np.float32), step.astype(np.float32), starts, single)
    assert (exact != single).mean() < 1e-3


LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=4)


@given(st.integers(0, 2**32), st.integers(1, 4), LENGTHS, st.booleans())
@settings(deadline=None)
def test_numpy_and_compiled_functions_agree_bit_for_bit(seed, k, lengths, forbidden):
    """Scores that are multiples of 1/8 cause ties, which both must break in the same way."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    kind = rng.choice([np.float32, np.float64])
    size = starts[-1], k
    place = rng.normal(size=size) if rng.random() < 0.5 else rng.integers(9, size=size) / 8
    step = rng.integers(-5, 5, size=(k, k)) / 8
    if forbidden and len(place):
        place[rng.integers(len(place)), rng.integers(k)] = step[rng.integers(k), rng.integers(k)] = -np.inf
    place, step = place.astype(kind), step.astype(kind)
    path, marginals = np.zeros(len(place), np.int64), np.empty(place.shape, kind)
    best_paths(place, step[None], starts, path)
    max_marginals(place, step[None], starts, marginals)
    assert (best_states(place, step, starts) == path).all()
    assert best_with_states(place, step, starts).tobytes() == marginals.tobytes()


@st.composite
def any_sequences(draw):
    """Draw the layout of some sequences, and scores, some of which are forbidden."""
    k = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    offsets = np.concatenate([[0], np.cumsum([k + (n - 1) * k * k for n in lengths])])
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = rng.normal(size=offsets[-1])
    if k > 1 and draw(st.booleans()):
        scores[rng.integers(len(scores))] = -np.inf
    return ChainLayout(offsets, k), scores


@given(any_sequences(), st.integers(1, 7))
@settings(deadline=None)
def test_chains_equal_hypergraphs(problem, k):
    layout, scores = problem
    graphs, rows = graphs_of_chains(layout)
    of_edges = np.where(rows < 0, 0.0, scores[rows])
    is_edge = rows >= 0

    def of_rows(mass):
        return np.bincount(rows[is_edge], mass[is_edge], minlength=len(scores))

    chain, decoder = Chain(), Hypergraph()
    assert np.array_equal(of_rows(decoder.best(of_edges, graphs)), chain.best(scores, layout))
    mass, partition = decoder.marginals(of_edges, graphs)
    expected, expected_partition = chain.marginals(scores, layout)
    assert of_rows(mass) == pytest.approx(expected, abs=1e-12)
    assert partition == pytest.approx(expected_partition)
    both = zip(decoder.top(of_edges, graphs, k), chain.top(scores, layout, k), strict=True)
    for start, ((some, derived), (totals, paths)) in zip(layout.offsets, both, strict=False):
        assert some == pytest.approx(totals)
        named = [sorted(item for item in rows[derivation].tolist() if item >= 0) for derivation in derived]
        assert named == [(start + path_edges(path, layout.n_states)).tolist() for path in paths]


def test_rows_that_are_not_chains():
    with pytest.raises(ValueError, match="not chains of 2 states"):
        graphs_of_chains(ChainLayout(np.array([0, 5]), 2))
    graphs, rows = graphs_of_chains(ChainLayout(np.array([0]), 2))
    assert len(graphs) == len(rows) == 0


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("scale", [0.1, 3.0, 300.0, 3000.0])
def test_scaled_sums_equal_sums_of_logarithms(length, scale):
    rng = np.random.default_rng(length)
    for _ in range(20):
        place, step = rng.normal(size=(length, 4)) * scale, rng.normal(size=(4, 4)) * scale
        expected, item = np.empty((length, 4)), np.zeros((max(length - 1, 1), 4, 4))
        total = log_sums(place, step[None], expected, item)
        shares, pairs = np.empty((length, 4)), np.empty((4, 4))
        assert shared_sums(place, step, shares, pairs) == pytest.approx(total, rel=1e-12, abs=1e-12 * scale)
        np.testing.assert_allclose(shares, expected, atol=1e-11 * max(scale, 1))
        np.testing.assert_allclose(pairs, item.sum(axis=0), atol=1e-11 * max(scale, 1))


def list_labellings(places):
    """Return each labelling of a sequence as a candidate, whose row is the sum of its edges."""
    edges, k = places.edges(), places.costs.shape[1]
    dense = edges.rows.toarray()
    rows, cost, sizes = [], [], []
    for start, length in zip(edges.offsets, np.diff(places.layout), strict=False):
        for path in product(range(k), repeat=int(length)):
            path_rows = start + path_edges(np.array(path), k)
            rows.append(dense[path_rows].sum(axis=0))
            cost.append(edges.cost[path_rows].sum())
        sizes.append(k**length)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return SparseRows(csr_array(np.array(rows)), offsets, np.array(cost, np.float32), edges.columns)


SHORT = chains(6, longest=4)
PACKED, LISTED = structured_examples(SHORT, Chain()), StructuredExamples.from_batch(list_labellings(SHORT))


@pytest.mark.parametrize("objective", ["log_loss", "hinge"])
def test_chains_and_the_list_of_their_labellings_have_the_same_objective_and_gradient(objective):
    for seed in range(5):
        weights = np.random.default_rng(seed).normal(size=SHORT.n_weights)
        value, gradient = getattr(PACKED, objective)(weights)
        expected, slopes = getattr(LISTED, objective)(weights)
        assert value == pytest.approx(expected)
        assert gradient == pytest.approx(slopes, abs=1e-9)


@pytest.mark.parametrize(
    "examples",
    [StructuredExamples.from_batch(lists(9)), StructuredExamples.from_batch(dense_lists(9)), PACKED],
    ids=["lists", "dense lists", "chains"],
)
@pytest.mark.parametrize("objective", ["log_loss", "hinge"])
def test_gradients_are_those_of_finite_differences(examples, objective):
    loss = getattr(examples, objective)
    weights = np.random.default_rng(1).normal(size=len(examples.batch.columns))
    gradient = loss(weights)[1]
    for column in range(len(weights)):
        step = np.zeros(len(weights))
        step[column] = 1e-5
        slope = (loss(weights + step)[0] - loss(weights - step)[0]) / 2e-5
        assert gradient[column] == pytest.approx(slope, abs=1e-5)


def test_blocks_of_examples_add_up():
    for examples in (PACKED, StructuredExamples.from_batch(lists(30))):
        weights = np.random.default_rng(2).normal(size=len(examples.batch.columns))
        blocks = examples.blocks(maximum=20)
        assert len(blocks) > 2
        assert sum(map(len, blocks)) == len(examples)
        value, gradient = examples.log_loss(weights)
        parts = [block.log_loss(weights) for block in blocks]
        assert sum(part[0] for part in parts) == pytest.approx(value)
        assert sum(part[1] for part in parts) == pytest.approx(gradient)


def test_edges_are_those_that_are_written_out():
    edges, written = SHORT.as_chains(), SHORT.edges()
    weights = np.random.default_rng(3).normal(size=SHORT.n_weights)
    mass = np.random.default_rng(4).normal(size=len(written.cost))
    assert edges.scores(weights) == pytest.approx(written.scores(weights))
    assert edges.adjoint(mass) == pytest.approx(written.adjoint(mass))
    assert edges.row_sqnorm() == pytest.approx(written.row_sqnorm())
    assert edges.cost.tolist() == written.cost.tolist()
    assert isinstance(edges.layout, ChainLayout)
    assert edges.layout.offsets.tolist() == written.offsets.tolist()
    again = edges.take(np.array([4, 0, 4]))
    rows = np.concatenate([np.arange(*written.offsets[i : i + 2]) for i in (4, 0, 4)])
    assert again.scores(weights) == pytest.approx(written.scores(weights)[rows])


def test_a_chain_takes_the_number_of_states_from_the_layout():
    edges = SHORT.as_chains()
    scores = edges.scores(np.random.default_rng(5).normal(size=SHORT.n_weights))
    chain = Chain(3)
    assert (Chain().best(scores, edges.layout) == chain.best(scores, edges.offsets)).all()
    with pytest.raises(ValueError, match="does not know the number of states"):
        Chain().best(scores, edges.offsets)
    with pytest.raises(ValueError, match="4 states cannot decode one of 3"):
        Chain(4).best(scores, edges.layout)


@pytest.mark.parametrize("decoder", [Chain(), Hypergraph()])
def test_lists_of_candidates_have_no_layout_for_structures(decoder):
    with pytest.raises(UserError, match=f"D459.*decoder {type(decoder).__name__}.*DenseLists"):
        structured_examples(dense_lists(3), decoder)


def test_without_a_right_candidate_the_cheapest_is_right():
    batch = lists(4)
    more = np.repeat(np.array([0, 2, 0, 5], np.float32), np.diff(batch.offsets))
    dear = replace(batch, cost=batch.cost + more)
    assert from_the_least(dear).tolist() == batch.cost.tolist()
    examples, as_before = StructuredExamples.from_batch(dear), StructuredExamples.from_batch(batch)
    weights = np.random.default_rng(6).normal(size=8)
    assert examples.hinge(weights)[0] == as_before.hinge(weights)[0]
    lost = replace(SHORT, costs=SHORT.costs.copy())
    lost.costs[0] = [1.0, 0.5, 2.0]  # no label of the first word is right
    cost = structured_examples(lost, Chain()).cost
    assert (cost[:3] == [1.0, 0.0, 2.0]).all()


def test_several_right_candidates():
    rows = csr_array(np.eye(3))
    batch = SparseRows(rows, np.array([0, 3]), np.array([0, 0, 1], np.float32), lists(1, columns=3).columns)
    examples = StructuredExamples.from_batch(batch)
    value, gradient = examples.log_loss(np.zeros(3))
    assert value == pytest.approx(np.log(3 / 2))
    assert gradient == pytest.approx([1 / 3 - 1 / 2, 1 / 3 - 1 / 2, 1 / 3])
    assert examples.hinge(np.array([5.0, 0.0, 1.0]))[0] == 0.0
    assert examples.right(np.array([0.0, 1.0, 5.0])).tolist() == [0, 1, 0]


def count_errors(examples, weights):
    """Return the number of structures that are decided wrongly."""
    scores = examples.batch.scores(weights)
    chosen = examples.rival(scores, margin=0.0)
    return int((np.add.reduceat(chosen * examples.cost, examples.batch.offsets[:-1]) > 0).sum())


@pytest.mark.parametrize(
    "examples", [structured_examples(chains(), Chain()), StructuredExamples.from_batch(lists())]
)
def test_online_learning_with_any_decoder(examples):
    nothing = np.zeros(len(examples.batch.columns))
    weights, _ = averaged_perceptron(examples, passes=10, seed=0)
    assert count_errors(examples, nothing) > 10
    assert count_errors(examples, weights) <= 1
    shorter = subgradient(examples, alpha=1e-2, passes=10, seed=0)
    assert count_errors(examples, shorter) <= 3
    assert examples.hinge(shorter)[0] < 0.2 * examples.hinge(nothing)[0]
