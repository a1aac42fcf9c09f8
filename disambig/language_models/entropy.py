"""How well a model foresees sentences: cross entropy and perplexity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.language_models.arrays import NgramArrays
from disambig.language_models.sentences import Sentences
from disambig.language_models.vocabulary import Vocabulary


class Foresees(Protocol):
    """A model or a mixture."""

    @property
    def vocabulary(self) -> Vocabulary:
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


def cross_entropy(model: Foresees, sentences: Sentences) -> CrossEntropy:
    """Return what sentences, by the numbers of the model's vocabulary, cost under a model or a mixture.

    Raises
    ------
    UserError
        D652, where there is no sentence with words.
    """
    from disambig.language_models.lookup_kernels import score_sentences

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


def perplexity(model: Foresees, sentences: Sentences) -> float:
    """Return two to the power of the bits a word; see `cross_entropy`."""
    return cross_entropy(model, sentences).perplexity


def sentence_scores(model: Foresees, sentences: Sentences) -> NDArray[np.float64]:
    """Return ln P of each sentence with its end, shape (n_sentences,)."""
    from disambig.language_models.lookup_kernels import score_sentences

    sums = np.zeros((len(sentences), 4))
    score_sentences(model.arrays, sentences.ids, sentences.offsets, len(model.vocabulary), sums)
    return sums[:, 0] + sums[:, 2]


def word_scores(arrays: NgramArrays, sentences: Sentences) -> NDArray[np.float64]:
    """Return ln P of each word and, behind the words of each sentence, of its end."""
    from disambig.language_models.lookup_kernels import score_all

    scores = np.empty(len(sentences.ids) + len(sentences))
    score_all(arrays, sentences.ids, sentences.offsets, scores)
    return scores
