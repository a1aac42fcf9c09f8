"""The dual problem of charts with costs, solved by pairwise steps between derivations."""

from __future__ import annotations

import numpy as np

from disambig.api.arrays import Ints
from disambig.api.batches import PartRows

from .list_dual import STEPS_OF_PARTS
from .part_duals import PackedCharts

PASSES = 10
"""Maximum number of passes over the edges with mass after each pass over the whole charts."""
_SMALL = 0.05
"""Passes over the edges with mass end when one gains less than this share of what the whole charts gained."""


class PairwiseDual:
    """Marginals of the edges of charts and the weights for them, for the loss ``"cost"``.

    With costs the dual is a quadratic function of the marginals, and at its optimum most derivations have no
    mass. A multiplied alpha approaches zero slowly. Here mass moves from the derivation with the lowest score
    plus cost, among those of edges with mass, to the one with the highest, as far as is best, and edges lose
    all of theirs: pairwise Frank-Wolfe steps (Lacoste-Julien and Jaggi, NIPS 2015), without a list of
    derivations (Garber and Meshi, NIPS 2016), one instance at a time (Lacoste-Julien et al., ICML 2013). A
    pass over the charts is followed by passes over their edges with mass, a few per cent of all, because the
    best marginals of a chart depend on those of the others.

    Parameters
    ----------
    batch : PartRows
        Its layout must be `Hypergraphs`.
    C : float
    steps : int
        Maximum number of steps per visit to a chart.

    Attributes
    ----------
    mass : array of float64, shape (n_rows,)
        Marginals; at first those of the gold derivations.
    weights : array of float64, shape (n_columns,)
    dual : float
    missing : int
        Number of charts without a derivation of zero cost.
    """

    def __init__(self, batch: PartRows, C: float, *, steps: int = STEPS_OF_PARTS) -> None:
        packed = PackedCharts.from_batch(batch)
        self._charts, self._n = packed.arrays, len(packed.spans)
        self.cost, self.missing = packed.cost, packed.missing
        self.C, self.steps, self.mass = C, steps, packed.gold.copy()
        self.weights, self.dual = np.zeros(len(batch.columns)), C * float(self.cost @ self.mass)

    def __len__(self) -> int:
        return self._n

    def epoch(self, order: Ints, enough: float = 0.0) -> None:
        """Visit all charts in an order, then their edges with mass.

        Parameters
        ----------
        enough : float
            Gap of a chart, as a share of C, at which a visit ends.
        """
        gained = self._visit(order, enough, whole=True)
        for _ in range(PASSES):
            more = self._visit(order, enough, whole=False)
            if more < _SMALL * gained:
                break

    def _visit(self, order: Ints, enough: float, *, whole: bool) -> float:
        from ._pairwise_kernels import pairwise

        about = self._charts, self.cost, self.C, self.steps, whole, enough
        gained = float(pairwise(*about, order, self.mass, self.weights))
        self.dual += gained
        return gained

    def gap(self) -> float:
        """Return primal minus dual for the current weights."""
        from ._pairwise_kernels import gaps

        return self.C * float(gaps(self._charts, self.cost, self.mass, self.weights))

    def at(self, C: float) -> None:
        """Continue with another C, from the same marginals."""
        self.weights *= C / self.C
        self.C = C
        self.dual = C * float(self.cost @ self.mass) - 0.5 * float(self.weights @ self.weights)
