"""The class bigram: its probabilities by enumeration, the candidates that it ranks, and its folder."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from disambig_boosted_lasso.kana import (
    TOKEN,
    ClassBigram,
    Converter,
    converter_fingerprint,
    load_in_domain,
    save_domain,
)
from kana_words import converter, sentences

from disambig.api.language_models import Mixture
from disambig.errors import UserError

LINES = ["わたしははしをわたる。", "かれははしでたべる。", "ねこはにわでなく。", "2008ねんぬゎ", "", "とり"]
WORDS = {
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
    listed = [token for tokens in WORDS.values() for token in tokens]
    connections = np.random.default_rng(seed).integers(0, 40, (4, 4)).astype(np.float32) / 4
    readings, surfaces = zip(*WORDS, strict=True)
    return ClassBigram(
        readings,
        surfaces,
        np.array([len(tokens) for tokens in WORDS.values()]),
        np.array(listed, TOKEN),
        connections,
        1,
        (6.0, 0.5),
        weight,
    )


def enumerated(model, words):
    """Return ln P of words (reading, spelling): the best of all ways to read them as words of the model."""
    kana, text = ("".join(column) for column in zip(*words, strict=True)) if words else ("", "")
    steps = {(a, b): tokens for (a, b), tokens in WORDS.items()}
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
    before = plain.nbest(LINES, 40)
    after = replace(plain, classes=model).nbest(LINES, 40)
    for line in range(len(LINES)):
        rows = range(before.offsets[line], before.offsets[line + 1])
        wanted = {}
        for row in rows:
            words = before.words.candidate_words(row)
            pairs = [(READING.get(word, LINES[line] if len(words) == 1 else word), word) for word in words]
            if "".join(reading for reading, _ in pairs) != LINES[line]:
                continue  # words in katakana
            wanted[before.texts[row]] = before.scores[row] + 0.7 * enumerated(model, pairs)
        assert wanted
        rows = range(after.offsets[line], after.offsets[line + 1])
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


def test_a_class_bigram_comes_back_as_it_was(tmp_path):
    one = replace(converter(), classes=classes(0.4))
    converter().save(tmp_path / "plain")
    one.save(tmp_path / "one")
    again = Converter.load(tmp_path / "one")
    before, after = one.nbest(LINES, 20), again.nbest(LINES, 20)
    assert list(before.texts) == list(after.texts)
    np.testing.assert_allclose(before.scores, after.scores, atol=1e-4)
    assert converter_fingerprint(tmp_path / "plain") != converter_fingerprint(tmp_path / "one")
    again.save(tmp_path / "one")  # a folder with a class bigram is replaced as any other


def test_a_domain_may_have_another_weight_or_none(tmp_path):
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
    near = replace(exact, settings=replace(exact.settings, margin=1e-6))
    wide = replace(exact, settings=replace(exact.settings, margin=100.0))
    assert list(wide.nbest(LINES, 20).texts) == list(exact.nbest(LINES, 20).texts)
    for few, all_of_them in zip(_scores(near), _scores(exact), strict=True):
        assert few <= all_of_them + 1e-9
    assert len(near.nbest(LINES, 20).texts) < len(exact.nbest(LINES, 20).texts)
    for margin in (0.0, -1.0, float("nan")):
        with pytest.raises(UserError, match="D675"):
            replace(exact.settings, margin=margin)


def _scores(made):
    lists = made.nbest(LINES, 1)
    return lists.scores.tolist()
