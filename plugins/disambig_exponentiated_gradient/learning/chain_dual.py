"""The dual problem of sequences of labels: what `PackedDual` does with the decoder `Chain`, in machine code.

The parameters of a sequence are one for each label at each place and one table for its steps, for every
update adds the same table to all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api.batches import SequenceRows

from .listed import canonical, checked_costs, finite
from .listed_dual import HARDLY, STEPS_OF_PARTS, next_eta, safe_etas, start

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ChainDual:
    """Parameters of the labels of sequences and the weights that their marginals make.

    Parameters
    ----------
    batch : SequenceRows
    loss : str
        ``"cost"``: the sum of what labels cost, or ``"log"``.
    C : float
    steps : int
        Of a visit to a sequence.
    """

    def __init__(self, batch: SequenceRows, loss: str, C: float, *, steps: int = STEPS_OF_PARTS) -> None:
        from .chain_kernels import products

        checked_costs(batch)
        rows = canonical(batch.rows)
        every = np.arange(rows.shape[0] + 1)
        data = finite(rows.data, every, rows.indptr).astype(np.float64, copy=False)
        self._rows = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), data
        self._starts = np.asarray(batch.layout, np.int64)
        costs = batch.costs.astype(np.float64)
        self.costs = costs - costs.min(axis=1, keepdims=True)
        self._gold = self.costs.argmin(axis=1).astype(np.int64)
        lost = costs.min(axis=1) > 0
        self.missing = int(np.logical_or.reduceat(lost, self._starts[:-1]).sum())
        self.C, self.steps, self.log_linear = C, steps, loss == "log"
        n, k = self.costs.shape
        sizes = np.diff(self._starts)
        self._begins = np.concatenate([[0], np.cumsum(sizes * sizes)]).astype(np.int64)
        self._gram = np.empty(self._begins[-1])
        products(self._rows, self._starts, self._begins, self._gram, np.zeros(rows.shape[1]))
        squares = np.zeros(n)
        np.add.at(squares, np.repeat(np.arange(n), np.diff(rows.indptr)), data * data)
        self._spans = 4.0 * sizes**2 * (1.0 + np.maximum.reduceat(squares, self._starts[:-1]))
        self._own, self._first = np.zeros((rows.shape[1], k)), np.zeros(k)
        self._table = np.zeros((k, k))
        self._places, self._steps = np.zeros((n, k)), np.zeros((len(sizes), k, k))
        self.dual = -np.inf
        wrong = self.costs[self.costs > 0]
        start(self, float(wrong.mean()) if len(wrong) else 1.0)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def weights(self) -> Floats:
        """W, as `SequenceRows` lays it out."""
        return np.concatenate([self._own.T.ravel(), self._first, self._table.ravel()])

    def restart(self, kappa: float, eta: float) -> None:
        """Begin at alpha proportional to ``exp(-kappa L)``, with steps of `eta`."""
        self._eta, self._etas = eta, np.full(len(self), eta)
        self._places, self._steps = -kappa * self.costs, np.zeros_like(self._steps)
        self.at(self.C)

    def at(self, C: float) -> None:
        """Go on with another C, from the same alphas."""
        self.C = C
        self.dual, *weights = self._evaluated(self._places, self._steps)
        self._own, self._first, self._table = weights

    def _evaluated(self, places: Floats, steps: Floats) -> tuple[Any, ...]:
        """Return the dual and the weights of given parameters."""
        from .chain_kernels import weigh

        weights = np.zeros_like(self._own), np.zeros_like(self._first), np.zeros_like(self._table)
        about = self._rows, self._starts, self.costs, self._gold, self.C, self.log_linear
        bonus = weigh(*about, places, steps, *weights)
        square = sum(float(np.vdot(part, part)) for part in weights)
        return self.C * float(bonus) - 0.5 * square, *weights

    def epoch(self, order: Ints, enough: float = 0.0) -> None:
        """Make steps for each sequence, in an order; `enough` is not used."""
        from .chain_kernels import online

        self.dual += online(
            self._rows, self._starts, self.costs, self._gram, self._begins, self.C, self.log_linear,
            self._etas, safe_etas(self._spans, self.C, self.log_linear), HARDLY, self.steps, order,
            self._places, self._steps, self._own, self._first, self._table,
        )  # fmt: skip

    def batch_step(self) -> None:
        """Move all parameters by one step with the same eta; it is halved where the dual falls."""
        from .chain_kernels import moved, slopes

        places, steps = np.empty_like(self._places), np.empty_like(self._steps)
        about = self._rows, self._starts, self.costs, self.log_linear
        weights = self._own, self._first, self._table
        slopes(*about, self._places, self._steps, *weights, places, steps)
        safe = float(safe_etas(len(self) * self._spans.max(), self.C, self.log_linear))
        while True:
            then = self._places + self._eta * places, self._steps + self._eta * steps
            dual, *found = self._evaluated(*then)
            if dual >= self.dual:
                slope, far = moved(self._starts, self._places, self._steps, *then, places, steps)
                linear = self.C * float(slope)
                self._eta = next_eta(
                    self._eta, linear, linear - (dual - self.dual), float(far), self.log_linear
                )
                self._places, self._steps = then
                self._own, self._first, self._table = found
                self.dual = dual
                return
            if self._eta <= safe:  # what is left to gain is lost in rounding
                return
            self._eta = max(0.5 * self._eta, safe)

    def gap(self) -> float:
        """Return primal less dual at these weights."""
        from .chain_kernels import gaps

        about = self._rows, self._starts, self.costs, self.log_linear, self._places, self._steps
        return self.C * float(gaps(*about, self._own, self._first, self._table))
