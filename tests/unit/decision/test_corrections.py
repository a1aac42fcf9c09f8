"""Corrections on lists of unequal lengths (padded internally), compared with loops without padding."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from disambig.data import CandidateLists, Group
from disambig.decision import ERROR_RATE, Calibration, Corrections, Mistakes, OperatingPoint, SecondLook
from disambig.errors import UserError
from disambig.testing.checks import make_calibration_data

FITTED = Corrections(
    flags_per_1000=1.0,
    calibration=Calibration(
        np.array([1.0, 0.0, 0.0, 0.0]),
        np.array([[1.7, 0.4, -0.3, -0.2]]),
        scales=np.array([1.3, 1.0]),
        certainty=np.array([[0.8, 0.1], [1.0, 0.0]]),
    ),
    operating=OperatingPoint(np.array([0.5, 2.0]), np.array([1.2, 0.4])),
)
WEIGHTS = FITTED.calibration.groups[0]


def decide_list(scores, counts, observed):
    """Return chosen candidate, margin, probability and flag of one list, by definition."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    margin = scores[order[0]] - scores[order[1]] if len(scores) > 1 else np.inf
    others = [i for i in order if i != observed]
    if observed < 0 or not others:
        return order[0], margin, 0.0, False
    other, lead = others[0], scores[others[0]] - scores[observed]
    features = [np.sign(lead) * np.log1p(abs(lead)), np.log1p(counts[other]), np.log1p(counts[observed]), 1.0]
    odds = float(np.dot(features, WEIGHTS))
    prior = np.log(ERROR_RATE / (1 - ERROR_RATE))
    threshold = np.interp(np.log(1.0), np.log([0.5, 2.0]), [1.2, 0.4])
    flagged = order[0] == other and lead > 0 and counts[other] > 0 and odds > threshold
    return order[0], margin, 1 / (1 + np.exp(-odds - prior)), flagged


def shares(scores):
    """Return the probability of each candidate of one list, by definition."""
    if len(scores) == 1:
        return np.ones(1)
    plain = np.exp(1.3 * scores) / np.exp(1.3 * scores).sum()
    best = int(np.argmax(scores))
    rest = np.delete(plain, best)
    odds = np.log(plain[best] / rest.sum())
    certain = 1 / (1 + np.exp(-(0.8 * odds + 0.1)))
    parts = rest / rest.sum()
    certain = max(certain, parts.max() / (1 + parts.max()))
    return np.insert(parts * (1 - certain), best, certain)


@pytest.mark.parametrize("seed", range(5))
def test_decides_lists_of_unequal_length_one_at_a_time(seed):
    scored = make_calibration_data("own", 80, seed=seed).scored(0)
    observed = scored.observed.copy()
    observed[::7] = -1
    scored = replace(scored, observed=observed, scores=2 * scored.scores)
    assert len(set(np.diff(scored.offsets))) == 6
    decided, probable = FITTED.judge(scored), FITTED.probabilities(scored)
    assert decided.answered.all() and decided.flagged.any() and not decided.flagged.all()
    for i, (low, high) in enumerate(zip(scored.offsets, scored.offsets[1:], strict=False)):
        expected = decide_list(scored.scores[low:high], scored.found[low:high], observed[i])
        actual = [
            column[i] for column in (decided.chosen, decided.margins, decided.probabilities, decided.flagged)
        ]
        assert actual == pytest.approx(list(expected)), i
        assert probable[low:high] == pytest.approx(shares(scored.scores[low:high])), i


def test_variants_of_a_group_do_not_apply_to_lists():
    """In lists, no candidate is a variant of another one, even if the group declares variants."""
    group = Group("g", ("to", "too"), (("to", "too"),))
    fixed = make_calibration_data("words").scored(0).take(np.arange(1))
    fixed = replace(fixed, groups=(group,), scores=np.array([0.0, 9.0]), observed=np.zeros(1, np.int32))
    lists = replace(fixed, own=CandidateLists.from_texts([["to", "too"]]))
    flat = replace(FITTED, operating=OperatingPoint(np.array([1.0]), np.array([-50.0])))
    for scored, flagged in ((fixed, False), (replace(lists, found=np.ones(2, np.int32)), True)):
        assert flat.judge(scored).flagged.tolist() == [flagged]


def test_fits_lists_of_one_length_as_a_group_of_that_size():
    words = make_calibration_data("words")
    group = Group("abc", ("a", "b", "c"))
    scored = replace(words.scored(1), groups=(group,), numbers=(0,))
    task = replace(words.task, groups=(group,))
    lists = replace(scored, own=CandidateLists.from_texts([["x", "y", "z"]] * len(scored.observed)))
    states = [Corrections().fit(replace(words, task=task, parts=(part,))).state() for part in (scored, lists)]
    assert states[0].keys() == states[1].keys()
    for name, array in states[0].items():
        assert np.array_equal(array, states[1][name]), name


def test_scale_of_unequal_lists_maximises_the_likelihood():
    built = make_calibration_data("own", 300)
    fitted, scored = Corrections().fit(built), built.scored(0)

    def likelihood(scale):
        total = 0.0
        for i, (low, high) in enumerate(zip(scored.offsets, scored.offsets[1:], strict=False)):
            values = scale * scored.scores[low:high]
            total += values[scored.observed[i]] - np.logaddexp.reduce(values)
        return total

    scale = fitted.calibration.scales[-1]
    assert likelihood(scale) > max(likelihood(0.98 * scale), likelihood(1.02 * scale))


@pytest.mark.parametrize("rate", [-1, float("nan")])
def test_rejects_an_impossible_rate(rate):
    with pytest.raises(UserError, match="D401"):
        FITTED.judge(make_calibration_data("own").scored(0), flags_per_1000=rate)


@pytest.mark.parametrize(
    ("kind", "settings", "code"),
    [
        (Corrections, {"flags_per_1000": -1.0}, "D401"),
        (Corrections, {"flags_per_1000": float("nan")}, "D401"),
        (Corrections, {"max_examples": 0}, "D452.*Corrections.max_examples is 0"),
        (Mistakes, {"flags_per_1000": -0.5}, "D401"),
        (Mistakes, {"most_right": -5}, "D452.*Mistakes.most_right is -5"),
        (partial(SecondLook, Mistakes()), {"flags_per_1000": -2.0}, "D401"),
        (partial(SecondLook, Mistakes()), {"per_1000": 0}, "D760.*SecondLook.per_1000 is 0"),
        (partial(SecondLook, Mistakes()), {"most_missed": 1.0}, "D770.*SecondLook.most_missed is 1.0"),
        (partial(SecondLook, Mistakes()), {"most_missed": -0.1}, "D770.*SecondLook.most_missed is -0.1"),
    ],
)
def test_rejects_invalid_settings(kind, settings, code):
    with pytest.raises(UserError, match=code):
        kind(**settings)


def test_restores_its_state_and_rejects_one_of_other_groups():
    groups = make_calibration_data("own").task.groups
    restored = FITTED.from_state(FITTED.state(), groups)
    assert FITTED.state().keys() == restored.state().keys()
    assert restored.calibration.certainty.tolist() == FITTED.calibration.certainty.tolist()
    assert restored.calibration.scales.tolist() == FITTED.calibration.scales.tolist()
    with pytest.raises(ValueError, match="shapes of the calibration"):
        FITTED.from_state(FITTED.state(), groups * 2)
    with pytest.raises(ValueError, match="shapes of the calibration"):
        FITTED.from_state(FITTED.state() | {"flags_per_1000": np.array([-1.0])}, groups)


@pytest.mark.parametrize("rule", [Corrections(), Mistakes()], ids=["corrections", "mistakes"])
def test_evidence_is_only_needed_if_an_extractor_looks_something_up(rule):
    """A model whose extractors look nothing up flags like one whose look-ups always succeed."""
    built = make_calibration_data("words")
    silent = [replace(part, found=0 * part.found, asked=0 * part.asked) for part in built.parts]
    right = silent[0]
    wrong = replace(right, observed=np.where(right.observed == 0, 1, 0).astype(np.int32))
    for fitted, flags in (
        (rule.fit(replace(built, parts=tuple(silent))), True),
        (rule.fit(built), False),
    ):
        restored = rule.from_state(fitted.state(), built.task.groups)
        assert restored.needs_evidence == fitted.needs_evidence
        for judge in (fitted, restored):
            assert judge.judge(wrong, flags_per_1000=100.0).flagged.any() == flags
