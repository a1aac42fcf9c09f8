"""Flags that are trusted enough: the others are not raised, and take no place from one that is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from overlapping import DOUBLED, FORM

from disambig.data import PrecisionPoint, PrecisionTable
from disambig.models import HIGHEST_RATE, ModelSet, rates_for_precision


def trust(task, *points, **pairs):
    """Return what was measured: points as (least probability, share)."""
    made = [
        tuple(PrecisionPoint(least, share, share, share, 9, 0, 1) for least, share in each)
        for each in (points, *pairs.values())
    ]
    return PrecisionTable(task, "t", 5, made[0], dict(zip(pairs, made[1:], strict=True)))


TEXT = "I saw a a box of a old house. He went to to home, and I seen it with a owl."
KNOWN = {
    "form": trust("form", (0.0, 0.2), (0.5, 0.6), (0.85, 0.9)),
    "doubled": trust("doubled", (0.0, 0.3), (0.9, 0.95)),
}
RATES = {"form": 1.0, "doubled": 1.0}


def flags(least, known=KNOWN, rates=RATES):
    found = ModelSet((FORM, DOUBLED), rates, trust=known, least=least).annotate([TEXT])
    return [
        (each.task, TEXT[each.starts[i] : each.ends[i]], len(each.record(int(i), TEXT)["alternatives"]))
        for each in found
        for i in np.flatnonzero(each.flagged)
    ]


def test_only_flags_that_were_right_often_enough_are_raised():
    assert flags(0.8) == [("form", "a", 0), ("form", "a", 0), ("doubled", "to to", 0)]
    assert flags(0.92) == [("doubled", "to to", 0)]
    assert flags(0.96) == []


def test_a_flag_that_is_not_trusted_is_no_alternative_and_takes_no_place():
    assert ("doubled", "to to", 1) in flags(0.5)  # "to" of forms, 0.6 sure, is trusted as far
    assert ("form", "a", 0) in flags(0.25, KNOWN | {"doubled": trust("doubled", (0.0, 0.2))})


def test_a_task_that_was_not_measured_flags_nothing():
    assert {task for task, *_ in flags(0.1, {"form": KNOWN["form"]})} == {"form"}


def test_a_rate_of_nothing_flags_nothing():
    assert flags(0.1, rates={"form": 0.0, "doubled": 0.0}) == []


def test_decisions_carry_what_was_measured():
    found = ModelSet((FORM, DOUBLED), RATES, trust=KNOWN, least=0.5).annotate([TEXT])
    assert [each.in_document(0).take(np.arange(1)).trust for each in found] == list(KNOWN.values())


@dataclass(frozen=True)
class Falling:
    """A judge whose limit falls as the rate of flags rises."""

    flags_per_1000: float = 0.5

    def limit(self, flags_per_1000=None):
        return 1 / (1 + flags_per_1000)


@pytest.mark.parametrize(("least", "probability"), [(0.9, 0.85), (0.6, 0.5), (0.3, 0.1), (0.2, 0.0)])
def test_rates_raise_all_that_is_trusted(least, probability):
    model = replace(FORM, judge=Falling())
    known = {"form": trust("form", (0.0, 0.2), (0.1, 0.3), (0.5, 0.6), (0.85, 0.9))}
    rate = rates_for_precision([model], known, least)["form"]
    assert rate <= HIGHEST_RATE
    assert rate == HIGHEST_RATE or model.judge.limit(rate) < probability


def test_rates_of_tasks_without_any_flag_to_be_trusted():
    known = {"form": trust("form", (0.0, 0.2), (0.85, 0.9))}
    model = replace(FORM, judge=Falling())
    assert rates_for_precision([model], known, 0.95) == {"form": 0.0}
    assert rates_for_precision([model], {}, 0.1) == {"form": 0.0}


def test_a_pair_of_words_may_be_trusted_further_than_its_task():
    pairs = {"form": trust("form", (0.0, 0.2), **{"a/an": [(0.0, 0.99)]})}
    assert flags(0.98, pairs) == [("form", "a", 0)] * 3
