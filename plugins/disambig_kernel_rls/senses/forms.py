"""The forms of words as an index, and regular inflections that training has not shown."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView
from disambig.api.text import hash_words

_VOWELS = "aeiou"
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_SHORT_END = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$|^[aeiou][^aeiouwxy]$|qu[aeio][^aeiouwxy]$")
_SYLLABLE = re.compile(r"[aeiouy]+")
_LONGEST_COMPARED = 2
"""Syllables of words that have -er and -est."""


def inflections(word: str, part: str) -> tuple[str, ...]:
    """Return a word in lower case and its regular inflections, each once.

    Parameters
    ----------
    word : str
    part : str
        ``"n"``, ``"v"``, ``"a"`` or ``"j"`` (adjective), ``"r"`` (adverb); others have none.
    """
    word = word.lower()
    if not (word.isascii() and word.isalpha() and len(word) > 1):
        return (word,)
    forms = [word]
    if part in ("n", "v"):
        forms += _with_s(word)
    if part == "v":
        forms += [*_with("ed", word), *_with("ing", word)]
    if part in ("a", "j", "r") and _syllables(word) <= _LONGEST_COMPARED:
        forms += [*_with("er", word), *_with("est", word)]
    return tuple(dict.fromkeys(forms))


def _with_s(word: str) -> Iterator[str]:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        yield word + "es"
        return
    if _CONSONANT_Y.search(word):
        yield word[:-1] + "ies"
        return
    yield word + "s"
    if word[-1] == "o" and word[-2] not in _VOWELS:
        yield word + "es"


def _with(ending: str, word: str) -> Iterator[str]:
    """Yield a word with an ending that begins with a vowel."""
    if ending == "ing":
        if word.endswith("ie"):
            yield word[:-2] + "ying"
            return
        if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
            yield word[:-1] + "ing"
            return
    elif word.endswith("e"):
        yield word + ending[1:]
        return
    elif _CONSONANT_Y.search(word):
        yield word[:-1] + "i" + ending
        return
    if word.endswith("c"):
        yield word + "k" + ending
    doubles = bool(_SHORT_END.search(word))
    if doubles:
        yield word + word[-1] + ending
    if not doubles or _syllables(word) > 1:
        yield word + ending


def _syllables(word: str) -> int:
    return len(_SYLLABLE.findall(word.removesuffix("e"))) or 1


ANY, NOUN, VERB, ADJECTIVE, ADVERB, NAME, UNTAGGED = range(7)
"""Parts of speech as columns: of other tags, of nouns, ...; of tokens without tags."""
PARTS = {"n": NOUN, "v": VERB, "a": ADJECTIVE, "j": ADJECTIVE, "s": ADJECTIVE, "r": ADVERB}
"""What stands behind a word's name, behind a full stop."""
_TAGS = {
    NOUN: "NN NNS NOUN",
    NAME: "NNP NNPS PROPN",
    VERB: "VB VBD VBG VBN VBP VBZ MD VERB AUX",
    ADJECTIVE: "JJ JJR JJS ADJ",
    ADVERB: "RB RBR RBS WRB ADV",
}
TAGS = {tag: part for part, tags in _TAGS.items() for tag in tags.split()}
"""The Penn Treebank's tags, and Universal Dependencies'."""
OTHER_TAGS = (
    "CC CD DT EX FW IN LS PDT POS PRP PRP$ RP SYM TO UH WDT WP WP$ ADD AFX GW HYPH NFP XX -LRB- -RRB- `` '' "
    ", . : $ # ADP CCONJ DET INTJ NUM PART PRON PUNCT SCONJ X"
).split()
"""The rest of these: of words that we never find, and of signs."""


@dataclass(frozen=True, slots=True, eq=False)
class WordForms:
    """Which word each form belongs to.

    Attributes
    ----------
    hashes : array of uint64, shape (n_forms,)
        Sorted.
    words : array of int32, shape (n_forms, 7)
        Index of the word for each part of speech; -1 for none.
    tags : array of uint64, shape (n_tags,)
        Sorted hashes of the known tags.
    parts : array of int8, shape (n_tags,)
    """

    hashes: NDArray[np.uint64]
    words: NDArray[np.int32]
    tags: NDArray[np.uint64]
    parts: NDArray[np.int8]

    @classmethod
    def from_words(
        cls, words: Sequence[tuple[str, Iterable[str]]], *, language: str, certain: Iterable[str] = ()
    ) -> WordForms:
        """Return the index of words, each with its forms or a mapping of these to how often they were seen.

        Of words that share a form the one that had it more often comes first, then the earlier one. A form
        with a capital is one seen inside a sentence; where that is half of all at least, names count as well.
        Forms that are certain belong to a word whatever their tag is.
        """
        wanted: dict[str, list[tuple[int, int]]] = {}
        parts, names = [], []
        for number, (name, forms) in enumerate(words):
            lemma, _, letter = name.rpartition(".")
            part = PARTS.get(letter, ANY) if lemma else ANY
            seen = forms if isinstance(forms, Mapping) else dict.fromkeys(forms, 1)
            counts = {form: n for form, n in seen.items() if form == form.lower()}
            capitals = {form.lower(): n for form, n in seen.items() if form != form.lower()}
            names.append({form for form, n in capitals.items() if 2 * n >= seen.get(form, 0)})
            for form in capitals:
                counts.setdefault(form, 0)
            if language in ("", "en"):  # of a word without a part of speech the form in -s: plural, or verb
                for form in inflections(lemma, letter) if part else inflections(name, "n"):
                    counts.setdefault(form, 0)
            parts.append(part)
            for form, n in counts.items():
                wanted.setdefault(form, []).append((-n, number))
        table = np.full((len(wanted), UNTAGGED + 1), -1, np.int32)
        for row, (form, pairs) in enumerate(wanted.items()):
            for _, number in sorted(pairs, reverse=True):  # the last one that is written stays
                part = parts[number]
                table[row, UNTAGGED] = number
                table[row, part] = number
                if part == NOUN and form in names[number]:
                    table[row, NAME] = number
        sure = np.isin(list(wanted), list(certain))
        table[:, ANY] = np.where((table[:, ANY] < 0) & sure, table[:, UNTAGGED], table[:, ANY])
        for part in range(ANY + 1, UNTAGGED):
            table[:, part] = np.where(table[:, part] >= 0, table[:, part], table[:, ANY])
        hashes = hash_words(list(wanted))
        order = np.argsort(hashes)
        tags = hash_words(list(TAGS))
        by_tag = np.argsort(tags)
        return cls(hashes[order], table[order], tags[by_tag], np.array(list(TAGS.values()), np.int8)[by_tag])

    def find(self, view: TokenView) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the positions of the tokens that belong to a word, and the word of each.

        Tokens without a tag are those of a text without tags. Warns where all tags are of another tagset.
        """
        if not len(self.hashes):
            return np.empty(0, np.int64), np.empty(0, np.int32)
        rows = _at(self.hashes, view.hashes)
        positions = np.flatnonzero((rows >= 0) & (view.ends > view.starts))
        part = np.full(len(positions), UNTAGGED, np.int8)
        if "tag" in view.layers:
            tags = view.layers["tag"][positions]
            given = _at(self.tags, tags)
            part = np.where(given >= 0, self.parts[given], np.where(tags == 0, UNTAGGED, ANY)).astype(np.int8)
            if (part == ANY).any() and (part[tags != 0] == ANY).all():
                _warn_of_other_tags(view)
        words = self.words[rows[positions], part]
        known = words >= 0
        return positions[known], words[known]


def _warn_of_other_tags(view: TokenView) -> None:
    """Warn where a view has tags and none of them is one that we know."""
    if not np.isin(view.layers["tag"], hash_words([*TAGS, *OTHER_TAGS])).any():
        known = "the Penn Treebank's and Universal Dependencies'"
        warnings.warn(f"the tags here are of no known tagset: words are found by {known}", stacklevel=4)


def _at(known: NDArray[np.uint64], asked: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return where each value stands in a sorted array, -1 where it does not."""
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[places] == asked, places, -1)
