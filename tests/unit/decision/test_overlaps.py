"""Overlapping flags are resolved, and a budget of flags is spent on the surest."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from examples import fewer_examples
from hypothesis import given, strategies as st
from processor_time import grows_linearly
from scipy.optimize import linprog

from disambig.data import Decisions, Group, PrecisionPoint, PrecisionTable
from disambig.decision import (
    concave_envelope,
    edit_slots,
    resolve_overlaps,
    share_budget,
    surviving_edits,
    task_ranks,
)


def make_decisions(task, *edits, documents=None):
    """Return the decisions of a task from rows (start, end, observed, new, probability, flagged)."""
    table = tuple(Group(f"{task}{i}", (old, new)) for i, (_, _, old, new, *_) in enumerate(edits))
    n = len(edits)
    column = lambda values, kind: np.array(list(values), kind)  # noqa: E731
    flagged = column((edit[5] if len(edit) > 5 else True for edit in edits), bool)
    return Decisions(
        task=task, model="toy 1", table=table, documents=column(documents or [0] * n, np.int32),
        starts=column((edit[0] for edit in edits), np.int32),
        ends=column((edit[1] for edit in edits), np.int32),
        groups=np.arange(n, dtype=np.int32), observed=np.zeros(n, np.int32),
        chosen=np.ones(n, np.int32), offsets=np.arange(n + 1) * 2,
        scores=np.tile(np.array([0.0, 1.0], np.float32), n), margins=np.ones(n, np.float32),
        probabilities=column((edit[4] for edit in edits), np.float32), flagged=flagged,
        n_hits=np.zeros(n, np.int32), n_queries=np.zeros(n, np.int32),
    )  # fmt: skip


def shown_flags(decisions, text):
    return [
        (item.task, text[item.starts[i] : item.ends[i]], record["replacement"])
        for item in decisions
        for i in np.flatnonzero(item.flagged)
        for record in [item.record(int(i), text)]
    ]


TEXT = "I saw a a old house"
AN = make_decisions("form", (8, 9, "a", "an", 0.6))
THE = make_decisions("article", (8, 9, "a", "the", 0.8))
NONE = make_decisions("doubled", (8, 9, "a", "", 0.7))


@pytest.mark.parametrize("order", list(permutations([AN, THE, NONE])))
def test_keeps_the_most_certain_flag_in_any_order(order):
    result = resolve_overlaps(order, [TEXT])
    assert shown_flags(result, TEXT) == [("article", "a", "the")]
    (winner,) = [item for item in result if item.flagged.any()]
    record = winner.record(0, TEXT)
    assert list(record["alternatives"]) == [
        {"task": "doubled", "start": 8, "end": 9, "replacement": "", "probability": 0.7},
        {"task": "form", "start": 8, "end": 9, "replacement": "an", "probability": 0.6},
    ]
    losers = [item for item in result if not item.flagged.any()]
    assert all(item.raised.tolist() == [True] for item in result) and len(losers) == 2
    assert "alternatives" not in losers[0].record(0, TEXT)


def test_precision_is_the_highest_of_the_tasks_that_agree():
    def measured(decisions, share):
        points = (PrecisionPoint(0.0, share, share, share, 10, 0, 0),)
        return replace(decisions, trust=PrecisionTable(decisions.task, "toy text", 5.0, points))

    surer = measured(make_decisions("slip", (8, 9, "a", "an", 0.9)), 0.8)
    same, other = measured(AN, 0.95), measured(THE, 0.99)
    (result, *_) = resolve_overlaps([surer, same, other], [TEXT])
    assert result.flagged.all() and result.record(0, TEXT)["precision"] == 0.95
    (result, *_) = resolve_overlaps([surer, other], [TEXT])
    assert result.record(0, TEXT)["precision"] == 0.8


def test_returns_the_same_decisions_without_overlaps():
    other = make_decisions("t", (0, 1, "I", "We", 0.9), (8, 9, "a", "b", 0.9, False))
    result = resolve_overlaps([other, AN], [TEXT])
    assert result[0] is other and result[1] is AN and other.raised is other.flagged


def overlap(one, other, text="one two three four"):
    result = resolve_overlaps([make_decisions("a", (*one, 0.9)), make_decisions("b", (*other, 0.5))], [text])
    return not result[1].flagged.any()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((4, 7, "two", "too"), (4, 7, "two", "to"), True),
        ((4, 13, "two three", "x"), (8, 13, "three", "tree"), True),
        ((0, 7, "one two", "x"), (4, 13, "two three", "y"), True),
        ((4, 7, "two", "too"), (8, 13, "three", "tree"), True),  # neighbours
        ((0, 3, "one", "on"), (8, 13, "three", "tree"), False),
        ((0, 3, "one", "on"), (8, 8, "", "a"), False),
        ((4, 4, "", "a"), (4, 4, "", "the"), True),
        ((4, 4, "", "a"), (4, 7, "two", "too"), True),  # each was decided with the other unchanged
        ((4, 4, "", "a"), (4, 7, "two", ""), True),
        ((4, 4, "", "a"), (0, 3, "one", "on"), True),
        ((4, 4, "", "a"), (8, 13, "three", "tree"), False),
        ((0, 7, "one two", "x"), (4, 4, "", "the"), True),  # inside the replaced words
        ((4, 7, "two", ""), (8, 8, "", "the"), True),  # the removed blank is in that gap
        ((4, 7, "two", ""), (8, 13, "three", "tree"), True),
        ((4, 7, "two", ""), (14, 18, "four", "for"), False),
        ((4, 7, "two", ""), (8, 13, "three", ""), True),  # each was decided with the other unchanged
        ((14, 18, "four", ""), (8, 13, "three", "tree"), True),
        ((14, 18, "four", ""), (4, 7, "two", "too"), False),
    ],
)
def test_overlapping_edits(one, other, same):
    assert overlap(one, other) is same
    assert overlap(other, one) is same


def test_a_moved_capital_is_part_of_the_edit():
    text = "The a dog."
    assert overlap((0, 3, "the", ""), (4, 5, "a", "an"), text)
    assert not overlap((0, 3, "the", ""), (6, 9, "dog", "dock"), "the a dog.")


@pytest.mark.parametrize(
    "between", [" ", "\n", "\n\n", "** _", " <b>", " -- (", ".</p>\n<p>", "\n# ", "\n// - ", "\u2029"]
)
def test_neighbours_overlap_across_markup_and_punctuation(between):
    text = f"was asked too{between}bring it"
    at = text.index("bring")
    assert overlap((10, 13, "too", "to"), (at, at, "", "to"), text)
    assert overlap((10, 13, "too", "to"), (at, at + 5, "bring", "brings"), text)
    far = text.index("it", at)
    assert not overlap((10, 13, "too", "to"), (far, far + 2, "it", "its"), text)


@pytest.mark.parametrize(
    "between", [". ", "!\n", "?) ", ".” ", "...\n\n", " x ", " 1 ", " \ufffc ", " 日 "], ids=ascii
)
def test_sentence_ends_and_words_separate_neighbours(between):
    text = f"was asked too{between}bring it"
    at = text.index("bring")
    assert not overlap((10, 13, "too", "to"), (at, at + 5, "bring", "brings"), text)


def test_a_losing_neighbour_is_an_alternative_at_its_own_place():
    text = "for you're call"
    surer, other = (4, 10, "you're", "your", 0.9), (11, 15, "call", "called", 0.5)
    first, second = resolve_overlaps([make_decisions("a", surer), make_decisions("b", other)], [text])
    assert not second.flagged.any() and second.raised.all()
    (other,) = first.record(0, text)["alternatives"]
    assert (other["start"], other["end"], other["replacement"]) == (11, 15, "called")


def test_ties_go_to_the_longer_edit_then_to_the_first_name():
    def winner(*edits):
        result = resolve_overlaps([make_decisions(task, edit) for task, edit in edits], ["aaa bbb"])
        return shown_flags(result, "aaa bbb")[0][0]

    short, long = (0, 3, "aaa", "x", 0.5), (0, 7, "aaa bbb", "y", 0.5)
    assert winner(("a", short), ("b", long)) == "b"
    assert winner(("b", short), ("a", short)) == "a"
    assert winner(("a", short), ("b", (0, 3, "aaa", "x", 0.51))) == "b"


def test_keeps_a_flag_that_overlaps_only_a_loser():
    first = make_decisions("a", (0, 7, "one two", "x", 0.9), (14, 23, "four five", "y", 0.3))
    second = make_decisions("b", (4, 13, "two three", "z", 0.5))
    text = "one two three four five"
    result = resolve_overlaps([first, second], [text])
    assert result[0].flagged.tolist() == [True, True] and result[1].flagged.tolist() == [False]


def test_resolves_again_with_later_decisions():
    once = resolve_overlaps([AN, NONE], [TEXT])
    assert shown_flags(once, TEXT) == [("doubled", "a", "")]
    again = resolve_overlaps([*once, THE], [TEXT])
    assert shown_flags(again, TEXT) == [("article", "a", "the")]
    assert shown_flags(resolve_overlaps(again, [TEXT]), TEXT) == shown_flags(again, TEXT)
    alone = resolve_overlaps(again[:1], [TEXT])
    assert shown_flags(alone, TEXT) == [("form", "a", "an")] and alone[0].settled is None


def test_documents_are_separate_and_slices_keep_alternatives():
    texts = ["a x b", "a x b", "a x b"]
    one = make_decisions("x", *[(0, 1, "a", "an", 0.9)] * 3, documents=[0, 1, 2])
    two = make_decisions("y", (0, 1, "a", "the", 0.5), (4, 5, "b", "c", 0.5), documents=[1, 2])
    first, second = resolve_overlaps([one, two], texts)
    assert first.flagged.all() and second.flagged.tolist() == [False, True]

    def alternatives(part, i):
        return [other["replacement"] for other in part.record(i, "a x b")["alternatives"]]

    assert [alternatives(first, i) for i in range(3)] == [[], ["the"], []]
    assert alternatives(first.in_document(1), 0) == ["the"] and first.in_document(0).settled is None
    assert [alternatives(first.take(np.array([2, 1])), i) for i in range(2)] == [[], ["the"]]
    assert second.take(np.array([1, 0])).raised.tolist() == [True, True]
    assert second.take(np.array([1])).settled is None


EDIT = st.tuples(*(st.integers(0, largest) for largest in (1, 8, 3, 3, 2)), st.booleans())


@given(st.lists(EDIT, max_size=12))
def test_agrees_with_a_quadratic_reference(edits):
    """In order of certainty, a flag is kept if it overlaps no flag that was kept before."""
    documents, starts, lengths, certain, tasks, removes = np.array(edits, np.int64).reshape(-1, 6).T
    slots = edit_slots(starts, starts + lengths, removes.astype(bool))
    result = surviving_edits(documents, slots, certain / 4, tasks)
    taken = [
        (d, set(range(first, last + 1)))
        for d, (first, last) in zip(documents.tolist(), slots.T.tolist(), strict=True)
    ]
    order = sorted(range(len(edits)), key=lambda i: (-certain[i], slots[0][i] - slots[1][i], tasks[i], i))
    expected, stand = list(range(len(edits))), []
    for i in order:
        over = [k for k in stand if taken[k][0] == taken[i][0] and taken[k][1] & taken[i][1]]
        if over:
            expected[i] = over[0]
        else:
            stand.append(i)
    assert result.tolist() == expected


def test_task_ranks_follow_names():
    assert task_ranks(["spelling", "article", "spelling"]).tolist() == [1, 0, 1]


def test_time_is_linear_in_the_length_of_a_chain():
    def survive(n: int) -> None:  # removed words, each of which overlaps the next one
        starts = np.arange(n) * 4
        slots = edit_slots(starts, starts + 4, np.ones(n, bool))
        surviving_edits(np.zeros(n, np.int64), slots, np.linspace(0.5, 0.9, n), np.zeros(n, np.int64))

    assert grows_linearly(survive, 40_000)


RATES = np.array([0.1, 0.2, 0.5, 1.0, 2.0])
GAINS = st.lists(st.integers(0, 100), min_size=5, max_size=5).map(lambda g: np.sort(np.array(g) / 100))
CURVES = st.lists(GAINS.map(lambda gains: (RATES, gains)), min_size=2, max_size=4)


def gain(curves, rates):
    """Return the recall at some rates, on the concave envelopes."""
    best = 0.0
    for curve, rate in zip(curves, rates, strict=True):
        x, y = concave_envelope(*curve)
        best += float(np.interp(rate, x, y))
    return best


def best_by_linear_program(curves, total):
    """Return the maximum gain if the rate of each curve is a mixture of its points and zero."""
    points = [(i, *point) for i, curve in enumerate(curves) for point in zip(*curve, strict=True)]
    of_curve = np.array([[i == k for i, _, _ in points] for k in range(len(curves))], float)
    spent = np.array([[rate for _, rate, _ in points]])
    best = linprog(
        [-g for _, _, g in points],
        A_ub=np.vstack([of_curve, spent]),
        b_ub=[*[1.0] * len(curves), total],
        bounds=(0, 1),
    )
    assert best.success
    return -best.fun


@fewer_examples
@given(CURVES, st.floats(0, 8))
def test_a_linear_program_finds_no_better_solution(curves, total):
    rates = share_budget(curves, total)
    assert sum(rates) == pytest.approx(total) and min(rates) >= 0
    assert gain(curves, rates) == pytest.approx(best_by_linear_program(curves, total), abs=1e-9)


def test_known_shares():
    steep = RATES, np.array([0.3, 0.4, 0.45, 0.5, 0.5])
    slow = RATES, np.array([0.05, 0.1, 0.25, 0.5, 0.6])
    for total, expected in [
        (0.1, [0.1, 0.0]),
        (1.0, [0.2, 0.8]),  # the slope of `slow` is 0.5 up to 1, that of `steep` 0.17
        (4.0, [2.0, 2.0]),
        (6.0, [3.0, 3.0]),  # a rate from which no model gains is shared equally
    ]:
        assert share_budget([steep, slow], total) == pytest.approx(expected)
        assert share_budget([slow, steep], total) == pytest.approx(expected[::-1])


def test_a_rule_without_gains_gets_the_rest_only():
    nothing, something = (RATES, np.zeros(5)), (RATES, np.linspace(0.1, 0.2, 5))
    assert share_budget([nothing, something], 2.0) == pytest.approx([0.0, 2.0])


@pytest.mark.parametrize("total", [0.0, 0.37, 5.0, 100.0, float("inf")])
def test_one_rule_gets_all_and_rules_with_unknown_gains_equal_shares(total):
    curve = RATES, np.linspace(0.1, 0.5, 5)
    assert share_budget([curve], total) == [total]
    assert share_budget([None, curve], total) == [total / 2, total / 2]
    assert share_budget([None], total) == [total]
    assert share_budget([], total) == []


def test_the_envelope_is_concave_and_above_all_points():
    for gains in product((0.0, 0.2, 0.5), repeat=3):
        points = np.array([0.1, 0.5, 1.0]), np.sort(np.array(gains))
        x, y = concave_envelope(*points)
        assert (np.diff(np.diff(y) / np.diff(x)) < 0).all()
        assert (np.interp(points[0], x, y) >= points[1] - 1e-12).all() and (x[0], y[0]) == (0, 0)
