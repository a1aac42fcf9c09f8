"""Head words: finding them, counts and probabilities by hand, files."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from feature_places import instances_at, spoiled_folders
from hypothesis import given, strategies as st

from disambig.counts import CountTable, write_table
from disambig.data import Group
from disambig.errors import UserError
from disambig.features import (
    DISCOUNT,
    GROUP_NAME,
    HEADWORD_TOKENISATION,
    WORD_KINDS,
    HeadwordCounter,
    Headwords,
    HeadwordTokenisation,
    PartsOfSpeech,
    find_heads,
    load_parts_of_speech,
    transform_checked,
)
from disambig.tasks import OwnCandidates
from disambig.text import SENTENCE_START, Words, hash_word

KINDS = {
    "verb": "listen listens provide provided sat gave",
    "noun or verb": "use access work",
    "gerund": "using painting",
    "participle": "written",
    "adjective": "old next few red",
    "adverb": "often now very",
    "determiner": "the a their next",
    "pronoun": "it them she we they",
    "other": "to of in with by and , . which",
}
HEADER = {"tokenisation": Words.name, "licence": "none"}
WORDS = {word: WORD_KINDS.index(kind) for kind, words in KINDS.items() for word in words.split()}
PARTS = PartsOfSpeech.from_words(WORDS, HEADER)
GROUP = Group("place", ("to", "of", "with", ""))
TEXTS = [
    "They listen often to old music.",
    "They listen to the music of the town.",
    "We provide the users with access.",
    "She listens to them.",
    "We provide a list of users.",
    "They provided music.",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("parts") / "of" / "speech"
    PARTS.save(path)
    return path


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "heads.counts"
    with HeadwordCounter(OwnCandidates(candidates=["to", "of", "with"]), PARTS) as counter:
        for text in TEXTS:  # in two or more batches, like long texts
            counter.add(Words()([text]))
        return write_counts(path, counter)


def write_counts(path, counter):
    names = {"tokenisations": [HEADWORD_TOKENISATION], "gaps": [HEADWORD_TOKENISATION]}
    write_table(path, list(counter.partitions(min_counts={})), **names, info={})
    return path


def place(text, gap="_"):
    """Return the view of a text, and the empty place that ``_`` marks in it."""
    before, after = text.split(gap)
    view = Words()([before.rstrip() + " " + after.lstrip()])
    return view, instances_at([len(Words()([before.rstrip()])) - 1 if before.strip() else 1], 0)


def words_at(view, tokens):
    return [view.texts[0][view.starts[t] : view.ends[t]] if t >= 0 else None for t in tokens.tolist()]


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("They listen _ music", ["listen", None, "music"]),
        ("They listen often _ the next few weeks work", ["listen", None, "work"]),
        ("We provide the users _ old access", ["users", "provide", "access"]),
        ("We gave it _ them now", ["gave", None, "them"]),
        ("We use the tool _ using it", ["tool", "use", "using"]),
        ("the tool _ painting walls", ["tool", None, "walls"]),
        ("the town and _ which", ["and", None, "which"]),
        ("written _ Anna", ["written", None, "Anna"]),
        ("They sat, work _ very", ["work", None, "very"]),
    ],
)
def test_heads_are_found_across_other_words(text, heads, engine):
    view, instances = place(text)
    assert words_at(view, find_heads(PARTS, view, instances)[0]) == heads


@given(st.lists(st.sampled_from([*WORDS, "town", "."]), max_size=40), st.integers(0, 2))
def test_both_backends_find_the_same_heads_within_the_sentence(words, length):
    view = Words()([" ".join(words), "And on."])
    positions = np.arange(len(view) - length + 1)
    instances = instances_at(positions, length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISAMBIG_ENGINE", "numpy")
        slow = find_heads(PARTS, view, instances)
        patch.setenv("DISAMBIG_ENGINE", "numba")
        assert np.array_equal(find_heads(PARTS, view, instances), slow)
    inside = np.array([view.sentences.searchsorted(p, side="right") for p in range(len(view) + 1)])
    for at, heads in zip(positions.tolist(), slow.tolist(), strict=True):
        left, right = max(at - 1, 0), min(at + length, len(view) - 1)
        assert all(h < 0 or (h < at and inside[h] == inside[left]) for h in heads[:2])
        assert heads[2] < 0 or (heads[2] >= at + length and inside[heads[2]] == inside[right])


def test_counts_of_headword_ngrams(counts):
    table = CountTable.open(counts)
    asked = {
        "to": 3, "listen to": 2, "to music": 2, "listen to music": 2,
        "listens to": 1, "to them": 1, "listens to them": 1,
        "of": 2, "music of": 1, "of town": 1, "music of town": 1,
        "list of": 1, "of users": 1, "list of users": 1, "provide * of": 1, "provide * of users": 1,
        "with": 1, "users with": 1, "with access": 1, "users with access": 1,
        "provide * with": 1, "provide * with access": 1,
    }  # fmt: skip
    assert {text: table.count(text, tokenisation=HEADWORD_TOKENISATION) for text in asked} == asked
    assert table.n_ngrams == len(asked)
    between = ["often to", "to old", "provide with"]
    assert table.counts_of_texts(between, tokenisation=HEADWORD_TOKENISATION) == [0, 0, 0]


def test_a_word_of_several_groups_is_counted_once(tmp_path):
    groups = OwnCandidates(sets=["to/of", "to/with"])
    with HeadwordCounter(groups, PARTS) as counter:
        counter.add(Words()(["They listen to music.", "They sat of music."]))
        assert counter.counter.totals == [2, 4, 2, 0]
        with pytest.raises(ValueError, match="fall"):
            list(counter.partitions(min_counts={1: 1, 2: 3, 3: 2}))


def test_no_word_is_counted_where_a_task_learns_from_empty_places(tmp_path):
    class Listening:
        groups = (GROUP,)

        def instances(self, view):
            return instances_at([])

        def examples(self, view):
            at = np.flatnonzero(view.hashes == hash_word("music"))
            return instances_at(at, 0, GROUP.candidates.index(""))

    with HeadwordCounter(Listening(), PARTS) as counter:
        counter.add(Words()(["They listen music.", "They provided music."]))
        table = CountTable.open(write_counts(tmp_path / "t", counter))
    for text, n in {"<0>": 2, "<0> music": 2, "listen <0> music": 1, "listen <0>": 1}.items():
        assert table.count(text, tokenisation=HEADWORD_TOKENISATION) == n


def test_probabilities_follow_the_formula(counts, folder, engine):
    view, instances = place("We provide the users _ music")
    group = Group("place", ("to", "of", "with"))
    features = transform_checked(Headwords(counts=counts, parts_of_speech=folder), view, instances, group)
    values = np.exp(features.batch.values[0].astype(float))  # (3, 5)
    table = CountTable.open(counts)

    def smoothed(pattern, back):
        texts = [pattern.replace("_", word) for word in group.candidates]
        n = np.array([table.count(text, tokenisation=HEADWORD_TOKENISATION) for text in texts])
        if not n.sum():
            return back
        return (np.maximum(n - DISCOUNT, 0) + DISCOUNT * (n > 0).sum() * back) / n.sum()

    prior = np.array([4, 3, 2]) / 9
    before, after, far = (smoothed(p, prior) for p in ("users _", "_ music", "provide * _"))
    near = smoothed("users _ music", (before + after) / 2)
    beyond = smoothed("provide * _ music", (far + after) / 2)
    assert values == pytest.approx(np.stack([after, before, far, near, beyond], axis=1), rel=1e-5)
    assert features.batch.columns.group_names == (GROUP_NAME,)
    assert not features.found.any() and not features.asked.any()


def test_evidence(counts, folder):
    view, instances = place("They listen often _ old music")
    result = Headwords(counts=counts, parts_of_speech=folder).evidence(view, instances, GROUP)
    named = {key: (item.text, item.count) for key, item in result.items()}
    assert named["to", "governor _ object"] == ("listen to music", 2)
    assert named["of", "_ object"] == ("of music", 0)
    assert named["no word", "governor _"] == ("listen <0>", 0)
    assert not any("verb" in pattern for _, pattern in named)  # one of them is the governor
    result = Headwords(counts=counts, parts_of_speech=folder).evidence(
        *place("We provide the users _"), GROUP
    )
    assert result["with", "verb * _"].text == "provide <*> with"
    assert SENTENCE_START not in result["with", "_ object"].text


def test_other_words_and_tables_are_refused(folder, tmp_path):
    view, instances = place("They listen _ music")
    with pytest.raises(UserError, match="D439"):
        find_heads(PARTS, replace(view, tokenisation="variance_svm.NormalisedWords.v1"), instances)
    words = tmp_path / "words.counts"
    write_table(words, [(np.ones(1, np.uint64), np.ones(1, np.uint64))], tokenisations=[Words.name])
    with pytest.raises(UserError, match="D110"):
        transform_checked(Headwords(counts=words, parts_of_speech=folder), view, instances, GROUP)
    with pytest.raises(UserError, match="D440"):
        HeadwordTokenisation()(["They listen to music."])


def test_saving_and_loading(folder):
    again = load_parts_of_speech(str(folder))
    assert again.header == HEADER
    asked = Words()(["They listen often, to Anna."]).hashes
    kinds = again.word_kinds(asked)
    named = [WORD_KINDS[kind] for kind in kinds.tolist()]
    assert named == "other pronoun verb adverb other other noun other other".split()
    assert np.array_equal(PARTS.word_kinds(asked), kinds)


@pytest.mark.parametrize(
    "spoil",
    [
        *spoiled_folders("words.npz"),
        lambda folder: (folder / "header.json").write_text(json.dumps({"tokenisation": 3})),
        lambda folder: np.savez(folder / "words.npz", words=PARTS.words),
        lambda folder: np.savez(folder / "words.npz", words=PARTS.words[::-1], kinds=PARTS.kinds),
        lambda folder: np.savez(folder / "words.npz", words=PARTS.words, kinds=PARTS.kinds[1:]),
        lambda folder: np.savez(folder / "words.npz", words=PARTS.words, kinds=PARTS.kinds + 9),
        lambda folder: np.savez(folder / "words.npz", words=PARTS.words, kinds=PARTS.kinds.astype(int)),
    ],
)
def test_broken_files_are_refused(tmp_path, spoil):
    PARTS.save(tmp_path)
    spoil(tmp_path)
    with pytest.raises(UserError, match="D438"):
        PartsOfSpeech.load(tmp_path)
