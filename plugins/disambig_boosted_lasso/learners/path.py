"""The path of a stagewise learner: its steps, the models along the path, and where the path ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, LinearScorer, SparseRows
from disambig.api.arrays import Floats, row_owners
from disambig.api.batches import segments

from .pairs import CandidatePairs, base_weights, sparse_lists

REFRESH_INTERVAL = 8192
"""Number of steps after which all sums are recomputed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSettings:
    """How steps are chosen, and their length."""

    # if true, features are chosen by steps of `eps` (eq. 12), otherwise by their optimal steps (eq. 7). When
    # no step of `eps` lowers ExpLoss any more, they are chosen by their optimal steps, if these are allowed
    # (`truncate`)
    grid: bool
    eps: float = 0.5  # step length
    truncate: bool = True  # whether the optimal step is taken if it is smaller
    theta: float = np.inf  # minimum reduction of LassoLoss by a step back (eq. 15); infinite: no steps back
    # for the optimal step (eq. 16, eq. 9); without smoothing steps have length `eps`
    smoothing: float = 0.0
    shrinkage: float = 1.0


@dataclass(slots=True)
class Stepper:
    """Pairs with changing weights; `take` continues from the current state."""

    pairs: CandidatePairs
    steps: StepSettings
    tolerance: float  # stop when no step lowers ExpLoss by more than this share of its initial value
    base: Floats = field(init=False)  # float64 (n_base,): the fixed weights
    loss: float = field(init=False)  # initial ExpLoss
    taken: int = field(init=False, default=0)
    _rule: Any = field(init=False)
    _index: Any = field(init=False)
    _state: Any = field(init=False)

    def __post_init__(self) -> None:
        from ._kernels import PairIndex, StepRule, StepState

        pairs, steps = self.pairs, self.steps
        self.base = base_weights(pairs.base)
        weight = np.exp(-(pairs.base @ self.base)) if len(self.base) else np.ones(len(pairs))
        self.loss = float(weight.sum())
        back = bool(np.isfinite(steps.theta))
        self._rule = StepRule(
            steps.grid, float(steps.eps), steps.truncate, back, float(steps.theta), float(steps.smoothing),
            float(steps.shrinkage), self.tolerance * self.loss,
        )  # fmt: skip
        values = pairs.values
        with np.errstate(over="ignore"):
            up, down = -np.expm1(-steps.eps * values), -np.expm1(steps.eps * values)
        largest = np.finfo(np.float64).max
        self._index = PairIndex(
            pairs.starts, pairs.features, pairs.codes, values, pairs.ends, pairs.pairs, pairs.pair_codes,
            np.maximum(up, -largest), np.maximum(down, -largest),
        )  # fmt: skip
        n = len(pairs.columns)
        places = 2 << max(n - 1, 0).bit_length()
        n_back = n if back else 0
        runs = int(np.diff(pairs.ends).max(initial=0))
        self._state = StepState(
            weight, np.zeros((n, 8)), np.zeros(n), np.empty(n), np.empty(places, np.int32), np.empty(n_back),
            np.empty(places if back else 2, np.int32), np.zeros(n, np.uint8), np.zeros(n, np.uint8),
            np.empty(n, np.int32), np.empty(runs), np.empty(runs), np.empty(runs, np.int64),
            np.array([self.loss, np.inf, float(np.abs(self.base).sum())]),
        )  # fmt: skip
        self.refresh()

    def refresh(self) -> None:
        """Compute all sums from the pairs' weights."""
        from ._kernels import refresh_sums

        refresh_sums(self._rule, self._index, self._state)

    def take(self, n: int) -> tuple[list[NDArray[Any]], bool]:
        """Take up to `n` steps.

        Return for each step the feature (int32), whether it is a step back, the change of the weight, and
        ExpLoss, alpha and L1 norm afterwards; and whether no step lowers ExpLoss any more.
        """
        from ._kernels import run_steps

        chunks: list[list[NDArray[Any]]] = []
        ended = False
        while n > 0 and not ended:
            size = min(n, REFRESH_INTERVAL - self.taken % REFRESH_INTERVAL)
            out = [np.empty(size, np.int32), np.empty(size, np.bool_), *(np.empty(size) for _ in range(4))]
            taken, code = run_steps(self._rule, self._index, self._state, *out)
            chunks.append([array[:taken] for array in out])
            self.taken += taken
            n -= taken
            ended = bool(code)
            if ended and self._rule.grid and self._rule.truncate:
                self._rule, ended = self._rule._replace(grid=False), False
                self.refresh()
                continue
            if not ended and self.taken % REFRESH_INTERVAL == 0:
                self.refresh()
        columns = zip(*chunks, strict=True) if chunks else ([np.zeros(0)] for _ in range(6))
        return [np.concatenate(arrays) for arrays in columns], ended

    @property
    def sums(self) -> tuple[Floats, Floats]:
        """The current weights of pairs and sums of features (see the step functions of `_kernels`)."""
        return self._state.pair_weights.copy(), self._state.sums.copy()


_POINTS = 100
"""Number of points of a curve in a report."""


@dataclass(frozen=True, slots=True, eq=False)
class LearningPath:
    """Steps from the weight of the base score alone to the last model; step 0 is before the first step."""

    start: Floats  # float64 (n_columns,): weights before the first step: those of the base score
    columns: NDArray[np.int64]  # (n_steps,): the flat weight that each step changes
    steps: Floats  # float64 (n_steps,): change of the weight, with its sign
    backward: NDArray[np.bool_]  # (n_steps,): which steps are steps back of BLasso
    # float64 (n_steps + 1,): ExpLoss, L1 norm including the base weights, and alpha (initially infinite)
    # after each step
    losses: Floats
    norms: Floats
    alphas: Floats
    ended: str  # reason for the end of the path: "no step lowers the loss", "steps", "development data"
    # float64 (n_steps + 1,): mean cost of the winners on development data after each step
    dev_costs: Floats | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def weights(self, step: int | None = None) -> Floats:
        """Return the flat weights after a step, by default the last one: sums of the steps."""
        weights = self.start.copy()
        np.add.at(weights, self.columns[:step], self.steps[:step])
        weights[np.abs(weights) < 1e-12] = 0.0  # steps back and forth leave rounding errors
        return weights

    def scorer(self, step: int | None = None) -> LinearScorer:
        """Return the scorer after a step, by default the last one."""
        return LinearScorer(self.weights(step))

    def costs(self, batch: CandidateBatch) -> Floats:
        """Return the mean cost of the winners of some lists after each step, shape (n_steps + 1,).

        Only lists with the changed feature are evaluated after a step.
        """
        tracker = WinnerTracker.from_batch(batch, self.start)
        return np.concatenate([[tracker.mean], tracker.follow(self.columns, self.steps)])

    def best(self) -> int:
        """Return the first step with the lowest cost on development data; without these, the last step."""
        return len(self) if self.dev_costs is None else int(self.dev_costs.argmin())

    def report(self, step: int) -> dict[str, Any]:
        """Return a report on the path and the chosen step, as plain values."""
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
class WinnerTracker:
    """Lists whose winners are updated from step to step."""

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
    def from_batch(cls, batch: CandidateBatch, weights: Floats) -> WinnerTracker:
        """Return the lists of a batch, scored with some weights."""
        lists = sparse_lists(batch)
        scores = lists.scores(weights)
        winners = segments.best_rows(scores, lists.offsets)
        list_of = row_owners(lists.offsets)
        total = float(lists.cost[winners].sum(dtype=np.float64))
        return cls(lists, lists.rows.tocsc(), list_of, scores, winners, total)

    @property
    def mean(self) -> float:
        """Current mean cost of the winners."""
        return self.total / len(self.winners)

    def follow(self, columns: NDArray[np.int64], steps: Floats) -> Floats:
        """Apply some steps; return the mean cost after each."""
        from ._kernels import follow_winners

        totals = np.empty(len(columns))
        matrix = self.by_column
        self.total = follow_winners(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data, self.list_of,
            self.lists.offsets, self.cost, columns, steps, self.scores, self.winners, self.total, totals,
        )  # fmt: skip
        return totals / len(self.winners)


_STEPS_PER_CALL = 512
"""Number of steps between evaluations on development data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLimits:
    """Stopping criteria of a path."""

    most: int  # maximum number of steps
    tolerance: float  # stop when no step lowers ExpLoss by more than this share of its initial value
    patience: int  # stop after this number of steps without a lower cost on development data


def compute_path(
    pairs: CandidatePairs, steps: StepSettings, limits: PathLimits, dev: CandidateBatch | None = None
) -> LearningPath:
    """Return the path of a learner on some pairs; the winners of a development batch are followed along it.

    The steps do not depend on development data, only their number does.
    """
    stepper = Stepper(pairs, steps, limits.tolerance)
    start = np.zeros(pairs.n_columns)
    start[pairs.base_columns] = stepper.base
    tracker = None if dev is None or len(dev.offsets) < 2 else WinnerTracker.from_batch(dev, start)
    columns: list[list[NDArray[np.float64]]] = []
    costs = [] if tracker is None else [tracker.mean]
    best_step, ended = 0, ""
    while not ended:
        chunk, done = stepper.take(min(_STEPS_PER_CALL, limits.most - stepper.taken))
        if done:
            ended = "no step lowers the loss"
        elif stepper.taken >= limits.most:
            ended = "steps"
        if tracker is not None:
            after = tracker.follow(pairs.columns[chunk[0].astype(np.int64)], chunk[2])
            for number, cost in enumerate(after.tolist(), start=1):
                costs.append(cost)
                if cost < costs[best_step]:
                    best_step = len(costs) - 1
                elif len(costs) - 1 - best_step >= limits.patience:
                    chunk = [column[:number] for column in chunk]
                    ended = "development data"
                    break
        columns.append(chunk)
    features, back, changes, losses, alphas, norms = map(np.concatenate, zip(*columns, strict=True))
    return LearningPath(
        start,
        pairs.columns[features.astype(np.int64)],
        changes,
        back.astype(np.bool_),
        np.concatenate([[stepper.loss], losses]),
        np.concatenate([[np.abs(start).sum()], norms]),
        np.concatenate([[np.inf], alphas]),
        ended,
        np.array(costs) if costs else None,
    )
