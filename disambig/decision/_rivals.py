"""Alternatives to the observed word and their features: kinds of edit, hashed words, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CandidateLists,
    HashVocabulary,
    ScoreBatch,
    distinct_texts,
    take_texts,
    unique_inverse,
)
from disambig.decision.padded_scores import PaddedScores
from disambig.runtime import use_numba
from disambig.text import UNKNOWN, fmix, hash_word, top_bits_directory
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
    return LETTER if _near(written, meant) else OTHER


@lru_cache(maxsize=1 << 14)
def edit_change(written: str, meant: str) -> int:
    """Return the hash of the differing ends of two words, or `NO_CHANGE`."""
    if not written or not meant:
        return NO_CHANGE
    written, meant, same = written.lower(), meant.lower(), 0
    while same < min(len(written), len(meant)) and written[same] == meant[same]:
        same += 1
    if max(len(written), len(meant)) - same > LONGEST:
        return NO_CHANGE
    return hash_word(f"{written[same:]}>{meant[same:]}")


@lru_cache(maxsize=4096)
def candidate_edits(candidates: tuple[str, ...]) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return the kind and the change of the edit from each candidate to each other one, shape ``(K, K)``."""
    kinds = [[edit_kind(a, b) for b in candidates] for a in candidates]
    changes = [[edit_change(a, b) for b in candidates] for a in candidates]
    return np.array(kinds, np.int8), np.array(changes, np.uint64)


def pair_edits(written: Sequence[str], meant: Sequence[str]) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return the kinds and the changes of edits, shape ``(n,)``."""
    kinds = np.fromiter(map(edit_kind, written, meant), np.int8, len(written))
    return kinds, np.fromiter(map(edit_change, written, meant), np.uint64, len(written))


def _letters(word: str) -> str:
    return word.replace("'", "").replace(" ", "").replace("-", "")


def _near(a: str, b: str) -> bool:
    """Return True if the words differ by one letter inserted, deleted, replaced or swapped with the next."""
    if abs(len(a) - len(b)) > 1:
        return False
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    a, b = a[same:], b[same:]
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
_SEEDS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)
_SEEDS_BESIDE = np.array(
    [0x27D4EB2F165667C5, 0x85EBCA77C2B2AE63, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53], np.uint64
)
_PLACE = np.uint64(0x9FB21C651E98DF25)


def term_keys(
    words: NDArray[np.uint64], changes: NDArray[np.uint64], neighbours: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return the keys of the terms of each pair of a written word and an alternative.

    Parameters
    ----------
    words : array of uint64, shape (n, 1 + R)
        The written word, then the alternatives.
    changes : array of uint64, shape (n, R)
        Change from the written word to each alternative; `NO_CHANGE` has no key.
    neighbours : array of uint64, shape (n, 2)
        The words before and after, `UNKNOWN` if they are not known.

    Returns
    -------
    array of uint64, shape (n, R, TERM_KINDS), or (n, R, ALONE) if no neighbour is known
        `NO_KEY` if the neighbour of the term is not known, or there is no change.
    """
    written, meant = words[:, :1], words[:, 1:]
    parts = np.empty((*meant.shape, ALONE), np.uint64)
    for kind, values in enumerate((written, meant, written + meant * _PLACE, changes)):
        parts[:, :, kind] = values
    if not neighbours.any():
        keys: NDArray[np.uint64] = fmix(parts + _SEEDS)
        keys[:, :, ALONE - 1][changes == NO_CHANGE] = NO_KEY
        return keys
    # A key is a hash of its words and the seed of its kind, so that kinds do not share weights; multiplying
    # one of two words by a constant makes the pair (a, b) differ from (b, a).
    near = neighbours.repeat(2, axis=1)[:, None] * _PLACE  # before, before, after, after
    with_near = np.empty((*meant.shape, TERM_KINDS - ALONE), np.uint64)
    for kind, values in enumerate((written, meant, written, meant)):
        with_near[:, :, kind] = values + near[:, :, kind]
    keys = fmix(np.concatenate([parts + _SEEDS, with_near + _SEEDS_BESIDE], axis=2))
    keys[:, :, ALONE - 1][changes == NO_CHANGE] = NO_KEY
    keys[:, :, ALONE:][np.broadcast_to(near == UNKNOWN, with_near.shape)] = NO_KEY
    return keys


@dataclass(frozen=True, eq=False)
class HashedWeights:
    """Weights of words and pairs of words, by their hashes.

    Attributes
    ----------
    keys : array of uint64, shape (n,)
        Ascending.
    weights : array of float64, shape (n,)
    """

    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]

    def sums(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the sum of the weights along the last axis; unknown keys have weight zero."""
        if not len(self.keys):
            return np.zeros(keys.shape[:-1])
        sums: NDArray[np.float64] = self._find_weights(keys).sum(axis=-1)
        return sums

    def _find_weights(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        if use_numba(keys.size):
            from disambig.decision._kernels import lookup_weights

            looked_up = np.empty(keys.shape)
            lookup_weights(self.keys, self.weights, *self._directory, keys.ravel(), looked_up.ravel())
            return looked_up
        return HashVocabulary(self.keys).get(keys, self.weights, 0.0)

    @cached_property
    def _directory(self) -> tuple[NDArray[np.int32], np.uint32]:
        return top_bits_directory((self.keys >> np.uint64(32)).astype(np.uint32))

    def is_sound(self) -> bool:
        """Return True if keys ascend and weights are finite."""
        return (
            self.keys.ndim == 1
            and self.keys.dtype == np.uint64
            and self.keys.shape == self.weights.shape
            and bool((self.keys[1:] > self.keys[:-1]).all())
            and bool(np.isfinite(self.weights).all())
        )


MOST = 6
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
_ZERO = ""
"""The empty candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class AlternativeFeatures:
    """The best alternatives of n instances and their features, those with the best scores first.

    Attributes
    ----------
    candidates : array of int64, shape (n, R)
        Indices in the group or list; -1 if there are fewer, or no observed candidate to compare with.
    features : array of float32, shape (n, R, len(FEATURES) + P)
        `FEATURES`, then the margins of the P parts of the scores.
    words : array of uint64, shape (n, 1 + R)
        Hashes of the observed candidate and of the alternatives.
    changes : array of uint64, shape (n, R)
        Change from the observed candidate to each alternative (see `edit_change`).
    neighbours : array of uint64, shape (n, 2)
        Hashes of the words before and after; `UNKNOWN` if they are not known.
    evident : array of bool, shape (n,)
        Whether an extractor has found evidence for any candidate, such as an n-gram in a count table.
    """

    candidates: NDArray[np.int64]
    features: NDArray[np.float32]
    words: NDArray[np.uint64]
    changes: NDArray[np.uint64]
    neighbours: NDArray[np.uint64]
    evident: NDArray[np.bool_]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Mask of the alternatives that exist, shape ``(n, R)``."""
        return self.candidates >= 0

    def take(self, rows: NDArray[np.generic]) -> AlternativeFeatures:
        """Return the alternatives of the instances in `rows`."""
        columns = (self.candidates, self.features, self.words, self.changes, self.neighbours, self.evident)
        return AlternativeFeatures(*(column[rows] for column in columns))


def find_alternatives(scored: ScoreBatch, observed: NDArray[np.int32] | None = None) -> AlternativeFeatures:
    """Find the best alternatives and compute their features.

    The empty candidate is among them whatever its score if the observed word repeats the word before.

    Parameters
    ----------
    scored : ScoreBatch
    observed : array of int32, shape (n,), optional
        Observed candidates that replace those of `scored`.
    """
    return find_alternatives_padded(
        PaddedScores.from_batch(scored if observed is None else replace(scored, observed=observed))
    )


def find_alternatives_padded(several: PaddedScores) -> AlternativeFeatures:
    """Find the best alternatives for instances of several groups; see `find_alternatives`."""
    scores, written = several.scores, several.observed
    rows = np.arange(len(scores))
    open_to = _others(several)
    best = np.argsort(-open_to, axis=1, kind="stable")[:, :MOST]
    twice = is_repetition(several)
    zero = _zero_candidates(several)
    # a repeated word must be compared with its deletion even if that has a bad score
    far = twice & (zero >= 0) & ~(best == zero[:, None]).any(axis=1)
    best[far, -1] = zero[far]
    here = np.maximum(written, 0)
    possible = np.isfinite(open_to[rows[:, None], best])
    shares = _log_shares(scores) if len(scores) else scores
    evidence = np.log1p(several.found)
    coverage = several.found.sum(axis=1) / np.maximum(several.asked, 1)
    margin = np.where(possible, scores[rows[:, None], best] - scores[rows, here][:, None], -FAR)
    places = np.concatenate([here[:, None], best], axis=1)
    (kinds, changes), words = _edits(several, places), _words(several, places)
    inserted, deleted = kinds == INSERTION, kinds == DELETION
    edits = (~(inserted | deleted), inserted, deleted)
    values = (
        np.clip(margin, -FAR, FAR),
        np.maximum(shares[rows[:, None], best], -FAR),
        np.maximum(shares[rows, here], -FAR)[:, None],
    )
    columns = [value * edit for value in values for edit in edits]
    columns.append(np.sign(margin) * np.log1p(np.abs(margin)))
    columns.append(evidence[rows[:, None], best])
    columns += [evidence[rows, here][:, None], coverage[:, None]]
    columns += [kinds == kind for kind in range(len(KINDS))]
    columns += [twice[:, None] & edit for edit in (edits[0], deleted)]
    of_scores = several.parts_of_scores
    parts = of_scores[rows[:, None], best] - of_scores[rows, here][:, None]
    columns += list(np.clip(parts, -FAR, FAR).transpose(2, 0, 1))
    features = np.empty((*best.shape, len(columns)), np.float32)
    for i, column in enumerate(columns):
        features[:, :, i] = column
    features[~possible] = 0.0
    return AlternativeFeatures(
        np.where(possible, best, -1), features, words, changes, several.neighbours, coverage > 0
    )


def is_repetition(several: PaddedScores) -> NDArray[np.bool_]:
    """Return a mask of the instances whose observed word repeats the word before, shape (n,).

    False if the neighbours are not known.
    """
    before = several.neighbours[:, 0]
    has_both = (several.observed >= 0) & (before != UNKNOWN)
    if not has_both.any():
        return has_both
    written = _words(several, np.maximum(several.observed, 0)[:, None])[:, 0]
    repeats: NDArray[np.bool_] = has_both & (written == before)
    return repeats


def alternatives_repeat(rivals: AlternativeFeatures) -> NDArray[np.bool_]:
    """Return the same mask computed from alternatives, shape (n,); False if there are none."""
    repeats: NDArray[np.bool_] = np.any(rivals.features[:, :, EARLIER : len(FEATURES)] != 0, axis=(1, 2))
    return repeats


def _zero_candidates(several: PaddedScores) -> NDArray[np.int64]:
    """Return the index of each group's empty candidate, shape (n,).

    It is -1 if there is none, and for per-instance candidates.
    """
    listed = several.batch.own is not None
    zero = [
        group.candidates.index(_ZERO) if not listed and _ZERO in group.candidates else -1
        for group in several.batch.groups
    ]
    return np.array(zero, np.int64)[several.group_of]


def score_margins(several: PaddedScores) -> Floats:
    """Return the margin of the best alternative over the observed candidate, shape (n,).

    Minus infinity if there is no alternative or no observed candidate.
    """
    own = several.scores[np.arange(len(several.scores)), several.observed]
    margins: Floats = _others(several).max(axis=1, initial=-np.inf) - own
    return margins


def _others(several: PaddedScores) -> Floats:
    """Return the scores of the alternatives; minus infinity for the observed candidate and its variants."""
    return np.where(several.is_variant() | (several.observed < 0)[:, None], -np.inf, several.scores)


def alternative_margins(rivals: AlternativeFeatures) -> Floats:
    """Return the margins computed from alternatives, clipped at `FAR`."""
    margins = rivals.features[:, :, :_MARGINS].sum(axis=2, dtype=np.float64)
    return np.where(rivals.possible, margins, -np.inf).max(axis=1, initial=-np.inf)


def _words(several: PaddedScores, places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hashes of the candidates at `places`, shape (n, P)."""
    if several.batch.own is not None:
        texts, index = _texts_of_lists(several, several.batch.own, places)
        return np.fromiter(map(_hash, texts), np.uint64, len(texts))[index]
    nothing = np.zeros(several.scores.shape[1], np.uint64)
    hashes = several.by_group(lambda group: _candidate_hashes(group.candidates), nothing)
    hashed: NDArray[np.uint64] = hashes[several.group_of[:, None], places]
    return hashed


def _edits(several: PaddedScores, places: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return kinds and changes of the edits from the first `places` to the others, shape (n, P - 1)."""
    if several.batch.own is not None:
        texts, index = _texts_of_lists(several, several.batch.own, places)
        n = max(len(texts), 1)
        pairs, which = unique_inverse((index[:, :1] * n + index[:, 1:]).ravel())
        here, there = ([texts[i] for i in indices.tolist()] for indices in np.divmod(pairs, n))
        shape = len(places), places.shape[1] - 1
        kinds, changes = (values[which].reshape(shape) for values in pair_edits(here, there))
        return kinds, changes
    k = several.scores.shape[1]
    at = several.group_of[:, None], places[:, :1], places[:, 1:]
    none = np.zeros((k, k), np.int8), np.zeros((k, k), np.uint64)
    all_kinds = several.by_group(lambda group: candidate_edits(group.candidates)[0], none[0])
    all_changes = several.by_group(lambda group: candidate_edits(group.candidates)[1], none[1])
    return all_kinds[at], all_changes[at]


def _texts_of_lists(
    several: PaddedScores, own: CandidateLists, places: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct texts of the per-instance candidates at `places`, and the index of each text.

    The index has the shape (n, P).
    """
    first = own.offsets[several.index][:, None]
    last = own.offsets[several.index + 1][:, None] - 1
    at = np.minimum(first + places, last)
    texts, index = distinct_texts(take_texts(own.texts, at.ravel()))
    return texts, index.reshape(at.shape)


@lru_cache(maxsize=4096)
def _candidate_hashes(candidates: tuple[str, ...]) -> NDArray[np.uint64]:
    return np.array([_hash(word) for word in candidates], np.uint64)


@lru_cache(maxsize=1 << 14)
def _hash(word: str) -> int:
    return hash_word(word.lower())


def _log_shares(scores: Floats) -> Floats:
    most = scores.max(axis=1, keepdims=True)
    logs: Floats = scores - most - np.log(np.exp(scores - most).sum(axis=1, keepdims=True))
    return logs
