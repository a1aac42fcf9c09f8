"""Mixtures are weighted sums of two models over the words of both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from slow_models import TEXTS, random_text, sentences_of

from disambig.errors import UserError
from disambig.language_models import (
    Mixture,
    Sentences,
    WordVocabulary,
    adapt,
    cross_entropy,
    estimate,
    perplexity,
    score_word,
    sentence_scores,
    start_state,
    word_log_probability,
    word_scores,
)


@pytest.fixture(scope="module")
def background():
    return estimate(*sentences_of(random_text(300)))


@given(TEXTS, TEXTS, st.floats(0, 1), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**32))
def test_mixtures_are_weighted_sums(text, other, weight, least, order, seed):
    first = estimate(*sentences_of(text, least), order=order)
    mixture = adapt(first, other, weight=weight)
    vocabulary, second = mixture.vocabulary, mixture.adaptation
    shared = len(vocabulary) - len(first.vocabulary) + 1
    rng = np.random.default_rng(seed)
    for n in range(5):
        history = rng.integers(len(vocabulary), size=n).astype(np.int32)
        if weight == 1:
            history %= len(first.vocabulary)
        total = 0.0
        for word in range(len(vocabulary)):
            one = np.exp(word_log_probability(first.arrays, history, n, word))
            if word == 0 or word >= len(first.vocabulary):
                one /= shared
            two = np.exp(word_log_probability(second.arrays, history, n, word))
            result = np.exp(word_log_probability(mixture.arrays, history, n, word))
            assert result == pytest.approx(weight * one + (1 - weight) * two, rel=1e-5, abs=1e-12)
            total += result
        assert total == pytest.approx(1, abs=1e-5)


def test_a_weight_of_one_is_the_background_bit_for_bit(background):
    text = random_text(200, seed=1)
    mixture = adapt(background, [[*sentence, "strange"] for sentence in text], weight=1)
    known = Sentences.from_words(background.vocabulary, text)
    assert (known.ids > 0).all() and len(mixture.vocabulary) == len(background.vocabulary) + 1
    assert sentence_scores(mixture, known).tobytes() == sentence_scores(background, known).tobytes()


def test_states_of_a_mixture_are_those_of_both(background):
    mixture = adapt(background, random_text(30, seed=2), weight=0.3)
    ids = Sentences.from_words(mixture.vocabulary, random_text(5, seed=3)).ids
    state = start_state(mixture.arrays)
    for at, word in enumerate(ids):
        history = np.concatenate([[np.int32(1)], ids[:at]]).astype(np.int32)
        expected = word_log_probability(mixture.arrays, history, len(history), word)
        result, state = score_word(mixture.arrays, state, word)
        assert result == pytest.approx(expected, abs=1e-12)


def test_the_weight_is_at_least_as_good_as_any_of_a_grid(background):
    text = [
        [f"{word}x" if word in ("w3", "w5") else word for word in item] for item in random_text(400, seed=4)
    ]
    mixture = adapt(background, text[:200], held_out=text[200:300])
    held_out = Sentences.from_words(mixture.vocabulary, text[200:300])
    assert 0.05 < mixture.weight < 0.95
    best = perplexity(mixture, held_out)
    assert all(perplexity(mixture.reweighted(mu), held_out) >= best - 1e-9 for mu in np.linspace(0, 1, 41))
    unseen = Sentences.from_words(mixture.vocabulary, text[300:])
    assert perplexity(mixture, unseen) < min(perplexity(mixture.reweighted(mu), unseen) for mu in (0.0, 1.0))
    assert 0 < adapt(background, text[:200]).weight < 1


def test_the_best_weight_may_be_zero_or_one(background):
    text = random_text(20, seed=5)
    only = adapt(background, text, weight=0.5)
    held_out = Sentences.from_words(only.vocabulary, text)
    assert only.best_weight(held_out) == pytest.approx(0, abs=1e-9)
    assert Mixture(background, background, 0.5).best_weight(held_out) in (0.0, pytest.approx(0, abs=1e-9))


def test_entropies_add_up(background):
    mixture = adapt(background, random_text(20, seed=6), weight=0.5)
    sentences = Sentences.from_words(mixture.vocabulary, [["w1", "new", "w2"], [], ["w0"]])
    for model in (background, mixture):
        entropy = cross_entropy(model, sentences)
        scores = word_scores(model.arrays, sentences.take(np.array([0, 2])))
        assert len(scores) == 6
        assert entropy.bits == pytest.approx(-scores.sum() / np.log(2))
        assert entropy.known_bits == pytest.approx(-np.delete(scores, 1).sum() / np.log(2))
        assert (entropy.words, entropy.unknown, entropy.sentences, entropy.characters) == (4, 1, 2, 9)
        assert entropy.per_word == entropy.bits / 6 and entropy.per_known_word == entropy.known_bits / 5
        assert entropy.per_character == entropy.bits / 11
        assert entropy.perplexity == perplexity(model, sentences)
        assert entropy.known_perplexity == 2**entropy.per_known_word
        assert sentence_scores(model, sentences)[[0, 2]].sum() == pytest.approx(scores.sum())
    assert np.isnan(cross_entropy(background, Sentences(sentences.ids, sentences.offsets)).per_character)


def test_errors_of_mixtures(background):
    with pytest.raises(UserError, match=r"^\[D656\].*vocabulary"):
        Mixture(background, estimate(*sentences_of([["b", "a"]])), 0.5)
    for weight in (-0.1, 1.5, float("nan"), "0.5"):
        with pytest.raises(UserError, match=r"^\[D657\]"):
            adapt(background, [["a"]], weight=weight)
    with pytest.raises(UserError, match=r"^\[D656\].*two sentences"):
        adapt(background, [["a"]])
    with pytest.raises(UserError, match=r"^\[D656\].*held-out"):
        adapt(background, [["a"]], held_out=[[]])
    with pytest.raises(UserError, match=r"^\[D652\]"):
        adapt(background, [], weight=0.5)
    with pytest.raises(UserError, match=r"^\[D652\]"):
        cross_entropy(background, Sentences.from_words(WordVocabulary.from_words([]), [[]]))
