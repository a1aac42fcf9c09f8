"""Context words: how much the words around a place, near and far, speak for each candidate.

One attribute a candidate: the log-linear score of the words within a window, near ones by their
place, all of them as a bag. N-gram counts see only what adjoins the place; this sees the topic. The
weights are learned from running text by logistic regression, a group at a time, and the heaviest
are kept. Text used here should not be used for the learner too: its features would look too good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.engine import use_numba
from disambig.features.words import learned_words
from disambig.settings import no_setting
from disambig.text.hashing import MASK, ORDER, fmix
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

_BAG = 99
_LEAST = 4
"""How often a feature must be seen to be learned."""


@dataclass(frozen=True, slots=True, eq=False)
class ContextWords:
    """Extractor of one score a candidate from the words around it.

    Parameters
    ----------
    window : int
        Words on each side that enter the bag; the two adjoining ones do not.
    places : int
        Words on each side that enter by their place.
    kept : int
        Features kept a group.
    examples : int
        Instances of a group to learn from; a random sample where there are more.
    C : float
        Inverse strength of the L2 regulariser.
    seed : int
        Of that sample.
    """

    window: int = 10
    places: int = 3
    kept: int = 800
    examples: int = 20_000
    C: float = 0.05
    seed: int = 0
    tables: learned_words.Tables | None = no_setting(None)
    describes: ClassVar[str] = "group"

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> ContextWords:
        """Learn the weights of each group from text whose words are taken as right."""
        rng = np.random.default_rng(self.seed)

        def examples(g: int) -> Instances:
            rows = np.flatnonzero(instances.groups == g)
            if len(rows) > self.examples:
                rows = np.sort(rng.choice(rows, self.examples, replace=False))
            return instances.take(rows)

        tables = learned_words.learn_groups(
            groups,
            examples,
            lambda part: self._keys(view, part),
            extractor="ContextWords",
            C=self.C,
            kept=self.kept,
            least=_LEAST,
        )
        return replace(self, tables=tables)

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one attribute a candidate, shape ``(n, K, 1)``; zero for a group that was not learned."""
        table = (self.tables or {}).get(learned_words.number_of(group))
        known = table is not None and len(instances) > 0
        return learned_words.as_features(
            self._sums(view, instances, table) if known and table else None, instances, group
        )

    def state(self) -> Arrays:
        """Return the kept features."""
        return learned_words.state_of(self.tables or {})

    def from_state(self, arrays: Arrays) -> ContextWords:
        """Return an extractor with the weights of `state`; ValueError where they do not fit."""
        return replace(self, tables=learned_words.tables_of(arrays))

    @property
    def _looks(self) -> list[tuple[int, int]]:
        """Where each feature looks, left (below zero) or right, and its kind: the bag or a place."""
        near = [(side * d, side * d + 50) for d in range(1, self.places + 1) for side in (-1, 1)]
        return near + [(side * d, _BAG) for d in range(2, self.window + 1) for side in (-1, 1)]

    def _sums(self, view: TokenView, instances: Instances, table: learned_words.Table) -> NDArray[np.int32]:
        """Return the sum of the known features' weights for each candidate, shape (n, K)."""
        looks = self._looks
        if use_numba(len(instances) * len(looks)):
            from disambig.features.words.context_words_kernels import add_weights

            return add_weights(view, instances, looks, *table)
        return learned_words.sums(self._keys(view, instances), table)

    def _keys(self, view: TokenView, instances: Instances) -> NDArray[np.uint32]:
        """Return the features of each instance as hashes, shape (n, F); 0 outside the document."""
        document = view.document_of(instances.positions)
        low, high = view.documents[document], view.documents[document + 1]
        last = instances.positions + instances.lengths - 1
        columns = np.zeros((len(self._looks), len(instances)), np.uint32)
        for column, (distance, kind) in zip(columns, self._looks, strict=True):
            at = (instances.positions if distance < 0 else last) + distance
            inside = (at >= low) & (at < high)
            words = view.hashes[np.where(inside, at, 0)]
            mixed = (fmix(words ^ np.uint64(kind * ORDER & MASK)) >> np.uint64(32)).astype(np.uint32)
            column[:] = np.where(inside & (words != 0), mixed, np.uint32(0))
        return columns.T
