"""The bootstrap: sentences, documents or instances are drawn anew, again and again, for both systems alike.

How often each unit is drawn is all that a draw is; a measure that is made of sums (`AddsUp`) is worked out
for thousands of draws in one product of matrices, one that `Reweighs` from the same numbers, any other one
from the instances themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from disambig.measures.contract import AddsUp, Measure, Reweighs
from disambig.measures.outcomes import Outcomes

Floats = NDArray[np.float64]
DRAWS = 10_000
SHARE = 0.95
_CELLS = 4_000_000
"""Numbers held at a time."""
_ALIKE = 8
_FEW = 16
"""Units are drawn by kind where there are `_ALIKE` times fewer kinds than units, and few sums."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Two systems on the same instances.

    Attributes
    ----------
    first, second : float
        Their figures.
    difference : float
        The second less the first.
    first_interval, second_interval, interval : (float, float)
        Percentile intervals of the three.
    p : float
        Two-sided: how often a draw, moved so that there is no difference on average, differs as much. Never
        0; 1 where nothing differs.
    n_units, draws : int
        Units drawn from; draws in which the measure is defined.
    """

    first: float
    second: float
    difference: float
    first_interval: tuple[float, float]
    second_interval: tuple[float, float]
    interval: tuple[float, float]
    p: float
    n_units: int
    draws: int


def paired_bootstrap(
    measure: Measure,
    first: Outcomes,
    second: Outcomes,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    share: float = SHARE,
) -> Paired:
    """Compare two systems on the same instances.

    Parameters
    ----------
    measure : Measure
    first, second : Outcomes
        Of the same instances in the same order; the units drawn are those of `first`.
    draws, seed : int
    share : float
        Of the draws that lie in an interval.

    References
    ----------
    Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 13 and 16; Koehn, Statistical
    significance tests for machine translation evaluation (EMNLP 2004).
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} instances beside {len(second)}: they must be the same ones")
    figures = measure.value(first), measure.value(second)
    drawn = resampled(measure, [first, second], draws=draws, seed=seed)
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    differences = drawn[:, 1] - drawn[:, 0]
    difference = figures[1] - figures[0]
    return Paired(
        *figures,
        difference,
        _interval(drawn[:, 0], share),
        _interval(drawn[:, 1], share),
        _interval(differences, share),
        _p(differences, difference),
        len(np.unique(first.units)),
        len(drawn),
    )


def bootstrap_interval(
    measure: Measure, outcomes: Outcomes, *, draws: int = DRAWS, seed: int = 0, share: float = SHARE
) -> tuple[float, float]:
    """Return the percentile interval of a figure; NaN where it is not defined in any draw."""
    drawn = resampled(measure, [outcomes], draws=draws, seed=seed)[:, 0]
    return _interval(drawn[np.isfinite(drawn)], share)


def resampled(measure: Measure, systems: Sequence[Outcomes], *, draws: int, seed: int) -> Floats:
    """Return the figure of each system in each draw, shape ``(draws, n_systems)``; NaN where not defined.

    In a draw all systems have the same units: those of the first one's instances.
    """
    units, of_unit = np.unique(systems[0].units, return_inverse=True)
    n = len(units)
    rng = np.random.default_rng(seed)
    if n == 0 or draws == 0:
        return np.full((draws, len(systems)), np.nan)
    if isinstance(measure, AddsUp):
        tables = [_by_unit(measure.terms(system), of_unit, n) for system in systems]
        widths = np.cumsum([0, *(table.shape[1] for table in tables)])
        parts = list(pairwise(widths.tolist()))
        return np.concatenate(
            [
                np.stack([measure.of_sums(sums[:, low:high]) for low, high in parts], axis=1)
                for sums in _drawn_sums(np.hstack(tables), draws, rng)
            ]
        )
    found = np.empty((draws, len(systems)))
    done = 0
    for counts in times_drawn(n, draws, rng, width=len(of_unit)):
        rows = slice(done, done := done + len(counts))
        for at, system in enumerate(systems):
            found[rows, at] = _of_counts(measure, system, counts[:, of_unit])
    return found


def times_drawn(n: int, draws: int, rng: np.random.Generator, *, width: int = 0) -> Iterator[Floats]:
    """Yield how often each of `n` units is drawn, some draws at a time, shape ``(m, n)``."""
    block = max(1, _CELLS // max(n, width))
    for begin in range(0, draws, block):
        m = min(block, draws - begin)
        drawn = rng.integers(0, n, size=(m, n)) + np.arange(m)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=m * n).reshape(m, n).astype(np.float64)


def _drawn_sums(table: Floats, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield the sums of each draw's rows of a table, some draws at a time, shape ``(m, k)``."""
    n, k = table.shape
    if k <= _FEW:
        kinds, number = np.unique(table, axis=0, return_counts=True)
        if len(kinds) * _ALIKE <= n:
            yield rng.multinomial(n, number / n, size=draws) @ kinds
            return
    for counts in times_drawn(n, draws, rng, width=k):
        yield counts @ table


def _of_counts(measure: Measure, outcomes: Outcomes, counts: Floats) -> Floats:
    """Return the figure for each row of how often instances are drawn."""
    if isinstance(measure, Reweighs):
        return measure.reweighed(outcomes, counts)
    instances = np.arange(len(outcomes))
    return np.array(
        [measure.value(outcomes.take(np.repeat(instances, row.astype(np.int64)))) for row in counts]
    )


def _by_unit(terms: Floats, of_unit: NDArray[np.int64], n: int) -> Floats:
    """Return the sums of each unit's rows, shape ``(n, k)``."""
    return np.stack([np.bincount(of_unit, column, minlength=n) for column in terms.T], axis=1)


def _interval(values: Floats, share: float) -> tuple[float, float]:
    if not len(values):
        return float("nan"), float("nan")
    low, high = np.quantile(values, ((1 - share) / 2, (1 + share) / 2))
    return float(low), float(high)


def _p(differences: Floats, difference: float) -> float:
    """Return how many draws, centred, are as far from 0 as the difference is; itself counted as one."""
    if not len(differences) or not np.isfinite(difference):
        return float("nan")
    rounding = 1e-12 * max(1.0, abs(difference))
    as_far = np.count_nonzero(np.abs(differences - difference) >= abs(difference) - rounding)
    return (1 + int(as_far)) / (1 + len(differences))
