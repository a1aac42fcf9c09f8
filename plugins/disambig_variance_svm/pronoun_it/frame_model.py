"""The frame model of "it": features of the words around it, and weights learned from patterns."""

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
from disambig.api.text import END_HASH, START_HASH, fmix, hash_word, hash_words

from .task import WORD

REACH = 12
"""Words on the right that are looked at."""
BEHIND = 4
"""Words on the left."""
_BE = "is are was were be been being 's 're am 'm".split()
_LIGHT = (
    "has have had having do does did 'd 'll will would wo can ca could may might must shall should n't "
    "not never still also now just already really often always soon probably perhaps certainly surely "
    "simply only even so very too quite rather pretty almost nearly about usually sometimes then once "
    "again well getting going to likely seems seem seemed far much more most all perfectly fairly "
    "absolutely entirely a the an bit little over at least less than exactly precisely mainly"
).split()
_MARKERS = (
    "to that who whom which whether if when since ago before after until till for because how why what where "
    "as like and but outside outside outdoors here there today tonight yesterday tomorrow , . ; : ! ? )"
).split()
_CLASSES = {
    "<day>": "monday tuesday wednesday thursday friday saturday sunday january february april june july "
    "august september october november december christmas easter halloween thanksgiving midnight noon midday",
    "<unit>": "second seconds minute minutes hour hours day days night nights week weeks month months year "
    "years decade decades century centuries ages moment moments while",
    "<length>": "mile miles kilometre kilometres kilometer kilometers km metre metres meter meters feet "
    "yards",
    "<person>": "i you he she we they me him her us them",
    "<part>": "morning afternoon evening spring summer autumn winter",
    "<number>": "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty "
    "fifty hundred several many few",
}
_NUMBER = hash_word("<number>")


@lru_cache(maxsize=1)
def _tables() -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    be, light, markers = (np.sort(hash_words(words)) for words in (_BE, _LIGHT, sorted(set(_MARKERS))))
    members = {hash_word(word): hash_word(name) for name, words in _CLASSES.items() for word in words.split()}
    known = np.array(sorted(members), np.uint64)
    classes = np.array([members[word] for word in known.tolist()], np.uint64)
    return be, light, markers, np.stack([known, classes])


def _classify_words(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    known, classes = _tables()[3]
    at = np.minimum(np.searchsorted(known, words), len(known) - 1)
    return np.where(known[at] == words, classes[at], words)


def words_around(view: TokenView, positions: NDArray[np.int64]) -> tuple[NDArray[np.uint64], ...]:
    """Return the words to the left, nearest first, shape (n, BEHIND), and to the right, shape (n, REACH).

    Zero beyond the sentence, whose boundary is a word.
    """
    words = view.layers[WORD].astype(np.uint64)
    sides = []
    for step, reach in ((-1, BEHIND), (1, REACH)):
        at = np.clip(positions[:, None] + step * np.arange(1, reach + 1), 0, max(len(view) - 1, 0))
        found = words[at]
        ends = (found == START_HASH) | (found == END_HASH)
        beyond = np.cumsum(ends, axis=1) - ends > 0
        sides.append(np.where(beyond, np.uint64(0), found))
    return tuple(sides)


def frame_keys(view: TokenView, instances: Instances) -> NDArray[np.uint32]:
    """Return the features of each instance as hashes, shape (n, F); 0 is none."""
    left, right = words_around(view, instances.positions)
    be, light, markers, _ = _tables()
    n = len(instances)
    rows = np.arange(n)
    is_be = np.isin(right, be)
    skipped = np.cumprod(is_be | np.isin(right, light), axis=1).astype(bool)  # those at the front
    head = np.minimum(skipped.sum(axis=1), REACH - 1)
    asked = np.isin(left[:, 0], be)  # "is it"
    copula = (is_be & skipped).any(axis=1) | asked
    plain = _classify_words(right)
    first = plain[rows, head]
    second = np.where(head + 1 < REACH, plain[rows, np.minimum(head + 1, REACH - 1)], np.uint64(0))
    behind = (np.arange(REACH) > head[:, None]) & np.isin(right, markers)
    marked = behind.any(axis=1)
    place = behind.argmax(axis=1)
    marker = np.where(marked, right[rows, place], np.uint64(0))
    behind2 = behind & (np.arange(REACH) > place[:, None])
    marker2 = np.where(behind2.any(axis=1), right[rows, behind2.argmax(axis=1)], np.uint64(0))
    distance = np.minimum(place - head, 6).astype(np.uint64)
    follows = np.where(
        marked & (place + 1 < REACH), plain[rows, np.minimum(place + 1, REACH - 1)], np.uint64(0)
    )
    unit = np.isin(
        plain, np.sort(np.array([hash_word(c) for c in ("<unit>", "<length>", "<day>", "<part>")], np.uint64))
    )
    unit &= np.arange(REACH) <= np.where(marked, place, REACH)[:, None]
    timed = np.where(unit.any(axis=1), plain[rows, unit.argmax(axis=1)], np.uint64(0))
    flag = copula.astype(np.uint64) + np.uint64(1)
    inverted = asked.astype(np.uint64) + np.uint64(1)
    before, before2 = left[:, 0], left[:, 1]
    columns = [
        _key(1, flag, first),
        _key(2, flag, first, marker),
        _key(3, flag, first, second),
        _key(4, flag, marker),
        _key(5, flag, marker, distance + np.uint64(1)),
        _key(6, flag, first, marker, follows),
        _key(7, flag, marker, marker2),
        _key(8, flag, timed),
        _key(9, first, timed),
        _key(10, before),
        _key(11, before, before2),
        _key(12, before, right[:, 0]),
        _key(13, before, right[:, 0], right[:, 1]),
        _key(14, before, before2, right[:, 0]),
        _key(15, right[:, 0]),
        _key(16, right[:, 0], right[:, 1]),
        _key(17, right[:, 0], right[:, 1], right[:, 2]),
        _key(18, inverted, flag, first),
        _key(19, before, flag, first),
        _key(20, flag, second, marker),
        _key(21, flag, timed, marker),
    ]
    return np.stack(columns, axis=1)


_SEEDS = hash_words([f"<place {i}>" for i in range(6)]) | np.uint64(1)


def _key(kind: int, *words: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the hash of a kind of feature and its words; 0 where the last word is none."""
    mixed = np.full(len(words[0]), kind, np.uint64) * _SEEDS[5]
    for place, word in zip(_SEEDS, words, strict=False):
        mixed = mixed + word * place
    found = (fmix(mixed) >> np.uint64(32)).astype(np.uint32)
    return np.where((words[-1] != 0), found, np.uint32(0))


FRAME_MODEL = Path(__file__).parent / "weights"
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
class FrameModel:
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
    def load(cls, folder: Path) -> FrameModel:
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
def load_frame_model(folder: str) -> FrameModel:
    """Return the weights of a folder, read once (errors: `Habits.load`)."""
    return FrameModel.load(Path(folder))


@dataclass(frozen=True, slots=True)
class ItHabits:
    """Extractor of the log-odds, for a task that labels "it" with one of two labels.

    Parameters
    ----------
    habits : path
        A folder with weights.
    """

    habits: str | Path = FRAME_MODEL
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
            odds = load_frame_model(str(self.habits)).log_odds(frame_keys(view, instances))
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
