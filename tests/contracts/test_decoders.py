"""Decoders agree with brute force: listed candidates, chains and charts."""

from __future__ import annotations

import numpy as np
import pytest
from toy_decoders import Chart, bracketings, derivations, packed, paths

from disambig.api import Enumerated
from disambig.api.decoding import Chain, Hypergraph
from disambig.testing import check_decoder

LENGTHS = (1, 3, 2)
CHAIN_OFFSETS = np.concatenate([[0], np.cumsum([2 + 4 * (length - 1) for length in LENGTHS])])
CHAINS = [
    [[start + row for row in rows] for rows in paths(2, length)]
    for start, length in zip(CHAIN_OFFSETS, LENGTHS, strict=False)
]
FORESTS = (bracketings(3), bracketings(4), bracketings(2))
FOREST_STARTS = np.concatenate([[0], np.cumsum([len(forest.edges) for forest in FORESTS])])
PARSES = [
    [[start + edge for edge in edges] for edges in derivations(forest)]
    for start, forest in zip(FOREST_STARTS, FORESTS, strict=False)
]

CASES = {
    "enumerated": check_decoder(
        Enumerated(), np.array([0, 2, 3, 7]), [[[0], [1]], [[2]], [[3], [4], [5], [6]]]
    ),
    "chain": check_decoder(Chain(2), CHAIN_OFFSETS, CHAINS),
    "chart": check_decoder(Chart(), FORESTS, PARSES),
    "hypergraph": check_decoder(Hypergraph(), packed(FORESTS), PARSES),
}


@pytest.mark.parametrize(
    "check", [pytest.param(check, id=f"{name}-{check}") for name, checks in CASES.items() for check in checks]
)
def test_decoder(check):
    check()


def test_counts_of_structures():
    assert [len(parses) for parses in PARSES] == [2, 5, 1]
    assert [len(sequences) for sequences in CHAINS] == [2, 8, 4]


class Careless(Enumerated):
    """Forgets to normalise."""

    def marginals(self, scores, layout):
        shares, partition = super().marginals(scores, layout)
        return 2 * shares, partition


def test_a_wrong_decoder_is_found_out():
    failed = []
    for check in check_decoder(Careless(), np.array([0, 2]), [[[0], [1]]]):
        try:
            check()
        except AssertionError:
            failed.append(check.name)
    assert "gives_the_right_marginals" in failed
    assert "differentiates_its_partition" in failed
    assert "finds_the_best" not in failed
