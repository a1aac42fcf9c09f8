"""Layout of hypergraphs, and their decoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import as_index, offsets_from_sizes, row_owners, take_rows
from disambig.type_aliases import Floats, Ints

_PROBLEMS = (
    "",
    "hypergraph {i} has no row",
    "row {row} of hypergraph {i} has the head {head}, its nodes are 0 to {last}",
    "row {row} of hypergraph {i} has the head {head}, the one before a larger head: sort rows by their heads",
    "row {row} of hypergraph {i}, head {head}, has the tails {tails}: tails are smaller than the head, or -1",
    "row {row} of hypergraph {i} has the tails {tails}: a single tail comes first",
    "offsets decrease at hypergraph {i}",
)


@dataclass(frozen=True, slots=True, eq=False)
class Hypergraphs:
    """Layout of hypergraphs whose hyperedges are the rows of a batch, for `Hypergraph`.

    A hyperedge leads from its tails, at most two, to its head; one without tails begins a derivation. A
    derivation of a node consists of an edge into it and a derivation of each tail; a candidate is a
    derivation of the goal, which is the last node of its instance. A node without edges has no derivation.

    Nodes are numbered within their instance so that tails come before heads, which excludes cycles, and rows
    are sorted by heads.

    Attributes
    ----------
    offsets : array of int64, shape (n + 1,)
        The rows of instance i are ``offsets[i]:offsets[i + 1]``, at least one.
    nodes : array of int64, shape (n + 1,)
        Instance i has ``nodes[i + 1] - nodes[i]`` nodes.
    heads : array of int32, shape (n_rows,)
        Numbers within the instance, from 0.
    tails : array of int32, shape (n_rows, 2)
        Numbers within the instance; -1 for none, an only tail first.

    Raises
    ------
    ValueError
        If the arrays are not valid; the message names instance and row.
    """

    offsets: Ints
    nodes: Ints
    heads: NDArray[np.int32]
    tails: NDArray[np.int32]

    def __post_init__(self) -> None:
        dtypes = {"offsets": np.int64, "nodes": np.int64, "heads": np.int32, "tails": np.int32}
        for name, dtype in dtypes.items():
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype))
        offsets, nodes, heads, tails = self.offsets, self.nodes, self.heads, self.tails
        fits = offsets.ndim == nodes.ndim == heads.ndim == 1 and tails.shape == (len(heads), 2)
        if not fits or len(offsets) != len(nodes) or not len(offsets):
            seen = ", ".join(str(array.shape) for array in (offsets, nodes, heads, tails))
            raise ValueError(f"offsets, nodes, heads and tails have shapes that do not fit together: {seen}")
        if offsets[0] != 0 or offsets[-1] != len(heads):
            raise ValueError(f"offsets from {offsets[0]} to {offsets[-1]} for {len(heads)} rows")
        from disambig.decode.hypergraph_kernels import first_problem

        problem, i, row = first_problem(offsets, nodes, heads, tails)
        if problem:
            place = {"i": i, "row": row - int(offsets[i]), "last": int(nodes[i + 1] - nodes[i]) - 1}
            edge = {"head": heads[row], "tails": tails[row].tolist()} if row < len(heads) else {}
            raise ValueError(_PROBLEMS[problem].format(**place, **edge))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: NDArray[np.int64]) -> Hypergraphs:
        """Return the hypergraphs of the instances in `index`, in that order."""
        index = as_index(index)
        rows, offsets = take_rows(self.offsets, index)
        nodes = offsets_from_sizes(np.diff(self.nodes)[index])
        return Hypergraphs(offsets, nodes, self.heads[rows], self.tails[rows])

    def reached(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the rows that are in a derivation that uses only `rows`, shape ``(n_rows,)``.

        False for all rows of an instance without such a derivation.
        """
        from disambig.decode.hypergraph_kernels import in_derivations

        if rows.shape != self.heads.shape:
            raise ValueError(f"{len(rows)} marks for {len(self.heads)} rows")
        out = np.empty(len(rows), np.bool_)
        in_derivations(self.offsets, self.nodes, self.heads, self.tails, rows.astype(np.bool_), out)
        return out

    def keep(self, rows: NDArray[np.bool_]) -> tuple[Hypergraphs, Ints]:
        """Restrict the hypergraphs to the `rows` that are in a derivation; return them and these rows.

        Raises
        ------
        ValueError
            If an instance has no derivation left.
        """
        reached = self.reached(rows)
        kept = np.flatnonzero(reached)
        sizes = np.add.reduceat(reached, self.offsets[:-1]) if len(self) else np.zeros(0, np.int64)
        if len(sizes) and not sizes.all():
            raise ValueError(f"hypergraph {int(np.argmin(sizes))} has no derivation left")
        offsets = offsets_from_sizes(sizes)
        instances = row_owners(offsets)
        # renumber the nodes that still have an edge, first over all instances, then within each
        heads = self.heads[kept] + self.nodes[instances]
        used = np.unique(heads)
        nodes = np.searchsorted(used, self.nodes)
        numbers = np.cumsum(np.bincount(used, minlength=int(self.nodes[-1]))) - 1
        tails = numbers[self.tails[kept] + self.nodes[instances][:, None]] - nodes[instances][:, None]
        tails = np.where(self.tails[kept] < 0, -1, tails)
        return Hypergraphs(offsets, nodes, numbers[heads] - nodes[instances], tails), kept


@dataclass(frozen=True, slots=True)
class Hypergraph:
    """Decode derivations of hypergraphs by dynamic programming; the layout is `Hypergraphs`.

    A candidate is a derivation of the goal; its score is the sum over its edges. Each method is a sum over
    all derivations in a semiring (`disambig.decode.semirings`): `best` in the maximum semiring, `top` in that
    of the k best (Huang and Chiang 2005), `marginals` in the sum semiring (inside-outside), `expected` in the
    expectation semiring (Li and Eisner 2009). If an edge occurs in a derivation more than once, which is
    impossible in a chart, masses are counts. With ``scores + cost`` as `scores`, `best` and `top` are
    loss-augmented.

    Minus infinity forbids an edge. `best`, `marginals` and `expected` raise ValueError if no derivation is
    left.
    """

    needs_layout: ClassVar[type] = Hypergraphs

    def best(self, scores: Floats, layout: Hypergraphs) -> Floats:
        """Return a mass of one for the edges of the best derivations, zero for others."""
        from disambig.decode.hypergraph_kernels import best_derivations

        mass = np.zeros(len(layout.heads))
        _require_derivation(best_derivations(*_arrays(layout), _check_scores(scores, layout), mass))
        return mass

    def marginals(self, scores: Floats, layout: Hypergraphs) -> tuple[Floats, Floats]:
        """Return marginals of edges under a softmax over derivations, and each instance's log partition."""
        from disambig.decode.hypergraph_kernels import inside_outside

        mass, partition = np.zeros(len(layout.heads)), np.zeros(len(layout))
        _require_derivation(inside_outside(*_arrays(layout), _check_scores(scores, layout), mass, partition))
        return mass, partition

    def expected(self, scores: Floats, values: Floats, layout: Hypergraphs) -> Floats:
        """Return the expected sum of edge values, such as costs, over derivations under the same softmax.

        Parameters
        ----------
        scores, values : arrays of float64, shape (n_rows,)
            Values of forbidden edges are ignored.

        Returns
        -------
        array of float64, shape (n,)
            ``E[sum of the values of the derivation's edges]`` for each instance.
        """
        from disambig.decode.hypergraph_kernels import expectations

        values = np.ascontiguousarray(values, np.float64)
        if values.shape != layout.heads.shape:
            raise ValueError(f"{len(values)} values for {len(layout.heads)} edges")
        out = np.zeros(len(layout))
        _require_derivation(expectations(*_arrays(layout), _check_scores(scores, layout), values, out))
        return out

    def top(
        self, scores: Floats, layout: Hypergraphs, k: int
    ) -> list[tuple[Floats, list[NDArray[np.int64]]]]:
        """Return up to `k` best derivations of each instance, the best first; `k` is at least 1.

        Ties are decided for the first edge, so that the result is deterministic and begins with that of
        `best`.

        Returns
        -------
        list of (scores, derivations)
            Shape ``(k,)``, and k arrays of rows in preorder: an edge, then all below its first tail, then all
            below its second.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        from disambig.decode.hypergraph_kernels import k_best_derivations

        n = len(layout)
        totals, counts, ends = np.empty((n, k)), np.empty(n, np.int64), np.empty((n, k), np.int64)
        rows = k_best_derivations(*_arrays(layout), _check_scores(scores, layout), k, totals, counts, ends)
        best, start = [], 0
        for i, count in enumerate(counts.tolist()):
            derivations = []
            for end in ends[i, :count].tolist():
                derivations.append(rows[start:end])
                start = end
            best.append((totals[i, :count], derivations))
        return best


def _arrays(
    layout: Hypergraphs,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    return layout.offsets, layout.nodes, layout.heads, layout.tails


def _check_scores(scores: Floats, layout: Hypergraphs) -> Floats:
    """Check the scores and convert them to the type that functions were compiled for."""
    scores = np.ascontiguousarray(scores, np.float64)
    if scores.shape != layout.heads.shape:
        raise ValueError(f"{len(scores)} scores for {len(layout.heads)} edges")
    invalid = np.flatnonzero(~(scores < np.inf))  # also finds NaN, for which no comparison holds
    if len(invalid):
        raise ValueError(f"the score of row {invalid[0]} is {scores[invalid[0]]}")
    return scores


def _require_derivation(instance: int) -> None:
    """Raise ValueError for an instance without a derivation; -1 if all have one."""
    if instance >= 0:
        raise ValueError(f"hypergraph {instance}: every derivation is forbidden")
