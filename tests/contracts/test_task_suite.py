"""The suite for tasks: of words, labels, lists of their own and items; what is wrong is said clearly."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from toy_plugin import Marks, Pairs

from disambig.data import CandidateLists, Group, Instances
from disambig.tasks import Lists
from disambig.testing import check_task
from disambig.text import hash_word
from disambig.types import Decides

TEXTS = ["It is quite quiet.", "A quiet piece of cake."]
FORMS = {"quite": ("quite", "quiet"), "quiet": ("quiet",), "piece": ("peace", "piece", "peas")}


@dataclass(frozen=True)
class Forms:
    """Decide between the forms of a word, which differ from word to word."""

    decides = Decides("words", "own")
    name: str = "forms"
    language: str = ""
    groups: tuple = (Group("forms", ()),)

    def instances(self, view):
        words = {hash_word(word): word for word in FORMS}
        at = [i for i, key in enumerate(view.hashes.tolist()) if key in words]
        seen = [words[int(view.hashes[i])] for i in at]
        n = len(at)
        observed = [FORMS[word].index(word) for word in seen]
        own = CandidateLists.from_texts([FORMS[word] for word in seen])
        ones = np.ones(n, np.int32)
        return Instances(np.array(at, np.int64), ones, 0 * ones, np.array(observed, np.int32), own)


def failures(task, texts=TEXTS):
    failed = {}
    for check in check_task(task, texts):
        try:
            check()
        except AssertionError as problem:
            failed[check.name] = str(problem)
    return failed


@pytest.mark.parametrize("task", [Pairs(), Marks(), Forms(), Lists()], ids=lambda task: type(task).__name__)
def test_tasks_in_order(task):
    assert failures(task) == {}


@dataclass(frozen=True)
class Spoiled(Forms):
    """Its instances are changed by a function."""

    change: object = None

    def instances(self, view):
        found = super().instances(view)
        return self.change(found) if len(found) else found


def own(**changes):
    return lambda found: replace(
        found, own=replace(found.own, **{name: of(found.own) for name, of in changes.items()})
    )


@pytest.mark.parametrize(
    ("change", "check", "said"),
    [
        (lambda found: replace(found, own=None), "has_lists_where_it_says_so", "but own is NoneType"),
        (lambda found: replace(found, own=[["a"]] * len(found)), "has_lists_where_it_says_so", "own is list"),
        (
            lambda found: replace(found, own=found.own.take(slice(1, None))),
            "has_lists_where_it_says_so",
            "3 lists for 4 instances",
        ),
        (
            own(offsets=lambda held: np.insert(held.offsets[:-1], 0, 0)),
            "has_lists_where_it_says_so",
            "a list is empty",
        ),
        (own(texts=lambda held: held.texts[:-1]), "has_lists_where_it_says_so", "texts of 6 candidates"),
        (own(costs=lambda held: held.costs[1:]), "has_lists_where_it_says_so", "costs of 6 candidates"),
        (own(texts=lambda held: [1] * len(held.texts)), "has_lists_where_it_says_so", "is not a text"),
        (own(scores=lambda held: held.scores + np.inf), "has_lists_where_it_says_so", "base score"),
        (own(ranks=lambda held: held.ranks - 1), "has_lists_where_it_says_so", "a rank is below 0"),
        (own(costs=lambda held: 0 * held.scores - 1), "has_lists_where_it_says_so", "a cost is negative"),
        (
            own(features=lambda held: csr_array(np.ones((2, 2)))),
            "has_lists_where_it_says_so",
            r"features of shape (2, 2), not (7, 0)",
        ),
        (
            lambda found: replace(found, observed=found.observed + 2),
            "points_at_groups_and_candidates",
            "observed is out of range",
        ),
        (
            own(texts=lambda held: held.texts[::-1]),
            "observes_what_stands_there",
            "words of the observed candidate",
        ),
        (
            lambda found: replace(found, lengths=0 * found.lengths),
            "stays_inside_sentences",
            "an instance has no token, although its group has no empty candidate",
        ),
    ],
)
def test_lists_that_are_out_of_order_are_named(change, check, said):
    found = failed_one(change, check)
    assert said in found[check], found[check]


def failed_one(change, name):
    """The failure of one check: where lists are out of order others may not run at all."""
    (check,) = (each for each in check_task(Spoiled(change=change), TEXTS) if each.name == name)
    with pytest.raises(AssertionError) as caught:
        check()
    return {name: str(caught.value)}


class Moody(Forms):
    """Its lists differ from call to call."""

    def instances(self, view):
        found = super().instances(view)
        rng = np.random.default_rng()
        texts = [f"{text}{rng.integers(10**9)}" for text in found.own.texts]
        return replace(found, own=replace(found.own, texts=texts), observed=0 * found.observed - 1)


def test_lists_that_differ_from_call_to_call_are_named():
    failed = failures(Moody())
    assert "other candidates in the second call" in failed["finds_the_same_twice"]
    assert "single texts have other candidates" in failed["takes_texts_one_by_one"]


class WordsWithLists(Pairs):
    """Decides between words, and has lists as well."""

    def instances(self, view):
        found = super().instances(view)
        return replace(found, own=CandidateLists.from_texts([["quite", "quiet"]] * len(found)))


class Nonsense(Pairs):
    decides = "labels"


class Elsewhere(Pairs):
    decides = Decides("pages", "words")


class AboutNothing(Pairs):
    metric = ("f1", "cake")


class SeenLabels(Pairs):
    """Labels that stand in the text."""

    decides = Decides(between="labels")


class ItemsInTexts(Forms):
    decides = Decides("items", "own")


class LongTokens(Pairs):
    """Takes the next token, too."""

    decides = Decides("tokens", "words")

    def instances(self, view):
        found = super().instances(view)
        return replace(found, lengths=found.lengths + 1)


@pytest.mark.parametrize(
    ("task", "check", "said"),
    [
        (WordsWithLists(), "has_lists_where_it_says_so", "it decides between words, not own"),
        (Elsewhere(), "says_what_it_decides", "decides at 'pages'"),
        (AboutNothing(), "says_what_it_decides", "metric 'f1' is about 'cake', which is not a candidate"),
        (SeenLabels(), "points_at_groups_and_candidates", "the text contains no labels"),
        (ItemsInTexts(), "finds_instances", "which come from a reader"),
        (LongTokens(), "stays_inside_sentences", "an instance has several"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_task_that_does_not_do_what_it_declares_is_named(task, check, said):
    assert said in failures(task)[check]


def test_a_task_of_lists_needs_no_candidates_in_its_groups_and_others_do():
    none = (Group("none", ()),)

    class Empty(Pairs):
        groups = none

        def instances(self, view):
            return Pairs().instances(view).take(slice(0, 0))

    assert "has_groups_of_candidates" not in failures(Forms(groups=none))
    assert "fewer than two" in failures(Empty())["has_groups_of_candidates"]


def test_what_a_task_declares_must_be_a_decides():
    (check,) = (each for each in check_task(Nonsense(), TEXTS) if each.name == "says_what_it_decides")
    with pytest.raises(AssertionError, match="decides is 'labels'"):
        check()


@dataclass(frozen=True)
class LearnsMore(Forms):
    """A task that is learned from other places than it decides: here the same, or as `spoil` has them."""

    spoil: dict = field(default_factory=dict)

    def examples(self, view):
        return replace(self.instances(view), **self.spoil)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({}, None),
        ({"observed": np.array([9, 0, 0, 0], np.int32)}, "examples: observed is out of range"),
        ({"observed": np.array([1, 0, 0, 1], np.int32)}, "examples: words of the observed candidate 'quiet'"),
        ({"positions": np.array([4, 3, 9, 10])}, "examples: positions do not ascend"),
    ],
)
def test_the_places_that_a_task_learns_from_are_looked_at_too(spoil, said):
    failed = failures(LearnsMore(spoil=spoil))
    if said is None:
        assert failed == {}
    else:
        (name,) = failed
        assert name == "learns_from_places_of_the_same_kind" and said in failed[name]
