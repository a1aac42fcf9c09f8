"""What may stand in a place that is empty, or be taken out of it: the words of a list, and none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances, TokenView
from disambig.api.features import Cloze
from disambig.api.tasks import empty_places

from .places import open_places
from .relations import Relations

ZERO = ""
"""The candidate that is no word."""


@lru_cache(maxsize=32)
def listed(words: tuple[str, ...]) -> Relations:
    """Return some words and no word as candidates of each other."""
    return Relations.of([(*words, ZERO)])


def missing(
    model: Cloze, view: TokenView, words: Sequence[str], *, least: float, beside: NDArray[np.bool_]
) -> Instances:
    """Return the empty places where one of some words may be missing.

    Parameters
    ----------
    beside : array of bool, shape (n_tokens,)
        Tokens next to which none is missing, such as other words of the list.
    """
    places = empty_places(view)
    places = places[~(beside[places] | beside[places - 1])]
    return _between(model, view, places, np.zeros(len(places), np.int32), listed(tuple(words)), ZERO, least)


def standing(model: Cloze, view: TokenView, words: Sequence[str], *, least: float) -> Instances:
    """Return the places where one of some words stands and another, or none, fits nearly as well."""
    known = listed(tuple(words))
    number = known.find(view.hashes)
    positions = np.flatnonzero((number >= 0) & (view.ends > view.starts))
    return _between(model, view, positions, np.ones(len(positions), np.int32), known, None, least)


def _between(
    model: Cloze,
    view: TokenView,
    positions: NDArray[np.int64],
    lengths: NDArray[np.int32],
    words: Relations,
    stands: str | None,
    least: float,
) -> Instances:
    """Return the open places between all words of a list; `stands` is what stands there, if it is no token."""
    k = len(words.spellings)
    if stands is None:
        number = words.find(view.hashes[positions])
    else:
        number = np.full(len(positions), list(words.spellings).index(stands))
    others = np.argsort(np.eye(k, dtype=np.int64), axis=1, kind="stable")[
        :, ::-1
    ]  # each word first in its row
    lists = np.arange(len(positions) + 1, dtype=np.int64) * k, others[number].ravel()
    return open_places(model, view, positions, lengths, words, lists, least=least)
