"""Words that are confused with each other, by kind, from one file per language.

A line contains a kind, a tab, and words separated by blanks: ``form`` with all forms of a lemma, ``derived``
with a word and a word derived from it, ``possessive`` with a noun and its possessives, ``slip`` with two
words that differ by a slip of the pen or the finger. If lines of several kinds relate two words, the first of
these kinds counts: a slip that gives another form of the same word is a form. Lines that begin with ``#`` are
comments.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.arrays import ArrayFolder, HashVocabulary, Ints, Ragged, offsets_from_sizes, row_ranks
from disambig.api.text import hash_words

ENGLISH_RELATIONS = Path(__file__).parent / "languages" / "en.tsv"
KINDS = ("form", "derived", "possessive", "slip")
_WORD = "[a-z]+(?:'[a-z]+)*"
_USUAL = re.compile(f"{_WORD}(?: {_WORD})*")
"""Words in lower case, separated by single blanks."""
MAX_WORDS = 16
"""Maximum number of words in a line."""
COMPILED_KINDS = (("form", "derived", "possessive"), ("slip",))
"""The kinds that the shipped tasks use together."""
_COMPILED = ArrayFolder(
    "arrays.npz", ("words", "spellings", "others", "offsets"), "D995", "disambig_real_words.relations/1"
)


@dataclass(frozen=True, eq=False)
class WordRelations:
    """The words that may have been meant instead of each word."""

    words: NDArray[np.uint64]  # (n_words,): hashes, ascending
    spellings: Sequence[str]  # spellings of the words, in the same order
    others: Ragged  # the related words of each word, as indices of words (int64)

    @classmethod
    def from_sets(cls, sets: Sequence[Sequence[str]], without: Sequence[Sequence[str]] = ()) -> WordRelations:
        """Relate the words of each set to each other, except for pairs within a set of `without`."""
        names = list(dict.fromkeys(chain.from_iterable(sets)))
        number = dict(zip(names, range(len(names)), strict=True))
        n = len(names)
        # distinct pairs, except for those of `without`
        one, other = _pairs(sets, number)
        excluded = np.array(_pairs(without, number), np.int64)
        excluded = excluded[:, (excluded >= 0).all(axis=0)]  # pairs of words that occur in `sets`
        keys, first = np.unique(one * n + other, return_index=True)
        first = np.sort(first[~np.isin(keys, excluded[0] * n + excluded[1])])  # back in the order of the sets
        # words with a pair, in the order of their hashes
        kept = np.unique(one[first])
        hashes = hash_words([names[i] for i in kept.tolist()])
        by_hash = np.argsort(hashes)
        place = np.full(n, -1)
        place[kept[by_hash]] = np.arange(len(kept))
        # the pairs, by the first word
        one, other = place[one[first]], place[other[first]]
        order = np.argsort(one, kind="stable")
        offsets = offsets_from_sizes(np.bincount(one, minlength=len(kept)))
        spellings = [names[i] for i in kept[by_hash].tolist()]
        return cls(hashes[by_hash], spellings, Ragged(other[order].astype(np.int64), offsets))

    def find(self, hashes: NDArray[np.uint64]) -> Ints:
        """Return the index of each word, -1 for words without relations; shape ``(n,)``."""
        return HashVocabulary(self.words).lookup(hashes)


def _pairs(sets: Sequence[Sequence[str]], number: Mapping[str, int]) -> tuple[Ints, Ints]:
    """Return all pairs of different words of each set as indices, -1 for words that are not in `number`."""
    numbers = [number.get(word, -1) for word in chain.from_iterable(sets)]
    flat, sizes = np.array(numbers, np.int64), np.fromiter(map(len, sets), np.int64, len(sets))
    starts = np.repeat(offsets_from_sizes(sizes)[:-1], sizes)  # begin of each word's set
    times = np.repeat(sizes, sizes)
    within = row_ranks(offsets_from_sizes(times))
    one, other = np.repeat(flat, times), flat[np.repeat(starts, times) + within]
    different = one != other
    return one[different], other[different]


def normalise_word(word: str) -> str:
    """Return a word in lower case with straight apostrophes."""
    return word.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def is_word(word: str) -> bool:
    """Return True if a text is one word: letters with combining marks, and apostrophes between them."""
    return word.isalpha() or all(part and all(map(_is_letter, part)) for part in word.split("'"))


def _is_letter(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character).startswith("M")


def read_table_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of a table of words that is neither blank nor a comment.

    Raises D995 for a file that cannot be read.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise UserError("D995", path=path, problem=reason) from problem
    for number, line in enumerate(lines, 1):
        if line and line[0] != "#" and not line.isspace():
            yield number, line


def read_relations(path: str | Path) -> Mapping[str, list[list[str]]]:
    """Return the sets in a file by kind.

    Raises D995 for a file that cannot be read, or for an invalid line, with its number.
    """
    sets: dict[str, list[list[str]]] = {kind: [] for kind in KINDS}
    is_usual = _USUAL.fullmatch
    for number, line in read_table_lines(path):
        kind, _, rest = line.partition("\t")
        if kind in sets and is_usual(rest):  # a fast path for most lines, without a check of each letter
            words = rest.split(" ")
            if 2 <= len(words) <= MAX_WORDS and len(set(words)) == len(words):
                sets[kind].append(words)
                continue
        words = list(dict.fromkeys(normalise_word(rest).split()))
        strange = [word for word in words if not is_word(word)]
        wrong = ""
        if kind not in sets:
            wrong = f"{kind!r} is not one of {', '.join(KINDS)}"
        elif not 2 <= len(words) <= MAX_WORDS:
            wrong = f"expected 2 to {MAX_WORDS} different words, found {len(words)}"
        elif strange:
            wrong = f"{strange[0]!r} is not a word of letters and apostrophes"
        if wrong:
            raise UserError("D995", path=path, problem=f"line {number}: {wrong}")
        sets[kind].append(words)
    return sets


def write_relations(
    path: Path, sets: Mapping[str, Sequence[Sequence[str]]], about: Sequence[str] = ()
) -> None:
    """Write a file of sets, with `about` as comments at the top."""
    lines = [f"# {line}" for text in about for line in text.splitlines()]
    lines += [f"{kind}\t{' '.join(words)}" for kind in KINDS for words in sets.get(kind, ())]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


@lru_cache(maxsize=8)
def load_relations(path: str, kinds: tuple[str, ...]) -> WordRelations:
    """Return the relations of some kinds in a file; the file is read once.

    If arrays of the same content are beside the file (`compile_relations`), these are read, which is fast.

    Raises D995, also for a file without lines of these kinds.
    """
    return _read_compiled(Path(path), kinds) or _read_relations_of_kinds(path, kinds)


def compile_relations(path: Path) -> None:
    """Write arrays beside a file of relations, for each of `COMPILED_KINDS`."""
    for kinds in COMPILED_KINDS:
        related = _read_relations_of_kinds(str(path), kinds)
        arrays: dict[str, NDArray[Any]] = {
            "words": related.words,
            "spellings": np.frombuffer("\n".join(related.spellings).encode(), np.uint8),
            "others": related.others.values.astype(np.int32),
            "offsets": related.others.offsets,
        }
        _COMPILED.write(_compiled_folder(path, kinds), {"source": _digest(path)}, arrays)


def _read_compiled(path: Path, kinds: tuple[str, ...]) -> WordRelations | None:
    """Return what `compile_relations` wrote; None if there is nothing, or the file has changed."""
    folder = _compiled_folder(path, kinds)
    if kinds not in COMPILED_KINDS or not _COMPILED.is_in(folder):
        return None
    header, arrays = _COMPILED.read(folder)
    if header.get("source") != _digest(path):
        return None
    spellings = arrays["spellings"].tobytes().decode().split("\n")
    others = Ragged(arrays["others"].astype(np.int64), arrays["offsets"])
    return WordRelations(arrays["words"], spellings, others)


def _compiled_folder(path: Path, kinds: tuple[str, ...]) -> Path:
    return path.with_suffix(".compiled") / "-".join(kinds)


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file; "" if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read_relations_of_kinds(path: str, kinds: tuple[str, ...]) -> WordRelations:
    sets = _read_once(path)
    chosen = [words for kind in kinds for words in sets[kind]]
    if not chosen:
        raise UserError("D995", path=path, problem=f"there is no line of kind {' or '.join(kinds)}")
    first = min(map(KINDS.index, kinds))
    return WordRelations.from_sets(chosen, without=[words for kind in KINDS[:first] for words in sets[kind]])


_read_once = lru_cache(maxsize=4)(read_relations)
