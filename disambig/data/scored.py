"""Scores of instances, and what a judge makes of them: plain columns between the scorer and the decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.rows import rows_of
from disambig.data.groups import Group
from disambig.data.lists import CandidateLists

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scores of some instances of one group, and what a judge may want to know beside them.

    Attributes
    ----------
    group : Group
    number : int
        Index of the group in its task.
    offsets : array of int64, shape (n + 1,)
    scores : array of float64, shape (n_candidates,)
    observed : array of int32, shape (n,)
        See `disambig.data.instances`.
    found, asked : arrays of int32, shape (n_candidates,)
    cost : array of float32, shape (n_candidates,)
        Of examples: what each candidate costs.
    own : CandidateLists, optional
        The candidates, where each instance has its own.
    beside : array of uint64, shape (n, 2), optional
        Hashes of the words before and after, where the judge asks for them (``sees_beside``).
    parts : array of float32, shape (n_candidates, P), optional
        What each group of features adds to the scores, where the judge asks for it (``sees_parts``).
    """

    group: Group
    number: int
    offsets: NDArray[np.int64]
    scores: Floats
    observed: NDArray[np.int32]
    found: NDArray[np.int32]
    asked: NDArray[np.int32]
    cost: NDArray[np.float32]
    own: CandidateLists | None = None
    beside: NDArray[np.uint64] | None = None
    parts: NDArray[np.float32] | None = None

    def take(self, index: NDArray[np.int64]) -> Scored:
        """Return the scores of some of the instances."""
        rows, offsets = rows_of(self.offsets, index)
        return Scored(
            self.group,
            self.number,
            offsets,
            self.scores[rows],
            self.observed[index],
            self.found[rows],
            self.asked[rows],
            self.cost[rows],
            None if self.own is None else self.own.take(index),
            None if self.beside is None else self.beside[index],
            None if self.parts is None else self.parts[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What a judge makes of scores, an entry an instance.

    Attributes
    ----------
    chosen : array of int64
        Candidate, as an index in its group or list.
    margins, probabilities : arrays of float64
        See `disambig.data.decisions.Decisions`.
    flagged : array of bool
        Whether the user is to be told.
    said : array of bool
        Whether anything is said at all.
    """

    chosen: NDArray[np.int64]
    margins: Floats
    probabilities: Floats
    flagged: NDArray[np.bool_]
    said: NDArray[np.bool_]
