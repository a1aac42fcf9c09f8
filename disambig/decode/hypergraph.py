"""The decoder of hypergraphs: parses packed in a chart, or whatever else has parts that share parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.decode.hypergraphs import Hypergraphs

Floats = NDArray[np.float64]
_NONE_LEFT = "hypergraph {}: every derivation is forbidden"


@dataclass(frozen=True, slots=True)
class Hypergraph:
    """Decode derivations of hypergraphs by dynamic programming; the layout is `Hypergraphs`.

    A candidate is a derivation of the goal, its score the sum of its edges'. Each method is the sum over all
    derivations in a semiring (`disambig.decode.semirings`): `best` in that of the maximum, `top` of the k
    best (Huang and Chiang 2005), `marginals` of sums (inside-outside), `expected` of expectations (Li and
    Eisner 2009). Where an edge can be in a derivation more than once, which it cannot in a chart, masses
    count how often. With ``scores + cost`` for `scores`, `best` and `top` are loss-augmented.

    Minus infinity forbids an edge. A derivation must be left: `best`, `marginals` and `expected` raise
    ValueError where none is.
    """

    def best(self, scores: Floats, layout: Hypergraphs) -> Floats:
        """Return a mass of one on each edge of the best derivations, zero elsewhere."""
        from disambig.decode.hypergraph_kernels import best_derivations

        mass = np.zeros(len(layout.heads))
        _check(best_derivations(*_arrays(layout), _checked(scores, layout), mass))
        return mass

    def marginals(self, scores: Floats, layout: Hypergraphs) -> tuple[Floats, Floats]:
        """Return edge marginals under a softmax over derivations, and the log partition of each instance."""
        from disambig.decode.hypergraph_kernels import inside_outside

        mass, partition = np.zeros(len(layout.heads)), np.zeros(len(layout))
        _check(inside_outside(*_arrays(layout), _checked(scores, layout), mass, partition))
        return mass, partition

    def expected(self, scores: Floats, values: Floats, layout: Hypergraphs) -> Floats:
        """Return the mean of what derivations add up to, such as their cost, under the same softmax.

        Parameters
        ----------
        scores, values : arrays of float64, shape (n_rows,)
            Values of forbidden edges do not count, whatever they are.

        Returns
        -------
        array of float64, shape (n,)
            ``E[sum of the values of the derivation's edges]`` of each instance.
        """
        from disambig.decode.hypergraph_kernels import expectations

        values = np.ascontiguousarray(values, np.float64)
        if values.shape != layout.heads.shape:
            raise ValueError(f"{len(values)} values for {len(layout.heads)} edges")
        out = np.zeros(len(layout))
        _check(expectations(*_arrays(layout), _checked(scores, layout), values, out))
        return out

    def top(
        self, scores: Floats, layout: Hypergraphs, k: int
    ) -> list[tuple[Floats, list[NDArray[np.int64]]]]:
        """Return the `k` best derivations of each instance, best first; fewer where there are fewer.

        Ties go to the first edge, so the answer is always the same, and the first is that of `best`.

        Returns
        -------
        list of (scores, derivations)
            Shape ``(k,)``, and as many arrays of rows: an edge, then all below its first tail, then all
            below its second; so the rows of a tree from the top, left to right.

        Raises
        ------
        ValueError
            For a `k` below 1.
        """
        if k < 1:
            raise ValueError(f"the {k} best derivations are none")
        from disambig.decode.k_best_kernels import k_best_derivations

        n = len(layout)
        totals, counts, ends = np.empty((n, k)), np.empty(n, np.int64), np.empty((n, k), np.int64)
        rows = k_best_derivations(*_arrays(layout), _checked(scores, layout), k, totals, counts, ends)
        found, start = [], 0
        for i, count in enumerate(counts.tolist()):
            own = []
            for end in ends[i, :count].tolist():
                own.append(rows[start:end])
                start = end
            found.append((totals[i, :count], own))
        return found


def _arrays(
    layout: Hypergraphs,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    return layout.offsets, layout.nodes, layout.heads, layout.tails


def _checked(scores: Floats, layout: Hypergraphs) -> Floats:
    """Return scores as the kernels take them."""
    scores = np.ascontiguousarray(scores, np.float64)
    if scores.shape != layout.heads.shape:
        raise ValueError(f"{len(scores)} scores for {len(layout.heads)} edges")
    wrong = np.flatnonzero(~(scores < np.inf))
    if len(wrong):
        raise ValueError(f"the score of row {wrong[0]} is {scores[wrong[0]]}")
    return scores


def _check(without: int) -> None:
    if without >= 0:
        raise ValueError(_NONE_LEFT.format(without))
