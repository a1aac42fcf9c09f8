"""Look-up of many keys at once in a sorted array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.type_aliases import Bools, Ints


@dataclass(frozen=True, slots=True, eq=False)
class HashVocabulary:
    """A set of keys, such as hashes of words, each with an index.

    Attributes
    ----------
    keys : array of integers, shape (n_keys,)
        Ascending; the index of a key is its place in this array.
    """

    keys: NDArray[Any]

    def lookup(self, wanted: NDArray[Any]) -> Ints:
        """Return the index of each key, -1 for unknown keys; of the shape of `wanted`."""
        at, known = self._search(wanted)
        return np.where(known, at, -1)

    def contains(self, wanted: NDArray[Any]) -> Bools:
        """Return a mask of the known keys, of the shape of `wanted`."""
        return self._search(wanted)[1]

    def get(self, wanted: NDArray[Any], values: NDArray[Any], default: Any) -> NDArray[Any]:
        """Return the value of each key, or the default for unknown keys; of the shape of `wanted`.

        Parameters
        ----------
        wanted : array of integers
        values : array, shape (n_keys,)
        default : scalar, or array of the shape of `wanted`
        """
        at, known = self._search(wanted)
        if not len(self.keys):
            return np.full(wanted.shape, default, np.result_type(values, default))
        return np.where(known, values[at], default)

    def _search(self, wanted: NDArray[Any]) -> tuple[Ints, Bools]:
        """Return an index for each key, which is valid for known keys only, and a mask of these."""
        if not len(self.keys):
            return np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, np.bool_)
        at = np.minimum(self.keys.searchsorted(wanted), len(self.keys) - 1)
        return at, self.keys[at] == wanted
