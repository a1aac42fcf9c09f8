"""Alternatives to the observed word and their features: kinds of edit, hashed words, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Group,
    HashVocabulary,
    ScoreBatch,
    Selection,
    distinct_texts,
    take_texts,
    unique_inverse,
)
from disambig.decision.calibration import log_softmax, pad
from disambig.runtime import use_numba
from disambig.text import UNKNOWN, common_prefix, fmix, hash_word, top_bits_directory
from disambig.type_aliases import Floats

OTHER, INSERTION, DELETION, LETTER, MARK = range(5)
"""Kinds of edit: another word; an inserted word; a deleted word; one letter; an apostrophe or space."""
NO_CHANGE = 0
"""Change of an insertion or a deletion, or between words that share too little."""
LONGEST = 4
"""Maximum number of letters of each word that differ."""
KINDS = ("other word", "insertion", "deletion", "a letter", "apostrophe or space")


@lru_cache(maxsize=1 << 14)
def edit_kind(written: str, meant: str) -> int:
    """Return the kind of one edit."""
    if not written or not meant:
        return DELETION if written else INSERTION
    if _letters(written) == _letters(meant):
        return MARK
    return LETTER if _differ_by_one_letter(written, meant) else OTHER


@lru_cache(maxsize=1 << 14)
def edit_change(written: str, meant: str) -> int:
    """Return the hash of the differing ends of two words, or `NO_CHANGE`."""
    if not written or not meant:
        return NO_CHANGE
    written, meant = written.lower(), meant.lower()
    shared = len(common_prefix(written, meant))
    if max(len(written), len(meant)) - shared > LONGEST:
        return NO_CHANGE
    return hash_word(f"{written[shared:]}>{meant[shared:]}")


def pair_edits(written: Sequence[str], meant: Sequence[str]) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return the kinds and the changes of edits, shape ``(n,)``."""
    kinds = np.fromiter(map(edit_kind, written, meant), np.int8, len(written))
    return kinds, np.fromiter(map(edit_change, written, meant), np.uint64, len(written))


def _letters(word: str) -> str:
    """Return the word without apostrophes, spaces and hyphens."""
    return word.replace("'", "").replace(" ", "").replace("-", "")


def _differ_by_one_letter(a: str, b: str) -> bool:
    """Return True if the words differ by one letter inserted, deleted, replaced or swapped with the next."""
    if abs(len(a) - len(b)) > 1:
        return False
    shared = len(common_prefix(a, b))
    a, b = a[shared:], b[shared:]
    if len(a) == len(b):
        return a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer[1:] == shorter


ALONE = 4
"""Number of kinds of terms without neighbours: the written word, the meant word, both, and the change."""
TERM_KINDS = 8
"""With those of neighbours: the previous and the next word, each with the written and the meant word."""
NO_KEY = 0
"""Key of a term whose neighbour is unknown; it never has a weight."""
_SEEDS = np.array(
    [
        *(0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93),
        *(0x27D4EB2F165667C5, 0x85EBCA77C2B2AE63, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53),
    ],
    np.uint64,
)
_PLACE = np.uint64(0x9FB21C651E98DF25)


def term_keys(
    words: NDArray[np.uint64], changes: NDArray[np.uint64], neighbours: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return the keys of the terms of each pair of a written word and an alternative.

    `words` (uint64 (n, 1 + R)): the written word, then the alternatives.
    `changes` (uint64 (n, R)): change from the written word to each alternative; `NO_CHANGE` has no key.
    `neighbours` (uint64 (n, 2)): the words before and after, `UNKNOWN` if they are not known.
    Returns `NO_KEY` if the neighbour of the term is not known, or there is no change.
    """
    # A key is a hash of its words and the seed of its kind, so that kinds do not share weights; multiplying
    # one of two words by a constant makes the pair (a, b) differ from (b, a).
    written, meant = words[:, :1], words[:, 1:]
    kinds = TERM_KINDS if neighbours.any() else ALONE
    parts = np.empty((*meant.shape, kinds), np.uint64)
    parts[:, :, ::2], parts[:, :, 1::2] = written[:, :, None], meant[:, :, None]
    parts[:, :, 2], parts[:, :, 3] = written + meant * _PLACE, changes
    if kinds == TERM_KINDS:
        near = neighbours.repeat(2, axis=1) * _PLACE  # before, before, after, after
        parts[:, :, ALONE:] += near[:, None]
    keys: NDArray[np.uint64] = fmix(parts + _SEEDS[:kinds])
    keys[:, :, ALONE - 1][changes == NO_CHANGE] = NO_KEY
    if kinds == TERM_KINDS:
        keys[:, :, ALONE:] *= (near != UNKNOWN)[:, None]  # `NO_KEY` is 0
    return keys


@dataclass(frozen=True, eq=False)
class HashedWeights:
    """Weights of words and pairs of words, by their hashes."""

    keys: NDArray[np.uint64]  # (n,): ascending
    weights: NDArray[np.float64]  # (n,)

    def sums(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the sum of the weights along the last axis; unknown keys have weight zero."""
        if not len(self.keys):
            return np.zeros(keys.shape[:-1])
        if use_numba(keys.size):
            from disambig.decision._kernels import lookup_weights

            weights = np.empty(keys.shape)
            lookup_weights(self.keys, self.weights, *self._directory, keys.ravel(), weights.ravel())
        else:
            weights = HashVocabulary(self.keys).get(keys, self.weights, 0.0)
        sums: NDArray[np.float64] = weights.sum(axis=-1)
        return sums

    @cached_property
    def _directory(self) -> tuple[NDArray[np.int32], np.uint32]:
        return top_bits_directory((self.keys >> np.uint64(32)).astype(np.uint32))

    def is_valid(self) -> bool:
        """Return True if keys ascend and weights are finite."""
        return (
            self.keys.ndim == 1
            and self.keys.dtype == np.uint64
            and self.keys.shape == self.weights.shape
            and bool((self.keys[1:] > self.keys[:-1]).all())
            and bool(np.isfinite(self.weights).all())
        )


@lru_cache(maxsize=1024)
def variant_matrix(group: Group) -> NDArray[np.bool_]:
    """Return a mask of the pairs of candidates that are equal or variants, shape ``(K, K)``."""
    k = range(len(group.candidates))
    return np.array([[group.same(i, j) for j in k] for i in k], bool)


class GroupTable(NamedTuple):
    """The candidates of G groups without their places, padded to K candidates."""

    is_variant: NDArray[np.bool_]  # (G, K, K): whether two candidates are equal or variants
    hashes: NDArray[np.uint64]  # (G, K)
    kinds: NDArray[np.int8]  # (G, K, K): kind of the edit from each candidate to each other one
    changes: NDArray[np.uint64]  # (G, K, K): see `edit_change`
    empty: NDArray[np.int64]  # (G,): index of the empty candidate; -1 if there is none

    @classmethod
    @lru_cache(maxsize=4096)
    def from_group(cls, group: Group) -> GroupTable:
        """Compare the candidates of one group; the arrays must not be changed."""
        candidates = group.candidates
        return cls(
            variant_matrix(group)[None],
            np.array([[_hash(word) for word in candidates]], np.uint64),
            np.array([[[edit_kind(a, b) for b in candidates] for a in candidates]], np.int8),
            np.array([[[edit_change(a, b) for b in candidates] for a in candidates]], np.uint64),
            np.array([candidates.index("") if "" in candidates else -1]),
        )

    @classmethod
    def joined(cls, groups: Sequence[Group], k: int) -> GroupTable:
        """Pad the tables of groups to `k` candidates; larger groups must have no instances."""
        n = len(groups)
        padded = cls(
            np.zeros((n, k, k), bool),
            np.zeros((n, k), np.uint64),
            np.zeros((n, k, k), np.int8),
            np.zeros((n, k, k), np.uint64),
            np.zeros(n, np.int64),
        )
        for g, group in enumerate(groups):
            if (size := len(group.candidates)) <= k:
                one, cells = cls.from_group(group), (g, slice(size), slice(size))
                padded.is_variant[cells], padded.hashes[g, :size] = one.is_variant, one.hashes
                padded.kinds[cells], padded.changes[cells] = one.kinds, one.changes
                padded.empty[g] = one.empty[0]
        return padded


@dataclass(frozen=True, slots=True, eq=False)
class PaddedScores:
    """Padded scores of n instances, with at most K candidates."""

    batch: ScoreBatch
    scores: Floats  # float64 (n, K): padded with minus infinity
    observed: NDArray[np.int32]  # (n,): the candidate in the text; -1 if there is none
    is_variant: NDArray[np.bool_]  # (n, K): mask of the observed candidates and their variants
    # float64 (n, K): the scores of the alternatives; minus infinity for the observed candidate and its
    # variants, and if there is no observed candidate
    others: Floats
    table: GroupTable | None  # the candidates of the groups of `batch`; None for per-instance candidates

    @classmethod
    def from_batch(cls, batch: ScoreBatch) -> PaddedScores:
        """Pad the scores of a batch."""
        scores = pad(batch.scores, batch.offsets, -np.inf)
        k, observed, table = scores.shape[1], batch.observed, None
        if batch.lists is None:
            groups = batch.groups
            table = GroupTable.from_group(*groups) if len(groups) == 1 else GroupTable.joined(groups, k)
            is_variant = table.is_variant[batch.group_of, observed]
        else:
            is_variant = np.arange(k) == observed[:, None]
        others = np.where(is_variant | (observed < 0)[:, None], -np.inf, scores)
        return cls(batch, scores, observed, is_variant, others, table)

    def repeats(self) -> NDArray[np.bool_]:
        """Return a mask of the instances whose observed word repeats the word before, shape (n,).

        False if the neighbours are not known.
        """
        if self.batch.neighbours is None:
            return np.zeros(len(self.scores), bool)
        before = self.batch.neighbours[:, 0]
        has_both = (self.observed >= 0) & (before != UNKNOWN)
        if not has_both.any():
            return has_both
        written = np.maximum(self.observed, 0)
        if self.table is not None:
            hashes = self.table.hashes[self.batch.group_of, written]
        else:
            hashes = _hash_texts(*_texts_of_lists(self.batch, slice(None), written[:, None]))[:, 0]
        repeats: NDArray[np.bool_] = has_both & (hashes == before)
        return repeats


MAX_ALTERNATIVES = 6
"""Maximum number of alternatives that are considered, those with the best scores."""
FAR = 12.0
"""Margins and log probabilities are clipped to this absolute value."""
_BY_EDIT = ("margin", "log probability of the other", "log probability of the written")
FEATURES = (
    *(f"{name}, {edit}" for name in _BY_EDIT for edit in ("replacement", "insertion", "deletion")),
    "logarithm of the margin",
    "evidence for the other",
    "evidence for the written",
    "share of n-grams known",
    *KINDS,
    "repeats the word before, replacement",
    "repeats the word before, deletion",
)
EARLIER = len(FEATURES) - 2
"""Number of features of the first saved decision rules, which lack the features of repeated words."""
_MARGINS = 3
"""Number of first features that hold the margin: one of them, by the kind of edit, is not zero."""
_ONE_HOT = np.eye(len(KINDS), dtype=bool)
_IS_INSERTION, _IS_DELETION = _ONE_HOT[[INSERTION, DELETION]]
_EDITS = np.stack([~(_IS_INSERTION | _IS_DELETION), _IS_INSERTION, _IS_DELETION], axis=1)
"""Masks of the edits that replace, insert and delete words, by kind of edit."""


@dataclass(frozen=True, slots=True, eq=False)
class AlternativeFeatures:
    """The best alternatives of n instances and their features, those with the best scores first."""

    # int64 (n, R): indices in the group or list; -1 if there are fewer, or no observed candidate to compare
    # with
    candidates: NDArray[np.int64]
    # float32 (n, R, len(FEATURES) + P): `FEATURES`, then the margins of the P parts of the scores
    features: NDArray[np.float32]
    words: NDArray[np.uint64]  # uint64 (n, 1 + R): hashes of the observed candidate and of the alternatives
    # uint64 (n, R): change from the observed candidate to each alternative (see `edit_change`)
    changes: NDArray[np.uint64]
    # uint64 (n, 2): hashes of the words before and after; `UNKNOWN` if they are not known
    neighbours: NDArray[np.uint64]
    # bool (n,): whether an extractor has found evidence for any candidate, such as an n-gram in a count table
    evident: NDArray[np.bool_]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Mask of the alternatives that exist, shape ``(n, R)``."""
        return self.candidates >= 0

    def take(self, rows: NDArray[np.generic] | slice) -> AlternativeFeatures:
        """Return the alternatives of the instances in `rows`."""
        return AlternativeFeatures(
            self.candidates[rows],
            self.features[rows],
            self.words[rows],
            self.changes[rows],
            self.neighbours[rows],
            self.evident[rows],
        )


def find_alternatives(scored: ScoreBatch, observed: NDArray[np.int32] | None = None) -> AlternativeFeatures:
    """Find the best alternatives and compute their features.

    The empty candidate is among them whatever its score if the observed word repeats the word before.

    `observed` (int32 (n,)): observed candidates that replace those of `scored`.
    """
    padded = PaddedScores.from_batch(scored if observed is None else replace(scored, observed=observed))
    return alternatives_at(np.arange(len(scored)), padded, padded.repeats())


def alternatives_at(
    rows: NDArray[np.int64], padded: PaddedScores, repeats: NDArray[np.bool_]
) -> AlternativeFeatures:
    """Find the best alternatives of the instances in `rows`; see `find_alternatives`.

    `repeats`: result of ``padded.repeats()``.
    """
    batch = padded.batch
    scores, others, repeats = padded.scores[rows], padded.others[rows], repeats[rows]
    best = (-others).argsort(axis=1, kind="stable")[:, :MAX_ALTERNATIVES]
    if padded.table is not None and repeats.any():
        # a repeated word must be compared with its deletion even if that has a bad score
        empty = padded.table.empty[batch.group_of[rows]]
        without_empty = repeats & (empty >= 0) & ~(best == empty[:, None]).any(axis=1)
        best[without_empty, -1] = empty[without_empty]
    written = np.maximum(padded.observed[rows], 0)[:, None]
    instances = np.arange(len(rows))[:, None]
    cells, cell_of_written = (instances, best), (instances, written)
    possible = np.isfinite(others[cells])
    log_probabilities = log_softmax(scores)
    n_hits = pad(batch.n_hits, batch.offsets, 0)[rows]
    n_queries = pad(batch.n_queries, batch.offsets, 0)[rows]
    evidence = np.log1p(n_hits)
    coverage = n_hits.sum(axis=1) / np.maximum(n_queries.sum(axis=1), 1)
    margin = np.where(possible, scores[cells] - scores[cell_of_written], -FAR)
    words, kinds, changes = _words_and_edits(padded, rows, np.concatenate([written, best], axis=1))
    edits = _EDITS[kinds]
    n_parts = 0 if batch.parts is None else batch.parts.shape[1]
    # the columns are in the order of `FEATURES`; of each name in `_BY_EDIT`, the column of the edit is filled
    features = np.empty((*best.shape, len(FEATURES) + n_parts), np.float32)
    for first, value in (
        (0, np.minimum(np.maximum(margin, -FAR), FAR)),
        (3, np.maximum(log_probabilities[cells], -FAR)),
        (6, np.maximum(log_probabilities[cell_of_written], -FAR)),
    ):
        np.multiply(value[:, :, None], edits, out=features[:, :, first : first + 3], casting="same_kind")
    features[:, :, 9] = np.sign(margin) * np.log1p(np.abs(margin))
    features[:, :, 10] = evidence[cells]
    features[:, :, 11] = evidence[cell_of_written]
    features[:, :, 12] = coverage[:, None]
    features[:, :, 13:EARLIER] = _ONE_HOT[kinds]
    features[:, :, EARLIER : len(FEATURES)] = repeats[:, None, None] & edits[:, :, ::2]
    if batch.parts is not None:
        parts = pad(batch.parts, batch.offsets, 0.0)[rows]
        part_margins = parts[cells] - parts[cell_of_written]
        np.maximum(np.minimum(part_margins, FAR, out=part_margins), -FAR, out=features[:, :, len(FEATURES) :])
    if not possible.all():
        features[~possible] = 0.0
    if batch.neighbours is None:
        neighbours = np.full((len(rows), 2), UNKNOWN, np.uint64)
    else:
        neighbours = batch.neighbours[rows]
    return AlternativeFeatures(
        np.where(possible, best, -1), features, words, changes, neighbours, coverage > 0
    )


def alternatives_repeat(alternatives: AlternativeFeatures) -> NDArray[np.bool_]:
    """Return the same mask computed from alternatives, shape (n,); False if there are none."""
    marks = alternatives.features[:, :, EARLIER : len(FEATURES)]
    repeats: NDArray[np.bool_] = np.any(marks != 0, axis=(1, 2))
    return repeats


def alternative_margins(alternatives: AlternativeFeatures) -> Floats:
    """Return the margins computed from alternatives, clipped at `FAR`."""
    margins = alternatives.features[:, :, :_MARGINS].sum(axis=2, dtype=np.float64)
    return np.where(alternatives.possible, margins, -np.inf).max(axis=1, initial=-np.inf)


def _words_and_edits(
    padded: PaddedScores, rows: Selection, places: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int8], NDArray[np.uint64]]:
    """Return the hashes of the candidates at `places`, and the edits from the first one to the others.

    The hashes have the shape (n, P), the kinds and the changes of the edits the shape (n, P - 1).
    """
    if padded.table is not None:
        table, group_of = padded.table, padded.batch.group_of[rows][:, None]
        cells = group_of, places[:, :1], places[:, 1:]
        return table.hashes[group_of, places], table.kinds[cells], table.changes[cells]
    texts, index = _texts_of_lists(padded.batch, rows, places)
    n = max(len(texts), 1)
    # one number for each pair of texts, so that equal pairs are compared once
    pairs, inverse = unique_inverse((index[:, :1] * n + index[:, 1:]).ravel())
    written, meant = ([texts[i] for i in indices.tolist()] for indices in np.divmod(pairs, n))
    shape = len(places), places.shape[1] - 1
    kinds, changes = (values[inverse].reshape(shape) for values in pair_edits(written, meant))
    return _hash_texts(texts, index), kinds, changes


def _hash_texts(texts: list[str], index: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hashes of texts that are given by their index."""
    return np.fromiter(map(_hash, texts), np.uint64, len(texts))[index]


def _texts_of_lists(
    batch: ScoreBatch, rows: Selection, places: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct texts of the per-instance candidates at `places`, and the index of each text.

    The index has the shape (n, P).
    """
    assert batch.lists is not None
    first = batch.offsets[:-1][rows][:, None]
    last = batch.offsets[1:][rows][:, None] - 1
    list_rows = np.minimum(first + places, last)
    texts, index = distinct_texts(take_texts(batch.lists.texts, list_rows.ravel()))
    return texts, index.reshape(list_rows.shape)


@lru_cache(maxsize=1 << 14)
def _hash(word: str) -> int:
    return hash_word(word.lower())
