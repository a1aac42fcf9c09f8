"""The task of candidates: settings, words, empty places; and the contract of tasks."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from disambig.data import Group, Instances, find_instances, replacement, word_tokens
from disambig.errors import UserError
from disambig.features import CONTEXTS, CandidateHashes, context_room, fitting_contexts
from disambig.formats import Labelled
from disambig.tasks import OwnCandidates
from disambig.text import Words
from disambig.training import label_instances

ARTICLES = ["a", "an", "the", ""]


def places(task, text):
    """Return what stands at each instance, and the text from there on."""
    view = Words()([text])
    result = task.instances(view)
    assert (np.diff(result.positions) >= 0).all()
    shown = []
    columns = result.positions, result.lengths, result.groups, result.observed
    for position, length, group, observed in zip(*columns, strict=True):
        start = view.starts[position]
        end = view.ends[position + length - 1] if length else start
        candidate = task.groups[group].candidates[observed]
        assert text[start:end].lower() == candidate
        shown.append((text[start:end], text[end:].split()[0] if text[end:].split() else ""))
    return shown


@pytest.mark.parametrize(
    ("settings", "groups"),
    [
        ({"candidates": ["bring", "take"]}, {"bring/take": ("bring", "take")}),
        ({"candidates": ["", "The", "a"]}, {"the/a/-": ("the", "a", "")}),
        ({"candidates": ["so", ""]}, {"so/-": ("so", "")}),
        (
            {"sets": ["Lamp/damp", ["may be", "maybe"], ["so", ""]]},
            {"lamp/damp": ("lamp", "damp"), "may be/maybe": ("may be", "maybe"), "so/-": ("so", "")},
        ),
    ],
)
def test_groups_of_settings(settings, groups):
    assert {group.name: group.candidates for group in OwnCandidates(**settings).groups} == groups


def test_sets_in_a_file(tmp_path):
    (tmp_path / "mine.tsv").write_text("lamp/damp\tlight or wet\n# no\nrow/low\n")
    task = OwnCandidates(sets=str(tmp_path / "mine.tsv"), name="mine", language="en")
    assert [group.name for group in task.groups] == ["lamp/damp", "row/low"]
    assert (task.name, task.language) == ("mine", "en")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, "D485"),
        ({"candidates": ["a", "the"], "sets": ["a/an"]}, "D485"),
        ({"candidates": ["a", "the"], "gaps": "some"}, "D486"),
        ({"candidates": ["a", "the"], "name": "my task"}, "D487"),
        ({"candidates": ["a"]}, "D411"),
        ({"candidates": ["", ""]}, "D411"),
        ({"candidates": [""]}, "D411"),
        ({"candidates": ["a", "a"]}, "D411"),
        ({"candidates": ["in front of", "before"]}, "D411"),
        ({"candidates": ["well-known", ""]}, "D411"),
        ({"sets": []}, "D411"),
        ({"sets": ["a/an", "a/an"]}, "D411"),
    ],
)
def test_rejects_invalid_settings(settings, code):
    with pytest.raises(UserError, match=code):
        OwnCandidates(**settings)


def test_empty_places_are_between_words_and_not_next_to_candidates():
    text = "He saw the old man, in (big) house. Then a dog ran 3 miles to well-known place"
    expected = [("", "saw"), ("the", "old"), ("", "man,"), ("a", "dog"), ("", "ran"), ("", "3")]
    expected += [("", "miles"), ("", "to"), ("", "well-known"), ("", "place")]
    assert places(OwnCandidates(candidates=ARTICLES), text) == expected


def test_no_empty_places_without_an_empty_candidate():
    text = "He saw the old man."
    assert places(OwnCandidates(candidates=ARTICLES, gaps="none"), text) == [("the", "old")]
    assert places(OwnCandidates(candidates=["a", "the"]), text) == [("the", "old")]


def test_each_set_has_its_own_empty_places():
    task = OwnCandidates(sets=[["the", ""], ["so", ""]])
    view = Words()(["He saw so much"])
    result = task.instances(view)
    starts = view.starts[result.positions].tolist()
    assert list(zip(starts, result.groups.tolist(), strict=True)) == [(3, 0), (3, 1), (7, 0), (7, 1), (10, 0)]


@given(st.lists(st.text("ab the,.-\n\U0001f600é'", max_size=30), max_size=4))
def test_empty_places_of_any_text(texts):
    view = Words()(texts)
    task = OwnCandidates(candidates=ARTICLES)
    result = task.instances(view)
    words = word_tokens(view)
    gaps = result.positions[result.lengths == 0]
    assert words[gaps].all() and words[gaps - 1].all()
    assert (view.ends[gaps - 1] < view.starts[gaps]).all()
    beside = {int(p) + k for p in result.positions[result.lengths == 1] for k in (0, 1)}
    assert not beside & set(gaps.tolist())
    for document, text in enumerate(texts):
        in_document = view.document_indices(np.arange(len(view))) == document
        for token in np.flatnonzero(in_document & words):
            assert text[view.starts[token]].isalnum() or text[view.starts[token]] == "\u0301"


def test_contexts_of_the_empty_candidate_have_both_sides():
    task = OwnCandidates(candidates=ARTICLES)
    view = Words()(["We saw old men here"])
    result = task.instances(view)
    candidates = CandidateHashes.from_group(task.groups[0])
    assert candidates.lengths.tolist() == [1, 1, 1, 0] and candidates.words[3].tolist() == [0]
    usable = fitting_contexts(*context_room(view, result), candidates.longest, shortest=candidates.shortest)
    both = np.array([left > 0 and right > 0 for left, right in CONTEXTS])
    assert not usable[:, ~both].any()
    at = {context: c for c, context in enumerate(CONTEXTS)}
    assert usable[1, at[2, 2]] and not usable[0, at[3, 1]]  # before "saw": <S> We, nothing else


@pytest.mark.parametrize(
    ("text", "start", "end", "chosen", "built"),
    [
        ("We saw dog.", 7, 7, "the", "the "),
        ("WE SAW DOG.", 7, 7, "the", "THE "),
        ("Then NASA flew", 5, 5, "the", "the "),
        ("The dog", 0, 3, "a", "A"),
        ("The dog", 0, 3, "", ""),
    ],
)
def test_replacements(text, start, end, chosen, built):
    assert replacement(chosen, text, start, end) == built


@pytest.mark.parametrize("place", [6, 7, 8])
def test_labelled_empty_places_may_be_at_either_end_of_a_space(place):
    text = "We saw  dog."
    task = OwnCandidates(candidates=ARTICLES)
    (example,) = label_instances(task, Words(), [Labelled(text, place, place, "the", text)]).labelled
    assert example.label == "the"


def test_rejects_a_labelled_word_as_an_empty_place():
    task = OwnCandidates(candidates=ARTICLES)
    between = "; it decides between 'a', 'an', 'the'"
    with pytest.raises(UserError, match=f"D462.*decides nothing at 'saw'{between}$"):
        label_instances(task, Words(), [Labelled("We saw dog.", 3, 6, "the", "x")])


VIEW = Words()(["It was quiet."])
ONE = np.zeros(1, np.int32)
INSTANCES = Instances(np.ones(1, np.int64), ONE + 1, ONE, ONE)


def task_returning(instances):
    return SimpleNamespace(groups=(Group("a/b", ("it", "is")),), instances=lambda view: instances)


def test_returns_valid_instances():
    assert find_instances(task_returning(INSTANCES), VIEW) is INSTANCES


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "instances returned None; expected Instances"),
        (
            replace(INSTANCES, lengths=np.ones(1)),
            "lengths of instances is an array of float64 of shape (1,); expected an array of integers",
        ),
        (
            replace(INSTANCES, observed=np.zeros(2, np.int32)),
            "observed of instances is an array of int32 of shape (2,); expected",
        ),
        (
            replace(INSTANCES, groups=ONE + 1),
            "an instance is of group 1, with 1 in groups; expected an index",
        ),
    ],
)
def test_names_invalid_instances(result, message):
    with pytest.raises(UserError, match=rf"D414.*{re.escape(message)}"):
        find_instances(task_returning(result), VIEW)


def test_names_a_task_without_instances():
    with pytest.raises(UserError, match="it has no method instances"):
        find_instances(SimpleNamespace(groups=()), VIEW)
