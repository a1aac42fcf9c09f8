"""What is known of words: how often each is written for another, and beside which. A weight each, by hash."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from disambig.engine import use_numba
from disambig.judges.mistakes.edits import NO_CHANGE
from disambig.text.hashing import UNKNOWN, directory_of, fmix

ALONE = 4
"""Kinds of terms without words beside: what is written, what is meant, both together, and what changes."""
KINDS = 8
"""With the word before and the word after: each with the word that is written, and with the one meant."""
NO_KEY = 0
"""Instead of a key where the word beside is not known: it has no weight."""
_SEEDS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)
_SEEDS_BESIDE = np.array(
    [0x27D4EB2F165667C5, 0x85EBCA77C2B2AE63, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53], np.uint64
)
_PLACE = np.uint64(0x9FB21C651E98DF25)


def keys_of(
    words: NDArray[np.uint64], changes: NDArray[np.uint64], beside: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return the keys of the terms of each pair.

    Parameters
    ----------
    words : array of uint64, shape (n, 1 + R)
        The word that stands there, and others.
    changes : array of uint64, shape (n, R)
        What changes from the first to each other; `NO_CHANGE` is no key.
    beside : array of uint64, shape (n, 2)
        The words before and after, `UNKNOWN` where they are not known.

    Returns
    -------
    array of uint64, shape (n, R, KINDS), or (n, R, ALONE) where no word beside is known
        `NO_KEY` where one word beside is not known, or nothing is known to change.
    """
    written = np.broadcast_to(words[:, :1], (len(words), words.shape[1] - 1))
    meant = words[:, 1:]
    parts = np.stack([written, meant, written + meant * _PLACE, changes], axis=2)
    if not beside.any():
        found: NDArray[np.uint64] = fmix(parts + _SEEDS)
        found[:, :, ALONE - 1][changes == NO_CHANGE] = NO_KEY
        return found
    near = np.repeat(beside, 2, axis=1)[:, None] * _PLACE  # before, before, after, after
    with_near = np.stack([written, meant, written, meant], axis=2) + near
    found = fmix(np.concatenate([parts + _SEEDS, with_near + _SEEDS_BESIDE], axis=2))
    found[:, :, ALONE - 1][changes == NO_CHANGE] = NO_KEY
    found[:, :, ALONE:][np.broadcast_to(near == UNKNOWN, with_near.shape)] = NO_KEY
    return found


@dataclass(frozen=True, eq=False)
class Terms:
    """Weights of words and pairs.

    Attributes
    ----------
    keys : array of uint64, shape (n,)
        Ascending.
    weights : array of float64, shape (n,)
    """

    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]

    def sums(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the sum of the weights along the last axis; unknown keys weigh nothing."""
        if not len(self.keys):
            return np.zeros(keys.shape[:-1])
        found: NDArray[np.float64] = self._weights_of(keys).sum(axis=-1)
        return found

    def _weights_of(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        if use_numba(keys.size):
            from disambig.judges.mistakes.term_kernels import look_up

            found = np.empty(keys.shape)
            look_up(self.keys, self.weights, *self._directory, keys.ravel(), found.ravel())
            return found
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.weights[at], 0.0)

    @cached_property
    def _directory(self) -> tuple[NDArray[np.int32], np.uint32]:
        return directory_of((self.keys >> np.uint64(32)).astype(np.uint32))

    def is_sound(self) -> bool:
        """Tell whether keys ascend and weights are finite numbers."""
        return (
            self.keys.ndim == 1
            and self.keys.dtype == np.uint64
            and self.keys.shape == self.weights.shape
            and bool((self.keys[1:] > self.keys[:-1]).all())
            and bool(np.isfinite(self.weights).all())
        )
