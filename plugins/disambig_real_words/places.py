"""Find open places, where replacing, removing or inserting a word is nearly as likely as the text.

Nearly all words of a text are certainly correct. A place only becomes an instance if the model of words in
context scores another candidate within a few log-odds of the observed one. Weights are nevertheless learned
from all places (`EVERY_PLACE`): among the places that the model selects, its own score would look useless.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances, TokenView, UserError
from disambig.api.arrays import Ints, Ragged, offsets_from_sizes, row_owners, row_ranks
from disambig.api.features import Cloze, ContextPlaces, context_vectors, score_candidates
from disambig.api.tasks import CandidateLists, Interned, empty_places

from .relations import WordRelations, is_word, normalise_word
from .running_text import in_running_text, is_word_part

EVERY_PLACE = -np.inf
"""The bound for training: every candidate in the model's vocabulary is offered."""
MAX_EXAMPLES = 60_000
"""Maximum number of training places, taken at equal distances: each has its whole list of candidates."""
_word_ids: WeakKeyDictionary[Cloze, WeakKeyDictionary[WordRelations, NDArray[np.int32]]] = WeakKeyDictionary()


def open_places(
    model: Cloze,
    view: TokenView,
    positions: Ints,
    lengths: NDArray[np.int32],
    words: WordRelations,
    lists: Ragged,
    *,
    minimum: float,
    hinted: NDArray[np.int8] | None = None,
) -> Instances:
    """Return the places at which another candidate is likely enough, each with its likely candidates.

    A place has 1 token, or 0 if it is empty. `lists` has the candidates of each place, as indices of `words`,
    the observed one first. `minimum` is the minimum log-odds of another candidate against the observed one;
    with `EVERY_PLACE` all places qualify and at most `MAX_EXAMPLES` of them are taken. `hinted`, shape
    ``(n_candidates,)``, is 1 for candidates that are offered whatever their score, if the model knows them,
    and -1 for those that are never offered.
    """
    kept = ~is_word_part(view, positions, lengths)
    if minimum == EVERY_PLACE:
        kept &= _thin_out(kept, MAX_EXAMPLES)
    if not kept.all():
        if hinted is not None:
            hinted = hinted[kept[row_owners(lists.offsets)]]
        positions, lengths, lists = positions[kept], lengths[kept], lists.take(kept)
    if not len(positions):
        return NO_PLACES
    first, numbers, n = lists.offsets[:-1], lists.values, len(lists)
    row = row_owners(lists.offsets)
    candidates = model_word_ids(model, words)[numbers]
    scores = score_candidates(
        model, context_vectors(model, view, ContextPlaces(positions, positions + lengths)), row, candidates
    )
    with np.errstate(invalid="ignore"):  # the difference between two unknown words is NaN
        near = scores - scores[first][row] >= minimum
    if hinted is not None:
        near |= (hinted > 0) & (candidates >= 0)
        near &= hinted >= 0
    near[first] = False
    is_open = np.zeros(n, bool)
    is_open[row[near]] = True
    is_open &= candidates[first] >= 0
    if not is_open.any():
        return NO_PLACES
    is_open[is_open] = in_running_text(view, positions[is_open], lengths[is_open])
    near[first] = True
    taken = near & is_open[row]
    sizes = np.bincount(row[taken], minlength=n)[is_open]
    texts = Interned(words.spellings, numbers[taken])
    starts = offsets_from_sizes(sizes)
    own = CandidateLists(
        starts,
        texts,
        np.zeros(len(texts)),
        row_ranks(starts).astype(np.int32),
        np.full(len(texts), np.nan, np.float32),
    )
    zeros = np.zeros(len(sizes), np.int32)
    return Instances(positions[is_open], lengths[is_open], zeros, zeros.copy(), own)


_NONE = np.zeros(0, np.int32)
NO_PLACES = Instances(np.zeros(0, np.int64), _NONE, _NONE, _NONE, CandidateLists.from_texts([]))


def model_word_ids(model: Cloze, words: WordRelations) -> NDArray[np.int32]:
    """Return the index of each word in a model's vocabulary, -1 for unknown words; the result is cached."""
    ids_by_relations = _word_ids.setdefault(model, WeakKeyDictionary())
    if words not in ids_by_relations:
        numbers = model.vocabulary.hash_numbers(words.words)
        empty = [i for i, word in enumerate(words.spellings) if not word]
        numbers[empty] = model.nothing
        ids_by_relations[words] = numbers
    return ids_by_relations[words]


def join_places(parts: list[Instances]) -> Instances:
    """Return the places of several parts together, in text order."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    together = Instances.joined(parts)
    return together.take(np.lexsort((together.lengths, together.positions)))


def _thin_out(among: NDArray[np.bool_], maximum: int) -> NDArray[np.bool_]:
    """Return which places to take: about `maximum` at equal distances, or all if there are fewer."""
    step = -(-int(among.sum()) // maximum)
    taken: NDArray[np.bool_] = np.cumsum(among) % max(step, 1) == 0
    return taken


ZERO = ""
"""The empty candidate: no word."""


def insertion_lists(setting: str, words: Sequence[str]) -> WordRelations:
    """Return words and the empty candidate as alternatives to each other.

    Raises D996, with the name of the setting, if `words` is not a list of one or more words.
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
    minimum: float,
    beside: NDArray[np.bool_] | None = None,
) -> Instances:
    """Return the empty places where one of the words may be missing.

    `words` are the result of `insertion_lists`, and `minimum` is the minimum log-odds of a word against the
    empty candidate. No word is missing next to the tokens `beside`, such as other words of the list.
    """
    places = empty_places(view)
    if beside is not None:
        places = places[~(beside[places] | beside[places - 1])]
    observed = np.full(len(places), words.spellings.index(ZERO))
    return _places_between(model, view, places, np.zeros(len(places), np.int32), words, observed, minimum)


def removable_words(
    model: Cloze,
    view: TokenView,
    words: WordRelations,
    *,
    minimum: float,
    apart: NDArray[np.bool_] | None = None,
    hints: NDArray[np.int64] | None = None,
) -> Instances:
    """Return the occurrences of the words at which another word, or none, fits nearly as well.

    The tokens `apart`, shape ``(n_tokens,)``, are left out. `hints`, of the same shape, has the index in
    `words` of a candidate that is always offered, ``-2 - index`` of one that is never offered, or -1 for no
    hint.
    """
    index = words.find(view.hashes)
    occurs = (index >= 0) & (view.ends > view.starts)
    positions = np.flatnonzero(occurs if apart is None else occurs & ~apart)
    ones = np.ones(len(positions), np.int32)
    hinted = None if hints is None else hints[positions]
    return _places_between(model, view, positions, ones, words, index[positions], minimum, hinted)


@lru_cache(maxsize=32)
def _observed_first(k: int) -> NDArray[np.int64]:
    """Return the numbers 0 to k - 1 in k orders, shape ``(k, k)``: row i begins with i, the rest ascends."""
    return np.array([[i, *range(i), *range(i + 1, k)] for i in range(k)], np.int64)


def _places_between(
    model: Cloze,
    view: TokenView,
    positions: NDArray[np.int64],
    lengths: NDArray[np.int32],
    words: WordRelations,
    observed: NDArray[np.int64],
    minimum: float,
    hints: NDArray[np.int64] | None = None,
) -> Instances:
    """Return the open places for a list of words, of which `observed` is in the text."""
    k = len(words.spellings)
    listed = _observed_first(k)[observed]  # (n, k)
    lists = Ragged(listed.ravel(), np.arange(len(positions) + 1, dtype=np.int64) * k)
    hinted = None
    if hints is not None:
        hinted = ((listed == hints[:, None]).astype(np.int8) - (listed == -2 - hints[:, None])).ravel()
    return open_places(model, view, positions, lengths, words, lists, minimum=minimum, hinted=hinted)
