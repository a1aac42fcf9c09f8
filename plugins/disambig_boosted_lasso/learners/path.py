"""The path of a stagewise learner: its steps, the models along the path, and where the path ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, LinearScorer, SparseRows
from disambig.api.batches import segments

from .pairs import CandidatePairs, base_weights, canonical_rows

Floats = NDArray[np.float64]
REFRESH_INTERVAL = 8192
"""Steps after which all sums are computed anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSettings:
    """How steps are chosen, and how long they are.

    Attributes
    ----------
    grid : bool
        Features are chosen by steps of `eps` (eq. 12), or else by their optimal steps (eq. 7). From where no
        step of `eps` lowers ExpLoss on, they are chosen by their optimal steps, if these may be taken
        (`truncate`).
    eps : float
        Length of a step.
    truncate : bool
        Whether the optimal step is taken where it is smaller.
    theta : float
        What a step back must lower LassoLoss by (eq. 15); infinite: there are none.
    smoothing, shrinkage : float
        Of the optimal step (eq. 16, eq. 9); without smoothing steps are of `eps`.
    """

    grid: bool
    eps: float = 0.5
    truncate: bool = True
    theta: float = np.inf
    smoothing: float = 0.0
    shrinkage: float = 1.0


@dataclass(slots=True)
class Stepper:
    """Pairs whose weights move; `take` goes on from where it stood.

    Attributes
    ----------
    pairs : Pairs
    steps : Steps
    tolerance : float
        The end: no step lowers ExpLoss by more than this share of what it was at the start.
    base : array of float64, shape (n_base,)
        The fixed weights.
    loss : float
        ExpLoss at the start.
    """

    pairs: CandidatePairs
    steps: StepSettings
    tolerance: float
    base: Floats = field(init=False)
    loss: float = field(init=False)
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
        behind = n if back else 0
        runs = int(np.diff(pairs.ends).max(initial=0))
        self._state = StepState(
            weight, np.zeros((n, 8)), np.zeros(n), np.empty(n), np.empty(places, np.int32), np.empty(behind),
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

        Returns
        -------
        steps : list of arrays
            Feature (int32), whether it is a step back, change of the weight, ExpLoss, alpha and L1 norm
            after it: one each a step.
        ended : bool
            Whether no step lowers ExpLoss any more.
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
        """The pairs' weights and the features' sums as they stand (see `step_kernels`)."""
        return self._state.weight.copy(), self._state.sums.copy()


_POINTS = 100
"""Points of a curve in a report."""


@dataclass(frozen=True, slots=True, eq=False)
class LearningPath:
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
        follower = WinnerTracker.from_batch(batch, self.start)
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
class WinnerTracker:
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
    def from_batch(cls, batch: CandidateBatch, weights: Floats) -> WinnerTracker:
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
        from ._kernels import follow_winners

        totals = np.empty(len(columns))
        matrix = self.by_column
        self.total = follow_winners(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data, self.list_of,
            self.lists.offsets, self.cost, columns, steps, self.scores, self.winners, self.total, totals,
        )  # fmt: skip
        return totals / len(self.winners)


_STEPS_PER_CALL = 512
"""Steps between two looks at development data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLimits:
    """When a path ends.

    Attributes
    ----------
    most : int
        Steps.
    tolerance : float
        No step lowers ExpLoss by more than this share of what it was before the first one.
    patience : int
        Steps in which the cost on development data has not become less.
    """

    most: int
    tolerance: float
    patience: int


def compute_path(
    pairs: CandidatePairs, steps: StepSettings, limits: PathLimits, dev: CandidateBatch | None = None
) -> LearningPath:
    """Return the path of a learner on some pairs, in order; a development batch is followed along it.

    The steps do not depend on development data, only how many there are.
    """
    stepper = Stepper(pairs, steps, limits.tolerance)
    start = np.zeros(pairs.n_columns)
    start[pairs.base_columns] = stepper.base
    follower = None if dev is None or len(dev.offsets) < 2 else WinnerTracker.from_batch(dev, start)
    columns: list[list[NDArray[np.float64]]] = []
    costs = [] if follower is None else [follower.mean]
    least_at, ended = 0, ""
    while not ended:
        some, done = stepper.take(min(_STEPS_PER_CALL, limits.most - stepper.taken))
        if done:
            ended = "no step lowers the loss"
        elif stepper.taken >= limits.most:
            ended = "steps"
        if follower is not None:
            after = follower.follow(pairs.columns[some[0].astype(np.int64)], some[2])
            for number, cost in enumerate(after.tolist(), start=1):
                costs.append(cost)
                if cost < costs[least_at]:
                    least_at = len(costs) - 1
                elif len(costs) - 1 - least_at >= limits.patience:
                    some = [column[:number] for column in some]
                    ended = "development data"
                    break
        columns.append(some)
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
