"""What the model of words in context is made of: a vocabulary, and weights in small integers; a folder of it.

    hidden = relu(bias + sum over places p of E[word at p] W[p])        one row of W for each place
    state  = hidden U + state_bias
    score of candidate c = state . V[c] + b[c]

A log-bilinear model (Mnih and Hinton 2007) with a hidden layer and an input matrix for each place. Kept
weights are integers of 8 bits; sums are of integers small enough to be exact, and what is between the layers
is rounded, so that the answer does not depend on the machine or the size of a batch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.cut_candidates import hashes_of_candidates
from disambig.errors import UserError
from disambig.features.cloze.vocabulary import Vocabulary
from disambig.features.stored import HEADER, read_stored, write_stored

FILE = "weights.npz"
LARGEST = 127
"""Of the weights as they are made; -128 is one that 8 bits hold, too."""
PRODUCT_STEP = 1 / 256
"""What words give to hidden units is rounded to this."""
STATE_STEP = 1 / 128
"""And so are states."""
_LARGEST_SCALE = 2.0**20
_MOST_PLACES, _MOST_STATES = 1_000, 4_000
"""So that sums of 32 bits hold what places give, and the products of states."""
_FLOATS = ("word_scale", "input_scale", "hidden_bias", "hidden_step", "state_scale", "state_bias")
_ARRAYS = ("words", "embeddings", *_FLOATS[:2], "inputs", *_FLOATS[2:4], "states", *_FLOATS[4:])
_OUTPUTS = ("outputs", "output_scale", "output_bias")
NAMES = (*_ARRAYS, *_OUTPUTS)
"""Of the arrays in a folder."""


@dataclass(frozen=True, eq=False)
class Cloze:
    """A model of words in context.

    Attributes
    ----------
    vocabulary : Vocabulary
    left, right : int
        How many words it sees on each side.
    embeddings : array of int8, shape (vocabulary.outside + 1, D)
        Times `word_scale`, of each row.
    inputs : array of int8, shape (left + right, D, H)
        Of each place, the nearest first, those on the left before those on the right; times `input_scale`.
    hidden_bias : array of float32, shape (H,)
    hidden_step : array of float32, shape (1,)
        Hidden units are kept as 0 to 255 times this.
    states : array of int8, shape (H, S)
        Times `state_scale`, of each column.
    state_bias : array of float32, shape (S,)
    outputs : array of int8, shape (len(vocabulary) + 1, S)
        Of each word, and of no word at all; times `output_scale`, of each row.
    output_bias : array of float32, shape (len(vocabulary) + 1,)
    header : dict
        ``tokenisation``, and for people what it was made from.
    """

    vocabulary: Vocabulary
    left: int
    right: int
    embeddings: NDArray[np.int8]
    word_scale: NDArray[np.float32]
    inputs: NDArray[np.int8]
    input_scale: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    hidden_step: NDArray[np.float32]
    states: NDArray[np.int8]
    state_scale: NDArray[np.float32]
    state_bias: NDArray[np.float32]
    outputs: NDArray[np.int8]
    output_scale: NDArray[np.float32]
    output_bias: NDArray[np.float32]
    header: dict[str, Any]

    @classmethod
    def load(cls, folder: Path) -> Cloze:
        """Read the model in a folder.

        Raises
        ------
        UserError
            D990, where a file is missing or is not what `save` writes.
        """
        header, arrays = read_stored(folder, FILE, NAMES, code="D990")
        try:
            words, *weights = arrays
            endings, left, right = (_whole(header[name]) for name in ("endings", "left", "right"))
            if not isinstance(header["tokenisation"], str):
                raise ValueError("its tokenisation is no name")
            by_name = dict(zip(NAMES[1:], weights, strict=True))
            model = cls(Vocabulary(words, endings), left, right, **by_name, header=header)
            model._check()
        except (ValueError, LookupError, TypeError) as problem:
            raise UserError("D990", path=folder, problem=problem) from problem
        return model

    def save(self, folder: Path) -> None:
        """Write the model into a folder, which is made."""
        own = {"left": self.left, "right": self.right, "endings": self.vocabulary.endings}
        arrays = {name: getattr(self, name) for name in NAMES[1:]}
        write_stored(folder, FILE, {**self.header, **own}, words=self.vocabulary.words, **arrays)

    @property
    def nothing(self) -> int:
        """The number of the candidate that is no word."""
        return len(self.vocabulary)

    def require(self, tokenisation: str) -> None:
        """Raise UserError D992 for words of another tokenisation than its own."""
        if tokenisation != self.header["tokenisation"]:
            raise UserError("D992", seen=tokenisation, known=self.header["tokenisation"])

    def numbers_of_candidates(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return the number of each candidate, `nothing` for no word; -1 for one that is not known.

        Candidates are cut as the text is: what one word is there is one here. Of several words none is known.
        """
        words, lengths = hashes_of_candidates(texts, self.header["tokenisation"])
        numbers = np.where(lengths == 0, np.int32(self.nothing), np.int32(-1))
        alone = lengths == 1
        numbers[alone] = self.vocabulary.of_hashes(words[alone, 0])
        return numbers

    @cached_property
    def input_floats(self) -> NDArray[np.float32]:
        """The inputs of all places side by side for BLAS, shape ``(D, places * H)``."""
        places, d, h = self.inputs.shape
        wide = self.inputs.transpose(1, 0, 2).reshape(d, places * h)
        return np.ascontiguousarray(wide, np.float32)

    @cached_property
    def state_floats(self) -> NDArray[np.float32]:
        """The weights of states for BLAS."""
        return self.states.astype(np.float32)

    def _check(self) -> None:
        """Raise ValueError for arrays of other types, sizes or contents than such a model has."""
        vocabulary, n = self.vocabulary, len(self.vocabulary)
        (places, d, h), (_, s) = self.inputs.shape, self.states.shape
        shapes = {
            "embeddings": (np.int8, (vocabulary.outside + 1, d)),
            "word_scale": (np.float32, (vocabulary.outside + 1,)),
            "inputs": (np.int8, (self.left + self.right, d, h)),
            "input_scale": (np.float32, (1,)),
            "hidden_bias": (np.float32, (h,)),
            "hidden_step": (np.float32, (1,)),
            "states": (np.int8, (h, s)),
            "state_scale": (np.float32, (s,)),
            "state_bias": (np.float32, (s,)),
            "outputs": (np.int8, (n + 1, s)),
            "output_scale": (np.float32, (n + 1,)),
            "output_bias": (np.float32, (n + 1,)),
        }
        if min(places, d, h, s) < 1 or places > _MOST_PLACES or s > _MOST_STATES:
            raise ValueError(f"layers of {places}, {d}, {h} and {s} units are none that it has")
        if max(d * (LARGEST + 1), 255 * h) * (LARGEST + 1) >= 2**24:  # float32 holds all integers up to there
            raise ValueError("its layers are too wide for exact sums")
        if vocabulary.words.dtype != np.uint64 or vocabulary.words.shape != (n,) or n < 1:
            raise ValueError("its words are no hashes")
        if len(np.unique(vocabulary.words)) < n:
            raise ValueError("a word is there twice")
        for name, (dtype, shape) in shapes.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.shape != shape:
                raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, not of shape {shape}")
            if dtype == np.float32 and not (np.abs(array) <= _LARGEST_SCALE).all():
                raise ValueError(f"{name} has no bounds")
        if not self.hidden_step[0] >= 1 / _LARGEST_SCALE:
            raise ValueError("hidden_step is not above zero")


@lru_cache(maxsize=4)
def _loaded(folder: str, stamps: tuple[tuple[int, int], ...]) -> Cloze:
    return Cloze.load(Path(folder))


def cloze_in(folder: str | Path) -> Cloze:
    """Return the model in a folder; it is read once, until its files change.

    Raises
    ------
    UserError
        D990.
    """
    try:
        path = Path(folder).resolve()
        about = [os.stat(path / name) for name in (HEADER, FILE)]
    except (OSError, ValueError) as problem:
        raise UserError("D990", path=folder, problem=getattr(problem, "strerror", problem)) from problem
    return _loaded(str(path), tuple((each.st_mtime_ns, each.st_size) for each in about))


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 2**16:
        raise ValueError(f"{value!r} where a number from 1 on belongs")
    return value
