"""Places where a decision is open: a replacement, an omission or an insertion is nearly as likely as the text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances, TokenView, UserError
from disambig.api.features import Cloze, ContextPlaces, context_vectors, score_candidates
from disambig.api.tasks import CandidateLists, Interned, empty_places

from .relations import WordRelations, is_word, normalise_word
from .running_text import in_running_text, is_word_part

Ints = NDArray[np.int64]
EVERY_PLACE = -np.inf
"""The bound above which every candidate is near that the model knows: of places to learn from."""
MAX_EXAMPLES = 60_000
"""Of these so many are taken, evenly spread: they hold whole lists."""
_numbers: WeakKeyDictionary[Cloze, WeakKeyDictionary[WordRelations, NDArray[np.int32]]] = WeakKeyDictionary()


def open_places(
    model: Cloze,
    view: TokenView,
    positions: Ints,
    lengths: NDArray[np.int32],
    words: WordRelations,
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
        `EVERY_PLACE` some of all places are taken, `MAX_EXAMPLES` at most.
    hinted : array of int8, shape (n_candidates,), optional
        1 for candidates that are near whatever the model says, if it knows them, and -1 for those that are
        not offered.
    """
    kept = ~is_word_part(view, positions, lengths)
    if least == EVERY_PLACE:
        kept &= _thin_out(kept, MAX_EXAMPLES)
    in_kept = np.repeat(kept, np.diff(lists[0]))
    positions, lengths, (offsets, numbers) = (
        positions[kept],
        lengths[kept],
        _select_lists(lists, kept, in_kept),
    )
    n = len(positions)
    row = np.repeat(np.arange(n), np.diff(offsets))
    candidates = model_word_ids(model, words)[numbers]
    scores = score_candidates(
        model, context_vectors(model, view, ContextPlaces(positions, positions + lengths)), row, candidates
    )
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


def model_word_ids(model: Cloze, words: WordRelations) -> NDArray[np.int32]:
    """Return the number that a model has for each word, -1 for one that it does not know; found once."""
    known = _numbers.setdefault(model, WeakKeyDictionary())
    if words not in known:
        numbers = model.vocabulary.hash_numbers(words.words)
        nothing = [i for i, word in enumerate(words.spellings) if not word]
        numbers[nothing] = model.nothing
        known[words] = numbers
    return known[words]


def join_places(parts: list[Instances]) -> Instances:
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


def _thin_out(among: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Return which of some places to take for `most` of them, evenly spread; all where there are no more."""
    step = -(-int(among.sum()) // most)
    found: NDArray[np.bool_] = np.cumsum(among) % max(step, 1) == 0
    return found


def _select_lists(
    lists: tuple[Ints, Ints], kept: NDArray[np.bool_], in_kept: NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """Return the lists of the places that are kept."""
    offsets, numbers = lists
    sizes = np.diff(offsets)[kept]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), numbers[in_kept]


ZERO = ""
"""The candidate that is no word."""


def insertion_lists(setting: str, words: Sequence[str]) -> WordRelations:
    """Return some words and no word as candidates of each other.

    Raises
    ------
    UserError
        D996, with the name of the setting, for what is no list of one word or more.
    """
    if isinstance(words, str) or not all(
        isinstance(word, str) and is_word(normalise_word(word)) for word in words
    ):
        raise UserError("D996", setting=setting, seen=words)
    if not words:
        raise UserError("D996", setting=setting, seen="none")
    return _insertion_lists(tuple(map(normalise_word, words)))


@lru_cache(maxsize=32)
def _insertion_lists(words: tuple[str, ...]) -> WordRelations:
    return WordRelations.from_sets([(*words, ZERO)])


def missing_words(
    model: Cloze,
    view: TokenView,
    words: WordRelations,
    *,
    least: float,
    beside: NDArray[np.bool_] | None = None,
) -> Instances:
    """Return the empty places where one of some words may be missing.

    Parameters
    ----------
    words : Relations
        As `listed` returns them.
    least : float
        By how much the score of one of them must be above that of no word, in log-odds.
    beside : array of bool, shape (n_tokens,), optional
        Tokens next to which none is missing, such as other words of the list.
    """
    places = empty_places(view)
    if beside is not None:
        places = places[~(beside[places] | beside[places - 1])]
    stands = np.full(len(places), words.spellings.index(ZERO))
    return _places_between(model, view, places, np.zeros(len(places), np.int32), words, stands, least)


def removable_words(
    model: Cloze,
    view: TokenView,
    words: WordRelations,
    *,
    least: float,
    apart: NDArray[np.bool_] | None = None,
    hints: NDArray[np.int64] | None = None,
) -> Instances:
    """Return the places where one of some words stands and another, or none, fits nearly as well.

    Parameters
    ----------
    apart : array of bool, shape (n_tokens,), optional
        Tokens that are left out.
    hints : array of int64, shape (n_tokens,), optional
        The word, by its number in `words`, that is a candidate at a token whatever the model says; one that
        is not is ``-2 - number``, and -1 stands for neither.
    """
    number = words.find(view.hashes)
    stands = (number >= 0) & (view.ends > view.starts)
    positions = np.flatnonzero(stands if apart is None else stands & ~apart)
    ones = np.ones(len(positions), np.int32)
    hinted = None if hints is None else hints[positions]
    return _places_between(model, view, positions, ones, words, number[positions], least, hinted)


def _places_between(
    model: Cloze,
    view: TokenView,
    positions: NDArray[np.int64],
    lengths: NDArray[np.int32],
    words: WordRelations,
    stands: NDArray[np.int64],
    least: float,
    hints: NDArray[np.int64] | None = None,
) -> Instances:
    """Return the open places of a list; `stands` is what stands there, `hints` a candidate of each."""
    k = len(words.spellings)
    first = np.array([[i, *range(i), *range(i + 1, k)] for i in range(k)], np.int64)  # each before the others
    lists = np.arange(len(positions) + 1, dtype=np.int64) * k, first[stands].ravel()
    hinted = None
    if hints is not None:
        listed = first[stands]
        hinted = ((listed == hints[:, None]).astype(np.int8) - (listed == -2 - hints[:, None])).ravel()
    return open_places(model, view, positions, lengths, words, lists, least=least, hinted=hinted)
