"""Every decision rule of the core fulfils the contract; the checks find faulty ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from failing_checks import failures

from disambig.data import Predictions
from disambig.decision import BestOfList, Corrections, Labels, Mistakes, OperatingPoint
from disambig.testing import check_judge
from disambig.testing.checks import make_calibration_data
from disambig.types import DecisionRuleTraits, RaisesFlags, get_trait

JUDGES = {
    "corrections": (Corrections(), "words"),
    "corrections-many": (Corrections(flags_per_1000=12.0, max_examples=20), "words"),
    "corrections-lists": (Corrections(), "lists"),
    "labels": (Labels.unfitted(), "labels"),
    "labels-silent": (Labels.unfitted(0.5), "labels"),
    "mistakes": (Mistakes(), "words"),
    "mistakes-few": (Mistakes(flags_per_1000=12.0, most_right=20), "words"),
    "mistakes-lists": (Mistakes(), "lists"),
    "best-of-list": (BestOfList(), "lists"),
    "best-of-groups": (BestOfList(), "words"),
}

CHECKS = [
    pytest.param(check, id=f"{name}-{check}")
    for name, (judge, between) in JUDGES.items()
    for check in check_judge(judge, make_calibration_data(between))
]


@pytest.mark.parametrize("check", CHECKS)
def test_decision_rules_of_the_core(check):
    check()


def test_abilities_of_the_rules():
    kinds = {
        name: (isinstance(j, RaisesFlags), get_trait(j, DecisionRuleTraits, "least_margin") is not None)
        for name, (j, _) in JUDGES.items()
    }
    assert kinds["corrections"] == (True, False)
    assert kinds["labels"] == (False, True)
    assert kinds["best-of-list"] == (False, False)


def judge_failures(judge, between="words"):
    follow_ups = (AttributeError, IndexError)  # of faulty decision rules
    return failures(check_judge(judge, make_calibration_data(between)), also=follow_ups)


@dataclass(frozen=True)
class Plain:
    """A correct decision rule: the best score wins. The other classes each have one fault."""

    flags: bool = False

    def fit(self, material, *, progress=None):
        return self

    def judge(self, scored, *, flags_per_1000=None):
        result = BestOfList().judge(scored)
        return Predictions(
            result.chosen, result.margins, result.probabilities, result.flagged, result.answered
        )

    def probabilities(self, scored):
        return BestOfList().probabilities(scored)

    def state(self):
        return {"one": np.ones(1)}

    def from_state(self, arrays, groups):
        return self


def test_a_valid_rule_passes():
    assert judge_failures(Plain()) == {} == judge_failures(Plain(), "lists")


class Nothing(Plain):
    def fit(self, material, *, progress=None):
        return object()


class Changing(Plain):
    seen = np.zeros(1)

    def fit(self, material, *, progress=None):
        Changing.seen = Changing.seen + 1
        return self

    def state(self):
        return {"seen": Changing.seen}


class Moody(Plain):
    def judge(self, scored, *, flags_per_1000=None):
        noise = np.random.default_rng().random(len(scored.observed))
        return replace(super().judge(scored), margins=noise)


class Short(Plain):
    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return replace(result, margins=result.margins[:-1])


class Counting(Plain):
    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return replace(result, answered=result.answered.astype(int))


class Outside(Plain):
    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return replace(result, chosen=result.chosen + scored.offsets[:-1])


class Negative(Plain):
    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return replace(result, margins=-1.0 - result.margins)


class TooSure(Plain):
    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return replace(result, probabilities=result.probabilities + 1)


class Unshared(Plain):
    def probabilities(self, scored):
        return np.full(len(scored.scores), 0.5)


class PerInstance(Plain):
    def probabilities(self, scored):
        return np.ones(len(scored.observed))


class Objects(Plain):
    def state(self):
        return {"one": np.array([object()])}


class Forgetful(BestOfList):
    def state(self):
        return {"scale": np.ones(1)}


class Comparing(Plain):
    """Margins depend on the other instances of the batch."""

    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return replace(
            result, margins=result.margins / max(result.margins.max(initial=0.0), 1.0) / len(result.answered)
        )


class Greedy(Plain):
    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        scored.scores[:] = 0
        return result


class Crashing(Plain):
    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return result if len(result.answered) else replace(result, answered=np.ones(1, bool))


class Flagging(Plain):
    """Flags without a rate."""

    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return replace(result, flagged=result.margins > 1)


class Contrary(Corrections):
    """Raises fewer flags at higher rates."""

    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored, flags_per_1000=1000.0)
        if flags_per_1000 is None or flags_per_1000 <= 0.1:
            return result
        return replace(result, flagged=result.flagged & False)


class Patient(Corrections):
    """Accepts invalid rates."""

    def limit(self, flags_per_1000=None):
        return 0.0


class Boasting(Corrections):
    """Recall decreases with the rate."""

    def gains(self):
        return np.array([0.1, 1.0]), np.array([0.5, 0.4])


class Loud(Labels):
    """Never abstains."""

    def fit(self, material, *, progress=None):
        result = super().fit(material)
        return Loud(result.scale, result.bias, result.offset, result.least_margin)

    def with_least_margin(self, least_margin):
        return Loud(self.scale, self.bias, self.offset, least_margin)

    def judge(self, scored, *, flags_per_1000=None):
        result = super().judge(scored)
        return replace(result, answered=result.answered | True)


class Impatient(Labels):
    """Shows no progress."""

    def fit(self, material):
        return self


class Groupless(Labels):
    """Restores itself without its groups."""

    def from_state(self, arrays):
        return self


@pytest.mark.parametrize(
    ("judge", "between", "check", "message"),
    [
        (Nothing(), "words", "fit_returns_a_decision_rule", "has no fit"),
        (Changing(), "words", "fit_returns_a_decision_rule", "fit changed it"),
        (Moody(), "words", "is_repeatable", "margins judged again"),
        (Short(), "words", "keeps_its_contract", r"margins of judge .*59.*expected .* 60 floats"),
        (Counting(), "words", "keeps_its_contract", "answered of judge is .*int64"),
        (Outside(), "lists", "keeps_its_contract", r"chose candidate \d+ of an instance with \d+ candidates"),
        (Negative(), "words", "keeps_its_contract", "a margin of judge is -"),
        (
            TooSure(),
            "words",
            "keeps_its_contract",
            r"probabilities of judge has \S+; expected numbers from 0",
        ),
        (Unshared(), "lists", "candidate_probabilities_add_up_to_one", r"sum to \S+ \(instance \d"),
        (PerInstance(), "lists", "keeps_its_contract", "one per candidate"),
        (Objects(), "words", "state_is_complete", "not an array of numbers"),
        (Forgetful(), "lists", "state_is_complete", "after from_state"),
        (Comparing(), "words", "instances_are_decided_independently", "if decided alone"),
        (Greedy(), "words", "does_not_change_scores", "scores after deciding"),
        (Crashing(), "words", "accepts_no_instances", "answered is not empty"),
        (Flagging(), "words", "flags_are_valid", "not RaisesFlags"),
        (Contrary(), "words", "flags_are_valid", "it flags at a rate of 0"),
        (Patient(), "words", "rejects_invalid_rates", "a rate of -1.0"),
        (Boasting(), "words", "gains_are_valid", "not ascending shares"),
        (Loud.unfitted(), "labels", "abstains_below_its_least_margin", "answered at a least margin"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_a_broken_rule_is_found(judge, between, check, message):
    failed = judge_failures(judge, between)
    assert re.search(message, failed[check]), failed[check]


@pytest.mark.parametrize(
    ("judge", "call"), [(Impatient, r"fit\(material\)"), (Groupless, r"from_state\(arrays\)")]
)
def test_methods_that_cannot_be_called_as_training_calls_them_are_found(judge, call):
    (check,) = (
        check
        for check in check_judge(judge.unfitted(), make_calibration_data("labels"))
        if check.name == "fit_returns_a_decision_rule"
    )
    with pytest.raises(AssertionError, match=f"D414.*{call} cannot be called: .*; expected"):
        check()


def test_a_rule_that_flags_below_its_limit_is_found():
    class Eager(Corrections):
        def limit(self, flags_per_1000=None):
            return 1.0

    point = OperatingPoint(np.array([1.0]), np.array([-50.0]))  # everything with evidence is flagged
    assert "its limit is 1.0" in judge_failures(Eager(operating=point))["flags_are_valid"]
