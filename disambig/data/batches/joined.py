"""Batches of the same candidates side by side, each in its own storage: words and counts in one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.crossed_columns import Chained

Floats = NDArray[np.float64]


class JoinedColumns(Columns):
    """The columns of several batches, one behind the other; feature groups of one name become one.

    Parameters
    ----------
    parts : sequence of Columns
    """

    __slots__ = ("parts",)
    parts: tuple[Columns, ...]

    def __init__(self, parts: Sequence[Columns]) -> None:
        object.__setattr__(self, "parts", tuple(parts))

    def __reduce__(self) -> tuple[object, ...]:
        return JoinedColumns, (self.parts,)

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def labels(self) -> NDArray[np.int32]:
        """Candidate of each column."""
        return np.concatenate([part.labels for part in self.parts])

    @property
    def groups(self) -> NDArray[np.int32]:
        """Feature group of each column."""
        numbers = {name: i for i, name in enumerate(self.group_names)}
        return np.concatenate(
            [np.array([numbers[name] for name in p.group_names], np.int32)[p.groups] for p in self.parts]
        )

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the feature groups of all parts."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.group_names))

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns; empty where no part has any."""
        names = [part.names for part in self.parts]
        return Chained(names, list(map(len, self.parts))) if any(map(len, names)) else ()


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRows:
    """What several batches say of the same candidates; flat weights are theirs, one behind the other.

    Attributes
    ----------
    parts : tuple of CandidateBatch
        Of equal offsets and costs.
    columns : Columns
    """

    parts: tuple[Any, ...]
    columns: Columns

    @classmethod
    def of(cls, parts: Sequence[Any]) -> JoinedRows:
        """Return batches side by side."""
        return cls(tuple(parts), JoinedColumns([part.columns for part in parts]))

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each instance's rows begin, shape ``(n + 1,)``."""
        return self.parts[0].offsets

    @property
    def cost(self) -> NDArray[np.float32]:
        """What each row costs, zero for the right ones."""
        return self.parts[0].cost

    @property
    def layout(self) -> NDArray[np.int64]:
        """The offsets: each row is a candidate of its own."""
        return self.offsets

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each row: the sum of what the parts say."""
        ends = np.cumsum([0, *(len(part.columns) for part in self.parts)]).tolist()
        scores = np.zeros(len(self.cost))
        for part, (start, end) in zip(self.parts, pairwise(ends), strict=True):
            scores += part.scores(weights[start:end])
        return scores

    def adjoint(self, mass: Floats) -> Floats:
        """Return the features of all parts summed with weights `mass`."""
        return np.concatenate([part.adjoint(mass) for part in self.parts])

    def row_sqnorm(self) -> Floats:
        """Return the squared norm of each row."""
        return np.sum([part.row_sqnorm() for part in self.parts], axis=0)

    def take(self, index: NDArray[np.int64]) -> JoinedRows:
        """Return the batch of the instances in `index`."""
        return JoinedRows(tuple(part.take(index) for part in self.parts), self.columns)
