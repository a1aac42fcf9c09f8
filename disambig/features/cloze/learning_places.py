"""What a model of words in context is learned from: places of running text, and who competes for them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.features.cloze.learning_settings import EMPTY, NEGATIVES, Settings
from disambig.features.cloze.vocabulary import Vocabulary
from disambig.text.view import END_HASH, START_HASH

Numbers = NDArray[np.int32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Who competes for the place of each word, and for a place without one; what is right comes first.

    Attributes
    ----------
    offsets : array of int64, shape (n_words + 2,)
    numbers : array of int32
        The last list is that of no word at all, whose number is `n_words`.
    """

    offsets: Ints
    numbers: Numbers

    @classmethod
    def of(cls, n_words: int, rivals: tuple[Ints, Ints], none_beside: Ints) -> Candidates:
        """Join each word, its rivals, and no word and one another for the words of `none_beside`.

        Parameters
        ----------
        rivals : (offsets, numbers)
            Of each word, shapes ``(n_words + 1,)`` and ``(n_rivals,)``.

        Raises
        ------
        ValueError
            Where rivals are none of words, or none of `n_words`.
        """
        offsets, numbers = (np.asarray(part, np.int64) for part in rivals)
        whole = len(offsets) == n_words + 1 and offsets[0] == 0 and offsets[-1] == len(numbers)
        if not whole or (np.diff(offsets) < 0).any():
            raise ValueError(f"rivals of {len(offsets) - 1} words, and there are {n_words}")
        for named in (numbers, none_beside):
            if len(named) and not (named.min() >= 0 and named.max() < n_words):
                raise ValueError("a number that no word has")
        lists = [[word, *numbers[offsets[word] : offsets[word + 1]].tolist()] for word in range(n_words)]
        beside = none_beside.tolist()
        for word in beside:
            lists[word] += [n_words, *beside]
        lists.append([n_words, *beside])
        lists = [list(dict.fromkeys(each)) for each in lists]
        begins = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
        return cls(begins.astype(np.int64), np.array([c for each in lists for c in each], np.int32))

    def digest(self) -> str:
        """Return a hash of all lists."""
        return hashlib.sha256(self.offsets.tobytes() + self.numbers.tobytes()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The places of a batch.

    Attributes
    ----------
    words : array of int32, shape (n_different,)
        The different words of the text.
    around : array of int32, shape (n, places)
        The words around each place, the nearest of the left first, as places in `words`.
    truth : array of int32, shape (n,)
        What stands there.
    negatives : array of int32, shape (n_negatives,)
        Words that all places compete with, each once.
    """

    words: Numbers
    around: Numbers
    truth: Numbers
    negatives: Numbers


class Material:
    """Blocks of text as numbers of words.

    Parameters
    ----------
    blocks : sequence of arrays of unsigned 16-bit or of 32-bit integers
        Whole sentences, their ends included.
    asked : array of bool, shape (n_words,)
        Which words are learned to be told from others; the rest only stand beside them.

    Attributes
    ----------
    sizes : array of int64, shape (n_blocks,)
    digest : str
        Of text, words and what is asked.

    Raises
    ------
    ValueError
        Without any text, for a vocabulary without sentence ends, or a number that it does not have.
    """

    def __init__(
        self,
        blocks: Sequence[NDArray[np.uint16] | Numbers],
        vocabulary: Vocabulary,
        asked: NDArray[np.bool_] | None,
        settings: Settings,
    ) -> None:
        self._blocks, self._settings = blocks, settings
        self._outside, self._nothing = vocabulary.outside, len(vocabulary)
        ends = vocabulary.of_hashes(np.array([START_HASH, END_HASH], np.uint64))
        if ends.min() < 0:
            raise ValueError("a vocabulary without sentence ends")
        self._start = int(ends[0])
        self._asked = np.zeros(vocabulary.outside + 1, bool)
        self._asked[: len(vocabulary)] = True if asked is None else asked
        self._asked[ends] = False
        self.sizes = np.fromiter(map(len, blocks), np.int64, len(blocks))
        counts = np.zeros(vocabulary.outside, np.int64)
        digest = hashlib.sha256(vocabulary.words.tobytes() + self._asked.tobytes() + self.sizes.tobytes())
        for first in range(0, len(blocks), 4096):
            text = np.concatenate(blocks[first : first + 4096])
            if len(text) and not 0 <= int(text.min()) <= int(text.max()) < len(counts):
                raise ValueError("text with a number that the vocabulary does not have")
            counts += np.bincount(text, minlength=len(counts))
            digest.update(text.tobytes())
        if not counts[self._asked[: len(counts)]].any():
            raise ValueError("no text to learn from")
        self.digest = digest.hexdigest()
        self._drawn = np.cumsum(np.sqrt(counts[: len(vocabulary)]))

    def batches(self) -> list[Ints]:
        """Return the blocks of each step: all of them once an epoch, each time in another order."""
        found = []
        for epoch in range(self._settings.epochs):
            order = np.random.default_rng([self._settings.seed, 1, epoch]).permutation(len(self.sizes))
            sizes = self.sizes[order]
            number = (np.cumsum(sizes) - sizes) // self._settings.batch
            found += np.split(order, np.flatnonzero(np.diff(number)) + 1)
        return found

    def places(self, batch: Ints, rng: np.random.Generator) -> Places:
        """Return what is learned from some blocks."""
        text = np.concatenate([self._blocks[i] for i in batch.tolist()]).astype(np.int32)
        is_asked = self._asked[text]
        filled = np.flatnonzero(is_asked)
        empty = np.flatnonzero(is_asked[1:] & is_asked[:-1]) + 1
        empty = empty[rng.random(len(empty)) < EMPTY]
        positions = np.concatenate([filled, empty])
        behind = np.concatenate([filled + 1, empty])
        truth = np.concatenate([text[filled], np.full(len(empty), self._nothing, np.int32)])
        order = np.argsort(positions, kind="stable")
        words, which = np.unique(np.append(text, np.int32(self._outside)), return_inverse=True)
        around = self._around(text, which.astype(np.int32), positions[order], behind[order])
        drawn = np.searchsorted(self._drawn, rng.random(NEGATIVES) * self._drawn[-1], side="right")
        return Places(words, around, truth[order], np.unique(drawn).astype(np.int32))

    def _around(self, text: Numbers, which: Numbers, positions: Ints, behind: Ints) -> Numbers:
        """Return the words around places within their sentences; the last of `which` is beyond them."""
        sentence = np.cumsum(text == self._start)
        left = positions[:, None] - 1 - np.arange(self._settings.left)
        right = behind[:, None] + np.arange(self._settings.right)
        at = np.concatenate([left, right], axis=1)
        inside = (at >= 0) & (at < len(text))
        at = np.where(inside, at, 0)
        inside &= sentence[at] == sentence[positions][:, None]
        return np.where(inside, which[at], which[-1])
