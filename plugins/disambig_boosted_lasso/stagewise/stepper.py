"""Steps taken in compiled code: what is kept between them, and how they are chosen (`Steps`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base_weight import base_weights
from .pairs import Pairs

Floats = NDArray[np.float64]
REFRESH = 8192
"""Steps after which all sums are computed anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
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

    pairs: Pairs
    steps: Steps
    tolerance: float
    base: Floats = field(init=False)
    loss: float = field(init=False)
    taken: int = field(init=False, default=0)
    _rule: Any = field(init=False)
    _index: Any = field(init=False)
    _state: Any = field(init=False)

    def __post_init__(self) -> None:
        from .step_kernels import Index, Rule, State

        pairs, steps = self.pairs, self.steps
        self.base = base_weights(pairs.base)
        weight = np.exp(-(pairs.base @ self.base)) if len(self.base) else np.ones(len(pairs))
        self.loss = float(weight.sum())
        back = bool(np.isfinite(steps.theta))
        self._rule = Rule(
            steps.grid, float(steps.eps), steps.truncate, back, float(steps.theta), float(steps.smoothing),
            float(steps.shrinkage), self.tolerance * self.loss,
        )  # fmt: skip
        values = pairs.values
        with np.errstate(over="ignore"):
            up, down = -np.expm1(-steps.eps * values), -np.expm1(steps.eps * values)
        largest = np.finfo(np.float64).max
        self._index = Index(
            pairs.starts, pairs.features, pairs.codes, values, pairs.ends, pairs.pairs, pairs.pair_codes,
            np.maximum(up, -largest), np.maximum(down, -largest),
        )  # fmt: skip
        n = len(pairs.columns)
        places = 2 << max(n - 1, 0).bit_length()
        behind = n if back else 0
        runs = int(np.diff(pairs.ends).max(initial=0))
        self._state = State(
            weight, np.zeros((n, 8)), np.zeros(n), np.empty(n), np.empty(places, np.int32), np.empty(behind),
            np.empty(places if back else 2, np.int32), np.zeros(n, np.uint8), np.zeros(n, np.uint8),
            np.empty(n, np.int32), np.empty(runs), np.empty(runs), np.empty(runs, np.int64),
            np.array([self.loss, np.inf, float(np.abs(self.base).sum())]),
        )  # fmt: skip
        self.refresh()

    def refresh(self) -> None:
        """Compute all sums from the pairs' weights."""
        from .step_kernels import refresh

        refresh(self._rule, self._index, self._state)

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
        from .step_kernels import run

        found: list[list[NDArray[Any]]] = []
        ended = False
        while n > 0 and not ended:
            size = min(n, REFRESH - self.taken % REFRESH)
            out = [np.empty(size, np.int32), np.empty(size, np.bool_), *(np.empty(size) for _ in range(4))]
            taken, code = run(self._rule, self._index, self._state, *out)
            found.append([array[:taken] for array in out])
            self.taken += taken
            n -= taken
            ended = bool(code)
            if ended and self._rule.grid and self._rule.truncate:
                self._rule, ended = self._rule._replace(grid=False), False
                self.refresh()
                continue
            if not ended and self.taken % REFRESH == 0:
                self.refresh()
        columns = zip(*found, strict=True) if found else ([np.zeros(0)] for _ in range(6))
        return [np.concatenate(arrays) for arrays in columns], ended

    @property
    def sums(self) -> tuple[Floats, Floats]:
        """The pairs' weights and the features' sums as they stand (see `step_kernels`)."""
        return self._state.weight.copy(), self._state.sums.copy()
