"""Habits: what the frame around an "it" says of it, learned from patterns that tell for sure.

Two sets of weights: one tells clauses ("it is clear that") from things, one what treebanks hardly label
(weather, times, clefts, fixed phrases) from all else, so that a learner can believe the one more than the
other. Of each two attributes a candidate: the log-odds that the "it" refers to nothing, of the second
candidate half of it, of the first one less half, and of what is beyond `SURE` the same again. The weights
were learned from running text and not from labelled examples (`learning`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, Columns, DenseBlocks, Features, Group, Instances, TokenView, UserError
from disambig.api.features import read_stored, write_stored

from .frames import keys_of

HABITS = Path(__file__).parent / "weights"
"""The folder with the weights that ship."""
NAME = "habits"
FILE = "habits.npz"
STEP = 1 / 32
"""Weights are kept in steps of this size."""
SETS = ("clause", "rare")
"""The sets of weights."""
SURE = 1.5
"""Log-odds beyond which they count twice, as what labelled examples hold little of: a weight of its own."""
_ATTRIBUTES = tuple(f"{sure}{name} habits" for sure in ("", "sure ") for name in SETS)
_CODE = "D498"


@dataclass(frozen=True, slots=True, eq=False)
class Habits:
    """Two sets of weights of frames.

    Attributes
    ----------
    keys : array of uint32, shape (m,)
        Features (`frames.keys_of`), ascending.
    weights : array of int8, shape (2, m)
        In steps of `STEP`, a row for each of `SETS`.
    biases : tuple of two floats
    header : dict
        Where they were learned from, for people.
    """

    keys: NDArray[np.uint32]
    weights: NDArray[np.int8]
    biases: tuple[float, float]
    header: Mapping[str, Any]

    def log_odds(self, keys: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Return the log-odds that nothing is referred to, of features of shape (n, F), shape (2, n)."""
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[at] == keys  # (n, F)
        steps = [np.where(known, weights[at].astype(np.int32), 0).sum(axis=1) for weights in self.weights]
        return (np.stack(steps) * STEP + np.array(self.biases)[:, None]).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write the weights into a folder."""
        header = {**self.header, "biases": list(self.biases)}
        write_stored(folder, FILE, header, keys=self.keys, weights=self.weights)

    @classmethod
    def load(cls, folder: Path) -> Habits:
        """Read a folder.

        Raises
        ------
        UserError
            D498 where it holds no such weights.
        """
        header, (keys, weights) = read_stored(folder, FILE, ("keys", "weights"), code=_CODE)
        biases = header.get("biases") if isinstance(header, dict) else None
        sound = (
            isinstance(biases, list)
            and len(biases) == len(SETS)
            and all(isinstance(bias, int | float) and np.isfinite(bias) for bias in biases)
            and keys.ndim == 1
            and keys.dtype == np.uint32
            and weights.dtype == np.int8
            and weights.shape == (len(SETS), len(keys))
            and len(keys) > 0
            and bool((keys[1:] > keys[:-1]).all())
        )
        if not sound:
            raise UserError(_CODE, path=folder, problem="its keys, weights or header are of another kind")
        assert biases is not None
        return cls(keys, weights, (float(biases[0]), float(biases[1])), header)


@lru_cache(maxsize=4)
def habits_in(folder: str) -> Habits:
    """Return the weights of a folder, read once (errors: `Habits.load`)."""
    return Habits.load(Path(folder))


@dataclass(frozen=True, slots=True)
class ItHabits:
    """Extractor of the log-odds, for a task that labels "it" with one of two labels.

    Parameters
    ----------
    habits : path
        A folder with weights.
    """

    habits: str | Path = HABITS
    describes: ClassVar[str] = "group"

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> ItHabits:
        """Return self: the weights were learned beforehand."""
        return self

    def state(self) -> Arrays:
        """Return nothing: the weights are referred to."""
        return {}

    def from_state(self, arrays: Arrays) -> ItHabits:
        """Return self."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return four attributes a candidate, shape ``(n, 2, 4)``.

        Raises
        ------
        UserError
            D455 for a group of more than two; D498 where the folder holds no weights.
        """
        if len(group.candidates) != 2:
            raise UserError("D455", group=group.name, n=len(group.candidates))
        n = len(instances)
        odds = np.zeros((len(SETS), 0), np.float32)
        if n:
            odds = habits_in(str(self.habits)).log_odds(keys_of(view, instances))
        speaks = np.concatenate([odds, np.maximum(odds - SURE, 0.0)]).T / 2  # (n, 4)
        values = np.stack([-speaks, speaks], axis=1).astype(np.float32)
        columns = Columns(
            np.repeat(np.arange(2, dtype=np.int32), len(_ATTRIBUTES)),
            np.zeros(2 * len(_ATTRIBUTES), np.int32),
            (NAME,),
            [f"{candidate}: {name}" for candidate in group.candidates for name in _ATTRIBUTES],
        )
        costs = (np.arange(2) != instances.observed[:, None]).astype(np.float32)
        nothing = np.zeros(2 * n, np.int32)
        column_of = np.arange(2 * len(_ATTRIBUTES)).reshape(2, -1)
        return Features(DenseBlocks(values, column_of, columns, costs), nothing, nothing)
