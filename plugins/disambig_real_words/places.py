"""Find open places, where replacing, removing or inserting a word is nearly as likely as the text.

Nearly all words of a text are certainly correct. A place only becomes an instance if the model of words in
context scores another candidate within a few log-odds of the observed one. Weights are nevertheless learned
from all places (`EVERY_PLACE`): among the places that the model selects, its own score would look useless.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances, TokenView, UserError
from disambig.api.arrays import Ints, Ragged, offsets_from_sizes, row_owners, row_ranks
from disambig.api.features import Cloze, ContextPlaces, context_vectors, score_candidates
from disambig.api.tasks import CandidateLists, Interned

from .relations import WordRelations, is_word, normalise_word
from .running_text import in_running_text, is_word_part

EVERY_PLACE = -np.inf
"""The bound for training: every candidate in the model's vocabulary is offered."""
MAX_EXAMPLES = 60_000
"""Maximum number of training places, taken at equal distances: each has its whole list of candidates."""


def open_places(
    model: Cloze, view: TokenView, positions: Ints, lengths: NDArray[np.int32],
    words: WordRelations, lists: Ragged,
    *, minimum: NDArray[np.float32], hinted: NDArray[np.int8] | None = None,
) -> Instances:  # fmt: skip
    """Return the places at which another candidate is likely enough, each with its likely candidates.

    A place has 1 token, or 0 if it is empty. `lists` has the candidates of each place, as indices of `words`,
    the observed one first. `minimum`, shape ``(n,)``, is the minimum log-odds of another candidate against
    the observed one; with `EVERY_PLACE` all places qualify, and at most `MAX_EXAMPLES` words and as many
    empty places are taken. `hinted`, shape ``(n_candidates,)``, is 1 for candidates that are offered whatever
    their score, if the model knows them, and -1 for those that are never offered.
    """
    kept = ~is_word_part(view, positions, lengths)
    if "near" in view.layers:  # to read the context of each place takes time
        kept &= _is_near(view.layers["near"], positions, lengths)
    for length in (0, 1) if (minimum == EVERY_PLACE).any() else ():  # empty places and words apart
        same = kept & (lengths == length)
        kept &= ~same | _thin_out(same, MAX_EXAMPLES)
    if not kept.all():
        if hinted is not None:
            hinted = hinted[kept[row_owners(lists.offsets)]]
        positions, lengths, lists, minimum = positions[kept], lengths[kept], lists.take(kept), minimum[kept]
    if not len(positions):
        return NO_PLACES

    # `near`: which candidates are close enough to the observed one, the first of its list
    first, numbers, n = lists.offsets[:-1], lists.values, len(lists)
    row = row_owners(lists.offsets)
    candidates = model_word_ids(model, words)[numbers]
    scores = score_candidates(
        model, context_vectors(model, view, ContextPlaces(positions, positions + lengths)), row, candidates
    )
    with np.errstate(invalid="ignore"):  # the difference between two unknown words is NaN
        near = scores - scores[first][row] >= minimum[row]
    if hinted is not None:
        near |= (hinted > 0) & (candidates >= 0)
        near &= hinted >= 0

    # a place is open if another candidate than the observed one is near, and the model knows the latter
    near[first] = False
    is_open = np.zeros(n, bool)
    is_open[row[near]] = True
    is_open &= candidates[first] >= 0
    if not is_open.any():
        return NO_PLACES
    is_open[is_open] = in_running_text(view, positions[is_open], lengths[is_open])

    # its list are the observed candidate and those that are near
    near[first] = True
    taken = near & is_open[row]
    starts = offsets_from_sizes(np.bincount(row[taken], minlength=n)[is_open])
    numbers = numbers[taken]
    texts, costs = Interned(words.spellings, numbers), np.zeros(len(numbers))
    candidates = CandidateLists(
        starts, texts, costs, row_ranks(starts).astype(np.int32), np.full(len(numbers), np.nan, np.float32)
    )
    zeros = np.zeros(len(candidates), np.int32)
    return Instances(positions[is_open], lengths[is_open], zeros, zeros, candidates)


def listed_places(
    positions: Ints, lists: Sequence[Sequence[str]], lengths: NDArray[np.int32] | None = None
) -> Instances:
    """Return places with candidates of their own, the observed one first; they have one token by default."""
    zeros = np.zeros(len(lists), np.int32)
    candidates = CandidateLists.from_texts(lists)
    return Instances(positions, zeros + 1 if lengths is None else lengths, zeros, zeros.copy(), candidates)


def take_where(places: Instances, is_kept: Sequence[bool] | NDArray[np.bool_]) -> Instances:
    """Return the places that are kept: the same object if all are."""
    rows = np.flatnonzero(is_kept)
    return places if len(rows) == len(places) else places.take(rows)


def _is_near(near: NDArray[np.generic], positions: Ints, lengths: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which places contain one of the tokens that are `near`, or are empty and beside one."""
    n_before = offsets_from_sizes(near.astype(np.int64))  # the number of near tokens before each token
    is_word = lengths > 0
    touched: NDArray[np.bool_] = n_before[positions + 1] > n_before[positions - 1 + is_word]
    return touched


_NONE = np.zeros(0, np.int32)
NO_PLACES = Instances(np.zeros(0, np.int64), _NONE, _NONE, _NONE, CandidateLists.from_texts([]))


def model_word_ids(model: Cloze, words: WordRelations) -> NDArray[np.int32]:
    """Return the index of each word in a model's vocabulary, -1 for unknown words; the result is cached."""
    return model.cached(_find_word_ids, words)


def _find_word_ids(model: Cloze, words: WordRelations) -> NDArray[np.int32]:
    numbers = model.vocabulary.hash_numbers(words.words)
    numbers[[i for i, word in enumerate(words.spellings) if not word]] = model.nothing
    return numbers


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


@lru_cache(maxsize=32)
def _observed_first(k: int) -> NDArray[np.int64]:
    """Return the numbers 0 to k - 1 in k orders, shape ``(k, k)``: row i begins with i, the rest ascends."""
    return np.array([[i, *range(i), *range(i + 1, k)] for i in range(k)], np.int64)


def open_between(
    model: Cloze, view: TokenView, words: WordRelations, at: Ints, empty: Ints,
    *, minimum: float, least_missing: float, hints: NDArray[np.int64] | None = None,
) -> Instances:  # fmt: skip
    """Return the open places for words that are alternatives to each other and to the empty candidate.

    `words` are the result of `insertion_lists`, `at` the tokens that are one of them, and `empty` the tokens
    that have an empty place before them where one may be missing. `minimum` and `least_missing` are the
    minimum log-odds of another candidate against the observed one at these. `hints`, shape ``(n_tokens,)``,
    has the index in `words` of a candidate that is always offered, ``-2 - index`` of one that is never
    offered, or -1 for no hint.
    """
    positions = np.concatenate([at, empty])
    order = positions.argsort(kind="stable")
    positions, is_word = positions[order], order < len(at)
    observed = np.where(is_word, words.find(view.hashes[positions]), words.spellings.index(ZERO))
    k = len(words.spellings)
    listed = _observed_first(k)[observed]  # (n, k)
    lists = Ragged(listed.ravel(), np.arange(len(positions) + 1, dtype=np.int64) * k)
    hinted = None
    if hints is not None and len(at):
        hint = np.where(is_word, hints[positions], -1)[:, None]
        hinted = ((listed == hint).astype(np.int8) - (listed == -2 - hint)).ravel()
    least = np.where(is_word, np.float32(minimum), np.float32(least_missing))
    lengths = is_word.astype(np.int32)
    return open_places(model, view, positions, lengths, words, lists, minimum=least, hinted=hinted)
