"""Labelled places meet instances as looking at all of them would; named words, whatever the task finds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import Group, Instances
from disambig.errors import UserError
from disambig.formats import Labelled
from disambig.text import Words
from disambig.training import TaskPlaces, as_task_decides, label_instances, seen_elsewhere
from disambig.types import Decides


@dataclass(frozen=True)
class Spans:
    """Decides at tokens that a test names; a length of zero is an empty place."""

    spans: tuple[tuple[int, int], ...] = ()
    decides: Decides = Decides()
    name: str = "spans"
    language: str = ""
    groups: tuple[Group, ...] = (Group("one", ("a", "b")), Group("two", ("b", "c")))

    def instances(self, view):
        spans = sorted((p, n) for p, n in self.spans if p + max(n, 1) <= len(view))
        last = view.document_indices(np.array([p + max(n, 1) - 1 for p, n in spans], np.int64))
        first = view.document_indices(np.array([p for p, _ in spans], np.int64))
        spans = [span for span, inside in zip(spans, first == last, strict=True) if inside]
        positions = np.array([p for p, _ in spans], np.int64)
        n = len(spans)
        zeros = np.zeros(n, np.int32)
        return Instances(positions, np.array([n for _, n in spans], np.int32), zeros, zeros - 1)


def meets(example, start, end):
    """Whether an instance is at the place, as it is defined."""
    if example.start == example.end or start == end:
        between = example.text[min(example.start, start) : max(example.end, start)]
        return example.start == example.end and start == end and not between.strip()
    return start < example.end and example.start < end


@given(
    st.lists(st.text("ab .\n", max_size=12), min_size=1, max_size=3, unique=True),
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 3)), max_size=8, unique=True),
    st.data(),
)
def test_the_same_as_looking_at_all_instances(texts, spans, data):
    task = Spans(tuple(spans))
    view = Words()(texts)
    places = TaskPlaces.from_view(task, view)
    own = task.instances(view)
    for number, text in enumerate(texts):
        start = data.draw(st.integers(0, len(text)))
        example = Labelled(text, start, data.draw(st.integers(start, len(text))), "a", text)
        expected = []
        for i, (position, length) in enumerate(zip(own.positions, own.lengths, strict=True)):
            begin = int(view.starts[position])
            end = int(view.ends[position + length - 1]) if length else begin
            if view.document_indices(np.array([position]))[0] == number and meets(example, begin, end):
                expected.append(i)
        assert places.at(number, example) == expected


TEXT = "The bank was steep. A bank closed."
LABELS = Spans(((2, 1),), Decides(between="labels"))


def at(word, label, group="", text=TEXT, nth=0):
    start = -1
    for _ in range(nth + 1):
        start = text.index(word, start + 1)
    return Labelled(text, start, start + len(word), label, text, f"{word} {nth}", group)


def test_a_named_word_is_trained_on_where_the_task_finds_nothing_or_another():
    labelled = [
        at("bank", "c", "two", nth=1),
        at("bank", "b", "two"),
        at("bank", "a"),
        at("closed", "b", "one"),
    ]
    marked = label_instances(LABELS, Words(), labelled)
    instances = marked.examples.instances
    assert marked.problems == []
    assert [each.where for each in marked.labelled] == ["bank 0", "bank 0", "bank 1", "closed 0"]
    assert instances.groups.tolist() == [0, 1, 1, 0] and instances.observed.tolist() == [0, 0, 1, 1]
    view = marked.examples.view
    shown = [TEXT[view.starts[p] : view.ends[p]] for p in instances.positions]
    assert shown == ["bank", "bank", "bank", "closed"] and (np.diff(instances.positions) >= 0).all()


def test_a_place_of_several_words_is_one_instance_up_to_the_end_of_its_sentence():
    marked = label_instances(
        LABELS, Words(), [at("bank was steep", "c", "two"), at("steep. A bank", "c", "two")]
    )
    assert marked.examples.instances.lengths.tolist() == [3, 2]  # the stop is a token


@pytest.mark.parametrize(
    ("example", "problem"),
    [
        (at("bank", "a", "three"), "does not know the word 'three'"),
        (at("bank", "a", "two"), "the label 'a' is not one of 'b', 'c'"),
        (Labelled(TEXT, 3, 4, "b", "", "x", "two"), "decides nothing at"),
        (at("closed", "a"), "decides nothing at"),
    ],
)
def test_what_cannot_be_used_says_why(example, problem):
    with pytest.raises(UserError, match="D462") as caught:
        label_instances(LABELS, Words(), [example])
    assert problem in str(caught.value)


def test_the_same_word_labelled_twice_is_two_examples_whatever_their_labels():
    """Nothing is left out unasked: what is contradictory is learned from and tested on as it is."""
    twice = [at("bank", "b", "two"), at("bank", "c", "two"), at("bank", "b", "two")]
    marked = label_instances(LABELS, Words(), twice)
    assert marked.labelled == twice and marked.problems == []
    instances = marked.examples.instances
    assert instances.observed.tolist() == [0, 1, 0] and len(set(instances.positions)) == 1
    assert marked.documents.tolist() == [0, 0, 0]  # and on one side of every split


def test_tasks_of_words_do_not_look_at_names():
    marked = label_instances(Spans(((2, 1),)), Words(), [at("bank", "a", "two")])
    assert marked.examples.instances.groups.tolist() == [0]


def test_a_task_of_single_tokens_leaves_longer_places_out_and_says_so():
    task = Spans(((2, 1),), Decides("tokens", "labels"))
    two = replace(at("bank was", "c", "two"), where="line 3")
    marked = label_instances(
        task, Words(), [two, at("bank", "b", "two"), at("was steep", "a"), at("bank", "a")]
    )
    assert marked.examples.instances.lengths.tolist() == [1, 1]
    first, second = marked.problems
    assert first == "line 3: 'bank was' has 2 tokens: the task spans decides single tokens only"
    assert "'was steep' has 2 tokens" in second


def test_what_only_its_own_fold_has_is_no_answer():
    right = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]], bool)
    folds = np.array([0, 1, 1, 2])
    assert seen_elsewhere(np.array([0, 0, 1, 1]), right, folds).tolist() == [0, 0, -1, 1]
    assert seen_elsewhere(np.array([1, 2, 2, 2]), right, folds).tolist() == [1, 2, 2, 2]
    assert seen_elsewhere(np.array([-1, 1, -1, 0]), right, folds).tolist() == [-1, -1, -1, 0]
    assert seen_elsewhere(np.array([0, 0, 1, 1]), right, folds, np.array([0, 1, 0])).tolist() == [0, 0, 1, 1]
    assert seen_elsewhere(np.empty(0, int), right[:0], folds[:0]).tolist() == []


def test_marks_are_those_of_tasks_that_decide_at_places():
    text = "aa [[b]] c"
    whole = Labelled(text, 0, len(text), "a", text, "line 1", "one")
    task = Spans(((2, 1),))
    (placed,) = as_task_decides(task, [whole])
    assert (placed.text, placed.start, placed.end, placed.document) == ("aa b c", 3, 4, "aa b c")
    assert label_instances(task, Words(), [whole]).labelled == [placed]
    assert as_task_decides(Spans(decides=Decides("documents")), [whole]) == [replace(whole, word="")]
    for broken, problem in ((f"{text} [[b]]", "2 places"), (f"[[ {text}", "after it")):
        with pytest.raises(UserError, match=f"D460.*line 1.*{problem}"):
            label_instances(task, Words(), [replace(whole, text=broken, end=len(broken))])


def test_a_text_without_a_mark_is_told_of_where_single_tokens_are_decided():
    task = Spans(((2, 1),), Decides("tokens", "labels"))
    bare = Labelled("aa b c", 0, 6, "a", "", "line 1")
    with pytest.raises(UserError, match=r"D462.*no place is marked in 'aa b c': put one word between \[\["):
        label_instances(task, Words(), [bare])
