"""Bigrams of content words, whatever lies between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import CandidateLists, CandidateWords, Group
from disambig.errors import UserError
from disambig.features import HeadwordBigrams, transform_checked
from disambig.formats import list_instances

GROUP = Group("lists", ())
TOKENS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["名詞", "名詞-普通", "動詞", "助詞", "助動詞"])),
    max_size=6,
)
LISTS = st.lists(st.lists(TOKENS, min_size=1, max_size=4), min_size=1, max_size=5)


def own_of(lists):
    every = [tokens for candidates in lists for tokens in candidates]
    own = CandidateLists.from_texts([["".join(w for w, _ in tokens) for tokens in each] for each in lists])
    return replace(
        own,
        words=CandidateWords.from_words(
            ([w for w, _ in t] for t in every), ([k for _, k in t] for t in every)
        ),
    )


def counted(tokens, tags):
    heads = [word for word, tag in tokens if any(tag.startswith(each) for each in tags)]
    return Counter(f"{a} {b}" for a, b in pairwise(heads))


@given(LISTS, LISTS, st.integers(1, 2), st.sampled_from([("名詞",), ("名詞", "動詞"), ["名詞-"]]))
def test_the_counts_are_those_of_a_plain_count(learned, tried, least, tags):
    extractor, own = HeadwordBigrams(tags=tags, least=least), own_of(learned)
    words = own.words
    if len(words.ids) and not any(name.startswith(tuple(tags)) for name in words.tag_names):
        with pytest.raises(UserError, match="D682"):
            extractor.fit(None, list_instances(own), ())
        return
    fitted = extractor.fit(None, list_instances(own), ())
    seen = Counter()
    for candidates in learned:
        texts = [counted(tokens, tags) for tokens in candidates]
        seen.update(each for each in set().union(*texts) if len({text[each] for text in texts}) > 1)
    names = sorted(name for name, n in seen.items() if n >= least)
    assert list(fitted.known.names) == names
    found = transform_checked(fitted, None, list_instances(own_of(tried)), GROUP)
    plain = [counted(tokens, tags) for candidates in tried for tokens in candidates]
    expected = np.array([[each[name] for name in names] for each in plain]).reshape(len(plain), len(names))
    assert np.array_equal(found.batch.rows.toarray(), expected)
    assert found.asked.tolist() == [len(each) for each in plain]
    assert found.batch.columns.group_names == ("headword bigrams",)
    again = transform_checked(
        extractor.from_state(fitted.state()), None, list_instances(own_of(tried)), GROUP
    )
    assert np.array_equal(again.batch.rows.toarray(), expected)


def test_what_lies_between_is_passed_over():
    """The letter of the insurance company came: letter insurance, insurance company, company came."""
    words = ["the", "letter", "of", "the", "insurance", "company", "came"]
    tags = ["DET", "NOUN", "ADP", "DET", "NOUN", "NOUN", "VERB"]
    own = own_of([[list(zip(words, tags, strict=True)), []]])
    fitted = HeadwordBigrams(least=1).fit(None, list_instances(own), ())
    assert list(fitted.known.names) == ["company came", "insurance company", "letter insurance"]


def test_lists_must_say_tags():
    bare = CandidateLists.from_texts([["a b", "b"]])
    untagged = replace(bare, words=CandidateWords.from_words([["a", "b"], ["b"]]))
    fitted = HeadwordBigrams(tags=["N"], least=1).fit(None, list_instances(own_of([[[("a", "N")]]])), ())
    for own in (bare, untagged):
        with pytest.raises(UserError, match=r"D681.*HeadwordBigrams"):
            HeadwordBigrams().fit(None, list_instances(own), ())
        with pytest.raises(UserError, match=r"D681.*HeadwordBigrams"):
            transform_checked(fitted, None, list_instances(own), GROUP)
    nothing = transform_checked(fitted, None, list_instances(CandidateLists.from_texts([])), GROUP)
    assert nothing.batch.rows.shape == (0, 0)
    with pytest.raises(ValueError, match="not fitted"):
        transform_checked(HeadwordBigrams(), None, list_instances(bare), GROUP)


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"least": 0}, "D452"), ({"tags": "NOUN"}, "D663"), ({"tags": ()}, "D680"), ({"tags": [""]}, "D680")],
)
def test_settings_without_sense(settings, code):
    with pytest.raises(UserError, match=code):
        HeadwordBigrams(**settings)


def test_tags_that_no_word_has_are_said():
    with pytest.raises(UserError, match=r"D682.*begins with NOUN, .*their tags: 名詞"):
        HeadwordBigrams().fit(None, list_instances(own_of([[[("a", "名詞")]]])), ())
