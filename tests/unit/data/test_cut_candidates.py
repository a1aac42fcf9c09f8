"""Candidates are cut as texts are, whether they were asked for before or not."""

from __future__ import annotations

import numpy as np
import pytest

from disambig.data import Interned, hash_candidates
from disambig.data import finder as cut_candidates
from disambig.text import Web1T, Words, hash_word

TEXTS = ["in", "", "in spite of", "well-known", "in", "IN", "."]
CUT = [["in"], [], ["in", "spite", "of"], ["well", "-", "known"], ["in"], ["in"], ["."]]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(cut_candidates, "_kept", {})


def cut(texts, tokenisation=Words.name):
    words, lengths = hash_candidates(texts, tokenisation)
    assert not words[np.arange(words.shape[1]) >= lengths[:, None]].any()
    return [row[:n].tolist() for row, n in zip(words, lengths.tolist(), strict=True)]


@pytest.mark.parametrize("most", [1000, 3, 0])
def test_words_are_those_of_the_text(most, monkeypatch):
    monkeypatch.setattr(cut_candidates, "MOST_KEPT", most)
    wanted = [list(map(hash_word, words)) for words in CUT]
    for _ in range(2):
        for i, text in enumerate(TEXTS):
            assert cut([text]) == [wanted[i]]
        assert cut(TEXTS) == wanted
        assert cut(Interned(TEXTS, np.array([2, 2, 1]))) == [wanted[2], wanted[2], wanted[1]]
        assert sum(map(len, cut_candidates._kept.values())) <= most
    words, lengths = hash_candidates([], Words.name)
    assert words.shape == (0, 1) and lengths.shape == (0,)


def test_what_was_asked_for_is_not_cut_again_and_tokenisations_are_kept_apart(monkeypatch):
    first = cut(TEXTS)
    assert cut(["IN"], Web1T.name) == [[hash_word("IN")]]
    monkeypatch.setattr(cut_candidates, "_tokenise_texts", None)
    assert cut(TEXTS[::-1]) == first[::-1]
