"""The dual problems of structures (chains and charts), with dual variables for parts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, Decoder, UserError
from disambig.api.arrays import Floats, Ints, join_offsets, offsets_from_sizes, row_owners
from disambig.api.batches import PartRows, SequenceRows, canonical_rows, check_finite, segments
from disambig.api.decoding import Hypergraph, from_the_least, structured_examples

from .list_dual import (
    PART_STEPS,
    GradientDual,
    check_costs,
    exact_precision,
    initial_theta,
    safe_etas,
)


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """One instance with its decoder."""

    batch: CandidateBatch
    decoder: Decoder
    cost: Floats  # cost of each row above the lowest cost of a structure
    gold: Floats  # float64 (n_rows,): mass of the gold structure's parts
    span: float  # a bound on the squared distance between the features of two structures

    def marginals(self, theta: Floats) -> tuple[Floats, float]:
        """Return the marginals of the rows, and the log partition function."""
        mass, partition = self.decoder.marginals(theta, self.batch.layout)
        return mass, float(partition[0])


class PackedDual(GradientDual):
    """Parameters of parts and the weights for their marginals (see `ListDual`).

    The loss is ``"cost"`` or ``"log"``; each visit to an instance takes `steps` steps.
    """

    def __init__(
        self, batch: CandidateBatch, decoder: Decoder, loss: str, C: float, *, steps: int = PART_STEPS
    ) -> None:
        if len(batch.offsets) < 2:
            raise UserError("D705")
        check_costs(batch)
        check_finite(batch)
        examples = structured_examples(batch, decoder)
        self.C, self.steps, self.log_linear, self.missing = C, steps, loss == "log", 0
        self._structures: list[Structure] = []
        for i in range(len(examples)):
            one = examples.only(i)
            layout = one.batch.layout
            gold = decoder.best(np.where(one.cost > 0, -np.inf, 0.0), layout)
            self.missing += bool(gold @ one.batch.cost > 0)
            maximum = float(decoder.best(np.ones(len(one.cost)), layout).sum())
            span = 4.0 * maximum * maximum * float(one.batch.row_sqnorm().max())
            self._structures.append(Structure(one.batch, decoder, one.cost, gold, span))
        self._n_columns = len(examples.batch.columns)
        self._spans = np.array([one.span for one in self._structures])
        initial_theta(self, self._unit())

    def _initial(self, kappa: float) -> list[Floats]:
        return [-kappa * one.cost for one in self._structures]

    def __len__(self) -> int:
        return len(self._structures)

    def _unit(self) -> float:
        total, n = 0.0, 0
        for one in self._structures:
            total += float(one.cost.sum())
            n += int((one.cost > 0).sum())
        return total / n if n else 1.0

    def _bonus(self, one: Structure, theta: Floats, mass: Floats, partition: float) -> float:
        """Return the part of the dual that does not depend on the weights, as a share of C."""
        if self.log_linear:
            return partition - _inner(mass, theta)
        return float(mass @ one.cost)

    def _evaluate(self, theta: list[Floats]) -> tuple[float, Floats]:
        weights, bonus = np.zeros(self._n_columns), 0.0
        for one, parameters in zip(self._structures, theta, strict=True):
            mass, partition = one.marginals(parameters)
            weights += self.C * one.batch.adjoint(one.gold - mass)
            bonus += self._bonus(one, parameters, mass, partition)
        return self.C * bonus - 0.5 * float(weights @ weights), weights

    def _slope(self, one: Structure, theta: Floats) -> Floats:
        """Return the direction of a step, up to a constant for all structures, by row."""
        scores = one.batch.scores(self.weights)
        return scores - theta if self.log_linear else one.cost + scores

    def epoch(self, order: Ints, enough: float = 0.0) -> None:
        """Make steps for each instance in an order; `enough` is not used."""
        for i in order.tolist():
            self._visit(i)

    def _visit(self, i: int) -> None:
        """Make the steps on one instance; a step size is halved until the dual does not fall."""
        from ._list_kernels import next_eta

        structure, eta = self._structures[i], float(self._etas[i])
        safe = float(safe_etas(structure.span, self.C, self.log_linear))
        mass, partition = structure.marginals(self.theta[i])
        for _ in range(self.steps):
            theta = self.theta[i]
            slope = self._slope(structure, theta)
            while True:
                new_theta = theta + eta * slope
                new_mass, new_partition = structure.marginals(new_theta)
                linear = self.C * _inner(new_mass - mass, slope)
                change = self.C * structure.batch.adjoint(mass - new_mass)
                curvature = 0.5 * float(change @ change)
                if self.log_linear:
                    divergence = _inner(new_mass, new_theta - theta)
                    curvature += self.C * (divergence - new_partition + partition)
                if linear - curvature >= 0.0 or eta <= safe:
                    break
                eta = max(0.5 * eta, safe)
            if linear - curvature < 0.0:  # the remaining gain is below rounding error
                break
            self.theta[i] = new_theta
            self._weights += change
            self.dual += linear - curvature
            distance = float(np.abs(new_mass - mass).sum())
            eta = next_eta(eta, linear, curvature, distance, self.log_linear)
            mass, partition = new_mass, new_partition
        self._etas[i] = eta

    def _gradient(self) -> list[Floats]:
        return [self._slope(one, theta) for one, theta in zip(self._structures, self.theta, strict=True)]

    def _move(self, gradient: list[Floats]) -> list[Floats]:
        return [theta + self._eta * slope for theta, slope in zip(self.theta, gradient, strict=True)]

    def _change(self, theta: list[Floats], gradient: list[Floats]) -> tuple[float, float]:
        linear = far = 0.0
        for one, before, after, slope in zip(self._structures, self.theta, theta, gradient, strict=True):
            moved = one.marginals(after)[0] - one.marginals(before)[0]
            linear += self.C * _inner(moved, slope)
            far += float(np.abs(moved).sum())
        return linear, far

    def gap(self) -> float:
        """Return primal minus dual for the current weights."""
        total = 0.0
        for one, theta in zip(self._structures, self.theta, strict=True):
            mass, partition = one.marginals(theta)
            scores = one.batch.scores(self.weights)
            if self.log_linear:
                total += one.marginals(scores)[1] - _inner(mass, scores)
                total -= self._bonus(one, theta, mass, partition)
            else:
                augmented = scores + one.cost
                rival = one.decoder.best(augmented, one.batch.layout)
                total += _inner(rival - mass, augmented)
        return self.C * total


def _inner(mass: Floats, values: Floats) -> float:
    """Return the inner product; forbidden rows have no mass and count as zero."""
    used = mass != 0.0
    return float(mass[used] @ values[used])


class ChainDual(GradientDual):
    """Parameters of the labels of sequences and the weights for their marginals.

    The loss is ``"cost"``, the sum of the labels' costs, or ``"log"``; each visit to a sequence takes `steps`
    steps.
    """

    def __init__(self, batch: SequenceRows, loss: str, C: float, *, steps: int = PART_STEPS) -> None:
        from ._chain_kernels import row_products

        check_costs(batch)
        check_finite(batch)
        rows = canonical_rows(batch.rows)
        data = rows.data.astype(np.float64, copy=False)
        self._rows = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), data
        self._starts = np.asarray(batch.layout, np.int64)
        costs = batch.costs.astype(np.float64)
        self.costs = costs - costs.min(axis=1, keepdims=True)
        self._gold = self.costs.argmin(axis=1).astype(np.int64)
        lost = costs.min(axis=1) > 0
        self.missing = int(np.logical_or.reduceat(lost, self._starts[:-1]).sum())
        self.C, self.steps, self.log_linear = C, steps, loss == "log"
        sizes = np.diff(self._starts)
        self._begins = offsets_from_sizes(sizes * sizes)
        self._gram = np.empty(self._begins[-1])
        row_products(self._rows, self._starts, self._begins, self._gram, np.zeros(rows.shape[1]))
        squares = np.zeros(len(self.costs))
        np.add.at(squares, row_owners(rows.indptr), data * data)
        self._spans = 4.0 * sizes**2 * (1.0 + segments.maxima(squares, self._starts))
        self._n_columns = rows.shape[1]
        wrong = self.costs[self.costs > 0]
        initial_theta(self, float(wrong.mean()) if len(wrong) else 1.0)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def weights(self) -> Floats:
        """W, in the layout of `SequenceRows`."""
        label_weights, first, table = self._weights
        return np.concatenate([label_weights.T.ravel(), first, table.ravel()])

    def _initial(self, kappa: float) -> tuple[Floats, Floats]:
        k = self.costs.shape[1]
        return -kappa * self.costs, np.zeros((len(self), k, k))

    def _evaluate(self, theta: tuple[Floats, Floats]) -> tuple[float, tuple[Floats, ...]]:
        from ._chain_kernels import add_weights

        k = self.costs.shape[1]
        weights = np.zeros((self._n_columns, k)), np.zeros(k), np.zeros((k, k))
        problem = self._rows, self._starts, self.costs, self._gold, self.C, self.log_linear
        bonus = add_weights(*problem, *theta, *weights)
        square = sum(float(np.vdot(part, part)) for part in weights)
        return self.C * float(bonus) - 0.5 * square, weights

    def epoch(self, order: Ints, enough: float = 0.0) -> None:
        """Make steps for each sequence in an order; `enough` is not used."""
        from ._chain_kernels import online_epoch

        self.dual += online_epoch(
            self._rows, self._starts, self.costs, self._gram, self._begins, self.C, self.log_linear,
            self._etas, safe_etas(self._spans, self.C, self.log_linear), self.steps, order, *self.theta,
            *self._weights,
        )  # fmt: skip

    def _gradient(self) -> tuple[Floats, Floats]:
        from ._chain_kernels import slopes

        (of_place, of_step), (label_weights, first, table) = self.theta, self._weights
        places, steps = np.empty_like(of_place), np.empty_like(of_step)
        problem = self._rows, self._starts, self.costs, self.log_linear
        slopes(*problem, of_place, of_step, label_weights, first, table, places, steps)
        return places, steps

    def _move(self, gradient: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        (places, steps), (to_places, to_steps) = self.theta, gradient
        return places + self._eta * to_places, steps + self._eta * to_steps

    def _change(self, theta: tuple[Floats, Floats], gradient: tuple[Floats, Floats]) -> tuple[float, float]:
        from ._chain_kernels import marginal_changes

        places, steps = self.theta
        slope, distance = marginal_changes(self._starts, places, steps, *theta, *gradient)
        return self.C * float(slope), float(distance)

    def gap(self) -> float:
        """Return primal minus dual for the current weights."""
        from ._chain_kernels import gaps

        problem = self._rows, self._starts, self.costs, self.log_linear
        return self.C * float(gaps(*problem, *self.theta, *self._weights))


@dataclass(frozen=True, slots=True, eq=False)
class PackedCharts:
    """Charts as arguments of the compiled functions."""

    arrays: tuple[Any, ...]  # the argument `charts` of the compiled functions (see `_chart_kernels`)
    # float64 (n_rows,): cost of each row relative to its instance's lowest cost; mass of the gold derivation
    cost: Floats
    gold: Floats
    spans: Floats  # float64 (n,): bounds on the squared distance between the features of two derivations
    missing: int  # number of instances without a derivation of zero cost

    @classmethod
    def from_batch(cls, batch: PartRows) -> PackedCharts:
        """Return the charts of a batch.

        Raises D703 for features and D610 for costs that are NaN or infinite, D705 if there are no instances.
        """
        if len(batch.offsets) < 2:
            raise UserError("D705")
        check_costs(batch)
        check_finite(batch)
        graphs, decoder = batch.layout, Hypergraph()
        offsets = np.asarray(graphs.offsets, np.int64)
        cost = from_the_least(batch, decoder)
        gold = decoder.best(np.where(cost > 0, -np.inf, 0.0), graphs)
        missing = int((np.add.reduceat(gold * batch.cost, offsets[:-1]) > 0).sum())
        parts, counts, entries, columns = _by_instance(batch)
        data = np.concatenate([entry.data for entry in entries])
        ptr = join_offsets(entry.indptr for entry in entries)
        starts = offsets_from_sizes(counts)
        values = exact_precision(data)
        used = offsets_from_sizes(map(len, columns))
        arrays = (
            offsets, np.asarray(graphs.nodes, np.int64), graphs.heads, graphs.tails, parts, starts, ptr,
            np.concatenate([entry.indices for entry in entries]).astype(np.int32), values,
            np.concatenate(columns).astype(np.int32), used,
        )  # fmt: skip
        maximum = np.add.reduceat(decoder.best(np.ones(len(cost)), graphs), offsets[:-1])
        longest = segments.maxima(batch.row_sqnorm(), offsets)
        return cls(arrays, cost, gold, 4.0 * maximum**2 * longest, missing)


class ChartDual(GradientDual):
    """Parameters of the edges of charts, in the layout `Hypergraphs`, and the weights for their marginals.

    For the loss and the steps see `PackedDual`.
    """

    def __init__(self, batch: PartRows, loss: str, C: float, *, steps: int = PART_STEPS) -> None:
        packed = PackedCharts.from_batch(batch)
        self._charts, self._gold, self._spans = packed.arrays, packed.gold, packed.spans
        self.cost, self.missing = packed.cost, packed.missing
        self.C, self.steps, self.log_linear = C, steps, loss == "log"
        self._n_columns = len(batch.columns)
        wrong = self.cost[self.cost > 0]
        initial_theta(self, float(wrong.mean()) if len(wrong) else 1.0)

    def __len__(self) -> int:
        return len(self._spans)

    def _initial(self, kappa: float) -> Floats:
        return -kappa * self.cost

    def _evaluate(self, theta: Floats) -> tuple[float, Floats]:
        from ._chart_kernels import add_weights

        weights = np.zeros(self._n_columns)
        bonus = add_weights(self._charts, self.cost, self._gold, self.C, self.log_linear, theta, weights)
        return self.C * float(bonus) - 0.5 * float(weights @ weights), weights

    def epoch(self, order: Ints, enough: float = 0.0) -> None:
        """Make steps for each chart in an order; `enough` is not used."""
        from ._chart_kernels import online_epoch

        safe = safe_etas(self._spans, self.C, self.log_linear)
        self.dual += online_epoch(
            self._charts, self.cost, self.C, self.log_linear, self._etas, safe, self.steps, order,
            self.theta, self.weights,
        )  # fmt: skip

    def _gradient(self) -> Floats:
        from ._chart_kernels import slopes

        slope: Floats = np.empty_like(self.theta)
        slopes(self._charts, self.cost, self.log_linear, self.theta, self.weights, slope)
        return slope

    def _move(self, gradient: Floats) -> Floats:
        moved: Floats = self.theta + self._eta * gradient
        return moved

    def _change(self, theta: Floats, gradient: Floats) -> tuple[float, float]:
        from ._chart_kernels import marginal_changes

        slope, distance = marginal_changes(self._charts, self.theta, theta, gradient)
        return self.C * float(slope), float(distance)

    def gap(self) -> float:
        """Return primal minus dual for the current weights."""
        from ._chart_kernels import gaps

        return self.C * float(gaps(self._charts, self.cost, self.log_linear, self.theta, self.weights))


def _by_instance(batch: PartRows) -> tuple[NDArray[np.int32], list[int], list[Any], list[Ints]]:
    """Return the parts and features of a batch, numbered within each instance.

    Returned are the parts of each row as indices into those of the instance, -1 for none; the number of parts
    of each instance; its entries as a csr_array, shape ``(n_parts, n_instance_columns)``; and its columns.
    """
    from scipy.sparse import csr_array

    features = canonical_rows(batch.features)
    parts = np.empty(batch.parts.shape, np.int32)
    counts, entries, columns = [], [], []
    offsets = batch.offsets.tolist()
    for first, last in pairwise(offsets):
        rows = batch.parts[first:last]
        used, numbers = np.unique(rows, return_inverse=True)
        none = int(len(used) > 0 and used[0] < 0)  # index -1 (no part) becomes 0 - 1
        parts[first:last] = numbers.reshape(rows.shape) - none
        part_rows = features[used[none:]]
        own_columns, local = np.unique(part_rows.indices, return_inverse=True)
        shape = part_rows.shape[0], len(own_columns)
        counts.append(len(used) - none)
        entries.append(csr_array((part_rows.data, local.ravel(), part_rows.indptr), shape))
        columns.append(own_columns.astype(np.int64))
    return parts, counts, entries, columns
