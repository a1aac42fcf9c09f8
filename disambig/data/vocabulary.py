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

    def lookup(self, queries: NDArray[Any]) -> Ints:
        """Return the index of each query, -1 for unknown keys; of the shape of `queries`."""
        index, is_known = self._search(queries)
        return np.where(is_known, index, -1)

    def contains(self, queries: NDArray[Any]) -> Bools:
        """Return a mask of the queries that are known keys."""
        return self._search(queries)[1]

    def get(self, queries: NDArray[Any], values: NDArray[Any], default: Any) -> NDArray[Any]:
        """Return the value of each query, or the default for unknown keys; of the shape of `queries`.

        Parameters
        ----------
        queries : array of integers
        values : array, shape (n_keys,)
        default : scalar, or array of the shape of `queries`
        """
        index, is_known = self._search(queries)
        if not len(self.keys):
            return np.full(queries.shape, default, np.result_type(values, default))
        return np.where(is_known, values[index], default)

    def _search(self, queries: NDArray[Any]) -> tuple[Ints, Bools]:
        """Return an index for each query, which is valid for known keys only, and a mask of these."""
        if not len(self.keys):
            return np.zeros(queries.shape, np.int64), np.zeros(queries.shape, np.bool_)
        index = np.minimum(self.keys.searchsorted(queries), len(self.keys) - 1)
        return index, self.keys[index] == queries
