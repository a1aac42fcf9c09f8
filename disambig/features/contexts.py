"""Contexts, templates and search steps shared by extractors and compiled functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from disambig.data import (
    CandidateTable,
    Group,
    Instances,
    hash_distinct_candidates,
    offsets_from_sizes,
    row_ranks,
)
from disambig.text import (
    END_HASH,
    MAX_ORDER,
    SENTENCE_END,
    SENTENCE_START,
    START_HASH,
    TokenView,
    Words,
    hash_word,
    hash_words,
)
from disambig.type_aliases import Bools, Hashes, Ints

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
    def from_table(cls, table: CandidateTable, tokenisation: str) -> HashedTable:
        """Hash the candidates of a table."""
        if table.own is not None:
            return cls(*hash_distinct_candidates(table.own.texts, tokenisation))
        of_groups = [CandidateHashes.from_group(group) for group in table.groups]
        if len(of_groups) == 1:
            words, lengths = of_groups[0].words, of_groups[0].lengths
        else:
            lengths = np.concatenate([hashes.lengths for hashes in of_groups])
            words = np.zeros((len(lengths), max(hashes.longest for hashes in of_groups)), np.uint64)
        firsts = offsets_from_sizes(len(hashes.lengths) for hashes in of_groups)
        for hashes, first in zip(of_groups if len(of_groups) > 1 else (), firsts.tolist(), strict=False):
            words[first : first + len(hashes.lengths), : hashes.longest] = hashes.words
        return cls(words, lengths, np.repeat(firsts[table.group_of], table.sizes) + row_ranks(table.offsets))


def context_room(view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
    """Return the number of tokens to the left and right of each instance in its sentence, each shape (n,)."""
    sentence = np.searchsorted(view.sentences, instances.positions, side="right")
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
MOST = 8
"""Maximum number of words examined in each step of the search for head words."""
LEFT, RIGHT = 2 * MOST + 1, MOST + 1
"""Maximum number of words examined on each side of the place."""


def find_head_indices(kinds: Any, heads: Any) -> None:
    """Fill `heads` with governor, verb and object of one place, as indices into `kinds`, -1 if there is none.

    `kinds` are the kinds of the `LEFT` tokens before the place and the `RIGHT` ones after it (see
    `WORD_KINDS`). Sentence boundaries are *other*, so the search never leaves the sentence.
    """
    governor = LEFT - 1
    for i in range(LEFT - 1, LEFT - 1 - MOST, -1):
        if kinds[i] == OTHER:
            break
        if kinds[i] != ADVERB and kinds[i] != PRONOUN and kinds[i] != DETERMINER:
            governor = i
            break
    heads[0] = governor
    heads[1] = -1
    if kinds[governor] == NOUN or kinds[governor] == NOUN_OR_VERB:
        for i in range(governor - 1, governor - 1 - MOST, -1):
            if kinds[i] == OTHER:
                break
            takes_object = kinds[i] == NOUN_OR_VERB and kinds[i + 1] == DETERMINER
            if takes_object or kinds[i] == VERB or kinds[i] == GERUND or kinds[i] == PARTICIPLE:
                heads[1] = i
                break
    head, beyond = -1, LEFT
    for i in range(LEFT, LEFT + MOST):
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
