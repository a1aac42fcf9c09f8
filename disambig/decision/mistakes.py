"""Decision rule that decides whether a word is a mistake, trained on mistakes that people made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Predictions, ScoreBatch
from disambig.decision._rivals import (
    ALONE,
    EARLIER,
    FAR,
    FEATURES,
    NO_CHANGE,
    NO_KEY,
    AlternativeFeatures,
    HashedWeights,
    alternative_margins,
    alternatives_repeat,
    find_alternatives,
    find_alternatives_padded,
    is_repetition,
    score_margins,
    term_keys,
)
from disambig.decision.calibration import ERROR_RATE, Calibration, fit_choices
from disambig.decision.corrections import substitutes
from disambig.decision.padded_scores import PaddedScores, pad, unpad
from disambig.decision.thresholds import OperatingPoint, tune_operating_point
from disambig.settings import fitted_field
from disambig.type_aliases import Floats, Progress
from disambig.types import Arrays, CalibrationData, HasErrorCorpus

RIDGE = 1.0
"""Ridge of the weights of dense features, each in units of its spread."""
RIDGES = (3.0, 3.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0)
"""Ridges of the kinds of terms: written, meant, pairs, changes, four kinds of neighbours; in examples."""
LEAST_SEEN = 12
"""Minimum number of occurrences of a term with a neighbour to get a weight."""
LEAST_WEIGHT = 0.03
"""Smaller weights of terms with neighbours are dropped, because there are very many of them."""
_STEPS = 200


@dataclass(frozen=True, slots=True, eq=False)
class WeightedCases:
    """Examples: alternatives, the word that was meant, and the weight of each example.

    Attributes
    ----------
    rivals : AlternativeFeatures
    meant : array of int64, shape (n,)
        0 if the written word was meant, 1 + r for alternative r.
    weights : array of float64, shape (n,)
    """

    rivals: AlternativeFeatures
    meant: NDArray[np.int64]
    weights: Floats

    def take(self, rows: NDArray[np.generic]) -> WeightedCases:
        """Return some of the examples."""
        return WeightedCases(self.rivals.take(rows), self.meant[rows], self.weights[rows])


@dataclass(frozen=True, slots=True, eq=False)
class ErrorWeights:
    """Weights of the dense features and of the hashed terms.

    Attributes
    ----------
    dense : array of float64, shape (len(FEATURES),)
    terms : HashedWeights
    """

    dense: Floats
    terms: HashedWeights

    def log_odds(self, rivals: AlternativeFeatures) -> Floats:
        """Return the score of each alternative, shape (n, R); minus infinity for padding."""
        log_odds = rivals.features @ self.dense + self.terms.sums(
            term_keys(rivals.words, rivals.changes, rivals.neighbours)
        )
        return np.where(rivals.possible, log_odds, -np.inf)


def join_cases(parts: Sequence[WeightedCases]) -> WeightedCases:
    """Concatenate the examples of several groups."""
    most = max((part.rivals.candidates.shape[1] for part in parts), default=1)

    def wide(values: NDArray[Any], fill: int, columns: int) -> NDArray[Any]:
        missing = [(0, 0)] * values.ndim
        missing[1] = (0, columns - values.shape[1])
        return np.pad(values, missing, constant_values=fill)

    return WeightedCases(
        AlternativeFeatures(
            np.concatenate([wide(part.rivals.candidates, -1, most) for part in parts]),
            np.concatenate([wide(part.rivals.features, 0, most) for part in parts]),
            np.concatenate([wide(part.rivals.words, 0, most + 1) for part in parts]),
            np.concatenate([wide(part.rivals.changes, NO_CHANGE, most) for part in parts]),
            np.concatenate([part.rivals.neighbours for part in parts]),
            np.concatenate([part.rivals.evident for part in parts]),
        ),
        np.concatenate([part.meant for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def fit_weights(cases: WeightedCases, *, start: ErrorWeights | None = None) -> ErrorWeights:
    """Fit the weights by maximum penalised likelihood, from the initial weights `start` if given."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    rivals, n = cases.rivals, len(cases.meant)
    possible = rivals.possible
    rows, columns = np.nonzero(possible)
    dense = rivals.features[rows, columns].astype(np.float64)  # (pairs, F)
    spread = np.sqrt((dense**2).mean(axis=0)) if len(dense) else np.ones(dense.shape[1])
    spread[spread == 0] = 1.0
    dense /= spread
    kept_keys, kind_of_key, (pair, index) = _terms(
        term_keys(rivals.words, rivals.changes, rivals.neighbours)[rows, columns]
    )
    pairs = np.arange(len(rows))
    terms = csr_array((np.ones(len(index)), (pair, index)), shape=(len(rows), len(kept_keys)))
    ridge = np.concatenate([np.full(dense.shape[1], RIDGE), np.array(RIDGES)[kind_of_key]])
    place = np.full(possible.shape, -1)
    place[rows, columns] = pairs
    chosen = np.flatnonzero((cases.meant > 0) & (cases.weights > 0))
    right = place[chosen, cases.meant[chosen] - 1]
    chosen, right = chosen[right >= 0], right[right >= 0]

    def objective(x: Floats) -> tuple[float, Floats]:
        scores = dense @ x[: dense.shape[1]] + terms @ x[dense.shape[1] :]
        # softmax over the alternatives and the written word, whose score is 0; the maximum is
        # subtracted so that exp cannot overflow
        most = np.zeros(n)
        np.maximum.at(most, rows, scores)
        shares = np.exp(scores - most[rows])
        total = np.exp(-most) + np.bincount(rows, shares, minlength=n)
        loss = cases.weights @ (most + np.log(total)) - cases.weights[chosen] @ scores[right]
        mass = cases.weights[rows] * shares / total[rows]
        mass[right] -= cases.weights[chosen]
        slope = np.concatenate([mass @ dense, terms.T @ mass])
        return float(loss + 0.5 * (ridge * x) @ x), slope + ridge * x

    begin = np.zeros(len(ridge))
    if start is not None:
        begin = np.concatenate([start.dense * spread, start.terms.sums(kept_keys[:, None])])
    result = minimize(objective, begin, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    weights = np.asarray(result.x)
    split = dense.shape[1]
    kept = np.abs(weights[split:]) > np.where(kind_of_key < ALONE, 1e-4, LEAST_WEIGHT)
    return ErrorWeights(weights[:split] / spread, HashedWeights(kept_keys[kept], weights[split:][kept]))


def _terms(
    keys: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the keys that get a weight, ascending, their kinds, and pairs of (example, key index).

    Parameters
    ----------
    keys : array of uint64, shape (n_pairs, n_kinds)
    """
    distinct, index, seen = np.unique(keys, return_inverse=True, return_counts=True)
    index = index.reshape(keys.shape)
    kind_of_key = np.zeros(len(distinct), np.int64)
    for kind in range(keys.shape[1]):
        kind_of_key[index[:, kind]] = kind
    kept = ((kind_of_key < ALONE) | (seen >= LEAST_SEEN)) & (distinct != NO_KEY)
    places = np.where(kept, np.cumsum(kept) - 1, -1)[index]
    pair, kind_at = np.nonzero(places >= 0)
    return distinct[kept], kind_of_key[kept], (pair, places[pair, kind_at])


FOLDS = 5
"""Number of folds of the right words, in text order; each is scored by weights fitted without it."""
SUBSTITUTED = 100.0
"""Total weight of all randomly substituted words, in real mistakes."""
MOST_SUBSTITUTED = 20_000
"""Maximum number of substituted words; a random sample of more is drawn."""
USUAL = 4.0
"""Highest rate of false alarms for which words that are far from being flagged are skipped."""
LEAST_CHECKED = 0.0
"""Words are never skipped if another candidate's score is higher, or lower by at most `_SLACK`."""
_SLACK = 1.0
EVERYWHERE = -100.0
"""A margin lower than any other."""
NOTHING = ErrorWeights(np.zeros(len(FEATURES)), HashedWeights(np.empty(0, np.uint64), np.empty(0)))
UNFITTED = Calibration(np.empty(0), np.empty((0, 0)))
UNTUNED = OperatingPoint(np.array([1.0]), np.array([0.0]))


@dataclass(frozen=True, slots=True, eq=False)
class Mistakes:
    """Decision rule for tasks whose candidates are words of the text, trained on mistakes that people made.

    Parameters
    ----------
    flags_per_1000 : float
        Operating point: accepted false alarms per 1,000 correct words.
    most_right : int
        Maximum number of right words of a group for training; a random sample of more is drawn. Thresholds
        are set on all of them.
    sees_beside : bool
        Also use the words before and after a place, and repeated words. It is worth while if few groups
        decide many places, as with prepositions; decisions take somewhat longer.
    sees_parts : bool
        Also give a weight to the contribution of each feature group to the scores, such as n-grams of each
        length.

    Attributes
    ----------
    weighing : ErrorWeights
    shift : float
        Added to log-odds, so that one word in a hundred is assumed to be wrong.
    choices : Calibration
        Converts scores to the probability of each candidate, regardless of the observed one.
    operating : OperatingPoint
    weighed_from : float
        At rates up to `USUAL`, words whose best other candidate has a lower margin are skipped unless they
        repeat the word before, because no training example is flagged there. Their probability is zero.
    found : array of float64, shape (n_rates,), or None
        Share of all mistakes, including those of other tasks, that are flagged correctly at each rate of
        `operating` by weights fitted without them; None if there was no error corpus.
    needs_evidence : bool
        Whether a word is only flagged if an extractor has found evidence for any candidate there
        (`Features.found`). False if no extractor looks anything up, which is seen from the development text.
    """

    flags_per_1000: float = 0.5
    most_right: int = 200_000
    sees_beside: bool = False
    sees_parts: bool = False
    weighing: ErrorWeights = fitted_field(NOTHING)
    shift: float = fitted_field(0.0)
    choices: Calibration = fitted_field(UNFITTED)
    operating: OperatingPoint = fitted_field(UNTUNED)
    weighed_from: float = fitted_field(EVERYWHERE)
    found: Floats | None = fitted_field(None)
    needs_evidence: bool = fitted_field(True)
    between: ClassVar[tuple[str, ...]] = ("words", "own")
    learns_mistakes: ClassVar[bool] = True

    def fit(self, material: CalibrationData, *, progress: Progress | None = None) -> Mistakes:
        """Fit the weights to right words, real mistakes and substitutes; set thresholds on right words."""
        report = progress or (lambda stage, done, total: None)
        groups = material.task.groups
        people = material if isinstance(material, HasErrorCorpus) else None
        right_of, wrong_of, made_of, folds_of = [], [], [], []
        scores_of, truth_of = [], []
        looks_up = False
        for g in range(len(groups)):
            report("judging", g, len(groups))
            scored = material.scored(g, most=None if people is None else self.most_right)
            looks_up = looks_up or bool(scored.asked.any())
            scores_of.append(pad(scored.scores, scored.offsets, -np.inf))
            truth_of.append(scored.observed)
            labelled = scored if people is None else people.right(g)
            folds = _folds(len(labelled.observed), self.most_right, material.rng)
            folds_of.append(folds)
            right_of.append(weighted_cases(labelled, labelled.observed.astype(np.int64)))
            made_of.append(_substituted(labelled, material.rng).take(folds >= 0))
            if people is not None:
                mistakes = people.mistakes(g)
                wrong_of.append(weighted_cases(mistakes, _meant_candidates(mistakes)))
        looks_up = looks_up or not any(map(len, truth_of))  # without examples nothing is known
        scales, certainty = fit_choices(scores_of, truth_of)
        right, made = join_cases(right_of), _weighing(_sample(join_cases(made_of), material.rng), SUBSTITUTED)
        wrong = join_cases([*wrong_of, made])
        sizes = [len(cases.meant) for cases in wrong_of]
        folds = np.concatenate(folds_of)
        shift = _shift(float(wrong.weights.sum()), float(right.weights[folds >= 0].sum()))
        weighing = fit_weights(join_cases([right.take(folds >= 0), wrong]))
        odds = _unseen(right, wrong, folds, weighing, shift)
        n_words = material.n_words if people is None else people.n_right_words
        evident = right.rivals.evident | (not looks_up)
        operating = tune_operating_point(odds[evident & np.isfinite(odds)], n_words)
        fitted = replace(self, weighing=weighing, shift=shift, operating=operating, needs_evidence=looks_up)
        if people is not None:
            sure = _unseen_mistakes(wrong, sizes, right.take(folds >= 0), weighing, shift)
            sure[~(wrong.rivals.evident[: len(sure)] | (not looks_up))] = -np.inf
            recall = (sure[:, None] > operating.thresholds).sum(axis=0) / max(people.n_mistakes, 1)
            fitted = replace(fitted, found=np.minimum(recall, 1.0))
        return replace(
            fitted,
            choices=Calibration(np.empty(0), np.empty((0, 0)), scales, certainty),
            weighed_from=min(fitted._least_flagged(cases) for cases in (right, wrong)),
        )

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Choose the best candidate; flag an alternative if its log-odds exceed the threshold of the rate.

        The flag suggests the word that was most probably meant, which need not have the best score.

        Raises
        ------
        UserError
            D401 for an impossible rate.
        """
        rate = self._rate(flags_per_1000)
        least_margin = self.weighed_from if rate <= USUAL else EVERYWHERE
        return self.judge_above(scored, self.operating.threshold(rate), least_margin)

    def judge_above(self, scored: ScoreBatch, threshold: float, least_margin: float) -> Predictions:
        """Return the predictions with the flags above a threshold.

        Parameters
        ----------
        scored : ScoreBatch
        threshold : float
            In log-odds.
        least_margin : float
            Words whose best other candidate has a lower margin are skipped (see `weighed_from`).
        """
        several = PaddedScores.from_batch(scored)
        scores = several.scores
        n = len(scores)
        chosen = scores.argmax(axis=1) if n else np.empty(0, np.int64)
        odds, flagged = np.full(n, -np.inf), np.zeros(n, bool)
        weighed = several.observed >= 0
        if least_margin > -FAR:
            weighed &= (score_margins(several) >= least_margin) | is_repetition(several)
        rows = np.flatnonzero(weighed)
        if len(rows):
            rivals = find_alternatives_padded(several.take(rows))
            best, odds[rows] = _best(self.weighing.log_odds(rivals) + self.shift)
            flagged[rows] = (rivals.evident | (not self.needs_evidence)) & (odds[rows] > threshold)
            meant = rivals.candidates[np.arange(len(rows)), best]
            chosen[rows] = np.where(flagged[rows], meant, chosen[rows])
        margins = np.full(n, np.inf)
        if scores.shape[1] > 1:
            two = np.partition(scores, -2, axis=1)[:, -2:]
            margins = two[:, 1] - two[:, 0]
        return Predictions(chosen, margins, _probability(odds), flagged, np.ones(n, bool))

    def _least_flagged(self, cases: WeightedCases) -> float:
        """Return the lowest margin of a case that is flagged at the rate `USUAL`, minus a tolerance."""
        odds = _best(self.weighing.log_odds(cases.rivals) + self.shift)[1]
        flagged = (odds > self.operating.threshold(USUAL)) & ~alternatives_repeat(cases.rivals)
        least = float(alternative_margins(cases.rivals)[flagged].min(initial=LEAST_CHECKED))
        return max(least - _SLACK, EVERYWHERE)

    def limit(self, flags_per_1000: float | None = None) -> float:
        """Return the probability above which a word is flagged at a rate.

        Raises
        ------
        UserError
            D401 for an impossible rate.
        """
        return float(_probability(np.float64(self.operating.threshold(self._rate(flags_per_1000)))))

    def gains(self) -> tuple[Floats, Floats] | None:
        """Return the rates and the share of mistakes found at each of them (see `found`); None if unknown."""
        return None if self.found is None else (self.operating.rates, self.found)

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability of each candidate, regardless of the observed one."""
        return scored.map_groups(self._group_probabilities)

    def _group_probabilities(self, scored: ScoreBatch) -> Floats | None:
        padded = self.choices.candidates(pad(scored.scores, scored.offsets, -np.inf), scored.number)
        return None if padded is None else unpad(padded, scored.offsets)

    def state(self) -> Arrays:
        """Return weights, calibration and thresholds."""
        arrays: dict[str, NDArray[Any]] = {
            "dense": self.weighing.dense,
            "keys": self.weighing.terms.keys,
            "weights": self.weighing.terms.weights,
            "shift": np.array([self.shift]),
            "rates": self.operating.rates,
            "thresholds": self.operating.thresholds,
            "flags_per_1000": np.array([self.flags_per_1000]),
            "weighed_from": np.array([self.weighed_from]),
        }
        if self.found is not None:
            arrays["found"] = self.found
        if not self.needs_evidence:
            arrays["needs_evidence"] = np.array([False])
        if self.choices.scales is not None and self.choices.certainty is not None:
            arrays |= {"scales": self.choices.scales, "certainty": self.choices.certainty}
        return arrays

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> Mistakes:
        """Restore the decision rule from `state`; raise ValueError for invalid shapes or numbers."""
        terms = HashedWeights(arrays["keys"], arrays["weights"])
        dense = arrays["dense"]
        if dense.shape == (EARLIER,):  # saved by an older release: its missing features get weight zero
            dense = np.pad(dense, (0, len(FEATURES) - EARLIER))
        weighing = ErrorWeights(dense, terms)
        operating = OperatingPoint(arrays["rates"], arrays["thresholds"])
        rate, shift = float(arrays["flags_per_1000"][0]), float(arrays["shift"][0])
        scales, certainty = arrays.get("scales"), arrays.get("certainty")
        weighed_from = float(arrays["weighed_from"][0])
        recall = arrays.get("found")
        sound = (
            weighing.dense.ndim == 1
            and (
                len(weighing.dense) >= len(FEATURES)
                if self.sees_parts
                else len(weighing.dense) == len(FEATURES)
            )
            and bool(np.isfinite(weighing.dense).all())
            and terms.is_sound()
            and operating.is_sound()
            and np.isfinite(shift)
            and rate >= 0
            and np.isfinite(weighed_from)
            and (scales is None) == (certainty is None)
        )
        if recall is not None:
            sound = sound and recall.shape == operating.rates.shape
            sound = sound and bool(
                (recall >= 0).all() and (recall <= 1).all() and (np.diff(recall) >= 0).all()
            )
        if scales is not None and certainty is not None:
            size = len(groups) + 1
            sound = sound and scales.shape == (size,) and certainty.shape == (size, 2)
            sound = sound and bool((scales > 0).all() and np.isfinite(certainty).all())
        if not sound:
            raise ValueError("invalid shapes or numbers in the decision rule of mistakes")
        choices = Calibration(np.empty(0), np.empty((0, 0)), scales, certainty)
        needs_evidence = bool(arrays["needs_evidence"].all()) if "needs_evidence" in arrays else True
        restored = replace(self, weighing=weighing, shift=shift, choices=choices, operating=operating)
        restored = replace(restored, needs_evidence=needs_evidence)
        return replace(restored, flags_per_1000=rate, weighed_from=weighed_from, found=recall)

    def _rate(self, flags_per_1000: float | None) -> float:
        return self.flags_per_1000 if flags_per_1000 is None else flags_per_1000


def weighted_cases(
    scored: ScoreBatch, meant: NDArray[np.int64], written: NDArray[np.int32] | None = None
) -> WeightedCases:
    """Return examples with a known meant word; weight zero if it is not among the alternatives.

    Parameters
    ----------
    meant : array of int, shape (n,)
        Index of the meant candidate in its group or list.
    written : array of int, shape (n,), optional
        Observed candidates that replace those of `scored`.
    """
    here = scored.observed if written is None else written
    rivals = find_alternatives(scored, written)
    hit = rivals.candidates == meant[:, None]
    usable = hit.any(axis=1) | (meant == here)
    at = np.where(hit.any(axis=1), 1 + hit.argmax(axis=1), 0) if hit.shape[1] else np.zeros(len(here), int)
    return WeightedCases(rivals, at, np.where(usable & rivals.possible.any(axis=1), 1.0, 0.0))


def _meant_candidates(scored: ScoreBatch) -> NDArray[np.int64]:
    """Return the first candidate of cost zero of each instance."""
    costs = pad(scored.cost, scored.offsets, np.inf)
    return costs.argmin(axis=1) if len(costs) else np.empty(0, np.int64)


def _substituted(right: ScoreBatch, rng: np.random.Generator) -> WeightedCases:
    """Make examples from right words by replacing them with another random candidate."""
    padded = PaddedScores.from_batch(right)
    written, rows = substitutes(padded.is_variant() | np.isneginf(padded.scores), rng)
    made = weighted_cases(
        right, right.observed.astype(np.int64), np.where(written >= 0, written, right.observed)
    )
    possible = np.zeros(len(written), bool)
    possible[rows] = True
    return replace(made, weights=made.weights * possible)


def _sample(cases: WeightedCases, rng: np.random.Generator) -> WeightedCases:
    """Return at most `MOST_SUBSTITUTED` of the examples, drawn at random."""
    n = len(cases.meant)
    if n <= MOST_SUBSTITUTED:
        return cases
    return cases.take(np.sort(rng.choice(n, MOST_SUBSTITUTED, replace=False)))


def _weighing(cases: WeightedCases, total: float) -> WeightedCases:
    """Scale the weights of the examples so that they add up to `total`."""
    return replace(cases, weights=cases.weights * (total / max(float(cases.weights.sum()), 1.0)))


def _folds(n: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each right word; -1 for those not in a random sample of `most`."""
    folds = np.arange(n) * FOLDS // max(n, 1)
    folds[rng.choice(n, max(n - most, 0), replace=False)] = -1
    return folds


def _unseen(
    right: WeightedCases, wrong: WeightedCases, folds: NDArray[np.int64], weighing: ErrorWeights, shift: float
) -> Floats:
    """Return the log-odds of the right words, each by weights that were fitted without its fold.

    Words without a fold (-1) were not used for training, so that `weighing` scores them.
    """
    odds = np.empty(len(folds))
    for part in range(-1, FOLDS):
        inside = folds == part
        others = (folds >= 0) & ~inside
        fold_weights = (
            weighing if part < 0 else fit_weights(join_cases([right.take(others), wrong]), start=weighing)
        )
        odds[inside] = _best(fold_weights.log_odds(right.rivals.take(inside)) + shift)[1]
    return odds


def _unseen_mistakes(
    wrong: WeightedCases, sizes: Sequence[int], right: WeightedCases, weighing: ErrorWeights, shift: float
) -> Floats:
    """Return the log-odds of people's mistakes, each by weights that were fitted without its fold.

    Minus infinity if the suggestion would not be the meant word.

    Parameters
    ----------
    wrong : WeightedCases
        These mistakes, group by group, followed by substituted words.
    sizes : sequence of int
        Number of mistakes of each group.
    """
    n = sum(sizes)
    folds = np.full(len(wrong.meant), -1)
    folds[:n] = np.concatenate([np.arange(size) * FOLDS // max(size, 1) for size in sizes])
    sure = np.full(n, -np.inf)
    for part in range(FOLDS if n else 0):
        inside = np.flatnonzero(folds == part)
        without = fit_weights(join_cases([right, wrong.take(folds != part)]), start=weighing)
        cases = wrong.take(inside)
        best, odds = _best(without.log_odds(cases.rivals) + shift)
        good = 1 + best == cases.meant
        sure[inside[good]] = odds[good]
    return sure


def _best(log_odds: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the most probable alternative of each instance, and its log-odds against everything else."""
    n = len(log_odds)
    if not log_odds.shape[1]:
        return np.zeros(n, np.int64), np.full(n, -np.inf)
    best = log_odds.argmax(axis=1)
    most = np.maximum(log_odds.max(axis=1), 0.0)  # 0 is the score of the written word
    shares = np.exp(log_odds - most[:, None])
    own = shares[np.arange(n), best]
    rest = np.exp(-most) + shares.sum(axis=1) - own
    with np.errstate(divide="ignore"):
        return best, np.log(own) - np.log(rest)


def _probability(log_odds: Floats) -> Floats:
    probability: Floats = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -50, 50)))
    return probability


def _shift(wrong: float, right: float) -> float:
    """Return the shift of the log-odds from the share of mistakes among the examples to `ERROR_RATE`."""
    seen = np.log(max(wrong, 1e-9) / max(right, 1e-9))
    return float(np.log(ERROR_RATE / (1 - ERROR_RATE)) - seen)
