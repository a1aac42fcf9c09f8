"""Contexts, templates and search steps, and words and tags near a place with their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Group,
    GroupedInstances,
    Instances,
    PackedStrings,
    count_candidates,
    expand_ranges,
    hash_distinct_candidates,
    offsets_from_sizes,
)
from disambig.errors import UserError
from disambig.features.rows import (
    MAX_NEARNESS,
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
    Words,
    fmix,
    hash_word,
    hash_words,
)
from disambig.type_aliases import Bools, Floats, Hashes, Ints

CONTEXTS = tuple((size - right, right) for size in range(1, MAX_ORDER) for right in range(size + 1))
"""(l, r) of the 14 contexts: two of 2-grams, three of 3-grams, four of 4-grams, five of 5-grams."""
CONTEXT_PARENTS = np.array(
    [
        [CONTEXTS.index(part) if part in CONTEXTS else -1 for part in ((left - 1, right), (left, right - 1))]
        for left, right in CONTEXTS
    ]
)
"""The contexts that are one word shorter, -1 if there is none, shape ``(14, 2)``."""
LEFT_WORDS, RIGHT_WORDS = np.array(CONTEXTS).T
"""Number of words on each side of the place in each context, both of shape ``(14,)``."""
CONTEXTS_BY_SIZE = tuple(
    (size, slice(size * (size + 1) // 2 - 1, size * (size + 3) // 2)) for size in range(1, MAX_ORDER)
)
"""The contexts of each number of words; the shorter ones of a context come before it."""
ONE_SIDED = np.minimum(LEFT_WORDS, RIGHT_WORDS) == 0
"""Contexts with words on only one side."""
DISCOUNT = 0.75
"""Subtracted from the counts of a context; what is freed goes to the shorter contexts."""
GROUP_NAMES = tuple(f"{size + 1}-gram" for size in range(1, MAX_ORDER))


@dataclass(frozen=True, slots=True, eq=False)
class CandidateHashes:
    """The candidates of a group as word hashes."""

    words: Hashes  # uint64 (K, longest): zero after the last word of a shorter candidate
    lengths: Ints  # int64 (K,): zero for the empty candidate
    texts: tuple[str, ...]

    @classmethod
    @lru_cache(maxsize=1024)
    def from_group(cls, group: Group) -> CandidateHashes:
        """Hash the candidates of `group`."""
        split = [[hash_word(word) for word in candidate.split()] for candidate in group.candidates]
        longest = max(len(words) for words in split)
        padded = [words + [0] * (longest - len(words)) for words in split]
        lengths = np.array([len(words) for words in split], np.int64)
        return cls(np.array(padded, np.uint64), lengths, group.candidates)

    @property
    def longest(self) -> int:
        """Number of words of the longest candidate."""
        return self.words.shape[1]

    @property
    def shortest(self) -> int:
        """Number of words of the shortest candidate."""
        return int(self.lengths.min())


@dataclass(frozen=True, slots=True, eq=False)
class HashedTable:
    """The candidates of a table as word hashes."""

    # uint64 (C, longest): the words of distinct candidates; zero after the last word of a shorter one
    words: Hashes
    lengths: Ints  # int64 (C,): zero for the empty candidate
    ids: Ints  # int64 (n_rows,): the candidate of each row of the table

    @classmethod
    def from_table(cls, table: GroupedInstances, tokenisation: str) -> HashedTable:
        """Hash the candidates of a table."""
        if table.lists is not None:
            return cls(*hash_distinct_candidates(table.lists.texts, tokenisation))
        of_groups = [CandidateHashes.from_group(group) for group in table.groups]
        firsts = offsets_from_sizes(count_candidates(table.groups))
        if len(of_groups) == 1:
            words, lengths = of_groups[0].words, of_groups[0].lengths
        else:
            lengths = np.concatenate([hashes.lengths for hashes in of_groups])
            words = np.zeros((len(lengths), max(hashes.longest for hashes in of_groups)), np.uint64)
            for hashes, first in zip(of_groups, firsts.tolist(), strict=False):
                words[first : first + len(hashes.lengths), : hashes.longest] = hashes.words
        return cls(words, lengths, expand_ranges(firsts[table.group_of], table.sizes))


def context_room(view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
    """Return the number of tokens to the left and right of each instance in its sentence, each shape (n,)."""
    sentence = view.sentences.searchsorted(instances.positions, side="right")
    left = instances.positions - view.sentences[sentence - 1]
    right = view.sentences[sentence] - (instances.positions + instances.lengths)
    return left, right


def fitting_contexts(left: Ints, right: Ints, longest: int | Ints, *, shortest: int | Ints = 1) -> Bools:
    """Return which contexts an instance can fill with *every* candidate, shape ``(n, 14)``.

    A candidate of c words fills a context if ``l + c + r <= 5``. Contexts that some candidate cannot fill, or
    that extend beyond the sentence, are excluded for all candidates. The empty candidate is informative only
    between words: with it, contexts must have words on both sides. If instances have different candidates,
    `longest` and `shortest` have the shape ``(n, 1)``.
    """
    informative = (np.minimum(LEFT_WORDS, RIGHT_WORDS) > 0) | (np.asarray(shortest) > 0)
    inside = (left[:, None] >= LEFT_WORDS) & (right[:, None] >= RIGHT_WORDS)
    fits: Bools = inside & informative & (LEFT_WORDS + RIGHT_WORDS + longest <= MAX_ORDER)
    return fits


def ngram_text(view: TokenView, position: int, length: int, context: tuple[int, int], candidate: str) -> str:
    """Return the n-gram of a context around a place of `length` tokens, filled with a candidate."""
    left, right = context
    before = [word_at(view, position - left + i) for i in range(left)]
    after = [word_at(view, position + length + i) for i in range(right)]
    return " ".join([*before, *candidate.split(), *after])


def word_at(view: TokenView, token: int) -> str:
    """Return one token of a view as n-grams show it: with all digits as ``0`` if they are one word."""
    start, end = int(view.starts[token]), int(view.ends[token])
    if start == end:
        return SENTENCE_START if token in view.sentences else SENTENCE_END
    word = view.document_text(token)[start:end]
    return Words.normal_form(word) if view.tokenisation == Words.name else word.lower()


NOUN, VERB, NOUN_OR_VERB, GERUND, PARTICIPLE, ADJECTIVE, ADVERB, DETERMINER, PRONOUN, OTHER = range(10)
MAX_SEARCHED = 8
"""Maximum number of words examined in each step of the search for head words."""
LEFT, RIGHT = 2 * MAX_SEARCHED + 1, MAX_SEARCHED + 1
"""Maximum number of words examined on each side of the place."""


def find_head_indices(kinds: Any, heads: Any) -> None:
    """Fill `heads` with governor, verb and object of one place, as indices into `kinds`, -1 if there is none.

    `kinds` are the kinds of the `LEFT` tokens before the place and the `RIGHT` ones after it (see
    `WORD_KINDS`). Sentence boundaries are *other*, so the search never leaves the sentence.
    """
    governor = LEFT - 1
    for i in range(LEFT - 1, LEFT - 1 - MAX_SEARCHED, -1):
        if kinds[i] == OTHER:
            break
        if kinds[i] != ADVERB and kinds[i] != PRONOUN and kinds[i] != DETERMINER:
            governor = i
            break
    heads[0] = governor
    heads[1] = -1
    if kinds[governor] == NOUN or kinds[governor] == NOUN_OR_VERB:
        for i in range(governor - 1, governor - 1 - MAX_SEARCHED, -1):
            if kinds[i] == OTHER:
                break
            takes_object = kinds[i] == NOUN_OR_VERB and kinds[i + 1] == DETERMINER
            if takes_object or kinds[i] == VERB or kinds[i] == GERUND or kinds[i] == PARTICIPLE:
                heads[1] = i
                break
    head, beyond = -1, LEFT
    for i in range(LEFT, LEFT + MAX_SEARCHED):
        if kinds[i] == NOUN or kinds[i] == NOUN_OR_VERB:
            head = i
        elif head >= 0 or kinds[i] == OTHER or kinds[i] == VERB:
            break
        elif kinds[i] == PRONOUN:
            head = i
            break
        elif kinds[i] == GERUND:
            after = kinds[i + 1]
            if after in (DETERMINER, PRONOUN, OTHER):  # the gerund has an object, or nothing follows
                head = i
                break
        beyond = i
    heads[2] = head if head >= 0 else beyond


GAP_TEMPLATES = ("l", "r", "lr", "kl", "rs", "klr", "lrs", "k", "s")
"""Words that each feature joins: l and r are next to the place, k and s one word further away."""
PARTS = "klrs"
SEEDS = hash_words([f"gap {template}" for template in GAP_TEMPLATES])
# odd multipliers keep all 64 bits of a word hash
MULTIPLIERS = np.array(
    [
        [hash_word(f"gap {template}/{part}") | 1 if part in template else 0 for part in PARTS]
        for template in GAP_TEMPLATES
    ],
    np.uint64,
)
"""Shape ``(n_templates, 4)``; zero if a template does not use a word."""


def feature_buckets(hashes: Hashes, left: Ints, right: Ints, bits: int) -> Hashes:
    """Return the bucket of every feature of every place, shape ``(n_templates, n)``."""
    around = words_around_gap(hashes, left, right)
    buckets = np.empty((len(GAP_TEMPLATES), len(left)), np.uint64)
    for row, seed, multipliers in zip(buckets, SEEDS, MULTIPLIERS, strict=True):
        row[:] = seed
        for words, multiplier in zip(around, multipliers, strict=True):
            if multiplier:
                row += words * multiplier
    buckets >>= np.uint64(64 - bits)
    return buckets


def words_around_gap(hashes: Hashes, left: Ints, right: Ints) -> tuple[Hashes, ...]:
    """Return the words k, l, r and s of each place; beyond the sentence, its boundary is repeated."""
    before, after = hashes[left], hashes[right]
    further = hashes[np.maximum(left - 1, 0)], hashes[np.minimum(right + 1, len(hashes) - 1)]
    start, end = np.uint64(START_HASH), np.uint64(END_HASH)
    return (
        np.where(before == start, start, further[0]),
        before,
        after,
        np.where(after == end, end, further[1]),
    )


LOWER, SHAPE, LONG_SHAPE = 0, 1, 2
PREFIX, SUFFIX = 2, 6
"""The attribute of a prefix of n letters is ``PREFIX + n``, of a suffix ``SUFFIX + n``."""
LONGEST_PREFIX, LONGEST_SUFFIX = 4, 5
CLASS = 1 + SUFFIX + LONGEST_SUFFIX
"""The first of the attributes that are word classes; the caller fills them."""

TEMPLATES = np.array(
    [
        # attribute and relative place; attribute (or -1) and relative place of a second token
        *[(attribute, 0, -1, 0) for attribute in (LOWER, SHAPE, LONG_SHAPE)],
        *[(PREFIX + n, 0, -1, 0) for n in range(1, LONGEST_PREFIX + 1)],
        *[(SUFFIX + n, 0, -1, 0) for n in range(1, LONGEST_SUFFIX + 1)],
        *[(LOWER, place, -1, 0) for place in (-2, -1, 1, 2)],
        *[(SUFFIX + 3, place, -1, 0) for place in (-1, 1)],
        *[(SHAPE, place, -1, 0) for place in (-1, 1)],
        *[(LOWER, -1, LOWER, 0), (LOWER, 0, LOWER, 1), (LOWER, -1, LOWER, 1), (LOWER, -2, LOWER, -1)],
        *[(LOWER, 1, LOWER, 2), (SUFFIX + 3, 0, LOWER, -1), (SUFFIX + 3, 0, LOWER, 1)],
    ],
    np.int64,
)


def class_templates(n_classes: int) -> Ints:
    """Return the templates of word classes, in addition to `TEMPLATES`."""
    return np.array(
        [(CLASS + g, place, -1, 0) for g in range(n_classes) for place in (-1, 0, 1)], np.int64
    ).reshape(-1, 4)


BASIS = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
"""Constants of the FNV-1a hash, which attributes use."""
OUTSIDE = np.uint64(0x51ED270B4C9F7A35)
"""The hash of something absent: an affix longer than the word, a place before the sentence."""
STEP = np.uint64(0x9E3779B97F4A7C15)
LONGEST_RUN = 4


MAX_WINDOW = 50
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
        validate_settings(self, window=whole_number_between(0, MAX_WINDOW), least=COUNT)
        if not 0 <= self.nearness <= MAX_NEARNESS:
            raise UserError("D514", value=self.nearness, most=MAX_NEARNESS)

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
MAX_SEQUENCE_WINDOW = 15
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
            window=whole_number_between(1, MAX_SEQUENCE_WINDOW),
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
        start, lengths = instances.positions, instances.lengths.astype(np.int64)
        low = np.maximum(first, start - self.window)
        high = np.minimum(stop, start + lengths + self.window)
        width = 2 * self.window + (1 if self.target else int(lengths.max(initial=0)))
        tokens = low[:, None] + np.arange(width)
        if self.target:  # the tokens of the instance are a single symbol: skip the others
            tokens += np.where(tokens > start[:, None], lengths[:, None] - 1, 0)
        inside = tokens < high[:, None]
        symbols = np.where(inside, values_at(values, np.where(inside, tokens, 0)), np.uint64(0))
        if self.target:
            symbols[np.arange(len(start)), start - low] = np.uint64(GAP_HASH)
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
