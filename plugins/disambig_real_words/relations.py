"""Words that are mistaken for each other, from a file a language: what its members are to each other.

A line is a kind, a tab, and words apart by blanks: ``form`` and all forms of a lemma, ``derived`` and a word
with one made of it, ``possessive`` and a noun with its possessives, ``slip`` and two words that are a slip
of the pen or the finger apart. Lines that begin with ``#`` are comments. Another language is another file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.text import hash_words

ENGLISH = Path(__file__).parent / "languages" / "en.tsv"
KINDS = ("form", "derived", "possessive", "slip")
_WORD = "[a-z]+(?:'[a-z]+)*"
_USUAL = re.compile(f"{_WORD}(?: {_WORD})*")
"""Words in small letters, a blank between two."""
MOST_WORDS = 16
"""Of a line."""
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Relations:
    """What each word may have been meant to be.

    Attributes
    ----------
    words : array of uint64, shape (n_words,)
        Hashes, ascending.
    spellings : sequence of str
        Of the words, in the same order.
    offsets : array of int64, shape (n_words + 1,)
    others : array of int64, shape (n_pairs,)
        The others of each word, as numbers of words.
    """

    words: NDArray[np.uint64]
    spellings: Sequence[str]
    offsets: Ints
    others: Ints

    @classmethod
    def of(cls, sets: Sequence[Sequence[str]]) -> Relations:
        """Relate the words of each set to each other."""
        others: dict[str, dict[str, None]] = {}
        for words in sets:
            for one, other in permutations(dict.fromkeys(words), 2):
                others.setdefault(one, {})[other] = None
        names = list(others)
        hashes = hash_words(names)
        order = np.argsort(hashes)
        spellings = [names[i] for i in order.tolist()]
        number = {word: i for i, word in enumerate(spellings)}
        sizes = [len(others[word]) for word in spellings]
        flat = [number[other] for word in spellings for other in others[word]]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(hashes[order], spellings, offsets, np.array(flat, np.int64))

    def find(self, hashes: NDArray[np.uint64]) -> Ints:
        """Return the number of each word, -1 for one without relations; shape ``(n,)``."""
        if not len(self.words):
            return np.full(len(hashes), -1)
        at = np.minimum(np.searchsorted(self.words, hashes), len(self.words) - 1)
        return np.where(self.words[at] == hashes, at, -1)


def plain(word: str) -> str:
    """Return a word in small letters, with straight apostrophes."""
    return word.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def is_word(word: str) -> bool:
    """Tell whether a text is one word: letters and their marks, and apostrophes between them."""
    return word.isalpha() or all(part and all(map(_is_letter, part)) for part in word.split("'"))


def _is_letter(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character).startswith("M")


def read_relations(path: str | Path) -> Mapping[str, list[list[str]]]:
    """Return the sets of a file by kind.

    Raises
    ------
    UserError
        D995 for a file that cannot be read or a line that is no set, which is named.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as problem:
        said = getattr(problem, "strerror", None) or problem
        raise UserError("D995", path=path, problem=said) from problem
    sets: dict[str, list[list[str]]] = {kind: [] for kind in KINDS}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        kind, _, rest = line.partition("\t")
        usual = _USUAL.fullmatch(rest)  # most lines: nothing in them is to be looked at letter by letter
        words = list(dict.fromkeys((rest if usual else plain(rest)).split()))
        strange = [] if usual else [word for word in words if not is_word(word)]
        wrong = ""
        if kind not in sets:
            wrong = f"{kind!r} is none of {', '.join(KINDS)}"
        elif not 2 <= len(words) <= MOST_WORDS:
            wrong = f"2 to {MOST_WORDS} different words are wanted, and there are {len(words)}"
        elif strange:
            wrong = f"{strange[0]!r} is no word: letters and apostrophes"
        if wrong:
            raise UserError("D995", path=path, problem=f"line {number}: {wrong}")
        sets[kind].append(words)
    return sets


def write_relations(
    path: Path, sets: Mapping[str, Sequence[Sequence[str]]], about: Sequence[str] = ()
) -> None:
    """Write a file of sets, with lines about it on top."""
    lines = [f"# {line}" for said in about for line in said.splitlines()]
    lines += [f"{kind}\t{' '.join(words)}" for kind in KINDS for words in sets.get(kind, ())]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


@lru_cache(maxsize=8)
def relations_in(path: str, kinds: tuple[str, ...]) -> Relations:
    """Return the relations of some kinds in a file; read once.

    Raises
    ------
    UserError
        D995, for a file without any of them as well.
    """
    sets = _read_once(path)
    chosen = [words for kind in kinds for words in sets[kind]]
    if not chosen:
        raise UserError("D995", path=path, problem=f"there is no line of {' or '.join(kinds)}")
    return Relations.of(chosen)


_read_once = lru_cache(maxsize=4)(read_relations)
