"""Words of treebanks: their probability given each possible tag, and the treebank they are typical of.

Tags of frequent words come from counts, those of rare words from spelling.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from typing import TypeAlias

import numpy as np

from disambig.api.settings import Constraint, is_number, validate_settings

from ..treebank.binarisation import coarse_symbol, node_label, without_parents

LONGEST_SUFFIX = 3


@lru_cache(100_000)
def word_classes(word: str, is_first: bool) -> tuple[str, ...]:
    """Return the classes of a word, from the most general to the narrowest.

    The first depends on spelling: case (a capital at the start of a sentence says less), digits,
    hyphens; the others add its last one, two and three letters.
    """
    letters = [sign for sign in word if sign.isalpha()]
    digits = sum(sign.isdigit() for sign in word)
    shape = ("d" if digits else "") + ("-" if "-" in word[1:] or "\N{EN DASH}" in word else "")
    if digits and not letters:
        shape = "number" if word[0].isdigit() else "signed number"
    elif not letters:
        shape = "signs"
    elif word[0].isupper():
        capitals = sum(sign.isupper() for sign in letters)
        case = "A" if capitals == len(letters) > 1 else "Aa" if capitals == 1 else "AaA"
        shape += case + ("<" if is_first else "")
    else:
        shape += "aA" if any(sign.isupper() for sign in letters) else "a"
    if not word[-1:].isalpha():
        return (shape,)
    ending = word.lower()[-LONGEST_SUFFIX:]
    longest = min(len(ending), max(len(word) - 1, 1))
    return (shape, *(f"{shape} {ending[-n:]}" for n in range(1, longest + 1)))


_SIGNS = (
    (frozenset(",\u060c\u3001\uff0c"), (",",)),
    (frozenset(".!?\u203d\xa1\xbf\u3002\uff01\uff1f"), (".", "?", "!")),
    (frozenset(";:-~\u2010\u2012\u2013\u2014\u2015\u2026\xb7\u2022"), (":", ";", "--", "-")),
    (frozenset("([{<\u2329\u27e8"), ("-LRB-", "(")),
    (frozenset(")]}>\u232a\u27e9"), ("-RRB-", ")")),
    (frozenset('`"\u201c\u2018\u201e\u201a\xab\u2039'), ("``", "`")),
    (frozenset("'\u201d\u2019\xbb\u203a"), ("''", "'")),
)
"""Kinds of punctuation: characters, and usual words, whose tags an unseen word of these characters gets."""


def similar_signs(word: str) -> tuple[str, ...]:
    """Return the usual words for the kind of punctuation of a word, or none if it has no or several kinds."""
    if len(word) > 1 and set(word) == {"."}:
        return "...", *_SIGNS[2][1]
    return next((usual for characters, usual in _SIGNS if word and set(word) <= characters), ())


Shares: TypeAlias = dict[str, float]
Counts: TypeAlias = dict[str, Counter[str]]
_UNSEEN = 0.5
"""Count of an unknown word."""


def _positive_number(maximum: float) -> Constraint:
    """Return the constraint for numbers above 0."""
    wanted = {"wanted": f"a number above 0, {maximum:g} at most"}
    return Constraint("D633", lambda value: is_number(value) and 0 < value <= maximum, lambda _: wanted)


@dataclass(frozen=True, slots=True)
class LexiconSettings:
    """Settings for estimating the tags of words."""

    rare: int = 3  # words with at most this many occurrences represent unknown words
    open: int = 5  # kinds of tags with at least this many different rare words may occur with any word
    prior: float = 0.3  # weight of a word's spelling class, in occurrences
    narrowing: float = 12.0  # weight of a spelling class relative to a narrower one, in occurrences
    parents: float = 3.0  # weight of a kind's symbols relative to those of the word, in occurrences
    known: int = 100  # words with at least this many occurrences have only the tags that they were seen with
    least: float = 1e-4  # smaller probabilities of a symbol given a word are set to zero

    def __post_init__(self) -> None:
        count, share = _positive_number(1e6), _positive_number(0.01)
        validate_settings(self, rare=count, open=count, prior=count, narrowing=count)
        validate_settings(self, parents=count, known=count, least=share)


@dataclass(frozen=True, slots=True, eq=False)
class TagLexicon:
    """Counts of words and spelling classes, and the scores computed from them."""

    words: Counts  # counts of symbols for each word
    # counts of kinds among rare words for each spelling class; the empty name is for all rare words
    looks: Counts
    settings: LexiconSettings = LexiconSettings()
    _symbols: Shares = field(init=False, repr=False)
    _kinds: dict[str, Shares] = field(init=False, repr=False)
    _tags: frozenset[str] = field(init=False, repr=False)
    _seen: dict[tuple[str, bool], Shares] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        totals: Counter[str] = Counter()
        for counts in self.words.values():
            totals.update(counts)
        kinds: dict[str, Shares] = defaultdict(dict)
        for symbol, count in totals.items():
            kinds[without_parents(symbol)][symbol] = count
        shares = {kind: _shares(counts) for kind, counts in kinds.items()}
        object.__setattr__(self, "_symbols", {symbol: float(np.log(n)) for symbol, n in totals.items()})
        object.__setattr__(self, "_kinds", shares)
        object.__setattr__(self, "_tags", frozenset(map(node_label, shares)))

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Sequence[tuple[str, str]]], settings: LexiconSettings | None = None
    ) -> TagLexicon:
        """Return the lexicon of sentences, given as words with the symbols of their tags."""
        settings = settings or LexiconSettings()
        tagged = [list(sentence) for sentence in sentences]
        words: Counts = defaultdict(Counter)
        for sentence in tagged:
            for word, symbol in sentence:
                words[word][symbol] += 1
        looks: Counts = defaultdict(Counter)
        types: dict[str, set[str]] = defaultdict(set)
        rare = {word for word, counts in words.items() if counts.total() <= settings.rare}
        for sentence in tagged:
            for word, symbol in sentence:
                if word in rare:
                    types[without_parents(symbol)].add(word)
        for sentence in tagged:
            for place, (word, symbol) in enumerate(sentence):
                kind = without_parents(symbol)
                if word in rare and len(types[kind]) >= settings.open:
                    for name in ("", *word_classes(word, place == 0)):
                        looks[name][kind] += 1
        if not looks:  # there are so few words that no kind is open: treat all kinds as open
            for counts in words.values():
                looks[""].update(without_parents(symbol) for symbol in counts)
        return cls(dict(words), dict(looks), settings)

    def coarse(self) -> TagLexicon:
        """Return the lexicon of the same words with plain tags."""
        return TagLexicon(_coarse(self.words), _coarse(self.looks), self.settings)

    @property
    def tags(self) -> frozenset[str]:
        """The labels of all tags."""
        return self._tags

    def scores(self, words: Sequence[str], tags: Sequence[str] | None = None) -> list[Shares]:
        """Return the log probability of each word given each of its possible symbols.

        A word with a known label in `tags` has only that tag.
        """
        shares = [self._word_shares(word, place == 0) for place, word in enumerate(words)]
        if tags is None:
            return shares
        tagged_shares = zip(words, shares, tags, strict=True)
        return [self._with_tag(word, scores, tag) for word, scores, tag in tagged_shares]

    def _word_shares(self, word: str, is_first: bool) -> Shares:
        """Return log P(word | symbol), up to a constant for an unseen word."""
        cached = self._seen.get((word, is_first))
        if cached is not None:
            return cached
        counts = self.words.get(word, Counter())
        if not counts and is_first:
            counts = self.words.get(word[:1].lower() + word[1:], counts)
        if not counts:
            like = next((sign for sign in similar_signs(word) if sign in self.words), None)
            counts = counts if like is None else self.words[like]
        looks = self._shape_shares(word, is_first)
        total = counts.total()
        prior = self.settings.prior if total < self.settings.known else 0.0
        by_kind: Counter[str] = Counter()
        for symbol, n in counts.items():
            by_kind[without_parents(symbol)] += n
        shares: Shares = {}
        for kind in sorted(by_kind.keys() | looks.keys() if prior else by_kind):
            share = (by_kind[kind] + prior * looks.get(kind, 0.0)) / (total + prior)
            if share < self.settings.least:
                continue
            symbols = self._kinds[kind]
            weight = self.settings.parents if len(symbols) > 1 else 0.0
            for symbol, usual in sorted(symbols.items()):
                part = (counts[symbol] + weight * usual) / (by_kind[kind] + weight) if weight else 1.0
                if share * part >= self.settings.least:
                    shares[symbol] = share * part
        log_count = np.log(max(total, _UNSEEN))
        scores = {
            symbol: float(np.log(share) + log_count - self._symbols[symbol])
            for symbol, share in shares.items()
        }
        if len(self._seen) < 200_000:
            self._seen[word, is_first] = scores
        return scores

    def _shape_shares(self, word: str, is_first: bool) -> Shares:
        """Return P(kind | spelling class), each class smoothed with the more general one."""
        shares = _shares(self.looks[""])
        for name in word_classes(word, is_first):
            counts = self.looks.get(name)
            if counts is None:
                break
            weight = self.settings.narrowing
            total = counts.total() + weight
            shares = {kind: (counts.get(kind, 0) + weight * p) / total for kind, p in shares.items()}
        return shares

    def _with_tag(self, word: str, scores: Shares, tag: str) -> Shares:
        """Return the scores of the symbols of a tag.

        All scores are returned if the lexicon does not know the tag, or if a frequent word or a punctuation
        mark never has it in the treebank: then the tagger follows another convention (`;` as ``,`` or ``:``).
        """
        if tag not in self.tags:
            return scores
        kept = {symbol: score for symbol, score in scores.items() if node_label(symbol) == tag}
        if kept:
            return kept
        total = self.words[word].total() if word in self.words else 0
        if total >= self.settings.known or not any(map(str.isalnum, word)):
            return scores
        return {
            symbol: float(np.log(_UNSEEN * share) - self._symbols[symbol])
            for kind, symbols in self._kinds.items()
            if node_label(kind) == tag
            for symbol, share in symbols.items()
        }


def _coarse(counts: Counts) -> Counts:
    """Return counters of coarse symbols."""
    coarse: Counts = {name: Counter() for name in counts}
    for name, counter in counts.items():
        for symbol, n in counter.items():
            coarse[name][coarse_symbol(symbol)] += n
    return coarse


def _shares(counts: Mapping[str, float]) -> Shares:
    """Return each count divided by their sum."""
    total = sum(counts.values())
    return {name: n / total for name, n in counts.items()}


_DOMAIN_PRIOR = 0.5
"""Count that is added to that of each word in each treebank."""


@dataclass(frozen=True, slots=True, eq=False)
class WordDomains:
    """Which of several treebanks the words of a sentence are typical of.

    Words that are in none of them do not count.
    """

    # for each word a tuple of ln P(word | treebank), one for each treebank
    scores: dict[str, tuple[float, ...]]

    @classmethod
    def from_lexicons(cls, lexicons: Sequence[TagLexicon]) -> WordDomains:
        """Return the domains of the treebanks that lexicons come from; one lexicon needs no words."""
        if len(lexicons) == 1:
            return cls({})
        counts = [{word: tags.total() for word, tags in lexicon.words.items()} for lexicon in lexicons]
        words = {word for frequencies in counts for word in frequencies}
        totals = [sum(frequencies.values()) + _DOMAIN_PRIOR * len(words) for frequencies in counts]
        return cls(
            {
                word: tuple(
                    log((frequencies.get(word, 0) + _DOMAIN_PRIOR) / total)
                    for frequencies, total in zip(counts, totals, strict=True)
                )
                for word in sorted(words)
            }
        )

    def choose(self, words: Sequence[str]) -> int:
        """Return the index of the treebank under which the words are most probable; of equals the first."""
        if words and words[0] not in self.scores:
            words = [words[0][:1].lower() + words[0][1:], *words[1:]]
        word_scores = [self.scores[word] for word in words if word in self.scores]
        sums = [sum(column) for column in zip(*word_scores, strict=True)]
        return max(range(len(sums)), key=lambda i: sums[i]) if sums else 0
