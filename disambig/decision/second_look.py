"""Decision rule that looks a second time at what another rule proposes, with evidence that is costly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CandidateLists,
    Decisions,
    DenseLists,
    Group,
    Instances,
    Predictions,
    ScoreBatch,
    SparseRows,
    convert,
)
from disambig.data.segments import argmax
from disambig.decision.calibration import (
    UNTUNED,
    OperatingPoint,
    check_rate,
    to_log_odds,
    to_probability,
    tune_operating_point,
)
from disambig.decision.mistakes import EVERYWHERE, Mistakes, MistakeTest, judge_mistakes
from disambig.features import transform_union
from disambig.settings import ABOVE_ZERO, SHARE_BELOW_ONE, fitted_field, validate_settings
from disambig.text import TokenView, paragraph_offsets, passage_offsets
from disambig.type_aliases import Floats, Progress, no_progress
from disambig.types import Arrays, CalibrationData, DecisionRule, RaisesFlags, sees_beside, sees_parts

Rows = NDArray[np.int64]
EVERYTHING = float("inf")
MISTAKES_PER_1000 = 5.0
"""Mistakes per 1,000 words in the text that fitted probabilities refer to."""
RIDGE = 5.0
"""Ridge of the weights, each in units of its column's spread."""
FOLDS = 5
HIGHEST_FLOOR = 0.2
"""A place that the first rule finds more probable is always looked at."""
SLACK = 0.3
"""How much lower the margin of a proposal may be than any that was seen."""
_STEPS = 30
"""Maximum number of steps of the fixed-point iteration for the density of a paragraph."""
_PAIR = Group("pair", ("observed", "proposed"))
_FIRST_FEATURES = ("log-odds", "log-odds, insertion", "log-odds, deletion", "insertion", "deletion")
"""Features that need no evidence: the log-odds of the first rule, and the kind of edit."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledProposals:
    """Proposals of the first rule in text whose mistakes are known."""

    features: Floats  # float64 (n, F): as returned by `SecondLook.features`
    right: NDArray[np.bool_]  # (n,): whether the proposal corrects a mistake
    # bool (n,): whether it is in text without mistakes; the others, which are neither, are not used
    clean: NDArray[np.bool_]
    units: NDArray[np.int64]  # (n,): number of the project or author; a unit is never in two folds
    passages: NDArray[np.int64]  # (n,): number of the passage (see `disambig.text.passage_offsets`)
    # int64 (n_passages,): number of tokens of each passage, and the number of its paragraph
    n_tokens: NDArray[np.int64]
    paragraphs: NDArray[np.int64]
    # number of all mistakes, and of the words and tokens of the text without mistakes
    n_mistakes: int
    n_clean_words: int
    n_clean_tokens: int
    # float64 (n,): best score of another candidate minus that of the observed one
    margins: Floats | None = None


class _AsksFirstRule:
    """Base of decision rules that see what their first rule sees."""

    __slots__ = ()
    first: DecisionRule

    @property
    def sees_beside(self) -> bool:
        """Whether the first rule uses the words before and after a position."""
        return sees_beside(self.first)

    @property
    def sees_parts(self) -> bool:
        """Whether the first rule uses the contributions of feature groups."""
        return sees_parts(self.first)


@dataclass(frozen=True, slots=True, eq=False)
class SecondLook(_AsksFirstRule):
    """Weigh the proposals of a first decision rule again, with the evidence of further extractors.

    The extractors see only places where the first rule finds a mistake at least slightly probable, and of
    each place two candidates, the observed and the proposed one. The difference between their features is
    the evidence. A logistic regression turns it, together with the first rule's log-odds, into the
    probability of a mistake. Until `fit_proposals` was called, the first rule decides alone.

    Probabilities follow the density of mistakes in their paragraph (`look_again_together`): where there are
    many, others are more probable, and places with a lower probability are looked at as well. A long
    paragraph with few mistakes does not make one of its passages less suspect (`passage_shifts`).

    Parameters
    ----------
    first : DecisionRule
        The rule that proposes; it must flag words (`RaisesFlags`).
    evidence : mapping of str to FeatureExtractor, optional
        Extractors for per-instance candidates; columns are told apart by name.
    least : float
        Minimum probability of a mistake, according to the first rule, of a proposal, also where mistakes are
        dense and for writers who make many.
    flags_per_1000 : float
        Accepted false alarms per 1,000 correct words.
    per_1000 : float
        Mistakes per 1,000 words that the writer is assumed to make, of all kinds. It shifts all log-odds.
    prior_strength : float
        How many expected mistakes the assumption counts for. The lower, the faster the density of mistakes
        in the paragraph itself takes over; infinite: only the assumption counts.
    replacements : bool
        Whether the evidence counts for words that are replaced, and not only for those put in or taken out.
        False for articles: an encoder of word pieces does not know how the next word sounds.
    most_missed : float
        Share of the correct flags that may be lost for speed, because the first rule finds them less probable
        than what is looked at (`floor`).

    Attributes
    ----------
    weights : array of float64, shape (1 + F,), or None
        Intercept, then one weight per feature; None before `fit_proposals`.
    operating : OperatingPoint
    recall : array of float64, shape (n_rates,), or None
        Share of all mistakes that are flagged and corrected at each rate of `operating`, cross-validated.
    expected : float
        Expected number of mistakes among the proposals per token, at `MISTAKES_PER_1000`.
    floor : float
        Minimum probability, according to the first rule, of what is looked at where mistakes are as dense as
        in the text that the probabilities refer to. Hardly any flag has a lower one.
    weighed_from : float
        Where the best other candidate has a lower margin, `Mistakes` as the first rule is not asked: no
        proposal had one when the second look was fitted.

    Raises
    ------
    UserError
        D401, D760 or D770 for invalid settings.
    """

    first: DecisionRule
    evidence: Mapping[str, Any] | None = None  # of FeatureExtractor, which pydantic cannot check
    least: float = 0.02
    flags_per_1000: float = 0.5
    per_1000: float = MISTAKES_PER_1000
    prior_strength: float = EVERYTHING
    replacements: bool = True
    most_missed: float = 0.01
    weights: Floats | None = fitted_field(None)
    operating: OperatingPoint = fitted_field(UNTUNED)
    recall: Floats | None = fitted_field(None)
    expected: float = fitted_field(0.0)
    floor: float = fitted_field(0.0)
    weighed_from: float = fitted_field(EVERYWHERE)
    between: ClassVar[tuple[str, ...]] = ("words", "lists")
    learns_mistakes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_rate(self.flags_per_1000)
        validate_settings(self, per_1000=ABOVE_ZERO, most_missed=SHARE_BELOW_ONE)

    def fit(self, data: CalibrationData, *, progress: Progress = no_progress) -> SecondLook:
        """Fit the first rule; `fit_proposals` fits the second look, to text that the first has not seen."""
        return replace(self, first=self.first.fit(data, progress=progress))

    def fit_proposals(self, proposals: LabelledProposals) -> SecondLook:
        """Fit weights, thresholds and the expected number of mistakes to labelled proposals.

        Raises `ValueError` if there are no right proposals or none in clean text.
        """
        features, right, clean = proposals.features, proposals.right, proposals.clean
        used = right | clean
        if not right.any() or not clean.any():
            raise ValueError("a second look needs proposals that correct mistakes, and some in clean text")
        # clean text counts as if it were the text around the mistakes at their assumed density
        n_words = proposals.n_mistakes / (MISTAKES_PER_1000 / 1000)
        n_clean_words = max(proposals.n_clean_words, 1)
        importance = np.where(clean, n_words / n_clean_words, 1.0)
        folds = _unit_folds(proposals.units)
        odds = np.empty(len(right))  # each by weights that were fitted without its fold
        for fold in range(FOLDS):
            inside = folds == fold
            others = used & ~inside
            if inside.any():
                weights = _fit_logistic(features[others], right[others], importance[others])
                odds[inside] = _log_odds(weights, features[inside])
        # places that the first rule finds less probable than any right flag need no evidence; the
        # shift by density is not known yet
        first_odds = features[:, 0]
        limit = tune_operating_point(odds[clean], proposals.n_clean_words).threshold(self.flags_per_1000)
        flagged = right & (odds > limit)
        in_order = np.sort(first_odds[flagged])
        # at most the share `most_missed` of the right flags has lower odds
        floor = float(in_order[int(self.most_missed * len(in_order))]) if len(in_order) else -np.inf
        floor = min(floor, float(to_log_odds(np.float64(HIGHEST_FLOOR))))
        looked_at = used & (first_odds >= floor)
        expected_mistakes = importance[looked_at] @ to_probability(odds[looked_at])
        fitted = replace(
            self,
            weights=_fit_logistic(features[used], right[used], importance[used]),
            expected=float(expected_mistakes / (n_words * (proposals.n_clean_tokens / n_clean_words))),
            floor=float(to_probability(np.float64(floor))),
        )
        # thresholds are set with the shift, so that the rates hold for paragraphs like these
        shift = fitted._shifts(odds, proposals)
        looked_at = first_odds >= fitted._floor_odds(shift)
        odds = odds + shift
        operating = tune_operating_point(odds[clean & looked_at], proposals.n_clean_words)
        odds_of_right = odds[right & looked_at]
        recall = (odds_of_right[:, None] > operating.thresholds).sum(axis=0) / max(proposals.n_mistakes, 1)
        recall_at_rates = np.minimum.accumulate(np.minimum(recall, 1.0)[::-1])[::-1]
        weighed_from = EVERYWHERE
        if proposals.margins is not None:
            weighed_from = max(float(proposals.margins.min()) - SLACK, EVERYWHERE)
        return replace(fitted, operating=operating, recall=recall_at_rates, weighed_from=weighed_from)

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Return the proposals of the first rule, as flags; before `fit_proposals`, its flags."""
        if self.is_fitted:
            return self.as_proposer().judge(scored)
        return self.first.judge(scored, flags_per_1000=self._rate(flags_per_1000))

    def test(self, flags_per_1000: float | None = None) -> MistakeTest | None:
        """Return how words are tested if the first rule is `Mistakes`; else None."""
        if not isinstance(self.first, Mistakes):
            return None
        if self.weights is not None:
            return MistakeTest(self.first, -EVERYTHING, self.weighed_from, self.least)
        return self.first.test(self._rate(flags_per_1000))

    def as_proposer(self) -> Proposer:
        """Return a decision rule whose flags are the proposals, with the first rule's probabilities."""
        return Proposer(self.first, self.least, self.weighed_from)

    @property
    def is_fitted(self) -> bool:
        """Whether `fit_proposals` was called."""
        return self.weights is not None

    def features(
        self, view: TokenView, instances: Instances, decisions: Decisions, rows: Rows | None = None
    ) -> tuple[Rows, Floats]:
        """Return the rows of `decisions` that are proposals, and their features, shape ``(n, F)``.

        Parameters
        ----------
        instances : Instances
            The places of `decisions`, in the same order.
        decisions : Decisions
            With the flags that `judge` gives.
        rows : array of int64, optional
            Some of the proposals; by default all.
        """
        rows = np.flatnonzero(decisions.flagged) if rows is None else rows
        texts = []
        for row in rows.tolist():
            candidates = decisions.candidate_texts(row)
            texts.append((candidates[decisions.observed[row]], candidates[decisions.chosen[row]]))
        odds = to_log_odds(decisions.probabilities[rows].astype(np.float64))
        inserts = np.array([not observed for observed, _ in texts], bool)
        deletes = np.array([not proposed for _, proposed in texts], bool)
        first_features = np.stack([odds, odds * inserts, odds * deletes, inserts, deletes], axis=1)
        is_counted = inserts | deletes | self.replacements
        # before the second look is fitted, the number of columns must not depend on the proposals
        looked_at = np.flatnonzero(is_counted | (self.weights is None))
        if not self.evidence or not len(looked_at):
            no_evidence = np.zeros((len(rows), self._n_evidence))
            return rows, np.concatenate([first_features, no_evidence], axis=1)
        pairs = Instances(
            instances.positions[rows[looked_at]],
            instances.lengths[rows[looked_at]],
            np.zeros(len(looked_at), np.int32),
            np.zeros(len(looked_at), np.int32),
            CandidateLists.from_texts([texts[i] for i in looked_at.tolist()]),
        )
        differences = self._differences(view, pairs)
        evidence = np.zeros((len(rows), differences.shape[1]))
        evidence[looked_at] = differences
        evidence[~is_counted] = 0.0
        return rows, np.concatenate([first_features, evidence], axis=1)

    def _differences(self, view: TokenView, pairs: Instances) -> Floats:
        """Return the features of the proposed candidates minus those of the observed ones."""
        assert self.evidence
        batch = transform_union(tuple(self.evidence.values()), view, pairs, _PAIR).batch
        if isinstance(batch, DenseLists):
            values = batch.values.astype(np.float64)
        else:
            values = convert(batch, SparseRows).rows.toarray().astype(np.float64)
        return values[1::2] - values[::2]

    @property
    def _n_evidence(self) -> int:
        return 0 if self.weights is None else len(self.weights) - 1 - len(_FIRST_FEATURES)

    def propose(self, view: TokenView, instances: Instances, decisions: Decisions) -> Proposals:
        """Return what `judge` proposes, with the evidence for what is looked at first."""
        rows = np.flatnonzero(decisions.flagged)
        if not len(rows):
            return Proposals(self, view, instances, decisions, rows, np.empty(0), rows)
        first_odds = to_log_odds(decisions.probabilities[rows].astype(np.float64))
        passages = np.searchsorted(passage_offsets(view), instances.positions[rows], side="right") - 1
        proposals = Proposals(self, view, instances, decisions, rows, first_odds, passages)
        proposals.look_at(first_odds >= self._floor_odds(np.zeros(len(rows)) + np.log(self.density)))
        return proposals

    def decide(
        self, proposals: Proposals, shifts: Floats, *, flags_per_1000: float | None = None
    ) -> Decisions:
        """Return the decisions with the probabilities and flags of the second look.

        Raises D401 for an invalid rate.

        Parameters
        ----------
        proposals : Proposals
            As `propose` returns them.
        shifts : array of float64, shape (n_passages,)
            Amount added to all log-odds in each passage, for the density of mistakes in it.
        """
        decisions, rate = proposals.decisions, self._rate(flags_per_1000)
        if self.weights is None or not len(proposals.rows):
            return decisions
        shift = shifts[proposals.passages]
        proposals.look_at(proposals.first_odds >= self._floor_odds(shift))
        odds = proposals.odds + shift
        is_flag = odds > self.operating.threshold(rate)
        flagged, chosen = decisions.flagged.copy(), decisions.chosen.copy()
        probabilities = decisions.probabilities.copy()
        rows, looked_at = proposals.rows, proposals.is_looked_at
        flagged[rows], probabilities[rows[looked_at]] = is_flag, to_probability(odds[looked_at])
        unflagged = rows[~is_flag]
        if len(unflagged):  # they get their best candidate again
            part = decisions.take(unflagged)
            chosen[unflagged] = argmax(part.scores.astype(np.float64), part.offsets)
        return replace(decisions, flagged=flagged, chosen=chosen, probabilities=probabilities)

    @property
    def density(self) -> float:
        """The assumed density of mistakes, in units of that to which the probabilities refer."""
        return self.per_1000 / MISTAKES_PER_1000

    def _floor_odds(self, shift: Floats) -> Floats:
        """Return the minimum log-odds, according to the first rule, of the places that are looked at."""
        floor, minimum = (to_log_odds(np.float64(value)) for value in (self.floor, self.least))
        return np.maximum(np.minimum(floor - shift, floor - np.log(self.density)), minimum)

    def _shifts(self, odds: Floats, proposals: LabelledProposals) -> Floats:
        """Return the shift of each proposal by the density that this rule computes for its passage."""
        floor = self._floor_odds(np.full(len(odds), np.log(self.density)))
        looked_at = proposals.features[:, 0] >= floor
        mistakes = ExpectedMistakes(
            odds[looked_at], proposals.passages[looked_at], self.expected, self.density, self.prior_strength
        )
        return passage_shifts([mistakes], proposals.n_tokens, proposals.paragraphs)[0][proposals.passages]

    def limit(self, flags_per_1000: float | None = None) -> float:
        """Return the probability above which a word is flagged at a rate.

        Raises D401 for an impossible rate.
        """
        rate = self._rate(flags_per_1000)
        if not self.is_fitted:
            assert isinstance(self.first, RaisesFlags)
            return self.first.limit(rate)
        return float(to_probability(np.float64(self.operating.threshold(rate))))

    @property
    def mistakes_per_1000(self) -> float | None:
        """The assumed mistakes per 1,000 words, `per_1000`; None before `fit_proposals`."""
        return self.per_1000 if self.is_fitted else None

    def with_mistakes_per_1000(self, mistakes_per_1000: float) -> SecondLook:
        """Return the decision rule for a writer who makes more or fewer mistakes."""
        return replace(self, per_1000=mistakes_per_1000)

    def gains(self) -> tuple[Floats, Floats] | None:
        """Return the rates and the share of mistakes found at each of them; None before `fit_proposals`."""
        return None if self.recall is None else (self.operating.rates, self.recall)

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability of each candidate, regardless of the observed one."""
        return self.first.probabilities(scored)

    def state(self) -> Arrays:
        """Return the states of both rules."""
        arrays = {f"first.{name}": array for name, array in self.first.state().items()}
        if self.weights is not None and self.recall is not None:
            arrays["weights"], arrays["found"] = self.weights, self.recall
            arrays["rates"], arrays["thresholds"] = self.operating.rates, self.operating.thresholds
            arrays["expected"], arrays["floor"] = np.array([self.expected]), np.array([self.floor])
            arrays["weighed_from"] = np.array([self.weighed_from])
        return {**arrays, "flags_per_1000": np.array([self.flags_per_1000])}

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> SecondLook:
        """Restore the decision rule from `state`; raise ValueError for invalid shapes or numbers."""
        saved = {name.removeprefix("first."): a for name, a in arrays.items() if name.startswith("first.")}
        rate = float(arrays["flags_per_1000"][0])
        if not rate >= 0:
            raise ValueError("a negative rate of flags in the second look")
        restored = replace(self, first=self.first.from_state(saved, groups), flags_per_1000=rate)
        if "weights" in arrays:
            restored = replace(
                restored,
                weights=arrays["weights"],
                recall=arrays["found"],
                operating=OperatingPoint(arrays["rates"], arrays["thresholds"]),
                expected=float(arrays["expected"][0]),
                floor=float(arrays["floor"][0]) if "floor" in arrays else 0.0,
                weighed_from=float(arrays["weighed_from"][0]) if "weighed_from" in arrays else EVERYWHERE,
            )
        if not restored._is_valid():
            raise ValueError("invalid shapes or numbers in the second look")
        return restored

    def _is_valid(self) -> bool:
        """Return True if what `fit_proposals` learns fits together, or was not learned."""
        if self.weights is None or self.recall is None:
            return True
        return (
            self.weights.ndim == 1
            and (self._n_evidence > 0 if self.evidence else self._n_evidence == 0)
            and bool(np.isfinite(self.weights).all())
            and self.operating.is_valid()
            and self.recall.shape == self.operating.rates.shape
            and bool(((self.recall >= 0) & (self.recall <= 1)).all())
            and bool(np.isfinite([self.expected, self.weighed_from]).all())
            and self.expected >= 0
            and 0 <= self.floor <= 1
        )

    def _rate(self, flags_per_1000: float | None) -> float:
        return self.flags_per_1000 if flags_per_1000 is None else check_rate(flags_per_1000)


@dataclass(slots=True, eq=False)
class Proposals:
    """What the first rule of a second look proposes in a view."""

    rule: SecondLook
    view: TokenView
    instances: Instances
    decisions: Decisions  # with the flags of the first rule
    rows: Rows  # int64 (n,): the decisions that are proposals
    first_odds: Floats  # float64 (n,): log-odds of a mistake according to the first rule
    passages: Rows  # int64 (n,): number of the passage of each proposal (see `disambig.text.passage_offsets`)
    # float64 (n,): log-odds of a mistake with the evidence; minus infinity where no evidence was looked at
    odds: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.odds = np.full(len(self.rows), -np.inf)

    @property
    def is_looked_at(self) -> NDArray[np.bool_]:
        """Mask of the proposals whose evidence was extracted."""
        return np.isfinite(self.odds)

    def look_at(self, wanted: NDArray[np.bool_]) -> None:
        """Extract the evidence for the proposals that are `wanted` and were not looked at."""
        new = (wanted & ~self.is_looked_at).nonzero()[0]
        if len(new) and self.rule.weights is not None:
            _, features = self.rule.features(self.view, self.instances, self.decisions, self.rows[new])
            self.odds[new] = _log_odds(self.rule.weights, features)


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedMistakes:
    """Log-odds of the mistakes of one task, and what was expected of it."""

    odds: Floats  # float64 (n,)
    paragraphs: Rows  # int64 (n,)
    expected: float  # expected number of mistakes per token, at a density of 1
    density: float  # assumed density
    strength: float  # number of expected mistakes that the assumption counts for


def look_again_together(proposals: Sequence[Proposals], rates: Sequence[float | None]) -> list[Decisions]:
    """Return the decisions of several second looks at one view, which find the density of mistakes together.

    Mistakes of one task make those of another more probable: they have the same writer.

    `proposals`: as `SecondLook.propose` returns them, of the same view.
    `rates`: accepted false alarms per 1,000 correct words of each; None: the rule's own.
    """
    if not any(len(of_task.rows) for of_task in proposals):
        return [of_task.decisions for of_task in proposals]
    parts = []
    for of_task in proposals:
        looked_at, rule = of_task.is_looked_at, of_task.rule
        odds, passages = of_task.odds[looked_at], of_task.passages[looked_at]
        parts.append(ExpectedMistakes(odds, passages, rule.expected, rule.density, rule.prior_strength))
    view = proposals[0].view
    offsets = passage_offsets(view)
    shifts = passage_shifts(parts, np.diff(offsets), passage_paragraphs(view, offsets))
    return [
        of_task.rule.decide(of_task, shift, flags_per_1000=rate)
        for of_task, shift, rate in zip(proposals, shifts, rates, strict=True)
    ]


def passage_paragraphs(view: TokenView, offsets: Rows) -> Rows:
    """Return the number of the paragraph of each passage; `offsets` are those of the passages."""
    return np.searchsorted(paragraph_offsets(view), offsets[:-1], side="right") - 1


def passage_shifts(parts: Sequence[ExpectedMistakes], n_tokens: Rows, paragraphs: Rows) -> list[Floats]:
    """Return, for each part, what the density of mistakes in each passage adds to its log-odds.

    It is that of the passage or of its paragraph, whichever is higher. Many mistakes in a long paragraph make
    more of them probable everywhere in it. But a long paragraph with few mistakes says no more against a
    mistake in one of its passages than the passage itself.

    `parts`: their `paragraphs` are numbers of passages.
    `n_tokens` and `paragraphs` (int64 (n_passages,)): number of tokens of each passage, and the number of its
    paragraph.
    """
    shifts = paragraph_shifts(parts, n_tokens)
    sizes = np.bincount(paragraphs, n_tokens).astype(np.int64)
    if len(sizes) == len(n_tokens):  # each paragraph is one passage
        return shifts
    whole = paragraph_shifts([replace(part, paragraphs=paragraphs[part.paragraphs]) for part in parts], sizes)
    return [np.maximum(one, other[paragraphs]) for one, other in zip(shifts, whole, strict=True)]


def paragraph_shifts(parts: Sequence[ExpectedMistakes], n_tokens: Rows) -> list[Floats]:
    """Return, for each part, what the density of mistakes in each paragraph adds to its log-odds.

    The density is the assumed one times a ratio, which has a Gamma prior with mean 1 and shape `strength`.
    Its posterior mean and the probabilities of the proposals determine each other; a few steps of fixed-point
    iteration find both. Each step keeps the order of two ratios, and the number of steps depends neither on
    them nor on other paragraphs: so no paragraph shifts another one, and a higher assumed density never
    lowers a probability. A part of infinite strength takes no part in it.
    """
    n = len(n_tokens)
    finite = [part for part in parts if np.isfinite(part.strength)]
    ratio = np.ones(n)
    if finite:
        odds = np.concatenate([part.odds + np.log(part.density) for part in finite])
        paragraphs = np.concatenate([part.paragraphs for part in finite])
        strength = max(part.strength for part in finite)
        expected = n_tokens * sum(part.expected * part.density for part in finite)
        for _ in range(_STEPS):
            n_mistakes = np.bincount(paragraphs, to_probability(odds + np.log(ratio)[paragraphs]), n)
            previous, ratio = ratio, (strength + n_mistakes) / (strength + expected)
            if np.array_equal(previous, ratio):
                break
    return [
        np.log(part.density) + (np.log(ratio) if np.isfinite(part.strength) else np.zeros(n))
        for part in parts
    ]


class RuleAssignment(NamedTuple):
    """A decision rule, and the instances that it decides."""

    rule: DecisionRule
    rate: float | None  # accepted false alarms per 1,000 correct words; None: the rule's own
    groups: slice  # the groups of the instances
    instances: slice


def judge_together(scored: ScoreBatch, assignments: Sequence[RuleAssignment]) -> Predictions:
    """Return the predictions of several rules, each for instances of its own, in order.

    Words with candidates of their own are tested for mistakes together, since this takes fewer steps.
    Candidates of groups are not: their padding would change the rounding of the scores' softmax.
    """
    tests, sizes = [], []
    for rule, rate, _, instances in assignments:
        test = rule.test(rate) if isinstance(rule, Mistakes | SecondLook) else None
        if test is not None:
            tests.append(test)
            sizes.append(instances.stop - instances.start)
    if len(tests) == len(assignments) and (len(assignments) == 1 or scored.lists is not None):
        return judge_mistakes(scored, tests, sizes)
    if len(assignments) == 1:
        return assignments[0].rule.judge(scored, flags_per_1000=assignments[0].rate)
    return Predictions.joined(
        [
            rule.judge(scored.take(instances, groups), flags_per_1000=rate)
            for rule, rate, groups, instances in assignments
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class Proposer(_AsksFirstRule):
    """Decision rule that flags whatever another one finds at least slightly probable."""

    first: DecisionRule
    least: float  # minimum probability of a flag
    weighed_from: float = EVERYWHERE  # see `SecondLook`
    flags_per_1000: ClassVar[float] = EVERYTHING

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Return the proposals; the rate is ignored."""
        if isinstance(self.first, Mistakes):
            test = MistakeTest(self.first, -EVERYTHING, self.weighed_from, self.least)
            return judge_mistakes(scored, [test], [len(scored)])
        decided = self.first.judge(scored, flags_per_1000=EVERYTHING)
        proposed = decided.flagged & (decided.probabilities >= self.least)
        unflagged = np.flatnonzero(decided.flagged & ~proposed)
        if not len(unflagged):
            return decided
        chosen = decided.chosen.copy()  # they get their best candidate again
        part = scored.take(unflagged)
        chosen[unflagged] = argmax(part.scores, part.offsets)
        return replace(decided, chosen=chosen, flagged=proposed)

    def fit(self, data: CalibrationData, *, progress: Progress = no_progress) -> Proposer:
        """Fit the rule."""
        return replace(self, first=self.first.fit(data, progress=progress))

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability of each candidate, regardless of the observed one."""
        return self.first.probabilities(scored)

    def state(self) -> Arrays:
        """Return the state of the rule."""
        return self.first.state()

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> Proposer:
        """Restore the rule from `state`."""
        return replace(self, first=self.first.from_state(arrays, groups))


def _fit_logistic(features: Floats, right: NDArray[np.bool_], importance: Floats) -> Floats:
    """Return intercept and weights of a logistic regression with a ridge on standardised columns.

    The ridge pulls the weight of the first column, the first rule's log-odds, to 1 and the others to 0:
    without evidence to the contrary, the first rule is believed.
    """
    from scipy.optimize import minimize

    spread = features.std(axis=0)
    spread[spread == 0] = 1.0
    columns = np.column_stack([np.ones(len(features)), features / spread])
    sign = np.where(right, 1.0, -1.0)
    ridge = np.full(columns.shape[1], RIDGE)
    ridge[0] = 0.0

    def loss(change: Floats) -> tuple[float, Floats]:
        margins = sign * (features[:, 0] + columns @ change)
        gradient = -(importance * sign * to_probability(-margins)) @ columns + ridge * change
        return float(importance @ np.logaddexp(0, -margins) + 0.5 * ridge @ change**2), gradient

    change = minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B").x
    weights: Floats = np.concatenate([change[:1], change[1:] / spread])
    weights[1] += 1.0
    return weights


def _log_odds(weights: Floats, features: Floats) -> Floats:
    odds: Floats = features @ weights[1:] + weights[0]
    return odds


def _unit_folds(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the fold of each row; all rows of a unit have the same one, of about equal size."""
    names, index, sizes = np.unique(units, return_inverse=True, return_counts=True)
    order = np.random.default_rng(0).permutation(len(names))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold, load = np.empty(len(names), np.int64), np.zeros(FOLDS)
    for unit in order.tolist():  # the largest unit first, each to the fold with the fewest rows
        fold[unit] = load.argmin()
        load[fold[unit]] += sizes[unit]
    return fold[index]
