"""The k best paths of a lattice and the class bigram, compared with exhaustive search."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from disambig_boosted_lasso.kana import (
    HIRAGANA,
    KATAKANA,
    LETTERS,
    LONGEST,
    TOKEN,
    ClassBigram,
    Converter,
    ConverterSettings,
    KanaLexicon,
    LatticeDecoder,
    build_lexicon_tables,
    build_ngram_tables,
    converter_fingerprint,
    hiragana_number,
    learn_spelling,
    letter,
    load_in_domain,
    save_domain,
    to_katakana,
)
from hypothesis import given, settings, strategies as st
from kana_words import converter, sentences

from disambig.errors import UserError
from disambig.language_models import Mixture, Sentences, WordVocabulary, estimate, score_word, start_state

LETTERS_OF_LINES, SIGN = "かきく", "。"
SPELLING = learn_spelling(["かき", "カキクク"], shares=(0.3, 0.3))

spellings = st.text("山川木", min_size=1, max_size=2)
entries = st.lists(
    st.tuples(
        spellings, st.text(LETTERS_OF_LINES, min_size=1, max_size=3), st.sampled_from("NV"), st.integers(0, 3)
    ),
    min_size=1,
    max_size=8,
)
texts = st.lists(st.lists(spellings, min_size=1, max_size=5), min_size=2, max_size=8)


def every_path(line, lexicon, tables, order, arrays):
    """Return the best ln P of each possible conversion of a line, by trying all paths."""
    counts = {}
    for place, entry in enumerate(order.tolist()):
        word = int(tables.entries["word"][place]), float(tables.entries["extra"][place])
        counts.setdefault(lexicon.readings[entry], []).append((lexicon.surfaces[entry], *word))
    scores = {}

    def follow(place, text, score, state):
        if place == len(line):
            score += score_word(arrays, state, 2)[0]
            scores[text] = max(score, scores.get(text, -np.inf))
        for end in range(place + 1, len(line) + 1):
            for spelt, word, extra in entries_read_as(line[place:end]):
                gain, behind = score_word(arrays, state, word)
                follow(end, text + spelt, score + gain + extra, behind)

    def entries_read_as(kana):
        yield from counts.get(kana, ())
        letters = [hiragana_number(letter) for letter in kana]
        if 0 not in letters and len(kana) <= LONGEST:
            pairs = list(zip([0, *letters], [*letters, 0], strict=True))
            for script, spelt in enumerate((kana, to_katakana(kana))):
                yield spelt, 0, float(sum(SPELLING[script, a, b] for a, b in pairs))
        elif kana == SIGN:
            yield kana, 0, 0.0

    follow(0, "", 0.0, start_state(arrays))
    return scores


@settings(deadline=None, max_examples=25)
@given(
    entries,
    texts,
    st.none() | texts,
    st.floats(0, 1),
    st.integers(1, 3),
    st.lists(st.text(LETTERS_OF_LINES + SIGN, max_size=5), min_size=1, max_size=3),
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
        written = [path_spelling(line, paths, row, lexicon, entry_order) for row in rows]
        assert len(written) == len({*written}) == len(best)
        np.testing.assert_allclose([paths.scores[row] for row in rows], best, atol=1e-5)
        np.testing.assert_allclose([wanted[one] for one in written], best, atol=1e-5)


def path_spelling(line, paths, row, lexicon, order):
    """Return the text of a candidate: its words, concatenated."""
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


def test_tables_of_the_lattice():
    for code in [*range(0x3030, 0x30FF), 0x41, 0x4E00]:
        assert letter(code) == hiragana_number(chr(code))
    assert letter(0x30FC) == LETTERS - 1
    vocabulary = WordVocabulary.from_words(["山"])
    model = estimate(Sentences.from_words(vocabulary, [["山"] * 5]), vocabulary, order=4)
    with pytest.raises(UserError, match="D673"):
        build_ngram_tables([(model.levels, 0.0)], len(vocabulary))
    rows = np.exp(SPELLING).sum(axis=2)
    np.testing.assert_allclose(rows[:, 0], 0.3)
    np.testing.assert_allclose(rows[:, 1:], 1.0)


CLASS_LINES = [
    "わたしははしをわたる。",
    "かれははしでたべる。",
    "ねこはにわでなく。",
    "2008ねんぬゎ",
    "",
    "とり",
]
CLASS_WORDS = {
    ("わたし", "私"): [(1, 1, 2.0)],
    ("わたしは", "私は"): [(1, 2, 2.3)],
    ("は", "は"): [(2, 2, 0.1), (3, 3, 4.0)],
    ("はし", "橋"): [(1, 1, 5.0)],
    ("はし", "箸"): [(1, 1, 4.0), (3, 1, 1.0)],
    ("をわ", "を渡"): [(2, 3, 0.5)],
    ("る", "る"): [(3, 3, 0.5)],
    ("で", "で"): [(2, 2, 0.3)],
    ("。", "。"): [(2, 2, 0.0)],
}


def classes(weight=1.0, *, seed=0):
    """Return a class bigram of a few words, some of which end within words of the converter."""
    listed = [token for tokens in CLASS_WORDS.values() for token in tokens]
    connections = np.random.default_rng(seed).integers(0, 40, (4, 4)).astype(np.float32) / 4
    readings, surfaces = zip(*CLASS_WORDS, strict=True)
    return ClassBigram(
        readings,
        surfaces,
        np.array([len(tokens) for tokens in CLASS_WORDS.values()]),
        np.array(listed, TOKEN),
        connections,
        1,
        (6.0, 0.5),
        weight,
    )


def enumerated(model, words):
    """Return ln P of words (reading, spelling): the best of all segmentations into words of the model."""
    kana, text = ("".join(column) for column in zip(*words, strict=True)) if words else ("", "")
    steps = {(a, b): tokens for (a, b), tokens in CLASS_WORDS.items()}
    bounds = [(0, 0)]
    for reading, surface in words:
        bounds.append((bounds[-1][0] + len(reading), bounds[-1][1] + len(surface)))
    text_at = dict(bounds)
    follows = dict(itertools.pairwise(bounds))

    @cache
    def least(i, j, before):
        if i == len(kana):
            return float(model.connections[before, 0]) if j == len(text) else np.inf
        costs = [np.inf]
        for (reading, surface), tokens in steps.items():
            end, until = i + len(reading), j + len(surface)
            if not kana.startswith(reading, i) or not text.startswith(surface, j):
                continue
            if text_at.get(end, until) != until:
                continue
            costs += [
                model.connections[before, left] + cost + least(end, until, right)
                for left, right, cost in tokens
            ]
        if (i, j) in follows:
            end, until = follows[i, j]
            cost = model.unknown[0] + model.unknown[1] * (end - i)
            costs.append(model.connections[before, model.other] + cost + least(end, until, model.other))
        return float(min(costs))

    return -least(0, 0, 0)


READING = {surface: reading for sentence in sentences() for surface, reading, _ in sentence}


@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_the_best_words_and_classes(seed):
    plain, model = converter(), classes(0.7, seed=seed)
    before = plain.nbest(CLASS_LINES, 40)
    after = replace(plain, classes=model).nbest(CLASS_LINES, 40)
    for number, line in enumerate(CLASS_LINES):
        wanted = {}
        for row in range(*before.offsets[number : number + 2]):
            words = before.words.candidate_words(row)
            pairs = [(READING.get(word, line if len(words) == 1 else word), word) for word in words]
            if "".join(reading for reading, _ in pairs) == line:  # else it has words in katakana
                wanted[before.texts[row]] = before.scores[row] + 0.7 * enumerated(model, pairs)
        assert wanted
        rows = range(*after.offsets[number : number + 2])
        score_by_text = {after.texts[row]: after.scores[row] for row in rows}
        for text, score in wanted.items():
            assert score_by_text[text] == pytest.approx(score, abs=1e-4)
        scores = [after.scores[row] for row in rows]
        assert scores == sorted(scores, reverse=True)


def test_the_class_bigram_decides_what_the_language_model_leaves_open():
    plain = converter()
    assert plain.best(["はしをわたる。"]) == ["橋を渡る。"]
    sure = replace(plain, classes=replace(classes(), connections=np.zeros((4, 4), np.float32), weight=9.0))
    assert sure.best(["はしをわたる。"]) == ["箸を渡る。"]
    assert sure.nbest(["はしをわたる。"], 3).texts[0] == "箸を渡る。"
    assert len(sure.nbest(["はしをわたる。"], 3).texts) == 3


def test_a_saved_class_bigram_is_loaded_unchanged(tmp_path):
    one = replace(converter(), classes=classes(0.4))
    converter().save(tmp_path / "plain")
    one.save(tmp_path / "one")
    again = Converter.load(tmp_path / "one")
    before, after = one.nbest(CLASS_LINES, 20), again.nbest(CLASS_LINES, 20)
    assert list(before.texts) == list(after.texts)
    np.testing.assert_allclose(before.scores, after.scores, atol=1e-4)
    assert converter_fingerprint(tmp_path / "plain") != converter_fingerprint(tmp_path / "one")
    again.save(tmp_path / "one")  # a folder with a class bigram is replaced as any other
    home = tmp_path / "one"
    birds = replace(classes(0.4), domain_weights={"law": 0.0, "news": 0.7})
    replace(converter(), classes=birds).save(home)
    again = Converter.load(home)
    mixture = Mixture(again.background, again.background, 0.5)
    for name, weight in (("law", None), ("news", 0.7), ("novels", 0.4)):
        save_domain(mixture, home, name)
        its = load_in_domain(again, home, name).classes
        assert (its and its.weight) == weight


def test_a_damaged_class_bigram_is_not_read(tmp_path):
    replace(converter(), classes=classes()).save(tmp_path / "one")
    header = tmp_path / "one" / "classes" / "header.json"
    contents = json.loads(header.read_text(encoding="utf8"))
    wrong = ({"digest": "0"}, {"other": 4}, {"other": None}, {"weight": -1}, {"unknown": [1]})
    for change in (*wrong, {"domain_weights": {"a": -1}}):
        header.write_text(json.dumps({**contents, **change}), encoding="utf8")
        with pytest.raises(UserError, match="D674"):
            Converter.load(tmp_path / "one")
    header.write_text(json.dumps(contents), encoding="utf8")
    (tmp_path / "one" / "classes" / "classes.npz").unlink()
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "one")


def test_a_margin_leaves_out_bad_beginnings_only():
    exact = converter()
    near, wide = (replace(exact, settings=replace(exact.settings, margin=margin)) for margin in (1e-6, 100.0))
    assert list(wide.nbest(CLASS_LINES, 20).texts) == list(exact.nbest(CLASS_LINES, 20).texts)
    few, best = (made.nbest(CLASS_LINES, 1).scores for made in (near, exact))
    assert (np.asarray(few) <= np.asarray(best) + 1e-9).all()
    assert len(near.nbest(CLASS_LINES, 20).texts) < len(exact.nbest(CLASS_LINES, 20).texts)
    for margin in (0.0, -1.0, float("nan")):
        with pytest.raises(UserError, match="D675"):
            replace(exact.settings, margin=margin)
