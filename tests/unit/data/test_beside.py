"""The words on both sides of a place."""

from __future__ import annotations

import numpy as np

from disambig.data import Instances, neighbour_words
from disambig.text import SENTENCE_END, SENTENCE_START, Words, hash_words


def test_words_beside_places_of_any_length_and_at_the_ends_of_a_sentence():
    view = Words()(["They may be late"])
    nothing = np.zeros(3, np.int32)
    places = Instances(np.array([1, 2, 5]), np.array([1, 2, 0], np.int32), nothing, nothing)
    wanted = [[SENTENCE_START, "may"], ["they", "late"], ["late", SENTENCE_END]]
    assert neighbour_words(view, places).tolist() == [hash_words(pair).tolist() for pair in wanted]
