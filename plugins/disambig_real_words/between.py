"""What may stand in a place that is empty, or be taken out of it: the words of a list, and none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances, TokenView, UserError
from disambig.api.features import Cloze
from disambig.api.tasks import empty_places

from .places import open_places
from .relations import Relations, is_word, plain

ZERO = ""
"""The candidate that is no word."""


def listed(setting: str, words: Sequence[str]) -> Relations:
    """Return some words and no word as candidates of each other.

    Raises
    ------
    UserError
        D996, with the name of the setting, for what is no list of one word or more.
    """
    if isinstance(words, str) or not all(isinstance(word, str) and is_word(plain(word)) for word in words):
        raise UserError("D996", setting=setting, seen=words)
    if not words:
        raise UserError("D996", setting=setting, seen="none")
    return _listed(tuple(map(plain, words)))


@lru_cache(maxsize=32)
def _listed(words: tuple[str, ...]) -> Relations:
    return Relations.of([(*words, ZERO)])


def missing(
    model: Cloze,
    view: TokenView,
    words: Relations,
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
    return _between(model, view, places, np.zeros(len(places), np.int32), words, stands, least)


def standing(
    model: Cloze,
    view: TokenView,
    words: Relations,
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
    return _between(model, view, positions, ones, words, number[positions], least, hinted)


def _between(
    model: Cloze,
    view: TokenView,
    positions: NDArray[np.int64],
    lengths: NDArray[np.int32],
    words: Relations,
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
