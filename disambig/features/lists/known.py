"""The n-grams that training kept: a column for each, found by its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.features.lists.units import Keys, keys_of
from disambig.features.rows.spellings import Spellings, spellings_of
from disambig.types import Arrays


@dataclass(frozen=True, slots=True, eq=False)
class KnownNgrams:
    """N-grams by columns.

    Attributes
    ----------
    names : Spellings
        Sorted; each is a column.
    keys : array of uint64, shape (n,)
        Rising.
    columns : array of int64, shape (n,)
        The column of each key.
    """

    names: Spellings
    keys: Keys
    columns: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str], keys: Keys) -> KnownNgrams:
        """Return these n-grams, each with its key."""
        order = np.argsort(keys, kind="stable")
        return cls(Spellings.of(names), keys[order], order.astype(np.int64))

    def __len__(self) -> int:
        return len(self.names)

    def columns_of(self, keys: Keys) -> NDArray[np.int64]:
        """Return the column of each key, -1 where it has none."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        order = np.argsort(keys)  # rising ones are looked up where the last one was
        rising = keys[order]
        at = np.minimum(np.searchsorted(self.keys, rising), len(self.keys) - 1)
        found = np.empty(len(keys), np.int64)
        found[order] = np.where(self.keys[at] == rising, self.columns[at], -1)
        return found

    def state(self) -> Arrays:
        """Return all of it as arrays; the keys in the order of the names."""
        keys = np.empty_like(self.keys)
        keys[self.columns] = self.keys
        return {"n": np.array([len(self)]), "keys": keys, **self.names.state()}


def known_of(arrays: Arrays, unit: str) -> KnownNgrams:
    """Return what `KnownNgrams.state` gave; keys that are not there are made of the names.

    Raises
    ------
    KeyError, ValueError
        Where arrays are missing or do not fit together.
    """
    n = int(arrays["n"][0])
    names = spellings_of(arrays, n)
    if len(names) != n:
        raise ValueError("n-grams: not a name for each")
    keys = arrays.get("keys")
    if keys is None:
        keys = keys_of(list(names), unit)
    if keys.shape != (n,) or keys.dtype != np.uint64:
        raise ValueError("n-grams: not a key for each")
    order = np.argsort(keys, kind="stable")
    return KnownNgrams(names, keys[order], order.astype(np.int64))
