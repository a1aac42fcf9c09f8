"""Features of a token and its window, for tasks that label every token, and learning classes of words.

`_row_kernels` has compiled versions of the functions that hash features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CsrArrays,
    Group,
    HashVocabulary,
    Instances,
    SequenceRows,
    minibatch,
    offsets_from_sizes,
)
from disambig.errors import UserError
from disambig.features.context_window import (
    BASIS,
    CLASS,
    LONG_SHAPE,
    LONGEST_PREFIX,
    LONGEST_RUN,
    LONGEST_SUFFIX,
    LOWER,
    OUTSIDE,
    PREFIX,
    PRIME,
    SHAPE,
    STEP,
    SUFFIX,
    TEMPLATES,
    class_templates,
)
from disambig.features.rows import by_group
from disambig.features.union import transform_checked
from disambig.runtime import use_numba
from disambig.settings import COUNT, fitted_field
from disambig.text import SpacyTokens, TokenView, characters as ch, fmix
from disambig.type_aliases import Hashes, Ints
from disambig.types import Arrays, Features

_FARTHEST = 100


@dataclass(frozen=True, slots=True, eq=False)
class WordClasses:
    """Classes of words.

    Attributes
    ----------
    words : array of uint64, shape (n,)
        Hashes of the lower-cased words, ascending.
    classes : array of uint16, shape (n, depth)
        The class numbers of each word, the coarsest first.
    chosen : array of int64, shape (m, 4), optional
        The features made from the classes, in the form of `TEMPLATES`; by default those of the word and its
        neighbours.
    """

    words: Hashes
    classes: NDArray[np.uint16]
    chosen: Ints | None = None

    @property
    def depth(self) -> int:
        """Number of classes of a word."""
        return int(self.classes.shape[1])

    @property
    def templates(self) -> Ints:
        """The features made from the classes, shape (m, 4)."""
        return class_templates(self.depth) if self.chosen is None else self.chosen

    def joined_with(self, other: WordClasses) -> WordClasses:
        """Return the classes of both (these first) for the words of either, with the default features.

        Words that only one of them has form a class of their own in the other.
        """
        words = np.union1d(self.words, other.words)
        columns = [classes.lookup(words).astype(np.uint16) for classes in (self, other)]
        return WordClasses(words, np.concatenate(columns, axis=1))

    def lookup(self, hashes: Hashes) -> Hashes:
        """Return the classes of words plus one, zeros for unknown words, shape ``(n, depth)``."""
        classes = np.zeros((len(hashes), self.depth), np.uint64)
        at = HashVocabulary(self.words).lookup(hashes)
        has_class = at >= 0
        classes[has_class] = self.classes[at[has_class]].astype(np.uint64) + np.uint64(1)
        return classes

    def state(self) -> Arrays:
        """Return the arrays."""
        arrays: Arrays = {"class_words": self.words, "classes": self.classes}
        return arrays if self.chosen is None else {**arrays, "class_templates": self.chosen.astype(np.int8)}

    @classmethod
    def from_state(cls, arrays: Arrays) -> WordClasses:
        """Return the classes of `state`; ValueError if the arrays do not fit together."""
        words, classes = arrays["class_words"], arrays["classes"]
        if words.ndim != 1 or words.dtype != np.uint64 or (words[1:] <= words[:-1]).any():
            raise ValueError("word classes: words are not ascending")
        if classes.ndim != 2 or classes.dtype != np.uint16 or len(classes) != len(words):
            raise ValueError("word classes: words and classes differ")
        chosen = arrays.get("class_templates")
        if chosen is None:
            return cls(words, classes)
        chosen = chosen.astype(np.int64)
        if chosen.ndim != 2 or chosen.shape[1] != 4 or np.abs(chosen[:, [1, 3]]).max(initial=0) > _FARTHEST:
            raise ValueError("word classes: invalid templates")
        attributes = chosen[:, [0, 2]]
        if (attributes >= CLASS + classes.shape[1]).any() or (attributes < [0, -1]).any():
            raise ValueError("word classes: templates refer to classes that do not exist")
        return cls(words, classes, chosen)


@dataclass(frozen=True, eq=False)
class TokenContext:
    """Extractor of the features of tokens.

    Parameters
    ----------
    least : int
        Minimum number of occurrences in training for a feature to get a column.
    keys : array of uint32, shape (D,), optional
        The features that have columns, ascending; set by `fit`.
    classes : WordClasses, optional
        Classes of words by their contexts, for features in addition to the words themselves.

    Raises
    ------
    UserError
        D452 if `least` is not a whole number of at least 1.
    """

    least: int = 1
    keys: NDArray[np.uint32] | None = fitted_field(None)
    classes: WordClasses | None = fitted_field(None)
    describes: ClassVar[str] = "group"

    def __post_init__(self) -> None:
        COUNT.check("least", self.least)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> TokenContext:
        """Learn which features occur at the instances."""
        hashes = _hash_features(view, instances.positions, self.classes)
        keys, counts = np.unique(hashes, return_counts=True)
        return replace(self, keys=keys[counts >= self.least])

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return `SequenceRows` with one sequence per sentence; evidence is the known features of a token."""
        k = len(group.candidates)
        rows, sequences = self.rows(view, instances.positions)
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        n_hits = np.diff(rows.indptr).astype(np.int32)
        n_queries = np.full(len(instances) * k, n_features(self.classes), np.int32)
        return Features(SequenceRows(rows, costs, sequences), np.repeat(n_hits, k), n_queries)

    def rows(self, view: TokenView, positions: Ints) -> tuple[CsrArrays, Ints]:
        """Return the features of tokens, rows of shape (n, D), and the sentence of each token."""
        hashes = _hash_features(view, positions, self.classes)
        indptr, indices = self._find_columns(hashes)
        ones = np.ones(len(indices), np.float32)
        rows = CsrArrays(ones, indices, indptr, (len(hashes), len(self._keys)))
        return rows, view.sentences.searchsorted(positions, side="right")

    def _find_columns(self, hashes: NDArray[np.uint32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the columns of the known features, as indptr and indices of sparse rows."""
        if not use_numba(hashes.size):
            places = HashVocabulary(self._keys).lookup(hashes)
            is_key = places >= 0
            return offsets_from_sizes(is_key.sum(axis=1)).astype(np.int32), places[is_key].astype(np.int32)
        from disambig.features._row_kernels import look_up

        keys, slots = self._index
        indptr = np.empty(len(hashes) + 1, np.int32)
        indices = np.empty(hashes.size, np.int32)
        n = look_up(hashes, keys, slots, indptr, indices)
        return indptr, indices[:n]

    def only(self, kept: NDArray[np.bool_]) -> TokenContext:
        """Return the extractor with only the columns in `kept`, shape (D,)."""
        return replace(self, keys=self._keys[kept])

    def joined_with(self, other: TokenContext) -> TokenContext:
        """Return the extractor with the columns of both."""
        return replace(self, keys=np.union1d(self._keys, other._keys))

    @property
    def _keys(self) -> NDArray[np.uint32]:
        return np.zeros(0, np.uint32) if self.keys is None else self.keys

    @cached_property
    def _index(self) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
        """Return the keys and a hash table of their indices, for compiled functions."""
        from disambig.features._row_kernels import fill_index

        keys = self._keys
        # at most half full, so that probing ends soon
        slots = np.zeros(1 << max(4, (2 * len(keys)).bit_length()), np.int32)
        fill_index(keys, slots)
        return keys, slots

    def state(self) -> Arrays:
        """Return the features that have columns."""
        classes: Arrays = {} if self.classes is None else self.classes.state()
        return {"keys": self._keys, **classes}

    def from_state(self, arrays: Arrays) -> TokenContext:
        """Return an extractor with the columns of `state`; ValueError if they are not in order."""
        keys = arrays["keys"]
        if keys.ndim != 1 or keys.dtype != np.uint32 or not (np.diff(keys.astype(np.int64)) > 0).all():
            raise ValueError("token context: keys are not ascending")
        classes = WordClasses.from_state(arrays) if "class_words" in arrays else None
        return replace(self, keys=keys, classes=classes)


def n_features(classes: WordClasses | None) -> int:
    """Return the number of features of a token."""
    return len(TEMPLATES) + (0 if classes is None else len(classes.templates))


def _hash_features(view: TokenView, positions: Ints, classes: WordClasses | None) -> NDArray[np.uint32]:
    """Return the features of tokens as hashes, shape (n, F); `positions` must ascend."""
    if not len(positions):
        return np.zeros((0, n_features(classes)), np.uint32)
    # only the sentences and documents of these tokens are needed
    first, last = view.sentences.searchsorted(positions[[0, -1]], side="right") + np.array([-1, 0])
    sentences = view.sentences[first : last + 1]
    span = slice(int(sentences[0]), int(sentences[-1]))
    words = np.flatnonzero(view.ends[span] > view.starts[span]) + span.start
    first_text, last_text = view.document_indices(positions[[0, -1]]).tolist()
    texts = view.texts[first_text : last_text + 1]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    offsets = offsets_from_sizes(lengths)[view.document_indices(words) - first_text]
    codes = ch.code_points("".join(texts))
    table = ch.table_for(codes)
    depth = 0 if classes is None else classes.depth
    values = np.empty((len(words), CLASS + depth), np.uint64)
    templates = TEMPLATES
    if classes is not None:
        values[:, CLASS:] = classes.lookup(view.hashes[words])
        templates = np.concatenate([templates, classes.templates])
    fill_attributes: Callable[..., None] = _fill_attributes
    fill_features: Callable[..., None] = _fill_features
    if use_numba(len(words) * len(templates)):
        from disambig.features._row_kernels import fill_attributes, fill_features
    fill_attributes(codes, table, view.starts[words] + offsets, view.ends[words] + offsets, values)
    features = np.empty((len(words), len(templates)), np.uint32)
    fill_features(values, templates, words.searchsorted(sentences), features)
    return features if len(words) == len(positions) else features[words.searchsorted(positions)]


Codes = NDArray[np.uint32]
Offsets = NDArray[np.integer]
with np.errstate(over="ignore"):
    _AFTER = OUTSIDE + STEP  # hash of a place after the sentence


def _fill_attributes(codes: Codes, table: Codes, starts: Offsets, ends: Offsets, out: Hashes) -> None:
    """Fill the first columns of `out` (n, CLASS or more) with attributes of tokens.

    Token i is ``codes[starts[i]:ends[i]]``.
    """
    lengths = ends - starts
    lower, shape, long_shape = (np.full(len(starts), BASIS) for _ in range(3))
    before, run = np.zeros(len(starts), np.uint64), np.zeros(len(starts), np.int64)
    for j in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > j)
        code = codes[starts[rows] + j]
        entry = _entries(code, table)
        lower[rows] = (lower[rows] ^ (entry & np.uint32(ch.CODE_MASK))) * PRIME
        sign = _signs(entry >> np.uint32(ch.CLASS_SHIFT), code)
        run_length = np.where(sign == before[rows], run[rows] + 1, 1)
        for hashes, longest in ((shape, 1), (long_shape, LONGEST_RUN)):
            counted = run_length <= longest
            hashes[rows[counted]] = (hashes[rows[counted]] ^ sign[counted]) * PRIME
        before[rows], run[rows] = sign, run_length
        if j < LONGEST_PREFIX:
            out[:, PREFIX + j + 1] = OUTSIDE
            out[rows, PREFIX + j + 1] = lower[rows]
    for j in range(int(lengths.max(initial=0)), LONGEST_PREFIX):
        out[:, PREFIX + j + 1] = OUTSIDE
    suffix = np.full(len(starts), BASIS)
    for j in range(LONGEST_SUFFIX):
        rows = np.flatnonzero(lengths > j)
        folded = _entries(codes[ends[rows] - 1 - j], table) & np.uint32(ch.CODE_MASK)
        suffix[rows] = (suffix[rows] ^ folded) * PRIME
        out[:, SUFFIX + j + 1] = OUTSIDE
        out[rows, SUFFIX + j + 1] = suffix[rows]
    out[:, LOWER], out[:, SHAPE], out[:, LONG_SHAPE] = lower, shape, long_shape


def _entries(code: Codes, table: Codes) -> Codes:
    """Return class and folded code point of characters; those beyond the table are symbols."""
    in_table = code < len(table)
    symbol = np.uint32(ch.SYMBOL << ch.CLASS_SHIFT) | code
    return np.where(in_table, table[np.where(in_table, code, 0)], symbol)


def _signs(kind: Codes, code: Codes) -> Hashes:
    """Return the symbols of shapes: upper case, other letter, digit, or the character itself."""
    other = code.astype(np.uint64) + np.uint64(4)
    sign = np.where(kind == ch.DIGIT, np.uint64(3), other)
    sign = np.where(kind >= ch.LETTER, np.uint64(2), sign)
    return np.where(kind == ch.UPPER, np.uint64(1), sign)


def _fill_features(values: Hashes, templates: NDArray[np.int64], sentences: Offsets, out: Codes) -> None:
    """Fill `out` (n, len(templates)) with the features of tokens from their attributes.

    Sentence i is ``sentences[i]:sentences[i + 1]``; outside of it, all attributes have the same value.
    """
    lengths = np.diff(sentences)
    first, end = (np.repeat(edges, lengths) for edges in (sentences[:-1], sentences[1:]))
    tokens = np.arange(sentences[0], sentences[-1])

    def attribute_at(attribute: int, place: int) -> Hashes:
        at = tokens + place
        inside = (at >= first) & (at < end)
        hashes = values[np.where(inside, at, 0), attribute]
        return np.where(inside, hashes, np.where(at < first, OUTSIDE, _AFTER))

    for t, (attribute, place, other, other_place) in enumerate(templates.tolist()):
        key = attribute_at(attribute, place)
        if other >= 0:
            key = key * PRIME + fmix(attribute_at(other, other_place))
        mixed = fmix(key + np.uint64((t + 1) * int(STEP) & 0xFFFFFFFFFFFFFFFF))
        out[tokens, t] = np.maximum((mixed >> np.uint64(32)).astype(np.uint32), 1)


SIZES = (64, 1024)
_WORDS_AT_ONCE = 8_000_000
_MAX_DIRECTIONS = 100


def learn_classes(
    words: Iterable[Hashes],
    *,
    n_words: int = 20_000,
    n_contexts: int = 1_000,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> WordClasses:
    """Cluster the most frequent words of a text by the words to their left and right.

    Parameters
    ----------
    words : iterable of arrays of uint64
        Word hashes in text order, such as ``view.hashes`` of some documents each. All are kept in memory:
        eight bytes per word.
    n_words : int
        Number of words that get classes.
    n_contexts : int
        Number of the most frequent words that are distinguished as neighbours; all others count as one.
    sizes : sequence of int
        Numbers of classes, one per level, the coarsest first.
    seed : int

    Raises
    ------
    UserError
        D458 if the text has fewer distinct words than classes.
    """
    # arrays of some millions of words each; at least one array
    parts = [np.concatenate(batch) for batch in minibatch(words, _WORDS_AT_ONCE, len)]
    parts = parts or [np.zeros(0, np.uint64)]
    distinct, counts = np.unique(np.concatenate(parts), return_counts=True)
    n_chosen = min(len(distinct), n_words)
    if n_chosen < max(sizes):
        raise UserError("D458", n=n_chosen, classes=max(sizes))
    ranked = distinct[np.argsort(-counts, kind="stable")]
    frequent, contexts = np.sort(ranked[:n_words]), np.sort(ranked[:n_contexts])
    labels = _clusters(_directions(_table(parts, frequent, contexts), seed), sizes, seed)
    return WordClasses(frequent, np.stack(labels, axis=1).astype(np.uint16))


def _clusters(points: NDArray[Any], sizes: Sequence[int], seed: int) -> list[NDArray[np.integer]]:
    """Return the cluster of each point, for each number of clusters."""
    from sklearn.cluster import MiniBatchKMeans

    return [
        MiniBatchKMeans(size, random_state=seed, batch_size=4096, n_init=1).fit(points).labels_
        for size in sizes
    ]


def _table(parts: Sequence[Hashes], frequent: Hashes, contexts: Hashes) -> NDArray[np.float32]:
    """Return the counts of each word's left, then right neighbours, shape (n_words, 2 * (n_contexts + 1))."""
    width = len(contexts) + 1
    table = np.zeros(len(frequent) * 2 * width, np.float32)
    for hashes in parts:
        row, column = HashVocabulary(frequent).lookup(hashes), HashVocabulary(contexts).lookup(hashes)
        is_frequent = row >= 0
        column[column < 0] = width - 1
        left = (row[1:] * 2 * width + column[:-1])[is_frequent[1:]]
        right = (row[:-1] * 2 * width + width + column[1:])[is_frequent[:-1]]
        for cells in (left, right):
            table += np.bincount(cells, minlength=len(table)).astype(np.float32)
    return table.reshape(len(frequent), 2 * width)


def _directions(table: NDArray[np.float32], seed: int) -> NDArray[Any]:
    """Return the principal directions of positive pointwise mutual information, rows of length one."""
    from sklearn.utils.extmath import randomized_svd

    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    expected = rows * columns / max(float(table.sum()), 1.0)
    information = np.log(np.maximum(table, 1e-9) / np.maximum(expected, 1e-9))
    information = np.where(table > 0, np.maximum(information, 0.0), 0.0)
    n_directions = min(_MAX_DIRECTIONS, *table.shape)
    left, strength, _ = randomized_svd(information, n_directions, random_state=seed)
    points = left * np.sqrt(strength)
    return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)


USAGE_SIZES = (48, 256)
EDGES = (0.02, 0.1, 0.3, 0.6, 0.9, 0.98)
"""Boundaries between the classes of capitalisation, as shares of the places counted."""
_MIN_COUNTED = 4
"""Words with fewer places that count are rare: their capitalisation is unknown."""
_HEADING = 0.6
"""A sentence with a larger share of capitalised words is a heading, whose capitals say nothing."""
_SMALL, _CAPITAL, _CAPITALS = 1, 2, 3
"""Letter case of a word: lower case, a capital letter first, capitals first and last."""


def learn_usage(
    tagged: Iterable[tuple[TokenView, NDArray[np.integer]]],
    n_tags: int,
    *,
    least: int = 5,
    sizes: Sequence[int] = USAGE_SIZES,
    seed: int = 0,
) -> WordClasses:
    """Cluster words by their tags, at several levels, and by capitalisation in the last class.

    Parameters
    ----------
    tagged : iterable of (view, tags)
        Tags by number, one for each token that is not a sentence boundary.
    n_tags : int
    least : int
        Minimum number of occurrences of a word.
    sizes : sequence of int
        Numbers of classes of tags, one per level.
    seed : int

    Raises
    ------
    UserError
        D458 if the text has fewer distinct words than classes.
    """
    parts = [_tag_usage(view, np.asarray(tags, np.int64)) for view, tags in tagged]
    hashes, numbers, letters = (
        np.concatenate([part[i] for part in parts]) if parts else np.zeros(0, np.int64) for i in range(3)
    )
    words, which = np.unique(hashes.astype(np.uint64), return_inverse=True)
    n = len(words)
    table = np.bincount(which * n_tags + numbers, minlength=n * n_tags).reshape(n, n_tags)
    kept = table.sum(axis=1) >= least
    if kept.sum() < max(sizes):
        raise UserError("D458", n=int(kept.sum()), classes=max(sizes))
    small, capital, capitals = (
        np.bincount(which[letters == kind], minlength=n) for kind in (_SMALL, _CAPITAL, _CAPITALS)
    )
    columns = _clusters(np.sqrt(table[kept] / table[kept].sum(axis=1, keepdims=True)), sizes, seed)
    columns.append(_capital_class(small, capital, capitals)[kept])
    return WordClasses(words[kept], np.stack(columns, axis=1).astype(np.uint16))


def _capital_class(small: Ints, capital: Ints, capitals: Ints) -> Ints:
    """Return the class of each word: 0 for rare words, the last class for words in all capitals."""
    total = small + capital + capitals
    share = (capital + capitals) / np.maximum(total, 1)
    classes = 1 + np.digitize(share, EDGES)
    classes[(share > 0.5) & (capitals > 0.8 * (capital + capitals))] = len(EDGES) + 2
    classes[total < _MIN_COUNTED] = 0
    return classes


def _tag_usage(view: TokenView, tags: Ints) -> tuple[Hashes, Ints, NDArray[np.int8]]:
    """Return hash, tag and letter case of each token; the case is 0 if the token should not be counted."""
    words = np.flatnonzero(view.ends > view.starts)
    # the kinds of the first and the last character of each word, in one array of the characters of all texts
    texts = view.texts
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    offsets = offsets_from_sizes(lengths)[view.document_indices(words)]
    codes = ch.code_points("".join(texts))
    kinds = ch.table_for(codes)[codes] >> np.uint32(ch.CLASS_SHIFT)
    first, last = kinds[view.starts[words] + offsets], kinds[view.ends[words] + offsets - 1]
    letters = np.where(first >= ch.LETTER, _SMALL, 0)
    letters[first == ch.UPPER] = _CAPITAL
    is_long = view.ends[words] - view.starts[words] > 1
    letters[(first == ch.UPPER) & (last == ch.UPPER) & is_long] = _CAPITALS
    # a capital says nothing at the start of a sentence, or in a heading, in which most words have one
    sentence = view.sentences.searchsorted(words, side="right")
    n_letters = np.bincount(sentence[letters > 0], minlength=len(view.sentences) + 1)
    n_capital = np.bincount(sentence[letters > _SMALL], minlength=len(view.sentences) + 1)
    starts = np.diff(sentence, prepend=-1) > 0
    letters[starts | (n_capital > _HEADING * n_letters)[sentence]] = 0
    return view.hashes[words], tags, letters.astype(np.int8)


def tagged_instances(
    sentences: Sequence[tuple[Sequence[str], Sequence[str]]], tags: Sequence[str]
) -> tuple[TokenView, Instances]:
    """Return sentences, given as words and their tags, as a view, and one instance per word.

    The observed candidate of a word is the index of its tag in `tags`; -1 for any other tag.
    """
    numbers = {tag: i for i, tag in enumerate(tags)}
    gold = np.array([numbers.get(tag, -1) for _, of_words in sentences for tag in of_words], np.int32)
    view = SpacyTokens().of_sentences(words for words, _ in sentences)
    positions = np.flatnonzero(view.ends > view.starts)
    n = len(positions)
    return view, Instances(positions, np.ones(n, np.int32), np.zeros(n, np.int32), gold)


def tagged_batch(
    sentences: Sequence[tuple[Sequence[str], Sequence[str]]],
    tags: Sequence[str],
    extractor: TokenContext | None = None,
) -> tuple[SequenceRows, TokenContext]:
    """Return sentences, given as words and their tags, as a batch, and the extractor of its features.

    An extractor that is not fitted yet, or a new one, is fitted on the sentences. A word with a tag that is
    not in `tags` has no right label: all labels have a cost.
    """
    view, instances = tagged_instances(sentences, tags)
    group = Group("tag", tuple(tags))
    extractor = extractor or TokenContext()
    if extractor.keys is None:
        extractor = extractor.fit(view, instances, (group,))
    batch = transform_checked(extractor, view, instances, group).batch
    assert isinstance(batch, SequenceRows)
    return batch, extractor
