"""A chain is an instance of a hypergraph: both decoders say the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.data import ChainLayout
from disambig.decode import Chain, Hypergraph, graphs_of_chains, path_edges


@st.composite
def sequences(draw):
    """Return the layout of some sequences, and scores, of which some forbid."""
    k = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    offsets = np.concatenate([[0], np.cumsum([k + (n - 1) * k * k for n in lengths])])
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = rng.normal(size=offsets[-1])
    if k > 1 and draw(st.booleans()):
        scores[rng.integers(len(scores))] = -np.inf
    return ChainLayout(offsets, k), scores


@given(sequences(), st.integers(1, 7))
@settings(deadline=None)
def test_both_decoders_say_the_same(problem, k):
    layout, scores = problem
    graphs, rows = graphs_of_chains(layout)
    of_edges = np.where(rows < 0, 0.0, scores[rows])
    own = rows >= 0

    def of_rows(mass):
        return np.bincount(rows[own], mass[own], minlength=len(scores))

    chain, decoder = Chain(), Hypergraph()
    assert np.array_equal(of_rows(decoder.best(of_edges, graphs)), chain.best(scores, layout))
    mass, partition = decoder.marginals(of_edges, graphs)
    expected, expected_partition = chain.marginals(scores, layout)
    assert of_rows(mass) == pytest.approx(expected, abs=1e-12)
    assert partition == pytest.approx(expected_partition)
    both = zip(decoder.top(of_edges, graphs, k), chain.top(scores, layout, k), strict=True)
    for start, ((some, derived), (totals, paths)) in zip(layout.offsets, both, strict=False):
        assert some == pytest.approx(totals)
        named = [sorted(each for each in rows[derivation].tolist() if each >= 0) for derivation in derived]
        assert named == [(start + path_edges(path, layout.n_states)).tolist() for path in paths]


def test_what_is_no_chain():
    with pytest.raises(ValueError, match="not chains of 2 states"):
        graphs_of_chains(ChainLayout(np.array([0, 5]), 2))
    graphs, rows = graphs_of_chains(ChainLayout(np.array([0]), 2))
    assert len(graphs) == len(rows) == 0
