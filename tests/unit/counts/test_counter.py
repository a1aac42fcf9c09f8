"""Counting equals collections.Counter, however little memory there is."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from counts_by_hand import any_sentences, count_slowly, counted, key_of, make_view
from hypothesis import given, settings, strategies as st

from disambig.counts import (
    CountTable,
    NgramCounter,
    batches,
    build_table,
    counter as counters,
    least_counts,
    merged_partitions,
    runs as merging,
)
from disambig.errors import UserError
from disambig.text import Web1T, Words, hash_word, hash_words


@pytest.fixture(scope="module", autouse=True, params=["numpy", "numba"])
def engine(request):
    """Little text is counted with NumPy, much with kernels: all must hold for both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISAMBIG_ENGINE", request.param)
        yield request.param


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
        key_of(ngram): (count, len(ngram)) for ngram, count in true.items() if count >= least[len(ngram)]
    }
    assert again == {key_of(ngram): (count, len(ngram)) for ngram, count in true.items()}
    by_order = Counter(len(ngram) for ngram in true)
    assert counter.distinct == [by_order[n] for n in range(1, orders + 1)]
    assert counter.totals == [
        sum(count for ngram, count in true.items() if len(ngram) == n) for n in range(1, orders + 1)
    ]


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
            keys = np.array([key_of([word]) for word, _ in part], dtype=np.uint64)
            counter.add_counts(keys, np.array([count for _, count in part], dtype=np.uint64), 1)
        assert counted(counter) == {key_of([word]): (count, 1) for word, count in true.items()}
        assert counter.totals == [sum(true.values()), 0]


def random_sentences(n, rng=None):
    rng = rng or np.random.default_rng(0)
    words = [f"w{i}" for i in range(300)]
    return [[words[i] for i in np.minimum(rng.zipf(1.3, rng.integers(1, 30)), 300) - 1] for _ in range(n)]


@pytest.mark.parametrize("capacity", [700, 100_000])
def test_many_slices_and_runs(capacity, monkeypatch):
    monkeypatch.setattr(merging, "_AT_ONCE", 500)
    monkeypatch.setattr(counters, "_SCRATCH", 64)
    text = random_sentences(800)
    with NgramCounter(Words.name, capacity=capacity) as counter:
        for at in range(0, 800, 50):
            counter.add(make_view(text[at : at + 50]))
        result = counted(counter)
        assert (counter.spilled > 50) == (capacity == 700)
    assert result == {key_of(n): (count, len(n)) for n, count in count_slowly(text, 5).items()}


def test_temporary_files_are_removed(tmp_path):
    with NgramCounter(Words.name, capacity=10, temporary=tmp_path) as counter:
        counter.add(make_view(random_sentences(20)))
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


TEXTS = [
    "It's in the house, in the big house. The cat sat in the house!",
    "",
    "In the house of the rising sun; it's in the house.",
]


def words_of(texts):
    """The sentences of the texts, by the tokenisation's own readable form."""
    result = []
    for text in texts:
        for word in Words().words(text):
            if word == "<S>":
                result.append([])
            result[-1].append(word)
    return result


@pytest.mark.parametrize("record", ["exact", "compact", "small"])
def test_text_to_table(tmp_path, record):
    path = build_table(
        tmp_path / "x.counts",
        iter(TEXTS),
        Words(),
        min_counts={5: 2},
        record=record,
        licence="CC0",
        sources=[{"name": "a.txt"}],
    )
    table = CountTable.open(path)
    table.verify()
    true = count_slowly(words_of(TEXTS), 5)
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
    with NgramCounter(
        Words.name, orders=3, keep_words=[hash_word("so")], keep_pairs=[(hash_word("may"), hash_word("be"))]
    ) as counter:
        counter.add(make_view(text))
        result = counted(counter)
    expected = [ngram for ngram in count_slowly(text, 3) if "so" in ngram or ("may", "be") in pairwise(ngram)]
    assert set(result) == {key_of(ngram) for ngram in expected}
    assert len(result) == 5


def test_merged_partitions_and_restriction():
    true = count_slowly(words_of(TEXTS), 3, {"in"})
    result = {}
    for keys, counts, _ in merged_partitions(TEXTS, Words(), orders=3, keep_words=["in"]):
        result |= dict(zip(keys.tolist(), counts.tolist(), strict=True))
    assert result == {key_of(ngram): count for ngram, count in true.items()}


def test_progress_and_errors(tmp_path):
    notes = []
    build_table(tmp_path / "x", TEXTS, Words(), progress=lambda *what: notes.append(what))
    assert notes[0] == ("count", 3, None)
    assert notes[-1][0] == "write"
    assert notes[-1][1] == CountTable.open(tmp_path / "x").n_ngrams
    for options, code in (
        ({"orders": 6}, "D111"),
        ({"orders": 0}, "D111"),
        ({"memory": 1000}, "D112"),
        ({"record": "tiny"}, "D108"),
    ):
        with pytest.raises(UserError, match=code):
            build_table(tmp_path / "y", TEXTS, Words(), **options)
    for nothing in ([], ["", "  \n "]):
        with pytest.raises(UserError, match="D113"):
            build_table(tmp_path / "y", nothing, Words())
    with pytest.raises(UserError, match="D106"):
        build_table(tmp_path / "x", TEXTS, Words())
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_batches():
    assert list(batches(["abc", "d", "", "efgh"], size=4)) == [["abc"], ["d", "", "efgh"]]
    assert list(batches([])) == []


def test_several_tokenisations_at_once(tmp_path):
    table = CountTable.open(build_table(tmp_path / "x", TEXTS, [Words(), Web1T()]))
    assert table.tokenisations == (Words.name, Web1T.name)
    assert table.count("in the house") == 4
    assert table.count("In the house", tokenisation=Web1T.name) == 1
    assert table.count("It's", tokenisation=Web1T.name) == 1
    assert set(table.header["info"]["views"]) == {Words.name, Web1T.name}
    with pytest.raises(ValueError, match="not of"), NgramCounter(Words.name) as counter:
        counter.add(Web1T()(TEXTS))


def test_counts_above_the_limit_are_refused():
    one, many = np.array([7], dtype=np.uint64), np.array([2**59], dtype=np.uint64)
    with NgramCounter(Words.name) as counter:
        counter.add_counts(one, many, 1)
        counter.add_counts(one, many, 2)
        with pytest.raises(UserError, match="D118"):
            counter.add_counts(one, many, 1)
