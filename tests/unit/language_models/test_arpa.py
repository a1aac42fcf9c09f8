"""ARPA files of our models, read by KenLM, give what ours give."""

from __future__ import annotations

import numpy as np
import pytest
from made_texts import random_text, sentences_of

from disambig.errors import UserError
from disambig.language_models import Sentences, cross_entropy, estimate, sentence_scores, to_arpa


def test_the_file_of_a_toy(tmp_path):
    to_arpa(estimate(*sentences_of(["a b".split(), "a c".split()]), order=2), tmp_path / "toy.arpa")
    lines = (tmp_path / "toy.arpa").read_text(encoding="utf8").splitlines()
    assert lines[:5] == ["\\data\\", "ngram 1=6", "ngram 2=5", "", "\\1-grams:"]
    entries = {words: values for *values, words in (_entry(line) for line in lines if "\t" in line)}
    assert entries["<s>"] == pytest.approx([-99, np.log10(1 / 3)], abs=1e-6)
    assert entries["a"] == pytest.approx([np.log10(0.176), np.log10(2 / 3)], abs=1e-6)
    assert entries["a b"] == pytest.approx([np.log10(1 / 6 + 2 / 3 * 0.176)], abs=1e-6)
    assert lines[-1] == "\\end\\" and len(entries) == 11


def _entry(line):
    first, words, *weight = line.split("\t")
    return (float(first), *map(float, weight), words)


def test_words_with_blanks_are_refused(tmp_path):
    for word in ("New York", "", "a\n"):
        with pytest.raises(UserError, match=r"^\[D658\]"):
            to_arpa(estimate(*sentences_of([["a", word]])), tmp_path / "model.arpa")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("smoothing", ["kneser_ney", "absolute"])
@pytest.mark.parametrize("settings", [{}, {"order": 2}, {"order": 5}, {"min_counts": {3: 2}}, {"least": 3}])
def test_kenlm_says_the_same(tmp_path, smoothing, settings):
    kenlm = pytest.importorskip("kenlm")
    settings = dict(settings)
    sentences, vocabulary = sentences_of(random_text(500, words=60), settings.pop("least", 1))
    model = estimate(sentences, vocabulary, smoothing=smoothing, **settings)
    to_arpa(model, tmp_path / "model.arpa")
    theirs = kenlm.Model(str(tmp_path / "model.arpa"))
    text = [*random_text(100, seed=1, words=70), ["w1"], ["nowhere", "w2"]]
    ours = Sentences.from_words(vocabulary, text)
    expected = np.array([theirs.score(" ".join(sentence)) for sentence in text]) * np.log(10)
    assert sentence_scores(model, ours) == pytest.approx(expected, abs=1e-4)
    entropy = cross_entropy(model, ours)
    assert entropy.unknown > 0
    whole = 10 ** (-expected.sum() / np.log(10) / (len(ours.ids) + len(ours)))
    assert entropy.perplexity == pytest.approx(whole, rel=1e-6)
