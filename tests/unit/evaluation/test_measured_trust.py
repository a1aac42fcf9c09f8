"""How often flags are right: counts, weights, curves that rise, and nothing said of too little."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_mistakes import Said

from disambig.data import LEVELS, PUT_IN, TAKEN_OUT, PrecisionTable, edit_kind, unordered_pair
from disambig.evaluation import LEAST_FLAGS, MistakeTrial, ProposedEdit, measure_precision, share_at
from disambig.formats import Clean, Fix

WORDS = 1000


def trial_of(flags, *, n_fixes=100, task="one"):
    """Return a trial: flags as (how sure, "right" or "wrong" or "false" or "elsewhere", new word)."""
    fixes = [
        Fix(f"We rely in it {i}.", 8, 10, "in", "on", "preposition", "", "replace", 1, "a")
        for i in range(n_fixes)
    ]
    clean = [Clean(f"see in it {i} {'word ' * 6}", "a") for i in range(WORDS // 10)]
    said = {}
    free = {"fix": iter(fixes), "clean": iter(clean)}
    for sure, kind, *new in flags:
        if kind == "false":
            text = next(free["clean"]).text
            said[text] = [ProposedEdit(4, 6, *(new or ["at"]), task, sure)]
        else:
            text = next(free["fix"]).before
            place = (0, 2, "us") if kind == "elsewhere" else (8, 10, "on" if kind == "right" else "at")
            said[text] = [ProposedEdit(*place, task, sure)]
    return MistakeTrial.from_checker(Said(said, tasks=("one", "two")), fixes, clean)


def test_the_share_is_that_in_text_of_the_stated_density():
    trial = trial_of([(0.9, "right")] * 39 + [(0.9, "wrong")] * 9 + [(0.9, "false")] * 2)
    (point,) = measure_precision(trial, {}, text="t", per_1000=10)["one"].points
    assert (point.right, point.wrong, point.false) == (39, 9, 2)
    # of 100 mistakes 40 (one more than was seen) are mended: 4 of 10 in 1,000 words; 0.9 are mended wrongly,
    # and 3 flags (one more, too) are false in 1,000 words
    assert point.share == pytest.approx(4 / (4 + 0.9 + 3), abs=1e-4)
    assert point.low < point.share < point.high
    (denser,) = measure_precision(trial, {}, text="t", per_1000=20)["one"].points
    assert denser.share == pytest.approx(8 / (8 + 1.8 + 3), abs=1e-4)


def test_flags_elsewhere_in_a_text_with_a_mistake_are_not_judged():
    some = [(0.9, "right")] * 30
    one, other = (
        measure_precision(trial_of(flags), {}, text="t")
        for flags in (some, [*some, *[(0.9, "elsewhere")] * 30])
    )
    assert one == other


def test_surer_flags_are_right_more_often():
    flags = [(0.9, "right")] * 30 + [(0.5, "right")] * 20 + [(0.5, "false")] * 20
    trust = measure_precision(trial_of(flags), {"one": 1.0}, text="the text")["one"]
    low, high = trust.points
    assert (low.least, high.least) == (0.0, 0.9)
    assert (low.right, low.false, high.right, high.false) == (50, 20, 30, 0)
    assert low.share < high.share
    sure, unsure = trust.estimate("a", "an", 0.95), trust.estimate("a", "an", 0.89)
    assert (sure.share, sure.flags, sure.of, sure.text) == (high.share, 30, "one", "the text")
    assert (unsure.share, unsure.flags) == (low.share, 70)
    assert trust.least_for(low.share) == 0.0
    assert trust.least_for(high.share) == 0.9
    assert trust.least_for(1.0) is None


def test_flags_that_are_right_less_often_though_surer_are_taken_with_the_others():
    flags = [(0.9, "false")] * 20 + [(0.8, "right")] * 20 + [(0.1, "false")] * 5
    trust = measure_precision(trial_of(flags), {}, text="t")["one"]
    assert [(point.least, point.right, point.false) for point in trust.points] == [
        (0.0, 20, 25),
        (0.8, 20, 20),
    ]


def test_of_too_few_flags_nothing_is_said():
    few = [(0.9, "right")] * (LEAST_FLAGS - 1)
    assert measure_precision(trial_of(few), {}, text="t") == {}
    assert set(measure_precision(trial_of([*few, (0.1, "false")]), {}, text="t")) == {"one"}
    assert measure_precision(trial_of([(0.9, "false")] * 50), {}, text="t") == {}


def test_a_pair_of_words_has_a_curve_of_its_own_where_enough_is_seen_of_it():
    flags = [(0.9, "right")] * 40 + [(0.9, "false", "at")] * 40 + [(0.3, "false", "of")] * 20
    trust = measure_precision(trial_of(flags), {"one": 0.5}, text="t")["one"]
    assert set(trust.pairs) == {"in/on", "at/in"}
    assert (
        trust.estimate("in", "On", 0.9).share
        > trust.estimate("in", "of", 0.9).share
        > trust.estimate("at", "IN", 0.9).share
    )
    assert trust.estimate("in", "On", 0.9).of == "in/on"
    assert (
        trust.least_for(trust.estimate("in", "on", 0.9).share) == 0.0
    )  # those of the pair are as good at any


def test_words_put_in_and_taken_out_have_curves_of_their_own():
    """Of the flags of a task those that take words out may be wrong, though all together are mostly right."""
    flags = [(0.9, "right")] * 60 + [(0.9, "false", "")] * LEAST_FLAGS
    trust = measure_precision(trial_of(flags), {"one": 1.0}, text="t")["one"]
    assert set(trust.pairs) == {TAKEN_OUT}
    said = trust.estimate("it", "", 0.9)
    assert (said.of, said.flags) == (TAKEN_OUT, LEAST_FLAGS) and said.share < 0.1
    assert trust.estimate("in", "on", 0.9).of == trust.estimate("", "in", 0.9).of == "one"
    of_both = replace(trust, pairs={**trust.pairs, PUT_IN: trust.points})
    assert of_both.estimate("", "in", 0.9).of == PUT_IN


@pytest.mark.parametrize(
    ("pair", "kind"), [("/the", PUT_IN), ("the/", TAKEN_OUT), ("a/the", ""), ("may be/maybe", "")]
)
def test_kinds_of_flags(pair, kind):
    assert edit_kind(pair) == kind


def test_the_other_part_is_asked_at_the_same_probability():
    trial = trial_of([(0.9, "right")] * 10 + [(0.5, "false")] * 10)
    point = share_at(trial, "one", 0.6, per_1000=10)
    assert (point.right, point.wrong, point.false) == (10, 0, 0)
    assert share_at(trial, "one", 0.95) is None and share_at(trial, "two", 0.0) is None


FLAG = st.tuples(
    st.floats(0.001, 1).map(lambda x: round(x, 2)), st.sampled_from(["right", "wrong", "false", "elsewhere"])
)


@given(st.lists(FLAG, min_size=LEAST_FLAGS, max_size=90))
@settings(deadline=None)
def test_curves_rise_and_count_what_was_seen(flags):
    found = measure_precision(trial_of(flags), {}, text="t")
    for trust in found.values():
        leasts = [point.least for point in trust.points]
        shares = [point.share for point in trust.points]
        assert leasts[0] == 0 and leasts == sorted(set(leasts)) and shares == sorted(set(shares))
        for point in trust.points:
            above = [kind for sure, kind in flags if sure >= point.least]
            assert [above.count(kind) for kind in ("right", "wrong", "false")] == [
                point.right,
                point.wrong,
                point.false,
            ]
            assert 0 <= point.low <= point.share <= point.high <= 1
            assert len([kind for kind in above if kind != "elsewhere"]) >= LEAST_FLAGS


def test_pairs_are_of_words_either_way():
    assert unordered_pair("It\u2019s", "its") == unordered_pair("its", "it's") == "it's/its"
    assert unordered_pair("", "The ") == "/the" and unordered_pair(" the", "") == "the/"
    assert unordered_pair("may  be", "maybe") == "may be/maybe"


@pytest.mark.parametrize(
    ("share", "level"), [(1, "very-high"), (0.8, "high"), (0.79, "medium"), (0.1, "low")]
)
def test_levels(share, level):
    trust = PrecisionTable(
        "t", "", 5, measure_precision(trial_of([(0.9, "right")] * 30), {}, text="")["one"].points
    )
    found = trust.estimate("a", "b", 0.9)
    assert type(found)(share, 0, 1, 30, "t", "").level == level
    assert [least for _, least in LEVELS] == sorted((least for _, least in LEVELS), reverse=True)


def test_flags_on_mistakes_that_nobody_corrected_are_not_judged():
    flags = [(0.9, "right")] * 30 + [(0.8, "false")] * 10
    trial = trial_of(flags)
    places = [(0, 4, 6), (1, 0, 5), (2, 6, 9), (3, 7, 9), (4, 0, 3), (99, 4, 6)]
    # the edits are of 4 to 6: the first and second are touched, and what ends or begins beside them is not
    kept = trial.without(places)
    assert len(trial.on_clean.rows) == 10
    assert kept.on_clean.rows.tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    assert kept.on_fixes is trial.on_fixes
    before, after = (measure_precision(each, {}, text="t")["one"].points[0] for each in (trial, kept))
    assert (before.false, after.false) == (10, 8) and before.share < after.share
    assert trial.without([]).on_clean.rows.tolist() == trial.on_clean.rows.tolist()
