"""Sentence words: how much the words of the sentence around a place speak for each candidate.

One attribute a candidate: the log-linear score of the near words by their place, of all words of the
window and of all pairs of neighbours in it, left and right apart. Unlike `context_words` it stops where
the sentence does, and knows the order of words: for labels of a place, learned from labelled examples.
What it learned from fits it too well: a learner that is to weigh its attribute needs it from folds it
did not see (`cross_fit`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.words import learned_words
from disambig.settings import no_setting
from disambig.text.hashing import MASK, ORDER, PLACES, fmix, hash_words
from disambig.text.view import END_HASH, START_HASH, TokenView
from disambig.types import Arrays, Features

_STOPS = np.sort(hash_words([".", "?", "!"]))
"""Signs that end a sentence even before a small letter, as in quick writing."""
_BAG, _PAIR, _ACROSS = 100, 200, 300


@dataclass(frozen=True, slots=True, eq=False)
class SentenceWords:
    """Extractor of one score a candidate from the sentence around it.

    Parameters
    ----------
    window : int
        Words on each side.
    places : int
        Words on each side that enter by their place too.
    kept : int
        Features kept a group.
    C : float
        Inverse strength of the L2 regulariser.
    """

    window: int = 6
    places: int = 3
    kept: int = 20_000
    C: float = 0.6
    tables: learned_words.Tables | None = no_setting(None)
    cross_fit: ClassVar[bool] = True
    describes: ClassVar[str] = "group"

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> SentenceWords:
        """Learn the weights of each group from instances whose observed candidates are right."""
        tables = learned_words.learn_groups(
            groups,
            lambda g: instances.take(np.flatnonzero(instances.groups == g)),
            lambda part: self._keys(view, part),
            extractor="SentenceWords",
            C=self.C,
            kept=self.kept,
            least=1,
        )
        return replace(self, tables=tables)

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one attribute a candidate, shape ``(n, K, 1)``; zero for a group that was not learned."""
        table = (self.tables or {}).get(learned_words.number_of(group))
        sums = learned_words.sums(self._keys(view, instances), table) if table and len(instances) else None
        return learned_words.as_features(sums, instances, group)

    def state(self) -> Arrays:
        """Return the kept features."""
        return learned_words.state_of(self.tables or {})

    def from_state(self, arrays: Arrays) -> SentenceWords:
        """Return an extractor with the weights of `state`; ValueError where they do not fit."""
        return replace(self, tables=learned_words.tables_of(arrays))

    def _keys(self, view: TokenView, instances: Instances) -> NDArray[np.uint32]:
        """Return the features of each instance as hashes, shape (n, F); 0 beyond the sentence."""
        last = instances.positions + instances.lengths - 1  # of an empty place the token before
        left = _side(view, instances.positions, -1, self.window + 1)
        right = _side(view, last, 1, self.window + 1)
        columns = [_key(_ACROSS, left[0], right[0])]
        for side, words in ((1, left), (2, right)):
            for d in range(self.window):
                if d < self.places:
                    columns.append(_key(10 * d + side, words[d]))
                columns.append(_key(_BAG + side, words[d]))
                if d + 1 < self.window:
                    columns.append(_key(_PAIR + side, words[d], words[d + 1]))
        return _each_once(np.stack(columns, axis=1))


def _side(view: TokenView, start: NDArray[np.int64], step: int, n: int) -> list[NDArray[np.uint64]]:
    """Return the `n` words that follow `start` on one side, nearest first, each shape (n_instances,).

    The sentence's boundary is the last of them; beyond it stands 0.
    """
    words, alive = [], np.ones(len(start), bool)
    for d in range(1, n + 1):
        at = np.clip(start + step * d, 0, len(view) - 1)
        word = np.where(alive, view.hashes[at], np.uint64(0))
        stop = np.isin(word, _STOPS)
        if step < 0:  # the sign that ends the sentence before is its boundary
            word = np.where(stop, np.uint64(START_HASH), word)
        words.append(word)
        alive = alive & ~stop & (word != START_HASH) & (word != END_HASH)
    return words


def _key(kind: int, *words: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the hash of a kind of feature and its words; 0 where the first word is none."""
    mixed = np.full(len(words[0]), np.uint64(kind * ORDER & MASK))
    for place, word in zip(PLACES, words, strict=False):
        mixed = mixed + word * np.uint64(place)
    return np.where(words[0] != 0, (fmix(mixed) >> np.uint64(32)).astype(np.uint32), np.uint32(0))


def _each_once(keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Keep each feature of a row once: a word that stands twice is no stronger."""
    keys = np.sort(keys, axis=1)
    keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = 0
    return keys
