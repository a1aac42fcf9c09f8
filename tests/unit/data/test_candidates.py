"""Candidates: per-instance lists, their hashes, tables of several groups; decisions of documents."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_array

from disambig.data import (
    CandidateLists,
    CandidateWords,
    Decisions,
    Group,
    Instances,
    Interned,
    Predictions,
    ScoreBatch,
    distinct_texts,
    finder as cut_candidates,
    follow_case,
    hash_candidates,
    join_texts,
    neighbour_words,
    offsets_from_sizes,
    take_texts,
)
from disambig.models import join_pieces
from disambig.text import SENTENCE_END, SENTENCE_START, Web1T, Words, hash_word, hash_words

GROUP = Group("list", ())
LISTS = [["a"], ["b", "c", "d"], ["e", "f"], ["g", "h", "i", "j"]]


def candidates(lists=LISTS):
    candidate_lists = CandidateLists.from_texts(lists)
    n = len(candidate_lists.texts)
    return replace(
        candidate_lists,
        scores=np.arange(n) / 2,
        costs=np.arange(n, dtype=np.float32),
        features=csr_array(np.arange(2 * n, dtype=float).reshape(n, 2)),
        feature_names=("x", "y"),
    )


def instances(observed=(-1, -1, -1, -1), lists=None):
    n = len(observed)
    zeros = np.zeros(n, np.int32)
    lists = candidates() if lists is None else lists
    return Instances(np.arange(n), zeros + 1, zeros, np.array(observed, np.int32), lists)


def test_lists_from_texts():
    candidate_lists = CandidateLists.from_texts(LISTS)
    assert (
        len(candidate_lists) == 4
        and candidate_lists.offsets.tolist() == [0, 1, 4, 6, 10]
        and candidate_lists.offsets.dtype == np.int64
    )
    assert candidate_lists.ranks.tolist() == [0, 0, 1, 2, 0, 1, 0, 1, 2, 3]
    assert (
        not candidate_lists.scores.any()
        and np.isnan(candidate_lists.costs).all()
        and candidate_lists.features is None
    )
    assert [candidate_lists.instance_candidates(i) for i in range(4)] == [tuple(item) for item in LISTS]
    assert len(CandidateLists.from_texts([])) == 0
    for lists in (["ab"], "ab", [["a"], "ab"]):
        with pytest.raises(TypeError, match="expected a list of texts for each instance"):
            CandidateLists.from_texts(lists)


@given(st.lists(st.integers(0, 3), max_size=8))
def test_taking_lists_in_any_order(index):
    lists, rows = candidates(), np.array(index, np.int64)
    taken = lists.take(rows)
    assert [taken.instance_candidates(i) for i in range(len(taken))] == [
        lists.instance_candidates(i) for i in index
    ]
    at = np.concatenate([np.arange(lists.offsets[i], lists.offsets[i + 1]) for i in index] or [rows])
    for name in ("scores", "ranks", "costs"):
        assert np.array_equal(getattr(taken, name), getattr(lists, name)[at]), name
    assert np.array_equal(taken.features.toarray(), lists.features.toarray()[at])
    assert taken.feature_names == ("x", "y")


@pytest.mark.parametrize("index", [slice(1, 3), np.array([False, True, True, False]), np.array([1, 2])])
def test_slices_masks_and_numbers(index):
    taken = candidates().take(index)
    assert [taken.instance_candidates(i) for i in range(2)] == [("b", "c", "d"), ("e", "f")]
    assert instances().take(index).lists.offsets.tolist() == [0, 3, 5]


def test_parts_are_joined_again():
    lists = candidates()
    again = CandidateLists.joined([lists.take(slice(0, 1)), lists.take(slice(1, 4))])
    assert again.offsets.tolist() == lists.offsets.tolist() and again.texts == lists.texts
    for name in ("scores", "ranks", "costs"):
        assert np.array_equal(getattr(again, name), getattr(lists, name)), name
    assert np.array_equal(again.features.toarray(), lists.features.toarray())
    assert CandidateLists.joined([CandidateLists.from_texts([["a"]])] * 2).features is None


def test_sizes_and_offsets_of_instances():
    built = instances()
    assert built.sizes(GROUP).tolist() == [1, 3, 2, 4]
    assert built.offsets(GROUP).tolist() == [0, 1, 4, 6, 10]
    plain = replace(built, lists=None)
    three = Group("g", ("x", "y", "z"))
    assert plain.sizes(three).tolist() == [3] * 4 and plain.offsets(three).tolist() == [0, 3, 6, 9, 12]


def test_known_costs_are_kept_and_others_follow_from_the_observed():
    lists = candidates()
    beyond = [0, 0, 1, 2, 0, 1, 0, 1, 2, 3]  # the cost of each above that of the cheapest one in its list
    assert instances((0, 2, 0, 1)).costs(GROUP).tolist() == beyond
    unknown = replace(lists, costs=np.full(10, np.nan, np.float32))
    expected = [0, 1, 1, 0, 0, 1, 1, 1, 1, 1]
    assert instances((0, 2, 0, -1), unknown).costs(GROUP).tolist() == expected
    some = lists.costs.copy()
    some[3] = some[7] = np.nan  # the right candidate of the second list, a wrong one of the last
    by_list = [[0], [1, 1, 0], [0, 1], [0, 1, 1, 1]]  # a list with some costs but not all has none
    costs = instances((0, 2, 0, 0), replace(lists, costs=some)).costs(GROUP)
    assert costs.tolist() == [cost for item in by_list for cost in item]
    fixed = replace(instances((1, -1, 0, 2)), lists=None).costs(Group("g", ("x", "y", "z")))
    assert fixed.reshape(4, 3).tolist() == [[1, 0, 1], [1, 1, 1], [0, 1, 1], [1, 1, 0]]


def test_without_labels_there_are_no_costs():
    built = instances((0, 2, 0, 1)).without_labels()
    assert (built.observed == -1).all() and np.isnan(built.lists.costs).all()
    assert (built.costs(GROUP) == 1).all()
    assert np.array_equal(built.lists.scores, candidates().scores)  # the scores of the source can be used


def decisions():
    n = 4
    return Decisions(
        task="rerank",
        model="m 1",
        table=(GROUP,),
        documents=np.array([0, 0, 2, 2], np.int32),
        starts=np.array([0, 2, 0, 2], np.int32),
        ends=np.array([1, 3, 1, 3], np.int32),
        groups=np.zeros(n, np.int32),
        observed=np.array([0, -1, 1, -1], np.int32),
        chosen=np.array([0, 2, 1, 3], np.int32),
        offsets=candidates().offsets,
        scores=np.arange(10, dtype=np.float32),
        margins=np.ones(n, np.float32),
        probabilities=np.full(n, 0.5, np.float32),
        flagged=np.zeros(n, bool),
        n_hits=np.zeros(n, np.int32),
        n_queries=np.zeros(n, np.int32),
        lists=candidates(),
    )


TEXT = "a x"


def test_a_record_of_per_instance_candidates():
    record = decisions().record(1, TEXT)
    assert record["chosen"] == "d" and record["observed"] == record["replacement"] == "x"
    assert record["candidates"] == (("d", 3.0), ("c", 2.0), ("b", 1.0))
    assert (record["base"], record["rank"]) == (1.5, 2)
    assert decisions().candidate_texts(3) == ("g", "h", "i", "j")


def test_decisions_with_lists_are_sliced_taken_and_divided_by_documents():
    built = decisions()
    expected = [built.record(i, TEXT) for i in range(4)]
    assert [built.slice(1, 3).record(i, TEXT) for i in range(2)] == expected[1:3]
    backwards = built.take(np.array([3, 1]))
    assert [backwards.record(i, TEXT) for i in range(2)] == [expected[3], expected[1]]
    parts = [built.in_document(document) for document in range(3)]
    assert [len(part) for part in parts] == [2, 0, 2] and len(parts[1].lists) == 0
    assert [part.record(i, TEXT) for part in parts for i in range(len(part))] == expected


def test_pieces_of_a_document_are_joined_with_their_lists():
    built = decisions()
    first, second = built.in_document(0), built.in_document(2)
    (joined,) = join_pieces([([first], 0), ([second], 100)])
    assert joined.starts.tolist() == [0, 2, 100, 102] and joined.offsets.tolist() == built.offsets.tolist()
    assert [joined.candidate_texts(i) for i in range(4)] == [built.candidate_texts(i) for i in range(4)]
    assert np.array_equal(joined.lists.ranks, built.lists.ranks)


WORDS = st.lists(st.sampled_from(["the", "cat", "猫", "が", "いる", "."]), max_size=4)
SOME_LISTS = st.lists(st.lists(WORDS, min_size=1, max_size=3), max_size=5)


def make_tags(words):
    """Return a tag that depends on the word only, so that a test can follow it."""
    return [f"{len(word)} letters" for word in words]


def lists_of_words(lists, tagged=True):
    """Draw lists of candidates with their words and a vocabulary of their own."""
    words = [item for candidates in lists for item in candidates]
    message = CandidateWords.from_words(words, [make_tags(item) for item in words] if tagged else None)
    candidate_lists = CandidateLists.from_texts(
        [[" ".join(item) for item in candidates] for candidates in lists]
    )
    return replace(candidate_lists, words=message)


def words_and_tags(lists):
    """Return the words, tags and text of each candidate."""
    words = lists.words
    return [
        (lists.texts[row], words.candidate_words(row), words.candidate_tags(row)) for row in range(len(words))
    ]


def test_columns_of_candidate_words():
    words = CandidateWords.from_words([["a", "b", "a"], [], ["b"]], [["x", "y", "x"], [], ["z"]])
    assert words.ids.tolist() == [0, 1, 0, 1] and words.ids.dtype == np.int32
    assert words.offsets.tolist() == [0, 3, 3, 4] and words.offsets.dtype == np.int64
    assert list(words.spellings) == ["a", "b"] and words.tag_names == ("x", "y", "z")
    assert words.tags.tolist() == [0, 1, 0, 2] and len(words) == 3
    assert words.candidate_words(1) == () and words.candidate_tags(2) == ("z",)
    bare = CandidateWords.from_words([["a"]])
    assert bare.tags is None and bare.candidate_tags(0) == ()


def test_rejects_invalid_words():
    with pytest.raises(ValueError, match="a tag for each word"):
        CandidateWords.from_words([["a", "b"]], [["x"]])
    with pytest.raises(ValueError, match="a tag for each word"):
        CandidateWords(np.zeros(2, np.int32), np.array([0, 2]), ["a"], np.zeros(1, np.int16), ("x",))
    with pytest.raises(ValueError, match="offsets of words"):
        CandidateWords(np.zeros(2, np.int32), np.array([0, 1]), ["a"])
    with pytest.raises(ValueError, match="words of 1 candidates, and there are 2"):
        replace(CandidateLists.from_texts([["a", "b"]]), words=CandidateWords.from_words([["a"]]))


@given(SOME_LISTS, st.data())
def test_taking_candidates_takes_their_words(lists, data):
    candidate_lists = lists_of_words(lists)
    order = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=6)) if lists else []
    expected = [
        row for i in order for row in range(candidate_lists.offsets[i], candidate_lists.offsets[i + 1])
    ]
    taken = candidate_lists.take(np.array(order, np.int64))
    assert words_and_tags(taken) == [words_and_tags(candidate_lists)[row] for row in expected]
    assert taken.words.spellings is candidate_lists.words.spellings


@given(st.lists(SOME_LISTS, min_size=1, max_size=4))
def test_parts_of_different_vocabularies_are_joined(parts):
    built = [lists_of_words(lists) for lists in parts]
    joined = CandidateLists.joined(built)
    expected = [row for candidate_lists in built for row in words_and_tags(candidate_lists)]
    if not expected:  # there are no candidates
        assert joined.words is None or not len(joined.words)
        return
    assert words_and_tags(joined) == expected
    assert len(set(joined.words.spellings)) == len(joined.words.spellings)
    assert joined.words.ids.dtype == np.int32 and joined.words.offsets.dtype == np.int64


@given(SOME_LISTS, st.integers(0, 5))
def test_split_lists_are_joined_again(lists, at):
    candidate_lists = lists_of_words(lists)
    again = CandidateLists.joined([candidate_lists.take(slice(0, at)), candidate_lists.take(slice(at, None))])
    if lists:
        assert (
            words_and_tags(again) == words_and_tags(candidate_lists)
            and again.words.spellings is candidate_lists.words.spellings
        )


def test_some_parts_share_a_vocabulary_and_others_do_not():
    one, two = lists_of_words([[["a", "b"]], [["b"]]]), lists_of_words([[["b", "c"]]])
    joined = CandidateLists.joined([one.take([1]), two, one.take([0])])
    assert [joined.words.candidate_words(row) for row in range(3)] == [("b",), ("b", "c"), ("a", "b")]


def test_words_and_tags_are_all_or_none():
    tagged, bare, none = (
        lists_of_words([[["a"]]]),
        lists_of_words([[["b"]]], tagged=False),
        CandidateLists.from_texts([["c"]]),
    )
    assert CandidateLists.joined([tagged, none]).words is None
    both = CandidateLists.joined([tagged, bare]).words
    assert both.tags is None and both.candidate_words(1) == ("b",)
    empty = CandidateLists.from_texts([])
    assert CandidateLists.joined([empty, tagged]).words.candidate_tags(0) == ("1 letters",)
    no_words = lists_of_words([[[]]], tagged=False)  # a candidate without words is compatible with tags
    assert CandidateLists.joined([no_words, tagged]).words.candidate_tags(1) == ("1 letters",)


def test_instances_keep_the_words():
    lists, zeros = lists_of_words([[["a"], ["b"]], [["c"]]]), np.zeros(2, np.int32)
    instances = Instances(np.arange(2), zeros, zeros, zeros, lists)
    assert instances.take(np.array([1])).without_labels().lists.words.candidate_words(0) == ("c",)


SPELLINGS = ["a", "", "an", "the", "never"]
spelling_numbers = st.lists(st.integers(0, 3), max_size=12).map(lambda item: np.array(item, np.int64))


def as_list(texts):
    return [SPELLINGS[i] for i in texts.numbers]


@given(spelling_numbers, st.data())
def test_interned_texts_are_a_sequence(given_numbers, data):
    texts = Interned(SPELLINGS, given_numbers)
    assert list(texts) == texts[:] == as_list(texts)
    assert len(texts) == len(given_numbers)
    rows = np.array(data.draw(st.lists(st.integers(0, max(len(texts) - 1, 0)), max_size=5)), np.int64)
    rows = rows[: len(rows) * (len(texts) > 0)]
    assert (
        list(take_texts(texts, rows)) == take_texts(as_list(texts), rows) == [texts[int(row)] for row in rows]
    )


@given(st.lists(spelling_numbers, max_size=4))
def test_joining_texts_of_the_same_spellings(parts):
    texts = [Interned(SPELLINGS, part) for part in parts]
    result = join_texts(texts)
    assert list(result) == [text for part in texts for text in part]
    assert isinstance(result, Interned) == bool(parts)


def test_joining_texts_of_other_spellings():
    one, other = Interned(SPELLINGS, np.array([0])), Interned(["x"], np.array([0]))
    assert list(join_texts([one, other])) == join_texts([["a"], ["x"]]) == ["a", "x"]
    assert list(join_texts([["a"], one])) == ["a", "a"]
    assert isinstance(join_texts([["a"], one]), Interned)


@given(spelling_numbers)
def test_distinct_texts(given_numbers):
    texts = Interned(SPELLINGS, given_numbers)
    for given_texts in (texts, as_list(texts)):
        result, index = distinct_texts(given_texts)
        assert len(result) == len(set(result)) and set(result) == set(as_list(texts))
        assert [result[i] for i in index] == as_list(texts)


def test_lists_keep_interned_texts():
    lists = CandidateLists.from_texts([("a", "an"), ("the",), ("", "a")])
    rows = np.array([0, 2, 3, 1, 0])
    candidate_lists = CandidateLists(
        lists.offsets, Interned(SPELLINGS, rows), lists.scores, lists.ranks, lists.costs
    )
    some = candidate_lists.take(np.array([2, 0]))
    assert (
        isinstance(some.texts, Interned)
        and some.instance_candidates(0) == ("", "a")
        and some.instance_candidates(1) == ("a", "an")
    )
    both = CandidateLists.joined([candidate_lists, some])
    assert isinstance(both.texts, Interned) and both.instance_candidates(4) == ("a", "an")


CANDIDATE_TEXTS = ["in", "", "in spite of", "well-known", "in", "IN", "."]
TOKENS = [["in"], [], ["in", "spite", "of"], ["well", "-", "known"], ["in"], ["in"], ["."]]


@pytest.fixture
def nothing_kept(monkeypatch):
    monkeypatch.setattr(cut_candidates, "_cached_words", {})


def hash_texts(texts, tokenisation=Words.name):
    words, lengths = hash_candidates(texts, tokenisation)
    assert not words[np.arange(words.shape[1]) >= lengths[:, None]].any()
    return [row[:n].tolist() for row, n in zip(words, lengths.tolist(), strict=True)]


@pytest.mark.parametrize("most", [1000, 3, 0])
def test_hashes_of_candidates_equal_those_of_texts(nothing_kept, most, monkeypatch):
    monkeypatch.setattr(cut_candidates, "MAX_CACHED", most)
    expected = [list(map(hash_word, words)) for words in TOKENS]
    for _ in range(2):
        for i, text in enumerate(CANDIDATE_TEXTS):
            assert hash_texts([text]) == [expected[i]]
        assert hash_texts(CANDIDATE_TEXTS) == expected
        assert hash_texts(Interned(CANDIDATE_TEXTS, np.array([2, 2, 1]))) == [
            expected[2],
            expected[2],
            expected[1],
        ]
        assert sum(map(len, cut_candidates._cached_words.values())) <= most
    words, lengths = hash_candidates([], Words.name)
    assert words.shape == (0, 1) and lengths.shape == (0,)


def test_hashes_of_candidates_are_cached_per_tokenisation(nothing_kept, monkeypatch):
    first = hash_texts(CANDIDATE_TEXTS)
    assert hash_texts(["IN"], Web1T.name) == [[hash_word("IN")]]
    monkeypatch.setattr(cut_candidates, "_tokenise_texts", None)
    assert hash_texts(CANDIDATE_TEXTS[::-1]) == first[::-1]


GROUPS = (Group("two", ("a", "b")), Group("three", ("c", "d", "e")), Group("one", ("f",)))


def make_scores(g, n, *, listed=False, seed=0):
    """Return random scores of n instances of a group, or of lists of one to three candidates."""
    rng = np.random.default_rng((seed, g, n))
    sizes = rng.integers(1, 4, n) if listed else np.full(n, len(GROUPS[g].candidates))
    offsets = offsets_from_sizes(sizes)
    m = int(offsets[-1])
    counts = rng.integers(0, 9, m).astype(np.int32)
    columns = rng.normal(size=m), rng.integers(0, sizes).astype(np.int32), counts, counts + 1
    lists = CandidateLists.from_texts([[f"{i}" for i in range(size)] for size in sizes]) if listed else None
    return ScoreBatch.from_group(
        GROUPS[g], g, offsets, *columns, rng.random(m).astype(np.float32), lists=lists
    )


def choose_first(scored):
    """Decide for the first candidate, by the number of the group."""
    n = len(scored)
    first = scored.scores[scored.offsets[:-1]]
    return Predictions(np.zeros(n, np.int64), first, np.full(n, scored.number), first > 0, first < 9)


ANY_PARTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=5)


@given(ANY_PARTS, st.booleans())
def test_joining_and_splitting_by_group(parts, listed):
    batches = [make_scores(g, n, listed=listed) for g, n in parts]
    joined = ScoreBatch.joined(batches)
    assert len(joined) == sum(map(len, batches)) == len(joined.sizes)
    given_back = [batch for batch in batches if len(batch)] if len(batches) > 1 else batches
    for one, (index, part) in zip(given_back, joined.by_group(), strict=True):
        assert part.group is one.group and part.number == one.number and len(index) == len(one)
        for name in ("offsets", "scores", "observed", "n_hits", "n_queries", "cost"):
            assert np.array_equal(getattr(part, name), getattr(one, name)), name
        assert (part.lists is not None) == listed
        assert not listed or list(part.lists.texts) == list(one.lists.texts)


@given(ANY_PARTS, st.booleans(), st.integers(0, 9))
def test_groups_are_decided_in_any_order(parts, listed, seed):
    joined = ScoreBatch.joined([make_scores(g, n, listed=listed, seed=seed) for g, n in parts])
    order = np.random.default_rng(seed).permutation(len(joined))
    mixed = Predictions.by_group(joined.take(order), choose_first)
    in_order = Predictions.by_group(joined, choose_first)
    for field in fields(Predictions):
        assert np.array_equal(getattr(mixed, field.name), getattr(in_order, field.name)[order])
    doubled = joined.take(order).map_groups(lambda part: part.scores * 2)
    assert np.array_equal(doubled, joined.take(order).scores * 2)
    if len(joined):
        assert joined.map_groups(lambda part: None) is None


def test_several_groups_have_no_only_group():
    joined = ScoreBatch.joined([make_scores(0, 1), make_scores(1, 1)])
    for name in ("group", "number"):
        with pytest.raises(ValueError, match="too many values"):
            getattr(joined, name)


def test_missing_neighbours_are_unknown():
    complete, unknown = make_scores(0, 2), make_scores(1, 1)
    complete = ScoreBatch(
        **{f.name: getattr(complete, f.name) for f in fields(complete)}
        | {"neighbours": np.ones((2, 2), np.uint64)}
    )
    assert ScoreBatch.joined([complete, unknown]).neighbours.tolist() == [[1, 1], [1, 1], [0, 0]]


def test_instances_know_the_candidates_of_their_groups():
    groups = np.array([1, 0, 1], np.int32)
    instances = Instances(np.arange(3), np.ones(3, np.int32), groups, np.array([0, -1, 2], np.int32))
    assert instances.candidate_offsets(GROUPS).tolist() == [0, 3, 5, 8]
    assert instances.costs_at(instances.candidate_offsets(GROUPS)).tolist() == [0, 1, 1, 1, 1, 1, 1, 0]
    threes = instances.take(groups == 1)
    assert list(threes.texts(GROUPS[1])) == ["c", "d", "e"] * 2
    assert instances.candidates(1, GROUPS[0]) == ("a", "b")
    lists = CandidateLists.from_texts([["x"], ["y", "z"]])
    with_lists = Instances(threes.positions, threes.lengths, threes.groups, threes.observed, lists)
    assert with_lists.candidate_offsets(GROUPS).tolist() == [0, 1, 3]
    assert list(with_lists.texts(GROUPS[1])) == ["x", "y", "z"]
    assert with_lists.candidates(1, GROUPS[1]) == ("y", "z")
    joined = Instances.joined([with_lists, with_lists])
    assert joined.lists.offsets.tolist() == [0, 1, 3, 4, 6] and joined.positions.tolist() == [0, 2, 0, 2]
    assert Instances.joined([threes, instances]).observed.tolist() == [0, 2, 0, -1, 2]


def test_neighbour_words():
    view = Words()(["They may be late"])
    nothing = np.zeros(3, np.int32)
    places = Instances(np.array([1, 2, 5]), np.array([1, 2, 0], np.int32), nothing, nothing)
    expected = [[SENTENCE_START, "may"], ["they", "late"], ["late", SENTENCE_END]]
    assert neighbour_words(view, places).tolist() == [hash_words(pair).tolist() for pair in expected]


TEXTS = ["It is QUITE good, quiet?", "", "A Piece of it."]
TABLE = (Group("quite/quiet", ("quite", "quiet")), Group("peace/piece/peas", ("peace", "piece", "peas")))

DECISIONS = Decisions(
    task="spelling",
    model="toy 1.0",
    table=TABLE,
    documents=np.array([0, 0, 2], np.int32),
    starts=np.array([6, 18, 2], np.int32),
    ends=np.array([11, 23, 7], np.int32),
    groups=np.array([0, 0, 1], np.int32),
    observed=np.array([0, 1, 1], np.int32),
    chosen=np.array([1, 1, 0], np.int32),
    offsets=np.array([0, 2, 4, 7]),
    scores=np.array([1, 2, 0, 3, 5, 4, 4.5], np.float32),
    margins=np.array([1, 3, 0.5], np.float32),
    probabilities=np.array([0.9, 0.01, 0.5], np.float32),
    flagged=np.array([True, False, True]),
    n_hits=np.array([3, 0, 2], np.int32),
    n_queries=np.array([9, 9, 9], np.int32),
)


def test_records_are_plain_and_follow_the_text():
    record = DECISIONS.record(0, TEXTS[0])
    assert record["observed"] == "QUITE"
    assert record["replacement"] == "QUIET"
    assert record["candidates"] == (("quiet", 2.0), ("quite", 1.0))
    assert {type(value) for value in record.values()} == {str, int, bool, float, tuple}
    assert DECISIONS.record(1, TEXTS[0])["replacement"] == "quiet"
    assert DECISIONS.record(2, TEXTS[2])["replacement"] == "Peace"


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        ("its", "it's"),
        ("Its", "It's"),
        ("ITS", "IT'S"),
        ("I", "It's"),
        ("iTs", "it's"),
        ("12", "it's"),
        ("", "it's"),
    ],
)
def test_replacements_follow_the_case_of_the_text(observed, expected):
    assert follow_case("it's", observed) == expected


def test_the_pronoun_i_is_no_initial_capital():
    assert follow_case("have I", "I have") == "have I"
    assert follow_case("we have", "I have") == "We have"


def test_numbers_in_place_of_flags_are_not_turned_into_flags():
    joined = ScoreBatch.joined([make_scores(g, 3, listed=False) for g in (0, 1)])

    def choose(scored):
        made = choose_first(scored)
        return replace(made, flagged=made.margins) if scored.number else made

    assert Predictions.by_group(joined, choose).flagged.dtype.kind == "f"
    assert Predictions.by_group(joined, choose_first).flagged.dtype.kind == "b"


@pytest.mark.parametrize("wrong", [np.ones(1), np.ones((2, 2)), np.float64(0.5)], ids=np.shape)
def test_predictions_of_a_group_are_one_per_instance(wrong):
    joined = ScoreBatch.joined([make_scores(g, 3, listed=False) for g in (0, 1)])
    with pytest.raises(ValueError, match=r"probabilities has the shape .*; expected \(\d+,\)"):
        Predictions.by_group(joined, lambda part: replace(choose_first(part), probabilities=wrong))
