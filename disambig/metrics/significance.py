"""Confidence intervals, the paired bootstrap and significance tests.

The bootstrap draws sentences, documents or instances with replacement, the same ones for both systems. A draw
is represented by how often each unit is drawn. A measure made of sums (`AddsUp`) is then computed for
thousands of draws by one matrix product, one that `Reweighs` from the same counts, and any other from the
drawn instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from disambig.data import offsets_from_sizes
from disambig.errors import contract_error, describe_value
from disambig.metrics.outcomes import AddsUp, Measure, Outcomes, Reweighs
from disambig.registry import describe_component
from disambig.type_aliases import Floats

Z95 = 1.959964


def wilson(right: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927); (0, 1) for no observation."""
    if n == 0:
        return 0.0, 1.0
    share, z2 = right / n, Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # rounding can exceed 0 and 1, which would be printed as "-0.0%"
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def mean_interval(tallies: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean share over groups.

    Only the examples of each group are resampled, since the groups themselves are fixed.

    `tallies` holds the number of right examples and of all examples of each group; no group is empty.
    """
    rng = np.random.default_rng(0)
    means = np.mean([rng.binomial(n, right / n, size=2000) / n for right, n in tallies], axis=0)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


DRAWS = 10_000
SHARE = 0.95
_CELLS = 4_000_000
"""Maximum number of array elements held at a time."""
_UNITS_PER_KIND = 8
_MAX_SUMS = 16
"""Units are drawn by kind if there are so many units per kind of them, and at most so many sums."""


@dataclass(frozen=True, slots=True)
class Paired:
    """The comparison of two systems on the same instances.

    Attributes
    ----------
    first, second : float
        The values of the measure.
    difference : float
        The second less the first.
    first_interval, second_interval, interval : (float, float)
        Percentile intervals of the two values and of the difference.
    p : float
        Two-sided p: the share of draws, centred at no difference, with a difference at least as large. It is
        never 0, and 1 if nothing differs.
    n_units, draws : int
        Number of units, and of draws in which the measure is defined.
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


def _checked_value(measure: Measure, outcomes: Outcomes) -> float:
    """Return the value of a measure; D414 if it is not a number."""
    value = measure.value(outcomes)
    if not isinstance(value, float | int | np.floating | np.integer) or isinstance(value, bool):
        component = describe_component("measures", measure)
        raise contract_error(component, f"value returned {describe_value(value)}", "one number")
    return float(value)


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
        Outcomes of the same instances in the same order; the units are those of `first`.
    draws, seed : int
    share : float
        Share of the draws that lie in an interval.

    References
    ----------
    Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 13 and 16; Koehn, Statistical
    significance tests for machine translation evaluation (EMNLP 2004).
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} instances: expected outcomes of the same instances")
    values = _checked_value(measure, first), _checked_value(measure, second)
    drawn = resample_figures(measure, [first, second], draws=draws, seed=seed)
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    differences = drawn[:, 1] - drawn[:, 0]
    difference = values[1] - values[0]
    return Paired(
        *values,
        difference,
        _interval(drawn[:, 0], share),
        _interval(drawn[:, 1], share),
        _interval(differences, share),
        _p_value(differences, difference),
        len(np.unique(first.units)),
        len(drawn),
    )


def bootstrap_interval(
    measure: Measure, outcomes: Outcomes, *, draws: int = DRAWS, seed: int = 0, share: float = SHARE
) -> tuple[float, float]:
    """Return the percentile interval of a measure; NaN if it is not defined in any draw."""
    drawn = resample_figures(measure, [outcomes], draws=draws, seed=seed)[:, 0]
    return _interval(drawn[np.isfinite(drawn)], share)


def resample_figures(measure: Measure, systems: Sequence[Outcomes], *, draws: int, seed: int) -> Floats:
    """Return the value of each system in each draw, shape ``(draws, n_systems)``; NaN if undefined.

    In a draw all systems have the same units, which are those of the first system.
    """
    units, of_unit = np.unique(systems[0].units, return_inverse=True)
    n = len(units)
    rng = np.random.default_rng(seed)
    if n == 0 or draws == 0:
        return np.full((draws, len(systems)), np.nan)
    if isinstance(measure, AddsUp):
        tables = [_by_unit(checked_terms(measure, system), of_unit, n) for system in systems]
        widths = offsets_from_sizes(table.shape[1] for table in tables)
        bounds = list(pairwise(widths.tolist()))
        return np.concatenate(
            [
                np.stack([_checked_figures(measure, sums[:, start:end]) for start, end in bounds], axis=1)
                for sums in _drawn_sums(np.hstack(tables), draws, rng)
            ]
        )
    values = np.empty((draws, len(systems)))
    done = 0
    for counts in times_drawn(n, draws, rng, width=len(of_unit)):
        rows = slice(done, done := done + len(counts))
        for column, system in enumerate(systems):
            values[rows, column] = _figures_of_draws(measure, system, counts[:, of_unit])
    return values


def checked_terms(measure: AddsUp, outcomes: Outcomes) -> Floats:
    """Return the terms of a measure; D414 if they are not a table with a row for each instance."""
    terms = measure.terms(outcomes)
    if not isinstance(terms, np.ndarray) or terms.ndim != 2 or len(terms) != len(outcomes):
        component = describe_component("measures", measure)
        expected = f"an array of shape ({len(outcomes)}, k), one row for each instance"
        raise contract_error(component, f"terms returned {describe_value(terms)}", expected)
    return terms


def _checked_figures(measure: AddsUp, sums: Floats) -> Floats:
    """Return the values of a measure from its sums; D414 if there is not one value for each row."""
    values = measure.of_sums(sums)
    if not isinstance(values, np.ndarray) or values.shape != (len(sums),):
        component = describe_component("measures", measure)
        problem = f"of_sums returned {describe_value(values)} for sums of shape {sums.shape}"
        raise contract_error(component, problem, f"an array of shape ({len(sums)},), one value for each row")
    return values


def times_drawn(n: int, draws: int, rng: np.random.Generator, *, width: int = 0) -> Iterator[Floats]:
    """Yield how often each of `n` units is drawn, in blocks of draws, shape ``(m, n)``."""
    block = max(1, _CELLS // max(n, width))
    for start in range(0, draws, block):
        m = min(block, draws - start)
        # a distinct range of numbers for each draw, so that one bincount counts all draws
        drawn = rng.integers(0, n, size=(m, n)) + np.arange(m)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=m * n).reshape(m, n).astype(np.float64)


def _drawn_sums(table: Floats, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield the sums of each draw's rows of a table, in blocks of draws, shape ``(m, k)``."""
    n, k = table.shape
    if k <= _MAX_SUMS:
        kinds, number = np.unique(table, axis=0, return_counts=True)
        if len(kinds) * _UNITS_PER_KIND <= n:
            # drawing units of the same kind is drawing from a multinomial distribution, which is much cheaper
            yield rng.multinomial(n, number / n, size=draws) @ kinds
            return
    for counts in times_drawn(n, draws, rng, width=k):
        yield counts @ table


def _figures_of_draws(measure: Measure, outcomes: Outcomes, counts: Floats) -> Floats:
    """Return the value for each row of drawing counts."""
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


def _p_value(differences: Floats, difference: float) -> float:
    """Return the share of centred draws as far from 0 as the difference, which counts as a draw."""
    if not len(differences) or not np.isfinite(difference):
        return float("nan")
    # a draw equal to the difference must count in spite of rounding
    rounding = 1e-12 * max(1.0, abs(difference))
    as_far = np.count_nonzero(np.abs(differences - difference) >= abs(difference) - rounding)
    return (1 + int(as_far)) / (1 + len(differences))


def mcnemar(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return the two-sided p of two systems evaluated on the same examples (McNemar 1947, exact binomial).

    Parameters
    ----------
    first, second : arrays of bool, shape (n,)
        Whether each system was right, example by example.
    """
    return mcnemar_from_counts(int((first & ~second).sum()), int((second & ~first).sum()))


def mcnemar_from_counts(only_first: int, only_second: int) -> float:
    """Return the result of `mcnemar`, given the numbers of examples that only one system got right."""
    from scipy.special import bdtr

    n = only_first + only_second
    return 1.0 if n == 0 else min(1.0, 2.0 * float(bdtr(min(only_first, only_second), n, 0.5)))


def chi_squared(right_first: int, n_first: int, right_second: int, n_second: int) -> float:
    """Return the p of two systems from the 2 x 2 table of right and wrong examples, without correction.

    The two sets of examples are assumed to be independent; on the same examples, `mcnemar` has more power.
    """
    right, n = right_first + right_second, n_first + n_second
    if n_first == 0 or n_second == 0 or right in (0, n):
        return 1.0
    share = right / n
    variance = share * (1 - share) * (1 / n_first + 1 / n_second)
    difference = right_first / n_first - right_second / n_second
    return erfc(abs(difference) / sqrt(2 * variance))


def wilcoxon(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the two-sided p of two systems evaluated on the same data sets (Wilcoxon's signed ranks, 1945).

    Parameters
    ----------
    first, second : arrays of float, shape (n,)
        The value of each system on each data set; data sets with equal values are ignored.
    """
    from scipy.stats import wilcoxon as signed_ranks

    # rounded, so that differences by rounding errors are ties
    differences = np.round(np.asarray(first) - np.asarray(second), 12)
    differences = differences[differences != 0]
    return float(signed_ranks(differences).pvalue) if len(differences) else 1.0
