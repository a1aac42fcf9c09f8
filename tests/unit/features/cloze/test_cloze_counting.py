"""Counting words for a model of words in context: which get a number, and how others are numbered."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.features import LAST, count_vocabulary
from disambig.text import Words, hash_word, hash_words

TEXTS = st.lists(st.text(st.sampled_from("abcdeÉß\u2019'1 .\n"), max_size=40), min_size=1, max_size=6)


@given(texts=TEXTS, n_words=st.integers(3, 12), endings=st.integers(1, 50), cut=st.integers(0, 6))
def test_numbers_are_of_the_most_frequent_words_and_of_the_endings_of_others(texts, n_words, endings, cut):
    views = [Words()(part) for part in (texts[:cut], texts[cut:])]
    if not sum(map(len, views)):
        with pytest.raises(ValueError, match="no text"):
            count_vocabulary(views, n_words, endings)
        return
    vocabulary, counts, spellings = count_vocabulary(views, n_words, endings)
    words = [word for text in texts for word in Words().words(text)]
    truth = Counter(words)
    assert dict(zip(spellings, counts.tolist(), strict=True)) == {w: truth[w] for w in spellings}
    assert len(vocabulary) == min(n_words, len(truth))
    assert {"<S>", "</S>"} <= set(spellings)
    own = [w for w in spellings if w not in ("<S>", "</S>")]
    left_out = [n for word, n in truth.items() if word not in spellings]
    assert min((truth[w] for w in own), default=0) >= max(left_out, default=0)
    assert vocabulary.hash_numbers(hash_words(spellings)).tolist() == list(range(len(vocabulary)))
    for view, part in zip(views, (texts[:cut], texts[cut:]), strict=True):
        said = [word for text in part for word in Words().words(text)]
        for word, number in zip(said, vocabulary.view_numbers(view).tolist(), strict=True):
            if word in spellings:
                assert spellings[number] == word
            else:
                assert number == len(vocabulary) + hash_word(word[-LAST:]) % endings
        assert (vocabulary.view_numbers(view) < vocabulary.outside).all()


def test_sentence_ends_have_numbers_even_where_words_are_more_frequent():
    vocabulary, counts, spellings = count_vocabulary([Words()(["so so so so very very. go"])], 3, 2)
    assert sorted(spellings) == ["</S>", "<S>", "so"]
    assert spellings[0] == "so"
    assert counts.tolist() == [4, 1, 1]
    assert len(np.unique(vocabulary.words)) == 3


def test_words_too_long_for_a_hash_of_their_own_get_no_number():
    vocabulary, _, spellings = count_vocabulary([Words()(["x" * 300 + " " + "y" * 300 + " so"] * 5)], 9, 2)
    assert sorted(spellings) == ["</S>", "<S>", "so"]
    assert len(vocabulary) == 3


@pytest.mark.parametrize(("setting", "given"), [("n_words", (2, 4)), ("endings", (8, 0))])
def test_too_few_words_or_endings_are_refused(setting, given):
    with pytest.raises(UserError, match=f"D993.*{setting}"):
        count_vocabulary([Words()(["a b"])], *given)
