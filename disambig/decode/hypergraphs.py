"""How the edges of hypergraphs lie in the rows of a batch: packed forests, lattices, anything of parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.rows import index_of, rows_of

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
        index = index_of(index)
        rows, offsets = rows_of(self.offsets, index)
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
