"""Word n-gram models: vocabularies, sentences as numbers of words, and the arrays of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data import HashVocabulary, PackedStrings, offsets_from_sizes, strings_from_state, take_rows
from disambig.text import SENTENCE_END, SENTENCE_START, Tokenisation, TokenView, hash_words
from disambig.type_aliases import Ints
from disambig.types import Arrays

UNKNOWN, START, END = 0, 1, 2
"""The numbers of any unknown word, of the start of a sentence and of its end."""
SPECIAL = ("<unk>", "<s>", "</s>")


class WordVocabulary:
    """Words and their numbers: 0 is any unknown word, 1 and 2 are the sentence boundaries.

    In a text, the words ``<unk>``, ``<s>`` and ``</s>`` are unknown words like any other.

    Parameters
    ----------
    spellings : sequence of str
        All words by number: first those of `SPECIAL`; no word occurs twice.

    Raises
    ------
    ValueError
        If the words do not begin with `SPECIAL`, or a word occurs twice.
    """

    def __init__(self, spellings: Sequence[str]) -> None:
        self.spellings = (
            spellings if isinstance(spellings, PackedStrings) else PackedStrings.from_words(spellings)
        )
        if tuple(self.spellings[: len(SPECIAL)]) != SPECIAL:
            raise ValueError(f"a vocabulary begins with {', '.join(SPECIAL)}")
        if len(self._numbers) != len(self.spellings) - len(SPECIAL):
            raise ValueError("a word occurs twice in the vocabulary")

    @classmethod
    def from_words(cls, words: Iterable[str]) -> WordVocabulary:
        """Return the vocabulary of these words, numbered from 3 on; the first of equal words counts."""
        valid = (word.encode("utf8", "replace").decode("utf8") for word in words)
        return cls(list(dict.fromkeys(chain(SPECIAL, valid))))

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]], *, least: int = 1) -> WordVocabulary:
        """Return the vocabulary of the words that occur `least` times or more, the most frequent first.

        The other words are unknown words; from their occurrences a model learns the probability of unknown
        words. With `least` 1 there are none, and unknown words have only the mass that discounting leaves.
        """
        counts = Counter(chain.from_iterable(sentences))
        kept = ((-count, word) for word, count in counts.items() if count >= least)
        return cls.from_words(word for _, word in sorted(kept))

    def __len__(self) -> int:
        return len(self.spellings)

    def __eq__(self, other: object) -> bool:
        is_equal = isinstance(other, WordVocabulary) and len(other) == len(self) and self.begins_with(other)
        return self is other or is_equal

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, number: int) -> str:
        """Return the word with a number."""
        return self.spellings[number]

    def __contains__(self, word: object) -> bool:
        return word in self._numbers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.spellings) if at >= len(SPECIAL)}

    @cached_property
    def _hashed(self) -> tuple[HashVocabulary, NDArray[np.int32]]:
        hashes = hash_words(self.spellings[len(SPECIAL) :])
        order = np.argsort(hashes, kind="stable")
        return HashVocabulary(hashes[order]), (order + len(SPECIAL)).astype(np.int32)

    def word_ids(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return the number of each word, `UNKNOWN` for words outside the vocabulary, int32."""
        numbers = self._numbers
        return np.fromiter((numbers.get(word, UNKNOWN) for word in words), np.int32)

    def hash_ids(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each word given by its hash (`hash_word`), int32."""
        vocabulary, numbers = self._hashed
        return vocabulary.get(hashes, numbers, np.int32(UNKNOWN))

    def extended(self, words: Iterable[str]) -> WordVocabulary:
        """Return this vocabulary followed by those of `words` that it lacks; all numbers stay the same."""
        return WordVocabulary.from_words(chain(self.spellings[len(SPECIAL) :], words))

    def begins_with(self, other: WordVocabulary) -> bool:
        """Return True if the first words are those of `other`."""
        spellings, others = self.spellings, other.spellings
        return np.array_equal(spellings.ends[: len(other)], others.ends) and np.array_equal(
            spellings.letters[: len(others.letters)], others.letters
        )

    def state(self) -> Arrays:
        """Return the words as arrays for `vocabulary_from_state`."""
        return self.spellings.state()


def vocabulary_from_state(arrays: Arrays) -> WordVocabulary:
    """Return the vocabulary from the arrays of `WordVocabulary.state`.

    Raises `KeyError` or `ValueError` if arrays are missing or do not hold a vocabulary.
    """
    return WordVocabulary(strings_from_state(arrays, len(arrays["ends"])))


Words = Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """Some sentences as word numbers of a vocabulary; the sentence boundaries are not included.

    Attributes
    ----------
    ids : array of int32, shape (n_words,)
        The words of all sentences, without the numbers `START` and `END`.
    offsets : array of int64, shape (n_sentences + 1,)
        Where each sentence begins in `ids`, followed by the length of `ids`.
    characters : array of int64, shape (n_sentences,), optional
        Number of characters of the words of each sentence, including unknown words.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    characters: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        offsets, ids = self.offsets, self.ids
        fits = len(offsets) and offsets[0] == 0 and offsets[-1] == len(ids) and (np.diff(offsets) >= 0).all()
        if not fits:
            raise ValueError("offsets do not divide the words")
        if ids.size and (ids.min() < 0 or ((ids == START) | (ids == END)).any()):
            raise ValueError("ids contain sentence boundaries or negative numbers")

    @classmethod
    def from_words(cls, vocabulary: WordVocabulary, sentences: Iterable[Words]) -> Sentences:
        """Return sentences given as words; sentences without words are kept."""
        lengths: list[int] = []
        characters: list[int] = []

        def counted() -> Iterator[Words]:
            for sentence in sentences:
                lengths.append(len(sentence))
                characters.append(sum(map(len, sentence)))
                yield sentence

        ids = vocabulary.word_ids(chain.from_iterable(counted()))
        return cls(ids, offsets_from_sizes(lengths), np.array(characters, np.int64))

    @classmethod
    def from_view(cls, vocabulary: WordVocabulary, view: TokenView) -> Sentences:
        """Return the sentences of a view; the vocabulary must have been learned from `words_of_texts`."""
        inner = np.ones(len(view), bool)
        inner[view.sentences[:-1]] = inner[view.sentences[1:] - 1] = False
        lengths = np.diff(view.sentences) - 2
        offsets = offsets_from_sizes(lengths)
        widths = offsets_from_sizes(view.ends - view.starts)
        characters = np.diff(widths[view.sentences])
        return cls(vocabulary.hash_ids(view.hashes[inner]), offsets, characters)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, which: NDArray[np.int64]) -> Sentences:
        """Return the sentences with these indices, in this order."""
        words, offsets = take_rows(self.offsets, which)
        characters = None if self.characters is None else self.characters[which]
        return Sentences(self.ids[words], offsets, characters)


def words_of_texts(texts: Iterable[str], tokenisation: Tokenisation) -> Iterator[list[str]]:
    """Yield the words of each sentence in some texts, as the tokenisation writes them."""
    for text in texts:
        sentence: list[str] = []
        for word in tokenisation.words(text):
            if word == SENTENCE_START:
                sentence = []
            elif word == SENTENCE_END:
                yield sentence
            else:
                sentence.append(word)


def words_of_lines(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the words of lines: one sentence per line, words separated by white space."""
    for line in lines:
        yield line.split()


Int32s = NDArray[np.int32]
Float32s = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class NgramLevel:
    """The n-grams of one length, sorted by context and then by last word.

    The *row* of an n-gram is its index here. Its *context*, the words before its last one, is a row of the
    level below. Single words have the empty context, row 0, and their rows are the numbers of the words.
    """

    begins: Ints  # int64 (n_contexts + 1,): where the n-grams of each context begin
    words: Int32s  # int32 (n,): the last word of each n-gram, ascending within a context
    # float32 (n,): ln P(last word | context); minus infinity for the start of a sentence, which is never
    # predicted
    log_probs: Float32s
    # float32 (n,): ln of the back-off weight of the n-gram as a context; 0 if no longer n-gram begins with
    # it, and for the whole longest level
    back_offs: Float32s

    def __len__(self) -> int:
        return len(self.words)

    @property
    def contexts(self) -> Int32s:
        """The row of each n-gram's context, int32, shape (n,)."""
        return context_rows(self.begins)


def context_rows(begins: Ints) -> Int32s:
    """Return the row of each n-gram's context, given where the n-grams of each context begin."""
    return np.repeat(np.arange(len(begins) - 1, dtype=np.int32), np.diff(begins))


def context_starts(contexts: NDArray[np.signedinteger], n_contexts: int) -> Ints:
    """Return where each context begins in an ascending column of contexts, shape (n_contexts + 1,)."""
    return offsets_from_sizes(np.bincount(contexts, minlength=n_contexts))


def suffix_rows(levels: list[tuple[Ints, Int32s]]) -> list[Int32s]:
    """Return, for each level, the rows of its n-grams without their first word in the level below.

    `levels` (list of (begins, words)): shortest n-grams first; see `NgramLevel`.
    Returns -1 if the level below lacks that n-gram; zeros for single words.
    """
    from disambig.language_models.kernels import find_rows

    suffixes = [np.zeros(len(levels[0][1]), np.int32)]
    if len(levels) > 1:
        suffixes.append(levels[1][1])
    for (below, words_below), (starts, words) in pairwise(levels[1:]):
        contexts = np.repeat(suffixes[-1], np.diff(starts))
        rows = np.empty(len(words), np.int32)
        find_rows(below, words_below, contexts, words, rows)
        suffixes.append(rows)
    return suffixes


_LOAD = 0.625
"""Load of the hash table: a failed lookup reads about four adjacent slots."""
FREE = 0xFFFFFFFFFFFFFFFF
"""The key of an empty slot."""
N_PARTS, N_SLOTS, SLOTS, STATES, N_WORDS, FIRSTS = range(6)
"""Places in the table: numbers, and the offsets of its sections."""
PARTS, PART = 8, 8
"""Where the description of the first component begins, and the length of a description."""
ROOT, START_STATE, KNOWN, LOG_WEIGHT, LOG_SHARE = range(5)
"""Places in the description of a component."""
_S32 = np.uint64(32)


class NgramArrays(NamedTuple):
    """The arrays that compiled functions read. A model has one component, a mixture two.

    Everything is in one array, because a compiled function pays for each array argument at every call, and
    more than for the lookup itself: with nine arrays it took three times as long. Floats are stored by their
    bits.

    Attributes
    ----------
    table : array of uint64
        `N_PARTS` holds the number of components; `N_SLOTS` and `N_WORDS` the numbers of slots and words;
        `SLOTS`, `STATES` and `FIRSTS` the offsets of these sections:

        * slots, two numbers each: a hash table of the n-grams of two or more words of all components,
          ``state << 32 | word`` (or `FREE`) and their `outcome`;
        * states: in the upper half the next shorter state plus one, or 0 for the state without words; in the
          lower 32 bits ln of the weight of the shorter state;
        * firsts, `N_WORDS` per component: the outcomes of single words.

        From `PARTS` on there are `PART` numbers per component: at `ROOT` its state without words; at
        `START_STATE` its state at the start of a sentence; at `KNOWN` the number of words it knows (others
        are its unknown word); at `LOG_WEIGHT` ln of its weight (float64); at `LOG_SHARE` ln of the share of
        its unknown word's probability that each word unknown to it receives (float64).
    """

    table: NDArray[np.uint64]


class _Component(NamedTuple):
    """The states of one model, and its n-grams of two or more words as keys and outcomes."""

    root: int
    states: list[NDArray[np.int32]]  # the state after each n-gram of each level
    shorter: NDArray[np.int32]
    back_offs: NDArray[np.float32]
    keys: NDArray[np.uint64]
    outcomes: NDArray[np.uint64]


def make_arrays(parts: Sequence[tuple[Sequence[NgramLevel], float]], n_words: int) -> NgramArrays:
    """Return the arrays of models (levels and ln weight each) over the first words of a vocabulary."""
    from disambig.language_models.kernels import place_outcomes

    components: list[_Component] = []
    for levels, _ in parts:
        components.append(_make_component(levels, sum(len(part.shorter) for part in components)))
    # each component gives the words that only the other one knows, and its unknown word, equal shares of
    # its probability of unknown words
    firsts, descriptions = [], []
    for part, (levels, log_weight) in zip(components, parts, strict=True):
        n_known = len(levels[0])
        share = np.float64(-np.log(n_words - n_known + 1.0))
        first = outcome(levels[0].log_probs, part.states[0])
        first[0] = outcome(levels[0].log_probs[:1] + np.float32(share), part.states[0][:1])[0]
        firsts.append(np.append(first, np.full(n_words - n_known, first[0])))
        numbers = [part.root, part.states[0][1], n_known, *_float_bits(log_weight, share), 0, 0, 0]
        descriptions.append(np.array(numbers, np.uint64))
    # the hash table of both components: their states, and so their keys, differ
    keys = np.concatenate([part.keys for part in components])
    slots = np.empty((max(int(len(keys) / _LOAD), len(keys) + 1), 2), np.uint64)
    slots[:, 0] = FREE
    place_outcomes(slots, keys, np.concatenate([part.outcomes for part in components]))
    states = [outcome(part.back_offs, part.shorter + 1) for part in components]
    sections = np.cumsum([PARTS + PART * len(components), slots.size, sum(map(len, states))]).tolist()
    head = np.zeros(PARTS, np.uint64)
    head[[N_PARTS, N_SLOTS, N_WORDS]] = len(components), len(slots), n_words
    head[[SLOTS, STATES, FIRSTS]] = sections
    return NgramArrays(np.concatenate([head, *descriptions, slots.ravel(), *states, *firsts]))


def reweighted(arrays: NgramArrays, log_weights: Sequence[float]) -> NgramArrays:
    """Return a copy of the arrays of the same models with other ln weights."""
    table = arrays.table.copy()
    table[PARTS + LOG_WEIGHT :: PART][: len(log_weights)] = _float_bits(*log_weights)
    return NgramArrays(table)


def _float_bits(*values: float) -> NDArray[np.uint64]:
    return np.array(values, np.float64).view(np.uint64)


def outcome(log_probs: NDArray[np.float32], states: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return the table values of n-grams: the next state in the upper half, the bits of ln P in the lower."""
    return states.astype(np.uint64) << _S32 | log_probs.view(np.uint32).astype(np.uint64)


def _make_component(levels: Sequence[NgramLevel], root: int) -> _Component:
    """Return the states of a component's contexts, and the transitions between them, sorted by key.

    A context gets a state of its own only if longer n-grams begin with it; another has the state of its
    longest suffix that does.
    """
    suffixes = suffix_rows([(level.begins, level.words) for level in levels])
    next_states: list[NDArray[np.int32]] = []
    context_states: list[NDArray[np.int32]] = []
    shorter, back_offs = [np.array([-1], np.int32)], [np.zeros(1, np.float32)]
    n = root + 1
    for level, longer, suffix in zip(levels, [*levels[1:], None], suffixes, strict=True):
        # the state after the n-gram without its first word, which is on the level below
        below = next_states[-1][suffix] if next_states else np.full(len(level), root, np.int32)
        is_context = np.diff(longer.begins) > 0 if longer is not None else np.zeros(len(level), bool)
        # valid for contexts only: `keys` reads no other
        numbers = (n - 1 + np.cumsum(is_context)).astype(np.int32)
        n += int(is_context.sum())
        context_states.append(numbers)
        shorter.append(below[is_context])
        back_offs.append(level.back_offs[is_context])
        next_states.append(np.where(is_context, numbers, below).astype(np.int32))
    keys = [
        states[level.contexts].astype(np.uint64) << _S32 | level.words.astype(np.uint64)
        for states, level in zip(context_states, levels[1:], strict=False)
    ]
    outcomes = [
        outcome(level.log_probs, states) for level, states in zip(levels[1:], next_states[1:], strict=True)
    ]
    empty = np.zeros(0, np.uint64)
    return _Component(
        root,
        next_states,
        np.concatenate(shorter),
        np.concatenate(back_offs),
        np.concatenate([empty, *keys]),
        np.concatenate([empty, *outcomes]),
    )


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """An n-gram model with back-off.

    P(w | h) is the probability of the n-gram ``h w`` if it exists; otherwise it is the back-off weight of
    ``h`` times P(w | h'), where h' is ``h`` without its first word.

    Attributes
    ----------
    vocabulary : WordVocabulary
        The words it can predict, except for the start of a sentence.
    levels : sequence of NgramLevel
        N-grams of one word, of two words, and so on.
    header : mapping
        Settings of the estimation: ``smoothing``, ``tokens``, ``discounts`` by length, ``fallbacks`` (the
        lengths whose counts did not allow the intended discounts), ``min_counts``, and entries of the caller.
    """

    vocabulary: WordVocabulary
    levels: Sequence[NgramLevel]
    header: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.levels)

    def __len__(self) -> int:
        return sum(map(len, self.levels))

    @cached_property
    def arrays(self) -> NgramArrays:
        """The arrays that the functions in `kernels` read; made on first use."""
        return make_arrays([(self.levels, 0.0)], len(self.vocabulary))

    def log_probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return ln P(word | context); ``</s>`` is the end of a sentence, ``<s>`` its start.

        This is slow; use `sentence_scores` or the functions in `kernels` for many words.
        """
        return log_probability(self.arrays, self.vocabulary, word, context)


def log_probability(
    arrays: NgramArrays, vocabulary: WordVocabulary, word: str, context: Sequence[str] = ()
) -> float:
    """Return ln P(word | context) from `arrays`; see `LanguageModel.log_probability`."""
    from disambig.language_models.kernels import word_log_probability

    special = {name: number for number, name in enumerate(SPECIAL)}
    *history, last = (
        special[name] if name in special else int(vocabulary.word_ids([name])[0]) for name in (*context, word)
    )
    return float(word_log_probability(arrays, np.array(history, np.int32), len(history), last))
