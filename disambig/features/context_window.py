"""Words and tags near a place, each with its position, and their subsequences."""

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
    MOST_NEARNESS,
    Keys,
    SeenKeyExtractor,
    SeenKeys,
    hash_values,
    sentence_spans,
    split_instances,
    values_at,
)
from disambig.features.tfidf import spell_terms
from disambig.settings import COUNT, fitted_field, validate_settings, whole_number_between
from disambig.text import (
    END_HASH,
    GAP_HASH,
    MAX_ORDER,
    PLACES,
    SENTENCE_END,
    SENTENCE_START,
    START_HASH,
    TokenView,
    fmix,
    hash_word,
    hash_words,
)
from disambig.type_aliases import Floats, Hashes, Ints

MOST_WINDOW = 50
_FORM, _FORM_TAG, _WORDS, _TAGS = 1, 2, 1000, 2000
"""Kinds of features; kinds with a position add it (negative on the left)."""
_BOUNDARIES = {START_HASH: SENTENCE_START, END_HASH: SENTENCE_END}


@dataclass(frozen=True, slots=True, eq=False)
class ContextWindow(SeenKeyExtractor):
    """Extractor of one sparse row of ones per instance, shared by its candidates (`CrossedRows`).

    Positions count from both ends of an instance of several tokens. A view without the layer ``"tag"`` has
    no tag features.

    Parameters
    ----------
    window : int
        Number of tokens on each side, 0 to 50.
    words : bool
        Whether the normal forms of these tokens are features.
    tags : bool
        Whether the tags of these tokens are features.
    target : bool
        Whether the instance as written (case included) is a feature and, with `tags`, its tag.
    nearness : float
        A word or tag at distance d has the value ``d ** -nearness`` instead of 1; from 0 to 10.
    boundaries : bool
        Whether the sentence boundaries are features, like words.
    name : str
        Name of the feature group.
    least : int
        Minimum number of occurrences of a feature in training.
    named : bool
        Whether to keep names of features, such as ``word-1=river`` and ``tag-1=NN``; a tag that is missing
        from spaCy's glossary is named after a word that had it. Names take up most of the state. Without
        them, `explain` finds the names of the features at the places that it explains.

    Raises
    ------
    UserError
        D452, D513, D514 for invalid numbers.
    """

    window: int = 3
    words: bool = True
    tags: bool = True
    target: bool = True
    nearness: float = 0.0
    boundaries: bool = True
    name: str = "local"
    least: int = 1
    named: bool = False
    seen: SeenKeys | None = fitted_field(None)
    rows_are_shared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        validate_settings(self, window=whole_number_between(0, MOST_WINDOW), least=COUNT)
        if not 0 <= self.nearness <= MOST_NEARNESS:
            raise UserError("D514", value=self.nearness, most=MOST_NEARNESS)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> ContextWindow:
        """Keep the features that occur at instances of any group."""
        keys = self._frequent_keys(view, instances)
        names_by_column = self._names(view, instances, keys) if self.named else {}
        names = (names_by_column.get(column, "") for column in range(len(keys) * self.named))
        return replace(self, seen=self._named(SeenKeys(keys, PackedStrings.from_words(names))))

    def with_names(self, view: TokenView, instances: Instances) -> ContextWindow:
        """Return the extractor with names of the features at these instances (see `ExtractorTraits`)."""
        seen = self.seen
        if seen is None or len(seen.names):
            return self
        names = PackedStrings.from_known(self._names(view, instances, seen.keys), len(seen))
        return replace(self, seen=self._named(SeenKeys(seen.keys, names)))

    def _named(self, seen: SeenKeys) -> SeenKeys:
        """Name the features of known tags by the tags, if names are kept."""
        if not self.tags or not len(seen.names):
            return seen
        from spacy.glossary import GLOSSARY

        tags = sorted(GLOSSARY)
        kinds = [_TAGS + distance for distance in self._distances] + [_FORM_TAG]
        names = [f"tag{distance:+d}" for distance in self._distances] + ["tag"]
        values = np.repeat(hash_words(tags)[:, None], len(kinds), axis=1)
        columns = seen.columns(hash_values(values, kinds)).tolist()
        tag_names = {
            column: f"{name}={tag}"
            for tag, row in zip(tags, columns, strict=True)
            for name, column in zip(names, row, strict=True)
            if column >= 0 and seen.names[column].startswith("tag")
        }
        return replace(seen, names=seen.names.replaced(tag_names))

    @property
    def _distances(self) -> list[int]:
        return [d for d in range(-self.window, self.window + 1) if d]

    def _tokens(self, view: TokenView, instances: Instances) -> NDArray[np.int64]:
        """Return the tokens at each distance, shape ``(n, 2 * window)``; -1 outside the sentence."""
        distances = np.array(self._distances, np.int64)
        # distances to the right count from the last token of an instance
        to_last_token = np.where(distances > 0, instances.lengths[:, None].astype(np.int64) - 1, 0)
        at = instances.positions[:, None] + to_last_token + distances
        first, stop = sentence_spans(view, instances)
        skipped = int(not self.boundaries)
        return np.where((at >= first[:, None] + skipped) & (at < stop[:, None] - skipped), at, -1)

    def _keys_and_values(self, view: TokenView, instances: Instances) -> tuple[Keys, Floats]:
        """Return the features of the window, first the words, then the tags, and those of the target."""
        tags = view.layers.get("tag") if self.tags else None
        columns: list[Hashes] = []
        kinds: list[int] = []
        if self.window and (self.words or tags is not None):
            at = self._tokens(view, instances)
            for base, values in ((_WORDS, view.hashes if self.words else None), (_TAGS, tags)):
                if values is not None:
                    columns.append(np.where(at >= 0, values_at(values, at), np.uint64(0)))
                    kinds += [base + distance for distance in self._distances]
        if self.target:
            columns.append(_hash_forms(view, instances)[:, None])
            kinds.append(_FORM)
            if tags is not None:
                columns.append(_combine_values(tags, instances)[:, None])
                kinds.append(_FORM_TAG)
        no_columns = np.zeros((len(instances), 0), np.uint64)
        keys = hash_values(np.concatenate([no_columns, *columns], axis=1), kinds)
        nearness = np.abs(np.array(self._distances, np.float64)) ** -float(self.nearness)
        n_tags = int(tags is not None)
        return keys, np.append(
            np.tile(nearness, int(self.words) + n_tags), np.ones(self.target * (1 + n_tags))
        )

    def _names(self, view: TokenView, instances: Instances, keys: Keys) -> dict[int, str]:
        """Return the names of features by column, taken from the first instance with each feature."""
        distances = self._distances
        sides = [f"{distance:+d}" for distance in distances]
        tag_labels = [f"tag{side} of " for side in sides]
        has_tags = self.tags and "tag" in view.layers
        labels = [f"word{side}=" for side in sides] * self.words + tag_labels * has_tags
        labels += ["target="] * self.target + ["tag of "] * (self.target and has_tags)
        n_around = len(distances) * (int(self.words) + int(has_tags))
        names: dict[int, str] = {}
        for part in split_instances(instances):
            part_keys, first = np.unique(self._keys_and_values(view, part)[0], return_index=True)
            new = np.isin(part_keys, keys)
            columns = np.searchsorted(keys, part_keys[new])
            rows, features = np.divmod(first[new], len(labels))
            tokens = self._tokens(view, part)
            for column, i, f in zip(columns.tolist(), rows.tolist(), features.tolist(), strict=True):
                if column in names:
                    continue
                token = int(tokens[i, f % len(distances)]) if f < n_around else int(part.positions[i])
                length = 1 if f < n_around else int(part.lengths[i])
                names[column] = labels[f] + _show_value(view, token, length, exact=f >= n_around)
        return names


def _combine_values(values: NDArray[np.generic], instances: Instances) -> Hashes:
    """Return the combined value of the tokens of each instance; 0 if they have none."""
    combined = np.zeros(len(instances), np.uint64)
    for d in range(int(instances.lengths.max(initial=0))):
        rows = np.flatnonzero(instances.lengths > d)
        value, before = values[instances.positions[rows] + d].astype(np.uint64), combined[rows]
        combined[rows] = np.where(before == 0, value, fmix(before) + value)
    return combined


def _hash_forms(view: TokenView, instances: Instances) -> Hashes:
    """Return the hash of each instance as written; 0 for an instance without tokens."""
    hash_of: dict[str, int] = {"": 0}
    hashes = np.zeros(len(instances), np.uint64)
    for i, form in enumerate(_forms(view, instances)):
        if form not in hash_of:
            hash_of[form] = hash_word(form)
        hashes[i] = hash_of[form]
    return hashes


def _forms(view: TokenView, instances: Instances) -> list[str]:
    """Return each instance as written, with single blanks; empty for an instance without tokens."""
    has_tokens = instances.lengths > 0
    last = np.where(has_tokens, instances.positions + instances.lengths - 1, 0)
    documents = view.document_indices(instances.positions).tolist()
    starts, ends = view.starts[instances.positions], view.ends[last]
    spans = zip(documents, starts.tolist(), np.where(has_tokens, ends, starts).tolist(), strict=True)
    return [" ".join(view.texts[document][start:end].split()) for document, start, end in spans]


def _show_value(view: TokenView, token: int, length: int, *, exact: bool) -> str:
    """Return a token as it is in the view, or `length` tokens as they are written."""
    if exact:
        text = view.document_text(token)
        return " ".join(text[view.starts[token] : view.ends[token + max(length, 1) - 1]].split())
    return _BOUNDARIES.get(int(view.hashes[token]), "") or spell_terms(view, np.array([token]))[0]


LAYERS = ("word", "stem", "lemma", "tag")
MOST_SEQUENCE_WINDOW = 15
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
            window=whole_number_between(1, MOST_SEQUENCE_WINDOW),
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

    def _keys_and_values(self, view: TokenView, instances: Instances) -> tuple[Keys, Floats]:
        symbols = self._symbols(view, instances)
        places = _places(symbols.shape[1], self.shortest or self.length, self.length, self.gaps)
        spans = places.max(axis=1, initial=0) - places[:, 0] + 1
        return _subsequence_keys(symbols, places), float(self.decay) ** spans

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
