"""The dual problem of lists of candidates, with one dual variable for each candidate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, CrossedRows, DenseBlocks, SparseRows, UserError
from disambig.api.arrays import Floats, Ints
from disambig.api.batches import canonical_rows, check_finite, convert, segments
from disambig.api.decoding import from_the_least

STORAGES = (DenseBlocks, SparseRows, CrossedRows)
"""Storages that are used directly; others are converted."""


@dataclass(frozen=True, slots=True, eq=False)
class ReducedLists:
    """Arrays of lists; the first ten are the argument `lists` of the compiled functions."""

    offsets: Ints  # int64 (n + 1,): the candidates of each list
    cols: NDArray[np.int32]
    col_starts: Ints  # int64 (n, 2): the columns of list i are ``cols[col_starts[i, 0]:col_starts[i, 1]]``
    ptr: Ints
    # int64 (n,): the entries of candidate y in list i start at ``ptr[ptr_starts[i] + y]``, relative to the
    # list's first entry
    ptr_starts: Ints
    local: NDArray[np.int32]  # column of each entry, as an index into the list's columns
    starts: Ints  # int64 (n, 2): start of each list's entries in `local` and in `values`
    values: NDArray[Any]
    # int64 (n_rows,): for candidates that are crossed with their instance's row: the index of their block of
    # columns
    labels: Ints
    width: int  # number of columns in a block; 0 for lists that are not crossed
    n_columns: int
    # float64 (n_rows,): relative to each list's lowest cost; -1 for candidates that are as good as gold
    cost: Floats
    gold: Ints  # int64 (n,): relative to the list's first candidate
    missing: int  # number of lists whose lowest cost is above zero: none of their candidates is right

    @classmethod
    def from_batch(cls, batch: CandidateBatch) -> ReducedLists:
        """Return the lists of a batch.

        Raises D703 for features and D610 for costs that are NaN or infinite, D705 if there are no lists, D459
        for a batch that cannot be converted.
        """
        if len(batch.offsets) < 2:
            raise UserError("D705")
        taken = convert(batch, *STORAGES, own_labels=True)
        check_finite(taken)
        offsets = np.asarray(taken.offsets, np.int64)
        n = len(offsets) - 1
        gold = _find_gold(taken)
        nothing = np.zeros(0, np.int64)
        if isinstance(taken, DenseBlocks):
            _, k, a = taken.values.shape
            values = exact_precision(taken.values.reshape(-1))
            columns, local = np.unique(taken.column_of, return_inverse=True)
            ends = np.tile(np.array([0, len(columns)]), (n, 1))
            starts = np.stack([np.zeros(n, np.int64), np.arange(n) * k * a], axis=1)
            return cls(
                offsets, columns.astype(np.int32), ends, np.arange(k + 1) * a, np.zeros(n, np.int64),
                local.ravel().astype(np.int32), starts, values, nothing, 0, len(taken.columns), *gold,
            )  # fmt: skip
        if isinstance(taken, CrossedRows):
            rows = canonical_rows(taken.rows)
            values = exact_precision(rows.data)
            ends = np.stack([rows.indptr[:-1], rows.indptr[1:]], axis=1).astype(np.int64)
            starts = np.stack([np.zeros(n, np.int64), ends[:, 0]], axis=1)
            return cls(
                offsets, rows.indices.astype(np.int32, copy=False), ends, nothing, np.zeros(n, np.int64),
                np.zeros(0, np.int32), starts, values, taken.label_of_rows, int(rows.shape[1]),
                len(taken.columns), *gold,
            )  # fmt: skip
        rows = canonical_rows(taken.rows)
        values = exact_precision(rows.data)
        cols, ends, ptr, begins, local, starts, data = _reduce_rows(rows, values, offsets)
        width = len(taken.columns)
        return cls(offsets, cols, ends, ptr, begins, local, starts, data, nothing, 0, width, *gold)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Arguments of the compiled functions."""
        return (
            self.offsets, self.cols, self.col_starts, self.ptr, self.ptr_starts, self.local, self.starts,
            self.values, self.labels, self.width,
        )  # fmt: skip


def exact_precision(data: NDArray[Any]) -> NDArray[Any]:
    """Return finite numbers in single precision if this is exact, otherwise in double precision."""
    if data.dtype == np.float32:
        return data
    with np.errstate(over="ignore"):
        small = data.astype(np.float32)
    return small if (small == data).all() else data.astype(np.float64)


def check_costs(batch: CandidateBatch) -> None:
    """Raise D610 for costs that are NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(batch.cost))
    if len(bad):
        example = segments.find_owner(batch.offsets, bad[0])
        raise UserError("D610", n=len(bad), example=example)


def _find_gold(batch: CandidateBatch) -> tuple[Floats, Ints, int]:
    """Return the attributes `cost`, `gold` and `missing` of `ReducedLists`."""
    check_costs(batch)
    offsets = np.asarray(batch.offsets, np.int64)
    cost = from_the_least(batch)
    gold = segments.first_rows(cost == 0, offsets)
    missing = int((np.asarray(batch.cost)[gold] > 0).sum())
    cost[cost == 0] = -1.0
    cost[gold] = 0.0
    return cost, gold - offsets[:-1], missing


def _reduce_rows(rows: Any, values: NDArray[Any], offsets: Ints) -> tuple[Any, ...]:
    """Return the arrays from `cols` to `values` of lists of sparse rows."""
    from ._list_kernels import reduce_lists

    n = len(offsets) - 1
    if values.dtype == np.float32 and not (values == np.rint(values)).all():
        # differences of integers are exact, other differences would be rounded
        values = values.astype(np.float64)
    arrays = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), values, offsets
    starts, begins = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    empty = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, values.dtype)
    reduce_lists(*arrays, rows.shape[1], False, starts, begins, *empty)
    cols, ptr = np.empty(starts[-1], np.int32), np.empty(int(offsets[-1]) + n, np.int64)
    local, data = np.empty(begins[-1], np.int32), np.empty(begins[-1], values.dtype)
    reduce_lists(*arrays, rows.shape[1], True, starts, begins, cols, ptr, local, data)
    ends = np.stack([starts[:-1], starts[1:]], axis=1)
    return cols, ends, ptr, offsets[:-1] + np.arange(n), local, np.stack([begins[:-1]] * 2, axis=1), data


FLOOR = 40.0
"""Maximum distance of the logarithm of an alpha from the list's largest; from there it can grow again."""
STEPS = 6
"""Maximum number of steps per visit of a list."""
PART_STEPS = 3
"""The same for an instance with dual variables for parts, where each step computes marginals."""
KAPPAS = (16.0, 12.0, 8.0, 6.0, 4.0, 2.0)
"""Starting points that are tried: alpha proportional to ``exp(-kappa L / mean L of a rival)``."""


class GradientDual(ABC):
    """A dual problem whose alphas, or parameters, are all moved along its gradient at once.

    `theta` are the logarithms of the alphas, or the parameters of parts; `weights`, shape ``(n_columns,)``,
    are W.
    """

    C: float
    log_linear: bool
    theta: Any
    dual: float
    _eta: float
    _etas: Floats
    _spans: Floats
    """Bounds on the squared distances between candidates' features, by instance."""
    _weights: Any
    """The weights in the form of `_evaluate`."""

    @property
    def weights(self) -> Floats:
        """W, shape (n_columns,)."""
        weights: Floats = self._weights
        return weights

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of instances."""

    @abstractmethod
    def _initial(self, kappa: float) -> Any:
        """Return the parameters for which alpha is proportional to ``exp(-kappa L)``."""

    @abstractmethod
    def _gradient(self) -> Any:
        """Return the direction of a step."""

    @abstractmethod
    def _move(self, gradient: Any) -> Any:
        """Return the parameters after a step of the current eta."""

    @abstractmethod
    def _evaluate(self, theta: Any) -> tuple[float, Any]:
        """Return the dual and the weights for given parameters."""

    @abstractmethod
    def _change(self, theta: Any, gradient: Any) -> tuple[float, float]:
        """Return the first-order gain of a step to `theta`, and the sum of the absolute changes of alphas."""

    def restart(self, kappa: float, eta: float) -> None:
        """Start with alpha proportional to ``exp(-kappa L)``, and steps of `eta`."""
        self._eta, self._etas = eta, np.full(len(self), eta)
        self.theta = self._initial(kappa)
        self.dual, self._weights = self._evaluate(self.theta)

    def at(self, C: float) -> None:
        """Continue with another C, from the same alphas."""
        self.C = C
        self.dual, self._weights = self._evaluate(self.theta)

    def batch_step(self) -> None:
        """Move all alphas by one step with one eta, as in the slides; eta is halved if the dual falls."""
        from ._list_kernels import next_eta

        gradient = self._gradient()
        safe = float(safe_etas(len(self) * self._spans.max(), self.C, self.log_linear))
        while True:
            theta = self._move(gradient)
            dual, weights = self._evaluate(theta)
            if dual >= self.dual:
                linear, far = self._change(theta, gradient)
                self._eta = next_eta(self._eta, linear, linear - (dual - self.dual), far, self.log_linear)
                self.theta, self._weights, self.dual = theta, weights, dual
                return
            if self._eta <= safe:  # the remaining gain is below rounding error
                return
            self._eta = max(0.5 * self._eta, safe)


class ListDual(GradientDual):
    """Alphas of candidates in lists and the corresponding weights (see `GradientDual`).

    `theta`, shape ``(n_rows,)``, is minus infinity for candidates that are left out. The loss is ``"hinge"``,
    ``"cost"`` or ``"log"``; each visit takes `steps` steps. No logarithm of an alpha is further than `floor`
    below the list's largest one.
    """

    def __init__(
        self, lists: ReducedLists, loss: str, C: float, *, steps: int = STEPS, floor: float = FLOOR
    ) -> None:
        from ._list_kernels import squared_spans

        self.lists, self.C, self.steps = lists, C, steps
        self.log_linear = loss == "log"
        self._floor = np.inf if self.log_linear else floor
        self._left_out = lists.cost < 0
        self.loss = lists.cost if loss != "hinge" else np.where(self._left_out, -1.0, np.sign(lists.cost))
        self._sizes = np.diff(lists.offsets)
        self._spans = np.empty(len(lists.gold))
        squared_spans(lists.arrays, self._spans)
        rivals = self.loss[self.loss > 0]
        initial_theta(self, float(rivals.mean()) if len(rivals) else 1.0)

    def _initial(self, kappa: float) -> Floats:
        return self._normalised(np.where(self._left_out, -np.inf, -kappa * self.loss))

    def _normalised(self, theta: Floats) -> Floats:
        normalised: Floats = theta - np.repeat(segments.log_sums(theta, self.lists.offsets), self._sizes)
        return normalised

    def _evaluate(self, theta: Floats) -> tuple[float, Floats]:
        from ._list_kernels import compute_weights

        weights = np.zeros(self.lists.n_columns)
        compute_weights(self.lists.arrays, self.lists.gold, self.C, theta, weights)
        return self._compute_dual(theta, weights), weights

    def _compute_dual(self, theta: Floats, weights: Floats) -> float:
        alpha = np.exp(theta)
        if self.log_linear:
            used = alpha > 0
            bonus = -float(alpha[used] @ theta[used])
        else:
            bonus = float(alpha @ np.maximum(self.loss, 0.0))
        return self.C * bonus - 0.5 * float(weights @ weights)

    def epoch(self, order: NDArray[np.int64], enough: float = 0.0) -> None:
        """Visit the lists in an order; lists with a gap of at most `enough` (a share of C) are skipped."""
        from ._list_kernels import online_epoch

        online_epoch(
            self.lists.arrays, self.loss, self.lists.gold, self.C, self.log_linear, self._floor, self._etas,
            safe_etas(self._spans, self.C, self.log_linear), self.steps, enough, order, self.theta,
            self.weights,
        )  # fmt: skip
        self.dual = self._compute_dual(self.theta, self.weights)

    def _gradient(self) -> Floats:
        from ._list_kernels import all_slopes

        slopes = np.empty(len(self.theta))
        arrays = self.lists.arrays, self.loss, self.lists.gold
        all_slopes(*arrays, self.log_linear, self.theta, self.weights, slopes)
        return slopes

    def _move(self, gradient: Floats) -> Floats:
        offsets = self.lists.offsets
        theta = self.theta + self._eta * gradient
        minimum = segments.maxima(theta, offsets) - self._floor
        theta = np.maximum(theta, np.repeat(minimum, self._sizes))
        theta[self._left_out] = -np.inf
        return self._normalised(theta)

    def _change(self, theta: Floats, gradient: Floats) -> tuple[float, float]:
        delta = np.exp(theta) - np.exp(self.theta)
        return self.C * float(delta @ gradient), float(np.abs(delta).sum())

    def at(self, C: float) -> None:
        """Continue with another C, from the same alphas."""
        self._weights *= C / self.C
        self.C = C
        self.dual = self._compute_dual(self.theta, self.weights)

    def gap(self) -> float:
        """Return primal minus dual for the current weights."""
        from ._list_kernels import gaps

        arrays = self.lists.arrays, self.loss, self.lists.gold
        return self.C * float(gaps(*arrays, self.log_linear, self.theta, self.weights))

    def __len__(self) -> int:
        return len(self.lists.gold)


def initial_theta(dual: GradientDual, unit: float) -> None:
    """Start at the best of several starting points near gold.

    `unit` is the mean nonzero loss: this makes the start independent of the unit of costs.
    """
    best, eta = KAPPAS[0], 0.5 if dual.log_linear else 1.0 / unit
    dual.restart(best / unit, eta)
    for kappa in KAPPAS[1:]:
        before = dual.dual
        dual.restart(kappa / unit, eta)
        if dual.dual < before:
            dual.restart(best / unit, eta)
            return
        best = kappa


def safe_etas(spans: Any, C: float, log_linear: bool) -> Any:
    """Return an eta for which a step never lowers the dual, except by rounding.

    The step gains at least ``C KL / eta`` on the slope and loses ``1/2 C^2 |sum delta phi|^2``, which is
    at most ``1/2 C^2 span |delta|_1^2``; and KL is at least ``1/2 |delta|_1^2`` (Pinsker).

    `spans` are the bounds on squared distances between candidates' features.
    """
    return 1.0 / np.maximum(C * spans + (1.0 if log_linear else 0.0), 1e-30)
