"""Models are what the book says, by hand and by a slow count, and sum to one behind any words."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_texts import MODELS, TEXTS, by_the_book, random_text, sentences_of

from disambig.errors import UserError
from disambig.language_models import (
    FALLBACK,
    Sentences,
    WordVocabulary,
    estimate,
    estimate_discounts,
    word_log_probability,
)


def test_a_toy_by_hand():
    """Two sentences: a b, and a c. No count is 3, so the discount of all is Y: 3/5 of words, 2/3 of pairs."""
    text = ["a b".split(), "a c".split()]
    model = estimate(*sentences_of(text), order=2)
    expected = {
        ("<unk>",): 0.096,  # 4 * 0.6 / 5 are free, a fifth of it for each of five words
        ("a",): 0.176,  # (1 - 0.6) / 5 more, for one word before it
        ("</s>",): 0.376,  # two words before it
        ("a", "b"): (1 - 2 / 3) / 2 + 2 / 3 * 0.176,
        ("<s>", "a"): (2 - 2 / 3) / 2 + 1 / 3 * 0.176,
        ("a", "</s>"): 2 / 3 * 0.376,
        ("b", "b"): 2 / 3 * 0.176,
    }
    for (*context, word), probability in expected.items():
        assert np.exp(model.log_probability(word, context)) == pytest.approx(probability, rel=1e-6)
    assert model.header["discounts"] == [pytest.approx([0.6] * 3), pytest.approx([2 / 3] * 3)]
    assert model.header["fallbacks"] == [1, 2]
    assert model.log_probability("<s>") == -np.inf


def test_discounts_by_hand():
    counts = np.repeat([0, 1, 2, 3, 4, 9], [7, 6, 3, 2, 1, 5])
    assert estimate_discounts(counts, "kneser_ney") == (pytest.approx((0.5, 1.0, 2.0)), True)
    assert estimate_discounts(counts, "absolute") == ((0.5, 0.5, 0.5), True)
    assert estimate_discounts(np.array([3, 3, 4]), "kneser_ney") == (FALLBACK, False)
    without_threes = np.repeat([1, 2], [6, 3])
    assert estimate_discounts(without_threes, "kneser_ney") == ((0.5,) * 3, False)


@given(TEXTS, st.fixed_dictionaries(MODELS), st.integers(1, 3))
def test_it_is_what_the_book_says(text, settings, least):
    sentences, vocabulary = sentences_of(text, least)
    model = estimate(sentences, vocabulary, **settings)
    slow = by_the_book(text, vocabulary, **settings)
    words = [word for word in vocabulary.spellings if word != "<s>"]
    for context in (*product(words[:4], repeat=2), ("<s>",), ("<s>", words[-1]), ()):
        for word in words:
            expected = np.log(slow(word, context))
            assert model.log_probability(word, context) == pytest.approx(expected, abs=2e-5)


@given(TEXTS, st.fixed_dictionaries(MODELS), st.integers(1, 3), st.integers(0, 2**32))
def test_it_sums_to_one_behind_any_words(text, settings, least, seed):
    sentences, vocabulary = sentences_of(text, least)
    model = estimate(sentences, vocabulary, **settings)
    rng = np.random.default_rng(seed)
    for n in range(7):
        history = rng.integers(len(vocabulary), size=n).astype(np.int32)
        chances = [word_log_probability(model.arrays, history, n, word) for word in range(len(vocabulary))]
        assert np.exp(chances).sum() == pytest.approx(1, abs=1e-5)


def test_words_without_a_sentence_change_nothing():
    text = random_text(50)
    sentences, vocabulary = sentences_of(text)
    padded = Sentences.from_words(vocabulary, [[], *text, [], []])
    first, second = estimate(sentences, vocabulary), estimate(padded, vocabulary)
    assert first.header == second.header
    assert all(
        np.array_equal(a.log_probs, b.log_probs) for a, b in zip(first.levels, second.levels, strict=True)
    )


@pytest.mark.parametrize(
    ("code", "text", "settings"),
    [
        ("D652", [], {}),
        ("D652", [[]], {}),
        ("D653", [["a"]], {"order": 6}),
        ("D653", [["a"]], {"order": 0}),
        ("D654", [["a"]], {"smoothing": "knesser_ney"}),
    ],
)
def test_what_cannot_be_estimated_is_said(code, text, settings):
    with pytest.raises(UserError) as problem:
        estimate(
            Sentences.from_words(WordVocabulary.from_words("a"), text),
            WordVocabulary.from_words("a"),
            **settings,
        )
    assert problem.value.code == code


def test_numbers_beyond_the_vocabulary_are_refused():
    sentences, vocabulary = sentences_of([["a", "b"]])
    with pytest.raises(ValueError, match="outside the vocabulary"):
        estimate(sentences, WordVocabulary.from_words("a"))
    with pytest.raises(ValueError, match="do not divide"):
        Sentences(sentences.ids, np.array([0, 1]))
    with pytest.raises(ValueError, match="sentence boundaries"):
        Sentences(np.array([2], np.int32), np.array([0, 1]))
    assert len(vocabulary) == 5
