"""Scores of candidates as padded tables with one row per instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, ScoreBatch, join_offsets, offsets_from_sizes, row_owners
from disambig.text import UNKNOWN
from disambig.type_aliases import Floats


def pad(values: NDArray[Any], offsets: NDArray[np.int64], fill: float) -> NDArray[Any]:
    """Return the values of the candidates as a table of shape ``(n, most candidates)``, padded with `fill`.

    Nothing is copied if all instances have the same number of candidates.
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
    """Return the values of a padded table without the padding: the inverse of `pad`."""
    return values[np.arange(values.shape[1]) < np.diff(offsets)[:, None]]


def is_variant(scored: ScoreBatch) -> NDArray[np.bool_]:
    """Return a mask of the observed candidates and their variants, shape ``(n, most candidates)``."""
    if scored.own is None:
        return variant_matrix(scored.group)[scored.observed]
    most = int(np.diff(scored.offsets).max(initial=1))
    return np.arange(most) == scored.observed[:, None]


@lru_cache(maxsize=1024)
def variant_matrix(group: Group) -> NDArray[np.bool_]:
    """Return a mask of the pairs of candidates that are equal or variants, shape ``(K, K)``."""
    k = range(len(group.candidates))
    return np.array([[group.same(i, j) for j in k] for i in k], bool)


@dataclass(frozen=True, slots=True, eq=False)
class PaddedScores:
    """Padded scores of n instances of several groups, with at most K candidates.

    Attributes
    ----------
    parts : sequence of ScoreBatch
        The batches that hold the instances, one per group.
    part, row : arrays of int64, shape (n,)
        Index of each instance's batch in `parts`, and its index there.
    scores : array of float64, shape (n, K)
        Padded with minus infinity.
    observed : array of int32, shape (n,)
        The candidate in the text; -1 if there is none.
    found : array of int32, shape (n, K)
        Number of n-grams of each candidate that are in the count table.
    asked : array of int64, shape (n,)
        Number of n-grams that were looked up, for all candidates together.
    neighbours : array of uint64, shape (n, 2)
        Hashes of the words before and after; `UNKNOWN` if they are not known.
    parts_of_scores : array of float32, shape (n, K, P)
        The contributions of the feature groups; P is 0 if these are not known.
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
        """Concatenate the instances of at least one batch."""
        counts = [len(part.observed) for part in parts]
        offsets = join_offsets(part.offsets for part in parts)
        begins = offsets_from_sizes(counts)
        part = row_owners(begins)
        asked = pad(_joined([part.asked for part in parts]), offsets, 0).sum(axis=1)
        return cls(
            parts,
            part,
            np.arange(begins[-1]) - begins[part],
            pad(_joined([part.scores for part in parts]), offsets, -np.inf),
            _joined([part.observed for part in parts]),
            pad(_joined([part.found for part in parts]), offsets, 0),
            asked,
            _joined([_neighbours(part) for part in parts]),
            _parts(parts, offsets),
        )

    def take(self, rows: NDArray[np.generic]) -> PaddedScores:
        """Return the instances in `rows`."""
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
        """Return a mask of the observed candidates and their variants, shape (n, K)."""
        k = self.scores.shape[1]
        same = self.by_group(lambda group: variant_matrix(group), np.zeros((k, k), bool))
        own = np.array([part.own is not None for part in self.parts])
        mask: NDArray[np.bool_] = same[self.part, self.observed]
        itself = np.arange(k) == self.observed[:, None]
        return np.where(own[self.part, None], itself, mask) if own.any() else mask

    def by_group(self, get: Callable[[Group], NDArray[Any]], filled: NDArray[Any]) -> NDArray[Any]:
        """Return an array for the group of each part, padded and stacked, shape ``(parts, *filled.shape)``.

        Parameters
        ----------
        get : callable
            Returns an array for a group, not larger than `filled` in any dimension.
        filled : array
            Values for padding, and for groups with per-instance candidates.
        """
        filled_in = np.repeat(filled[None], len(self.parts), axis=0)
        for number, part in enumerate(self.parts):
            if part.own is None and len(part.observed):
                array = get(part.group)
                filled_in[number][tuple(map(slice, array.shape))] = array
        return filled_in


def _neighbours(scored: ScoreBatch) -> NDArray[np.uint64]:
    if scored.neighbours is not None:
        return scored.neighbours
    return np.full((len(scored.observed), 2), UNKNOWN, np.uint64)


def _parts(parts: Sequence[ScoreBatch], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the parts of the scores, padded with zero."""
    given = [part.parts for part in parts if part.parts is not None and len(part.observed)]
    n, k = len(offsets) - 1, int(np.diff(offsets).max(initial=1))
    if not given:
        return np.zeros((n, k, 0), np.float32)
    columns = [pad(column, offsets, 0.0) for column in np.concatenate(given).T]
    return np.stack(columns, axis=2)


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate the arrays; a single array is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
