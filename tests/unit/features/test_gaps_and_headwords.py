"""Places where a word may be missing, and head words: learning, sums and probabilities by hand, files."""

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
    MULTIPLIERS,
    SEEDS,
    WORD_KINDS,
    Gaps,
    HeadwordCounter,
    Headwords,
    HeadwordTokenisation,
    MissingWordOdds,
    PartsOfSpeech,
    feature_buckets,
    find_heads,
    gaps as room,
    learn_gaps,
    transform_checked,
)
from disambig.tasks import OwnCandidates
from disambig.text import END_HASH, SENTENCE_START, START_HASH, Words, hash_word

WHO = "She He Anna Paul We They".split()
WHAT = "music songs plans news work".split()
TEXTS = [f"{a} listened to {b} then. {a} discussed {b} loudly." for a in WHO for b in WHAT]


@pytest.fixture(scope="module")
def gaps():
    return learn_gaps([Words()(TEXTS)] * 8, ["to", "at"], bits=14, header={"licence": "none"})


def odds_before(gaps, text, word):
    view = Words()([text])
    at = np.flatnonzero(view.hashes == hash_word(word.lower()))
    return float(gaps.log_odds(view, at - 1, at)[0])


def test_an_obvious_pattern_is_learned_from_the_words_around(gaps):
    assert odds_before(gaps, "Maria listened music then.", "music") > 1
    assert odds_before(gaps, "Maria discussed music loudly.", "music") < -1
    assert odds_before(gaps, "Maria listened music then.", "then") < -1
    one, other = (Words()([f"Anna listened {word} music then."]) for word in ("to", "quietly"))
    place = np.array([2]), np.array([4])  # after the start of the sentence
    assert gaps.log_odds(one, *place) == gaps.log_odds(other, *place)


def test_places_end_with_the_sentence(gaps):
    view = Words()(["We like music. They listened"])
    first = np.flatnonzero(view.hashes == hash_word("they"))
    assert view.hashes[first - 1] == START_HASH and view.hashes[first - 2] == END_HASH
    alone = Words()(["They listened"])
    assert gaps.log_odds(view, first - 1, first) == gaps.log_odds(alone, np.array([0]), np.array([1]))
    last = np.array([len(view) - 1])
    assert gaps.log_odds(view, last - 1, last) == gaps.log_odds(alone, np.array([2]), np.array([3]))


def by_hand(view, left, right, bits):
    """Return the features of each place, computed one at a time."""
    hashes = view.hashes.tolist()
    rows = []
    for i, j in zip(left.tolist(), right.tolist(), strict=True):
        k = hashes[i] if hashes[i] == START_HASH or i == 0 else hashes[i - 1]
        s = hashes[j] if hashes[j] == END_HASH or j + 1 == len(hashes) else hashes[j + 1]
        row = []
        for seed, factors in zip(SEEDS.tolist(), MULTIPLIERS.tolist(), strict=True):
            around = k, hashes[i], hashes[j], s
            total = seed + sum(f * word for f, word in zip(factors, around, strict=True))
            row.append((total % 2**64) >> (64 - bits))
        rows.append(row)
    return np.array(rows, np.uint64).T


@pytest.mark.parametrize("numba", [False, True])
def test_both_backends_return_the_sum_by_hand(gaps, monkeypatch, numba):
    monkeypatch.setattr(room, "use_numba", lambda size: numba)
    monkeypatch.setattr(room, "_BLOCK", 7)
    view = Words()(["", "Go.", *TEXTS[:3], "Well, listened to the end"])
    right = np.arange(1, len(view))
    left = right - 1
    result = by_hand(view, left, right, 14)
    assert np.array_equal(feature_buckets(view.hashes, left, right, 14), result)
    sums = gaps.weights[result].astype(int).sum(axis=0)
    assert gaps.log_odds(view, left, right) == pytest.approx(sums * gaps.header["scale"], rel=1e-6)
    assert gaps.log_odds(view, left[:0], right[:0]).shape == (0,)


def test_saving_and_loading_and_words_of_another_tokenisation(gaps, tmp_path):
    gaps.save(tmp_path / "new" / "gaps")
    again = Gaps.load(tmp_path / "new" / "gaps")
    assert again.header == gaps.header and np.array_equal(again.weights, gaps.weights)
    assert again.header["licence"] == "none" and again.header["tokenisation"] == Words.name
    other = Gaps(gaps.weights, {**gaps.header, "tokenisation": "web1t.v1"})
    with pytest.raises(UserError, match=r"D425.*web1t.v1.*disambig.words.v1"):
        odds_before(other, "They listened music.", "music")


def changed_header(folder, **changes):
    header = json.loads((folder / "header.json").read_text())
    (folder / "header.json").write_text(json.dumps({**header, **changes}))


@pytest.mark.parametrize(
    "spoil",
    [
        *spoiled_folders("weights.npz"),
        lambda folder: np.savez(folder / "weights.npz", other=np.zeros(4, np.int8)),
        lambda folder: np.savez(folder / "weights.npz", weights=np.zeros(4)),
        lambda folder: np.savez(folder / "weights.npz", weights=np.zeros(6, np.int8)),
        lambda folder: np.savez(folder / "weights.npz", weights=np.zeros((2, 2), np.int8)),
        lambda folder: changed_header(folder, tokenisation=3),
        lambda folder: changed_header(folder, scale=0.0),
        lambda folder: changed_header(folder, scale="large"),
    ],
)
def test_broken_files_are_refused(gaps, tmp_path, spoil):
    gaps.save(tmp_path)
    spoil(tmp_path)
    with pytest.raises(UserError, match="D424") as caught:
        Gaps.load(tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("texts", [[], [[]], [[""]], [["Hm."]]])
def test_texts_without_places_are_an_error(texts):
    with pytest.raises(ValueError, match="no text"):
        learn_gaps([Words()(item) for item in texts], ["to"], bits=8)


def test_only_the_empty_candidate_has_an_attribute(gaps, tmp_path):
    gaps.save(tmp_path)
    view, extractor = Words()(["They listened music then."]), MissingWordOdds(gaps=tmp_path)
    task = OwnCandidates(candidates=["to", "at", ""])
    instances = task.instances(view)
    values = transform_checked(extractor, view, instances, task.groups[0]).batch.values
    assert values.shape == (3, 3, 1) and not values[:, :2].any()
    assert values[:, 2, 0].tolist() == (-gaps.log_odds(view, np.arange(1, 4), np.arange(2, 5))).tolist()
    assert values[1, 2, 0] < 0 < values[2, 2, 0]  # "listened music" lacks a word, "music then" does not
    words = transform_checked(extractor, view, instances.take([]), Group("to/at", ("to", "at")))
    assert words.batch.values.shape == (0, 2, 1) and not words.n_hits.any()


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
HEADWORD_TEXTS = [
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
        for text in HEADWORD_TEXTS:  # in two or more batches, like long texts
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
    expected = {
        "to": 3, "listen to": 2, "to music": 2, "listen to music": 2,
        "listens to": 1, "to them": 1, "listens to them": 1,
        "of": 2, "music of": 1, "of town": 1, "music of town": 1,
        "list of": 1, "of users": 1, "list of users": 1, "provide * of": 1, "provide * of users": 1,
        "with": 1, "users with": 1, "with access": 1, "users with access": 1,
        "provide * with": 1, "provide * with access": 1,
    }  # fmt: skip
    assert {text: table.count(text, tokenisation=HEADWORD_TOKENISATION) for text in expected} == expected
    assert table.n_ngrams == len(expected)
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
    assert not features.n_hits.any() and not features.n_queries.any()


def test_evidence(counts, folder):
    view, instances = place("They listen often _ old music")
    result = Headwords(counts=counts, parts_of_speech=folder).evidence(view, instances, GROUP)
    named = {key: (item.text, item.count) for key, item in result.items()}
    assert named["to", "governor _ object"] == ("listen to music", 2)
    assert named["of", "_ object"] == ("of music", 0)
    assert named["no word", "governor _"] == ("listen <0>", 0)
    assert not any("verb" in pattern for _, pattern in named)  # one of them is the governor
    place_of_users = place("We provide the users _")
    result = Headwords(counts=counts, parts_of_speech=folder).evidence(*place_of_users, GROUP)
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
def test_broken_files_of_parts_of_speech_are_refused(tmp_path, spoil):
    PARTS.save(tmp_path)
    spoil(tmp_path)
    with pytest.raises(UserError, match="D438"):
        PartsOfSpeech.load(tmp_path)
