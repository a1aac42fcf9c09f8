"""Scores of instances of several groups as tables: a judge that compares candidates looks at all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.judges.segmented import same_matrix, table
from disambig.text.hashing import UNKNOWN
from disambig.types import Scored

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Several:
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

    parts: Sequence[Scored]
    part: NDArray[np.int64]
    row: NDArray[np.int64]
    scores: Floats
    observed: NDArray[np.int32]
    found: NDArray[np.int32]
    asked: NDArray[np.int64]
    beside: NDArray[np.uint64]
    parts_of_scores: NDArray[np.float32]

    @classmethod
    def of(cls, parts: Sequence[Scored]) -> Several:
        """Put the instances of some parts, of which there is one at least, one behind the other."""
        counts = [len(each.observed) for each in parts]
        sizes = np.concatenate([np.diff(each.offsets) for each in parts])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        begins = np.concatenate([[0], np.cumsum(counts)])
        part = np.repeat(np.arange(len(parts)), counts)
        asked = table(_joined([each.asked for each in parts]), offsets, 0).sum(axis=1)
        return cls(
            parts,
            part,
            np.arange(begins[-1]) - begins[part],
            table(_joined([each.scores for each in parts]), offsets, -np.inf),
            _joined([each.observed for each in parts]),
            table(_joined([each.found for each in parts]), offsets, 0),
            asked,
            _joined([_beside(each) for each in parts]),
            _parts(parts, offsets),
        )

    def take(self, rows: NDArray[np.generic]) -> Several:
        """Return some of the instances."""
        return Several(
            self.parts,
            self.part[rows],
            self.row[rows],
            self.scores[rows],
            self.observed[rows],
            self.found[rows],
            self.asked[rows],
            self.beside[rows],
            self.parts_of_scores[rows],
        )

    def alike(self) -> NDArray[np.bool_]:
        """Return which candidates are the observed one or variants of it, shape (n, K)."""
        k = self.scores.shape[1]
        same = self.of_groups(lambda group: same_matrix(group), np.zeros((k, k), bool))
        own = np.array([each.own is not None for each in self.parts])
        found: NDArray[np.bool_] = same[self.part, self.observed]
        itself = np.arange(k) == self.observed[:, None]
        return np.where(own[self.part, None], itself, found) if own.any() else found

    def of_groups(self, known: Callable[[Group], NDArray[Any]], filled: NDArray[Any]) -> NDArray[Any]:
        """Return what is known of the group of each part, shape ``(parts, *filled.shape)``.

        Parameters
        ----------
        known : callable
            From a group to an array no larger than `filled` in any dimension.
        filled : array
            What stands where a group has fewer candidates than others, or lists of their own.
        """
        found = np.repeat(filled[None], len(self.parts), axis=0)
        for number, each in enumerate(self.parts):
            if each.own is None and len(each.observed):
                array = known(each.group)
                found[number][tuple(map(slice, array.shape))] = array
        return found


def _beside(scored: Scored) -> NDArray[np.uint64]:
    if scored.beside is not None:
        return scored.beside
    return np.full((len(scored.observed), 2), UNKNOWN, np.uint64)


def _parts(parts: Sequence[Scored], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the parts of scores, zero where there is no candidate."""
    given = [each.parts for each in parts if each.parts is not None and len(each.observed)]
    n, k = len(offsets) - 1, int(np.diff(offsets).max(initial=1))
    if not given:
        return np.zeros((n, k, 0), np.float32)
    columns = [table(column, offsets, 0.0) for column in np.concatenate(given).T]
    return np.stack(columns, axis=2)


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays one behind the other; one alone is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
