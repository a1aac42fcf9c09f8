"""Counts of n-grams and of patterns with a gap equal those of collections.Counter in any memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from counts_by_hand import any_sentences, compute_key, count_slowly, counted, make_view
from hypothesis import given, settings, strategies as st

from disambig import registry
from disambig.counts import (
    PATTERN,
    CountTable,
    NgramCounter,
    batches,
    build_table,
    describe_table,
    least_counts,
    ngram_words,
    runs as merging,
)
from disambig.errors import UserError
from disambig.features import HEADWORD_TOKENISATION as HEADWORDS
from disambig.text import GAP, GAP_HASH, Web1T, Words, hash_word, hash_words


@settings(max_examples=60, deadline=None)
@given(
    st.lists(any_sentences, max_size=3),
    st.integers(1, 5),
    st.sampled_from([1, 3, 10, 10_000]),
    st.none() | st.sets(st.sampled_from(["a", "d", "z"])),
    st.dictionaries(st.integers(1, 5), st.integers(1, 4)),
)
def test_counts_equal_a_counter(views, orders, capacity, keep, min_counts):
    true = count_slowly([s for view in views for s in view], orders, keep)
    hashes = None if keep is None else [hash_word(word) for word in keep]
    with NgramCounter(Words.name, orders=orders, keep_words=hashes, capacity=capacity) as counter:
        for view in views:
            counter.add(make_view(view))
        result = counted(counter, min_counts=min_counts)
        again = counted(counter)
        if capacity < 3 and true:
            assert counter.spilled or max(counter.totals) <= capacity
    least = least_counts(min_counts, orders=orders)
    assert result == {
        compute_key(ngram): (count, len(ngram)) for ngram, count in true.items() if count >= least[len(ngram)]
    }
    assert again == {compute_key(ngram): (count, len(ngram)) for ngram, count in true.items()}
    by_order = Counter(len(ngram) for ngram in true)
    assert counter.distinct == [by_order[n] for n in range(1, orders + 1)]
    sums = Counter()
    for ngram, count in true.items():
        sums[len(ngram)] += count
    assert counter.totals == [sums[n] for n in range(1, orders + 1)]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 2**40)), max_size=60),
    st.sampled_from([2, 7, 1000]),
    st.integers(1, 9),
)
def test_imported_counts_add_up(pairs, capacity, size):
    true = Counter()
    for word, count in pairs:
        true[word] += count
    with NgramCounter(Words.name, orders=2, capacity=capacity) as counter:
        for at in range(0, len(pairs), size):
            part = pairs[at : at + size]
            keys = np.array([compute_key([word]) for word, _ in part], dtype=np.uint64)
            counter.add_counts(keys, np.array([count for _, count in part], dtype=np.uint64), 1)
        assert counted(counter) == {compute_key([word]): (count, 1) for word, count in true.items()}
        assert counter.totals == [sum(true.values()), 0]


def random_sentences(n, rng=None):
    rng = rng or np.random.default_rng(0)
    words = [f"w{i}" for i in range(300)]
    return [[words[i] for i in np.minimum(rng.zipf(1.3, rng.integers(1, 30)), 300) - 1] for _ in range(n)]


@pytest.mark.parametrize("capacity", [700, 100_000])
def test_many_slices_and_runs(capacity, monkeypatch):
    monkeypatch.setattr(merging, "_AT_ONCE", 500)
    text = random_sentences(400)
    with NgramCounter(Words.name, capacity=capacity) as counter:
        for at in range(0, 400, 50):
            counter.add(make_view(text[at : at + 50]))
        result = counted(counter)
        assert (counter.spilled > 25) == (capacity == 700)
    assert result == {compute_key(n): (count, len(n)) for n, count in count_slowly(text, 5).items()}


def test_temporary_files_are_removed_and_large_counts_refused(tmp_path):
    with NgramCounter(Words.name, capacity=10, temporary=tmp_path) as counter:
        counter.add(make_view(random_sentences(20)))
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())
    assert list(batches(["abc", "d", "", "efgh"], size=4)) == [["abc"], ["d", "", "efgh"]]
    assert list(batches([])) == []
    one, many = np.array([7], dtype=np.uint64), np.array([2**59], dtype=np.uint64)
    with NgramCounter(Words.name) as counter:
        counter.add_counts(one, many, 1)
        counter.add_counts(one, many, 2)
        with pytest.raises(UserError, match="D118"):
            counter.add_counts(one, many, 1)


TEXTS = [
    "It's in the house, in the big house. The cat sat in the house!",
    "",
    "In the house of the rising sun; it's in the house.",
]


def split_sentences(texts):
    """Return the sentences of the texts as words, by the tokenisation's method `words`."""
    result = []
    for text in texts:
        for word in Words().words(text):
            if word == "<S>":
                result.append([])
            result[-1].append(word)
    return result


@pytest.mark.parametrize("record", ["exact", "compact", "small"])
def test_text_to_table(tmp_path, record):
    options = {"min_counts": {5: 2}, "record": record, "licence": "CC0", "sources": [{"name": "a.txt"}]}
    table = CountTable.open(build_table(tmp_path / "x.counts", iter(TEXTS), Words(), **options))
    table.verify()
    true = count_slowly(split_sentences(TEXTS), 5)
    for ngram, count in true.items():
        if count <= 7:
            expected = count if len(ngram) < 5 or count >= 2 else 0
            assert table.counts_of_words(hash_words(ngram)[None]).tolist() == [expected], ngram
    info = table.header["info"]
    assert info["licence"] == "CC0"
    assert info["views"] == {Words.name: {"texts": 3, "sources": [{"name": "a.txt"}]}}
    assert info["min_counts"]["5"] == 2
    assert sum(info["ngrams"]["kept"].values()) == table.n_ngrams
    assert info["ngrams"]["seen"]["1"] == sum(c for n, c in true.items() if len(n) == 1)


def test_pairs_of_words_are_kept():
    text = [["it", "may", "be", "so"], ["may", "it", "be"], ["be", "may"]]
    kept = {"keep_words": [hash_word("so")], "keep_pairs": [(hash_word("may"), hash_word("be"))]}
    with NgramCounter(Words.name, orders=3, **kept) as counter:
        counter.add(make_view(text))
        result = counted(counter)
    expected = [ngram for ngram in count_slowly(text, 3) if "so" in ngram or ("may", "be") in pairwise(ngram)]
    assert set(result) == {compute_key(ngram) for ngram in expected}
    assert len(result) == 5


def test_progress_and_errors(tmp_path):
    notes = []
    build_table(tmp_path / "x", TEXTS, Words(), progress=lambda *what: notes.append(what))
    assert notes[0] == ("count", 3, None)
    assert notes[-1][0] == "write"
    assert notes[-1][1] == CountTable.open(tmp_path / "x").n_ngrams
    for name, texts, options, code in (
        ("y", TEXTS, {"orders": 6}, "D111"),
        ("y", TEXTS, {"orders": 0}, "D111"),
        ("y", TEXTS, {"memory": 1000}, "D112"),
        ("y", TEXTS, {"record": "tiny"}, "D108"),
        ("y", [], {}, "D113"),
        ("y", ["", "  \n "], {}, "D113"),
        ("x", TEXTS, {}, "D106"),
    ):
        with pytest.raises(UserError, match=code):
            build_table(tmp_path / name, texts, Words(), **options)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_several_tokenisations_at_once(tmp_path):
    table = CountTable.open(build_table(tmp_path / "x", TEXTS, [Words(), Web1T()]))
    assert table.tokenisations == (Words.name, Web1T.name)
    assert table.count("in the house") == 4
    assert table.count("In the house", tokenisation=Web1T.name) == 1
    assert table.count("It's", tokenisation=Web1T.name) == 1
    assert set(table.header["info"]["views"]) == {Words.name, Web1T.name}
    with pytest.raises(ValueError, match="not of"), NgramCounter(Words.name) as counter:
        counter.add(Web1T()(TEXTS))


def count_patterns_slowly(any_sentences, orders, keep=None, pairs=()):
    """Count patterns with a gap in plain Python."""
    result = Counter()
    for ngram, count in count_slowly(any_sentences, orders).items():
        for gap in range(1, len(ngram) - 1):
            pattern = (*ngram[:gap], GAP, *ngram[gap + 1 :])
            kept = keep is None or keep & set(pattern) or set(pairs) & set(pairwise(pattern))
            if kept and ngram[gap] not in ("<S>", "</S>"):
                result[pattern] += count
    return result


@settings(max_examples=60, deadline=None)
@given(
    any_sentences,
    st.integers(1, 5),
    st.sampled_from([1, 7, 10_000]),
    st.none() | st.sets(st.sampled_from(["a", "d", "z"])),
    st.dictionaries(st.integers(1, 5), st.integers(1, 3)),
)
def test_patterns_are_counted_beside_ngrams(text, orders, capacity, keep, min_counts):
    true = {ngram: (count, len(ngram)) for ngram, count in count_slowly(text, orders, keep).items()}
    for pattern, count in count_patterns_slowly(text, orders, keep).items():
        true[pattern] = (count, len(pattern) + PATTERN)
    hashes = None if keep is None else [hash_word(word) for word in keep]
    options = {"orders": orders, "keep_words": hashes, "capacity": capacity}
    with NgramCounter(Words.name, gaps=True, **options) as counter:
        counter.add(make_view(text))
        result = counted(counter, min_counts=min_counts)
    of_order = least_counts(min_counts, orders=5)
    least = {ngram: of_order[len(ngram)] for ngram in true}
    assert result == {compute_key(n): (count, kind) for n, (count, kind) in true.items() if count >= least[n]}
    assert sum(counter.kept) == len(result)


def test_pairs_do_not_span_a_gap_and_sentence_boundaries_do_not_fill_one():
    text = [["it", "may", "be", "so", "now"]]
    pairs = [(hash_word("may"), hash_word("be"))]
    with NgramCounter(Words.name, orders=4, gaps=True, keep_words=[], keep_pairs=pairs) as counter:
        counter.add(make_view(text))
        result = {key for key, (_, kind) in counted(counter).items() if kind > 5}
    expected = count_patterns_slowly(text, 4, set(), [("may", "be")])
    assert set(expected) == {("may", "be", GAP, "now")}
    assert result == {compute_key(pattern) for pattern in expected}
    text = [["a", "<S>", "b"], ["a", "</S>", "b"], ["a", "x", "b"]]
    with NgramCounter(Words.name, gaps=True) as counter:
        counter.add(make_view(text))
        assert counted(counter)[compute_key(["a", GAP, "b"])] == (1, 6)


@given(st.lists(st.sampled_from(["<*>", "<", "*", ">", " ", "a", ".", "<S>"])).map("".join) | st.text())
def test_no_tokenisation_gives_the_gap_symbol(text):
    for name in registry.load_all("tokenisations"):
        cut = registry.get("tokenisations", name)()
        assert GAP not in cut.words(text)
        if name != HEADWORDS:  # which does not occur in running text
            assert GAP_HASH not in cut([text]).hashes.tolist()


def test_stars_between_words_are_gaps():
    cut = Words()
    for text, words in (
        ("a * b", ["a", GAP, "b"]),
        (" a  * b  c", ["a", GAP, "b", "c"]),
        ("a * * b", ["a", GAP, GAP, "b"]),
        ("<S> * b", ["<S>", GAP, "b"]),
        ("* b", ["*", "b"]),
        ("a * ", ["a", "*"]),
        ("*", ["*"]),
        ("a *b ** c", ["a", "*", "b", "**", "c"]),
    ):
        assert ngram_words(text, cut) == words, text


def test_queries_with_gaps(tmp_path):
    texts = ["It is a fine house. It was a house.", "It is the house."]
    table = CountTable.open(build_table(tmp_path / "x", texts, Words(), gaps=True, min_counts={5: 2}))
    queried = ["it * a", "a * house", "is * house", "<S> * is", "it * a house", "it * the house .", "a * b"]
    assert table.counts_of_texts(queried) == [2, 1, 1, 2, 1, 0, 0]
    assert table.count("is * fine house") == 1
    assert table.gaps == (Words.name,)
    assert table.header["info"]["patterns"]["kept"]["5"] < table.header["info"]["patterns"]["distinct"]["5"]
    assert any("with gap" in line for line in describe_table(table))
    with pytest.raises(UserError, match=r"D117.*one gap"):
        table.count("a * * b")
    with pytest.raises(UserError, match=r"D117.*--gaps"):
        CountTable.open(build_table(tmp_path / "y", texts, Words())).count("a * b")


def test_tokens_that_are_not_valid_are_not_counted(tmp_path):
    class WithoutMarks(Words):
        def __call__(self, texts):
            view = super().__call__(texts)
            return replace(view, hashes=view.hashes + np.uint64(1))

    with pytest.raises(UserError, match=r"D414.*sentence 0 of its view begins or ends with another token"):
        build_table(tmp_path / "x.counts", ["in the house"], WithoutMarks())
    assert not list(tmp_path.iterdir())
