"""The words on both sides of a place."""

from __future__ import annotations

import numpy as np

from disambig.data.beside import words_beside
from disambig.data.instances import Instances
from disambig.text.hashing import hash_words
from disambig.text.tokenisations.words import Words
from disambig.text.view import SENTENCE_END, SENTENCE_START


def test_words_beside_places_of_any_length_and_at_the_ends_of_a_sentence():
    view = Words()(["They may be late"])
    nothing = np.zeros(3, np.int32)
    places = Instances(np.array([1, 2, 5]), np.array([1, 2, 0], np.int32), nothing, nothing)
    wanted = [[SENTENCE_START, "may"], ["they", "late"], ["late", SENTENCE_END]]
    assert words_beside(view, places).tolist() == [hash_words(pair).tolist() for pair in wanted]
