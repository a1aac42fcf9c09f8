"""Finds the head words of places by kinds of words and distance; there is no parser.

Each place has up to three:

* its **governor**, the nearest noun, verb or adjective to its left: "*listen* carefully _ music";
* where that is a noun, the **verb** beyond it: "*provide* users _ access";
* its **object**, the last word of the noun phrase to its right, a pronoun, or a gerund: "_ the next few
  *weeks*", "_ *using* the tool".

Where the words are others, the word next to the place stands for the governor ("*and* _"), and the last one
that belongs to no other phrase for the object ("_ *which*", "_ very *often*").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.engine import use_numba
from disambig.features.headwords.parts_of_speech import PartsOfSpeech
from disambig.features.headwords.steps import LEFT, OTHER, RIGHT, find_one
from disambig.text.view import TokenView

HEADS = ("governor", "verb", "object")


def heads_of(parts: PartsOfSpeech, view: TokenView, instances: Instances) -> NDArray[np.int64]:
    """Return the token of each head word of each place, -1 where there is none, shape ``(n, 3)``.

    Raises
    ------
    UserError
        D439, where another tokenisation made the view.
    """
    parts.require(view.tokenisation)
    first, after = instances.positions, instances.positions + instances.lengths
    found = np.full((len(first), len(HEADS)), -1, np.int64)
    if use_numba(len(first) * (LEFT + RIGHT)):
        from disambig.features.headwords.heads_kernels import find

        find(view.hashes, *parts.directory, parts.words, parts.kinds, first, after, found)
        return found
    before = first[:, None] + np.arange(-LEFT, 0)
    window = np.concatenate([before, after[:, None] + np.arange(RIGHT)], axis=1)
    inside = (window >= 0) & (window < len(view))
    kinds = parts.of_words(view.hashes[np.where(inside, window, 0).ravel()]).reshape(window.shape)
    kinds[~inside] = OTHER
    for i in range(len(first)):
        find_one(kinds[i], found[i])
    at = np.take_along_axis(window, np.maximum(found, 0), axis=1)
    sound = (found >= 0) & np.take_along_axis(inside, np.maximum(found, 0), axis=1)
    return np.where(sound, at, -1)
