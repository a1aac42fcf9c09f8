"""The dual problem of charts: what `PackedDual` does with the decoder `Hypergraph`, in machine code.

The parameters of a chart are one for each edge. Features are those of parts that many edges share, each
instance's in columns of its own numbering: what a visit reads and writes lies together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.batches import PartRows
from disambig.api.decoding import Hypergraph, from_the_least

from .listed import checked_costs, finite
from .listed_dual import HARDLY, STEPS_OF_PARTS, next_eta, safe_etas, start

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Charts as the kernels read them.

    Attributes
    ----------
    arrays : tuple
        What `chart_kernels` calls `charts`.
    cost, gold : arrays of float64, shape (n_rows,)
        What each row costs, counted from its instance's least; mass of the gold derivation.
    spans : array of float64, shape (n,)
        Bounds of the squared distance between two derivations' features.
    missing : int
        Instances without a derivation that costs nothing.
    """

    arrays: tuple[Any, ...]
    cost: Floats
    gold: Floats
    spans: Floats
    missing: int

    @classmethod
    def of(cls, batch: PartRows) -> Packed:
        """Return the charts of a batch.

        Raises
        ------
        UserError
            D703 for features and D610 for costs that are NaN or infinite, D705 where there is no instance.
        """
        if len(batch.offsets) < 2:
            raise UserError("D705")
        checked_costs(batch)
        graphs, decoder = batch.layout, Hypergraph()
        offsets = np.asarray(graphs.offsets, np.int64)
        cost = from_the_least(batch, decoder)
        gold = decoder.best(np.where(cost > 0, -np.inf, 0.0), graphs)
        missing = int((np.add.reduceat(gold * batch.cost, offsets[:-1]) > 0).sum())
        parts, counts, entries, columns = _by_instance(batch)
        data = np.concatenate([each.data for each in entries])
        sizes = np.concatenate([np.diff(each.indptr) for each in entries])
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        values = finite(data, starts, ptr)
        used = np.concatenate([[0], np.cumsum([len(each) for each in columns])]).astype(np.int64)
        arrays = (
            offsets, np.asarray(graphs.nodes, np.int64), graphs.heads, graphs.tails, parts, starts, ptr,
            np.concatenate([each.indices for each in entries]).astype(np.int32), values,
            np.concatenate(columns).astype(np.int32), used,
        )  # fmt: skip
        most = np.add.reduceat(decoder.best(np.ones(len(cost)), graphs), offsets[:-1])
        longest = np.maximum.reduceat(batch.row_sqnorm(), offsets[:-1])
        return cls(arrays, cost, gold, 4.0 * most**2 * longest, missing)


class ChartDual:
    """Parameters of the edges of charts and the weights that their marginals make (see `PackedDual`).

    Parameters
    ----------
    batch : PartRows
        Its layout is `Hypergraphs`.
    loss : str
        ``"cost"``: the sum of what edges cost, or ``"log"``.
    C : float
    steps : int
        Of a visit to a chart.
    """

    def __init__(self, batch: PartRows, loss: str, C: float, *, steps: int = STEPS_OF_PARTS) -> None:
        packed = Packed.of(batch)
        self._charts, self._gold, self._spans = packed.arrays, packed.gold, packed.spans
        self.cost, self.missing = packed.cost, packed.missing
        self.C, self.steps, self.log_linear = C, steps, loss == "log"
        self._n_columns = len(batch.columns)
        wrong = self.cost[self.cost > 0]
        start(self, float(wrong.mean()) if len(wrong) else 1.0)

    def __len__(self) -> int:
        return len(self._spans)

    def restart(self, kappa: float, eta: float) -> None:
        """Begin at alpha proportional to ``exp(-kappa L)``, with steps of `eta`."""
        self._eta, self._etas = eta, np.full(len(self), eta)
        self.theta = -kappa * self.cost
        self.at(self.C)

    def at(self, C: float) -> None:
        """Go on with another C, from the same alphas."""
        self.C = C
        self.dual, self.weights = self._evaluated(self.theta)

    def _evaluated(self, theta: Floats) -> tuple[float, Floats]:
        """Return the dual and the weights of given parameters."""
        from .chart_kernels import weigh

        weights = np.zeros(self._n_columns)
        bonus = weigh(self._charts, self.cost, self._gold, self.C, self.log_linear, theta, weights)
        return self.C * float(bonus) - 0.5 * float(weights @ weights), weights

    def epoch(self, order: Ints, enough: float = 0.0) -> None:
        """Make steps for each chart, in an order; `enough` is not used."""
        from .chart_kernels import online

        safe = safe_etas(self._spans, self.C, self.log_linear)
        self.dual += online(
            self._charts, self.cost, self.C, self.log_linear, self._etas, safe, HARDLY, self.steps, order,
            self.theta, self.weights,
        )  # fmt: skip

    def batch_step(self) -> None:
        """Move all parameters by one step with the same eta; it is halved where the dual falls."""
        from .chart_kernels import moved, slopes

        slope = np.empty_like(self.theta)
        slopes(self._charts, self.cost, self.log_linear, self.theta, self.weights, slope)
        safe = float(safe_etas(len(self) * self._spans.max(), self.C, self.log_linear))
        while True:
            then = self.theta + self._eta * slope
            dual, weights = self._evaluated(then)
            if dual >= self.dual:
                gain, far = moved(self._charts, self.theta, then, slope)
                linear = self.C * float(gain)
                bend = linear - (dual - self.dual)
                self._eta = next_eta(self._eta, linear, bend, float(far), self.log_linear)
                self.theta, self.weights, self.dual = then, weights, dual
                return
            if self._eta <= safe:  # what is left to gain is lost in rounding
                return
            self._eta = max(0.5 * self._eta, safe)

    def gap(self) -> float:
        """Return primal less dual at these weights."""
        from .chart_kernels import gaps

        return self.C * float(gaps(self._charts, self.cost, self.log_linear, self.theta, self.weights))


def _by_instance(batch: PartRows) -> tuple[NDArray[np.int32], list[int], list[Any], list[Ints]]:
    """Return rows' parts by instance, how many these are, their features in own columns, and these."""
    from scipy.sparse import csr_array

    features = csr_array(batch.features)
    if not features.has_canonical_format:
        features = features.copy()
        features.sum_duplicates()
    parts = np.empty(batch.parts.shape, np.int32)
    counts, entries, columns = [], [], []
    offsets = batch.offsets.tolist()
    for first, last in pairwise(offsets):
        rows = batch.parts[first:last]
        used, numbers = np.unique(rows, return_inverse=True)
        none = int(len(used) > 0 and used[0] < 0)  # -1, for none, becomes 0 - 1
        parts[first:last] = numbers.reshape(rows.shape) - none
        own = features[used[none:]]
        of_instance, local = np.unique(own.indices, return_inverse=True)
        counts.append(len(used) - none)
        entries.append(csr_array((own.data, local.ravel(), own.indptr), (own.shape[0], len(of_instance))))
        columns.append(of_instance.astype(np.int64))
    return parts, counts, entries, columns
