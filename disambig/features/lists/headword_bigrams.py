"""Bigrams of head words: content words that follow one another, whatever other words lie between.

After Gao, Suzuki and Yu (2006): "the letter of the company came" has "letter company", "company came".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from disambig.data.candidate_words import CandidateWords
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.errors import UserError
from disambig.features.lists.as_rows import as_features, columns_named, own_lists
from disambig.features.lists.counting import Ints, Occurrences, counts_of, kept
from disambig.features.lists.known import KnownNgrams, known_of
from disambig.features.lists.units import BETWEEN, WORDS, Units, appended, begun
from disambig.settings import no_setting
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "ADV")


@dataclass(frozen=True, slots=True, eq=False)
class HeadwordBigrams:
    """Extractor of one sparse row a candidate: the counts of the bigrams of its head words.

    Lists say the words of their candidates and the words' tags. Nothing stands for the ends of a text.

    Parameters
    ----------
    tags : sequence of str
        Words whose tag begins with one of these are head words: "名詞" takes "名詞" and "名詞-普通名詞".
    least : int
        Bigrams that fewer lists have in training, in some of their candidates and not in all, are left out.

    Raises
    ------
    UserError
        D452, D663 or D680 for settings that make no sense.
    """

    tags: Sequence[str] = CONTENT
    least: int = 2
    known: KnownNgrams | None = no_setting(None)
    describes: ClassVar[str] = "own"

    def __post_init__(self) -> None:
        if not isinstance(self.least, int) or self.least < 1:
            raise UserError("D452", setting="HeadwordBigrams.least", value=self.least)
        if isinstance(self.tags, str):
            raise UserError("D663", setting="HeadwordBigrams.tags", value=self.tags)
        if not self.tags or not all(isinstance(tag, str) and tag for tag in self.tags):
            raise UserError("D680", value=self.tags, example=json.dumps(CONTENT))

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> HeadwordBigrams:
        """Keep the bigrams that tell candidates of enough lists from one another.

        Raises
        ------
        UserError
            D681 where lists do not say the tags of their words, D682 where no tag is one of `tags`.
        """
        own = own_lists(instances, self)
        words = _tagged(own)
        if len(words.ids) and not self._chosen(words.tag_names).any():
            raise UserError("D682", tags=", ".join(self.tags), names=", ".join(words.tag_names[:20]))
        return replace(self, known=kept(self._bigrams(words), own.offsets, self.least))

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the rows of all candidates.

        Raises
        ------
        UserError
            D681 where lists do not say the tags of their words.
        ValueError
            Where the extractor was not fitted.
        """
        if self.known is None:
            raise ValueError("no bigram is known yet: fit the extractor first")
        own = own_lists(instances, self)
        rows, held = counts_of(self._bigrams(_tagged(own)), own.offsets, self.known)
        kinds = np.zeros(len(self.known), np.int32)
        what = columns_named(self.known.names, kinds, ("headword bigrams",))
        return as_features(rows, what, instances, group, held)

    def state(self) -> Arrays:
        """Return the bigrams."""
        return {} if self.known is None else self.known.state()

    def from_state(self, arrays: Arrays) -> HeadwordBigrams:
        """Return an extractor that knows the bigrams of `state`; ValueError where arrays do not fit."""
        return replace(self, known=known_of(arrays, WORDS) if arrays else None)

    def _chosen(self, names: Sequence[str]) -> np.ndarray:
        return np.array([name.startswith(tuple(self.tags)) for name in names], np.bool_)

    def _bigrams(self, words: CandidateWords) -> _Bigrams:
        head = np.zeros(len(words.ids), np.bool_)
        if words.tags is not None and len(words.ids):
            head = self._chosen(words.tag_names)[words.tags]
        offsets = np.concatenate([[0], np.cumsum(head)])[words.offsets].astype(np.int64)
        return _Bigrams(Units.of(CandidateWords(words.ids[head], offsets, words.spellings)))


@dataclass(frozen=True, slots=True, eq=False)
class _Bigrams:
    """Pairs of words that follow one another, none at the end of a candidate."""

    units: Units

    @property
    def sizes(self) -> Ints:
        return np.diff(self.units.words.offsets)

    def occur(self, first: int, last: int) -> Occurrences:
        offsets = self.units.words.offsets[first : last + 1]
        rows = np.repeat(np.arange(last - first), np.diff(offsets))
        hashes = self.units.hashes[self.units.words.ids[offsets[0] : offsets[-1]]]
        begins = np.flatnonzero(rows[1:] == rows[:-1])
        keys = appended(appended(begun(len(begins)), hashes[begins]), hashes[begins + 1])
        return Occurrences(keys, rows[begins], begins + offsets[0])

    def names(self, places: Ints) -> list[str]:
        return [BETWEEN[WORDS].join(self.units.spelt(place, place + 2)) for place in places.tolist()]


def _tagged(own: CandidateLists) -> CandidateWords:
    """Return the words of lists that have tags; D681 where there are none."""
    if own.words is None and not len(own):
        return CandidateWords.of([])
    if own.words is None or (own.words.tags is None and len(own.words.ids)):
        raise UserError("D681")
    return own.words
