"""Subsequences around a place: the string kernel of Lodhi et al. (2002) by its explicit features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances, PackedStrings
from disambig.errors import UserError
from disambig.features.rows import (
    Keys,
    Rows,
    SeenKeyExtractor,
    SeenKeys,
    hash_values,
    sentence_spans,
    values_at,
)
from disambig.runtime import use_numba
from disambig.settings import COUNT, fitted_field, validate_settings, whole_number_between
from disambig.text import GAP_HASH, MAX_ORDER, PLACES, TokenView
from disambig.type_aliases import Floats, Hashes, Ints

LAYERS = ("word", "stem", "lemma", "tag")
MOST_WINDOW = 15
"""For length five, a window of this many tokens on each side has 169,911 subsequences."""


@dataclass(frozen=True, slots=True, eq=False)
class Subsequences(SeenKeyExtractor):
    """Extractor of one sparse row per instance, shared by its candidates (`CrossedRows`).

    Only the sentence is used; its boundaries count as words. A token without a value in `layer` is skipped,
    but counts in spans. A view without the layer has no features.

    Parameters
    ----------
    layer : "word", "stem", "lemma" or "tag"
        Layer of the symbols.
    window : int
        Number of tokens on each side, 1 to 15.
    length : int
        Number of symbols of a subsequence, 1 to 5.
    shortest : int, optional
        Also use subsequences of this length up to `length`; by default only those of `length`.
    decay : float
        Factor for each token in the span of an occurrence, above 0 and at most 1.
    gaps : bool
        Whether symbols may have others between them; without gaps, this is the spectrum kernel.
    target : bool
        Whether the instance is a single symbol, the same for all instances; else its tokens are used.
    name : str
        Name of the feature group.
    least : int
        Minimum number of occurrences of a feature in training.

    Raises
    ------
    UserError
        D452, D510, D512, D513 for invalid settings.
    """

    layer: str = "word"
    window: int = 5
    length: int = 2
    shortest: int | None = None
    decay: float = 0.5
    gaps: bool = True
    target: bool = True
    name: str = "sequences"
    least: int = 1
    seen: SeenKeys | None = fitted_field(None)
    rows_are_shared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.layer not in LAYERS:
            raise UserError("D510", setting="layer", value=self.layer, choices=", ".join(LAYERS))
        validate_settings(
            self,
            window=whole_number_between(1, MOST_WINDOW),
            length=whole_number_between(1, MAX_ORDER),
            least=COUNT,
        )
        validate_settings(self, shortest=whole_number_between(1, self.length).or_none)
        if not 0 < self.decay <= 1:
            raise UserError("D512", value=self.decay)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> Subsequences:
        """Keep the subsequences that occur at instances of any group."""
        keys = self._frequent_keys(view, instances)
        return replace(self, seen=SeenKeys(keys, PackedStrings.from_words(())))

    def _rows(self, view: TokenView, instances: Instances, seen: SeenKeys) -> Rows:
        symbols = self._symbols(view, instances)
        places, values = self._places_and_values(symbols.shape[1])
        if use_numba(len(symbols) * len(values)):
            from disambig.features._row_kernels import known_subsequences

            return known_subsequences(symbols, places, values, seen.keys)
        return seen.rows(_subsequence_keys(symbols, places), values)

    def _keys_and_values(self, view: TokenView, instances: Instances) -> tuple[Keys, Floats]:
        symbols = self._symbols(view, instances)
        places, values = self._places_and_values(symbols.shape[1])
        return _subsequence_keys(symbols, places), values

    def _places_and_values(self, width: int) -> tuple[Ints, NDArray[np.float64]]:
        """Return the places of each subsequence of `width` symbols, and its value."""
        places = _places(width, self.shortest or self.length, self.length, self.gaps)
        spans = places.max(axis=1, initial=0) - places[:, 0] + 1
        return places, float(self.decay) ** spans

    def _symbols(self, view: TokenView, instances: Instances) -> Hashes:
        """Return the symbols around each instance, from the left of its window; 0 means no symbol."""
        values = view.hashes if self.layer == "word" else view.layers.get(self.layer)
        if values is None:
            return np.zeros((len(instances), 0), np.uint64)
        first, stop = sentence_spans(view, instances)
        begin, lengths = instances.positions, instances.lengths.astype(np.int64)
        low = np.maximum(first, begin - self.window)
        high = np.minimum(stop, begin + lengths + self.window)
        width = 2 * self.window + (1 if self.target else int(lengths.max(initial=0)))
        tokens = low[:, None] + np.arange(width)
        if self.target:  # the tokens of the instance are a single symbol: skip the others
            tokens += np.where(tokens > begin[:, None], lengths[:, None] - 1, 0)
        inside = tokens < high[:, None]
        symbols = np.where(inside, values_at(values, np.where(inside, tokens, 0)), np.uint64(0))
        if self.target:
            symbols[np.arange(len(begin)), begin - low] = np.uint64(GAP_HASH)
        return symbols


@lru_cache(maxsize=16)
def _places(width: int, shortest: int, length: int, gaps: bool) -> Ints:
    """Return the places of all subsequences of `width` symbols, shape ``(C, length)``; -1 after the last."""
    places_of_all = [
        places + (-1,) * (length - size)
        for size in range(shortest, length + 1)
        for places in combinations(range(width), size)
        if gaps or places[-1] - places[0] < size
    ]
    return np.array(places_of_all, np.int64).reshape(-1, length)


def _subsequence_keys(symbols: Hashes, places: Ints) -> Keys:
    """Return the key of each subsequence of each row, shape ``(n, C)``; 0 if a place has no symbol."""
    mixed = np.zeros((len(symbols), len(places)), np.uint64)
    has_all = np.ones(mixed.shape, bool)
    for place, multiplier in zip(places.T, PLACES, strict=False):
        column = np.flatnonzero(place >= 0)
        symbols_there = symbols[:, place[column]]
        mixed[:, column] += symbols_there * np.uint64(multiplier)
        has_all[:, column] &= symbols_there != 0
    sizes = (places >= 0).sum(axis=1).tolist()
    return np.where(has_all, hash_values(mixed, sizes), np.uint32(0))
