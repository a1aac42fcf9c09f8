"""Scores of candidates as padded tables with one row per instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, ScoreBatch, lengths
from disambig.text import UNKNOWN
from disambig.type_aliases import Floats


def top_margins(scores: Floats) -> Floats:
    """Return by how much the best score of each row exceeds the next one; infinite for one candidate."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    top_two = np.partition(scores, -2, axis=1)[:, -2:]
    return top_two[:, 1] - top_two[:, 0]


def pad(values: NDArray[Any], offsets: NDArray[np.int64], fill: float) -> NDArray[Any]:
    """Return the values of the candidates as a table, padded with `fill`, shape ``(n, K, ...)``.

    K is the largest number of candidates. Nothing is copied if all instances have as many.
    """
    sizes, shape = lengths(offsets), values.shape[1:]
    if not len(sizes):
        return np.empty((0, 1, *shape), values.dtype)
    k = int(sizes.max())
    if len(values) == len(sizes) * k:
        return values.reshape(len(sizes), k, *shape)
    padded = np.full((len(sizes), k, *shape), fill, values.dtype)
    padded[np.arange(k) < sizes[:, None]] = values
    return padded


def unpad(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Return the values of a padded table without the padding: the inverse of `pad`."""
    return values[np.arange(values.shape[1]) < np.diff(offsets)[:, None]]


@lru_cache(maxsize=1024)
def variant_matrix(group: Group) -> NDArray[np.bool_]:
    """Return a mask of the pairs of candidates that are equal or variants, shape ``(K, K)``."""
    k = range(len(group.candidates))
    return np.array([[group.same(i, j) for j in k] for i in k], bool)


@dataclass(frozen=True, slots=True, eq=False)
class PaddedScores:
    """Padded scores of n instances, with at most K candidates."""

    batch: ScoreBatch  # holds the candidates of the instances
    index: NDArray[np.int64]  # (n,): index of each instance in `batch`
    group_of: NDArray[np.int64]  # (n,): index of each instance's group in the groups of `batch`
    scores: Floats  # float64 (n, K): padded with minus infinity
    observed: NDArray[np.int32]  # (n,): the candidate in the text; -1 if there is none
    found: NDArray[np.int32]  # (n, K): number of n-grams of each candidate that are in the count table
    asked: NDArray[np.int64]  # (n,): number of n-grams that were looked up, for all candidates together
    # uint64 (n, 2): hashes of the words before and after; `UNKNOWN` if they are not known
    neighbours: NDArray[np.uint64]
    # float32 (n, K, P): the contributions of the feature groups; P is 0 if these are not known
    parts_of_scores: NDArray[np.float32]

    @classmethod
    def from_batch(cls, batch: ScoreBatch) -> PaddedScores:
        """Pad the scores of a batch."""
        n, offsets = len(batch), batch.offsets
        neighbours = batch.neighbours
        return cls(
            batch,
            np.arange(n),
            batch.group_of,
            pad(batch.scores, offsets, -np.inf),
            batch.observed,
            pad(batch.found, offsets, 0),
            pad(batch.asked, offsets, 0).sum(axis=1),
            np.full((n, 2), UNKNOWN, np.uint64) if neighbours is None else neighbours,
            _padded_parts(batch),
        )

    def take(self, rows: NDArray[np.generic]) -> PaddedScores:
        """Return the instances in `rows`."""
        return PaddedScores(
            self.batch,
            self.index[rows],
            self.group_of[rows],
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
        if self.batch.own is not None:
            return np.arange(k) == self.observed[:, None]
        same = self.by_group(variant_matrix, np.zeros((k, k), bool))
        mask: NDArray[np.bool_] = same[self.group_of, self.observed]
        return mask

    def by_group(self, get: Callable[[Group], NDArray[Any]], filled: NDArray[Any]) -> NDArray[Any]:
        """Return an array for each group, padded and stacked, shape ``(n_groups, *filled.shape)``.

        Parameters
        ----------
        get : callable
            Returns an array for a group, not larger than `filled` in any dimension.
        filled : array
            Values for padding, for groups without instances, and for per-instance candidates.
        """
        groups = self.batch.groups
        stacked = np.repeat(filled[None], len(groups), axis=0)
        for g, group in enumerate(groups if self.batch.own is None else ()):
            if len(group.candidates) <= len(filled):
                array = get(group)
                stacked[g][tuple(map(slice, array.shape))] = array
        return stacked


def _padded_parts(batch: ScoreBatch) -> NDArray[np.float32]:
    """Return the parts of the scores, padded with zero."""
    if batch.parts is None or not len(batch):
        return np.zeros((len(batch), int(lengths(batch.offsets).max(initial=1)), 0), np.float32)
    return pad(batch.parts, batch.offsets, 0.0)
