"""States of places: what the words around a place say, before any candidate is asked. See `model`."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.engine import use_numba
from disambig.features.cloze.given import given_by
from disambig.features.cloze.model import PRODUCT_STEP, STATE_STEP, Cloze
from disambig.text.view import TokenView

Ints = NDArray[np.int64]
BLOCK = 4096
"""Places at a time: what the words around them give stays near the cache."""
_LARGEST_STATE = 4_095
"""So that the product of states and weights of candidates is exact."""
MOST_KEPT = 8192
"""Different words of a view for all of which what they give to hidden units is kept: 50 MB."""


@dataclass(frozen=True, slots=True)
class Places:
    """Places of a view.

    Attributes
    ----------
    positions : array of int64, shape (n,)
        The token that stands there; of empty places the token that follows.
    behind : array of int64, shape (n,)
        The first token after the place.
    """

    positions: Ints
    behind: Ints


@dataclass(slots=True, eq=False)
class Known:
    """What is kept of a view as long as it lives: several tasks ask the same places.

    Attributes
    ----------
    numbers : array of int32, shape (n_tokens,)
        Of the words.
    rows : array of int32, shape (outside + 1,)
        Row of each word's number in `given`; only with `given`.
    given : array of int16, shape (n_words, places * H), optional
        What each word gives to hidden units, where the view has few enough different ones.
    states : dict of pairs of arrays
        Of places of a word (1) and of none (0): which tokens' are known, ``(n_tokens,)``, and their states.
    """

    numbers: NDArray[np.int32]
    rows: NDArray[np.int32]
    given: NDArray[np.int16] | None
    states: dict[int, tuple[NDArray[np.bool_], NDArray[np.int16]]]

    @classmethod
    def of(cls, model: Cloze, view: TokenView) -> Known:
        """Find the numbers of a view's words and, of not too many different ones, what they give."""
        numbers = model.vocabulary.of_view(view)
        words = np.unique(np.append(numbers, np.int32(model.vocabulary.outside)))
        rows = np.zeros(model.vocabulary.outside + 1, np.int32)
        rows[words] = np.arange(len(words))
        return cls(numbers, rows, given_by(model, words) if len(words) <= MOST_KEPT else None, {})


_known: WeakKeyDictionary[TokenView, dict[Cloze, Known]] = WeakKeyDictionary()


def known_of(model: Cloze, view: TokenView) -> Known:
    """Return what is kept of a view."""
    of_view = _known.setdefault(view, {})
    if model not in of_view:
        of_view[model] = Known.of(model, view)
    return of_view[model]


def numbers_of(model: Cloze, view: TokenView) -> NDArray[np.int32]:
    """Return the numbers of a view's tokens, found once for each view."""
    return known_of(model, view).numbers


def states_at(model: Cloze, view: TokenView, places: Places) -> NDArray[np.int16]:
    """Return the state of each place, in steps of `STATE_STEP`, shape ``(n, S)``.

    Raises
    ------
    UserError
        D992 for a view of another tokenisation than the model's.
    """
    model.require(view.tokenisation)
    found = np.empty((len(places.positions), model.states.shape[1]), np.int16)
    lengths = places.behind - places.positions
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        found[rows] = _of_length(model, view, places.positions[rows], int(length))
    return found


def _of_length(model: Cloze, view: TokenView, positions: Ints, length: int) -> NDArray[np.int16]:
    """Return the states of places of so many tokens; those of one and of none are kept."""
    known = known_of(model, view)
    if length > 1:
        return _in_blocks(model, view, positions, length)
    if length not in known.states:
        of_tokens = np.empty((len(view), model.states.shape[1]), np.int16)
        known.states[length] = np.zeros(len(view), bool), of_tokens
    is_known, states = known.states[length]
    wanted = np.unique(positions[~is_known[positions]])
    states[wanted] = _in_blocks(model, view, wanted, length)
    is_known[wanted] = True
    return states[positions]


def _in_blocks(model: Cloze, view: TokenView, positions: Ints, length: int) -> NDArray[np.int16]:
    found = np.empty((len(positions), model.states.shape[1]), np.int16)
    for start in range(0, len(found), BLOCK):
        part = positions[start : start + BLOCK]
        found[start : start + BLOCK] = _states(model, view, part, part + length)
    return found


def scores_of(
    model: Cloze, states: NDArray[np.int16], rows: Ints, candidates: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Return the score of some candidates, shape ``(m,)``; minus infinity for one of number -1.

    Parameters
    ----------
    states : array of int16, shape (n, S)
    rows : array of int64, shape (m,)
        The place of each candidate.
    candidates : array of int32, shape (m,)
        Its number; that of no word at all is `Cloze.nothing`.
    """
    known = np.maximum(candidates, 0)
    if use_numba(candidates.size * states.shape[1]):
        from disambig.features.cloze.kernels import products

        sums = np.empty(len(candidates), np.int32)
        products(states, rows, known, model.outputs, sums)
    else:
        of_places, of_words = states[rows].astype(np.int32), model.outputs[known].astype(np.int32)
        sums = np.einsum("ms,ms->m", of_places, of_words)
    scale = model.output_scale[known] * np.float32(STATE_STEP)
    found = sums.astype(np.float32) * scale + model.output_bias[known]
    return np.where(candidates < 0, np.float32(-np.inf), found).astype(np.float32)


def _states(model: Cloze, view: TokenView, positions: Ints, behind: Ints) -> NDArray[np.int16]:
    around = _around(model, view, positions, behind)  # (n, places)
    known = known_of(model, view)
    if known.given is not None:
        hidden = _hidden(model, known.given, known.rows[around])
    else:
        words, which = np.unique(around, return_inverse=True)
        hidden = _hidden(model, given_by(model, words), which.reshape(around.shape).astype(np.int32))
    states = hidden.astype(np.float32) @ model.state_floats  # integers
    states *= model.state_scale * (model.hidden_step[0] / np.float32(STATE_STEP))
    states += model.state_bias / np.float32(STATE_STEP)
    np.clip(np.rint(states, out=states), -_LARGEST_STATE, _LARGEST_STATE, out=states)
    return states.astype(np.int16)


def _hidden(model: Cloze, given: NDArray[np.int16], which: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return the hidden units, 0 to 255, shape ``(n, H)``."""
    n, places = which.shape
    h = len(model.hidden_bias)
    bias = np.rint(model.hidden_bias / np.float32(PRODUCT_STEP)).astype(np.int32)
    if use_numba(n * places * h):
        from disambig.features.cloze.kernels import summed

        sums = np.empty((n, h), np.int32)
        summed(given, which, bias, sums)
    else:
        of_place = given.reshape(len(given), places, h)
        sums = bias + of_place[which, np.arange(places)].sum(axis=1, dtype=np.int32)
    units = sums.astype(np.float32)
    units *= np.float32(PRODUCT_STEP) / model.hidden_step[0]
    np.clip(np.rint(units, out=units), 0, 255, out=units)
    return units.astype(np.uint8)


def _around(model: Cloze, view: TokenView, positions: Ints, behind: Ints) -> NDArray[np.int32]:
    """Return the numbers of the words around places within their sentences, shape ``(n, left + right)``."""
    numbers = numbers_of(model, view)
    sentence = np.searchsorted(view.sentences, positions, side="right") - 1
    first, end = view.sentences[sentence][:, None], view.sentences[sentence + 1][:, None]
    left = positions[:, None] - 1 - np.arange(model.left)
    right = behind[:, None] + np.arange(model.right)
    at = np.concatenate([left, right], axis=1)
    inside = (at >= first) & (at < end)
    return np.where(inside, numbers[np.where(inside, at, 0)], np.int32(model.vocabulary.outside))
