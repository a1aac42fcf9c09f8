"""Estimate language models from sentences: modified Kneser-Ney or absolute discounting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.counts import least_counts, sum_sorted_keys
from disambig.errors import UserError, nearest_first
from disambig.language_models.model import Int32s, LanguageModel, NgramLevel, context_rows, context_starts
from disambig.language_models.sentences import END, START, Sentences, WordVocabulary
from disambig.type_aliases import Floats, Ints

_S32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class CountedNgrams:
    """Counts of the n-grams of one length."""

    # as in `NgramLevel`
    begins: Ints
    words: Int32s
    counts: Ints  # int64 (n,): number of occurrences of each
    suffixes: Int32s  # int32 (n,): row, one level below, of the n-gram without its first word
    at_start: NDArray[np.bool_]  # (n,): whether the first word is the start of a sentence

    @property
    def contexts(self) -> Int32s:
        """The row of each n-gram's context, int32, shape (n,)."""
        return context_rows(self.begins)


def count_ngrams(sentences: Sentences, n_words: int, order: int) -> list[CountedNgrams]:
    """Count the n-grams of one to `order` words, including the sentence boundaries.

    The single words are all `n_words` words of the vocabulary, whether they occur or not. Sentences without
    words are ignored.
    """
    from disambig.language_models.kernels import find_rows

    text = _with_boundaries(sentences)
    counts = np.bincount(text, minlength=n_words)
    is_start = np.arange(n_words) == START
    begins, words = np.array([0, n_words], np.int64), np.arange(n_words, dtype=np.int32)
    levels = [CountedNgrams(begins, words, counts, np.zeros(n_words, np.int32), is_start)]
    # for each n-gram in the text: its row, and the position of its last word
    rows, ends = text, np.arange(len(text))
    for length in range(2, order + 1):
        inside = text[ends] != END
        rows, ends = rows[inside], ends[inside] + 1
        # context and word in one number: sorting these orders n-grams as `NgramLevel` requires
        keys = rows.astype(np.uint64) << _S32 | text[ends].astype(np.uint64)
        keys.sort()
        distinct, times = sum_sorted_keys(keys)
        del keys  # the largest array of this loop
        contexts, words = (distinct >> _S32).astype(np.int32), (distinct & _LOW).astype(np.int32)
        begins = context_starts(contexts, len(levels[-1].words))
        shorter, suffixes = levels[-1], words
        if length > 2:
            suffixes = np.empty(len(words), np.int32)
            find_rows(shorter.begins, shorter.words, shorter.suffixes[contexts], words, suffixes)
        levels.append(
            CountedNgrams(begins, words, times.astype(np.int64), suffixes, shorter.at_start[contexts])
        )
        if length < order:
            longer = np.empty(len(rows), np.int32)
            find_rows(begins, words, rows, text[ends], longer)
            rows = longer
    return levels


def _with_boundaries(sentences: Sentences) -> Int32s:
    """Return the words of all non-empty sentences with the sentence boundaries, int32."""
    lengths = np.diff(sentences.offsets)
    lengths = lengths[lengths > 0]
    text = np.empty(len(sentences.ids) + 2 * len(lengths), np.int32)
    ends = np.cumsum(lengths + 2)
    is_word = np.ones(len(text), bool)
    is_word[ends - 1] = is_word[ends - lengths - 2] = False
    text[ends - 1], text[ends - lengths - 2] = END, START
    text[is_word] = sentences.ids
    return text


def prune_ngrams(counted: list[CountedNgrams], kept: list[NDArray[np.bool_]]) -> list[tuple[Ints, Int32s]]:
    """Return ``(begins, words)`` of the kept n-grams; their contexts must be kept too."""
    levels = [(counted[0].begins, counted[0].words)]
    for kept_contexts, level, keep in zip(kept, counted[1:], kept[1:], strict=False):
        rows = np.cumsum(kept_contexts) - 1
        contexts = rows[level.contexts[keep]]
        levels.append((context_starts(contexts, int(kept_contexts.sum())), level.words[keep]))
    return levels


SMOOTHINGS = ("kneser_ney", "absolute")
FALLBACK = (0.5, 1.0, 1.5)
"""Discounts if the counts of counts allow no estimate, as in a text of a single sentence."""


def estimate_discounts(counts: NDArray[np.int64], smoothing: str) -> tuple[tuple[float, ...], bool]:
    """Return the discounts for counts 1, 2, and 3 or more, and whether they are the intended ones.

    With n_i the number of n-grams that occur i times, and Y = n_1 / (n_1 + 2 n_2):

    * modified Kneser-Ney (Chen and Goodman 1998, eq. 26): D_i = i - (i + 1) Y n_{i+1} / n_i;
    * absolute discounting (Ney, Essen and Kneser 1994): D = Y for all counts.

    If one of the three discounts is undefined (n_1, n_2 or n_3 is 0), not above 0, or larger than its count,
    all are Y; if n_1 or n_2 is 0, they are `FALLBACK`.
    """
    n = np.bincount(np.clip(counts, 0, 5), minlength=6).astype(np.float64)
    if not n[1] or not n[2]:
        return FALLBACK, False
    share = float(n[1] / (n[1] + 2 * n[2]))
    if smoothing == "absolute":
        return (share,) * 3, True
    if n[3]:
        discounts = tuple(float(i - (i + 1) * share * n[i + 1] / n[i]) for i in (1, 2, 3))
        if all(0 < discount <= i for i, discount in enumerate(discounts, 1)):
            return discounts, True
    return (share,) * 3, False


_MAX_ORDER = 5


def estimate(
    sentences: Sentences,
    vocabulary: WordVocabulary,
    *,
    order: int = 3,
    smoothing: str = "kneser_ney",
    min_counts: Mapping[int, int] | None = None,
) -> LanguageModel:
    """Estimate a model in which words depend on the ``order - 1`` words before them.

    Parameters
    ----------
    sentences : Sentences
        The text, as numbers of `vocabulary`.
    vocabulary : WordVocabulary
        The model predicts these words, an unknown word, and the end of a sentence.
    order : int
        From 1 to 5.
    smoothing : {"kneser_ney", "absolute"}
        Modified Kneser-Ney with three discounts per order (Chen and Goodman 1998), or absolute discounting
        with one. Both interpolate with the shorter context, and interpolate single words with the uniform
        distribution, as KenLM's lmplz does.
    min_counts : mapping of int to int
        For an order of 2 or more, the count below which n-grams are left out; it holds up to the next given
        order, and never falls with the order. N-grams that are left out are replaced by back-off.

    Raises
    ------
    UserError
        D652 (no words), D653 (order), D654 (smoothing).
    """
    if not 1 <= order <= _MAX_ORDER:
        raise UserError("D653", order=order, most=_MAX_ORDER)
    if smoothing not in SMOOTHINGS:
        raise UserError("D654", what="smoothing", name=smoothing, names=nearest_first(smoothing, SMOOTHINGS))
    if not len(sentences.ids):
        raise UserError("D652")
    if int(sentences.ids.max()) >= len(vocabulary):
        raise ValueError("a word number is outside the vocabulary")
    counted = count_ngrams(sentences, len(vocabulary), order)
    thresholds = _thresholds(min_counts, order)
    kept = [level.counts >= least for level, least in zip(counted, thresholds.values(), strict=True)]
    # uniform over all words but the sentence start
    lower = np.full(len(vocabulary), 1.0 / (len(vocabulary) - 1))
    lower[START] = 0.0
    discounts, fallbacks, probabilities, weights = [], [], [], []
    for length, level in enumerate(counted, 1):
        adjusted = _adjusted_counts(counted, length, smoothing)
        level_discounts, are_intended = estimate_discounts(adjusted, smoothing)
        shorter = lower[level.suffixes] if length > 1 else lower
        lower, weight = _interpolate(level, adjusted, level_discounts, kept[length - 1], shorter)
        probabilities.append(lower)
        weights.append(weight)
        discounts.append(list(level_discounts))
        fallbacks += [] if are_intended else [length]
    header: dict[str, Any] = {
        "smoothing": smoothing,
        "tokens": len(sentences.ids),
        "sentences": int((np.diff(sentences.offsets) > 0).sum()),
        "min_counts": {str(n): least for n, least in thresholds.items()},
        "discounts": discounts,
        "fallbacks": fallbacks,
    }
    return LanguageModel(vocabulary, _levels(counted, kept, probabilities, weights), header)


def _thresholds(min_counts: Mapping[int, int] | None, order: int) -> dict[int, int]:
    """Return the minimum count of each order: 0 for single words, and never falling for longer n-grams."""
    thresholds, least = {1: 0}, 1
    for n, asked in least_counts(min_counts, orders=order).items():
        if n > 1:
            thresholds[n] = least = max(least, asked)
    return thresholds


def _adjusted_counts(counted: list[CountedNgrams], length: int, smoothing: str) -> NDArray[np.int64]:
    """Return the counts to be discounted; Kneser-Ney counts the distinct preceding words of shorter n-grams.

    Nothing precedes the start of a sentence, so n-grams that begin with it keep their counts.
    """
    level = counted[length - 1]
    adjusted = level.counts
    if smoothing == "kneser_ney" and length < len(counted):
        before = np.bincount(counted[length].suffixes, minlength=len(level.words))
        adjusted = np.where(level.at_start, level.counts, before)
    if length == 1:
        adjusted = np.where(level.at_start, 0, adjusted)
    return adjusted


def _interpolate(
    level: CountedNgrams,
    adjusted: NDArray[np.int64],
    discounts: tuple[float, ...],
    kept: NDArray[np.bool_],
    shorter: Floats,
) -> tuple[Floats, Floats]:
    """Return P of each n-gram of a level, and the weight of the shorter context for each context.

    Chen and Goodman 1998, eq. 25: P(w | h) = max(c(h w) - D, 0) / sum_w c(h w) + gamma(h) P(w | h'), where
    gamma(h) is the discounted mass plus the mass of the n-grams left out, divided by the same sum.
    """
    contexts, n_contexts = level.contexts, len(level.begins) - 1
    discounted = np.array([0.0, *discounts])[np.minimum(adjusted, 3)]
    # pruned n-grams give their whole count to the shorter context, so that probabilities still sum to one
    discounted = np.where(kept, np.minimum(discounted, adjusted), adjusted)
    totals = np.bincount(contexts, adjusted, n_contexts)
    freed = np.bincount(contexts, discounted, n_contexts)
    has_kept = np.bincount(contexts[kept], minlength=n_contexts) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.where(has_kept & (totals > 0), freed / totals, 1.0)
        own = np.where(totals[contexts] > 0, (adjusted - discounted) / totals[contexts], 0.0)
    return own + weights[contexts] * shorter, weights


def _levels(
    counted: list[CountedNgrams],
    kept: list[NDArray[np.bool_]],
    probabilities: list[Floats],
    weights: list[Floats],
) -> list[NgramLevel]:
    """Return the kept n-grams of each length with their log-probabilities and back-off weights."""
    levels = []
    for n, (begins, words) in enumerate(prune_ngrams(counted, kept)):
        with np.errstate(divide="ignore"):  # log(0) for the sentence start, which is never predicted
            log_probs = np.log(probabilities[n][kept[n]]).astype(np.float32)
        back_offs = np.zeros(len(words), np.float32)
        if n + 1 < len(counted):
            with np.errstate(divide="ignore"):
                back_offs = np.log(weights[n + 1][kept[n]]).astype(np.float32)
        levels.append(NgramLevel(begins, words, log_probs, back_offs))
    return levels
