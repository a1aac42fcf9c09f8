"""Vocabularies of language models, and sentences as numbers of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from disambig.data import HashVocabulary, PackedStrings, offsets_from_sizes, strings_from_state, take_rows
from disambig.text import SENTENCE_END, SENTENCE_START, Tokenisation, TokenView, hash_words
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
        return isinstance(other, WordVocabulary) and (self is other or other.begins_with(self) == len(other))

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

    def begins_with(self, other: WordVocabulary) -> int:
        """Return the number of words if the first ones are those of `other`, else 0."""
        n, own, others = len(other), self.spellings, other.spellings
        if n > len(self) or not np.array_equal(own.ends[:n], others.ends):
            return 0
        return len(self) if np.array_equal(own.letters[: len(others.letters)], others.letters) else 0

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
