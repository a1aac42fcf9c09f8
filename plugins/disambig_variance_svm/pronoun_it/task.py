"""Task *it*: label each "it" as referential or not (Bergsma et al. 2010, section 4.3).

`NormalisedWords` is a second view of a text, made from the words of `disambig.words.v1`, in which contexts
recur more often (the normalised n-grams of Bergsma, Lin and Goebel 2008):

* a clitic is a word of its own: ``it's`` -> ``it 's``, ``don't`` -> ``do n't``;
* the forms of *it* become `IT`, those of *they* `THEY`, all other personal pronouns `PRONOUN`;
* a word that begins with a digit becomes `NUMBER`;
* any other word becomes its first four characters, its *stem*;
* stems that are not among the 5,000 most frequent (``stems.txt``) become `RARE`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import (
    Columns,
    Decides,
    DenseBlocks,
    Features,
    Group,
    Instances,
    TokenView,
    UserError,
    Words,
)
from disambig.api.arrays import offsets_from_sizes
from disambig.api.text import hash_word

from .apostrophes import CERTAIN_LOG_ODDS, next_words

IT, THEY, PRONOUN, NUMBER, RARE = "it", "they", "<pronoun>", "<number>", "<rare>"
STEM = 4
"""Length of a stem in characters."""
STEMS = Path(__file__).parent / "stems.txt"
_CLITIC_PATTERN = re.compile("(.+?)(n't|'(?:s|re|ve|ll|d|m))")
_CLASSES = {word: IT for word in "it its itself".split()}
_CLASSES |= {word: THEY for word in "they them their theirs themselves".split()}
_CLASSES |= {
    word: PRONOUN
    for word in (
        "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself "
        "we us our ours ourselves one ones oneself"
    ).split()
}
_BOUNDARIES = ("<S>", "</S>")
_MAX_CACHED = 1 << 14

WORD = "word"
"""Layer of a view: the hash of each word as it is written, without classes and stems."""

Parts = tuple[int, int, int, int]
"""Hash of the first part, of the second part or 0, of the first part as written, and the length of the
first."""


@dataclass(frozen=True, slots=True)
class NormalisedWords:
    """Split texts into words and replace these by classes and stems.

    Clitics are split off ("it's"), pronouns and numbers become classes, other words their first four
    characters, and rare stems one class.
    """

    name: ClassVar[str] = "variance_svm.NormalisedWords.v1"

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the normalised words of `texts`, one document each."""
        view = Words()(texts)
        distinct, first, which = np.unique(view.hashes, return_index=True, return_inverse=True)
        places = zip(distinct.tolist(), view.locate(first), strict=True)
        parts = np.array([_word_parts(hash_, *place) for hash_, place in places], np.uint64).reshape(-1, 4)
        one, two, written, cut = parts[which.ravel()].T
        # a word with two parts becomes two tokens, which meet at `middle`
        sizes = 1 + (two != 0)
        offsets = offsets_from_sizes(sizes)
        before, split = offsets[:-1], np.flatnonzero(two)
        hashes = np.repeat(one, sizes)
        hashes[before[split] + 1] = two[split]
        words = np.repeat(written, sizes)
        words[before[split] + 1] = two[split]
        starts, ends = np.repeat(view.starts, sizes), np.repeat(view.ends, sizes)
        middle = (view.starts[split] + cut[split].astype(np.int64)).astype(np.int32)
        ends[before[split]] = middle
        starts[before[split] + 1] = middle
        layers = {name: np.repeat(layer, sizes) for name, layer in view.layers.items()} | {WORD: words}
        sentences, documents = offsets[view.sentences], offsets[view.documents]
        return TokenView(self.name, texts, hashes, starts, ends, sentences, documents, layers)

    def words(self, text: str) -> list[str]:
        """Return the normalised words of one text, boundary words included."""
        stems = frequent_stems()
        return [part for word in Words().words(text) for part in normalise_word(word, stems)]


def normalise_word(word: str, stems: frozenset[str] | None) -> list[str]:
    """Return the one or two parts of a word of `disambig.words.v1`; without `stems`, no word is rare."""
    if word in _BOUNDARIES:
        return [word]
    clitic = _CLITIC_PATTERN.fullmatch(word)
    return [_word_class(clitic[1], stems), clitic[2]] if clitic else [_word_class(word, stems)]


def _word_class(word: str, stems: frozenset[str] | None) -> str:
    word_class = _CLASSES.get(word)
    if word_class:
        return word_class
    if word[0].isdigit():
        return NUMBER
    stem = word[:STEM]
    return stem if stems is None or stem in stems else RARE


@lru_cache(maxsize=1)
def frequent_stems() -> frozenset[str]:
    """Return the stems that are not rare."""
    return frozenset(STEMS.read_text(encoding="utf8").split())


_parts_by_hash: dict[int, Parts] = {0: (0, 0, 0, 0)}  # 0 is the hash of words that are too long
_parts_by_hash |= {hash_word(word): (hash_word(word), 0, hash_word(word), 0) for word in _BOUNDARIES}


def _word_parts(hash_: int, text: str, start: int, end: int) -> Parts:
    """Return the parts of a word; its spelling is read from the text when it is first seen."""
    parts = _parts_by_hash.get(hash_)
    if parts is None:
        if len(_parts_by_hash) > _MAX_CACHED:  # drop the newest: the first words are the frequent ones
            del _parts_by_hash[next(reversed(_parts_by_hash))]
        whole = Words.normal_form(text[start:end])
        words = normalise_word(whole, frequent_stems())
        second = words[1] if len(words) > 1 else ""
        written = hash_word(whole.removesuffix(second)) if second else hash_
        cut = end - start - len(second) if second else 0
        parts = hash_word(words[0]), hash_word(second) if second else 0, written, cut
        _parts_by_hash[hash_] = parts
    return parts


REFERENTIAL, NON_REFERENTIAL = "referential", "non-referential"
_ITS, _CLITIC = "its", "'s"


@dataclass(frozen=True, slots=True, kw_only=True)
class It:
    """Label each "it" as referential ("it lost money") or not ("it is important to ...").

    Parameters
    ----------
    name, language : str
        Name and language of the task; the name is the default key of its annotations.
    """

    name: str = "it"
    language: str = "en"
    decides: ClassVar[Decides] = Decides(between="labels")
    metric: ClassVar[tuple[str, str]] = ("f1", NON_REFERENTIAL)
    no_decision: ClassVar[str] = 'there is no "it", or only an "it\'s" that is probably meant as "its"'
    groups: ClassVar[tuple[Group, ...]] = (Group("it", (REFERENTIAL, NON_REFERENTIAL)),)

    def instances(self, view: TokenView) -> Instances:
        """Return every "it" in a view of normalised words, including that of "it's".

        An "its" counts if the next word shows that "it's" is meant ("its raining"), and an "it's" does not
        count if the next word shows that "its" is meant ("it's tail"); see `apostrophes`.

        Raises D454 for a view with another tokenisation.
        """
        if view.tokenisation != NormalisedWords.name:
            raise UserError("D454", task=self.name, needed=NormalisedWords.name, seen=view.tokenisation)
        same_class = view.hashes == np.uint64(hash_word(IT))
        positions = np.flatnonzero(same_class).astype(np.int64)
        length = (view.ends - view.starts)[positions]
        clitic = view.hashes[positions + 1] == np.uint64(hash_word(_CLITIC))
        following = view.layers[WORD][positions + 1 + clitic].astype(np.uint64)
        odds = next_words().log_odds(following)
        meant = np.where(
            length == len(_ITS),
            ~clitic & (odds >= CERTAIN_LOG_ODDS),
            (length == len(IT)) & ~(clitic & (odds <= -CERTAIN_LOG_ODDS)),
        )
        positions = positions[meant]
        n = len(positions)
        return Instances(positions, np.ones(n, np.int32), np.zeros(n, np.int32), np.full(n, -1, np.int32))


def check_two_labels(group: Group) -> None:
    """Raise D455 for a group that does not have two candidates."""
    if len(group.candidates) != 2:
        raise UserError("D455", group=group.name, n=len(group.candidates))


def opposite_attributes(
    values: NDArray[Any], instances: Instances, group: Group, *, name: str, names: tuple[str, ...]
) -> Features:
    """Return attributes with these values for the second candidate, and their negatives for the first.

    `values` have the shape ``(n, A)``; `name` is the feature group of the attributes, `names` has the name of
    each.
    """
    costs = (np.arange(2) != instances.observed[:, None]).astype(np.float32)
    nothing = np.zeros(2 * len(instances), np.int32)
    column_of = np.arange(2 * len(names)).reshape(2, -1)
    both = np.stack([-values, values], axis=1).astype(np.float32)
    return Features(
        DenseBlocks(both, column_of, _columns(group.candidates, name, names), costs), nothing, nothing
    )


@lru_cache(maxsize=128)
def _columns(candidates: tuple[str, ...], group_name: str, names: tuple[str, ...]) -> Columns:
    """Return the columns of a group: one object, so that what is computed from it is computed once."""
    both = [f"{candidate}: {name}" for candidate in candidates for name in names]
    return Columns.of_group(group_name, len(names), candidates=2, names=both)
