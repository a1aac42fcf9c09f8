"""Calibration of scores to probabilities, padding of scores, and thresholds for rates of flags.

Calibrations are fitted on development text. Thresholds are operating points: the threshold of a group for a
rate of false flags, and one budget of flags for several models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import ScoreBatch, lengths
from disambig.errors import UserError
from disambig.type_aliases import Floats


def top_margins(scores: Floats) -> Floats:
    """Return by how much the best score of each row exceeds the next one; infinite for one candidate."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    ordered = scores.copy()
    ordered.partition(-2, axis=1)
    margins: Floats = ordered[:, -1] - ordered[:, -2]
    return margins


def pad(values: NDArray[Any], offsets: NDArray[np.int64], fill: float) -> NDArray[Any]:
    """Return the values of the candidates as a table, padded with `fill`, shape ``(n, K, ...)``.

    K is the largest number of candidates. Nothing is copied if all instances have as many.
    """
    sizes, shape = lengths(offsets), values.shape[1:]
    if not len(sizes):
        return np.empty((0, 1, *shape), values.dtype)
    k = int(sizes.max())
    if len(values) == len(sizes) * k:
        return values.reshape(len(sizes), k, *shape)
    padded = np.full((len(sizes), k, *shape), fill, values.dtype)
    padded[np.arange(k) < sizes[:, None]] = values
    return padded


def unpad(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Return the values of a padded table without the padding: the inverse of `pad`."""
    return values[np.arange(values.shape[1]) < np.diff(offsets)[:, None]]


ERROR_RATE = 0.01
"""Prior probability that a word is wrong, which all probabilities assume."""
FEATURES = ("log margin", "evidence of the other", "evidence of the observed", "bias")


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Comparison of the best other candidate with the observed one, one row per decision."""

    # int64 (n,): the best candidate that is neither the observed one nor a variant of it; -1 if there is none
    other: NDArray[np.int64]
    # float64 (n, 4): see `FEATURES`. The margin m is used as ``sign(m) log(1 + |m|)``, because doubling a
    # large margin does not double the certainty. Evidence is log(1 + number of sources that know the
    # candidate).
    features: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Coefficients of the log-odds of an error, and scales of the candidates' probabilities."""

    pooled: Floats  # float64 (4,): used for groups without coefficients of their own
    groups: Floats  # float64 (n_groups, 4)
    # float64 (n_groups + 1,): factor of the scores before the softmax, for each group; the last one for all
    # other groups. None in models saved by older releases, which give no probabilities of candidates
    scales: Floats | None = None
    # float64 (n_groups + 1, 2): slope and intercept that convert the log-odds of the best candidate's share
    # into those of it being right, for each group; None to use shares unchanged
    certainty: Floats | None = None

    def log_odds(self, features: Floats, group: int) -> Floats:
        """Return the log-odds of an error if errors were as frequent as right words, shape ``(n,)``."""
        coefficients = self.groups[group] if group < len(self.groups) else self.pooled
        return features @ coefficients

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability of each candidate (see `candidates`); None if there are no `scales`."""
        return scored.map_groups(self._group_probabilities)

    def _group_probabilities(self, scored: ScoreBatch) -> Floats | None:
        padded = self.candidates(pad(scored.scores, scored.offsets, -np.inf), scored.number)
        return None if padded is None else unpad(padded, scored.offsets)

    def candidates(self, scores: Floats, group: int) -> Floats | None:
        """Return the probability that each candidate is the right one, shape ``(n, K)``.

        They sum to one, the candidate with the best score has the highest, and the observed candidate is
        not used. None if there are no `scales`.
        """
        if self.scales is None:
            return None
        entry = group if group < len(self.groups) else -1
        shares = np.exp(log_softmax(scores, float(self.scales[entry])))
        if self.certainty is None or scores.shape[1] < 2:
            return shares
        rows, best = np.arange(len(shares)), scores.argmax(axis=1)
        slope, intercept = self.certainty[entry]
        best_odds = slope * to_log_odds(shares[rows, best]) + intercept
        best_probability = 1.0 / (1.0 + np.exp(-np.clip(best_odds, -30, 30)))
        others = scores.copy()
        others[rows, best] = -np.inf
        alone = np.isneginf(others).all(axis=1)  # instances with one candidate, in a batch with longer lists
        others[alone, best[alone]] = 0.0  # any finite number: the softmax cannot subtract infinities
        # The others share what the best one leaves; a softmax over them alone keeps digits if that is little.
        parts = np.exp(log_softmax(others, float(self.scales[entry])))
        largest = parts.max(axis=1)
        # The best candidate keeps the highest probability p: p >= largest * (1 - p).
        best_probability = np.maximum(best_probability, largest / (1.0 + largest))
        # the minimum matters only if rounding makes another one exceed the best
        shares = parts * (1.0 - best_probability)[:, None]
        probabilities: Floats = np.minimum(shares, best_probability[:, None])
        probabilities[rows, best] = best_probability
        probabilities[alone, best[alone]] = 1.0
        return probabilities


def compare_with_observed(
    scores: Floats, n_hits: NDArray[np.int32], observed: NDArray[np.int32], variants: NDArray[np.bool_]
) -> Comparison:
    """Compare the best other candidate with the observed one.

    `scores` (float64 (n, K)): padded with minus infinity.
    `n_hits` (int32 (n, K)): number of sources that know each candidate.
    `observed` (int32 (n,)): -1 if no candidate is in the text; then there is nothing to compare.
    `variants` (bool (n, K)): whether a candidate is the observed one or a variant of it.
    """
    rows = np.arange(len(scores))
    others = np.where(variants, -np.inf, scores)
    other = others.argmax(axis=1) if len(scores) else np.empty(0, np.int64)
    possible = np.isfinite(others[rows, other]) & (observed >= 0)
    margin = np.where(possible, scores[rows, other] - scores[rows, observed], 0.0)
    features = np.stack(
        [
            np.where(possible, np.sign(margin) * np.log1p(np.abs(margin)), 0.0),
            np.log1p(n_hits[rows, other]),
            np.log1p(n_hits[rows, observed]),
            np.ones(len(scores)),
        ],
        axis=1,
    )
    features[~possible] = (-1e6, 0.0, 0.0, 1.0)
    return Comparison(np.where(possible, other, -1), features)


def to_log_odds(probabilities: Floats) -> Floats:
    """Return the log-odds of probabilities; those of 0 and 1 are finite."""
    clipped = np.minimum(np.maximum(probabilities, 1e-9), 1 - 1e-9)
    odds: Floats = np.log(clipped) - np.log1p(-clipped)
    return odds


def to_probability(log_odds: Floats) -> Floats:
    """Return the probability with the given log-odds."""
    probabilities: Floats = 1.0 / (1.0 + np.exp(-np.minimum(np.maximum(log_odds, -50.0), 50.0)))
    return probabilities


def log_softmax(scores: Floats, scale: float = 1.0) -> Floats:
    """Return the logarithm of the softmax of each row of ``scale * scores``, shape ``(n, K)``."""
    logits = scale * (scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    logs: Floats = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logs


def error_probabilities(log_odds: Floats) -> Floats:
    """Return the probability of an error, assuming that one word in a hundred is wrong.

    It compares the best other candidate with the observed one; it is not the probability of a candidate.
    """
    return to_probability(log_odds + np.log(ERROR_RATE / (1 - ERROR_RATE)))


def substitutes(
    excluded: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Draw another candidate for each instance at random.

    `excluded` (bool (n, K)): candidates that cannot be drawn: the right one, its variants, and padding.
    Returns `substituted` (int32 (n,)): the drawn candidate; -1 if there is no other.
    `rows` (int64 (m,)): instances that have another candidate.
    """
    draws = np.where(excluded, -1.0, rng.random(excluded.shape))
    rows = np.flatnonzero(draws.max(axis=1, initial=-1.0) >= 0)
    substituted = np.full(len(excluded), -1, np.int32)
    substituted[rows] = draws[rows].argmax(axis=1)
    return substituted, rows


SHRINKAGE = 50.0
"""Strength of the pull of each group towards the pooled values, in examples."""


def fit_calibration(
    features: list[Floats], wrong: list[NDArray[np.bool_]], weights: list[Floats]
) -> Calibration:
    """Fit coefficients for each group.

    `features` (list of arrays, each (n_g, 4)): one array per group.
    `wrong` (list of arrays of bool, each (n_g,)): whether the observed candidate was substituted.
    `weights` (list of arrays, each (n_g,)): weight of each row; the wrong and the right rows of a group
    should have the same total weight.
    """
    pooled = fit_logistic(np.concatenate(features), np.concatenate(wrong), np.concatenate(weights))
    groups = [
        fit_logistic(x, y, w, towards=pooled, ridge=SHRINKAGE) if len(x) else pooled
        for x, y, w in zip(features, wrong, weights, strict=True)
    ]
    return Calibration(pooled, np.array(groups).reshape(len(groups), len(pooled)))


def fit_logistic(
    x: Floats, y: NDArray[np.bool_], weights: Floats, *, towards: Floats | None = None, ridge: float = 1.0
) -> Floats:
    """Fit a logistic regression; the coefficient of the first feature, the margin, stays positive.

    `x`: float64 (n, F).
    `y`: bool (n,).
    `weights` (float64 (n,)): weight of each row.
    `towards` (float64 (F,)): coefficients towards which the ridge pulls; by default, the margin alone.
    `ridge`: strength of the pull. There, each feature is in units of its spread, so that all are affected
    equally.
    """
    from scipy.optimize import minimize

    centre = np.array([1.0, 0.0, 0.0, 0.0]) if towards is None else towards
    informative = x[:, 0] > -1e5  # rows without another candidate are marked with -1e6
    x, sign, weights = x[informative], np.where(y[informative], 1.0, -1.0), weights[informative]
    if not len(x):
        return centre
    spread = np.sqrt(np.average(x**2, axis=0, weights=weights)) + 1e-9

    def objective(b: Floats) -> tuple[float, Floats]:
        z = sign * (x @ b)
        loss = weights @ np.logaddexp(0.0, -z)
        pull = (b - centre) * spread
        gradient = -(weights * sign / (1.0 + np.exp(np.clip(z, -50, 50)))) @ x
        return float(loss + 0.5 * ridge * pull @ pull), gradient + ridge * pull * spread

    lowest = np.array([1e-3] + [-np.inf] * (x.shape[1] - 1))
    bounds = [(1e-3, None)] + [(None, None)] * (x.shape[1] - 1)
    result = minimize(objective, np.maximum(centre, lowest), jac=True, bounds=bounds)
    return np.asarray(result.x)


def fit_choices(scores: Sequence[Floats], truth: Sequence[NDArray[np.int32]]) -> tuple[Floats, Floats]:
    """Fit scale and certainty of each group and of all groups together by maximum likelihood.

    `scores` (sequence of arrays, each (n_g, K_g)): scores of examples that the scorers were not trained on.
    `truth` (sequence of arrays of int, each (n_g,)): index of the right candidate of each example.
    Returns `scales`: float64 (n_groups + 1,).
    `certainty` (float64 (n_groups + 1, 2)): the last entry of both is that of all groups together.
    """
    used = [g for g, table in enumerate(scores) if len(table) and table.shape[1] > 1]
    unit = float(np.mean([_spread(scores[g]).mean() for g in used])) if used else 0.0
    scales, certainty = np.ones(len(scores) + 1), np.tile((1.0, 0.0), (len(scores) + 1, 1))
    if unit == 0.0:
        return scales, certainty
    pooled = _fit_scale([scores[g] for g in used], [truth[g] for g in used], unit)
    scales[:] = pooled
    for g in used:
        scales[g] = _fit_scale([scores[g]], [truth[g]], unit, towards=pooled, ridge=SHRINKAGE)
    inputs = {g: _best_candidates(scores[g], truth[g], scales[g]) for g in used}
    x = np.concatenate([inputs[g][0] for g in used])
    right = np.concatenate([inputs[g][1] for g in used])
    pooled_certainty = fit_logistic(x, right, np.ones(len(x)), towards=np.array([1.0, 0.0]))
    certainty[:] = pooled_certainty
    for g in used:
        x, right = inputs[g]
        certainty[g] = fit_logistic(x, right, np.ones(len(x)), towards=pooled_certainty, ridge=SHRINKAGE)
    return scales, certainty


def _fit_scale(
    scores: Sequence[Floats],
    truth: Sequence[NDArray[np.int32]],
    unit: float,
    *,
    towards: float = 1.0,
    ridge: float = 0.0,
) -> float:
    """Return the maximum-likelihood scale, with its logarithm pulled towards that of `towards`."""
    from scipy.optimize import minimize_scalar

    def loss(log_scale: float) -> float:
        total = 0.5 * ridge * (log_scale - float(np.log(towards))) ** 2
        for table, right in zip(scores, truth, strict=True):
            total -= float(log_softmax(table, float(np.exp(log_scale)))[np.arange(len(table)), right].sum())
        return total

    # searched on a log scale around one over the typical spread of the scores: their units are arbitrary
    middle = -float(np.log(unit))
    return float(np.exp(minimize_scalar(loss, bounds=(middle - 8.0, middle + 8.0), method="bounded").x))


def _best_candidates(
    scores: Floats, truth: NDArray[np.int32], scale: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return for each best candidate the log-odds of its share and 1, shape (n, 2), and if it is right."""
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    odds = to_log_odds(np.exp(log_softmax(scores, scale)[rows, best]))
    return np.stack([odds, np.ones(len(odds))], axis=1), best == truth


def _spread(scores: Floats) -> Floats:
    """Return the range of the scores of each instance, shape ``(n,)``, ignoring minus infinity."""
    maximum = scores.max(axis=1)
    spread: Floats = maximum - np.where(np.isneginf(scores), maximum[:, None], scores).min(axis=1)
    return spread


RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""Flags per 1,000 correct words for which thresholds are stored; others are interpolated."""


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """Table of thresholds by rate of false flags."""

    rates: NDArray[np.float64]  # (n,): flags per 1,000 correct words, ascending
    # float64 (n,): log-odds that a decision must exceed to be flagged at that rate, descending
    thresholds: NDArray[np.float64]

    def is_valid(self) -> bool:
        """Return True if rates ascend and thresholds descend."""
        return (
            self.rates.ndim == 1
            and self.rates.shape == self.thresholds.shape
            and len(self.rates) > 0
            and bool((np.diff(self.rates) > 0).all() and (self.rates > 0).all())
            and bool((np.diff(self.thresholds) <= 0).all())
        )

    def threshold(self, flags_per_1000: float) -> float:
        """Return the threshold on the log-odds for a rate.

        Nothing exceeds the threshold for rate zero; everything exceeds that for an infinite rate.

        Raises D401 for a rate that is negative or not a number.
        """
        rate = check_rate(flags_per_1000)
        if rate == 0:
            return float("inf")
        if rate == float("inf"):
            return float("-inf")
        return float(np.interp(np.log(rate), np.log(self.rates), self.thresholds))


UNTUNED = OperatingPoint(np.array([1.0]), np.array([0.0]))
"""What a decision rule has before it is fitted."""


def check_rate(flags_per_1000: float) -> float:
    """Return the rate; raise UserError D401 if it is negative or not a number."""
    if not flags_per_1000 >= 0:
        raise UserError("D401", rate=flags_per_1000)
    return flags_per_1000


def tune_operating_point(log_odds: NDArray[np.float64], n_words: int) -> OperatingPoint:
    """Choose the thresholds on a text whose words are all assumed to be right: every flag there is false.

    `log_odds` (float64 (n_decisions,)): log-odds of the decisions that could be flagged: those with another
    candidate and evidence.
    `n_words`: words in the text.
    """
    descending = np.append(np.sort(log_odds)[::-1], -np.inf)
    n_flags = np.minimum((np.array(RATES) * n_words / 1000).astype(int), len(descending) - 1)
    lowest = float(descending[-2]) if len(descending) > 1 else 0.0
    thresholds = np.where(np.isfinite(descending[n_flags]), descending[n_flags], lowest - 1e-6)
    return OperatingPoint(np.array(RATES), thresholds)


Curve = tuple[Floats, Floats]
"""Rates of false flags, ascending, and the gain at each."""


def share_budget(curves: Sequence[Curve | None], total: float) -> list[float]:
    """Divide a budget of false flags among decision rules so that their total gain is greatest.

    `curves`: if one is None, all are assumed to be equal, and so are the rates.
    `total`: flags per 1,000 correct words of all rules together. What is left after the end of all curves is
    divided equally.
    """
    n = len(curves)
    known_curves = [curve for curve in curves if curve is not None]
    if n == 1 or len(known_curves) < n or not np.isfinite(total):
        return [total / max(n, 1)] * n
    edges = []  # slope, rule and length of the edges of all envelopes
    for number, curve in enumerate(known_curves):
        x, y = concave_envelope(*curve)
        slopes, widths = np.diff(y) / np.diff(x), np.diff(x)
        edges += [
            (slope, number, width) for slope, width in zip(slopes.tolist(), widths.tolist(), strict=True)
        ]
    rates = [0.0] * n
    left = total
    # on concave curves, it is best to spend the budget on the steepest edges first, whoever has them
    for _, number, length in sorted(edges, key=lambda edge: (-edge[0], edge[1])):
        spent = min(length, left)
        rates[number] += spent
        left -= spent
    return [rate + left / n for rate in rates]


def concave_envelope(rates: Floats, gains: Floats) -> Curve:
    """Return the corners of the lowest concave curve above the points and the origin."""
    corners = [(0.0, 0.0)]
    for point in zip(rates.tolist(), gains.tolist(), strict=True):
        while len(corners) > 1 and _turns_up(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    x, y = np.array(corners).T
    return x, y


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Return True if the path from a over b to c is straight or bends upwards at b."""
    return (b[1] - a[1]) * (c[0] - b[0]) <= (c[1] - b[1]) * (b[0] - a[0])
