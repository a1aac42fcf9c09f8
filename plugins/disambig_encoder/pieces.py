"""Split text into sentences, words, and the word pieces of BERT's uncased vocabulary.

This module needs only the standard library, so that training uses it as well (`corpora/disambig_en_encoder`).
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

WORD = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")
"""A word with apostrophes inside, or one sign."""
SENTENCE_END = re.compile(
    # blanks after a stop, possibly in quotation marks or brackets, before a capital or a digit
    r"(?<=[.!?:;])[\"')\u201d\u2019]*\s+(?=[\"'(\u201c\u2018]?[A-Z0-9])"
    r"|\s*\n\s*(?:[-*#|>+]|\d+[.)])\s+"  # an item of a list, a heading, a row of a table
    r"|\s*\n\s*\n\s*"  # a paragraph ends
)
REACH = 500
"""Number of characters before and after a place in which its sentence is searched."""
PAD, NOTHING, UNKNOWN, CLS, SEP, MASK = "[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
"""Special pieces; `NOTHING` stands for the absence of a word."""
_UNUSED = re.compile(r"\[unused\d+\]")
_MAX_CHARACTERS = 100
"""A longer part of a word is unknown, as for BERT."""
_MAX_CACHED = 1 << 14
"""Maximum number of words whose pieces are kept."""


def unused_piece(number: int) -> str:
    """Return the name of a piece that no text has."""
    return f"[unused{number}]"


def is_unused(name: str) -> bool:
    """Return True for a piece that no text has; `NOTHING` is used."""
    return _UNUSED.fullmatch(name) is not None and name != NOTHING


def split_words(text: str) -> list[str]:
    """Return the words and punctuation marks of a text."""
    return WORD.findall(text)


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets of the sentence around a place; at most `REACH` characters on each side of it."""
    left, right = max(0, start - REACH), min(len(text), end + REACH)
    for match in SENTENCE_END.finditer(text, left, right):
        if match.end() <= start:
            left = match.end()
        elif match.start() >= end:
            right = match.start()
            break
    return left, right


class WordPieces:
    """Word pieces of an uncased vocabulary, by BERT's rules.

    A word is lowercased, loses its accents, and is split at punctuation; each part becomes the longest pieces
    of the vocabulary from left to right, or the unknown piece.

    `pieces` is the vocabulary; a piece that continues a word begins with ``##``. Raises `ValueError` if a
    special piece is missing or the first one is not the padding.
    """

    def __init__(self, pieces: list[str]) -> None:
        self.numbers = {piece: number for number, piece in enumerate(pieces)}
        missing = [piece for piece in (PAD, NOTHING, UNKNOWN, CLS, SEP) if piece not in self.numbers]
        if missing:
            raise ValueError(f"pieces are missing: {', '.join(missing)}")
        if self.numbers[PAD] != 0:
            raise ValueError("[PAD] is not the first piece")
        self.unknown, self.cls, self.sep = (self.numbers[piece] for piece in (UNKNOWN, CLS, SEP))
        self.nothing = self.numbers[NOTHING]
        self._words: dict[str, list[int]] = {}

    @classmethod
    def from_file(cls, path: Path) -> WordPieces:
        """Read a vocabulary with one piece a line."""
        return cls(path.read_text("utf8").rstrip("\n").split("\n"))

    def __len__(self) -> int:
        return len(self.numbers)

    def __call__(self, word: str) -> list[int]:
        """Return the numbers of the pieces of a word, at least one."""
        pieces = self._words.get(word)
        if pieces is None:
            pieces = [number for part in _parts(word) for number in self._split(part)] or [self.unknown]
            if len(self._words) < _MAX_CACHED:
                self._words[word] = pieces
        return pieces

    def _split(self, part: str) -> list[int]:
        """Return the longest pieces of a part of a word from left to right."""
        numbers: list[int] = []
        start = 0
        while start < len(part) <= _MAX_CHARACTERS:
            prefix = "##" if start else ""
            for end in range(len(part), start, -1):
                number = self.numbers.get(prefix + part[start:end])
                if number is not None:
                    numbers.append(number)
                    start = end
                    break
            else:
                return [self.unknown]
        return numbers or [self.unknown]


def _parts(word: str) -> list[str]:
    """Return the parts of a word between punctuation, in lower case and without accents."""
    parts = [""]
    for character in unicodedata.normalize("NFD", word.lower()):
        category = unicodedata.category(character)
        if category == "Mn" or (category in ("Cc", "Cf") and character not in "\t\n\r"):
            continue
        if _is_separate(character, category):
            parts += [character, ""]
        else:
            parts[-1] += character
    return [part for part in parts if part]


def _is_separate(character: str, category: str) -> bool:
    """Return True for punctuation, including all symbols of ASCII, and for Chinese characters."""
    code = ord(character)
    if category.startswith("P") or (code < 128 and not character.isalnum()):
        return True
    return 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF
