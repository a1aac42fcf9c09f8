"""Estimate language models, mix two models, and measure cross entropy and perplexity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.counts import least_counts, sum_sorted_keys
from disambig.errors import UserError, nearest_first
from disambig.language_models.model import (
    END,
    START,
    Int32s,
    LanguageModel,
    NgramArrays,
    NgramLevel,
    Sentences,
    Words,
    WordVocabulary,
    context_rows,
    context_starts,
    log_probability,
    make_arrays,
    reweighted,
)
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
    starts, words = np.array([0, n_words], np.int64), np.arange(n_words, dtype=np.int32)
    levels = [CountedNgrams(starts, words, counts, np.zeros(n_words, np.int32), is_start)]
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
        starts = context_starts(contexts, len(levels[-1].words))
        shorter, suffixes = levels[-1], words
        if length > 2:
            suffixes = np.empty(len(words), np.int32)
            find_rows(shorter.begins, shorter.words, shorter.suffixes[contexts], words, suffixes)
        levels.append(
            CountedNgrams(starts, words, times.astype(np.int64), suffixes, shorter.at_start[contexts])
        )
        if length < order:
            longer = np.empty(len(rows), np.int32)
            find_rows(starts, words, rows, text[ends], longer)
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
    kept = [level.counts >= minimum for level, minimum in zip(counted, thresholds.values(), strict=True)]
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
        "min_counts": {str(n): minimum for n, minimum in thresholds.items()},
        "discounts": discounts,
        "fallbacks": fallbacks,
    }
    return LanguageModel(vocabulary, _levels(counted, kept, probabilities, weights), header)


def _thresholds(min_counts: Mapping[int, int] | None, order: int) -> dict[int, int]:
    """Return the minimum count of each order: 0 for single words, and never falling for longer n-grams."""
    thresholds, minimum = {1: 0}, 1
    for n, count in least_counts(min_counts, orders=order).items():
        if n > 1:
            thresholds[n] = minimum = max(minimum, count)
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
        discounted_shares = np.where(totals[contexts] > 0, (adjusted - discounted) / totals[contexts], 0.0)
    return discounted_shares + weights[contexts] * shorter, weights


def _levels(
    counted: list[CountedNgrams],
    kept: list[NDArray[np.bool_]],
    probabilities: list[Floats],
    weights: list[Floats],
) -> list[NgramLevel]:
    """Return the kept n-grams of each length with their log-probabilities and back-off weights."""
    levels = []
    for n, (starts, words) in enumerate(prune_ngrams(counted, kept)):
        weight = weights[n + 1] if n + 1 < len(counted) else np.ones(len(kept[n]))
        with np.errstate(divide="ignore"):  # log(0) for the sentence start, which is never predicted
            logs = (np.log(values[kept[n]]).astype(np.float32) for values in (probabilities[n], weight))
            levels.append(NgramLevel(starts, words, *logs))
    return levels


class ScoresWords(Protocol):
    """A language model or a mixture."""

    @property
    def vocabulary(self) -> WordVocabulary:
        """The vocabulary of the model."""
        ...

    @property
    def arrays(self) -> NgramArrays:
        """The arrays that the functions in `kernels` read."""
        ...


@dataclass(frozen=True, slots=True)
class CrossEntropy:
    """The cost of some sentences in bits under a model.

    The end of each sentence is a predicted word, its start is not. An unknown word costs what the model gives
    to all unknown words together, because the model does not predict which of them it is. Figures of models
    with different vocabularies are therefore comparable only if unknown words are few; the known words are
    also counted separately.

    Attributes
    ----------
    bits : float
        Minus the sum of log2 P over all words and ends.
    known_bits : float
        The same without the unknown words.
    words, unknown, sentences : int
        Number of words, of unknown words among them, and of sentence ends.
    characters : int
        Number of characters of the words; 0 if it is not known.
    """

    bits: float
    known_bits: float
    words: int
    unknown: int
    sentences: int
    characters: int

    @property
    def per_word(self) -> float:
        """Bits per word, including unknown words and sentence ends."""
        return self.bits / (self.words + self.sentences)

    @property
    def per_known_word(self) -> float:
        """Bits per known word, including sentence ends."""
        return self.known_bits / (self.words - self.unknown + self.sentences)

    @property
    def per_character(self) -> float:
        """Bits per character; each end counts as one character. NaN if characters are not known."""
        return self.bits / (self.characters + self.sentences) if self.characters else math.nan

    @property
    def perplexity(self) -> float:
        """Two to the power of `per_word`: KenLM's perplexity including OOVs."""
        return 2.0**self.per_word

    @property
    def known_perplexity(self) -> float:
        """Two to the power of `per_known_word`: KenLM's perplexity excluding OOVs."""
        return 2.0**self.per_known_word


def cross_entropy(model: ScoresWords, sentences: Sentences) -> CrossEntropy:
    """Return the cost of sentences, given as numbers of the model's vocabulary.

    Raises
    ------
    UserError
        D652 if no sentence has words.
    """
    if not len(sentences.ids):
        raise UserError("D652")
    lengths = np.diff(sentences.offsets)
    if not lengths.all():  # sentences without words are ignored
        sentences = sentences.take(np.flatnonzero(lengths))
    known_score, _, unknown, n_unknown = _sentence_sums(model, sentences).sum(axis=0).tolist()
    characters = sentences.characters
    return CrossEntropy(
        bits=-(known_score + unknown) / math.log(2),
        known_bits=-known_score / math.log(2),
        words=len(sentences.ids),
        unknown=int(n_unknown),
        sentences=len(sentences),
        characters=0 if characters is None else int(characters.sum()),
    )


def perplexity(model: ScoresWords, sentences: Sentences) -> float:
    """Return two to the power of the bits per word; see `cross_entropy`."""
    return cross_entropy(model, sentences).perplexity


def sentence_scores(model: ScoresWords, sentences: Sentences) -> NDArray[np.float64]:
    """Return ln P of each sentence including its end, shape (n_sentences,)."""
    sums = _sentence_sums(model, sentences)
    return sums[:, 0] + sums[:, 2]


def _sentence_sums(model: ScoresWords, sentences: Sentences) -> NDArray[np.float64]:
    """Return the sums of `kernels.score_sentences`, shape (n_sentences, 4)."""
    from disambig.language_models.kernels import score_sentences

    sums = np.zeros((len(sentences), 4))
    score_sentences(model.arrays, sentences.ids, sentences.offsets, len(model.vocabulary), sums)
    return sums


def word_scores(arrays: NgramArrays, sentences: Sentences) -> NDArray[np.float64]:
    """Return ln P of each word and, after the words of each sentence, of its end."""
    from disambig.language_models.kernels import score_all

    scores = np.empty(len(sentences.ids) + len(sentences))
    score_all(arrays, sentences.ids, sentences.offsets, scores)
    return scores


_HALVINGS = 50
_HELD_OUT = 10
"""Without held-out sentences, one of so many is held out to choose the weight."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """P(w | h) = mu P_background(w | h) + (1 - mu) P_adaptation(w | h), for every word and history.

    See Gao, Suzuki and Yu 2006, section 2.3. The mixture is computed at query time, because no single
    back-off model equals it; a query costs twice as much as one of a single model. Decoders can use it like a
    model: they read its `arrays`.

    The vocabulary is the longer of the two, and must begin with the other one. A model gives all the words it
    does not know together the probability of its unknown word, in equal shares: each word that only the other
    model knows, and the remaining unknown word. The probabilities therefore sum to one over the vocabulary.
    With a weight of 1, the mixture equals the background bit for bit on all words that the background knows.

    Parameters
    ----------
    background, adaptation : LanguageModel
        `adapt` estimates the second one from sentences.
    weight : float
        The weight mu of the background, from 0 to 1; `best_weight` finds it.

    Raises
    ------
    UserError
        D656 (neither vocabulary begins with the other), D657 (weight).
    """

    background: LanguageModel
    adaptation: LanguageModel
    weight: float

    def __post_init__(self) -> None:
        check_weight(self.weight)
        first, second = self.background.vocabulary, self.adaptation.vocabulary
        if not first.begins_with(second) and not second.begins_with(first):
            raise UserError("D656", problem="neither vocabulary begins with all words of the other")

    @property
    def vocabulary(self) -> WordVocabulary:
        """The words of both models."""
        return max(self.background.vocabulary, self.adaptation.vocabulary, key=len)

    @cached_property
    def arrays(self) -> NgramArrays:
        """The arrays that the functions in `kernels` read; made on first use."""
        parts = [self.background.levels, self.adaptation.levels]
        return make_arrays(list(zip(parts, _log_weights(self.weight), strict=True)), len(self.vocabulary))

    def reweighted(self, weight: float) -> Mixture:
        """Return the same two models with another weight; the arrays are copied, not built again."""
        mixture = Mixture(self.background, self.adaptation, weight)
        # fills the cached property of a frozen dataclass, which does not allow assignment
        vars(mixture)["arrays"] = reweighted(self.arrays, _log_weights(weight))
        return mixture

    def best_weight(self, sentences: Sentences) -> float:
        """Return the weight that maximises the probability of sentences that neither model has seen.

        The sum of ln P over all words is concave in the weight, so bisection finds the zero of its slope.

        Raises
        ------
        UserError
            D656 for sentences without words.
        """
        if not len(sentences.ids):
            raise UserError("D656", problem="there are no held-out words to choose the weight on")
        background, adaptation = (
            word_scores(self.reweighted(weight).arrays, sentences) for weight in (1.0, 0.0)
        )
        # probabilities divided by the larger of the two: the slope is the same, and nothing underflows
        p = np.exp(np.minimum(background - adaptation, 0.0))
        q = np.exp(np.minimum(adaptation - background, 0.0))

        def rises(weight: float) -> bool:
            with np.errstate(divide="ignore", invalid="ignore"):
                slopes = (p - q) / (weight * p + (1 - weight) * q)
            return bool(np.nansum(slopes) > 0)

        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if rises(middle) else (low, middle)
        return (low + high) / 2

    def log_probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return ln P(word | context); see `LanguageModel.log_probability`."""
        return log_probability(self.arrays, self.vocabulary, word, context)


def check_weight(weight: object) -> None:
    """Raise an error if `weight` is not a valid weight. Raises D657."""
    if not isinstance(weight, int | float | np.floating) or not 0 <= weight <= 1:
        raise UserError("D657", weight=weight)


def adapt(
    background: LanguageModel,
    sentences: Sequence[Words],
    *,
    weight: float | None = None,
    held_out: Sequence[Words] | None = None,
    order: int | None = None,
    smoothing: str = "kneser_ney",
    min_counts: Mapping[int, int] | None = None,
) -> Mixture:
    """Mix a background model with a model of some sentences; the vocabulary has the words of both.

    Parameters
    ----------
    background : LanguageModel
        Estimated from much text of other domains.
    sentences : sequence of sequence of str
        Words of text of the target domain, tokenised as for the background.
    weight : float, optional
        Weight of the background. By default it is chosen on `held_out` or, without these, on every tenth
        sentence with a model of the other sentences.
    held_out : sequence of sequence of str, optional
        Sentences of the target domain that are not in `sentences`.
    order, smoothing, min_counts
        As in `estimate`; the default order is that of the background.

    Raises
    ------
    UserError
        D652 (no words), D653, D654, D656 (too few sentences to hold some out), D657.
    """
    vocabulary = background.vocabulary.extended(word for sentence in sentences for word in sentence)
    numbered = Sentences.from_words(vocabulary, [sentence for sentence in sentences if len(sentence)])

    def mixed(text: Sentences, mu: float) -> Mixture:
        length = background.order if order is None else order
        model = estimate(text, vocabulary, order=length, smoothing=smoothing, min_counts=min_counts)
        return Mixture(background, model, mu)

    if weight is not None:
        check_weight(weight)
        return mixed(numbered, weight)
    if held_out is not None:
        mixture = mixed(numbered, 0.5)
        return mixture.reweighted(mixture.best_weight(Sentences.from_words(vocabulary, held_out)))
    is_held_out = np.arange(len(numbered)) % _HELD_OUT == 1
    if not is_held_out.any():
        problem = "choosing the weight needs two sentences: give more sentences, or the weight"
        raise UserError("D656", problem=problem)
    # the weight must be chosen on unseen sentences; the final model then learns from all of them
    mixture = mixed(numbered.take(np.flatnonzero(~is_held_out)), 0.5)
    return mixed(numbered, mixture.best_weight(numbered.take(np.flatnonzero(is_held_out))))


def _log_weights(weight: float) -> list[float]:
    """Return the logarithms of the weights of background and adaptation."""
    with np.errstate(divide="ignore"):
        return np.log([weight, 1.0 - weight]).tolist()
