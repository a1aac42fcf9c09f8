"""Cross entropy, perplexity, and mixtures of two models."""

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
    from disambig.language_models.kernels import score_sentences

    lengths = np.diff(sentences.offsets)
    if not len(sentences.ids):
        raise UserError("D652")
    if not lengths.all():  # sentences without words are ignored
        sentences = sentences.take(np.flatnonzero(lengths))
    sums = np.zeros((len(sentences), 4))
    score_sentences(model.arrays, sentences.ids, sentences.offsets, len(model.vocabulary), sums)
    known_score, _, unknown, n_unknown = (float(value) for value in sums.sum(axis=0))
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
    from disambig.language_models.kernels import score_sentences

    sums = np.zeros((len(sentences), 4))
    score_sentences(model.arrays, sentences.ids, sentences.offsets, len(model.vocabulary), sums)
    return sums[:, 0] + sums[:, 2]


def word_scores(arrays: NgramArrays, sentences: Sentences) -> NDArray[np.float64]:
    """Return ln P of each word and, after the words of each sentence, of its end."""
    from disambig.language_models.kernels import score_all

    scores = np.empty(len(sentences.ids) + len(sentences))
    score_all(arrays, sentences.ids, sentences.offsets, scores)
    return scores


_HALVINGS = 50
_HELD_OUT = 10


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
        raise UserError(
            "D656", problem="choosing the weight needs two sentences: give more sentences, or the weight"
        )
    # the weight must be chosen on unseen sentences; the final model then learns from all of them
    mixture = mixed(numbered.take(np.flatnonzero(~is_held_out)), 0.5)
    return mixed(numbered, mixture.best_weight(numbered.take(np.flatnonzero(is_held_out))))


def _log_weights(weight: float) -> list[float]:
    """Return the logarithms of the weights of background and adaptation."""
    with np.errstate(divide="ignore"):
        return np.log([weight, 1.0 - weight]).tolist()
