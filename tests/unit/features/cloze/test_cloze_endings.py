"""What words that end alike share while words in context are learned."""

from __future__ import annotations

import numpy as np
import pytest
from cloze_toys import SMALL, numbered, sentences
from test_cloze_checkpoints import Killed, same, until

from disambig.features import ENDING_SHARE, WordEndings, learn_cloze
from disambig.features import _cloze_network as learning_endings

TEXTS = sentences(120)


@pytest.fixture
def short(monkeypatch):
    """Let endings of two words count, of the most frequent ones too."""
    monkeypatch.setattr(learning_endings, "APART", 0)
    monkeypatch.setattr(learning_endings, "LEAST_WORDS", 2)


def learned(**settings):
    blocks, vocabulary, rivals, beside, spellings = numbered(TEXTS)
    asked = {"none_beside": beside, "spellings": spellings, **SMALL, "epochs": 2, **settings}
    return learn_cloze(blocks, vocabulary, rivals, **asked)


def test_a_step_of_an_ending_is_taken_in_all_its_words(short):
    endings = WordEndings(["walking", "talking", "sung", "table", "4ng"])
    members = {
        "g": [0, 1, 2],
        "ng": [0, 1, 2],
        "ing": [0, 1],
        "king": [0, 1],
    }  # "sung" has two letters before
    members["ng"] = [0, 1, 2]
    assert len(endings) == len(members)
    slopes = np.arange(10, dtype=np.float32).reshape(5, 2)
    values, seen = np.ones((5, 2), np.float32), np.full(4, 0.5, np.float32)
    wanted = values.copy()
    for rows in members.values():
        slope = slopes[rows].sum(axis=0)
        wanted[rows] -= ENDING_SHARE * 0.1 * slope / np.sqrt(0.5 + np.square(slope).mean())
    endings.spread(values, slopes, seen, np.float32(0.1))
    assert np.allclose(values, wanted, atol=1e-6)
    assert values[3:].tolist() == [[1, 1], [1, 1]]
    assert (seen > 0.5).all()


def test_frequent_words_and_rare_endings_share_nothing():
    assert len(WordEndings([])) == 0
    assert len(WordEndings([f"word{letter}ing" for letter in "abcdefgh"])) == 0
    many = [f"{a}{b}t" for a in "abcdefgh" for b in "abcdefghij"]
    assert len(many) == 80 and len(WordEndings(many)) == 1


def test_it_changes_what_is_learned_and_nothing_hangs_on_threads(short):
    one, two = learned(threads=1), learned(threads=2)
    assert same(one, two)
    assert not same(one, learned(spellings=()))


def test_learning_with_endings_goes_on_to_the_same_bits(short, tmp_path):
    path, whole = tmp_path / "state.npz", learned()
    with pytest.raises(Killed):
        learned(checkpoint=path, checkpoint_every=3, progress=until(4))
    assert path.exists()
    assert same(whole, learned(checkpoint=path))


def test_spellings_of_other_words_are_refused():
    with pytest.raises(ValueError, match="spellings of 1 words for a vocabulary of"):
        learned(spellings=["one"])
