"""States of places: what the words around a place say, before any candidate is asked. See `model`."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.engine import use_numba
from disambig.features.cloze.model import PRODUCT_STEP, STATE_STEP, Cloze
from disambig.text.view import TokenView

Ints = NDArray[np.int64]
BLOCK = 4096
"""Places at a time: what the words around them give stays near the cache."""
_LARGEST_PRODUCT = 32_767
_LARGEST_STATE = 4_095
"""So that the product of states and weights of candidates is exact."""
_numbers: WeakKeyDictionary[TokenView, dict[Cloze, NDArray[np.int32]]] = WeakKeyDictionary()


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


def numbers_of(model: Cloze, view: TokenView) -> NDArray[np.int32]:
    """Return the numbers of a view's tokens, found once for each view."""
    known = _numbers.setdefault(view, {})
    if model not in known:
        known[model] = model.vocabulary.of_view(view)
    return known[model]


def states_at(model: Cloze, view: TokenView, places: Places) -> NDArray[np.int16]:
    """Return the state of each place, in steps of `STATE_STEP`, shape ``(n, S)``.

    Raises
    ------
    UserError
        D992 for a view of another tokenisation than the model's.
    """
    model.require(view.tokenisation)
    found = np.empty((len(places.positions), model.states.shape[1]), np.int16)
    for start in range(0, len(found), BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = _states(model, view, places.positions[part], places.behind[part])
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
    words, which = np.unique(around, return_inverse=True)
    numbers = which.reshape(around.shape).astype(np.int32)
    exact = model.embeddings[words].astype(np.float32) @ model.input_floats  # integers
    exact *= (model.word_scale[words] * (model.input_scale[0] / np.float32(PRODUCT_STEP)))[:, None]
    np.clip(np.rint(exact, out=exact), -_LARGEST_PRODUCT, _LARGEST_PRODUCT, out=exact)
    given = exact.astype(np.int16)  # (words, places * H)
    hidden = _hidden(model, given, numbers)
    states = hidden.astype(np.float32) @ model.state_floats  # integers
    states *= model.state_scale * (model.hidden_step[0] / np.float32(STATE_STEP))
    states += model.state_bias / np.float32(STATE_STEP)
    return np.clip(np.rint(states), -_LARGEST_STATE, _LARGEST_STATE).astype(np.int16)


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
    step = np.float32(PRODUCT_STEP) / model.hidden_step[0]
    return np.clip(np.rint(sums.astype(np.float32) * step), 0, 255).astype(np.uint8)


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
