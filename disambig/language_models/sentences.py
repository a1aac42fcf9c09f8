"""Sentences as numbers of words, by columns: what models are estimated from and judged by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from disambig.language_models.vocabulary import END, START, Vocabulary
from disambig.text.view import SENTENCE_END, SENTENCE_START, Tokenisation, TokenView

Words = Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """Some sentences as numbers of a vocabulary; their ends are not among the words.

    Attributes
    ----------
    ids : array of int32, shape (n_words,)
        The words of all sentences; never the numbers of `START` and `END`.
    offsets : array of int64, shape (n_sentences + 1,)
        Where each sentence begins in `ids`, and their length.
    characters : array of int64, shape (n_sentences,), optional
        How many characters the words of each have, the unknown ones among them.
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
            raise ValueError("ids hold the end of a sentence, or negative numbers")

    @classmethod
    def of(cls, vocabulary: Vocabulary, sentences: Iterable[Words]) -> Sentences:
        """Return sentences, given as words, by the numbers of a vocabulary; those without words too."""
        lengths: list[int] = []
        characters: list[int] = []

        def counted() -> Iterator[Words]:
            for sentence in sentences:
                lengths.append(len(sentence))
                characters.append(sum(map(len, sentence)))
                yield sentence

        ids = vocabulary.ids_of(chain.from_iterable(counted()))
        return cls(ids, np.cumsum([0, *lengths], dtype=np.int64), np.array(characters, np.int64))

    @classmethod
    def of_view(cls, vocabulary: Vocabulary, view: TokenView) -> Sentences:
        """Return the sentences of a view, whose vocabulary was learned from `words_of_texts`."""
        inner = np.ones(len(view), bool)
        inner[view.sentences[:-1]] = inner[view.sentences[1:] - 1] = False
        lengths = np.diff(view.sentences) - 2
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        widths = np.concatenate([np.zeros(1, np.int64), np.cumsum(view.ends - view.starts, dtype=np.int64)])
        characters = np.diff(widths[view.sentences])
        return cls(vocabulary.ids_of_hashes(view.hashes[inner]), offsets, characters)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, which: NDArray[np.int64]) -> Sentences:
        """Return some of the sentences, in the order of their indices."""
        first, lengths = self.offsets[which], np.diff(self.offsets)[which]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        words = np.repeat(first - offsets[:-1], lengths) + np.arange(offsets[-1])
        characters = None if self.characters is None else self.characters[which]
        return Sentences(self.ids[words], offsets, characters)


def words_of_texts(texts: Iterable[str], tokenisation: Tokenisation) -> Iterator[list[str]]:
    """Yield the words of each sentence of some texts, as the tokenisation writes them."""
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
    """Yield the words of lines, one sentence each, whose words have blanks between them."""
    for line in lines:
        yield line.split()
