"""Counts of the n-grams around a place with each candidate of the place's own list, of any length, in it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.cut_candidates import hashes_of_candidates
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.engine import use_numba
from disambig.features.counts.contexts import CONTEXTS, GROUP_NAMES, room
from disambig.text.hashing import MAX_ORDER, ORDER, PLACES, fmix
from disambig.text.tokenisations.by_name import tokenisation_named
from disambig.text.view import SENTENCE_END, SENTENCE_START, TokenView

if TYPE_CHECKING:
    from disambig.counts.table import CountTable

Ints = NDArray[np.int64]
_BOUNDARIES = (SENTENCE_START, SENTENCE_END)


def ranks_of_lists(
    table: CountTable, view: TokenView, instances: Instances, own: CandidateLists, *, zero: bool = False
) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    """Return the rank of each candidate's n-gram in each context, and which contexts its place holds.

    Candidates of one list are compared on the contexts that all of them can fill, as those of a group are.
    With `zero` words are compared on all that they can fill, and the candidate of no word on those with words
    on both sides: in the others its rank is zero.

    Returns
    -------
    ranks : array of uint16, shape (n_candidates, 14)
        Zero where an n-gram is not in the table.
    usable : array of bool, shape (n_candidates, 14)
    """
    words, lengths = _hashed(own, view.tokenisation)
    of_row = np.repeat(np.arange(len(own)), np.diff(own.offsets))
    fits = _fits(view, instances, own, lengths, zero)
    usable = fits[of_row]
    seed, behind = table.seed(view.tokenisation), instances.positions + instances.lengths
    if not use_numba(usable.size):
        return _ranks(
            table, view, (instances.positions[of_row], behind[of_row]), words, lengths, usable, zero
        ), usable
    from disambig.features.counts.list_kernels import fill_lists

    ranks = np.empty(usable.shape, np.uint16)
    places = view.hashes, instances.positions, behind
    fill_lists(*table.arrays, np.uint64(seed), *places, of_row, words, lengths, fits, zero, ranks)
    return ranks, usable


def _ranks(
    table: CountTable,
    view: TokenView,
    places: tuple[Ints, Ints],
    words: NDArray[np.uint64],
    lengths: Ints,
    usable: NDArray[np.bool_],
    zero: bool,
) -> NDArray[np.uint16]:
    """Return the ranks without Numba; `places`: the first token of each candidate's place, and the next."""
    seed, at_place = table.seed(view.tokenisation), np.array(PLACES, np.uint64)
    positions, behind = places
    ranks = np.zeros(usable.shape, np.uint16)
    for c, (left, right) in enumerate(CONTEXTS):
        filled = usable[:, c] & (lengths > 0) if zero and not (left and right) else usable[:, c]
        rows = np.flatnonzero(filled)
        if not len(rows):
            continue
        n = lengths[rows]
        keys = np.uint64(seed) + (left + n + right).astype(np.uint64) * np.uint64(ORDER)
        known = np.ones(len(rows), bool)
        around = [(view.hashes[positions[rows] - left + i], np.full(len(rows), i)) for i in range(left)]
        around += [(view.hashes[behind[rows] + i], left + n + i) for i in range(right)]
        for hashes, at in around:
            keys += hashes * at_place[at]
            known &= hashes != 0
        for i in range(words.shape[1]):
            inside = n > i
            if not inside.any():
                break
            keys[inside] += words[rows[inside], i] * at_place[left + i]
        found = table.ranks(fmix(keys))
        ranks[rows, c] = np.where(known, found, 0)
    return ranks


@lru_cache(maxsize=1)
def columns_of_lists() -> Columns:
    """Return the meaning of the 15 weights that all candidates share."""
    sizes = [left + right - 1 for left, right in CONTEXTS]
    names = [" ".join(["."] * left + ["_"] + ["."] * right) for left, right in CONTEXTS]
    groups = np.array([*sizes, len(GROUP_NAMES)], np.int32)
    return Columns(np.full(len(groups), -1, np.int32), groups, (*GROUP_NAMES, "bias"), [*names, "bias"])


def words_of(text: str, tokenisation: str) -> list[str]:
    """Return the words of a candidate, for people."""
    return [word for word in tokenisation_named(tokenisation).words(text) if word not in _BOUNDARIES]


@lru_cache(maxsize=1)  # the same lists are asked about twice
def _hashed(own: CandidateLists, tokenisation: str) -> tuple[NDArray[np.uint64], Ints]:
    return hashes_of_candidates(own.texts, tokenisation)


def counts_alone(
    table: CountTable, tokenisation: str, own: CandidateLists
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return how often each candidate was counted, whatever is around it, and which are no word."""
    words, lengths = _hashed(own, tokenisation)
    found = np.zeros(len(lengths))
    for size in range(1, words.shape[1] + 1):
        rows = np.flatnonzero(lengths == size)
        if len(rows) and size <= MAX_ORDER:  # longer ones are not counted
            found[rows] = table.counts_of_words(words[rows, :size], tokenisation=tokenisation)
    return found, lengths == 0


def _fits(
    view: TokenView, instances: Instances, own: CandidateLists, lengths: Ints, zero: bool
) -> NDArray[np.bool_]:
    """Return which contexts each place can fill with every candidate of its list, shape ``(n, 14)``."""
    contexts = np.array(CONTEXTS)
    left, right = room(view, instances)
    starts = own.offsets[:-1]
    longest, shortest = np.maximum.reduceat(lengths, starts), np.minimum.reduceat(lengths, starts)
    short = contexts.sum(axis=1) + longest[:, None] <= MAX_ORDER
    # a candidate of no word says something between words only
    says = (longest if zero else shortest) > 0
    between = says[:, None] | (contexts.min(axis=1) > 0)
    inside = (left[:, None] >= contexts[:, 0]) & (right[:, None] >= contexts[:, 1])
    return inside & short & between
