"""Context words: how much the words around a place, near and far, speak for each candidate.

One attribute a candidate: the log-linear score of the words within a window, near ones by their
place, all of them as a bag. N-gram counts see only what adjoins the place; this sees the topic. The
weights are learned from running text by logistic regression, a group at a time, and the heaviest
are kept. Text used here should not be used for the learner too: its features would look too good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from disambig.data.columns import Columns
from disambig.data.dense import DenseBlocks
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.engine import use_numba
from disambig.text.hashing import MASK, ORDER, fmix, hash_word
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

GROUP_NAME = "context"
_BAG = 99
_STEP = 1 / 32
"""Weights are kept in steps of this size, as 8-bit integers."""


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
    tables: dict[int, tuple[NDArray[np.uint32], NDArray[np.int8]]] | None = None
    requires: Sequence[str] = ()

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> ContextWords:
        """Learn the weights of each group from text whose words are taken as right."""
        rng = np.random.default_rng(self.seed)
        tables = {}
        for g, group in enumerate(groups):
            rows = np.flatnonzero(instances.groups == g)
            if len(rows) > self.examples:
                rows = np.sort(rng.choice(rows, self.examples, replace=False))
            part = instances.take(rows)
            if len(np.unique(part.observed)) == len(group.candidates):
                tables[_number(group)] = self._learn(self._keys(view, part), part.observed)
        return replace(self, tables=tables)

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one attribute a candidate, shape ``(n, K, 1)``; zero for a group that was not learned."""
        n, k = len(instances), len(group.candidates)
        values = np.zeros((n, k, 1), np.float32)
        table = (self.tables or {}).get(_number(group))
        if table is not None and n:
            values[:, :, 0] = self._sums(view, instances, *table)[:, :k] * _STEP
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        columns = Columns(
            np.arange(k, dtype=np.int32),
            np.zeros(k, np.int32),
            (GROUP_NAME,),
            [f"{candidate}: words around" for candidate in group.candidates],
        )
        batch = DenseBlocks(values, np.arange(k).reshape(k, 1), columns, costs)
        # Words around are no n-gram found: they alone never make a flag.
        nothing = np.zeros(n * k, np.int32)
        return Features(batch, nothing, nothing)

    def state(self) -> Arrays:
        """Return the kept features: keys and weights of all groups, one group behind the other."""
        tables = self.tables or {}
        most = max((weights.shape[1] for _, weights in tables.values()), default=1)
        padded = [np.pad(w, ((0, 0), (0, most - w.shape[1]))) for _, w in tables.values()]
        return {
            "groups": np.array(list(tables), np.int64),
            "sizes": np.array([len(keys) for keys, _ in tables.values()], np.int64),
            "keys": np.concatenate([np.empty(0, np.uint32), *(keys for keys, _ in tables.values())]),
            "weights": np.concatenate([np.empty((0, most), np.int8), *padded]),
        }

    def from_state(self, arrays: Arrays) -> ContextWords:
        """Return an extractor with the weights of `state`.

        Raises
        ------
        ValueError
            Where the arrays do not fit together.
        """
        sizes, keys, weights = arrays["sizes"], arrays["keys"], arrays["weights"]
        fits = weights.ndim == 2 and len(weights) == len(keys) == sizes.sum() and (sizes > 0).all()
        if not fits or len(sizes) != len(arrays["groups"]) or weights.dtype != np.int8:
            raise ValueError("context words: keys, weights and sizes differ")
        cuts = np.cumsum(sizes)[:-1]
        parts = zip(arrays["groups"].tolist(), np.split(keys, cuts), np.split(weights, cuts), strict=True)
        return replace(self, tables={number: (k.astype(np.uint32), w) for number, k, w in parts})

    @property
    def _looks(self) -> list[tuple[int, int]]:
        """Where each feature looks, left (below zero) or right, and its kind: the bag or a place."""
        near = [(side * d, side * d + 50) for d in range(1, self.places + 1) for side in (-1, 1)]
        return near + [(side * d, _BAG) for d in range(2, self.window + 1) for side in (-1, 1)]

    def _sums(
        self, view: TokenView, instances: Instances, keys: NDArray[np.uint32], weights: NDArray[np.int8]
    ) -> NDArray[np.int32]:
        """Return the sum of the known features' weights for each candidate, shape (n, K)."""
        n, looks = len(instances), self._looks
        if use_numba(n * len(looks)):
            from disambig.features.context_words_kernels import add_weights

            return add_weights(view, instances, looks, keys, weights)
        asked = self._keys(view, instances)  # (n, F)
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        rows, features = np.nonzero(keys[at] == asked)
        added = weights[at[rows, features]].T.astype(np.float64)  # (K, found): small integers, so exact
        return np.stack([np.bincount(rows, each, minlength=n) for each in added], axis=1).astype(np.int32)

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

    def _learn(
        self, keys: NDArray[np.uint32], observed: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        from scipy.sparse import csr_array
        from sklearn.linear_model import LogisticRegression

        vocabulary, column, seen = np.unique(keys, return_inverse=True, return_counts=True)
        frequent = (seen >= 4) & (vocabulary != 0)
        number = (np.cumsum(frequent) - 1).astype(np.int32)  # liblinear takes no longer ones
        keep = frequent[column.ravel()]
        rows = np.repeat(np.arange(len(keys), dtype=np.int32), keys.shape[1])[keep]
        x = csr_array(
            (np.ones(len(rows), np.float64), (rows, number[column.ravel()[keep]])),
            (len(keys), int(frequent.sum())),
        )
        solver = "liblinear" if observed.max() == 1 else "lbfgs"
        learned = LogisticRegression(C=self.C, solver=solver, max_iter=200).fit(x, observed).coef_
        weights = np.vstack([-learned / 2, learned / 2]) if len(learned) == 1 else learned  # (K, F)
        spread = np.abs(weights).max(axis=0) * np.sqrt(seen[frequent])
        heaviest = np.sort(np.argsort(-spread, kind="stable")[: self.kept])
        steps = np.clip(np.round(weights[:, heaviest].T / _STEP), -127, 127).astype(np.int8)
        return vocabulary[frequent][heaviest], steps


def _number(group: Group) -> int:
    """Return what a group's table is found by, whatever the order of the groups."""
    return hash_word("/".join(group.candidates)) >> 1
