"""What speaks for another word: each of the best other candidates beside the one that stands there.

Plain arrays of what the scorer and the counts say; no text is read, nothing is learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.data.interned import distinct, taken
from disambig.judges.mistakes.edits import DELETION, INSERTION, KINDS, edits_between, edits_of_pairs
from disambig.judges.several import Several
from disambig.text.hashing import UNKNOWN, hash_word
from disambig.types import Scored

Floats = NDArray[np.float64]
MOST = 6
"""Other candidates that are weighed, the best scored ones."""
FAR = 12.0
"""Margins and logarithms of probabilities are cut here."""
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
"""So many of the features had the first judges of mistakes."""
_MARGINS = 3
"""Of the first features, one for each edit, one is the margin and the others are zero."""
_ZERO = ""
"""The candidate of no word."""


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """The best other candidates of n instances, the best scored first.

    Attributes
    ----------
    candidates : array of int64, shape (n, R)
        As indices in group or list; -1 where there are fewer, or nothing stands there to compare with.
    features : array of float32, shape (n, R, len(FEATURES) + P)
        Behind `FEATURES` the margins of the P parts of scores.
    words : array of uint64, shape (n, 1 + R)
        Hashes of the candidate that stands there, and of the others.
    changes : array of uint64, shape (n, R)
        What changes from the first to each other (see `edits`).
    beside : array of uint64, shape (n, 2)
        Hashes of the words before and after; `UNKNOWN` where they are not known.
    evident : array of bool, shape (n,)
        Whether any n-gram of the place is known: without, nothing is flagged.
    """

    candidates: NDArray[np.int64]
    features: NDArray[np.float32]
    words: NDArray[np.uint64]
    changes: NDArray[np.uint64]
    beside: NDArray[np.uint64]
    evident: NDArray[np.bool_]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Which rivals there are, shape ``(n, R)``."""
        return self.candidates >= 0

    def take(self, rows: NDArray[np.generic]) -> Rivals:
        """Return the rivals of some instances."""
        columns = (self.candidates, self.features, self.words, self.changes, self.beside, self.evident)
        return Rivals(*(column[rows] for column in columns))


def rivals_of(scored: Scored, observed: NDArray[np.int32] | None = None) -> Rivals:
    """Find the best other candidates and what speaks for them.

    No word at all is among them, however bad its score, where the word before stands there once more.

    Parameters
    ----------
    scored : Scored
    observed : array of int32, shape (n,), optional
        What stands there, if other than in `scored`.
    """
    return rivals_among(Several.of([scored if observed is None else replace(scored, observed=observed)]))


def rivals_among(several: Several) -> Rivals:
    """Find the same for instances of several groups."""
    scores, written = several.scores, several.observed
    rows = np.arange(len(scores))
    open_to = _others(several)
    best = np.argsort(-open_to, axis=1, kind="stable")[:, :MOST]
    twice = repeats(several)
    zero = np.array([_zero_of(each) for each in several.parts])[several.part]
    far = twice & (zero >= 0) & ~(best == zero[:, None]).any(axis=1)
    best[far, -1] = zero[far]
    here = np.maximum(written, 0)
    possible = np.isfinite(open_to[rows[:, None], best])
    shares = _log_shares(scores) if len(scores) else scores
    found = np.log1p(several.found)
    known = several.found.sum(axis=1) / np.maximum(several.asked, 1)
    margin = np.where(possible, scores[rows[:, None], best] - scores[rows, here][:, None], -FAR)
    places = np.concatenate([here[:, None], best], axis=1)
    (kinds, changes), words = _edits(several, places), _words(several, places)
    inserted, deleted = kinds == INSERTION, kinds == DELETION
    edits = (~(inserted | deleted), inserted, deleted)
    values = (
        np.clip(margin, -FAR, FAR),
        np.maximum(shares[rows[:, None], best], -FAR),
        np.broadcast_to(np.maximum(shares[rows, here], -FAR)[:, None], best.shape),
    )
    columns = [value * edit for value in values for edit in edits]
    columns.append(np.sign(margin) * np.log1p(np.abs(margin)))
    columns.append(found[rows[:, None], best])
    columns += [np.broadcast_to(each[:, None], best.shape) for each in (found[rows, here], known)]
    columns += [kinds == kind for kind in range(len(KINDS))]
    columns += [twice[:, None] & edit for edit in (edits[0], deleted)]
    of_scores = several.parts_of_scores
    parts = of_scores[rows[:, None], best] - of_scores[rows, here][:, None]
    columns += list(np.clip(parts, -FAR, FAR).transpose(2, 0, 1))
    features = np.stack(columns, axis=2).astype(np.float32)
    features[~possible] = 0.0
    return Rivals(np.where(possible, best, -1), features, words, changes, several.beside, known > 0)


def repeats(several: Several) -> NDArray[np.bool_]:
    """Tell at which instances the word that stands there is the word before once more, shape (n,).

    False where the words beside are not known.
    """
    before = several.beside[:, 0]
    known = (several.observed >= 0) & (before != UNKNOWN)
    if not known.any():
        return known
    written = _words(several, np.maximum(several.observed, 0)[:, None])[:, 0]
    found: NDArray[np.bool_] = known & (written == before)
    return found


def repeated(rivals: Rivals) -> NDArray[np.bool_]:
    """Tell the same of rivals, shape (n,); False where there are none."""
    found: NDArray[np.bool_] = np.any(rivals.features[:, :, EARLIER : len(FEATURES)] != 0, axis=(1, 2))
    return found


def _zero_of(scored: Scored) -> int:
    """Return which candidate of a group is no word at all; -1 without one, or in lists of their own."""
    candidates = scored.group.candidates
    return candidates.index(_ZERO) if scored.own is None and _ZERO in candidates else -1


def margins_of(several: Several) -> Floats:
    """Return by how much the best other candidate's score is above that of what stands there, shape (n,).

    Minus infinity where there is no other, or nothing stands there.
    """
    own = several.scores[np.arange(len(several.scores)), several.observed]
    margins: Floats = _others(several).max(axis=1, initial=-np.inf) - own
    return margins


def _others(several: Several) -> Floats:
    """Return the scores of what could be meant in place of what stands there; the rest minus infinity."""
    return np.where(several.alike() | (several.observed < 0)[:, None], -np.inf, several.scores)


def best_margins(rivals: Rivals) -> Floats:
    """Return the same of rivals, cut at `FAR`."""
    margins = rivals.features[:, :, :_MARGINS].sum(axis=2, dtype=np.float64)
    return np.where(rivals.possible, margins, -np.inf).max(axis=1, initial=-np.inf)


def _words(several: Several, places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hashes of the candidates at `places`, shape (n, P)."""
    nothing = np.zeros(several.scores.shape[1], np.uint64)
    hashes = several.of_groups(lambda group: _hashes_of(group.candidates), nothing)
    found: NDArray[np.uint64] = hashes[several.part[:, None], places]
    for rows, texts, index in _texts_of_lists(several, places):
        found[rows] = np.fromiter(map(_hash, texts), np.uint64, len(texts))[index]
    return found


def _edits(several: Several, places: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return kinds and changes of the edits from the first `places` to the others, shape (n, P - 1)."""
    k = several.scores.shape[1]
    at = several.part[:, None], places[:, :1], places[:, 1:]
    none = np.zeros((k, k), np.int8), np.zeros((k, k), np.uint64)
    kinds: NDArray[np.int8] = several.of_groups(lambda group: edits_between(group.candidates)[0], none[0])[at]
    changes: NDArray[np.uint64] = several.of_groups(
        lambda group: edits_between(group.candidates)[1], none[1]
    )[at]
    for rows, texts, index in _texts_of_lists(several, places):
        pairs, which = np.unique(index[:, :1] * len(texts) + index[:, 1:], return_inverse=True)
        here, there = ([texts[i] for i in each.tolist()] for each in np.divmod(pairs, len(texts)))
        kinds[rows], changes[rows] = (
            each[which].reshape(len(rows), -1) for each in edits_of_pairs(here, there)
        )
    return kinds, changes


def _texts_of_lists(
    several: Several, places: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], list[str], NDArray[np.int64]]]:
    """Yield which instances have lists of their own, part by part, and the texts of the candidates there.

    These are the different texts, and which of them each is, shape (n_rows, P).
    """
    for number, each in enumerate(several.parts):
        rows = np.flatnonzero(several.part == number) if each.own is not None else np.empty(0, np.int64)
        if each.own is not None and len(rows):
            first = each.offsets[several.row[rows]][:, None]
            last = each.offsets[several.row[rows] + 1][:, None] - 1
            at = np.minimum(first + places[rows], last)
            texts, index = distinct(taken(each.own.texts, at.ravel()))
            yield rows, texts, index.reshape(at.shape)


@lru_cache(maxsize=4096)
def _hashes_of(candidates: tuple[str, ...]) -> NDArray[np.uint64]:
    return np.array([_hash(word) for word in candidates], np.uint64)


@lru_cache(maxsize=1 << 16)
def _hash(word: str) -> int:
    return hash_word(word.lower())


def _log_shares(scores: Floats) -> Floats:
    most = scores.max(axis=1, keepdims=True)
    found: Floats = scores - most - np.log(np.exp(scores - most).sum(axis=1, keepdims=True))
    return found
