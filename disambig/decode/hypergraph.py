"""Hypergraphs: their layout and their decoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data import as_index, take_rows

Ints = NDArray[np.int64]
_PROBLEMS = (
    "",
    "hypergraph {i} has no row",
    "row {row} of hypergraph {i} has the head {head}, its nodes are 0 to {last}",
    "row {row} of hypergraph {i} has the head {head}, the one before a larger head: sort rows by their heads",
    "row {row} of hypergraph {i}, head {head}, has the tails {tails}: tails are smaller than the head, or -1",
    "row {row} of hypergraph {i} has the tails {tails}: an only tail comes first",
    "offsets go down at hypergraph {i}",
)


@dataclass(frozen=True, slots=True, eq=False)
class Hypergraphs:
    """Hypergraphs whose hyperedges are the rows of a batch: the layout of `disambig.decode.hypergraph`.

    A hyperedge leads from its tails, two at most, to its head; without a tail it begins a derivation. A
    derivation of a node is an edge into it and a derivation of each tail; a candidate is a derivation of the
    goal, which is the last node of its instance. A node without edges has no derivation.

    Nodes are numbered within their instance so that tails come before heads (so there is no cycle), and rows
    are sorted by heads.

    Attributes
    ----------
    offsets : array of int64, shape (n + 1,)
        Rows of instance i are ``offsets[i]:offsets[i + 1]``, one at least.
    nodes : array of int64, shape (n + 1,)
        Instance i has ``nodes[i + 1] - nodes[i]`` nodes.
    heads : array of int32, shape (n_rows,)
        Numbers within the instance, from 0.
    tails : array of int32, shape (n_rows, 2)
        Numbers within the instance; -1 for none, an only tail first.

    Raises
    ------
    ValueError
        If the arrays are no such thing; the message names instance and row.
    """

    offsets: Ints
    nodes: Ints
    heads: NDArray[np.int32]
    tails: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name, kind in (
            ("offsets", np.int64),
            ("nodes", np.int64),
            ("heads", np.int32),
            ("tails", np.int32),
        ):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))
        offsets, nodes, heads, tails = self.offsets, self.nodes, self.heads, self.tails
        shapes = offsets.ndim == nodes.ndim == heads.ndim == 1 and tails.shape == (len(heads), 2)
        if not shapes or len(offsets) != len(nodes) or not len(offsets):
            seen = ", ".join(str(each.shape) for each in (offsets, nodes, heads, tails))
            raise ValueError(f"offsets, nodes, heads and tails cannot have the shapes {seen}")
        if offsets[0] != 0 or offsets[-1] != len(heads):
            raise ValueError(f"offsets from {offsets[0]} to {offsets[-1]} for {len(heads)} rows")
        from disambig.decode.hypergraph_kernels import first_problem

        what, i, row = first_problem(offsets, nodes, heads, tails)
        if what:
            own = {"i": i, "row": row - int(offsets[i]), "last": int(nodes[i + 1] - nodes[i]) - 1}
            there = {"head": heads[row], "tails": tails[row].tolist()} if row < len(heads) else {}
            raise ValueError(_PROBLEMS[what].format(**own, **there))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: NDArray[np.int64]) -> Hypergraphs:
        """Return the hypergraphs of the instances in `index`, in that order."""
        index = as_index(index)
        rows, offsets = take_rows(self.offsets, index)
        nodes = np.concatenate([[0], np.cumsum(np.diff(self.nodes)[index])])
        return Hypergraphs(offsets, nodes, self.heads[rows], self.tails[rows])

    def reached(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of some rows are in a derivation that has none but such rows, shape ``(n_rows,)``.

        Of an instance without such a derivation it is no row.
        """
        from disambig.decode.hypergraph_kernels import in_derivations

        if rows.shape != self.heads.shape:
            raise ValueError(f"{len(rows)} marks for {len(self.heads)} rows")
        out = np.empty(len(rows), np.bool_)
        in_derivations(self.offsets, self.nodes, self.heads, self.tails, rows.astype(np.bool_), out)
        return out

    def keep(self, rows: NDArray[np.bool_]) -> tuple[Hypergraphs, Ints]:
        """Return the hypergraphs of some rows alone, less those in no derivation, and the rows that are left.

        Raises
        ------
        ValueError
            If an instance has no derivation left.
        """
        reached = self.reached(rows)
        left = np.flatnonzero(reached)
        sizes = np.add.reduceat(reached, self.offsets[:-1]) if len(self) else np.zeros(0, np.int64)
        if len(sizes) and not sizes.all():
            raise ValueError(f"hypergraph {int(np.argmin(sizes))} has no derivation left")
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        instances = np.repeat(np.arange(len(self)), sizes)
        heads = self.heads[left] + self.nodes[instances]
        used = np.unique(heads)
        nodes = np.searchsorted(used, self.nodes)
        numbers = np.cumsum(np.bincount(used, minlength=int(self.nodes[-1]))) - 1
        tails = self.tails[left]
        tails = np.where(
            tails < 0, -1, numbers[tails + self.nodes[instances][:, None]] - nodes[instances][:, None]
        )
        return Hypergraphs(offsets, nodes, numbers[heads] - nodes[instances], tails), left


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
        from disambig.decode.hypergraph_kernels import k_best_derivations

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
