"""What decoders ask: states, n-grams that are there, and what backing off costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_texts import MODELS, TEXTS, random_text, sentences_of

from disambig.doctor.compiling import _is_compiled
from disambig.jit import compiled_functions
from disambig.language_models import adapt, estimate
from disambig.language_models import kernels as ask


@given(TEXTS, st.fixed_dictionaries(MODELS))
def test_parts_make_the_whole(text, settings):
    """What `seen_word`, `back_off_weight` and `shorter_state` say adds up to `score_word`."""
    sentences, vocabulary = sentences_of(text)
    model = estimate(sentences, vocabulary, **settings).arrays
    history = sentences.ids[:5]
    state = ask.state_behind(model, history, len(history))
    for word in range(len(vocabulary)):
        total, at = 0.0, state
        while True:
            found, log_prob, after = ask.seen_word(model, at, word)
            if found:
                break
            total += ask.back_off_weight(model, at)
            at = ask.shorter_state(model, at)
        assert ask.score_word(model, state, word) == (pytest.approx(total + log_prob), after)


def test_a_context_that_was_never_seen_is_the_shorter_one():
    text = ["a b c".split(), "c b a".split()]
    sentences, vocabulary = sentences_of(text)
    model = estimate(sentences, vocabulary).arrays
    a, b, c = (int(vocabulary.word_ids([word])[0]) for word in "abc")

    def behind(*words):
        return ask.state_behind(model, np.array(words, np.int32), len(words))

    assert behind(a, c, b) == behind(c, b) != behind(a, b)
    assert behind(b, b) == behind(c, b, b) == behind(b)
    assert behind(a, a) == behind(a) and behind() == ask.empty_state(model)
    assert behind(0) == behind(2) == behind()  # nothing was seen behind an unknown word or an end
    assert behind(1) == ask.start_state(model)
    assert ask.shorter_state(model, behind(a, b)) == behind(b)
    assert ask.shorter_state(model, behind()) == -1


def test_numbers_of_no_word_are_the_unknown_word():
    model = estimate(*sentences_of(random_text(40, words=5), least=3)).arrays
    state = ask.start_state(model)
    unknown = ask.score_word(model, state, 0)
    for word in (-1, -(2**31), 10**6, 2**31, np.int32(900)):
        assert ask.score_word(model, state, word) == unknown
        assert ask.seen_word(model, state, word) == ask.seen_word(model, state, 0)


@given(TEXTS, st.integers(1, 5))
def test_the_state_forgets_what_does_not_matter(text, order):
    """Whatever stands before the last words changes nothing, and shorter histories give the same."""
    sentences, vocabulary = sentences_of(text)
    model = estimate(sentences, vocabulary, order=order).arrays
    history = np.concatenate([sentences.ids, sentences.ids])[-8:]
    near = history[len(history) - min(order - 1, len(history)) :]
    assert ask.state_behind(model, history, len(history)) == ask.state_behind(model, near, len(near))


def test_the_parts_of_a_mixture_are_those_of_its_background():
    background = estimate(*sentences_of(random_text(40, words=5)))
    mixture = adapt(background, random_text(20, seed=1, words=5), weight=0.5)
    alone, state = background.arrays, ask.start_state(mixture.arrays)
    first = ask.start_state(alone)
    assert state != first
    for word in range(2, len(background.vocabulary)):
        assert ask.seen_word(mixture.arrays, state, word) == ask.seen_word(alone, first, word)
    assert ask.back_off_weight(mixture.arrays, state) == ask.back_off_weight(alone, first)
    assert ask.shorter_state(mixture.arrays, state) == ask.shorter_state(alone, first)


def test_samples_call_all():
    """What `disambig doctor --compile` finds is there, by this or by a cache of an earlier process."""
    module = ask
    ask.sample_ngram_rows()
    ask.sample_word_scores()
    made = [each for each in compiled_functions() if each.py_func.__module__ == module.__name__]
    assert made and all(map(_is_compiled, made))
