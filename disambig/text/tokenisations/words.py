"""The tokenisation `disambig.words.v1`: what a word is, in any language, and where sentences end.

Words
    A run of letters, marks and digits. An apostrophe between two letters belongs to the word
    (``it's``, ``o'clock``), and so does a single ``.`` ``,`` or ``:`` between two digits (``3.14``).
    ``cannot`` is one word, ``can not`` two; ``well-known`` is three: hyphens are words.
    A run of one and the same other character is one word (``...``, ``--``).
    White space, controls, format characters and lone surrogates only separate.
Normal form
    Letters in lower case where that is one character; every digit is ``0``; curly double quotes
    become ``"`` and curly single quotes and apostrophes ``'``.
    A word of more than 255 bytes has the hash `UNKNOWN`.
Sentences
    One ends after a run of ``. ! ? ...`` with the quotes and brackets that close right after it, where
    white space follows and then an upper-case or caseless letter, a digit, or something that opens;
    a single ``.`` after one letter, or after a capitalised word of two or three (``Mr.``, ``Fig.``), ends
    none. Full-width stops need nothing after them. A blank line or a paragraph separator always
    ends a sentence, a single line end never.

What has no language has no exceptions: no list of abbreviations or contractions lives here.
The classes of characters are those of Python's Unicode tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.engine import use_numba
from disambig.errors import UserError
from disambig.text import characters
from disambig.text.tokenisations import words_reference
from disambig.text.tokenisations.boundaries import Arrays, named
from disambig.text.view import TokenView

BETWEEN = "\n\n"
"""Put between documents: a blank line, so that no sentence crosses."""
_LONGEST_TEXT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Words:
    """Cut texts into words by the rules of `disambig.words.v1` (see the module)."""

    name: ClassVar[str] = "disambig.words.v1"

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the words of `texts`, one document each.

        Raises
        ------
        UserError
            D201, where a text has more than 2**31 - 1 characters.
        """
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        if len(texts) and lengths.max() > _LONGEST_TEXT:
            raise UserError("D201", number=int(lengths.argmax()) + 1, length=int(lengths.max()))
        offsets = np.cumsum(lengths + len(BETWEEN)) - lengths - len(BETWEEN)
        joined = BETWEEN.join(texts)
        tokenise = _by_kernel if use_numba(len(joined)) else words_reference.tokenise
        return TokenView(self.name, texts, *tokenise(joined, offsets))

    @staticmethod
    def normal_form(word: str) -> str:
        """Return the normal form of one word as it stands in a text."""
        return words_reference.normalised(word)

    def words(self, text: str) -> list[str]:
        """Return the normalised words of one text, boundary words included."""
        view = TokenView(self.name, [text], *words_reference.tokenise(text, np.zeros(1, dtype=np.int64)))
        found = [
            words_reference.normalised(text[start:end])
            for start, end in zip(view.starts.tolist(), view.ends.tolist(), strict=True)
        ]
        return named(found, view.sentences)


def _by_kernel(text: str, offsets: NDArray[np.int64]) -> Arrays:
    from disambig.text.tokenisations.word_kernels import tokenise

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(
        np.uint32, copy=False
    )
    plane_0 = not len(codes) or codes.max() < characters.PLANE_0
    table = characters.table(characters.PLANE_0 if plane_0 else characters.ALL)
    documents = np.zeros(len(offsets) + 1, dtype=np.int64)
    if not len(offsets):
        offsets = np.zeros(1, dtype=np.int64)
    most = 2 * len(codes) + 64  # tokens: a word and half of a sentence's two boundaries for each character
    room = len(codes) // 3 + 64  # ordinary text needs less
    while True:
        hashes = np.empty(room, dtype=np.uint64)
        starts = np.empty(room, dtype=np.int32)
        ends = np.empty(room, dtype=np.int32)
        sentences = np.empty(room // 3 + 2, dtype=np.int64)
        columns = hashes, starts, ends, sentences, documents
        tokens, n_sentences, done = tokenise(codes, offsets, table, *columns)
        if done == len(codes):
            break
        del hashes, starts, ends, sentences, columns
        room = min(most, max(2 * room, int(1.1 * tokens * len(codes) / done)))
    del columns
    for column in (hashes, starts, ends):
        column.resize(tokens, refcheck=False)
    sentences.resize(n_sentences + 1, refcheck=False)
    return hashes, starts, ends, sentences, documents
