"""The contract of a measure: unit and direction, and that what makes the bootstrap quick is right."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from disambig.data import segments
from disambig.data.lists import CandidateLists
from disambig.measures.bootstrap import times_drawn
from disambig.measures.contract import AddsUp, CostsTexts, Measure, Reweighs
from disambig.measures.outcomes import Outcomes
from disambig.testing.checks import Check, checks_of, require, require_close, require_equal

NAMES = ("from", "to", "too", "two ", "tattoo")


def outcomes(n: int = 60, *, seed: int = 0) -> Outcomes:
    """Return decisions between some of `NAMES`, one of them right, with references; documents of three."""
    rng = np.random.default_rng(seed)
    lists = [[NAMES[i] for i in rng.permutation(len(NAMES))[: rng.integers(2, 5)]] for _ in range(n)]
    references = [each[rng.integers(len(each))] for each in lists]
    own = CandidateLists.of(lists)
    wrong = [
        text != right for each, right in zip(lists, references, strict=True) for text in each
    ]  # what is wrong costs 1 to 3
    own = replace(own, costs=(np.array(wrong) * rng.integers(1, 4, len(wrong))).astype(np.float32))
    found = Outcomes.of_lists(
        own, scores=rng.normal(size=len(wrong)) - wrong, references=references, units=np.arange(n) // 3
    )
    chosen = np.where(rng.random(n) < 0.1, -1, found.chosen)
    return found.with_chosen(chosen)


def check_measure(
    measure: Measure,
    problem: Outcomes | None = None,
    *,
    answers: Sequence[tuple[Outcomes, float]] = (),
    within: float = 1e-9,
) -> list[Check]:
    """Return the checks of a measure.

    Parameters
    ----------
    measure : Measure
    problem : Outcomes, optional
        On which it is defined; by default `disambig.testing.outcomes`.
    answers : sequence of (Outcomes, float)
        Outcomes, and what the measure is there.
    within : float
        How far values may be off, relative to the largest.
    """
    return checks_of(_Checks(measure, outcomes() if problem is None else problem, answers, within))


@dataclass
class _Checks:
    _measure: Measure
    _problem: Outcomes
    _answers: Sequence[tuple[Outcomes, float]]
    _within: float

    def says_what_it_is(self) -> None:
        for what in ("name", "unit"):
            said = getattr(self._measure, what, None)
            require(isinstance(said, str) and bool(said), f"its {what} is {said!r}: give a text")
        more = getattr(self._measure, "more_is_better", None)
        require(isinstance(more, bool), f"more_is_better is {more!r}: set it to True or False")

    def gives_one_number(self) -> None:
        value = self._measure.value(self._problem)
        require(isinstance(value, float) and np.isfinite(value), f"the value is {value!r}, no finite float")

    def gives_the_known_answers(self) -> None:
        for number, (known, answer) in enumerate(self._answers):
            seen = self._measure.value(known)
            require_close([seen], [answer], f"answer {number}", within=self._within)

    def is_better_where_all_is_right(self) -> None:
        best, worst = (self._measure.value(self._decided_by(sign * self._problem.cost)) for sign in (-1, 1))
        holds = best >= worst if self._measure.more_is_better else best <= worst
        require(holds, f"{best} where all is right, {worst} where all is wrong: is more_is_better turned?")

    def looks_at_no_order(self) -> None:
        order = np.random.default_rng(0).permutation(len(self._problem))
        seen = self._measure.value(self._problem.take(order))
        self._agree([seen], [self._measure.value(self._problem)], "in another order")

    def leaves_outcomes_alone(self) -> None:
        given = copy.deepcopy(self._problem)
        self._measure.value(given)
        for what in ("offsets", "scores", "chosen", "gold", "cost", "ids", "ranks", "units"):
            require_equal(getattr(given, what), getattr(self._problem, what), what)

    def takes_no_instance_at_all(self) -> None:
        value = self._measure.value(self._problem.take(np.zeros(0, np.int64)))
        require(isinstance(value, float), f"the value of no instance is {value!r}: let it be NaN")

    def is_resampled_as_it_is_worked_out(self) -> None:
        counts = next(times_drawn(len(self._problem), 20, np.random.default_rng(0)))
        instances = np.arange(len(self._problem))
        expected = [
            self._measure.value(self._problem.take(np.repeat(instances, row.astype(int)))) for row in counts
        ]
        if isinstance(self._measure, AddsUp):
            terms = self._measure.terms(self._problem)
            shape = len(self._problem)
            require(terms.ndim == 2 and len(terms) == shape, f"terms of shape {terms.shape} for {shape}")
            self._agree(self._measure.of_sums(counts @ terms), expected, "of_sums")
        if isinstance(self._measure, Reweighs):
            self._agree(self._measure.reweighed(self._problem, counts), expected, "reweighed")

    def costs_nothing_where_it_is_right(self) -> None:
        if isinstance(self._measure, CostsTexts):
            texts = ["to", "too", "to"]
            costs = self._measure.costs(texts, ["to", "to", "to"])
            require(costs[0] == costs[2] == 0 < costs[1], f"costs of {texts} beside 'to' are {costs}")

    def _decided_by(self, scores: np.ndarray) -> Outcomes:
        chosen = segments.argmax(scores, self._problem.offsets)
        return replace(self._problem, scores=scores, chosen=chosen)

    def _agree(self, seen: object, expected: object, what: str) -> None:
        both = np.asarray(seen, np.float64), np.asarray(expected, np.float64)
        require_equal(np.isnan(both[0]), np.isnan(both[1]), f"{what}: where it is not defined")
        known = ~np.isnan(both[0])
        require_close(both[0][known], both[1][known], what, within=self._within)
