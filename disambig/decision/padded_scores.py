"""Scores of candidates as padded tables, one row for each instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, ScoreBatch
from disambig.text import UNKNOWN


def pad(values: NDArray[Any], offsets: NDArray[np.int64], fill: float) -> NDArray[Any]:
    """Return the values of the candidates, shape ``(n, most candidates)``; `fill` where there is none.

    Nothing is copied where all instances have as many.
    """
    sizes = np.diff(offsets)
    if not len(sizes):
        return np.empty((0, 1), values.dtype)
    most = int(sizes.max())
    if len(values) == len(sizes) * most:
        return values.reshape(len(sizes), most)
    padded = np.full((len(sizes), most), fill, values.dtype)
    padded[np.arange(most) < sizes[:, None]] = values
    return padded


def unpad(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Return a table's values as those of candidates: the inverse of `table`."""
    return values[np.arange(values.shape[1]) < np.diff(offsets)[:, None]]


def is_variant(scored: ScoreBatch) -> NDArray[np.bool_]:
    """Return which candidates are the observed one or variants of it, shape ``(n, most candidates)``."""
    if scored.own is None:
        return variant_matrix(scored.group)[scored.observed]
    most = int(np.diff(scored.offsets).max(initial=1))
    return np.arange(most) == scored.observed[:, None]


@lru_cache(maxsize=1024)
def variant_matrix(group: Group) -> NDArray[np.bool_]:
    """Return which candidates are equal or variants of each other, shape ``(K, K)``."""
    k = range(len(group.candidates))
    return np.array([[group.same(i, j) for j in k] for i in k], bool)


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PaddedScores:
    """What is known of n instances with at most K candidates; a column is a candidate of its group or list.

    Attributes
    ----------
    parts : sequence of Scored
        Where the instances are from, a group each.
    part, row : arrays of int64, shape (n,)
        Which part each instance is of, and its number there.
    scores : array of float64, shape (n, K)
        Minus infinity where there is no candidate.
    observed : array of int32, shape (n,)
    found : array of int32, shape (n, K)
    asked : array of int64, shape (n,)
        Of all candidates together.
    beside : array of uint64, shape (n, 2)
        Hashes of the words before and after; `UNKNOWN` where they are not known.
    parts_of_scores : array of float32, shape (n, K, P)
        P is 0 where these are not known.
    """

    parts: Sequence[ScoreBatch]
    part: NDArray[np.int64]
    row: NDArray[np.int64]
    scores: Floats
    observed: NDArray[np.int32]
    found: NDArray[np.int32]
    asked: NDArray[np.int64]
    neighbours: NDArray[np.uint64]
    parts_of_scores: NDArray[np.float32]

    @classmethod
    def from_batches(cls, parts: Sequence[ScoreBatch]) -> PaddedScores:
        """Put the instances of some parts, of which there is one at least, one behind the other."""
        counts = [len(part.observed) for part in parts]
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        begins = np.concatenate([[0], np.cumsum(counts)])
        part = np.repeat(np.arange(len(parts)), counts)
        asked = pad(_joined([part.asked for part in parts]), offsets, 0).sum(axis=1)
        return cls(
            parts,
            part,
            np.arange(begins[-1]) - begins[part],
            pad(_joined([part.scores for part in parts]), offsets, -np.inf),
            _joined([part.observed for part in parts]),
            pad(_joined([part.found for part in parts]), offsets, 0),
            asked,
            _joined([_beside(part) for part in parts]),
            _parts(parts, offsets),
        )

    def take(self, rows: NDArray[np.generic]) -> PaddedScores:
        """Return some of the instances."""
        return PaddedScores(
            self.parts,
            self.part[rows],
            self.row[rows],
            self.scores[rows],
            self.observed[rows],
            self.found[rows],
            self.asked[rows],
            self.neighbours[rows],
            self.parts_of_scores[rows],
        )

    def is_variant(self) -> NDArray[np.bool_]:
        """Return which candidates are the observed one or variants of it, shape (n, K)."""
        k = self.scores.shape[1]
        same = self.by_group(lambda group: variant_matrix(group), np.zeros((k, k), bool))
        own = np.array([part.own is not None for part in self.parts])
        mask: NDArray[np.bool_] = same[self.part, self.observed]
        itself = np.arange(k) == self.observed[:, None]
        return np.where(own[self.part, None], itself, mask) if own.any() else mask

    def by_group(self, get: Callable[[Group], NDArray[Any]], filled: NDArray[Any]) -> NDArray[Any]:
        """Return what is known of the group of each part, shape ``(parts, *filled.shape)``.

        Parameters
        ----------
        known : callable
            From a group to an array no larger than `filled` in any dimension.
        filled : array
            What stands where a group has fewer candidates than others, or lists of their own.
        """
        filled_in = np.repeat(filled[None], len(self.parts), axis=0)
        for number, part in enumerate(self.parts):
            if part.own is None and len(part.observed):
                array = get(part.group)
                filled_in[number][tuple(map(slice, array.shape))] = array
        return filled_in


def _beside(scored: ScoreBatch) -> NDArray[np.uint64]:
    if scored.neighbours is not None:
        return scored.neighbours
    return np.full((len(scored.observed), 2), UNKNOWN, np.uint64)


def _parts(parts: Sequence[ScoreBatch], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the parts of scores, zero where there is no candidate."""
    given = [part.parts for part in parts if part.parts is not None and len(part.observed)]
    n, k = len(offsets) - 1, int(np.diff(offsets).max(initial=1))
    if not given:
        return np.zeros((n, k, 0), np.float32)
    columns = [pad(column, offsets, 0.0) for column in np.concatenate(given).T]
    return np.stack(columns, axis=2)


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays one behind the other; one alone is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
