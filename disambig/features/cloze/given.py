"""What words give to hidden units from each place around them; of frequent words it is kept.

It depends on the word alone, and is half the work for a short text. Most words of any text are frequent ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.features.cloze.model import PRODUCT_STEP, Cloze

Ints = NDArray[np.int32]
FREQUENT = 8192
"""So many of the most frequent words are kept: 50 MB, when all of them have been seen."""
_BLOCK = 4096
_LARGEST_PRODUCT = 32_767


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What is kept of the most frequent words of a model.

    Attributes
    ----------
    is_known : array of bool, shape (n_frequent,)
        Whose rows are filled. Two threads may fill a row at once: with the same.
    rows : array of int16, shape (n_frequent, places * H)
        By the numbers of the words.
    """

    is_known: NDArray[np.bool_]
    rows: NDArray[np.int16]

    @classmethod
    def of(cls, model: Cloze) -> Kept:
        """Return room for the frequent words; what is never written takes up no memory."""
        n = min(FREQUENT, len(model.vocabulary))
        return cls(np.zeros(n, bool), np.empty((n, model.input_floats.shape[1]), np.int16))

    def take(self, model: Cloze, words: Ints) -> NDArray[np.int16]:
        """Return the rows of some of the words, all of them frequent ones."""
        new = words[~self.is_known[words]]
        self.rows[new] = _products(model, new)
        self.is_known[new] = True
        return self.rows[words]


_kept: WeakKeyDictionary[Cloze, Kept] = WeakKeyDictionary()


def given_by(model: Cloze, words: Ints) -> NDArray[np.int16]:
    """Return what words give to the hidden units, in steps of `PRODUCT_STEP`, shape ``(n, places * H)``.

    Parameters
    ----------
    words : array of int32, shape (n,)
        Their numbers, ascending.
    """
    kept = _kept.get(model) or _kept.setdefault(model, Kept.of(model))
    cut = int(np.searchsorted(words, len(kept.is_known)))
    found = np.empty((len(words), model.input_floats.shape[1]), np.int16)
    found[:cut] = kept.take(model, words[:cut])
    found[cut:] = _products(model, words[cut:])
    return found


def _products(model: Cloze, words: Ints) -> NDArray[np.int16]:
    found = np.empty((len(words), model.input_floats.shape[1]), np.int16)
    for start in range(0, len(words), _BLOCK):
        part = words[start : start + _BLOCK]
        exact = model.embeddings[part].astype(np.float32) @ model.input_floats  # integers
        exact *= (model.word_scale[part] * (model.input_scale[0] / np.float32(PRODUCT_STEP)))[:, None]
        np.clip(np.rint(exact, out=exact), -_LARGEST_PRODUCT, _LARGEST_PRODUCT, out=exact)
        found[start : start + _BLOCK] = exact
    return found
