"""The weights of a word network as small integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from disambig.text import top_bits_directory
from disambig.type_aliases import Ints

UNKNOWN, OUTSIDE, FIRST_KNOWN = 0, 1, 2
"""Rows of the embeddings: a word outside the vocabulary, no word, and the first word of the vocabulary."""
TOPIC_SHIFT = 3
"""Sums of far words are shifted right by this: they stay exact and have the size of single embeddings."""
LARGEST_OUTPUT = 32_767
"""Output weights have smaller steps than the others: they are few, and a large one would hide the rest."""
_LARGEST = 2.0**64
"""Limit of scales and biases; multiplied by the largest sums, they stay far below the float32 maximum."""
_STORED = {
    "vocabulary": np.uint32,
    **dict.fromkeys(("near", "far", "hidden"), np.int8),
    **dict.fromkeys(("hidden_scale", "hidden_bias", "output_scale", "output_bias"), np.float32),
    **dict.fromkeys(("groups", "sizes"), np.int64),
}
"""The type of each array of `NetworkWeights`."""


@dataclass(frozen=True, eq=False)
class NetworkWeights:
    """A network in small integers.

    Attributes
    ----------
    vocabulary : array of uint32, shape (V,)
        Upper halves of word hashes, ascending; word i has row ``i + FIRST_KNOWN`` of the embeddings.
    near, far : arrays of int8, shape (V + FIRST_KNOWN, d)
        Embeddings of words used by position, and of words that are summed. `far` has only its first two
        rows if no far words are used.
    hidden : array of int8, shape ((places + 1) * d, H)
    hidden_scale, hidden_bias : arrays of float32, shape (H,)
        The hidden units, between 0 and 255, are ``hidden_scale * (input @ hidden) + hidden_bias``.
    groups, sizes : arrays of int64, shape (G,)
        Number (`group_number`) and number of candidates of each group.
    output : array of int16, shape (sum of sizes, H)
        int8 in models of earlier versions.
    output_scale, output_bias : arrays of float32, shape (sum of sizes,)
    """

    vocabulary: NDArray[np.uint32]
    near: NDArray[np.int8]
    far: NDArray[np.int8]
    hidden: NDArray[np.int8]
    hidden_scale: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    groups: Ints
    sizes: Ints
    output: NDArray[np.int16] | NDArray[np.int8]
    output_scale: NDArray[np.float32]
    output_bias: NDArray[np.float32]

    @cached_property
    def hidden_floats(self) -> NDArray[np.float32]:
        """The hidden weights as float32, for BLAS."""
        return self.hidden.astype(np.float32)

    @cached_property
    def output_floats(self) -> NDArray[np.float64]:
        """The output weights as float64, for BLAS."""
        return self.output.astype(np.float64)

    @cached_property
    def group_slices(self) -> dict[int, slice]:
        """The slice of outputs of each group, by its number; the first one if numbers are equal."""
        ends = np.cumsum(self.sizes).tolist()
        places = zip(self.groups.tolist(), self.sizes.tolist(), ends, strict=True)
        return {number: slice(end - size, end) for number, size, end in reversed(list(places))}

    @cached_property
    def directory(self) -> tuple[NDArray[np.int32], np.uint32]:
        """See `top_bits_directory`."""
        return top_bits_directory(self.vocabulary)

    def check(self, *, places: int, near: int, far: int, dimensions: int, hidden: int) -> None:
        """Raise ValueError if arrays have other types, sizes or contents than a network of this shape."""
        for name, dtype in _STORED.items():
            if getattr(self, name).dtype != dtype:
                raise ValueError(f"word network: {name} is of another type than {np.dtype(dtype).name}")
        if self.output.dtype not in (np.int16, np.int8):
            raise ValueError("word network: output is of another type than int16")
        d, h, words, rows = dimensions, hidden, self.vocabulary.size, self.output_bias.size
        far_words = words if far > near else 0
        fits = (
            self.vocabulary.shape == (words,)
            and self.near.shape == (words + FIRST_KNOWN, d)
            and self.far.shape == (far_words + FIRST_KNOWN, d)
            and self.hidden.shape == ((places + 1) * d, h)
            and self.hidden_scale.shape == self.hidden_bias.shape == (h,)
            and self.groups.shape == self.sizes.shape == (self.sizes.size,)
            and bool(((self.sizes > 0) & (self.sizes <= rows)).all())  # so that their sum cannot overflow
            and int(self.sizes.sum()) == rows
            and self.output.shape == (rows, h)
            and self.output_scale.shape == self.output_bias.shape == (rows,)
        )
        if not fits:
            raise ValueError("word network: its arrays differ in size")
        if not words or not (self.vocabulary[1:] > self.vocabulary[:-1]).all():
            raise ValueError("word network: its vocabulary is empty or not in ascending order")
        if min(array.min(initial=0) for array in (self.near, self.far, self.hidden)) < -127:
            raise ValueError("word network: weights of -128")
        floats = self.hidden_scale, self.hidden_bias, self.output_scale, self.output_bias
        if not all((np.abs(array) <= _LARGEST).all() for array in floats):
            raise ValueError("word network: scales or biases without bounds")
