"""Scores of candidates by learned weights of the words around a place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, HashVocabulary, Instances
from disambig.errors import UserError
from disambig.features.rows import CONTEXT_GROUP, by_group, group_number, one_score
from disambig.settings import ABOVE_ZERO, COUNT, NON_NEGATIVE_COUNT, fitted_field, validate_settings
from disambig.text import END_HASH, MASK, ORDER, PLACES, START_HASH, TokenView, fmix, hash_words
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from typing_extensions import Self

STEP = 1 / 32
"""Unit of the weights, which are stored as 8-bit integers."""

Table = tuple[NDArray[np.uint32], NDArray[np.int8]]
"""Features, ascending, and their weights, shapes ``(m,)`` and ``(m, K)``."""
Tables = dict[int, Table]
"""Tables by the number of their group (`group_number`)."""


def learn_tables(
    groups: Sequence[Group],
    examples: Callable[[int], Instances],
    features: Callable[[Instances], NDArray[np.uint32]],
    *,
    extractor: str,
    C: float,
    kept: int,
    minimum: int,
) -> Tables:
    """Return the table of each group that can be learned; other groups have none.

    A group needs two candidates, each of which is right somewhere, and a feature seen `minimum` times.

    Raises D423 if no group has such a feature.

    `examples`: returns the examples of a group, given its index.
    `features`: returns the features of these examples (see `learn_table`).
    `extractor`: name of the extractor for the error message.
    """
    tables: Tables = {}
    n_examples = 0
    for g, group in enumerate(groups):
        part = examples(g)
        observed = part.observed
        if not 1 < len(group.candidates) == len(np.unique(observed)):
            continue
        n_examples += len(observed)
        table = learn_table(features(part), observed, C=C, kept=kept, minimum=minimum)
        if table is not None:
            tables[group_number(group)] = table
    if n_examples and not tables:
        raise UserError("D423", extractor=extractor, n=n_examples, least=minimum)
    return tables


def learn_table(
    keys: NDArray[np.uint32], observed: NDArray[np.int32], *, C: float, kept: int, minimum: int
) -> Table | None:
    """Return the heaviest weights of a logistic regression; None if no feature is seen `minimum` times.

    `keys` (uint32 (n, F)): the features of each instance; a feature that occurs twice in an instance counts
    twice.
    `observed` (int32 (n,)): index of the right candidate; each candidate must occur.
    `C`: inverse strength of the L2 regularisation.
    `kept`: number of features to keep.
    `minimum`: minimum number of occurrences of a feature.
    """
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    vocabulary, column, seen = np.unique(keys, return_inverse=True, return_counts=True)
    frequent = (seen >= minimum) & (vocabulary != 0)
    if not frequent.any():
        return None
    number = (np.cumsum(frequent) - 1).astype(np.int32)  # liblinear does not accept 64-bit indices
    keep = frequent[column.ravel()]
    rows = np.repeat(np.arange(len(keys), dtype=np.int32), keys.shape[1])[keep]
    x = csr_array(
        (np.ones(len(rows), np.float64), (rows, number[column.ravel()[keep]])),
        (len(keys), int(frequent.sum())),
    )
    solver = "liblinear" if observed.max() == 1 else "lbfgs"
    learned = LogisticRegression(C=C, solver=solver, max_iter=200).fit(x, observed).coef_
    weights = np.vstack([-learned / 2, learned / 2]) if len(learned) == 1 else learned  # (K, F)
    # how much a feature moves the scores: its largest weight, more if it was seen more often
    spread = np.abs(weights).max(axis=0) * np.sqrt(seen[frequent])
    heaviest = np.sort(np.argsort(-spread, kind="stable")[:kept])
    steps = np.clip(np.round(weights[:, heaviest].T / STEP), -127, 127).astype(np.int8)
    used = steps.any(axis=1)  # weights that round to zero need no storage
    return vocabulary[frequent][heaviest][used], steps[used]


def sum_weights(keys: NDArray[np.uint32], table: Table) -> NDArray[np.int32]:
    """Return the sum of the known features' weights for each candidate, shape ``(n, K)``, by `STEP`."""
    vocabulary, weights = table
    index = HashVocabulary(vocabulary).lookup(keys)
    rows, features = np.nonzero(index >= 0)
    # shape (K, n_hits); sums of small integers in float64 are exact
    by_candidate = weights[index[rows, features]].T.astype(np.float64)
    return np.stack(
        [np.bincount(rows, row_weights, minlength=len(keys)) for row_weights in by_candidate], axis=1
    ).astype(np.int32)


def tables_to_state(tables: Mapping[int, Table]) -> Arrays:
    """Return tables as arrays: the keys and weights of all groups, one group after the other."""
    width = max((weights.shape[1] for _, weights in tables.values()), default=1)
    padded = [np.pad(w, ((0, 0), (0, width - w.shape[1]))) for _, w in tables.values()]
    return {
        "groups": np.array(list(tables), np.int64),
        "sizes": np.array([len(keys) for keys, _ in tables.values()], np.int64),
        "keys": np.concatenate([np.empty(0, np.uint32), *(keys for keys, _ in tables.values())]),
        "weights": np.concatenate([np.empty((0, width), np.int8), *padded]),
    }


def tables_from_state(arrays: Arrays) -> Tables:
    """Return the tables of a state. Raises `ValueError` if the arrays do not fit together."""
    sizes, keys, weights = arrays["sizes"], arrays["keys"], arrays["weights"]
    fits = weights.ndim == 2 and len(weights) == len(keys) == sizes.sum() and (sizes >= 0).all()
    fits = fits and keys.ndim == sizes.ndim == arrays["groups"].ndim == 1
    if not fits or len(sizes) != len(arrays["groups"]) or weights.dtype != np.int8:
        raise ValueError("context words: keys, weights and sizes differ")
    if not len(sizes):  # no group was learned; `np.split` returns a part even then
        return {}
    cuts = np.cumsum(sizes)[:-1]
    parts = zip(arrays["groups"].tolist(), np.split(keys, cuts), np.split(weights, cuts), strict=True)
    return {number: (k.astype(np.uint32), w) for number, k, w in parts}


_BAG = 99
_MIN_OCCURRENCES = 4
"""Minimum number of occurrences of a feature in training."""


class LearnedWords(ABC):
    """Base class of extractors of one score per candidate: the learned weights of features, summed.

    A subclass is a frozen dataclass with the field below.
    """

    __slots__ = ()
    tables: Tables | None  # none until the extractor is fitted

    @abstractmethod
    def _keys(self, view: TokenView, instances: Instances) -> NDArray[np.uint32]:
        """Return the features of each instance as hashes, shape (n, F); 0 for none."""

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one attribute per candidate, shape ``(n, K, 1)``; zero for a group without a table."""
        table = (self.tables or {}).get(group_number(group))
        sums = sum_weights(self._keys(view, instances), table) if table and len(instances) else None
        n, k = len(instances), len(group.candidates)
        values = np.zeros((n, k, 1), np.float32)
        if sums is not None:
            values[:, :, 0] = sums[:, :k] * STEP
        return one_score(values.ravel(), instances, group, CONTEXT_GROUP)

    def state(self) -> Arrays:
        """Return the kept features."""
        return tables_to_state(self.tables or {})

    def from_state(self, arrays: Arrays) -> Self:
        """Return an extractor with the weights of `state`; ValueError if they do not fit."""
        return replace(self, tables=tables_from_state(arrays))  # type: ignore[type-var]  # subclasses are dataclasses


@dataclass(frozen=True, slots=True, eq=False)
class ContextWords(LearnedWords):
    """Extractor of one score per candidate from the words around it.

    Parameters
    ----------
    window : int
        Words on each side that enter the bag of words, without the two adjacent ones.
    places : int
        Words on each side that are also used with their position.
    kept : int
        Number of features kept per group.
    examples : int
        Maximum number of training instances per group; a random sample if there are more.
    C : float
        Inverse strength of the L2 regularisation.
    seed : int
        Seed of that sample.

    Raises
    ------
    UserError
        D452, D457 or D760 for invalid settings.
    """

    window: int = 10
    places: int = 3
    kept: int = 800
    examples: int = 20_000
    C: float = 0.05
    seed: int = 0
    tables: Tables | None = fitted_field(None)
    describes: ClassVar[str] = "group"

    def __post_init__(self) -> None:
        validate_settings(
            self,
            window=NON_NEGATIVE_COUNT,
            places=NON_NEGATIVE_COUNT,
            kept=COUNT,
            examples=COUNT,
            C=ABOVE_ZERO,
            seed=NON_NEGATIVE_COUNT,
        )

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> ContextWords:
        """Learn the weights of each group from text whose words are assumed to be right."""
        rng = np.random.default_rng(self.seed)

        def examples(g: int) -> Instances:
            rows = np.flatnonzero(instances.groups == g)
            if len(rows) > self.examples:
                rows = np.sort(rng.choice(rows, self.examples, replace=False))
            return instances.take(rows)

        tables = learn_tables(
            groups,
            examples,
            lambda part: self._keys(view, part),
            extractor="ContextWords",
            C=self.C,
            kept=self.kept,
            minimum=_MIN_OCCURRENCES,
        )
        return replace(self, tables=tables)

    @property
    def _templates(self) -> list[tuple[int, int]]:
        """The distance (negative on the left) and the kind (bag or position) of each feature."""
        near = [(side * d, side * d + 50) for d in range(1, self.places + 1) for side in (-1, 1)]
        return near + [(side * d, _BAG) for d in range(2, self.window + 1) for side in (-1, 1)]

    def _keys(self, view: TokenView, instances: Instances) -> NDArray[np.uint32]:
        """Return the features of each instance as hashes, shape (n, F); 0 outside the document."""
        document = view.document_indices(instances.positions)
        low, high = view.documents[document], view.documents[document + 1]
        last = instances.positions + instances.lengths - 1
        columns = np.zeros((len(self._templates), len(instances)), np.uint32)
        for column, (distance, kind) in zip(columns, self._templates, strict=True):
            at = (instances.positions if distance < 0 else last) + distance
            inside = (at >= low) & (at < high)
            words = view.hashes[np.where(inside, at, 0)]
            hashed = (fmix(words ^ np.uint64(kind * ORDER & MASK)) >> np.uint64(32)).astype(np.uint32)
            column[:] = np.where(inside & (words != 0), hashed, np.uint32(0))
        return columns.T


_STOPS = np.sort(hash_words([".", "?", "!"]))
"""Marks that end a sentence even before a lower-case letter, as in informal writing."""
_SENTENCE_BAG, _PAIR, _ACROSS = 100, 200, 300


@dataclass(frozen=True, slots=True, eq=False)
class SentenceWords(LearnedWords):
    """Extractor of one score per candidate from the sentence around it.

    Parameters
    ----------
    window : int
        Number of words on each side.
    places : int
        Words on each side that are also used with their position.
    kept : int
        Number of features kept per group.
    C : float
        Inverse strength of the L2 regularisation.

    Raises
    ------
    UserError
        D452, D457 or D760 for invalid settings.
    """

    window: int = 6
    places: int = 3
    kept: int = 20_000
    C: float = 0.6
    tables: Tables | None = fitted_field(None)
    cross_fit: ClassVar[bool] = True
    describes: ClassVar[str] = "group"

    def __post_init__(self) -> None:
        counts = {"window": NON_NEGATIVE_COUNT, "places": NON_NEGATIVE_COUNT, "kept": COUNT}
        validate_settings(self, **counts, C=ABOVE_ZERO)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> SentenceWords:
        """Learn the weights of each group from instances whose observed candidates are right."""
        tables = learn_tables(
            groups,
            lambda g: instances.take(np.flatnonzero(instances.groups == g)),
            lambda part: self._keys(view, part),
            extractor="SentenceWords",
            C=self.C,
            kept=self.kept,
            minimum=1,
        )
        return replace(self, tables=tables)

    def _keys(self, view: TokenView, instances: Instances) -> NDArray[np.uint32]:
        """Return the features of each instance as hashes, shape (n, F); 0 outside the sentence."""
        last = instances.positions + instances.lengths - 1  # for an empty place, the token before it
        left = _side(view, instances.positions, -1, self.window + 1)
        right = _side(view, last, 1, self.window + 1)
        columns = [_key(_ACROSS, left[0], right[0])]
        for side, words in ((1, left), (2, right)):
            for d in range(self.window):
                if d < self.places:
                    columns.append(_key(10 * d + side, words[d]))
                columns.append(_key(_SENTENCE_BAG + side, words[d]))
                if d + 1 < self.window:
                    columns.append(_key(_PAIR + side, words[d], words[d + 1]))
        # a feature that occurs twice at a place counts once
        keys = np.sort(np.stack(columns, axis=1), axis=1)
        keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = 0
        return keys


def _side(view: TokenView, start: NDArray[np.int64], step: int, n: int) -> list[NDArray[np.uint64]]:
    """Return the `n` words on one side of `start`, nearest first, each of shape (n_instances,).

    The last one is the sentence boundary; 0 beyond it.
    """
    words, inside = [], np.ones(len(start), bool)
    for d in range(1, n + 1):
        at = np.clip(start + step * d, 0, len(view) - 1)
        word = np.where(inside, view.hashes[at], np.uint64(0))
        is_stop = np.isin(word, _STOPS)
        if step < 0:  # the mark that ends the previous sentence acts as the boundary
            word = np.where(is_stop, np.uint64(START_HASH), word)
        words.append(word)
        inside = inside & ~is_stop & (word != START_HASH) & (word != END_HASH)
    return words


def _key(kind: int, *words: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the hash of a kind of feature and its words; 0 if the first word is absent."""
    keys = np.full(len(words[0]), np.uint64(kind * ORDER & MASK))
    for place, word in zip(PLACES, words, strict=False):
        keys = keys + word * np.uint64(place)
    return np.where(words[0] != 0, (fmix(keys) >> np.uint64(32)).astype(np.uint32), np.uint32(0))
