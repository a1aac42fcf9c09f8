"""An index from word forms to words, and the regular inflections of English words.

Irregular forms are not generated. If there are two possible spellings ("travelled", "traveled"; "potatoes",
"solos"), both are generated, since a form that nobody writes does no harm.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView
from disambig.api.arrays import HashVocabulary
from disambig.api.text import hash_words

_VOWELS = "aeiou"
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_SHORT_END = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$|^[aeiou][^aeiouwxy]$|qu[aeio][^aeiouwxy]$")
_SYLLABLE = re.compile(r"[aeiouy]+")
_LONGEST_COMPARED = 2
"""Maximum number of syllables of words with -er and -est."""


def inflections(word: str, part: str) -> tuple[str, ...]:
    """Return a word in lower case and its regular inflections, without duplicates.

    The part is ``"n"``, ``"v"``, ``"a"`` or ``"j"`` (adjective), or ``"r"`` (adverb); other words are not
    inflected.
    """
    word = word.lower()
    if not (word.isascii() and word.isalpha() and len(word) > 1):
        return (word,)
    forms = [word]
    if part in ("n", "v"):
        forms += _add_s(word)
    if part == "v":
        forms += [*_add_ending("ed", word), *_add_ending("ing", word)]
    if part in ("a", "j", "r") and _syllables(word) <= _LONGEST_COMPARED:
        forms += [*_add_ending("er", word), *_add_ending("est", word)]
    return tuple(dict.fromkeys(forms))


def _add_s(word: str) -> Iterator[str]:
    """Yield the spellings of a word with the ending -s."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        yield word + "es"
        return
    if _CONSONANT_Y.search(word):
        yield word[:-1] + "ies"
        return
    yield word + "s"
    if word[-1] == "o" and word[-2] not in _VOWELS:
        yield word + "es"


def _add_ending(ending: str, word: str) -> Iterator[str]:
    """Yield the spellings of a word with an ending that begins with a vowel."""
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
    """Return the approximate number of syllables of a word."""
    return len(_SYLLABLE.findall(word.removesuffix("e"))) or 1


ANY, NOUN, VERB, ADJECTIVE, ADVERB, NAME, UNTAGGED = range(7)
"""Columns of the index by part of speech: `ANY` for other tags, `UNTAGGED` for tokens without tags."""
PARTS = {"n": NOUN, "v": VERB, "a": ADJECTIVE, "j": ADJECTIVE, "s": ADJECTIVE, "r": ADVERB}
"""The part of speech of each suffix in a word's name, after the full stop."""
_TAGS = {
    NOUN: "NN NNS NOUN",
    NAME: "NNP NNPS PROPN",
    VERB: "VB VBD VBG VBN VBP VBZ MD VERB AUX",
    ADJECTIVE: "JJ JJR JJS ADJ",
    ADVERB: "RB RBR RBS WRB ADV",
}
TAGS = {tag: part for part, tags in _TAGS.items() for tag in tags.split()}
"""Tags of the Penn Treebank and of Universal Dependencies."""
OTHER_TAGS = (
    "CC CD DT EX FW IN LS PDT POS PRP PRP$ RP SYM TO UH WDT WP WP$ ADD AFX GW HYPH NFP XX -LRB- -RRB- `` '' "
    ", . : $ # ADP CCONJ DET INTJ NUM PART PRON PUNCT SCONJ X"
).split()
"""The other tags of both tagsets, for words that are never decided and for punctuation."""


@dataclass(frozen=True, slots=True, eq=False)
class WordForms:
    """An index from forms to words."""

    hashes: NDArray[np.uint64]  # (n_forms,): sorted hashes of the forms
    words: NDArray[np.int32]  # (n_forms, 7): index of the word for each part of speech, -1 for none
    tags: NDArray[np.uint64]  # (n_tags,): sorted hashes of the known tags
    parts: NDArray[np.int8]  # (n_tags,)

    @classmethod
    def from_words(
        cls, words: Sequence[tuple[str, Iterable[str]]], *, language: str, certain: Iterable[str] = ()
    ) -> WordForms:
        """Return the index of words, each with a sequence of forms or a mapping from forms to counts.

        If words share a form, the word that had it more often takes precedence, then the earlier one. A form
        with a capital was seen inside a sentence; if these are at least half of the form's occurrences,
        tokens tagged as names count as well. Forms in `certain` belong to their word regardless of the tag.
        """
        words_of_form: dict[str, list[tuple[int, int]]] = {}
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
            if language in ("", "en"):  # a word without a part of speech gets the form in -s
                for form in inflections(lemma, letter) if part else inflections(name, "n"):
                    counts.setdefault(form, 0)
            parts.append(part)
            for form, n in counts.items():
                words_of_form.setdefault(form, []).append((-n, number))
        table = np.full((len(words_of_form), UNTAGGED + 1), -1, np.int32)
        for row, (form, pairs) in enumerate(words_of_form.items()):
            for _, number in sorted(pairs, reverse=True):  # the best one is written last and stays
                part = parts[number]
                table[row, UNTAGGED] = number
                table[row, part] = number
                if part == NOUN and form in names[number]:
                    table[row, NAME] = number
        is_certain = np.isin(list(words_of_form), list(certain))
        table[:, ANY] = np.where((table[:, ANY] < 0) & is_certain, table[:, UNTAGGED], table[:, ANY])
        for part in range(ANY + 1, UNTAGGED):
            table[:, part] = np.where(table[:, part] >= 0, table[:, part], table[:, ANY])
        hashes = hash_words(list(words_of_form))
        order = np.argsort(hashes)
        tags = hash_words(list(TAGS))
        tag_order = np.argsort(tags)
        return cls(
            hashes[order], table[order], tags[tag_order], np.array(list(TAGS.values()), np.int8)[tag_order]
        )

    def find(self, view: TokenView) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the positions of the tokens that belong to a word, and the index of each word.

        Tokens without a tag are treated as text without tags. A warning is issued if all tags are from
        another tagset.
        """
        if not len(self.hashes):
            return np.empty(0, np.int64), np.empty(0, np.int32)
        rows = HashVocabulary(self.hashes).lookup(view.hashes)
        positions = np.flatnonzero((rows >= 0) & (view.ends > view.starts))
        part = np.full(len(positions), UNTAGGED, np.int8)
        if "tag" in view.layers:
            tags = view.layers["tag"][positions]
            tag_index = HashVocabulary(self.tags).lookup(tags)
            other_parts = np.where(tags == 0, UNTAGGED, ANY)
            part = np.where(tag_index >= 0, self.parts[tag_index], other_parts).astype(np.int8)
            if (part == ANY).any() and (part[tags != 0] == ANY).all():
                _warn_of_other_tags(view)
        words = self.words[rows[positions], part]
        is_word = words >= 0
        return positions[is_word], words[is_word]


def _warn_of_other_tags(view: TokenView) -> None:
    """Warn if a view has tags and none of them is from a known tagset."""
    if not np.isin(view.layers["tag"], hash_words([*TAGS, *OTHER_TAGS])).any():
        tagsets = "those of the Penn Treebank and of Universal Dependencies"
        warnings.warn(f"the tags are from an unknown tagset; known tags are {tagsets}", stacklevel=4)
