"""Dual problems of lists and of charts with costs, solved by pairwise steps."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from disambig.api.arrays import Floats, Ints
from disambig.api.batches import PartRows, segments

from .list_dual import PART_STEPS, ReducedLists
from .part_duals import PackedCharts

PASSES = 10
"""Maximum number of passes over what has mass after each pass over everything."""
_SMALL = 0.05
"""Passes over what has mass end when one gains less than this share of what the first pass gained."""


class PairwiseSteps(ABC):
    """A dual problem whose alphas, or marginals, are changed by pairwise steps.

    With costs, and with the hinge loss, the dual is a quadratic function of the alphas, and at its optimum
    most of them are zero. A multiplied alpha approaches zero slowly. Here mass moves from the worst candidate
    that has some to the best one, as far as is best (pairwise Frank-Wolfe steps, Lacoste-Julien and Jaggi,
    NIPS 2015), one instance at a time (Lacoste-Julien et al., ICML 2013). A pass over everything is followed
    by passes over what has mass, a small part, because the best alphas of an instance depend on those of the
    others.
    """

    C: float
    mass: Floats  # float64 (n_rows,): alphas or marginals; at first all of the mass is on the gold candidates
    weights: Floats  # float64 (n_columns,)
    dual: float
    missing: int  # number of instances without a candidate of zero cost

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of instances."""

    @abstractmethod
    def gap(self) -> float:
        """Return primal minus dual for the current weights."""

    @abstractmethod
    def _visit(self, order: Ints, enough: float, *, whole: bool) -> float:
        """Visit instances, or only what has mass in them, and return the gain of the dual."""

    @abstractmethod
    def _loss(self) -> float:
        """Return the expected loss of the alphas, summed over the instances."""

    def epoch(self, order: Ints, enough: float = 0.0) -> None:
        """Visit all instances in an order, then what has mass in them.

        A visit ends when the gap of its instance is at most the share `enough` of C.
        """
        first_gain = self._visit(order, enough, whole=True)
        self.dual += first_gain
        for _ in range(PASSES):
            gain = self._visit(order, enough, whole=False)
            self.dual += gain
            if gain < _SMALL * first_gain:
                break

    def at(self, C: float) -> None:
        """Continue with another C, from the same alphas."""
        self.weights *= C / self.C
        self.C = C
        self.dual = C * self._loss() - 0.5 * float(self.weights @ self.weights)


class PairwiseLists(PairwiseSteps):
    """Alphas of the candidates in lists, for the losses ``"hinge"`` and ``"cost"``.

    `steps` is the maximum number of steps per visit to a list.
    """

    def __init__(self, lists: ReducedLists, loss: str, C: float, *, steps: int = PART_STEPS) -> None:
        self._lists, self.C, self._steps, self.missing = lists, C, steps, lists.missing
        self._left_out = lists.cost < 0
        self._losses = np.where(self._left_out, -1.0, np.sign(lists.cost) if loss == "hinge" else lists.cost)
        self.mass = np.zeros(len(lists.cost))
        self.mass[lists.offsets[:-1] + lists.gold] = 1.0
        self.weights, self.dual = np.zeros(lists.n_columns), 0.0

    def __len__(self) -> int:
        return len(self._lists.gold)

    def _visit(self, order: Ints, enough: float, *, whole: bool) -> float:
        from ._list_kernels import pairwise_epoch

        settings, alphas = (self.C, self._steps, whole, enough), (self.mass, self.weights)
        return float(pairwise_epoch(self._lists.arrays, self._losses, *settings, order, *alphas))

    def _loss(self) -> float:
        return float(self.mass @ np.maximum(self._losses, 0.0))

    def gap(self) -> float:
        """Return primal minus dual for the current weights."""
        from ._list_kernels import all_slopes

        slopes, lists = np.empty(len(self.mass)), self._lists
        all_slopes(lists.arrays, self._losses, lists.gold, False, self.mass, self.weights, slopes)
        maximum = segments.maxima(np.where(self._left_out, -np.inf, slopes), lists.offsets)
        return self.C * float(maximum.sum() - self.mass @ slopes)


class PairwiseCharts(PairwiseSteps):
    """Marginals of the edges of charts, for the loss ``"cost"``.

    Mass moves from the derivation with the lowest score plus cost, among those of edges with mass, to the one
    with the highest, without a list of derivations (Garber and Meshi, NIPS 2016). A few per cent of the edges
    have mass. `steps` is the maximum number of steps per visit to a chart.
    """

    def __init__(self, batch: PartRows, C: float, *, steps: int = PART_STEPS) -> None:
        packed = PackedCharts.from_batch(batch)
        self._charts, self._n = packed.arrays, len(packed.spans)
        self.cost, self.missing = packed.cost, packed.missing
        self.C, self.steps, self.mass = C, steps, packed.gold.copy()
        self.weights, self.dual = np.zeros(len(batch.columns)), C * float(self.cost @ self.mass)

    def __len__(self) -> int:
        return self._n

    def _visit(self, order: Ints, enough: float, *, whole: bool) -> float:
        from ._chart_kernels import pairwise_epoch

        settings = self.C, self.steps, whole, enough
        return float(pairwise_epoch(self._charts, self.cost, *settings, order, self.mass, self.weights))

    def _loss(self) -> float:
        return float(self.cost @ self.mass)

    def gap(self) -> float:
        """Return primal minus dual for the current weights."""
        from ._chart_kernels import pairwise_gaps

        return self.C * float(pairwise_gaps(self._charts, self.cost, self.mass, self.weights))
