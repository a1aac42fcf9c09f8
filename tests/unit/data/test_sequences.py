"""Sequences as a storage: its parts written out are those of the chain decoder."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from disambig.data import SequenceRows, run_starts
from disambig.decode import Chain
from disambig.testing.checks import require_batch


def batch(seed=0, n=9, k=3, d=4):
    rng = np.random.default_rng(seed)
    rows = csr_array((rng.random((n, d)) < 0.5).astype(np.float32))
    gold = rng.integers(k, size=n)
    costs = (np.arange(k) != gold[:, None]).astype(np.float32)
    return SequenceRows(rows, costs, np.array([4, 4, 4, 7, 9, 9, 9, 9, 2]))


def test_a_batch_of_sequences_is_in_order():
    require_batch(batch(), "sequences")


def test_columns_say_what_the_weights_mean():
    columns = batch().columns
    assert len(columns) == batch().n_weights == 3 * (4 + 1 + 3)
    assert columns.in_groups(["label before"]).sum() == 3 + 9
    assert columns.labels[-3:].tolist() == [0, 1, 2]


def test_sequences_begin_where_the_number_changes():
    assert batch().layout.tolist() == [0, 3, 4, 8, 9]
    assert run_starts(np.zeros(0, np.int64)).tolist() == [0]
    assert batch().take(np.array([0, 2, 4])).layout.tolist() == [0, 2, 3]


def test_the_edges_of_a_sequence_score_what_its_places_and_steps_do():
    sequences = batch()
    edges = sequences.edges()
    weights = np.random.default_rng(1).normal(size=sequences.n_weights)
    place = sequences.scores(weights).reshape(-1, 3)
    first, step = weights[12:15], weights[15:].reshape(3, 3)
    scores = edges.scores(weights)
    assert len(edges.offsets) - 1 == 4
    rng = np.random.default_rng(2)
    for i, (start, stop) in enumerate(pairwise(sequences.layout)):
        states = rng.integers(3, size=stop - start)
        own = edges.offsets[i] + Chain(3).edges(states)
        expected = place[np.arange(start, stop), states].sum() + first[states[0]]
        expected += sum(step[a, b] for a, b in pairwise(states))
        assert scores[own].sum() == pytest.approx(expected)
        costs = sequences.costs[np.arange(start, stop), states].sum()
        assert edges.cost[own].sum() == pytest.approx(costs)
