"""What kind of word a word mostly is: all that finding heads asks of a tagger, learned from it beforehand.

A tagger would decide each occurrence anew and take longer than all the counts; which noun ends a noun phrase
and which word governs a place can mostly be told from what its words are in general.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.features.headwords.steps import NOUN, OTHER
from disambig.features.stored import read_stored, write_stored
from disambig.text.hashing import directory_of, hash_words
from disambig.text.view import END_HASH, START_HASH

WORD_KINDS = (
    "noun", "verb", "noun or verb", "gerund", "participle", "adjective", "adverb", "determiner", "pronoun",
    "other",
)  # fmt: skip
"""A word that is not known is a noun; boundaries of sentences and marks are *other*."""
_S32 = np.uint64(32)
FILE = "words.npz"


@dataclass(frozen=True, eq=False)
class PartsOfSpeech:
    """What kind of word each word of a language mostly is.

    Attributes
    ----------
    words : array of uint32, shape (n,)
        The upper halves of the words' hashes, ascending.
    kinds : array of uint8, shape (n,)
        Indices into `WORD_KINDS`.
    header : dict
        ``tokenisation``, and what else is known: sources, licence.
    """

    words: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    header: dict[str, Any]

    @classmethod
    def of(cls, kinds: Mapping[str, int], header: dict[str, Any]) -> PartsOfSpeech:
        """Return a lexicon of words and their kinds; the header names the tokenisation that cuts them."""
        hashes = (hash_words(list(kinds)) >> _S32).astype(np.uint32)
        words, first = np.unique(hashes, return_index=True)
        return cls(words, np.array(list(kinds.values()), np.uint8)[first], header)

    @classmethod
    def load(cls, folder: Path) -> PartsOfSpeech:
        """Read the lexicon in a folder.

        Raises
        ------
        UserError
            D438, where a file is missing or is not what `save` writes.
        """
        header, (words, kinds) = read_stored(folder, FILE, ("words", "kinds"), code="D438")
        problem = _problem(words, kinds, header)
        if problem:
            raise UserError("D438", path=folder, problem=problem)
        return cls(words, kinds, header)

    def save(self, folder: Path) -> None:
        """Write `header.json` and `words.npz` into `folder`."""
        write_stored(folder, FILE, self.header, words=self.words, kinds=self.kinds)

    def require(self, tokenisation: str) -> None:
        """Refuse words that another tokenisation cut.

        Raises
        ------
        UserError
            D439.
        """
        if tokenisation != self.header["tokenisation"]:
            raise UserError("D439", seen=tokenisation, known=self.header["tokenisation"])

    @cached_property
    def directory(self) -> tuple[NDArray[np.int32], np.uint32]:
        """Where the words with each value of their top bits begin (see `directory_of`)."""
        return directory_of(self.words)

    def of_words(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return the kind of each word, shape ``(n,)``."""
        found = np.full(len(hashes), NOUN, np.uint8)
        if len(self.words):
            halves = (hashes >> _S32).astype(np.uint32)
            at = np.minimum(np.searchsorted(self.words, halves), len(self.words) - 1)
            found = np.where(self.words[at] == halves, self.kinds[at], found)
        found[(hashes == np.uint64(START_HASH)) | (hashes == np.uint64(END_HASH))] = OTHER
        return found


@lru_cache(maxsize=8)
def parts_of_speech_in(folder: str) -> PartsOfSpeech:
    """Return the lexicon in a folder, read once."""
    return PartsOfSpeech.load(Path(folder))


def _problem(words: NDArray[Any], kinds: NDArray[Any], header: Any) -> str | None:
    """Return what is wrong with arrays or header, if anything."""
    if words.dtype != np.uint32 or words.ndim != 1 or not (words[1:] > words[:-1]).all():
        return "words that are no ascending 32-bit numbers"
    if kinds.dtype != np.uint8 or kinds.shape != words.shape or kinds.max(initial=0) >= len(WORD_KINDS):
        return f"kinds of {kinds.dtype} {kinds.shape}"
    if not isinstance(header, dict) or not isinstance(header.get("tokenisation"), str):
        return "no tokenisation in its header"
    return None
