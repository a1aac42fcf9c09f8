"""Decision rule that decides whether a word is a mistake, trained on mistakes that people made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Predictions, ScoreBatch
from disambig.decision._alternatives import (
    ALONE,
    EARLIER,
    FAR,
    FEATURES,
    NO_CHANGE,
    NO_KEY,
    AlternativeFeatures,
    HashedWeights,
    PaddedScores,
    alternative_margins,
    alternatives_at,
    alternatives_repeat,
    find_alternatives,
    term_keys,
)
from disambig.decision.calibration import (
    ERROR_RATE,
    UNTUNED,
    Calibration,
    OperatingPoint,
    check_rate,
    fit_choices,
    pad,
    substitutes,
    to_probability,
    top_margins,
    tune_operating_point,
)
from disambig.settings import COUNT, fitted_field, validate_settings
from disambig.type_aliases import Floats, Progress, no_progress
from disambig.types import Arrays, CalibrationData, HasErrorCorpus

RIDGE = 1.0
"""Ridge of the weights of dense features, each in units of its spread."""
RIDGES = (3.0, 3.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0)
"""Ridges of the kinds of terms: written, meant, pairs, changes, four kinds of neighbours; in examples."""
MIN_SEEN = 12
"""Minimum number of occurrences of a term with a neighbour to get a weight."""
MIN_WEIGHT = 0.03
"""Smaller weights of terms with neighbours are dropped, because there are very many of them."""
_STEPS = 200


@dataclass(frozen=True, slots=True, eq=False)
class WeightedCases:
    """Examples: alternatives, the word that was meant, and the weight of each example."""

    alternatives: AlternativeFeatures
    meant: NDArray[np.int64]  # (n,): 0 if the written word was meant, 1 + r for alternative r
    weights: Floats  # float64 (n,)

    def take(self, rows: NDArray[np.generic]) -> WeightedCases:
        """Return some of the examples."""
        return WeightedCases(self.alternatives.take(rows), self.meant[rows], self.weights[rows])


@dataclass(frozen=True, slots=True, eq=False)
class ErrorWeights:
    """Weights of the dense features and of the hashed terms."""

    dense: Floats  # float64 (len(FEATURES),)
    terms: HashedWeights

    def log_odds(
        self, features: NDArray[np.float32], terms: NDArray[np.uint64], neighbours: NDArray[np.uint64]
    ) -> Floats:
        """Return the score of each alternative, shape (n, R); that of padding has no meaning.

        `features` and `neighbours`: see `AlternativeFeatures`. There may be further features, which only
        other weights have.
        `terms`: see `term_keys`. They may include those of neighbours although these are not known.
        """
        kinds = terms if neighbours.any() else terms[:, :, :ALONE]
        log_odds: Floats = features[:, :, : len(self.dense)] @ self.dense + self.terms.sums(kinds)
        return log_odds


def _terms(alternatives: AlternativeFeatures) -> NDArray[np.uint64]:
    return term_keys(alternatives.words, alternatives.changes, alternatives.neighbours)


def _weigh(
    weights: ErrorWeights, alternatives: AlternativeFeatures, shift: float
) -> tuple[NDArray[np.int64], Floats]:
    """Return the most probable alternative of each instance, and its log-odds against everything else."""
    log_odds = weights.log_odds(alternatives.features, _terms(alternatives), alternatives.neighbours)
    return _best(np.where(alternatives.possible, log_odds + shift, -np.inf))


def join_cases(parts: Sequence[WeightedCases]) -> WeightedCases:
    """Concatenate the examples of several groups."""
    r = max((part.alternatives.candidates.shape[1] for part in parts), default=1)

    def widen(values: NDArray[Any], fill: int, n_columns: int) -> NDArray[Any]:
        padding = [(0, 0)] * values.ndim
        padding[1] = (0, n_columns - values.shape[1])
        return np.pad(values, padding, constant_values=fill)

    return WeightedCases(
        AlternativeFeatures(
            np.concatenate([widen(part.alternatives.candidates, -1, r) for part in parts]),
            np.concatenate([widen(part.alternatives.features, 0, r) for part in parts]),
            np.concatenate([widen(part.alternatives.words, 0, r + 1) for part in parts]),
            np.concatenate([widen(part.alternatives.changes, NO_CHANGE, r) for part in parts]),
            np.concatenate([part.alternatives.neighbours for part in parts]),
            np.concatenate([part.alternatives.evident for part in parts]),
        ),
        np.concatenate([part.meant for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def fit_weights(cases: WeightedCases, *, start: ErrorWeights | None = None) -> ErrorWeights:
    """Fit the weights by maximum penalised likelihood, from the initial weights `start` if given."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    alternatives, n = cases.alternatives, len(cases.meant)
    possible = alternatives.possible
    rows, columns = np.nonzero(possible)
    dense = alternatives.features[rows, columns].astype(np.float64)  # (pairs, F)
    spread = np.sqrt((dense**2).mean(axis=0)) if len(dense) else np.ones(dense.shape[1])
    spread[spread == 0] = 1.0
    dense /= spread
    keys, kind_of_key, (pair, index) = _index_terms(_terms(alternatives)[rows, columns])
    terms = csr_array((np.ones(len(index)), (pair, index)), shape=(len(rows), len(keys)))
    n_dense = dense.shape[1]
    ridge = np.concatenate([np.full(n_dense, RIDGE), np.array(RIDGES)[kind_of_key]])
    pair_of_cell = np.full(possible.shape, -1)
    pair_of_cell[rows, columns] = np.arange(len(rows))
    mistakes = np.flatnonzero((cases.meant > 0) & (cases.weights > 0))
    right = pair_of_cell[mistakes, cases.meant[mistakes] - 1]
    mistakes, right = mistakes[right >= 0], right[right >= 0]

    def objective(x: Floats) -> tuple[float, Floats]:
        scores = dense @ x[:n_dense] + terms @ x[n_dense:]
        # softmax over the alternatives and the written word, whose score is 0; the maximum is
        # subtracted so that exp cannot overflow
        highest = np.zeros(n)
        np.maximum.at(highest, rows, scores)
        shares = np.exp(scores - highest[rows])
        total = np.exp(-highest) + np.bincount(rows, shares, minlength=n)
        loss = cases.weights @ (highest + np.log(total)) - cases.weights[mistakes] @ scores[right]
        error = cases.weights[rows] * shares / total[rows]
        error[right] -= cases.weights[mistakes]
        gradient = np.concatenate([error @ dense, terms.T @ error])
        return float(loss + 0.5 * (ridge * x) @ x), gradient + ridge * x

    initial = np.zeros(len(ridge))
    if start is not None:
        initial = np.concatenate([start.dense * spread, start.terms.sums(keys[:, None])])
    result = minimize(objective, initial, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    dense_weights, term_weights = np.split(np.asarray(result.x), [n_dense])
    kept = np.abs(term_weights) > np.where(kind_of_key < ALONE, 1e-4, MIN_WEIGHT)
    return ErrorWeights(dense_weights / spread, HashedWeights(keys[kept], term_weights[kept]))


def _index_terms(
    keys: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the keys that get a weight, ascending, their kinds, and pairs of (example, key index).

    `keys` has the shape ``(n_pairs, n_kinds)``.
    """
    distinct, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(keys.shape)
    # equal keys have the same kind, since the kind is part of what is hashed
    kind_of_key = np.zeros(len(distinct), np.int64)
    for kind in range(keys.shape[1]):
        kind_of_key[inverse[:, kind]] = kind
    kept = ((kind_of_key < ALONE) | (counts >= MIN_SEEN)) & (distinct != NO_KEY)
    index = np.where(kept, np.cumsum(kept) - 1, -1)[inverse]
    pair, kind_of_pair = np.nonzero(index >= 0)
    return distinct[kept], kind_of_key[kept], (pair, index[pair, kind_of_pair])


FOLDS = 5
"""Number of folds of the right words, in text order; each is scored by weights fitted without it."""
SUBSTITUTED = 100.0
"""Total weight of all randomly substituted words, in real mistakes."""
MAX_SUBSTITUTED = 20_000
"""Maximum number of substituted words; a random sample of more is drawn."""
USUAL = 4.0
"""Highest rate of false alarms for which words that are far from being flagged are skipped."""
MIN_CHECKED = 0.0
"""Words are never skipped if another candidate's score is higher, or lower by at most `_SLACK`."""
_SLACK = 1.0
EVERYWHERE = -100.0
"""A margin lower than any other."""
NOTHING = ErrorWeights(np.zeros(len(FEATURES)), HashedWeights(np.empty(0, np.uint64), np.empty(0)))
UNFITTED = Calibration(np.empty(0), np.empty((0, 0)))


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
    recall : array of float64, shape (n_rates,), or None
        Share of all mistakes, including those of other tasks, that are flagged correctly at each rate of
        `operating` by weights fitted without them; None if there was no error corpus.
    needs_evidence : bool
        Whether a word is only flagged if an extractor has found evidence for any candidate there
        (`Features.n_hits`). False if no extractor looks anything up, which is seen from the development text.

    Raises
    ------
    UserError
        D401 or D452 for invalid settings.
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
    recall: Floats | None = fitted_field(None)
    needs_evidence: bool = fitted_field(True)
    between: ClassVar[tuple[str, ...]] = ("words", "lists")
    learns_mistakes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_rate(self.flags_per_1000)
        validate_settings(self, most_right=COUNT)

    def fit(self, data: CalibrationData, *, progress: Progress = no_progress) -> Mistakes:
        """Fit the weights to right words, real mistakes and substitutes; set thresholds on right words."""
        groups = data.task.groups
        corpus = data if isinstance(data, HasErrorCorpus) else None
        right_of_groups, mistakes_of_groups, substituted_of_groups, folds_of_groups = [], [], [], []
        scores_of_groups, truth_of_groups = [], []
        looks_up = False
        for g in range(len(groups)):
            progress("judging", g, len(groups))
            scored = data.scored(g, maximum=None if corpus is None else self.most_right)
            looks_up = looks_up or bool(scored.n_queries.any())
            scores_of_groups.append(pad(scored.scores, scored.offsets, -np.inf))
            truth_of_groups.append(scored.observed)
            # right words, which set the thresholds by cross-validation, and the same words with substitutes
            labelled = scored if corpus is None else corpus.right(g)
            folds = _folds(len(labelled.observed), self.most_right, data.rng)
            folds_of_groups.append(folds)
            right_of_groups.append(weighted_cases(labelled, labelled.observed.astype(np.int64)))
            substituted_of_groups.append(_substituted(labelled, data.rng).take(folds >= 0))
            if corpus is not None:
                mistakes = corpus.mistakes(g)
                mistakes_of_groups.append(weighted_cases(mistakes, _meant_candidates(mistakes)))
        looks_up = looks_up or not any(map(len, truth_of_groups))  # without examples nothing is known
        scales, certainty = fit_choices(scores_of_groups, truth_of_groups)
        right, folds = join_cases(right_of_groups), np.concatenate(folds_of_groups)
        # substituted words are plentiful, but less like people's mistakes: they weigh `SUBSTITUTED` in all
        substituted = _sample(join_cases(substituted_of_groups), data.rng)
        factor = SUBSTITUTED / max(float(substituted.weights.sum()), 1.0)
        substituted = replace(substituted, weights=substituted.weights * factor)
        wrong = join_cases([*mistakes_of_groups, substituted])
        sampled = right.take(folds >= 0)
        shift = _shift(float(wrong.weights.sum()), float(sampled.weights.sum()))
        weighing = fit_weights(join_cases([sampled, wrong]))
        # thresholds: how many right words, scored by weights that have not seen them, each would flag
        odds = _held_out_odds(right, wrong, folds, weighing, shift)
        n_words = data.n_words if corpus is None else corpus.n_right_words
        evident = right.alternatives.evident | (not looks_up)
        operating = tune_operating_point(odds[evident & np.isfinite(odds)], n_words)
        fitted = replace(self, weighing=weighing, shift=shift, operating=operating, needs_evidence=looks_up)
        if corpus is not None:
            # the share of people's mistakes that each threshold finds, also by cross-validation
            sizes = [len(cases.meant) for cases in mistakes_of_groups]
            odds = _held_out_odds_of_mistakes(wrong, sizes, sampled, weighing, shift)
            odds[~(wrong.alternatives.evident[: len(odds)] | (not looks_up))] = -np.inf
            recall = (odds[:, None] > operating.thresholds).sum(axis=0) / max(corpus.n_mistakes, 1)
            fitted = replace(fitted, recall=np.minimum(recall, 1.0))
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
        return judge_mistakes(scored, [self.test(flags_per_1000)], [len(scored)])

    def test(self, flags_per_1000: float | None = None) -> MistakeTest:
        """Return how words are tested at a rate. Raises D401 for an impossible rate."""
        rate = self._rate(flags_per_1000)
        return MistakeTest(
            self, self.operating.threshold(rate), self.weighed_from if rate <= USUAL else EVERYWHERE
        )

    def _least_flagged(self, cases: WeightedCases) -> float:
        """Return the lowest margin of a case that is flagged at the rate `USUAL`, minus a tolerance."""
        odds = _weigh(self.weighing, cases.alternatives, self.shift)[1]
        flagged = (odds > self.operating.threshold(USUAL)) & ~alternatives_repeat(cases.alternatives)
        minimum = float(alternative_margins(cases.alternatives)[flagged].min(initial=MIN_CHECKED))
        return max(minimum - _SLACK, EVERYWHERE)

    def limit(self, flags_per_1000: float | None = None) -> float:
        """Return the probability above which a word is flagged at a rate.

        Raises D401 for an impossible rate.
        """
        return float(to_probability(np.float64(self.operating.threshold(self._rate(flags_per_1000)))))

    def gains(self) -> tuple[Floats, Floats] | None:
        """Return the rates and the share of mistakes found at each (see `recall`); None if unknown."""
        return None if self.recall is None else (self.operating.rates, self.recall)

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability of each candidate, regardless of the observed one."""
        return self.choices.probabilities(scored)

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
        if self.recall is not None:
            arrays["found"] = self.recall
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
        n_dense, n_groups = len(dense), len(groups)
        is_valid = (
            dense.ndim == 1
            and (n_dense >= len(FEATURES) if self.sees_parts else n_dense == len(FEATURES))
            and bool(np.isfinite(dense).all())
            and terms.is_valid()
            and operating.is_valid()
            and np.isfinite(shift)
            and rate >= 0
            and np.isfinite(weighed_from)
            and (scales is None) == (certainty is None)
        )
        if recall is not None:
            is_valid = is_valid and recall.shape == operating.rates.shape
            is_valid = is_valid and bool((recall >= 0).all() and (recall <= 1).all())
            is_valid = is_valid and bool((np.diff(recall) >= 0).all())
        if scales is not None and certainty is not None:
            is_valid = is_valid and scales.shape == (n_groups + 1,) and certainty.shape == (n_groups + 1, 2)
            is_valid = is_valid and bool((scales > 0).all() and np.isfinite(certainty).all())
        if not is_valid:
            raise ValueError("invalid shapes or numbers in the decision rule of mistakes")
        choices = Calibration(np.empty(0), np.empty((0, 0)), scales, certainty)
        needs_evidence = bool(arrays["needs_evidence"].all()) if "needs_evidence" in arrays else True
        restored = replace(self, weighing=weighing, shift=shift, choices=choices, operating=operating)
        restored = replace(restored, needs_evidence=needs_evidence)
        return replace(restored, flags_per_1000=rate, weighed_from=weighed_from, recall=recall)

    def _rate(self, flags_per_1000: float | None) -> float:
        return self.flags_per_1000 if flags_per_1000 is None else flags_per_1000


class MistakeTest(NamedTuple):
    """How words are tested for mistakes."""

    rule: Mistakes
    threshold: float  # log-odds above which a word is flagged
    # words whose best other candidate has a lower margin are skipped (see `Mistakes.weighed_from`)
    least_margin: float = EVERYWHERE
    least: float = 0.0  # minimum probability of a flag


def judge_mistakes(scored: ScoreBatch, tests: Sequence[MistakeTest], sizes: Sequence[int]) -> Predictions:
    """Return the predictions of one test, or of several tests, each for the next instances.

    `sizes`: number of instances of each test.
    """
    padded = PaddedScores.from_batch(scored)
    scores, observed = padded.scores, padded.observed
    n = len(scores)
    _, *limits = zip(*tests, strict=True)
    threshold, least_margin, least = np.array(limits).repeat(sizes, axis=1)  # of each instance
    chosen = scores.argmax(axis=1) if n else np.empty(0, np.int64)
    odds, flagged = np.full(n, -np.inf), np.zeros(n, bool)
    repeats = padded.repeats()
    weighed = observed >= 0
    if (skips := least_margin > -FAR).any():
        margins = padded.others.max(axis=1, initial=-np.inf) - scores[np.arange(n), observed]
        weighed &= (margins >= np.where(skips, least_margin, -np.inf)) | repeats
    rows = weighed.nonzero()[0]
    if len(rows):
        alternatives = alternatives_at(rows, padded, repeats)
        evident, neighbours = alternatives.evident, alternatives.neighbours
        terms = term_keys(alternatives.words, alternatives.changes, neighbours)
        log_odds = np.empty(alternatives.candidates.shape)
        bounds = rows.searchsorted(list(accumulate(sizes, initial=0))).tolist()
        for (rule, *_), first, stop in zip(tests, bounds, bounds[1:], strict=False):
            part = slice(first, stop)
            log_odds[part] = rule.weighing.log_odds(
                alternatives.features[part], terms[part], neighbours[part]
            )
            log_odds[part] += rule.shift
            if not rule.needs_evidence:
                evident[part] = True
        log_odds[alternatives.candidates < 0] = -np.inf
        best, odds[rows] = _best(log_odds)
        flagged[rows] = evident & (odds[rows] > threshold[rows])
    probabilities = to_probability(odds)
    if flagged.any():
        flagged &= probabilities >= least
        meant = alternatives.candidates[np.arange(len(rows)), best]
        chosen[rows] = np.where(flagged[rows], meant, chosen[rows])
    return Predictions(chosen, top_margins(scores), probabilities, flagged, np.ones(n, bool))


def weighted_cases(
    scored: ScoreBatch, meant: NDArray[np.int64], written: NDArray[np.int32] | None = None
) -> WeightedCases:
    """Return examples with a known meant word; weight zero if it is not among the alternatives.

    `meant` (int (n,)): index of the meant candidate in its group or list.
    `written` (int (n,)): observed candidates that replace those of `scored`.
    """
    observed = scored.observed if written is None else written
    alternatives = find_alternatives(scored, written)
    is_meant = alternatives.candidates == meant[:, None]
    is_alternative = is_meant.any(axis=1)
    choice = np.zeros(len(observed), np.int64)
    if is_meant.shape[1]:
        choice = np.where(is_alternative, 1 + is_meant.argmax(axis=1), 0)
    usable = (is_alternative | (meant == observed)) & alternatives.possible.any(axis=1)
    return WeightedCases(alternatives, choice, np.where(usable, 1.0, 0.0))


def _meant_candidates(scored: ScoreBatch) -> NDArray[np.int64]:
    """Return the first candidate of cost zero of each instance."""
    costs = pad(scored.cost, scored.offsets, np.inf)
    return costs.argmin(axis=1) if len(costs) else np.empty(0, np.int64)


def _substituted(right: ScoreBatch, rng: np.random.Generator) -> WeightedCases:
    """Make examples from right words by replacing them with another random candidate."""
    padded = PaddedScores.from_batch(right)
    written, rows = substitutes(padded.is_variant | np.isneginf(padded.scores), rng)
    cases = weighted_cases(
        right, right.observed.astype(np.int64), np.where(written >= 0, written, right.observed)
    )
    possible = np.zeros(len(written), bool)
    possible[rows] = True
    return replace(cases, weights=cases.weights * possible)


def _sample(cases: WeightedCases, rng: np.random.Generator) -> WeightedCases:
    """Return at most `MAX_SUBSTITUTED` of the examples, drawn at random."""
    n = len(cases.meant)
    if n <= MAX_SUBSTITUTED:
        return cases
    return cases.take(np.sort(rng.choice(n, MAX_SUBSTITUTED, replace=False)))


def _folds(n: int, maximum: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each right word; -1 for those not in a random sample of `maximum`."""
    folds = np.arange(n) * FOLDS // max(n, 1)
    folds[rng.choice(n, max(n - maximum, 0), replace=False)] = -1
    return folds


def _held_out_odds(
    right: WeightedCases, wrong: WeightedCases, folds: NDArray[np.int64], weighing: ErrorWeights, shift: float
) -> Floats:
    """Return the log-odds of the right words, each by weights that were fitted without its fold.

    Words without a fold (-1) were not used for training, so that `weighing` scores them.
    """
    odds = np.empty(len(folds))
    for fold in range(-1, FOLDS):
        inside, weights = folds == fold, weighing
        if fold >= 0:
            others = right.take((folds >= 0) & ~inside)
            weights = fit_weights(join_cases([others, wrong]), start=weighing)
        odds[inside] = _weigh(weights, right.alternatives.take(inside), shift)[1]
    return odds


def _held_out_odds_of_mistakes(
    wrong: WeightedCases, sizes: Sequence[int], right: WeightedCases, weighing: ErrorWeights, shift: float
) -> Floats:
    """Return the log-odds of people's mistakes, each by weights that were fitted without its fold.

    Minus infinity if the suggestion would not be the meant word.

    `wrong`: these mistakes, group by group, followed by substituted words.
    `sizes`: number of mistakes of each group.
    """
    n = sum(sizes)
    folds = np.full(len(wrong.meant), -1)
    folds[:n] = np.concatenate([np.arange(size) * FOLDS // max(size, 1) for size in sizes])
    odds = np.full(n, -np.inf)
    for fold in range(FOLDS if n else 0):
        inside = np.flatnonzero(folds == fold)
        weights = fit_weights(join_cases([right, wrong.take(folds != fold)]), start=weighing)
        cases = wrong.take(inside)
        best, fold_odds = _weigh(weights, cases.alternatives, shift)
        is_meant = 1 + best == cases.meant
        odds[inside[is_meant]] = fold_odds[is_meant]
    return odds


def _best(log_odds: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the most probable alternative of each instance, and its log-odds against everything else."""
    n = len(log_odds)
    if not log_odds.shape[1]:
        return np.zeros(n, np.int64), np.full(n, -np.inf)
    best = log_odds.argmax(axis=1)
    highest = np.maximum(log_odds.max(axis=1), 0.0)  # 0 is the score of the written word
    shares = np.exp(log_odds - highest[:, None])
    share_of_best = shares[np.arange(n), best]
    rest = np.exp(-highest) + shares.sum(axis=1) - share_of_best
    with np.errstate(divide="ignore"):
        return best, np.log(share_of_best) - np.log(rest)


def _shift(wrong: float, right: float) -> float:
    """Return the shift of the log-odds from the share of mistakes among the examples to `ERROR_RATE`."""
    seen = np.log(max(wrong, 1e-9) / max(right, 1e-9))
    return float(np.log(ERROR_RATE / (1 - ERROR_RATE)) - seen)
