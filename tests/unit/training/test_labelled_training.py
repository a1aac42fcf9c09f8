"""Training from labelled examples: their places, documents, selection, and states that are incomplete."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toy_components import toy_components
from toy_learners import MeanDifference
from toy_plugin import Marks, NearbyWords
from toy_ways import ListedWords

from disambig.counts import build_table
from disambig.data import Group, Instances
from disambig.decision import BestOfList, Corrections
from disambig.errors import UserError
from disambig.features import NgramCounts
from disambig.formats import Labelled
from disambig.models import LinearScorer, NoPreference
from disambig.text import Words
from disambig.training import (
    TaskPlaces,
    as_task_decides,
    document_numbers,
    label_instances,
    seen_elsewhere,
    train_labelled,
)
from disambig.types import Decides, Fitted


@dataclass(frozen=True)
class Spans:
    """Decides at given tokens; a length of zero is an empty place."""

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
        positions, lengths = np.array(spans, np.int64).reshape(-1, 2).T
        zeros = np.zeros(len(spans), np.int32)
        return Instances(positions, lengths.astype(np.int32), zeros, zeros - 1)


def overlaps(example, start, end):
    """Return True if an instance is at the place, by the definition."""
    if example.start == example.end or start == end:
        between = example.text[min(example.start, start) : max(example.end, start)]
        return example.start == example.end and start == end and not between.strip()
    return start < example.end and example.start < end


@given(
    st.lists(st.text("ab .\n", max_size=12), min_size=1, max_size=3, unique=True),
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 3)), max_size=8, unique=True),
    st.data(),
)
def test_places_agree_with_a_search_of_all_instances(texts, spans, data):
    task = Spans(tuple(spans))
    view = Words()(texts)
    places = TaskPlaces.from_view(task, view)
    instances = task.instances(view)
    for number, text in enumerate(texts):
        start = data.draw(st.integers(0, len(text)))
        example = Labelled(text, start, data.draw(st.integers(start, len(text))), "a", text)
        expected = []
        for i, (position, length) in enumerate(zip(instances.positions, instances.lengths, strict=True)):
            begin = int(view.starts[position])
            end = int(view.ends[position + length - 1]) if length else begin
            if view.document_indices(np.array([position]))[0] == number and overlaps(example, begin, end):
                expected.append(i)
        assert places.find(number, example) == expected


TEXT = "The bank was steep. A bank closed."
LABELS = Spans(((2, 1),), Decides(between="labels"))


def example_at(word, label, group="", text=TEXT, nth=0):
    start = [match.start() for match in re.finditer(word, text)][nth]
    return Labelled(text, start, start + len(word), label, text, f"{word} {nth}", group)


def test_named_groups_are_learned_where_the_task_finds_no_instance():
    labelled = [example_at("bank", "c", "two", nth=1), example_at("bank", "b", "two")]
    labelled += [example_at("bank", "a"), example_at("closed", "b", "one")]
    marked = label_instances(LABELS, Words(), labelled)
    instances = marked.examples.instances
    assert marked.problems == []
    assert [item.where for item in marked.labelled] == ["bank 0", "bank 0", "bank 1", "closed 0"]
    assert instances.groups.tolist() == [0, 1, 1, 0] and instances.observed.tolist() == [0, 0, 1, 1]
    view = marked.examples.view
    shown = [TEXT[view.starts[p] : view.ends[p]] for p in instances.positions]
    assert shown == ["bank", "bank", "bank", "closed"] and (np.diff(instances.positions) >= 0).all()


def test_places_end_with_their_sentence_and_words_ignore_group_names():
    examples = [example_at(words, "c", "two") for words in ("bank was steep", "steep. A bank")]
    marked = label_instances(LABELS, Words(), examples)
    assert marked.examples.instances.lengths.tolist() == [3, 2]  # the stop is a token
    marked = label_instances(Spans(((2, 1),)), Words(), [example_at("bank", "a", "two")])
    assert marked.examples.instances.groups.tolist() == [0]


@pytest.mark.parametrize(
    ("example", "problem"),
    [
        (example_at("bank", "a", "three"), "does not know the word 'three'"),
        (example_at("bank", "a", "two"), "the label 'a' is not one of 'b', 'c'"),
        (Labelled(TEXT, 3, 4, "b", "", "x", "two"), "decides nothing at"),
        (example_at("closed", "a"), "decides nothing at"),
    ],
)
def test_reports_unusable_examples(example, problem):
    with pytest.raises(UserError, match="D462") as caught:
        label_instances(LABELS, Words(), [example])
    assert problem in str(caught.value)


def test_a_text_with_several_places_needs_a_mark():
    example = Labelled("ball bank ball", 0, 14, "a", "x", "here")
    with pytest.raises(UserError, match=r"D462.*'ball bank ball' has 3 places to decide: mark one with \[\["):
        label_instances(Spans(((1, 1), (2, 1), (3, 1))), Words(), [example])


def test_an_unusable_example_without_a_location():
    example = Labelled(TEXT, 3, 4, "b", "", "", "two")
    with pytest.raises(UserError, match=r"D462.*; the first one: [^:]"):
        label_instances(LABELS, Words(), [example])


def test_keeps_repeated_examples():
    """Contradictory labels are kept."""
    twice = [example_at("bank", "b", "two"), example_at("bank", "c", "two"), example_at("bank", "b", "two")]
    marked = label_instances(LABELS, Words(), twice)
    assert marked.labelled == twice and marked.problems == []
    instances = marked.examples.instances
    assert instances.observed.tolist() == [0, 1, 0] and len(set(instances.positions)) == 1
    assert marked.documents.tolist() == [0, 0, 0]  # and on one side of every split


def test_token_tasks_leave_out_longer_places_and_reject_text_without_a_mark():
    task = Spans(((2, 1),), Decides("tokens", "labels"))
    two = replace(example_at("bank was", "c", "two"), where="line 3")
    more = example_at("bank", "b", "two"), example_at("was steep", "a"), example_at("bank", "a")
    marked = label_instances(task, Words(), [two, *more])
    assert marked.examples.instances.lengths.tolist() == [1, 1]
    first, second = marked.problems
    assert first == ("line 3", "'bank was' has 2 tokens: the task spans decides single tokens only")
    assert "'was steep' has 2 tokens" in second[1]
    bare = Labelled("aa b c", 0, 6, "a", "", "line 1")
    with pytest.raises(UserError, match=r"D462.*no place is marked in 'aa b c': put one word between \[\["):
        label_instances(task, Words(), [bare])


def test_seen_elsewhere_excludes_labels_of_one_fold():
    right = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]], bool)
    folds = np.array([0, 1, 1, 2])
    assert seen_elsewhere(np.array([0, 0, 1, 1]), right, folds).tolist() == [0, 0, -1, 1]
    assert seen_elsewhere(np.array([1, 2, 2, 2]), right, folds).tolist() == [1, 2, 2, 2]
    assert seen_elsewhere(np.array([-1, 1, -1, 0]), right, folds).tolist() == [-1, -1, -1, 0]
    assert seen_elsewhere(np.array([0, 0, 1, 1]), right, folds, np.array([0, 1, 0])).tolist() == [0, 0, 1, 1]
    assert seen_elsewhere(np.empty(0, int), right[:0], folds[:0]).tolist() == []


def test_marks_apply_to_tasks_with_places():
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


TEXTS_AND_DOCUMENTS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("123456")), max_size=25)


def example(text, document):
    return Labelled(text, 0, 1, "x", document)


@given(TEXTS_AND_DOCUMENTS)
def test_equal_texts_share_a_document_number(pairs):
    numbers = document_numbers([example(*pair) for pair in pairs]).tolist()
    documents = {}  # the names of the documents that each text stands in
    for text, name in pairs:
        documents.setdefault(text, set()).add(name)
    by_text = dict(zip((text for text, _ in pairs), numbers, strict=True))
    assert numbers == [by_text[text] for text, _ in pairs]
    names = {}  # the names that each number may stand for
    for text, number in by_text.items():
        names[number] = names.get(number, documents[text]) & documents[text]
    assert all(names.values())
    assert sorted(names) == list(range(len(names)))
    alone = {next(iter(of)): by_text[text] for text, of in documents.items() if len(of) == 1}
    assert len(set(alone.values())) == len(alone)


@given(TEXTS_AND_DOCUMENTS, st.randoms())
def test_document_numbers_do_not_depend_on_order(pairs, random):
    order = list(range(len(pairs)))
    random.shuffle(order)
    numbers = document_numbers([example(*pair) for pair in pairs])
    again = document_numbers([example(*pairs[i]) for i in order])
    assert again.tolist() == numbers[order].tolist() if order else not len(again)


@given(st.lists(st.sampled_from("123456789"), max_size=20))
def test_document_numbers_follow_names(names):
    numbers = document_numbers([example(f"text {i}", name) for i, name in enumerate(names)])
    by_name = dict(zip(names, numbers.tolist(), strict=True))
    assert numbers.tolist() == [by_name[name] for name in names]
    again = document_numbers([example(f"other {i}", name) for i, name in enumerate(sorted(names))])
    assert dict(zip(sorted(names), again.tolist(), strict=True)) == by_name  # the name alone gives the number


def test_a_frequent_text_does_not_join_documents():
    pairs = [(text, str(n)) for n in range(30) for text in ("Thanks.", f"Letter {n}.")]
    numbers = document_numbers([example(*pair) for pair in pairs])
    assert len(set(numbers[1::2].tolist())) == 30
    assert len(set(numbers[::2].tolist())) == 1


WORDS = "late early old new green big warm dry tall slow".split()
COMMON = [Labelled(f"It is quite {word}.", 6, 11, "quite", word) for word in WORDS]
RARE = [Labelled(f"The quite {word} slept.", 4, 9, "quiet", f"rare {word}") for word in WORDS]


def train_marks(examples, **changes):
    components = toy_components(Marks(("quite/quiet",)), **{"learner": MeanDifference(), **changes})
    return train_labelled(components, examples, name="marks")


def as_picked(examples):
    return [replace(item, picked=True) for item in examples]


def test_learns_from_picked_examples_and_calibrates_without_them():
    alone, more = train_marks([*COMMON, *RARE[:2]]), train_marks([*COMMON, *RARE[:2], *as_picked(RARE[2:])])
    assert not np.array_equal(alone.scorers[0].weights, more.scorers[0].weights)
    as_they_come = train_marks([*COMMON, *RARE])
    np.testing.assert_array_equal(as_they_come.scorers[0].weights, more.scorers[0].weights)
    assert more.judge.bias[0, 1] < as_they_come.judge.bias[0, 1]
    message = " ".join(more.provenance["notes"])
    assert "12 labelled examples" in message and more.provenance["examples"]["labelled"] == 20


@pytest.mark.parametrize("examples", [RARE + COMMON, RARE[:1] + COMMON[:1]], ids=len)
def test_calibrates_on_picked_examples_if_there_are_no_others(examples):
    all_values, none = train_marks(as_picked(examples)), train_marks(examples)
    np.testing.assert_array_equal(all_values.judge.bias, none.judge.bias)


@dataclass(frozen=True)
class Forgetful(MeanDifference):
    """Saves nothing of its scorer."""

    def fit(self, batch, *, dev=None, rng=None):
        return Fitted(NoState(super().fit(batch).scorer.weights))


@dataclass(frozen=True)
class NoState(LinearScorer):
    def state(self):
        return {"other": np.zeros(1)}


@dataclass(frozen=True)
class Defaulting(Forgetful):
    """A learner that restores a scorer with other weights than those that were saved."""

    columns: int = 0

    def from_state(self, arrays):
        return LinearScorer(np.zeros(self.columns))


@dataclass(frozen=True)
class Growing(NearbyWords):
    """An extractor with a column of what it was fitted to, which it does not save."""

    seen: int = 0

    def fit(self, view, instances, groups):
        fitted = super().fit(view, instances, groups)
        return replace(self, seen=len(instances), vocabulary=fitted.vocabulary)

    def state(self):
        return {}

    def from_state(self, arrays):
        if not self.seen:
            raise KeyError("seen")
        return self


@pytest.mark.parametrize(
    ("extractor", "learner", "message"),
    [
        (NearbyWords(), Forgetful(), "scorer NoState of the learner Forgetful: from_state needs 'weights'"),
        (NearbyWords(), Defaulting(columns=9), "the restored one raised ValueError: 9 weights for"),
        (NearbyWords(), Defaulting(columns=32), "scores differ after from_state; state returned other"),
        (Growing(), MeanDifference(), "Growing: from_state needs 'seen', but state returned no array"),
    ],
)
def test_names_components_with_an_incomplete_state(extractor, learner, message):
    with pytest.raises(UserError) as caught:
        train_marks(COMMON + RARE, extractors={"near": extractor}, learner=learner)
    assert caught.value.code == "D414"
    assert message in str(caught.value) and "a state with every array that" in str(caught.value)


@dataclass(frozen=True)
class KeepsStrings(NearbyWords):
    """An extractor with a state that cannot be saved."""

    def fit(self, view, instances, groups):
        return replace(self, vocabulary=super().fit(view, instances, groups).vocabulary)

    def state(self):
        return {"words": np.array(["a", "b"])}


def test_names_components_with_strings_in_their_state():
    with pytest.raises(UserError, match=r"D414.*KeepsStrings.*an array of strings under 'words'") as caught:
        train_marks(COMMON + RARE, extractors={"near": KeepsStrings()})
    assert "text is stored as bytes" in str(caught.value) and "is missing" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "judge", "is_noted"),
    [("pit", Corrections(), True), ("pot", Corrections(), False), ("pit", BestOfList(), False)],
)
def test_notes_that_no_candidate_is_in_the_text(tmp_path, written, judge, is_noted):
    task = ListedWords({written: ("pat", "pot")}, "vowel")
    texts = [f"{number} times a {written} there" for number in range(40)]
    counts = NgramCounts(counts=build_table(tmp_path / "t.counts", texts, Words()))
    parts = toy_components(task, extractors={"counts": counts}, learner=MeanDifference(), judge=judge)
    parts["baseline"] = NoPreference()
    labelled = [
        Labelled(text, start := text.index(written), start + 3, ("pat", "pot")[number % 2], document=text)
        for number, text in enumerate(texts)
    ]
    notes = train_labelled(parts, labelled, name="toy", min_examples=2).provenance["notes"]
    assert (
        any("no labelled place has one of its candidates in the text" in note for note in notes) == is_noted
    )


@dataclass(frozen=True)
class Spoilt:
    """A decision rule that takes the best score, and changes what it returns."""

    judged: Callable = lambda made: made
    shares: Callable = lambda made: made

    def fit(self, material, *, progress=None):
        return self

    def judge(self, scored, *, flags_per_1000=None):
        return self.judged(BestOfList().judge(scored))

    def probabilities(self, scored):
        return self.shares(BestOfList().probabilities(scored))

    def state(self):
        return {"one": np.ones(1)}

    def from_state(self, arrays, groups):
        return self


def test_a_decision_rule_that_keeps_its_contract_is_used():
    for rule in (Spoilt(), Spoilt(shares=lambda made: None)):
        assert train_marks(COMMON + RARE, judge=rule).judge == rule


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Spoilt(lambda made: replace(made, chosen=made.chosen + 7)), r"candidate \d of an instance with 2 "),
        (Spoilt(lambda made: replace(made, chosen=made.chosen - 2)), r"candidate -\d of an instance"),
        (
            Spoilt(lambda made: replace(made, chosen=made.chosen * 1.0)),
            r"chosen of judge is an array of float",
        ),
        (Spoilt(lambda made: replace(made, margins=made.margins[1:])), r"margins of judge is .* of shape"),
        (Spoilt(lambda made: replace(made, flagged=made.chosen)), r"flagged of judge is an array of int64"),
        (Spoilt(lambda made: replace(made, answered=None)), r"answered of judge is None"),
        (Spoilt(lambda made: replace(made, probabilities=made.margins + 2)), r"of judge has .*from 0 to 1"),
        (Spoilt(lambda made: made.chosen), r"judge returned an array .* expected a JudgedScores"),
        (Spoilt(shares=lambda made: made * np.nan), r"probabilities returned has nan.*from 0 to 1"),
        (Spoilt(shares=lambda made: made[1:]), r"probabilities returned an array .*None, or an array of"),
        (Spoilt(shares=list), r"probabilities returned a list.*None, or an array of"),
    ],
)
def test_names_a_decision_rule_that_breaks_the_contract(rule, message):
    with pytest.raises(UserError, match=rf"D414\] the decision rule Spoilt: .*{message}"):
        train_marks(COMMON + RARE, judge=rule)


def test_names_a_decision_rule_that_is_none_after_fitting():
    class Lost(Spoilt):
        def fit(self, material, *, progress=None):
            return None

    with pytest.raises(
        UserError, match=r"D414.*the decision rule Lost: fit returned None; expected a fitted decision rule"
    ):
        train_marks(COMMON + RARE, judge=Lost())
