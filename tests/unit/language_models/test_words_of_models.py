"""Words and their numbers; sentences from lists, lines, texts and views."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.api import Words
from disambig.language_models import (
    SPECIAL,
    Sentences,
    WordVocabulary,
    vocabulary_from_state,
    words_of_lines,
    words_of_texts,
)

TEXTS = ["The cat sat. It's a naïve cat!", "", "Cats sat in 1997."]


def test_the_frequent_come_first_and_the_rare_are_unknown():
    text = ["b a b c".split(), "b a".split()]
    assert list(WordVocabulary.from_sentences(text).spellings) == [*SPECIAL, "b", "a", "c"]
    vocabulary = WordVocabulary.from_sentences(text, least=2)
    assert list(vocabulary.spellings) == [*SPECIAL, "b", "a"]
    assert vocabulary.word_ids("c a <s> </s> <unk>".split()).tolist() == [0, 4, 0, 0, 0]
    assert "c" not in vocabulary and vocabulary[4] == "a"


@given(st.lists(st.text(max_size=5)), st.lists(st.text(max_size=5)))
def test_vocabularies_come_back_and_grow(words, more):
    vocabulary = WordVocabulary.from_words(words)
    again = vocabulary_from_state(vocabulary.state())
    assert again == vocabulary and len(set(again.spellings)) == len(again)
    grown = vocabulary.extended(more)
    assert grown.begins_with(vocabulary) == len(grown)
    assert bool(vocabulary.begins_with(grown)) == (len(grown) == len(vocabulary))
    known = [word for word in words if word not in SPECIAL]
    assert (vocabulary.word_ids(known) >= len(SPECIAL)).all()
    assert np.array_equal(vocabulary.word_ids(known), grown.word_ids(known))


@pytest.mark.parametrize("words", [["a"], [*SPECIAL, "a", "a"]])
def test_what_is_no_vocabulary_is_refused(words):
    with pytest.raises(ValueError, match=r"begins with|twice"):
        WordVocabulary(words)


def test_views_give_what_words_give():
    words = list(words_of_texts(TEXTS, Words()))
    assert len(words) == 3 and words[0][:2] == ["the", "cat"]
    vocabulary = WordVocabulary.from_sentences(words[:2])
    listed, viewed = Sentences.from_words(vocabulary, words), Sentences.from_view(vocabulary, Words()(TEXTS))
    assert np.array_equal(listed.ids, viewed.ids) and np.array_equal(listed.offsets, viewed.offsets)
    assert 0 in listed.ids
    assert viewed.characters.tolist() == [len("Thecatsat."), len("It'sanaïvecat!"), len("Catssatin1997.")]
    assert (Sentences.from_view(WordVocabulary.from_words([]), Words()(TEXTS)).ids == 0).all()


def test_some_sentences():
    vocabulary = WordVocabulary.from_words("abc")
    sentences = Sentences.from_words(vocabulary, words_of_lines(["a b c", "", "c  a\n"]))
    taken = sentences.take(np.array([2, 1, 0, 0]))
    assert taken.ids.tolist() == [5, 3, 3, 4, 5, 3, 4, 5]
    assert taken.offsets.tolist() == [0, 2, 2, 5, 8]
    assert taken.characters.tolist() == [2, 0, 3, 3]
