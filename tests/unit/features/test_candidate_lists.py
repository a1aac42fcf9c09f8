"""N-grams of candidates and bigrams of their content words, compared with plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from disambig.data import CandidateLists, CandidateWords, Group
from disambig.errors import UserError
from disambig.features import (
    HeadwordBigrams,
    TextNgrams,
    candidate_lists as counting,
    known_ngrams_from_state,
    transform_checked,
)
from disambig.formats import list_instances

GROUP = Group("lists", ())
WORDS = st.lists(st.sampled_from(["a", "b", "ab", "猫", "<s>", "</s>", "<", ">"]), max_size=6)
LISTS = st.lists(st.lists(WORDS, min_size=1, max_size=3), max_size=3)
UNITS = ["words", "characters"]


def count_ngrams(text, unit, order):
    """Return the n-grams of a text in plain Python."""
    units = text.split() if unit == "words" else list(text)
    result = Counter(units)
    padded = ["<s>", *units, "</s>"]
    for n in range(2, order + 1):
        for start in range(len(padded) - n + 1):
            result[(" " if unit == "words" else "").join(padded[start : start + n])] += 1
    return result


def kept_names(counts, least):
    """Return the names that are kept, given the counts of each candidate of each list."""
    seen = Counter()
    for texts in counts:
        seen.update(item for item in set().union(*texts) if len({text[item] for text in texts}) > 1)
    return sorted(item for item, n in seen.items() if n >= least)


def make_lists(lists, with_words=False):
    candidate_lists = CandidateLists.from_texts(
        [[" ".join(words) for words in candidates] for candidates in lists]
    )
    every = (words for candidates in lists for words in candidates)
    return replace(candidate_lists, words=CandidateWords.from_words(every)) if with_words else candidate_lists


def shown(features):
    """Return each row as a dict of names and counts."""
    rows, names = features.batch.rows, list(features.batch.columns.names)
    every = [rows[[i]] for i in range(rows.shape[0])]
    return [{names[c]: v for c, v in zip(row.indices, row.data, strict=True)} for row in every]


@given(LISTS, LISTS, st.sampled_from(UNITS), st.integers(1, 5), st.integers(1, 2), *[st.booleans()] * 2)
def test_ngrams_equal_a_plain_count(learned, tried, unit, order, least, with_words, in_blocks):
    """Words given with the lists, with their own vocabulary, count like words split from the text."""
    lists, other = make_lists(learned, with_words), make_lists(tried, with_words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BLOCK", 0 if in_blocks else counting.BLOCK)
        fitted = TextNgrams(unit=unit, order=order, least=least).fit(None, list_instances(lists), ())
        features = transform_checked(fitted, None, list_instances(other), GROUP)
    counts = [[count_ngrams(" ".join(words), unit, order) for words in item] for item in learned]
    names = kept_names(counts, least)
    assert list(fitted.ngrams.names) == names
    plain = [count_ngrams(text, unit, order) for text in other.texts]
    assert shown(features) == [{name: n for name, n in item.items() if name in names} for item in plain]
    assert features.n_queries.tolist() == [len(item) for item in plain]
    assert features.n_hits.tolist() == [sum(name in names for name in item) for item in plain]
    assert features.batch.columns.group_names == (f"n-grams of {unit}",)
    again = TextNgrams(unit=unit, order=order).from_state(fitted.state())
    assert shown(transform_checked(again, None, list_instances(other), GROUP)) == shown(features)


def test_words_with_and_without_spaces():
    """Japanese has no blanks; a blank inside a word is shown as an open box in names."""
    lists = CandidateLists.from_texts([["猫がいる", "New York"]])
    lists = replace(lists, words=CandidateWords.from_words([["猫", "が", "いる"], ["New York"]]))
    result = TextNgrams(least=1).fit(None, list_instances(lists), ())
    names = list(result.ngrams.names)
    assert "猫 が" in names and "New␣York" in names and "New␣York </s>" in names
    two = replace(lists, words=CandidateWords.from_words([["猫"], ["New", "York"]]))
    features = transform_checked(result, None, list_instances(two), GROUP)
    assert shown(features) == [{"<s> 猫": 1.0, "猫": 1.0}, {}]


@pytest.mark.parametrize("unit", UNITS)
def test_a_state_without_keys_is_read(unit):
    """Models of version 0.1.0 contain only the names."""
    lists = make_lists([[["a", "b"], ["b", "a", "a"]], [["a"], ["b"]]])
    fitted = TextNgrams(unit=unit, order=4, least=1).fit(None, list_instances(lists), ())
    state = {name: array for name, array in fitted.state().items() if name != "keys"}
    assert set(state) == {"n", "letters", "ends"}
    again = TextNgrams(unit=unit, order=4).from_state(state)
    assert np.array_equal(again.ngrams.keys, fitted.ngrams.keys)
    assert np.array_equal(again.ngrams.columns, fitted.ngrams.columns)


def test_states_that_do_not_fit_are_refused():
    lists = make_lists([[["a", "b"], ["b", "a", "a"]]])
    state = TextNgrams(least=1).fit(None, list_instances(lists), ()).state()
    keys = state["keys"]
    for name, array in (("keys", keys[:-1]), ("keys", keys.astype(float)), ("n", np.array([3]))):
        with pytest.raises(ValueError, match=r"n-grams|names of columns"):
            known_ngrams_from_state({**state, name: array}, "words")
    with pytest.raises(ValueError, match="not fitted"):
        transform_checked(TextNgrams(), None, list_instances(lists), GROUP)
    assert TextNgrams().from_state({}).state() == {}


TAGS = st.sampled_from(["名詞", "名詞-普通", "動詞", "助詞", "助動詞"])
TOKENS = st.lists(st.tuples(st.sampled_from("abc"), TAGS), max_size=6)
TAGGED_LISTS = st.lists(st.lists(TOKENS, min_size=1, max_size=3), min_size=1, max_size=3)


def tagged_lists(lists):
    every = [tokens for candidates in lists for tokens in candidates]
    candidate_lists = CandidateLists.from_texts(
        [["".join(w for w, _ in tokens) for tokens in item] for item in lists]
    )
    words, tags = ([[token[i] for token in tokens] for tokens in every] for i in (0, 1))
    return replace(candidate_lists, words=CandidateWords.from_words(words, tags))


def count_bigrams(tokens, tags):
    heads = [word for word, tag in tokens if any(tag.startswith(item) for item in tags)]
    return Counter(f"{a} {b}" for a, b in pairwise(heads))


SOME_TAGS = st.sampled_from([("名詞",), ("名詞", "動詞"), ["名詞-"]])


@given(TAGGED_LISTS, TAGGED_LISTS, st.integers(1, 2), SOME_TAGS)
def test_headword_bigrams_equal_a_plain_count(learned, tried, least, tags):
    extractor, instances = HeadwordBigrams(tags=tags, least=least), list_instances(tagged_lists(learned))
    words = instances.lists.words
    if len(words.ids) and not any(name.startswith(tuple(tags)) for name in words.tag_names):
        with pytest.raises(UserError, match="D682"):
            extractor.fit(None, instances, ())
        return
    fitted, other = extractor.fit(None, instances, ()), list_instances(tagged_lists(tried))
    names = kept_names([[count_bigrams(tokens, tags) for tokens in item] for item in learned], least)
    assert list(fitted.ngrams.names) == names
    result = transform_checked(fitted, None, other, GROUP)
    plain = [count_bigrams(tokens, tags) for candidates in tried for tokens in candidates]
    expected = np.array([[item[name] for name in names] for item in plain]).reshape(len(plain), len(names))
    assert np.array_equal(result.batch.rows.toarray(), expected)
    assert result.n_queries.tolist() == [len(item) for item in plain]
    assert result.batch.columns.group_names == ("headword bigrams",)
    again = transform_checked(extractor.from_state(fitted.state()), None, other, GROUP)
    assert np.array_equal(again.batch.rows.toarray(), expected)


def test_lists_without_tags_or_words_of_these_tags_are_an_error():
    bare = CandidateLists.from_texts([["a b", "b"]])
    untagged = replace(bare, words=CandidateWords.from_words([["a", "b"], ["b"]]))
    learned = list_instances(tagged_lists([[[("a", "N")]]]))
    fitted = HeadwordBigrams(tags=["N"], least=1).fit(None, learned, ())
    for instances in (list_instances(bare), list_instances(untagged)):
        with pytest.raises(UserError, match=r"D681.*HeadwordBigrams"):
            HeadwordBigrams().fit(None, instances, ())
        with pytest.raises(UserError, match=r"D681.*HeadwordBigrams"):
            transform_checked(fitted, None, instances, GROUP)
    nothing = transform_checked(fitted, None, list_instances(CandidateLists.from_texts([])), GROUP)
    assert nothing.batch.rows.shape == (0, 0)
    with pytest.raises(ValueError, match="not fitted"):
        transform_checked(HeadwordBigrams(), None, list_instances(bare), GROUP)
    with pytest.raises(UserError, match=r"D682.*begins with NOUN, .*their tags: 名詞"):
        HeadwordBigrams().fit(None, list_instances(tagged_lists([[[("a", "名詞")]]])), ())
