"""Head words of a place: the lexicon of parts of speech, the search for heads, their n-grams and features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, Group, GroupedInstances, HashVocabulary, Instances, find_examples
from disambig.errors import UserError
from disambig.features.context_window import LEFT, NOUN, OTHER, RIGHT, find_head_indices, word_at
from disambig.features.ngram_counts import ContextCounts, runs_without_parents
from disambig.features.rows import StatelessExtractor, dense_features
from disambig.files import read_stored, write_stored
from disambig.runtime import use_numba
from disambig.text import (
    END_HASH,
    GAP,
    GAP_HASH,
    MASK,
    NOTHING,
    ORDER,
    PLACES,
    START_HASH,
    UNKNOWN,
    TokenView,
    Words,
    fmix,
    hash_word,
    hash_words,
    top_bits_directory,
)
from disambig.type_aliases import Floats, Hashes, Ints
from disambig.types import FeatureEvidence, Features, Task

if TYPE_CHECKING:
    from disambig.counts import CountTable


HEADWORD_TOKENISATION = "disambig.headwords.v1"
"""The hash of this name seeds the keys of headword n-grams."""


@dataclass(frozen=True, slots=True)
class HeadwordTokenisation:
    """Splits n-grams into words, for queries only; head words do not form running text."""

    name: ClassVar[str] = HEADWORD_TOKENISATION

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Raise an error: the words of a text are not its head words. Raises D440."""
        raise UserError("D440", name=HEADWORD_TOKENISATION)

    def words(self, text: str) -> list[str]:
        """Return the words of an n-gram between the two boundary words, like all tokenisations."""
        return Words().words(text)


WORD_KINDS = (
    "noun", "verb", "noun or verb", "gerund", "participle", "adjective", "adverb", "determiner", "pronoun",
    "other",
)  # fmt: skip
"""Unknown words are nouns; sentence boundaries and punctuation are *other*."""
_S32 = np.uint64(32)
FILE = "words.npz"


@dataclass(frozen=True, eq=False)
class PartsOfSpeech:
    """The most frequent kind (part of speech) of each word in a language.

    Attributes
    ----------
    words : array of uint32, shape (n,)
        The upper halves of the word hashes, ascending.
    kinds : array of uint8, shape (n,)
        Indices into `WORD_KINDS`.
    header : dict
        ``tokenisation``, and further entries: sources, licence.
    """

    words: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    header: dict[str, Any]

    @classmethod
    def from_words(cls, kinds: Mapping[str, int], header: dict[str, Any]) -> PartsOfSpeech:
        """Return a lexicon from words and their kinds; the header must name the tokenisation of the text."""
        hashes = (hash_words(list(kinds)) >> _S32).astype(np.uint32)
        # two words may have the same upper half of the hash; the first one is kept
        words, first = np.unique(hashes, return_index=True)
        return cls(words, np.array(list(kinds.values()), np.uint8)[first], header)

    @classmethod
    def load(cls, folder: str | Path) -> PartsOfSpeech:
        """Read the lexicon from a folder.

        Raises
        ------
        UserError
            D438 if a file is missing or was not written by `save`.
        """
        header, (words, kinds) = read_stored(folder, FILE, ("words", "kinds"), code="D438")
        problem = _lexicon_problem(words, kinds, header)
        if problem:
            raise UserError("D438", path=folder, problem=problem)
        return cls(words, kinds, header)

    def save(self, folder: str | Path) -> None:
        """Write `header.json` and `words.npz` to `folder`."""
        write_stored(folder, FILE, self.header, words=self.words, kinds=self.kinds)

    def require(self, tokenisation: str) -> None:
        """Raise D439 if words come from another tokenisation."""
        if tokenisation != self.header["tokenisation"]:
            raise UserError("D439", seen=tokenisation, known=self.header["tokenisation"])

    @cached_property
    def directory(self) -> tuple[NDArray[np.int32], np.uint32]:
        """Where the words with each value of their top bits begin (see `top_bits_directory`)."""
        return top_bits_directory(self.words)

    def word_kinds(self, hashes: Hashes) -> NDArray[np.uint8]:
        """Return the kind of each word, shape ``(n,)``."""
        halves = (hashes >> _S32).astype(np.uint32)
        kinds = HashVocabulary(self.words).get(halves, self.kinds, np.uint8(NOUN))
        kinds[(hashes == np.uint64(START_HASH)) | (hashes == np.uint64(END_HASH))] = OTHER
        return kinds


@lru_cache(maxsize=8)
def load_parts_of_speech(folder: str) -> PartsOfSpeech:
    """Return the lexicon in a folder; each folder is read once."""
    return PartsOfSpeech.load(Path(folder))


def _lexicon_problem(words: NDArray[Any], kinds: NDArray[Any], header: Any) -> str | None:
    """Return what is wrong with the arrays or the header, or None."""
    if words.dtype != np.uint32 or words.ndim != 1 or not (words[1:] > words[:-1]).all():
        return "words that are not ascending 32-bit numbers"
    if kinds.dtype != np.uint8 or kinds.shape != words.shape or kinds.max(initial=0) >= len(WORD_KINDS):
        return f"kinds of {kinds.dtype} {kinds.shape}"
    if not isinstance(header, dict) or not isinstance(header.get("tokenisation"), str):
        return "no tokenisation in its header"
    return None


HEAD_ROLES = ("governor", "verb", "object")
OBJECT = HEAD_ROLES.index("object")


def find_heads(parts: PartsOfSpeech, view: TokenView, instances: Instances) -> Ints:
    """Return the token of each head word of each place, -1 if there is none, shape ``(n, 3)``.

    Several extractors use the same heads: the array is computed once, and must not be changed.

    Raises D439 if another tokenisation made the view.
    """
    return instances.cached(_find_heads, parts, view)


def _find_heads(instances: Instances, parts: PartsOfSpeech, view: TokenView) -> Ints:
    parts.require(view.tokenisation)
    first, after = instances.positions, instances.positions + instances.lengths
    heads = np.full((len(first), len(HEAD_ROLES)), -1, np.int64)
    if use_numba(len(first) * (LEFT + RIGHT)):
        from disambig.features._row_kernels import find_head_tokens

        find_head_tokens(view.hashes, *parts.directory, parts.words, parts.kinds, first, after, heads)
        return heads
    before = first[:, None] + np.arange(-LEFT, 0)
    window = np.concatenate([before, after[:, None] + np.arange(RIGHT)], axis=1)
    inside = (window >= 0) & (window < len(view))
    kinds = parts.word_kinds(view.hashes[np.where(inside, window, 0).ravel()]).reshape(window.shape)
    kinds[~inside] = OTHER
    for i, kinds_of_place in enumerate(kinds):
        find_head_indices(kinds_of_place.tolist(), heads[i])  # a list is read faster than an array
    tokens = np.take_along_axis(window, np.maximum(heads, 0), axis=1)
    # -1 cannot index: look up 0 instead and mask the result
    is_valid = (heads >= 0) & np.take_along_axis(inside, np.maximum(heads, 0), axis=1)
    return np.where(is_valid, tokens, -1)


PATTERNS = ("_ object", "governor _", "verb * _", "governor _ object", "verb * _ object")
ORDERS = np.array([2, 2, 3, 3, 4])
"""Number of words of each pattern; a gap counts as one."""
_HAS_OBJECT = np.array([True, False, False, True, True])
# of each pattern: index in `HEAD_ROLES` of the head word before the candidate (-1: none), whether a gap
# stands between the two, and the place of the candidate in the n-gram
_HEAD = np.array([-1, 0, 1, 0, 1])
_GAPPED = np.array([False, False, True, False, True])
CANDIDATE_PLACE = (_HEAD >= 0).astype(np.int64) + _GAPPED
_MULTIPLIERS = np.array(PLACES, np.uint64)[CANDIDATE_PLACE]
"""Factor of the candidate in the keys of each pattern, shape ``(5,)``."""
_CONSTANTS = np.array(
    [
        (hash_word(HEADWORD_TOKENISATION) + order * ORDER + GAP_HASH * PLACES[1] * gapped) & MASK
        for order, gapped in zip(ORDERS.tolist(), _GAPPED.tolist(), strict=True)
    ],
    np.uint64,
)
"""The part of the keys of each pattern that depends on no word, shape ``(5,)``."""
_FACTORS = np.array(
    [
        [PLACES[0] if head == word else 0 for head in _HEAD.tolist()]
        if word < OBJECT
        else [PLACES[at + 1] * has for at, has in zip(CANDIDATE_PLACE, _HAS_OBJECT.tolist(), strict=True)]
        for word in range(len(HEAD_ROLES))
    ],
    np.uint64,
)
"""Factor of each head word in the keys of each pattern, shape ``(3, 5)``; 0 if it is not in the pattern."""
HEADWORD_PARENTS = np.array([[-1, -1], [-1, -1], [-1, -1], [1, 0], [2, 0]])
"""The shorter patterns of each pattern, -1 if there is none, shape ``(5, 2)``."""


@lru_cache(maxsize=1024)
def candidate_hashes(group: Group) -> Hashes:
    """Return the hash that represents each candidate in keys, shape (K,); not to be changed."""
    return np.array([hash_word(word or NOTHING) for word in group.candidates], np.uint64)


def head_keys(
    parts: PartsOfSpeech, view: TokenView, instances: Instances
) -> tuple[Hashes, NDArray[np.bool_]]:
    """Return what the keys of a place's n-grams have in common, and which patterns it can fill.

    A key is ``fmix(fixed + candidate * m)``, with the multiplier m of `CANDIDATE_PLACE`.

    Returns `fixed` (uint64 (n, 5)), and a mask (bool (n, 5)).
    """
    tokens = find_heads(parts, view, instances)
    words = np.where(tokens >= 0, view.hashes[np.maximum(tokens, 0)], np.uint64(UNKNOWN))
    has_word = words != UNKNOWN
    has_head = np.where(_HEAD >= 0, has_word[:, np.maximum(_HEAD, 0)], True)
    return words @ _FACTORS + _CONSTANTS, has_head & (has_word[:, 2:] | ~_HAS_OBJECT)


def pattern_keys(fixed: Hashes, candidates: Hashes, pattern: Ints | int) -> Hashes:
    """Return the keys of a pattern, or of one pattern for each place, filled with candidates.

    `fixed` (uint64 (n,)): of the patterns (see `head_keys`).
    `candidates`: uint64 (n, K) or (K,).
    """
    return fmix(fixed[:, None] + candidates * _MULTIPLIERS[pattern].reshape(-1, 1))


def lone_keys(candidates: Hashes) -> Hashes:
    """Return the keys of candidates without head words, shape (K,)."""
    start = np.uint64((hash_word(HEADWORD_TOKENISATION) + ORDER) & MASK)
    return fmix(start + candidates * np.uint64(PLACES[0]))


def headword_ngram_text(pattern: int, governor: str, verb: str, object_: str, candidate: str) -> str:
    """Return one n-gram as text; a table can be queried with it, unless the candidate has two words."""
    head = ("", governor, verb)[_HEAD[pattern] + 1]
    gap, last = GAP if _GAPPED[pattern] else "", object_ if _HAS_OBJECT[pattern] else ""
    return " ".join(filter(None, (head, gap, candidate or NOTHING, last)))


COUNTED_ORDERS = 4
_MEMORY = 2 << 30


class HeadwordCounter:
    """Counts the headword n-grams of a task's observed candidates; use it in a ``with`` statement.

    `task`: the candidates of its groups are counted.
    `memory`: memory limit of the process, in bytes.
    """

    def __init__(self, task: Task, parts: PartsOfSpeech, *, memory: int = _MEMORY) -> None:
        self.task, self.parts = task, parts
        from disambig.counts import NgramCounter

        self.counter = NgramCounter(HEADWORD_TOKENISATION, orders=COUNTED_ORDERS, memory=memory)

    def add(self, view: TokenView) -> None:
        """Count the places of a view; a place that belongs to several groups counts once.

        Raises `ValueError` if instances have their own candidates.
        """
        instances = find_examples(self.task, view)
        if instances.lists is not None:
            raise ValueError(
                "head words are counted for groups, and these instances have their own candidates"
            )
        instances = instances.take(instances.observed >= 0)
        candidates = np.empty(len(instances), np.uint64)
        for g, group in enumerate(self.task.groups):
            of_group = instances.groups == g
            candidates[of_group] = candidate_hashes(group)[instances.observed[of_group]]
        places = np.stack([instances.positions, instances.lengths, candidates.view(np.int64)], axis=1)
        if len(self.task.groups) > 1:
            # groups may share candidates, and a word of the text must not be counted once per group
            distinct = np.unique(places, axis=0, return_index=True)[1]
            instances, candidates = instances.take(distinct), candidates[distinct]
        fixed, fillable = head_keys(self.parts, view, instances)
        self._add(lone_keys(candidates), 1)
        for pattern, order in enumerate(ORDERS.tolist()):
            rows = np.flatnonzero(fillable[:, pattern])
            self._add(pattern_keys(fixed[rows, pattern], candidates[rows, None], pattern), order)

    def _add(self, keys: NDArray[np.uint64], order: int) -> None:
        self.counter.add_counts(keys.ravel(), np.ones(keys.size, np.uint64), order)

    def partitions(
        self, *, min_counts: Mapping[int, int]
    ) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
        """Yield keys and counts of the n-grams that reach their minimum count, in ascending order of keys.

        Raises `ValueError` if the minimum counts fall with the number of words: an n-gram needs its shorter
        n-grams.
        """
        minimum = [min_counts.get(order, 1) for order in range(1, COUNTED_ORDERS + 1)]
        if minimum != sorted(minimum):
            raise ValueError(f"minimum counts that fall with the number of words: {dict(min_counts)}")
        for keys, counts, _ in self.counter.partitions(min_counts=min_counts):
            yield keys, counts

    def close(self) -> None:
        """Delete temporary files and release memory."""
        self.counter.close()

    def __enter__(self) -> HeadwordCounter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


GROUP_NAME = "head words"
N_PATTERNS = len(PATTERNS)


class Headwords(StatelessExtractor):
    """Extractor of the smoothed log-probabilities in the five head word patterns.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table with headword n-grams (see `HeadwordCounter`): a file, or the name of a table in an
        installed pack.
    parts_of_speech : path
        A folder with a lexicon of word kinds: the one with which the table was counted.
    """

    describes: ClassVar[str] = "group"

    def __init__(self, *, counts: Any, parts_of_speech: str | Path) -> None:
        self.counts: str | Path = counts
        self.parts_of_speech = parts_of_speech

    @cached_property
    def table(self) -> CountTable:
        """The count table, opened on first use."""
        from disambig.counts import open_table

        return open_table(self.counts).require(HEADWORD_TOKENISATION)

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return the attributes of the instances of each group, shape ``(n, K, 5)``; not evidence for flags.

        Raises
        ------
        UserError
            D110 if the table has no headword n-grams, D438 and D439 for the lexicon of word kinds.
        """
        parts = load_parts_of_speech(str(self.parts_of_speech))
        fixed, fillable = head_keys(parts, view, table.instances)
        ranks = np.zeros((table.n_rows, N_PATTERNS), np.uint16)
        prior = np.empty(len(ranks))
        for group, of_group, rows in zip(table.groups, table.slices, table.rows, strict=True):
            k = len(group.candidates)
            self._fill_ranks(
                fixed[of_group], fillable[of_group], group, ranks[rows].reshape(-1, k, N_PATTERNS)
            )
            prior[rows].reshape(-1, k)[:] = _headword_prior(self.table, group)
        no_zeros, silent = np.full(len(fixed), -1), np.zeros(N_PATTERNS, bool)
        contexts = ContextCounts(
            ranks, fillable, self._counts, prior, table.offsets, no_zeros, HEADWORD_PARENTS, silent
        )
        nothing = np.zeros(len(ranks), np.int32)
        return dense_features(table, contexts.log_probabilities(), nothing, nothing, _headword_columns)

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> dict[tuple[str, str], FeatureEvidence]:
        """Return each n-gram that is looked up at a single place, with its count (see `ExplainsFeatures`)."""
        parts = load_parts_of_speech(str(self.parts_of_speech))
        at = find_heads(parts, view, instances)
        fixed, fillable = head_keys(parts, view, instances)
        ranks = np.zeros((1, len(group.candidates), N_PATTERNS), np.uint16)
        self._fill_ranks(fixed, fillable, group, ranks)
        counts = self.table.values[ranks[0]].tolist()
        governor, verb, object_ = (word_at(view, token) if token >= 0 else "" for token in at[0].tolist())
        minimum = self.table.header.get("info", {}).get("least_headwords")
        evidence = {}
        for r, candidate in enumerate(group.candidates):
            for p in np.flatnonzero(fillable[0]).tolist():
                text = headword_ngram_text(p, governor, verb, object_, candidate)
                seen = None if minimum is None else minimum.get(str(ORDERS[p]))
                evidence[candidate or "no word", PATTERNS[p]] = FeatureEvidence(text, counts[r][p], seen)
        return evidence

    def _fill_ranks(
        self, fixed: Hashes, fillable: NDArray[np.bool_], group: Group, ranks: NDArray[np.uint16]
    ) -> None:
        """Fill the ranks of the n-grams, shape (n, K, 5), all zero before.

        An n-gram whose shorter patterns were not seen was not seen either, so it is not looked up.
        """
        candidates = candidate_hashes(group)
        if use_numba(ranks.size):
            from disambig.features._row_kernels import fill_headwords

            fill_headwords(*self.table.arrays, fixed, CANDIDATE_PLACE, fillable, candidates, ranks)
            return
        for block, *_ in runs_without_parents(HEADWORD_PARENTS.tobytes()):
            place, pattern = fillable[:, block].nonzero()
            pattern += block.start
            keys = pattern_keys(fixed[place, pattern], candidates, pattern)
            looked_up = self.table.ranks(keys.ravel(), backend="numpy").reshape(keys.shape)
            for parent in HEADWORD_PARENTS[pattern].T:
                looked_up[(parent >= 0)[:, None] & (ranks[place, :, parent] == 0)] = 0
            ranks[place, :, pattern] = looked_up

    @cached_property
    def _counts(self) -> Floats:
        """The count of each rank of the table."""
        return self.table.values.astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.counts, "parts_of_speech": self.parts_of_speech}


@lru_cache(maxsize=256)
def _headword_columns(group: Group) -> Columns:
    names = [f"{word or 'no word'}: {pattern}" for word in group.candidates for pattern in PATTERNS]
    return Columns.of_group(GROUP_NAME, N_PATTERNS, candidates=len(group.candidates), names=names)


@lru_cache(maxsize=256)
def _headword_prior(table: CountTable, group: Group) -> Floats:
    """Return the relative frequency of each candidate, add-one smoothed, shape (K,)."""
    counts = 1.0 + table.counts(lone_keys(candidate_hashes(group)), backend="numpy")
    prior: Floats = counts / counts.sum()
    return prior
