"""Language models: vocabulary, probabilities by hand and by the textbook, look-ups of decoders."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from slow_models import MODELS, TEXTS, make_sentences, random_text, textbook_probabilities

from disambig.api import Words
from disambig.doctor import is_compiled
from disambig.errors import UserError
from disambig.jit import compiled_functions
from disambig.language_models import (
    FALLBACK,
    SPECIAL,
    Sentences,
    WordVocabulary,
    adapt,
    estimate,
    estimate_discounts,
    kernels as lookup,
    vocabulary_from_state,
    word_log_probability,
    words_of_lines,
    words_of_texts,
)


def test_a_small_model_by_hand():
    """Sentences a b and a c. No count is 3, so all discounts are Y: 3/5 for words, 2/3 for pairs."""
    text = ["a b".split(), "a c".split()]
    model = estimate(*make_sentences(text), order=2)
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
def test_probabilities_follow_the_textbook(text, settings, least):
    sentences, vocabulary = make_sentences(text, least)
    model = estimate(sentences, vocabulary, **settings)
    slow = textbook_probabilities(text, vocabulary, **settings)
    words = [word for word in vocabulary.spellings if word != "<s>"]
    for context in (*product(words[:4], repeat=2), ("<s>",), ("<s>", words[-1]), ()):
        for word in words:
            expected = np.log(slow(word, context))
            assert model.log_probability(word, context) == pytest.approx(expected, abs=2e-5)


@given(TEXTS, st.fixed_dictionaries(MODELS), st.integers(1, 3), st.integers(0, 2**32))
def test_probabilities_sum_to_one(text, settings, least, seed):
    sentences, vocabulary = make_sentences(text, least)
    model = estimate(sentences, vocabulary, **settings)
    rng = np.random.default_rng(seed)
    for n in range(7):
        history = rng.integers(len(vocabulary), size=n).astype(np.int32)
        chances = [word_log_probability(model.arrays, history, n, word) for word in range(len(vocabulary))]
        assert np.exp(chances).sum() == pytest.approx(1, abs=1e-5)


def test_words_without_a_sentence_change_nothing():
    text = random_text(50)
    sentences, vocabulary = make_sentences(text)
    padded = Sentences.from_words(vocabulary, [[], *text, [], []])
    first, second = estimate(sentences, vocabulary), estimate(padded, vocabulary)
    assert first.header == second.header
    for one, other in zip(first.levels, second.levels, strict=True):
        assert np.array_equal(one.log_probs, other.log_probs)


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
def test_errors_of_estimation(code, text, settings):
    vocabulary = WordVocabulary.from_words("a")
    with pytest.raises(UserError, match=code):
        estimate(Sentences.from_words(vocabulary, text), vocabulary, **settings)


def test_numbers_beyond_the_vocabulary_are_refused():
    sentences, vocabulary = make_sentences([["a", "b"]])
    with pytest.raises(ValueError, match="outside the vocabulary"):
        estimate(sentences, WordVocabulary.from_words("a"))
    with pytest.raises(ValueError, match="do not divide"):
        Sentences(sentences.ids, np.array([0, 1]))
    with pytest.raises(ValueError, match="sentence boundaries"):
        Sentences(np.array([2], np.int32), np.array([0, 1]))
    assert len(vocabulary) == 5


@given(TEXTS, st.fixed_dictionaries(MODELS))
def test_parts_of_a_score_add_up(text, settings):
    """The values of `seen_word`, `back_off_weight` and `shorter_state` add up to `score_word`."""
    sentences, vocabulary = make_sentences(text)
    model = estimate(sentences, vocabulary, **settings).arrays
    history = sentences.ids[:5]
    state = lookup.state_behind(model, history, len(history))
    for word in range(len(vocabulary)):
        total, at = 0.0, state
        while True:
            result, log_prob, after = lookup.seen_word(model, at, word)
            if result:
                break
            total += lookup.back_off_weight(model, at)
            at = lookup.shorter_state(model, at)
        assert lookup.score_word(model, state, word) == (pytest.approx(total + log_prob), after)


def test_unseen_contexts_back_off():
    text = ["a b c".split(), "c b a".split()]
    sentences, vocabulary = make_sentences(text)
    model = estimate(sentences, vocabulary).arrays
    a, b, c = (int(vocabulary.word_ids([word])[0]) for word in "abc")

    def behind(*words):
        return lookup.state_behind(model, np.array(words, np.int32), len(words))

    assert behind(a, c, b) == behind(c, b) != behind(a, b)
    assert behind(b, b) == behind(c, b, b) == behind(b)
    assert behind(a, a) == behind(a) and behind() == lookup.empty_state(model)
    assert behind(0) == behind(2) == behind()  # nothing follows an unknown word or an end
    assert behind(1) == lookup.start_state(model)
    assert lookup.shorter_state(model, behind(a, b)) == behind(b)
    assert lookup.shorter_state(model, behind()) == -1


def test_invalid_word_numbers_are_the_unknown_word():
    model = estimate(*make_sentences(random_text(40, words=5), least=3)).arrays
    state = lookup.start_state(model)
    unknown = lookup.score_word(model, state, 0)
    for word in (-1, -(2**31), 10**6, 2**31, np.int32(900)):
        assert lookup.score_word(model, state, word) == unknown
        assert lookup.seen_word(model, state, word) == lookup.seen_word(model, state, 0)


@given(TEXTS, st.integers(1, 5))
def test_states_keep_only_the_last_words(text, order):
    """Words before the last ones have no effect, and shorter histories give the same state."""
    sentences, vocabulary = make_sentences(text)
    model = estimate(sentences, vocabulary, order=order).arrays
    history = np.concatenate([sentences.ids, sentences.ids])[-8:]
    near = history[len(history) - min(order - 1, len(history)) :]
    assert lookup.state_behind(model, history, len(history)) == lookup.state_behind(model, near, len(near))


def test_the_parts_of_a_mixture_are_those_of_its_background():
    background = estimate(*make_sentences(random_text(40, words=5)))
    mixture = adapt(background, random_text(20, seed=1, words=5), weight=0.5)
    alone, state = background.arrays, lookup.start_state(mixture.arrays)
    first = lookup.start_state(alone)
    assert state != first
    for word in range(2, len(background.vocabulary)):
        assert lookup.seen_word(mixture.arrays, state, word) == lookup.seen_word(alone, first, word)
    assert lookup.back_off_weight(mixture.arrays, state) == lookup.back_off_weight(alone, first)
    assert lookup.shorter_state(mixture.arrays, state) == lookup.shorter_state(alone, first)


def test_samples_compile_every_function():
    """After the sample, all functions are compiled, now or in the cache of an earlier process."""
    lookup.sample_ngram_rows()
    lookup.sample_word_scores()
    functions = [item for item in compiled_functions() if item.py_func.__module__ == lookup.__name__]
    assert functions and all(map(is_compiled, functions))


def test_vocabulary_by_frequency():
    text = ["b a b c".split(), "b a".split()]
    assert list(WordVocabulary.from_sentences(text).spellings) == [*SPECIAL, "b", "a", "c"]
    vocabulary = WordVocabulary.from_sentences(text, least=2)
    assert list(vocabulary.spellings) == [*SPECIAL, "b", "a"]
    assert vocabulary.word_ids("c a <s> </s> <unk>".split()).tolist() == [0, 4, 0, 0, 0]
    assert "c" not in vocabulary and vocabulary[4] == "a"


@given(st.lists(st.text(max_size=5)), st.lists(st.text(max_size=5)))
def test_vocabularies_round_trip_and_grow(words, more):
    vocabulary = WordVocabulary.from_words(words)
    again = vocabulary_from_state(vocabulary.state())
    assert again == vocabulary and len(set(again.spellings)) == len(again)
    grown = vocabulary.extended(more)
    assert grown.begins_with(vocabulary)
    is_same = len(grown) == len(vocabulary)
    assert vocabulary.begins_with(grown) == (grown == vocabulary) == (vocabulary == grown) == is_same
    ordinary = [word for word in words if word not in SPECIAL]
    assert (vocabulary.word_ids(ordinary) >= len(SPECIAL)).all()
    assert np.array_equal(vocabulary.word_ids(ordinary), grown.word_ids(ordinary))


@pytest.mark.parametrize("words", [["a"], [*SPECIAL, "a", "a"]])
def test_invalid_vocabularies(words):
    with pytest.raises(ValueError, match=r"begins with|twice"):
        WordVocabulary(words)


def test_sentences_of_views_equal_those_of_words():
    texts = ["The cat sat. It's a naïve cat!", "", "Cats sat in 1997."]
    words = list(words_of_texts(texts, Words()))
    assert len(words) == 3 and words[0][:2] == ["the", "cat"]
    vocabulary = WordVocabulary.from_sentences(words[:2])
    listed = Sentences.from_words(vocabulary, words)
    viewed = Sentences.from_view(vocabulary, Words()(texts))
    assert np.array_equal(listed.ids, viewed.ids) and np.array_equal(listed.offsets, viewed.offsets)
    assert 0 in listed.ids
    assert viewed.characters.tolist() == [len("Thecatsat."), len("It'sanaïvecat!"), len("Catssatin1997.")]
    assert (Sentences.from_view(WordVocabulary.from_words([]), Words()(texts)).ids == 0).all()


def test_taking_sentences():
    vocabulary = WordVocabulary.from_words("abc")
    sentences = Sentences.from_words(vocabulary, words_of_lines(["a b c", "", "c  a\n"]))
    taken = sentences.take(np.array([2, 1, 0, 0]))
    assert taken.ids.tolist() == [5, 3, 3, 4, 5, 3, 4, 5]
    assert taken.offsets.tolist() == [0, 2, 2, 5, 8]
    assert taken.characters.tolist() == [2, 0, 3, 3]
