"""Log loss and structured hinge: finite differences; packed and listed structures agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from disambig.data import ChainLayout, SparseRows, segments
from disambig.decode import (
    Chain,
    Enumerated,
    StructuredExamples,
    averaged_perceptron,
    from_the_least,
    path_edges,
    structured_examples,
    subgradient,
)
from disambig.testing import chains, dense_lists, lists


def list_labellings(places):
    """Return each labelling of a sequence as a candidate, whose row is the sum of its edges."""
    edges, k = places.edges(), places.costs.shape[1]
    dense = edges.rows.toarray()
    rows, cost, sizes = [], [], []
    for start, length in zip(edges.offsets, np.diff(places.layout), strict=False):
        for path in product(range(k), repeat=int(length)):
            own = start + path_edges(np.array(path), k)
            rows.append(dense[own].sum(axis=0))
            cost.append(edges.cost[own].sum())
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
        blocks = examples.blocks(most=20)
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
    known = Chain(3)
    assert (Chain().best(scores, edges.layout) == known.best(scores, edges.offsets)).all()
    with pytest.raises(ValueError, match="does not know the number of states"):
        Chain().best(scores, edges.offsets)
    with pytest.raises(ValueError, match="4 states cannot decode one of 3"):
        Chain(4).best(scores, edges.layout)


def test_without_a_right_candidate_the_cheapest_is_right():
    batch = lists(4)
    dear = replace(
        batch, cost=batch.cost + np.repeat(np.array([0, 2, 0, 5], np.float32), np.diff(batch.offsets))
    )
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


def test_the_best_of_a_list_is_enumerated():
    batch = lists(7)
    scores = batch.scores(np.random.default_rng(0).normal(size=8))
    best = batch.offsets[:-1] + segments.argmax(scores, batch.offsets)
    assert (
        np.flatnonzero(StructuredExamples.from_batch(batch, Enumerated()).rival(scores, margin=0.0)).tolist()
        == best.tolist()
    )
