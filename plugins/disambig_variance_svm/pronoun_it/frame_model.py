"""The frame model of "it": features of the neighbouring words, with weights learned from pattern matches.

A frame is the content after an "it", skipping light words: what is said of it, and how the clause goes on.

    It has been three years since ...     is: a number, a time; since
    It is only now that ...               is: now; that
    it never rains                        rains

The features are hashes of words as they are written, since stems would confuse *rained* and *raided*; names
of days, numbers and units of time are classes.

There are two sets of weights: one separates clauses ("it is clear that") from things, the other one
separates what treebanks hardly label (weather, times, clefts, fixed phrases) from everything else, so that
a learner can trust one more than the other. The weights are learned from running text and not from labelled
examples (`frame_training`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Features, Group, Instances, StatelessExtractor, TokenView, UserError, by_group
from disambig.api.arrays import HashVocabulary
from disambig.api.features import read_stored, write_stored
from disambig.api.text import END_HASH, START_HASH, fmix, hash_word, hash_words

from .task import WORD, check_two_labels, opposite_attributes

REACH = 12
"""Number of words to the right that features use."""
LEFT_REACH = 4
"""Number of words to the left that features use."""
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
_TIMES = np.sort(hash_words(["<unit>", "<length>", "<day>", "<part>"]))
"""Classes of words that say how long, how far or when."""


@lru_cache(maxsize=1)
def _tables() -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the hashes of forms of "be", of light words and of markers, and words with their classes."""
    be, light, markers = (np.sort(hash_words(words)) for words in (_BE, _LIGHT, sorted(set(_MARKERS))))
    members = {hash_word(word): hash_word(name) for name, words in _CLASSES.items() for word in words.split()}
    class_words = np.array(sorted(members), np.uint64)
    classes = np.array([members[word] for word in class_words.tolist()], np.uint64)
    return be, light, markers, np.stack([class_words, classes])


def words_around(view: TokenView, positions: NDArray[np.int64]) -> tuple[NDArray[np.uint64], ...]:
    """Return the words to the left, nearest first, shape (n, LEFT_REACH), and to the right, shape (n, REACH).

    Words beyond the sentence are zero; the sentence boundary counts as a word.
    """
    words = view.layers[WORD].astype(np.uint64)
    sides = []
    for step, reach in ((-1, LEFT_REACH), (1, REACH)):
        at = np.clip(positions[:, None] + step * np.arange(1, reach + 1), 0, max(len(view) - 1, 0))
        around = words[at]
        ends = (around == START_HASH) | (around == END_HASH)
        beyond = np.cumsum(ends, axis=1) - ends > 0
        sides.append(np.where(beyond, np.uint64(0), around))
    return tuple(sides)


def frame_keys(view: TokenView, instances: Instances) -> NDArray[np.uint32]:
    """Return the features of each instance as hashes, shape (n, F); 0 means no feature."""
    left, right = words_around(view, instances.positions)  # hashes, the nearest word first; 0 beyond the end
    be, light, markers, (class_words, classes) = _tables()
    rows = np.arange(len(instances))
    is_be = np.isin(right, be)
    # the words that directly follow "it" and carry no content; the first other word is the head
    skipped = np.cumprod(is_be | np.isin(right, light), axis=1).astype(bool)
    head = np.minimum(skipped.sum(axis=1), REACH - 1)
    inverted_order = np.isin(left[:, 0], be)  # "is it"
    copula = (is_be & skipped).any(axis=1) | inverted_order
    # the head and the word after it, as classes if they have one
    plain = HashVocabulary(class_words).get(right, classes, right)
    first = plain[rows, head]
    second = np.where(head + 1 < REACH, plain[rows, np.minimum(head + 1, REACH - 1)], np.uint64(0))
    # the first two words after the head that show how the clause goes on, and the word after the first one
    is_marker = (np.arange(REACH) > head[:, None]) & np.isin(right, markers)
    marked = is_marker.any(axis=1)
    place = is_marker.argmax(axis=1)
    marker = np.where(marked, right[rows, place], np.uint64(0))
    after_first = is_marker & (np.arange(REACH) > place[:, None])
    marker2 = np.where(after_first.any(axis=1), right[rows, after_first.argmax(axis=1)], np.uint64(0))
    distance = np.minimum(place - head, 6).astype(np.uint64)
    follows = np.where(
        marked & (place + 1 < REACH), plain[rows, np.minimum(place + 1, REACH - 1)], np.uint64(0)
    )
    # the first such class before the marker
    unit = np.isin(plain, _TIMES)
    unit &= np.arange(REACH) <= np.where(marked, place, REACH)[:, None]
    timed = np.where(unit.any(axis=1), plain[rows, unit.argmax(axis=1)], np.uint64(0))
    # one is added because a key whose last word is 0 means that there is no feature
    flag = copula.astype(np.uint64) + np.uint64(1)
    inverted = inverted_order.astype(np.uint64) + np.uint64(1)
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
    """Return the hash of a kind of feature and its words, or 0 if there is no last word."""
    mixed = np.full(len(words[0]), kind, np.uint64) * _SEEDS[5]
    for place, word in zip(_SEEDS, words, strict=False):
        mixed = mixed + word * place
    keys = (fmix(mixed) >> np.uint64(32)).astype(np.uint32)
    return np.where((words[-1] != 0), keys, np.uint32(0))


FRAME_MODEL = Path(__file__).parent / "weights"
"""Folder with the weights that ship with this plugin."""
NAME = "habits"
FILE = "habits.npz"
STEP = 1 / 32
"""Weights are stored in steps of this size."""
SETS = ("clause", "rare")
"""The two sets of weights."""
CERTAIN_LOG_ODDS = 1.5
"""The excess of the log-odds over this value is an attribute of its own, with its own weight: labelled
examples have few such certain cases."""
_ATTRIBUTES = tuple(f"{prefix}{name} habits" for prefix in ("", "sure ") for name in SETS)
_CODE = "D498"


@dataclass(frozen=True, slots=True, eq=False)
class FrameModel:
    """Two sets of weights for frame features."""

    keys: NDArray[np.uint32]  # (m,): features (see `frame_keys`), ascending
    weights: NDArray[np.int8]  # (2, m): weights in steps of `STEP`, one row for each of `SETS`
    biases: tuple[float, float]
    header: Mapping[str, Any]  # sources of the weights, for information

    def log_odds(self, keys: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Return the log-odds of "non-referential", shape (2, n), for features of shape (n, F)."""
        at = HashVocabulary(self.keys).lookup(keys)
        has_weight = at >= 0  # (n, F)
        steps = [
            np.where(has_weight, weights[at].astype(np.int32), 0).sum(axis=1) for weights in self.weights
        ]
        return (np.stack(steps) * STEP + np.array(self.biases)[:, None]).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write the weights into a folder."""
        header = {**self.header, "biases": list(self.biases)}
        write_stored(folder, FILE, header, keys=self.keys, weights=self.weights)

    @classmethod
    def load(cls, folder: Path) -> FrameModel:
        """Read the weights from a folder.

        Raises D498 if the folder does not contain such weights.
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
            raise UserError(_CODE, path=folder, problem="its keys, weights or header have the wrong form")
        assert biases is not None
        return cls(keys, weights, (float(biases[0]), float(biases[1])), header)


@lru_cache(maxsize=4)
def load_frame_model(folder: str) -> FrameModel:
    """Return the weights in a folder; they are read once (errors: see `FrameModel.load`)."""
    return FrameModel.load(Path(folder))


@dataclass(frozen=True, slots=True)
class ItHabits(StatelessExtractor):
    """Extractor of the frame model's log-odds, for a task that labels "it" with one of two labels.

    Parameters
    ----------
    habits : path
        A folder with the weights of a frame model.
    """

    habits: str | Path = FRAME_MODEL
    describes: ClassVar[str] = "group"

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return four attributes per candidate, shape ``(n, 2, 4)``.

        Raises D455 for a group that does not have two candidates; D498 if the folder does not contain
        weights.
        """
        check_two_labels(group)
        odds = np.zeros((len(SETS), 0), np.float32)
        if len(instances):
            odds = load_frame_model(str(self.habits)).log_odds(frame_keys(view, instances))
        halves = np.concatenate([odds, np.maximum(odds - CERTAIN_LOG_ODDS, 0.0)]).T / 2  # (n, 4)
        return opposite_attributes(halves, instances, group, name=NAME, names=_ATTRIBUTES)
