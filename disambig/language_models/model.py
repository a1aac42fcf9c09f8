"""A language model: its n-grams by length, and the arrays that compiled functions read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.language_models.sentences import WordVocabulary

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class NgramLevel:
    """The n-grams of one length, by context and then by last word.

    An n-gram's *row* is its place here. Its *context*, the words before its last one, is a row of the level
    below; of single words the context is empty, row 0, and their rows are the numbers of the words.

    Attributes
    ----------
    begins : array of int64, shape (n_contexts + 1,)
        Where the n-grams with each context begin.
    words : array of int32, shape (n,)
        The last word of each; ascending within a context.
    log_probs : array of float32, shape (n,)
        ln P(last word | context); minus infinity for the start of a sentence, which no model predicts.
    back_offs : array of float32, shape (n,)
        ln of the weight, as a context, of what is backed off to; 0 where no longer n-gram begins so, and
        throughout the longest level.
    """

    begins: Longs
    words: Ints
    log_probs: Floats
    back_offs: Floats

    def __len__(self) -> int:
        return len(self.words)

    @property
    def contexts(self) -> Ints:
        """The row of each n-gram's context, int32, shape (n,)."""
        return np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), np.diff(self.begins))


def context_starts(contexts: NDArray[np.signedinteger], n_contexts: int) -> Longs:
    """Return where each context begins in an ascending column of contexts, shape (n_contexts + 1,)."""
    counts = np.bincount(contexts, minlength=n_contexts)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def suffix_rows(levels: list[tuple[Longs, Ints]]) -> list[Ints]:
    """Return for each level the rows, one level below, of its n-grams without their first word.

    Parameters
    ----------
    levels : list of (begins, words)
        Shortest n-grams first; see `Level`.

    Returns
    -------
    list of arrays of int32
        -1 where the level below lacks that n-gram; zeros for single words.
    """
    from disambig.language_models.kernels import find_rows

    found = [np.zeros(len(levels[0][1]), np.int32)]
    if len(levels) > 1:
        found.append(levels[1][1])
    for (below, words_below), (begins, words) in pairwise(levels[1:]):
        contexts = np.repeat(found[-1], np.diff(begins))
        rows = np.empty(len(words), np.int32)
        find_rows(below, words_below, contexts, words, rows)
        found.append(rows)
    return found


_LOAD = 0.625
"""How full the slots are: for an n-gram that is not there some four of them are looked at, side by side."""
FREE = 0xFFFFFFFFFFFFFFFF
"""The key of a slot in which nothing is."""
N_PARTS, N_SLOTS, SLOTS, STATES, N_WORDS, FIRSTS = range(6)
"""Places in the table: numbers, and where stretches begin."""
PARTS, PART = 8, 8
"""Where the first part is described, and how long that of each is."""
ROOT, START_STATE, KNOWN, LOG_WEIGHT, LOG_SHARE = range(5)
"""Places in the description of a part."""
_S32 = np.uint64(32)


class NgramArrays(NamedTuple):
    """What `lookup_kernels` ask. Numba takes it as an argument; a mixture has two parts, a model one.

    All of it is one array, for a compiled function pays at each call for each array it is given, and more
    than for all that it looks up: with nine it took three times as long. A float stands in it by its bits.

    Attributes
    ----------
    table : array of uint64
        At `N_PARTS` how many models it holds; at `N_SLOTS` and `N_WORDS` numbers; at `SLOTS`, `STATES` and
        `FIRSTS` where these begin:

        * slots, two numbers each: the n-grams of two words and more of all parts by hash, ``state << 32 |
          word`` (or `FREE`) and their `outcome`;
        * states: above the next shorter one plus one, or 0 for that without words; below, in 32 bits, ln of
          the weight of the shorter one;
        * firsts, `N_WORDS` for each part: the outcomes of single words.

        From `PARTS` on, `PART` numbers for each part: at `ROOT` its state without words; at `START_STATE`
        that at the start of a sentence; at `KNOWN` how many words it knows, others being its unknown word; at
        `LOG_WEIGHT` ln of its weight (float64); at `LOG_SHARE` ln of the part of its unknown word's
        probability that each word has that is unknown to it (float64).
    """

    table: NDArray[np.uint64]


class _Part(NamedTuple):
    root: int
    states: list[NDArray[np.int32]]  # after each n-gram of each level
    shorter: NDArray[np.int32]
    back_offs: NDArray[np.float32]
    keys: NDArray[np.uint64]
    outcomes: NDArray[np.uint64]


def make_arrays(parts: Sequence[tuple[Sequence[NgramLevel], float]], n_words: int) -> NgramArrays:
    """Return the arrays of models over the first words of a vocabulary of `n_words`, and their ln weights."""
    from disambig.language_models.kernels import place_outcomes

    made: list[_Part] = []
    for levels, _ in parts:
        made.append(_make_part(levels, sum(len(part.shorter) for part in made)))
    firsts, described = [], []
    for part, (levels, log_weight) in zip(made, parts, strict=True):
        known = len(levels[0])
        share = np.float64(-np.log(n_words - known + 1.0))
        first = outcome(levels[0].log_probs, part.states[0])
        first[0] = outcome(levels[0].log_probs[:1] + np.float32(share), part.states[0][:1])[0]
        firsts.append(np.append(first, np.full(n_words - known, first[0])))
        numbers = [part.root, part.states[0][1], known, *_bits(log_weight, share), 0, 0, 0]
        described.append(np.array(numbers, np.uint64))
    keys = np.concatenate([part.keys for part in made])
    slots = np.empty((max(int(len(keys) / _LOAD), len(keys) + 1), 2), np.uint64)
    slots[:, 0] = FREE
    place_outcomes(slots, keys, np.concatenate([part.outcomes for part in made]))
    states = [outcome(part.back_offs, part.shorter + 1) for part in made]
    places = np.cumsum([PARTS + PART * len(made), slots.size, sum(map(len, states))]).tolist()
    head = np.zeros(PARTS, np.uint64)
    head[[N_PARTS, N_SLOTS, N_WORDS]] = len(made), len(slots), n_words
    head[[SLOTS, STATES, FIRSTS]] = places
    return NgramArrays(np.concatenate([head, *described, slots.ravel(), *states, *firsts]))


def reweighted(arrays: NgramArrays, log_weights: Sequence[float]) -> NgramArrays:
    """Return the arrays of the same models with other ln weights: a copy."""
    table = arrays.table.copy()
    table[PARTS + LOG_WEIGHT :: PART][: len(log_weights)] = _bits(*log_weights)
    return NgramArrays(table)


def _bits(*values: float) -> NDArray[np.uint64]:
    return np.array(values, np.float64).view(np.uint64)


def outcome(log_probs: NDArray[np.float32], states: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return what a table holds of n-grams: the state behind each, and below the bits of its ln P."""
    return states.astype(np.uint64) << _S32 | log_probs.view(np.uint32).astype(np.uint64)


def _make_part(levels: Sequence[NgramLevel], root: int) -> _Part:
    suffixes = suffix_rows([(level.begins, level.words) for level in levels])
    after: list[NDArray[np.int32]] = []
    own: list[NDArray[np.int32]] = []
    shorter, back_offs = [np.array([-1], np.int32)], [np.zeros(1, np.float32)]
    n = root + 1
    for level, longer, suffix in zip(levels, [*levels[1:], None], suffixes, strict=True):
        below = after[-1][suffix] if after else np.full(len(level), root, np.int32)
        some = np.diff(longer.begins) > 0 if longer is not None else np.zeros(len(level), bool)
        numbers = (n - 1 + np.cumsum(some)).astype(np.int32)
        n += int(some.sum())
        own.append(numbers)
        shorter.append(below[some])
        back_offs.append(level.back_offs[some])
        after.append(np.where(some, numbers, below).astype(np.int32))
    keys = [
        states[level.contexts].astype(np.uint64) << _S32 | level.words.astype(np.uint64)
        for states, level in zip(own, levels[1:], strict=False)
    ]
    outcomes = [outcome(level.log_probs, states) for level, states in zip(levels[1:], after[1:], strict=True)]
    nothing = np.zeros(0, np.uint64)
    return _Part(
        root,
        after,
        np.concatenate(shorter),
        np.concatenate(back_offs),
        np.concatenate([nothing, *keys]),
        np.concatenate([nothing, *outcomes]),
    )


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """An n-gram model with back-off.

    P(w | h) is that of the n-gram ``h w`` where it is there; else the back-off weight of ``h`` times
    P(w | h'), where h' is ``h`` without its first word.

    Attributes
    ----------
    vocabulary : Vocabulary
        What it can predict, but for the start of a sentence.
    levels : sequence of Level
        N-grams of one word, of two, and so on.
    header : mapping
        How it was estimated: ``smoothing``, ``tokens``, ``discounts`` by length, ``fallbacks`` (the lengths
        whose counts allowed no discounts as intended), ``min_counts``; and what its maker adds.
    """

    vocabulary: WordVocabulary
    levels: Sequence[NgramLevel]
    header: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> int:
        """The length of its longest n-grams."""
        return len(self.levels)

    def __len__(self) -> int:
        return sum(map(len, self.levels))

    @cached_property
    def arrays(self) -> NgramArrays:
        """What the functions of `lookup_kernels` ask; made when first asked for."""
        return make_arrays([(self.levels, 0.0)], len(self.vocabulary))

    def log_probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return ln P(word | context), for people; ``</s>`` is the end of a sentence, ``<s>`` its start.

        Slow: for many words there are `score_sentences` and the functions of `lookup_kernels`.
        """
        return log_probability(self.arrays, self.vocabulary, word, context)


def log_probability(
    arrays: NgramArrays, vocabulary: WordVocabulary, word: str, context: Sequence[str] = ()
) -> float:
    """Return ln P(word | context) by what `arrays` hold; see `LanguageModel.log_probability`."""
    from disambig.language_models import kernels as lookup_kernels
    from disambig.language_models.sentences import SPECIAL

    ends = {word: at for at, word in enumerate(SPECIAL)}
    ids = [ends[each] if each in ends else int(vocabulary.word_ids([each])[0]) for each in (*context, word)]
    history = np.array(ids[:-1], np.int32)
    return float(lookup_kernels.word_log_probability(arrays, history, len(history), ids[-1]))
