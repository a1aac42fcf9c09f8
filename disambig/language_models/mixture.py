"""Cross entropy and perplexity, and mixtures of two models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.language_models.estimation import estimate
from disambig.language_models.model import (
    LanguageModel,
    NgramArrays,
    log_probability,
    make_arrays,
    reweighted,
)
from disambig.language_models.sentences import Sentences, Words, WordVocabulary


class ScoresWords(Protocol):
    """A model or a mixture."""

    @property
    def vocabulary(self) -> WordVocabulary:
        """The words that it knows."""
        ...

    @property
    def arrays(self) -> NgramArrays:
        """What `lookup_kernels` ask."""
        ...


@dataclass(frozen=True, slots=True)
class CrossEntropy:
    """How many bits some sentences cost under a model.

    The end of each sentence is a word that is foreseen, its start is not. An unknown word costs what the
    model gives to all unknown words together: which of them it is, is not foreseen. So figures of models
    with different vocabularies compare only where there are few, and the words that are known are counted
    apart.

    Attributes
    ----------
    bits : float
        Minus the sum of log2 P, of all words and ends.
    known_bits : float
        The same without unknown words.
    words, unknown, sentences : int
        How many words there are, how many of them are unknown, and how many ends.
    characters : int
        Characters of the words; 0 where they are not known.
    """

    bits: float
    known_bits: float
    words: int
    unknown: int
    sentences: int
    characters: int

    @property
    def per_word(self) -> float:
        """Bits a word, unknown words and ends among them."""
        return self.bits / (self.words + self.sentences)

    @property
    def per_known_word(self) -> float:
        """Bits a word that is known, ends among them."""
        return self.known_bits / (self.words - self.unknown + self.sentences)

    @property
    def per_character(self) -> float:
        """Bits a character of words, each end counted as one; NaN where characters are not known."""
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
    """Return what sentences, by the numbers of the model's vocabulary, cost under a model or a mixture.

    Raises
    ------
    UserError
        D652, where there is no sentence with words.
    """
    from disambig.language_models.kernels import score_sentences

    lengths = np.diff(sentences.offsets)
    if not len(sentences.ids):
        raise UserError("D652")
    if not lengths.all():  # no sentences
        sentences = sentences.take(np.flatnonzero(lengths))
    sums = np.zeros((len(sentences), 4))
    score_sentences(model.arrays, sentences.ids, sentences.offsets, len(model.vocabulary), sums)
    known, _, unknown, n_unknown = (float(value) for value in sums.sum(axis=0))
    characters = sentences.characters
    return CrossEntropy(
        bits=-(known + unknown) / math.log(2),
        known_bits=-known / math.log(2),
        words=len(sentences.ids),
        unknown=int(n_unknown),
        sentences=len(sentences),
        characters=0 if characters is None else int(characters.sum()),
    )


def perplexity(model: ScoresWords, sentences: Sentences) -> float:
    """Return two to the power of the bits a word; see `cross_entropy`."""
    return cross_entropy(model, sentences).perplexity


def sentence_scores(model: ScoresWords, sentences: Sentences) -> NDArray[np.float64]:
    """Return ln P of each sentence with its end, shape (n_sentences,)."""
    from disambig.language_models.kernels import score_sentences

    sums = np.zeros((len(sentences), 4))
    score_sentences(model.arrays, sentences.ids, sentences.offsets, len(model.vocabulary), sums)
    return sums[:, 0] + sums[:, 2]


def word_scores(arrays: NgramArrays, sentences: Sentences) -> NDArray[np.float64]:
    """Return ln P of each word and, behind the words of each sentence, of its end."""
    from disambig.language_models.kernels import score_all

    scores = np.empty(len(sentences.ids) + len(sentences))
    score_all(arrays, sentences.ids, sentences.offsets, scores)
    return scores


_HALVINGS = 50
_HELD_OUT = 10


@dataclass(frozen=True, eq=False)
class Mixture:
    """P(w | h) = mu P_background(w | h) + (1 - mu) P_adaptation(w | h), for every word and history.

    Gao, Suzuki and Yu 2006, section 2.3. It is computed when asked for, as no single model with back-off is
    that mixture; an answer costs two of a model's. To decoders it is one: `arrays` is what `lookup_kernels`
    take.

    The vocabulary is the longer of the two, which must begin with the other. All the words that a model
    does not know have together the probability of its unknown word: each of those that the other one
    brings, and the unknown word that stays, has an equal part. So it sums to one over the vocabulary; with
    a weight of 1 it is the background for each word that this knows, to the bit.

    Parameters
    ----------
    background, adaptation : LanguageModel
        `adapt` makes the second one of sentences.
    weight : float
        mu, from 0 to 1; `best_weight` finds it.

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
            raise UserError("D656", problem="neither vocabulary begins with all the words of the other")

    @property
    def vocabulary(self) -> WordVocabulary:
        """The words of both."""
        return max(self.background.vocabulary, self.adaptation.vocabulary, key=len)

    @cached_property
    def arrays(self) -> NgramArrays:
        """What the functions of `lookup_kernels` ask; made when first asked for."""
        parts = [self.background.levels, self.adaptation.levels]
        return make_arrays(list(zip(parts, _log_weights(self.weight), strict=True)), len(self.vocabulary))

    def reweighted(self, weight: float) -> Mixture:
        """Return the same two models with another weight; what is asked is copied, not made again."""
        again = Mixture(self.background, self.adaptation, weight)
        vars(again)["arrays"] = reweighted(self.arrays, _log_weights(weight))
        return again

    def best_weight(self, sentences: Sentences) -> float:
        """Return the weight under which sentences that neither model has seen are most probable.

        The sum of ln P over all words is concave in the weight: its slope is halved down to zero.

        Raises
        ------
        UserError
            D656, for sentences without words.
        """
        if not len(sentences.ids):
            raise UserError("D656", problem="there are no held-out words to choose the weight by")
        one, other = (word_scores(self.reweighted(weight).arrays, sentences) for weight in (1.0, 0.0))
        likelier = np.exp(np.minimum(one - other, 0.0)), np.exp(np.minimum(other - one, 0.0))

        def rises(weight: float) -> bool:
            with np.errstate(divide="ignore", invalid="ignore"):
                slopes = (likelier[0] - likelier[1]) / (weight * likelier[0] + (1 - weight) * likelier[1])
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
    """Refuse what is no weight of a background.

    Raises
    ------
    UserError
        D657.
    """
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
    """Mix a background with a model of some sentences, over the words of both.

    Parameters
    ----------
    background : LanguageModel
        Estimated from much text of other kinds.
    sentences : sequence of sequence of str
        The words of text of the kind at hand, cut as those of the background.
    weight : float, optional
        Of the background. By default it is chosen on `held_out`, and without these on each tenth sentence,
        with a model of the others.
    held_out : sequence of sequence of str, optional
        Sentences of the kind at hand that are not among `sentences`.
    order, smoothing, min_counts
        As in `estimate`; the order is the background's by default.

    Raises
    ------
    UserError
        D652 (no words), D653, D654, D656 (too few sentences to hold some out), D657.
    """
    vocabulary = background.vocabulary.extended(word for sentence in sentences for word in sentence)
    told = Sentences.from_words(vocabulary, [sentence for sentence in sentences if len(sentence)])

    def mixed(text: Sentences, mu: float) -> Mixture:
        length = background.order if order is None else order
        model = estimate(text, vocabulary, order=length, smoothing=smoothing, min_counts=min_counts)
        return Mixture(background, model, mu)

    if weight is not None:
        check_weight(weight)
        return mixed(told, weight)
    if held_out is not None:
        found = mixed(told, 0.5)
        return found.reweighted(found.best_weight(Sentences.from_words(vocabulary, held_out)))
    apart = np.arange(len(told)) % _HELD_OUT == 1
    if not apart.any():
        raise UserError("D656", problem="to choose the weight takes two sentences: give more, or the weight")
    found = mixed(told.take(np.flatnonzero(~apart)), 0.5)
    return mixed(told, found.best_weight(told.take(np.flatnonzero(apart))))


def _log_weights(weight: float) -> list[float]:
    with np.errstate(divide="ignore"):
        return np.log([weight, 1.0 - weight]).tolist()
