"""Patterns with a gap: counted beside the n-grams, queried with a `*`."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from counts_by_hand import any_sentences, count_slowly, counted, key_of, make_view
from hypothesis import given, settings, strategies as st

from disambig import registry
from disambig.counts import (
    PATTERN,
    CountTable,
    NgramCounter,
    build_table,
    describe_table,
    least_counts,
    merged_partitions,
    ngram_words,
)
from disambig.errors import UserError
from disambig.features import HEADWORD_TOKENISATION as HEADWORDS
from disambig.text import GAP, GAP_HASH, Words, hash_word


def count_patterns_slowly(any_sentences, orders, keep=None, pairs=()):
    """Count the slow way."""
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
    assert result == {key_of(n): (count, kind) for n, (count, kind) in true.items() if count >= least[n]}
    assert sum(counter.kept) == len(result)


def test_a_pair_does_not_span_a_gap():
    text = [["it", "may", "be", "so", "now"]]
    pairs = [(hash_word("may"), hash_word("be"))]
    with NgramCounter(Words.name, orders=4, gaps=True, keep_words=[], keep_pairs=pairs) as counter:
        counter.add(make_view(text))
        result = {key for key, (_, kind) in counted(counter).items() if kind > 5}
    expected = count_patterns_slowly(text, 4, set(), [("may", "be")])
    assert set(expected) == {("may", "be", GAP, "now")}
    assert result == {key_of(pattern) for pattern in expected}


def test_sentence_boundaries_do_not_fill_a_gap():
    text = [["a", "<S>", "b"], ["a", "</S>", "b"], ["a", "x", "b"]]
    with NgramCounter(Words.name, gaps=True) as counter:
        counter.add(make_view(text))
        assert counted(counter)[key_of(["a", GAP, "b"])] == (1, 6)


@given(st.lists(st.sampled_from(["<*>", "<", "*", ">", " ", "a", ".", "<S>"])).map("".join) | st.text())
def test_no_tokenisation_gives_the_gap_symbol(text):
    for name in registry.load_all("tokenisations"):
        cut = registry.get("tokenisations", name)()
        assert GAP not in cut.words(text)
        if name != HEADWORDS:  # which cuts no running text
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


def test_gaps_for_experiments():
    result = {}
    for keys, counts, kinds in merged_partitions(["a b c d"], Words(), gaps=True, orders=4):
        assert kinds.max() <= 4 + PATTERN
        result |= dict(zip(keys.tolist(), counts.tolist(), strict=True))
    assert result[key_of(["b", GAP, "d"])] == 1
    assert result[key_of(["a", "b", GAP, "d"])] == 1
