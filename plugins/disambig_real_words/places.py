"""Where a decision is open: places at which another candidate is near what stands there.

Nearly all words of a text are right beyond doubt. What the model of words in context gives a place must bring
another candidate within a few log-odds of what stands there, or there is no instance at all. Scores are
learned from all places (`EVERY_PLACE`): among those that were picked by the model's word, its word would
count for nothing.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances, TokenView
from disambig.api.features import Cloze, Places, scores_of, states_at
from disambig.api.tasks import CandidateLists, Interned

from .relations import Relations
from .running_text import apart_from_text, in_running_text

Ints = NDArray[np.int64]
EVERY_PLACE = -np.inf
"""The bound above which every candidate is near that the model knows: of places to learn from."""
MOST_TO_LEARN = 60_000
"""Of these so many are taken, evenly spread: they hold whole lists."""
_numbers: WeakKeyDictionary[Cloze, WeakKeyDictionary[Relations, NDArray[np.int32]]] = WeakKeyDictionary()


def open_places(
    model: Cloze,
    view: TokenView,
    positions: Ints,
    lengths: NDArray[np.int32],
    words: Relations,
    lists: tuple[Ints, Ints],
    *,
    least: float,
    hinted: NDArray[np.int8] | None = None,
) -> Instances:
    """Return the places at which another candidate is near, each with those that are.

    Parameters
    ----------
    positions : array of int64, shape (n,)
    lengths : array of int32, shape (n,)
        Tokens that stand at each place: 1, or 0 for an empty one.
    words : Relations
        Whose spellings are the candidates.
    lists : (offsets, numbers)
        The candidates of each place, as numbers of words; the first is what stands there.
    least : float
        By how much the score of another must be above that of what stands there, in log-odds; with
        `EVERY_PLACE` some of all places are taken, `MOST_TO_LEARN` at most.
    hinted : array of int8, shape (n_candidates,), optional
        1 for candidates that are near whatever the model says, if it knows them, and -1 for those that are
        not offered.
    """
    kept = ~apart_from_text(view, positions, lengths)
    if least == EVERY_PLACE:
        kept &= _thinned(kept, MOST_TO_LEARN)
    in_kept = np.repeat(kept, np.diff(lists[0]))
    positions, lengths, (offsets, numbers) = positions[kept], lengths[kept], _of_lists(lists, kept, in_kept)
    n = len(positions)
    row = np.repeat(np.arange(n), np.diff(offsets))
    candidates = numbers_in(model, words)[numbers]
    scores = scores_of(model, states_at(model, view, Places(positions, positions + lengths)), row, candidates)
    first = np.zeros(len(row), bool)
    first[offsets[:-1]] = True
    with np.errstate(invalid="ignore"):  # what is not known has no score
        near = ~first & (scores - scores[offsets[:-1]][row] >= least)
    if hinted is not None:
        near |= ~first & (hinted[in_kept] > 0) & (candidates >= 0)
        near &= hinted[in_kept] >= 0
    is_open = (candidates[offsets[:-1]] >= 0) & (np.bincount(row[near], minlength=n) > 0)
    is_open[is_open] = in_running_text(view, positions[is_open], lengths[is_open])
    taken = (near | first) & is_open[row]
    sizes = np.bincount(row[taken], minlength=n)[is_open]
    texts = Interned(words.spellings, numbers[taken])
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    own = CandidateLists(
        begins,
        texts,
        np.zeros(len(texts)),
        (np.arange(len(texts)) - np.repeat(begins[:-1], sizes)).astype(np.int32),
        np.full(len(texts), np.nan, np.float32),
    )
    zeros = np.zeros(len(sizes), np.int32)
    return Instances(positions[is_open], lengths[is_open], zeros, zeros.copy(), own)


def numbers_in(model: Cloze, words: Relations) -> NDArray[np.int32]:
    """Return the number that a model has for each word, -1 for one that it does not know; found once."""
    known = _numbers.setdefault(model, WeakKeyDictionary())
    if words not in known:
        numbers = model.vocabulary.of_hashes(words.words)
        nothing = [i for i, word in enumerate(words.spellings) if not word]
        numbers[nothing] = model.nothing
        known[words] = numbers
    return known[words]


def joined(parts: list[Instances]) -> Instances:
    """Return the places of several parts in text order."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    own = CandidateLists.joined([part.own for part in parts if part.own is not None])
    together = Instances(
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.groups for part in parts]),
        np.concatenate([part.observed for part in parts]),
        own,
    )
    return together.take(np.lexsort((together.lengths, together.positions)))


def _thinned(among: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Return which of some places to take for `most` of them, evenly spread; all where there are no more."""
    step = -(-int(among.sum()) // most)
    found: NDArray[np.bool_] = np.cumsum(among) % max(step, 1) == 0
    return found


def _of_lists(
    lists: tuple[Ints, Ints], kept: NDArray[np.bool_], in_kept: NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """Return the lists of the places that are kept."""
    offsets, numbers = lists
    sizes = np.diff(offsets)[kept]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), numbers[in_kept]
