"""The k best strings of a lattice are those that trying every path finds, with the model's scores."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_boosted_lasso.kana import (
    HIRAGANA,
    KATAKANA,
    LETTERS,
    LONGEST,
    ConverterSettings,
    KanaLexicon,
    LatticeDecoder,
    build_lexicon_tables,
    build_ngram_tables,
    hiragana_number,
    learn_spelling,
    letter,
    to_katakana,
)
from hypothesis import given, settings, strategies as st

from disambig.errors import UserError
from disambig.language_models import Mixture, Sentences, WordVocabulary, estimate, score_word, start_state

KANA, SIGN = "かきく", "。"
SPELLING = learn_spelling(["かき", "カキクク"], shares=(0.3, 0.3))

spellings = st.text("山川木", min_size=1, max_size=2)
entries = st.lists(
    st.tuples(spellings, st.text(KANA, min_size=1, max_size=3), st.sampled_from("NV"), st.integers(0, 3)),
    min_size=1,
    max_size=8,
)
texts = st.lists(st.lists(spellings, min_size=1, max_size=5), min_size=2, max_size=8)


def every_path(line, lexicon, tables, order, arrays):
    """Return the best ln P of each string that a line may be, by trying all paths."""
    known = {}
    for place, entry in enumerate(order.tolist()):
        word = int(tables.entries["word"][place]), float(tables.entries["extra"][place])
        known.setdefault(lexicon.readings[entry], []).append((lexicon.surfaces[entry], *word))
    found = {}

    def follow(place, text, score, state):
        if place == len(line):
            score += score_word(arrays, state, 2)[0]
            found[text] = max(score, found.get(text, -np.inf))
        for end in range(place + 1, len(line) + 1):
            for spelt, word, extra in words_of(line[place:end]):
                gain, behind = score_word(arrays, state, word)
                follow(end, text + spelt, score + gain + extra, behind)

    def words_of(kana):
        yield from known.get(kana, ())
        letters = [hiragana_number(letter) for letter in kana]
        if 0 not in letters and len(kana) <= LONGEST:
            pairs = list(zip([0, *letters], [*letters, 0], strict=True))
            for script, spelt in enumerate((kana, to_katakana(kana))):
                yield spelt, 0, float(sum(SPELLING[script, a, b] for a, b in pairs))
        elif kana == SIGN:
            yield kana, 0, 0.0

    follow(0, "", 0.0, start_state(arrays))
    return found


@settings(deadline=None, max_examples=60)
@given(
    entries,
    texts,
    st.none() | texts,
    st.floats(0, 1),
    st.integers(1, 3),
    st.lists(st.text(KANA + SIGN, max_size=5), min_size=1, max_size=3),
    st.sampled_from([1, 2, 5, 20]),
    st.booleans(),
)
def test_the_k_best_are_those_of_all_paths(words, text, more, weight, order, lines, k, weighed):
    lexicon = KanaLexicon.counted([word[:3] for word in words], [word[3] for word in words])
    vocabulary = WordVocabulary.from_words(sorted({word for sentence in text for word in sentence}))
    model = estimate(Sentences.from_words(vocabulary, text), vocabulary, order=order)
    parts = [(model.levels, 0.0)]
    if more is not None:  # a mixture, of more words
        longer = vocabulary.extended(word for sentence in more for word in sentence)
        model = Mixture(model, estimate(Sentences.from_words(longer, more), longer), weight)
        vocabulary = longer
        with np.errstate(divide="ignore"):
            weights = np.log([weight, 1 - weight])
        parts = [(model.background.levels, weights[0]), (model.adaptation.levels, weights[1])]
    how = ConverterSettings(weighed=weighed, unknown=(0.3, 0.3, 0.2, 0.2))
    tables, entry_order = build_lexicon_tables(lexicon, vocabulary, SPELLING, how)
    paths = LatticeDecoder(build_ngram_tables(parts, len(vocabulary)), tables).paths(lines, k)
    for i, line in enumerate(lines):
        wanted = every_path(line, lexicon, tables, entry_order, model.arrays)
        best = sorted(wanted.values(), reverse=True)[:k]
        rows = range(paths.offsets[i], paths.offsets[i + 1])
        written = [written_of(line, paths, row, lexicon, entry_order) for row in rows]
        assert len(written) == len({*written}) == len(best)
        np.testing.assert_allclose([paths.scores[row] for row in rows], best, atol=1e-5)
        np.testing.assert_allclose([wanted[one] for one in written], best, atol=1e-5)


def written_of(line, paths, row, lexicon, order):
    """Return the text of a candidate, whose words stand one behind the other."""
    text, place = "", 0
    for kind, start, end in paths.words[paths.word_offsets[row] : paths.word_offsets[row + 1]].tolist():
        assert start == place < end
        place = end
        kana = line[start:end]
        if kind >= 0:
            assert lexicon.readings[order[kind]] == kana
        scripts = {HIRAGANA: kana, KATAKANA: to_katakana(kana)}
        text += lexicon.surfaces[order[kind]] if kind >= 0 else scripts.get(kind, kana)
    assert place == len(line)
    return text


def test_letters_have_one_number_in_kernels_and_outside():
    for code in [*range(0x3030, 0x30FF), 0x41, 0x4E00]:
        assert letter(code) == hiragana_number(chr(code))
    assert letter(0x30FC) == LETTERS - 1


def test_ngrams_of_four_words_are_refused():
    vocabulary = WordVocabulary.from_words(["山"])
    model = estimate(Sentences.from_words(vocabulary, [["山"] * 5]), vocabulary, order=4)
    with pytest.raises(UserError, match="D673"):
        build_ngram_tables([(model.levels, 0.0)], len(vocabulary))


def test_spelling_adds_up_to_what_it_is_given():
    rows = np.exp(SPELLING).sum(axis=2)
    np.testing.assert_allclose(rows[:, 0], 0.3)
    np.testing.assert_allclose(rows[:, 1:], 1.0)
