"""Features as hashes of 32 bits: those seen in training have a column, in the order of their hashes.

Of 200,000 columns a handful share a hash with another one, and one unseen feature in 20,000 is taken for one
of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.features.rows.one_row import Ints, Rows, sparse
from disambig.features.rows.spellings import Spellings, spellings_of
from disambig.referable import Referable
from disambig.text.hashing import MASK, ORDER, fmix
from disambig.types import Arrays

Keys = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class SeenKeys(Referable):
    """One entry a column.

    Attributes
    ----------
    keys : array of uint32, shape (D,)
        Rising.
    names : Spellings
        What each is for people; none where names are not kept.
    """

    keys: Keys
    names: Spellings

    def __len__(self) -> int:
        return len(self.keys)

    def columns(self, keys: Keys) -> Ints:
        """Return the column of each key, -1 for those that have none."""
        if not len(self.keys):
            return np.full(keys.shape, -1, np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def rows(self, keys: Keys, values: NDArray[np.float64]) -> Rows:
        """Return rows of features `keys`, shape ``(n, F)``; 0 is none. Their `values` have shape ``(F,)``."""
        there = keys != 0
        columns = self.columns(keys)
        known = there & (columns >= 0)
        of_row, feature = np.nonzero(known)
        rows = sparse(of_row, columns[known], values[feature], (len(keys), len(self)))
        return rows, known.sum(axis=1), there.sum(axis=1)

    def state(self) -> Arrays:
        """Return all of it as arrays."""
        return {"keys": self.keys, **self.names.state()}


def seen_keys_of(arrays: Arrays) -> SeenKeys:
    """Return what `SeenKeys.state` gave.

    Raises
    ------
    KeyError, ValueError
        Where arrays are missing or do not fit together.
    """
    keys = arrays["keys"]
    if keys.ndim != 1 or keys.dtype != np.uint32 or not (keys[1:] > keys[:-1]).all():
        raise ValueError("context features: no rising hashes of 32 bits")
    return SeenKeys(keys, spellings_of(arrays, len(keys)))


def frequent(parts: Iterable[Keys], *, least: int) -> Keys:
    """Return the features that stand `least` times in all `parts` together, rising; 0 is none."""
    counted = [np.unique(part, return_counts=True) for part in parts]
    every = np.concatenate([np.zeros(0, np.uint32), *(keys for keys, _ in counted)])
    counts = np.concatenate([np.zeros(0, np.int64), *(each for _, each in counted)])
    keys, which = np.unique(every, return_inverse=True)
    often = np.bincount(which, counts, minlength=len(keys))
    return keys[(often >= least) & (keys != 0)]


def hashed(values: NDArray[np.uint64], kinds: NDArray[np.uint64]) -> Keys:
    """Return the keys of values by their kinds; 0 for the value 0, which is none."""
    keys = (fmix(values ^ kinds) >> np.uint64(32)).astype(np.uint32)
    return np.where(values == 0, np.uint32(0), np.maximum(keys, np.uint32(1)))


def kind(number: int) -> int:
    """Return what tells features of a kind from those of others."""
    return number * ORDER & MASK
