"""What lies around a place: tokens of its document, or of its sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.text.view import TokenView

Ints = NDArray[np.int64]
MOST_NEARNESS = 10.0
"""The largest power of a distance that features are divided by; far larger ones make zeros of them."""


def sentences_of(view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
    """Return the first token of each instance's sentence, ``<S>``, and the one behind its ``</S>``."""
    sentence = np.searchsorted(view.sentences, instances.positions, side="right")
    return view.sentences[sentence - 1], view.sentences[np.minimum(sentence, len(view.sentences) - 1)]


def documents_of(view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
    """Return the first token of each instance's document, and the one behind its last."""
    document = view.document_of(instances.positions)
    return view.documents[document], view.documents[document + 1]


def within(view: TokenView, instances: Instances, reach: int) -> tuple[Ints, Ints]:
    """Return the first of `reach` tokens before each instance in its document and the end of `reach` after.

    Boundary words do not count: the reach is the same whether or not a sentence ends inside it.
    """
    first, stop = documents_of(view, instances)
    begins = view.sentences - 2 * np.arange(len(view.sentences))  # places of first words, boundaries left out
    low = _placed(begins, place(view, instances.positions) - reach)
    high = _placed(begins, place(view, instances.positions + instances.lengths - 1) + reach) + 1
    return np.maximum(first, low), np.minimum(stop, high)


def place(view: TokenView, tokens: Ints) -> Ints:
    """Return how many words stand before each word, boundary words left out."""
    return tokens - 2 * np.searchsorted(view.sentences, tokens, side="right") + 1


def _placed(begins: Ints, places: Ints) -> Ints:
    """Return the token of each place, the inverse of `place`."""
    return places + 2 * np.searchsorted(begins, places, side="right") - 1


def spread(first: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return every token from `first` to before `stop`, and the number of the range that it is of."""
    lengths = np.maximum(stop - first, 0)
    ranges = np.repeat(np.arange(len(lengths)), lengths)
    return ranges, np.arange(len(ranges)) + (first - (np.cumsum(lengths) - lengths))[ranges]
