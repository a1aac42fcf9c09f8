"""Derivations: which rule made each cell of a chart. A tree has one, and one is a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api.decoding import ChartEdges

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """The rules of one tree over a sentence of n words, in any order.

    Attributes
    ----------
    binary : array of int32, shape (n - 1, 4)
        Rule of `BinaryGrammar.binary`; start, middle and end of its span.
    unary : array of int32, shape (n_chains, 3)
        Rule of `BinaryGrammar.unary`; start and end of its span.
    tags : array of int32, shape (n,)
        Symbol below of each word.
    """

    binary: Ints
    unary: Ints
    tags: Ints

    @classmethod
    def of(
        cls,
        binary: Sequence[Sequence[int]],
        unary: Sequence[Sequence[int]],
        tags: Sequence[int],
    ) -> Derivation:
        """Return a derivation of rows of numbers."""
        return cls(
            np.array(binary, np.int32).reshape(len(binary), 4),
            np.array(unary, np.int32).reshape(len(unary), 3),
            np.array(tags, np.int32),
        )

    @classmethod
    def of_edges(cls, edges: ChartEdges) -> Derivation:
        """Return the derivation that some edges of a chart are, in any order."""
        kinds = edges.BINARY, edges.UNARY, edges.LEXICAL
        of_two, of_one, words = (np.flatnonzero(edges.kinds == kind) for kind in kinds)
        words = words[np.argsort(edges.starts[words])]
        return cls(
            np.stack(
                [getattr(edges, name)[of_two] for name in ("rules", "starts", "splits", "ends")], axis=1
            ),
            np.stack([getattr(edges, name)[of_one] for name in ("rules", "starts", "ends")], axis=1),
            edges.symbols[words],
        )
