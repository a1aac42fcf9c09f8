"""Habits: what the frame around an "it" says of it, learned from patterns that tell for sure.

Two attributes a candidate: the log-odds that the "it" refers to nothing, of the second candidate half of it,
of the first one less half, and of what is beyond `SURE` the same again. The weights were learned from
running text and not from labelled examples (`learning`), so that they know of weather, dates and fixed
phrases, which treebanks hardly label.
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
SURE = 1.5
"""Log-odds beyond which they count twice, as what labelled examples hold little of: a weight of its own."""
_CODE = "D498"


@dataclass(frozen=True, slots=True, eq=False)
class Habits:
    """Weights of frames.

    Attributes
    ----------
    keys : array of uint32, shape (m,)
        Features (`frames.keys_of`), ascending.
    weights : array of int8, shape (m,)
        In steps of `STEP`.
    bias : float
    header : dict
        Where they were learned from, for people.
    """

    keys: NDArray[np.uint32]
    weights: NDArray[np.int8]
    bias: float
    header: Mapping[str, Any]

    def log_odds(self, keys: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Return the log-odds that nothing is referred to, of features of shape (n, F), shape (n,)."""
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        steps = np.where(self.keys[at] == keys, self.weights[at].astype(np.int32), 0).sum(axis=1)
        return (steps * STEP + self.bias).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write the weights into a folder."""
        header = {**self.header, "bias": self.bias}
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
        bias = header.get("bias") if isinstance(header, dict) else None
        sound = (
            isinstance(bias, int | float)
            and bool(np.isfinite(bias))
            and keys.ndim == 1
            and keys.dtype == np.uint32
            and weights.dtype == np.int8
            and keys.shape == weights.shape
            and len(keys) > 0
            and bool((keys[1:] > keys[:-1]).all())
        )
        if not sound:
            raise UserError(_CODE, path=folder, problem="its keys, weights or header are of another kind")
        return cls(keys, weights, float(bias or 0.0), header)


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
        """Return two attributes a candidate, shape ``(n, 2, 2)``.

        Raises
        ------
        UserError
            D455 for a group of more than two; D498 where the folder holds no weights.
        """
        if len(group.candidates) != 2:
            raise UserError("D455", group=group.name, n=len(group.candidates))
        n = len(instances)
        odds = np.zeros(0, np.float32)
        if n:
            odds = habits_in(str(self.habits)).log_odds(keys_of(view, instances))
        speaks = np.stack([odds, np.maximum(odds - SURE, 0.0)], axis=1) / 2  # (n, 2)
        values = np.stack([-speaks, speaks], axis=1).astype(np.float32)
        columns = Columns(
            np.repeat(np.arange(2, dtype=np.int32), 2),
            np.zeros(4, np.int32),
            (NAME,),
            [f"{candidate}: {name}" for candidate in group.candidates for name in ("habits", "sure habits")],
        )
        costs = (np.arange(2) != instances.observed[:, None]).astype(np.float32)
        nothing = np.zeros(2 * n, np.int32)
        return Features(DenseBlocks(values, np.arange(4).reshape(2, 2), columns, costs), nothing, nothing)
