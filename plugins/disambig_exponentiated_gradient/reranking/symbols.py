"""Feature templates of trees, and the numbered symbols of which features consist."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.api.text import hash_words

from ..treebank.reading import strip_label

TEMPLATES = (
    "rule",
    "rule, parent",
    "rule, closed heads",
    "two-level rule",
    "bigram",
    "bigram, parent",
    "bigram, closed heads",
    "bigram, head words",
    "bigram, first head word",
    "bigram, second head word",
    "two-level bigram",
    "trigram",
    "trigram, closed heads",
    "head and modifier",
    "modifier, head words",
    "modifier, head word",
    "modifier, own word",
    "modifier, tags",
    "modifier, distance",
    "attached",
    "attached, head word",
    "attached, object",
    "attached, head word and object",
    "heavy",  # CJ: Charniak and Johnson (2005)
    "neighbours",  # CJ
    "first word",
    "last word",
    "word before",
    "word behind",
    "tags at the edges",
    "right branch",  # CJ
    "alike",  # CJ
    "lengths",  # CJ
    "word and parent",  # CJ
    "word and two above",  # CJ
    "word and its largest phrase",  # CJ
    "spine",  # CJ
    "spine, word",  # CJ
    "two words",  # CJ
    "two words, first",  # CJ
    "two words, second",  # CJ
    "heads of two levels",
)
"""In the order of the template numbers in `_kernels`."""


NUMBERS = 32
"""Integers from 0 up to this (exclusive) are symbols."""
FIXED = ("(", ")", "<end>", "<none>", "left", "right", "PP", "CC", *map(str, range(NUMBERS)))
"""Symbols with fixed numbers."""
END, NONE, LEFT, RIGHT, PP, CC, ZERO = 2, 3, 4, 5, 6, 7, 8
CLOSED_TAGS = frozenset(
    "CC DT EX IN MD PDT POS PRP PRP$ RP TO WDT WP WP$ WRB , . : `` '' -LRB- -RRB-".split()
)
"""Tags of closed classes, whose words indicate structure rather than content."""
CLOSED_WORDS = frozenset(
    "be am is are was were been being 's 're 'm have has had having 've 'd do does did not n't".split()
)


class _SymbolNumbers(dict[str, int]):
    """A mapping from texts to numbers that gives a new text the next number."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


class TreeSymbols:
    """Texts by number. Columns with properties of the texts are extended on demand."""

    def __init__(self) -> None:
        self.number: dict[str, int] = _SymbolNumbers({name: i for i, name in enumerate((*FIXED, *TEMPLATES))})
        self._names: list[str] = []
        self._hashes = np.zeros(0, np.uint64)
        self._plain = np.zeros(0, np.int32)
        self._closed = np.zeros(0, np.bool_)

    def __len__(self) -> int:
        return len(self.number)

    def name(self, number: int) -> str:
        """Return the text of a number."""
        if number >= len(self._names):
            self._names = list(self.number)
        return self._names[number]

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The hash of each text, from which keys of features are computed."""
        names = list(self.number)[len(self._hashes) :]
        if names:
            self._hashes = np.concatenate([self._hashes, hash_words(names)])
        return self._hashes

    @property
    def plain(self) -> NDArray[np.int32]:
        """The number of each text as a label without function tags."""
        while len(self._plain) < len(self):  # a plain label may be a new symbol
            names = list(self.number)[len(self._plain) :]
            more = np.array([self.number[strip_label(name)] for name in names], np.int32)
            self._plain = np.concatenate([self._plain, more])
        return self._plain

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Whether each text, as a tag or as a word, is of a closed class."""
        names = list(self.number)[len(self._closed) :]
        if names:
            more = [name in CLOSED_TAGS or name.lower() in CLOSED_WORDS for name in names]
            self._closed = np.concatenate([self._closed, np.array(more, np.bool_)])
        return self._closed
