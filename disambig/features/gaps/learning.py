"""Learning from running text where words of a list stand, and where none does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.finding import Finder, apart, empty_places
from disambig.data.groups import Group
from disambig.features.gaps.model import Gaps
from disambig.text.view import TokenView

RATE = 0.1
_FIRST = 0.1
"""What squared slopes begin with: no first step is larger than a third."""
_MOST = 127


def learn_gaps(
    views: Iterable[TokenView], words: Sequence[str], *, bits: int = 20, header: dict[str, Any] | None = None
) -> Gaps:
    """Learn where words of a list stand, in one pass over text.

    Parameters
    ----------
    views : iterable of TokenView
        Text in some random order, all of one tokenisation.
    words : sequence of str
        The list; of a candidate of two words the first and last neighbours count.
    bits : int
        The weights are ``2 ** bits``.
    header : dict, optional
        What else is to be kept with the weights: sources, licence.

    Raises
    ------
    ValueError
        Without any place in any text.
    """
    from disambig.features.gaps.kernels import descend

    finder = Finder.of((Group("gaps", tuple(words)),))
    weights, seen = np.zeros(1 << bits, np.float32), np.full(1 << bits, _FIRST, np.float32)
    tokenisation = None
    for view in views:
        tokenisation = view.tokenisation
        left, right, filled = _places(view, finder)
        descend(view.hashes, left, right, filled, weights, seen, bits, np.float32(RATE))
    if tokenisation is None or not weights.any():
        raise ValueError("no text to learn from")
    scale = max(float(np.quantile(np.abs(weights[weights != 0]), 0.9999)), 1e-3) / _MOST
    rounded = np.clip(np.round(weights / scale), -_MOST, _MOST).astype(np.int8)
    return Gaps(rounded, {"tokenisation": tokenisation, "scale": scale, **(header or {})})


def _places(
    view: TokenView, finder: Finder
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the tokens before and after each place, and whether a word of the list fills it, in order."""
    found = finder.find(view)
    places = empty_places(view)
    empty = places[apart(places, found, len(view))]
    left = np.concatenate([found.positions - 1, empty - 1])
    right = np.concatenate([found.positions + found.lengths, empty])
    filled = np.repeat([True, False], [len(found), len(empty)])
    order = np.argsort(left, kind="stable")
    return left[order], right[order], filled[order]
