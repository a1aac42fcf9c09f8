"""The path of a learner that moves one weight a step: any of its models, and what their winners cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, LinearScorer, SparseRows
from disambig.api.batches import segments

from .pairs import canonical_rows

Floats = NDArray[np.float64]
_POINTS = 100
"""Points of a curve in a report."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Steps from the base score's weight alone to the last model; step 0 is before the first one.

    Attributes
    ----------
    start : array of float64, shape (n_columns,)
        Weights before the first step: the base score's.
    columns : array of int64, shape (n_steps,)
        The flat weight that each step moves.
    steps : array of float64, shape (n_steps,)
        By how much: its direction is the sign.
    backward : array of bool, shape (n_steps,)
        Which are steps back of BLasso.
    losses, norms, alphas : arrays of float64, shape (n_steps + 1,)
        ExpLoss, L1 norm with the base weights, and alpha (infinite at first) after each step.
    ended : str
        Why there is no further one: "no step lowers the loss", "steps", "development data".
    dev_costs : array of float64, shape (n_steps + 1,), or None
        Mean cost of the winners on development data after each step.
    """

    start: Floats
    columns: NDArray[np.int64]
    steps: Floats
    backward: NDArray[np.bool_]
    losses: Floats
    norms: Floats
    alphas: Floats
    ended: str
    dev_costs: Floats | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def weights(self, step: int | None = None) -> Floats:
        """Return the flat weights after a step, of all by default: sums of the steps so far."""
        weights = self.start.copy()
        np.add.at(weights, self.columns[:step], self.steps[:step])
        weights[np.abs(weights) < 1e-12] = 0.0  # steps forth and back leave no rounding
        return weights

    def scorer(self, step: int | None = None) -> LinearScorer:
        """Return the scorer after a step, the last by default."""
        return LinearScorer(self.weights(step))

    def costs(self, batch: CandidateBatch) -> Floats:
        """Return what the winners of some lists cost after each step, on average; shape (n_steps + 1,).

        Only lists whose candidates have the feature that moved are looked at.
        """
        follower = Follower.of(batch, self.start)
        return np.concatenate([[follower.mean], follower.follow(self.columns, self.steps)])

    def best(self) -> int:
        """Return the step of least cost on development data, the first of equals; without these the last."""
        return len(self) if self.dev_costs is None else int(self.dev_costs.argmin())

    def report(self, step: int) -> dict[str, Any]:
        """Return what is to be said of the path and the step taken of it, as plain values."""
        points = np.unique(np.linspace(0, len(self), min(_POINTS, len(self) + 1)).astype(np.int64))
        curve = {
            "step": points.tolist(),
            "exp_loss": self.losses[points].tolist(),
            "l1": self.norms[points].tolist(),
        }
        if self.dev_costs is not None:
            curve["dev_cost"] = self.dev_costs[points].tolist()
        weights = self.weights(step)
        return {
            "steps": step,
            "steps_taken": len(self),
            "steps_back": int(self.backward.sum()),
            "ended": self.ended,
            "exp_loss": float(self.losses[step]),
            "l1": float(self.norms[step]),
            "alpha": float(self.alphas[step]) if step else None,
            "nonzero": int(np.count_nonzero(weights)),
            "base_weights": self.start[self.start != 0].tolist(),
            "curve": curve,
        }


@dataclass(slots=True)
class Follower:
    """Lists whose winners are followed from step to step."""

    lists: SparseRows
    by_column: Any
    list_of: NDArray[np.int64]
    scores: Floats
    winners: NDArray[np.int64]
    total: float
    cost: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.cost = self.lists.cost.astype(np.float64)

    @classmethod
    def of(cls, batch: CandidateBatch, weights: Floats) -> Follower:
        """Return the lists of a batch as scored by some weights."""
        lists = canonical_rows(batch)
        scores = lists.scores(weights)
        winners = lists.offsets[:-1] + segments.argmax(scores, lists.offsets)
        list_of = np.repeat(np.arange(len(winners)), np.diff(lists.offsets))
        total = float(lists.cost[winners].sum(dtype=np.float64))
        return cls(lists, lists.rows.tocsc(), list_of, scores, winners, total)

    @property
    def mean(self) -> float:
        """What the winners cost now, on average."""
        return self.total / len(self.winners)

    def follow(self, columns: NDArray[np.int64], steps: Floats) -> Floats:
        """Take some steps; return the mean cost after each."""
        from .path_kernels import follow

        totals = np.empty(len(columns))
        matrix = self.by_column
        self.total = follow(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data, self.list_of,
            self.lists.offsets, self.cost, columns, steps, self.scores, self.winners, self.total, totals,
        )  # fmt: skip
        return totals / len(self.winners)
