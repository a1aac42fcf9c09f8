"""What speaks for another word: each of the best other candidates beside the one that stands there.

Plain arrays of what the scorer and the counts say; no text is read, nothing is learned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.judges.mistakes.edits import DELETION, INSERTION, KINDS, kinds_between, kinds_of_pairs
from disambig.judges.segmented import alike, table
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
    features : array of float32, shape (n, R, len(FEATURES))
    words : array of uint64, shape (n, 1 + R)
        Hashes of the candidate that stands there, and of the others.
    beside : array of uint64, shape (n, 2)
        Hashes of the words before and after; `UNKNOWN` where they are not known.
    evident : array of bool, shape (n,)
        Whether any n-gram of the place is known: without, nothing is flagged.
    """

    candidates: NDArray[np.int64]
    features: NDArray[np.float32]
    words: NDArray[np.uint64]
    beside: NDArray[np.uint64]
    evident: NDArray[np.bool_]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Which rivals there are, shape ``(n, R)``."""
        return self.candidates >= 0

    def take(self, rows: NDArray[np.generic]) -> Rivals:
        """Return the rivals of some instances."""
        columns = (self.candidates, self.features, self.words, self.beside, self.evident)
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
    written = scored.observed if observed is None else observed
    scores = table(scored.scores, scored.offsets, -np.inf)
    n = len(scores)
    rows = np.arange(n)
    same = alike(replace(scored, observed=np.maximum(written, 0)))
    open_to = np.where(same | (written < 0)[:, None], -np.inf, scores)
    best = np.argsort(-open_to, axis=1, kind="stable")[:, :MOST]
    twice = repeats(scored, written)
    if best.shape[1] == MOST and _ZERO in scored.group.candidates and scored.own is None:
        zero = scored.group.candidates.index(_ZERO)
        best[twice & ~(best == zero).any(axis=1), -1] = zero
    here = np.maximum(written, 0)
    possible = np.isfinite(open_to[rows[:, None], best])
    shares = _log_shares(scores) if n else scores
    found = np.log1p(table(scored.found, scored.offsets, 0))
    asked = table(scored.asked, scored.offsets, 0).sum(axis=1)
    known = np.expm1(found).sum(axis=1) / np.maximum(asked, 1)
    margin = np.where(possible, scores[rows[:, None], best] - scores[rows, here][:, None], -FAR)
    kinds, words = _edits(scored, written, best)
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
    features = np.stack(columns, axis=2).astype(np.float32)
    features[~possible] = 0.0
    beside = np.full((n, 2), UNKNOWN, np.uint64) if scored.beside is None else scored.beside
    return Rivals(np.where(possible, best, -1), features, words, beside, known > 0)


def repeats(scored: Scored, observed: NDArray[np.int32] | None = None) -> NDArray[np.bool_]:
    """Tell at which instances the word that stands there is the word before once more, shape (n,).

    False where the words beside are not known. The other parameters are those of `rivals_of`.
    """
    written = scored.observed if observed is None else observed
    if scored.beside is None or not len(written):
        return np.zeros(len(written), bool)
    if scored.own is None:
        hashes = _hashes(scored.group.candidates)[written]
    else:
        places = (scored.offsets[:-1] + np.maximum(written, 0)).tolist()
        hashes = np.array([_hash(scored.own.texts[place]) for place in places], np.uint64)
    found: NDArray[np.bool_] = (written >= 0) & (hashes == scored.beside[:, 0])
    return found


def margins_of(scored: Scored) -> Floats:
    """Return by how much the best other candidate's score is above that of what stands there, shape (n,).

    Minus infinity where there is no other. Something stands at each place.
    """
    scores = table(scored.scores, scored.offsets, -np.inf)
    others = np.where(alike(scored), -np.inf, scores).max(axis=1, initial=-np.inf)
    margins: Floats = others - scores[np.arange(len(scores)), scored.observed]
    return margins


def best_margins(rivals: Rivals) -> Floats:
    """Return the same of rivals, cut at `FAR`."""
    margins = rivals.features[:, :, :_MARGINS].sum(axis=2, dtype=np.float64)
    return np.where(rivals.possible, margins, -np.inf).max(axis=1, initial=-np.inf)


def repeated(rivals: Rivals) -> NDArray[np.bool_]:
    """Tell the same of rivals, shape (n,); False where there are none."""
    found: NDArray[np.bool_] = np.any(rivals.features[:, :, EARLIER:] != 0, axis=(1, 2))
    return found


def _edits(
    scored: Scored, written: NDArray[np.int32], best: NDArray[np.int64]
) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return the kind of each edit, shape (n, R), and the hashes of the words, shape (n, 1 + R)."""
    if scored.own is None:
        candidates = scored.group.candidates
        hashes = _hashes(candidates)
        places = np.concatenate([np.maximum(written, 0)[:, None], best], axis=1)
        return kinds_between(candidates)[places[:, :1], best], hashes[places]
    first = scored.offsets[:-1, None]
    last = np.maximum(scored.offsets[1:, None] - 1, 0)
    places = np.minimum(first + np.concatenate([np.maximum(written, 0)[:, None], best], axis=1), last)
    texts = [scored.own.texts[place] for place in places.ravel().tolist()]
    width = places.shape[1]
    hashes = np.fromiter(map(_hash, texts), np.uint64, len(texts)).reshape(-1, width)
    here = [texts[i - i % width] for i in range(len(texts)) if i % width]
    there = [texts[i] for i in range(len(texts)) if i % width]
    return kinds_of_pairs(here, there).reshape(-1, width - 1), hashes


@lru_cache(maxsize=4096)
def _hashes(candidates: tuple[str, ...]) -> NDArray[np.uint64]:
    return np.array([_hash(word) for word in candidates], np.uint64)


def _hash(word: str) -> int:
    return hash_word(word.lower())


def _log_shares(scores: Floats) -> Floats:
    most = scores.max(axis=1, keepdims=True)
    found: Floats = scores - most - np.log(np.exp(scores - most).sum(axis=1, keepdims=True))
    return found
