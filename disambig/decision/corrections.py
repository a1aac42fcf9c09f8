"""Decision rule that decides whether a word is a mistake, calibrated on substituted words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Predictions, ScoreBatch
from disambig.decision._alternatives import PaddedScores
from disambig.decision.calibration import (
    FEATURES,
    UNTUNED,
    Calibration,
    Comparison,
    OperatingPoint,
    check_rate,
    compare_with_observed,
    error_probabilities,
    fit_calibration,
    fit_choices,
    pad,
    substitutes,
    top_margins,
    tune_operating_point,
)
from disambig.settings import COUNT, fitted_field, validate_settings
from disambig.type_aliases import Floats, Progress, no_progress
from disambig.types import Arrays, CalibrationData

UNFITTED = Calibration(np.array([1.0, 0.0, 0.0, 0.0]), np.empty((0, len(FEATURES))))


@dataclass(frozen=True, slots=True, eq=False)
class Corrections:
    """Decision rule for tasks whose candidates are words of the text.

    Parameters
    ----------
    flags_per_1000 : float
        Operating point: accepted false alarms per 1,000 correct words.
    max_examples : int
        Maximum number of examples of a group for the calibration; a random sample of more is drawn.

    Attributes
    ----------
    calibration : Calibration
    operating : OperatingPoint
    needs_evidence : bool
        Whether a candidate is only proposed if an extractor has found evidence for it (`Features.n_hits`).
        False if no extractor looks anything up, which is seen from the development text.

    Raises
    ------
    UserError
        D401 or D452 for invalid settings.
    """

    flags_per_1000: float = 0.5
    max_examples: int = 20_000
    calibration: Calibration = fitted_field(UNFITTED)
    operating: OperatingPoint = fitted_field(UNTUNED)
    needs_evidence: bool = fitted_field(True)
    between: ClassVar[tuple[str, ...]] = ("words", "lists")

    def __post_init__(self) -> None:
        check_rate(self.flags_per_1000)
        validate_settings(self, max_examples=COUNT)

    def fit(self, data: CalibrationData, *, progress: Progress = no_progress) -> Corrections:
        """Calibrate on right words and random substitutes, then set the thresholds on the whole text."""
        calibration, looks_up = self._calibrate(data, progress)
        rule = replace(self, calibration=calibration, needs_evidence=looks_up)
        return replace(rule, operating=rule._tune_thresholds(data, progress))

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Choose the best candidate; flag it if it has the evidence it needs and exceeds the threshold.

        Raises
        ------
        UserError
            D401 for an invalid rate.
        """
        threshold = self.operating.threshold(self._rate(flags_per_1000))
        return Predictions.by_group(scored, lambda part: self._judge_group(part, threshold))

    def _judge_group(self, scored: ScoreBatch, threshold: float) -> Predictions:
        weighed = self.weigh(scored)
        scores, n = weighed.scores, len(weighed.scores)
        return Predictions(
            chosen=scores.argmax(axis=1) if n else np.empty(0, np.int64),
            margins=top_margins(scores),
            probabilities=np.where(weighed.comparison.other >= 0, error_probabilities(weighed.log_odds), 0.0),
            flagged=weighed.eligible & (weighed.log_odds > threshold),
            answered=np.ones(n, bool),
        )

    def limit(self, flags_per_1000: float | None = None) -> float:
        """Return the probability above which a word is flagged at a rate. Raises D401 for an invalid rate."""
        threshold = self.operating.threshold(self._rate(flags_per_1000))
        return float(error_probabilities(np.float64(threshold)))

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability of each candidate regardless of the observed one; None for older models."""
        return self.calibration.probabilities(scored)

    def weigh(self, scored: ScoreBatch) -> WeighedDecisions:
        """Compare the best other candidate with the observed one, before any threshold."""
        padded = PaddedScores.from_batch(scored)
        scores, n_hits = padded.scores, pad(scored.n_hits, scored.offsets, 0)
        comparison = compare_with_observed(scores, n_hits, scored.observed, padded.is_variant)
        log_odds = self.calibration.log_odds(comparison.features, scored.number)
        other = comparison.other
        evidence = (n_hits[np.arange(len(other)), other] > 0) | (not self.needs_evidence)
        best = scores.argmax(axis=1) if len(scores) else other
        eligible = (comparison.features[:, 0] > 0) & (best == other) & evidence
        return WeighedDecisions(scores, comparison, log_odds, eligible)

    def state(self) -> Arrays:
        """Return calibration and thresholds."""
        calibration, operating = self.calibration, self.operating
        arrays = {
            "pooled": calibration.pooled,
            "groups": calibration.groups,
            "rates": operating.rates,
            "thresholds": operating.thresholds,
            "flags_per_1000": np.array([self.flags_per_1000]),
        }
        if calibration.scales is not None:
            arrays["scales"] = calibration.scales
        if calibration.certainty is not None:
            arrays["certainty"] = calibration.certainty
        if not self.needs_evidence:
            arrays["needs_evidence"] = np.array([False])
        return arrays

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> Corrections:
        """Restore the decision rule from `state`; raise ValueError for invalid shapes or numbers."""
        calibration = Calibration(
            arrays["pooled"], arrays["groups"], arrays.get("scales"), arrays.get("certainty")
        )
        operating = OperatingPoint(arrays["rates"], arrays["thresholds"])
        rate = float(arrays["flags_per_1000"][0])
        if not (_is_valid(calibration, len(groups)) and operating.is_valid() and rate >= 0):
            raise ValueError("invalid shapes of the calibration or the operating point")
        needs_evidence = bool(arrays["needs_evidence"].all()) if "needs_evidence" in arrays else True
        return replace(
            self,
            flags_per_1000=rate,
            calibration=calibration,
            operating=operating,
            needs_evidence=needs_evidence,
        )

    def _rate(self, flags_per_1000: float | None) -> float:
        return self.flags_per_1000 if flags_per_1000 is None else flags_per_1000

    def _calibrate(self, data: CalibrationData, progress: Progress) -> tuple[Calibration, bool]:
        """Learn probabilities from right words, and from other candidates put in their places.

        Also return whether any extractor looks something up.
        """
        looks_up = False
        features, is_wrong, weights = [], [], []
        scores_of_groups, truth_of_groups = [], []
        groups = data.task.groups
        for g in range(len(groups)):
            progress("calibrating", g, len(groups))
            scored = data.scored(g, maximum=self.max_examples)
            looks_up = looks_up or bool(scored.n_queries.any())
            padded = PaddedScores.from_batch(scored)
            scores, evidence = padded.scores, pad(scored.n_hits, scored.offsets, 0)
            same, truth = padded.is_variant, scored.observed
            # There is no error corpus: right words that another candidate replaces stand for mistakes.
            substituted, rows = substitutes(same | np.isneginf(scores), data.rng)
            right = compare_with_observed(scores, evidence, truth, same).features
            with_substitutes = replace(scored, observed=np.where(substituted >= 0, substituted, truth))
            same = PaddedScores.from_batch(with_substitutes).is_variant
            wrong = compare_with_observed(
                scores[rows], evidence[rows], substituted[rows], same[rows]
            ).features
            features.append(np.concatenate([right, wrong]))
            is_wrong.append(np.repeat([False, True], [len(right), len(wrong)]))
            balance = len(right) / max(len(wrong), 1)
            weights.append(np.repeat([1.0, balance], [len(right), len(wrong)]))
            scores_of_groups.append(scores)
            truth_of_groups.append(truth)
        looks_up = looks_up or not any(map(len, truth_of_groups))  # without examples nothing is known
        calibration = fit_calibration(features, is_wrong, weights)
        scales, certainty = fit_choices(scores_of_groups, truth_of_groups)
        return replace(calibration, scales=scales, certainty=certainty), looks_up

    def _tune_thresholds(self, data: CalibrationData, progress: Progress) -> OperatingPoint:
        """Set the threshold of each rate of flags on the whole text, whose words count as right."""
        log_odds = []
        groups = data.task.groups
        for g in range(len(groups)):
            progress("setting thresholds", g, len(groups))
            weighed = self.weigh(data.scored(g))
            log_odds.append(weighed.log_odds[weighed.eligible])
        return tune_operating_point(np.concatenate(log_odds), data.n_words)


@dataclass(frozen=True, slots=True, eq=False)
class WeighedDecisions:
    """Decisions before a threshold is applied."""

    scores: Floats  # float64 (n, most candidates): padded with minus infinity
    comparison: Comparison
    log_odds: Floats  # float64 (n,)
    # bool (n,): whether a flag is possible: the other candidate has the best score of all and the evidence it
    # needs
    eligible: NDArray[np.bool_]


def _is_valid(calibration: Calibration, n_groups: int) -> bool:
    """Return True if the arrays of a calibration fit together."""
    scales, certainty = calibration.scales, calibration.certainty
    return (
        calibration.pooled.shape == (len(FEATURES),)
        and calibration.groups.shape == (n_groups, len(FEATURES))
        and (scales is None or (scales.shape == (n_groups + 1,) and bool((scales > 0).all())))
        and (certainty is None or certainty.shape == (n_groups + 1, 2))
    )
