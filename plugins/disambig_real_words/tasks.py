"""The tasks *article*, *doubled*, *form* and *slip*, which share a model of words in context."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Decides, Group, Instances, TokenView, UserError
from disambig.api.features import Cloze, ContextPlaces, context_vectors, open_cloze, score_candidates
from disambig.api.tasks import CandidateLists, word_tokens

from .places import (
    EVERY_PLACE,
    ZERO,
    insertion_lists,
    join_places,
    missing_words,
    open_places,
    removable_words,
)
from .relations import ENGLISH_RELATIONS, KINDS, WordRelations, is_word, load_relations, normalise_word
from .running_text import in_running_text, is_before_punctuation, is_repeated, is_word_part
from .sounds import A_AN, ENGLISH_SOUNDS, WordSounds, log_odds_after, read_sounds


@dataclass(frozen=True, kw_only=True)
class InContext:
    """A task that finds open places with a model of words in context.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that contains one.
    name, language : str
        Name and language of the task; the name is the default key of its annotations.
    """

    words: str | Path = "disambig_en"
    name: str = "words"
    language: str = "en"
    decides: ClassVar[Decides] = Decides("words", "own")
    folders: ClassVar[tuple[str, ...]] = ("words", "relations")

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group without fixed candidates; each instance has its own."""
        return (Group(self.name, ()),)

    @cached_property
    def model(self) -> Cloze:
        """The model of words in context."""
        return open_cloze(self.words)

    def check_files(self) -> str:
        """Read the model and return a line that describes it."""
        return f"a model of {len(self.model.vocabulary):,} words in context"

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings only; another process reads the files again."""
        return {setting.name: getattr(self, setting.name) for setting in fields(self)}


ARTICLES = ("a", "an", "the")
CLEAR = 1.0
"""Log-odds of the sound from which on the form of an article ("a" or "an") counts as correct."""


@dataclass(frozen=True, kw_only=True)
class Article(InContext):
    """Decide between the articles and no article.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that contains one.
    articles : sequence of str
    sounds : path, optional
        A table of word-initial sounds (see `sounds`); by default the English one. It decides between "a" and
        "an" before unknown words.
    least : float
        Minimum log-odds of another candidate against the observed one for a place to be decided.
    least_missing : float
        The same for empty places. The model saw only a part of the empty places of its training text, and
        therefore overestimates words there.
    name, language : str
        Name and language of the task; the name is the default key of its annotations.

    Raises
    ------
    UserError
        On first use D996 if `articles` is not a list of words, D998 for a file that is not a table of sounds.
    """

    articles: tuple[str, ...] | list[str] = ARTICLES
    sounds: str | Path | None = None
    least: float = -2.0
    least_missing: float = -0.5
    name: str = "article"
    folders: ClassVar[tuple[str, ...]] = (*InContext.folders, "sounds")
    concerns: ClassVar[str] = "grammar"

    def instances(self, view: TokenView) -> Instances:
        """Return the articles for which another or none fits nearly as well, and open empty places."""
        return self._places(view, self.least, self.least_missing)

    def examples(self, view: TokenView) -> Instances:
        """Return all articles and all empty places, each with all articles and the empty candidate."""
        return self._places(view, EVERY_PLACE, EVERY_PLACE)

    def check_files(self) -> str:
        """Read the model and the sounds, and return a line that describes them."""
        return f"{super().check_files()}; {len(self.word_sounds):,} beginnings of words by their sound"

    @cached_property
    def word_sounds(self) -> WordSounds:
        """The table of word-initial sounds."""
        return read_sounds(self.sounds or ENGLISH_SOUNDS)

    def _places(self, view: TokenView, least: float, least_missing: float) -> Instances:
        articles = insertion_lists("articles", self.articles)
        number = articles.find(view.hashes)
        beside = number >= 0
        twice = np.zeros(len(view), bool)  # a repeated article is for the task *doubled*
        twice[:-1] = beside[:-1] & (number[:-1] == number[1:])
        twice[1:] |= twice[:-1]
        hints = self._by_sound(view, number, articles)
        return join_places(
            [
                removable_words(self.model, view, articles, least=least, apart=twice, hints=hints),
                missing_words(self.model, view, articles, least=least_missing, beside=beside),
            ]
        )

    def _by_sound(
        self, view: TokenView, number: NDArray[np.int64], articles: WordRelations
    ) -> NDArray[np.int64]:
        """Return hints for `removable_words`: "a" or "an" by the sound of the next word."""
        hints = np.full(len(view), -1)
        if not set(A_AN) <= set(articles.spellings):
            return hints
        a, an = map(articles.spellings.index, A_AN)
        at = np.flatnonzero(((number == a) | (number == an)) & (view.ends > view.starts))
        odds = log_odds_after(self.word_sounds, view, at)
        other, wrong = np.where(number[at] == a, an, a), np.where(number[at] == a, odds, -odds)
        hints[at] = np.select([wrong > 0, wrong <= -CLEAR], [other, -2 - other], -1)
        return hints


MISSING = (
    "to be is are was were been has have had do does not that and or it you we they can will would should if "
    "which when this so of in for with as on at by from"
).split()
NO_NAMES = 500
"""This many most frequent words count as words even if they have a capital, as in "The The"."""


@dataclass(frozen=True, kw_only=True)
class Doubled(InContext):
    """Decide whether the second word of a repetition belongs there, and whether a function word is missing.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that contains one.
    missing : sequence of str
        Words that may be missing; if it is empty, only doubled words are decided.
    most_twice : float
        Maximum log-odds of the repeated word against no word for a place to be decided. Above it the
        repetition may be intended, as in "had had" or "what it is is this". With infinity every repetition is
        decided without the model, except words with a capital, which count as names. With a smaller value,
        these count as names unless they are among the model's most frequent words.
    least_missing : float
        Minimum log-odds of a missing word against no word for an empty place to be decided.
    name, language : str
        Name and language of the task; the name is the default key of its annotations.

    Raises
    ------
    UserError
        On first use D996 if `missing` is not a list of words.
    """

    missing: tuple[str, ...] | list[str] = tuple(MISSING)
    most_twice: float = -4.0
    least_missing: float = 0.0
    name: str = "doubled"
    concerns: ClassVar[str] = "repetition"

    def instances(self, view: TokenView) -> Instances:
        """Return the words that repeat the previous one, and the places where a word may be missing."""
        return self._places(view, self.least_missing)

    def examples(self, view: TokenView) -> Instances:
        """Return the words that repeat the previous one, and all places where a word may be missing."""
        return self._places(view, EVERY_PLACE)

    def _places(self, view: TokenView, least: float) -> Instances:
        parts = [self._doubled(view, least)]
        if self.missing:
            words = insertion_lists("missing", self.missing)
            parts.append(missing_words(self.model, view, words, least=least))
        return join_places(parts)

    def _doubled(self, view: TokenView, least: float) -> Instances:
        """Return the words that repeat the previous one, except those that fit the context."""
        twice = self._twice(view)
        if least == EVERY_PLACE or self.most_twice == np.inf or not len(twice):
            return twice
        model, row = self.model, np.arange(len(twice))
        states = context_vectors(model, view, ContextPlaces(twice.positions, twice.positions + 1))
        words = model.vocabulary.hash_numbers(view.hashes[twice.positions])
        nothing = np.full(len(twice), model.nothing, np.int32)
        fits = score_candidates(model, states, row, words) - score_candidates(model, states, row, nothing)
        return twice.take(np.flatnonzero(~(fits > self.most_twice)))  # unknown words (NaN) stay

    def _twice(self, view: TokenView) -> Instances:
        """Return the words that repeat the previous one, regardless of the context, but not names."""
        words = word_tokens(view)
        at = np.flatnonzero(words[1:] & words[:-1] & (view.hashes[1:] == view.hashes[:-1])) + 1
        ones = np.ones(len(at), np.int32)
        both = at - 1, ones + 1  # the first of the two may be a part of a larger word as well
        at = at[~is_word_part(view, *both) & in_running_text(view, *both)]
        documents = view.document_indices(at).tolist()
        spans = zip(documents, view.starts[at].tolist(), view.ends[at].tolist(), strict=True)
        texts = [view.texts[document][start:end] for document, start, end in spans]
        names = [not text.islower() for text in texts]
        if any(names) and self.most_twice < np.inf:
            rank = self.model.vocabulary.hash_numbers(view.hashes[at])
            names = (np.array(names) & ((rank < 0) | (rank >= NO_NAMES))).tolist()
        kept = [i for i, text in enumerate(texts) if is_word(normalise_word(text)) and not names[i]]
        own = CandidateLists.from_texts([(normalise_word(texts[i]), ZERO) for i in kept])
        zeros = np.zeros(len(kept), np.int32)
        return Instances(at[kept], zeros + 1, zeros, zeros.copy(), own)


@dataclass(frozen=True, kw_only=True)
class OtherWords(InContext):
    """Decide between each word and its related words.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that contains one.
    relations : path, optional
        A file of words that are confused with each other (see `relations`); by default the English one.
    kinds : sequence of str
        The kinds of relations in that file that are used.
    least : float
        Minimum log-odds of another word against the observed one for a place to be decided.
    name, language : str
        Name and language of the task; the name is the default key of its annotations.

    Raises
    ------
    UserError
        On first use D995 for an invalid file, D997 for unknown `kinds`.
    """

    relations: str | Path | None = None
    kinds: tuple[str, ...] | list[str] = KINDS
    least: float = -2.0
    name: str = "other"

    @cached_property
    def related(self) -> WordRelations:
        """The words that may have been meant instead of each word."""
        kinds = () if isinstance(self.kinds, str) else tuple(self.kinds)
        if not kinds or not set(kinds) <= set(KINDS):
            raise UserError("D997", seen=self.kinds, known=", ".join(KINDS))
        return load_relations(str(self.relations or ENGLISH_RELATIONS), kinds)

    def check_files(self) -> str:
        """Read the model and the relations, and return a line that describes them."""
        return f"{super().check_files()}; {len(self.related.spellings):,} words with others"

    def instances(self, view: TokenView) -> Instances:
        """Return the words for which a related one fits nearly as well, or better."""
        return self._places(view, self.least)

    def examples(self, view: TokenView) -> Instances:
        """Return all words that have related words, each with all of these."""
        return self._places(view, EVERY_PLACE)

    def _places(self, view: TokenView, least: float) -> Instances:
        number = self.related.find(view.hashes)
        positions = np.flatnonzero((number >= 0) & word_tokens(view) & ~is_repeated(view))
        number = number[positions]
        offsets, others = self.related.offsets, self.related.others
        sizes = offsets[number + 1] - offsets[number]
        begins = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
        row = np.repeat(np.arange(len(positions)), sizes + 1)
        within = np.arange(begins[-1]) - begins[row]
        related = others[np.maximum(offsets[number][row] + within - 1, 0)]
        lists = (
            begins,
            np.where(within == 0, number[row], related),
        )  # the observed word is the first candidate
        ones = np.ones(len(positions), np.int32)
        return open_places(self.model, view, positions, ones, self.related, lists, least=least)


@dataclass(frozen=True, kw_only=True)
class Form(OtherWords):
    """Decide between the forms of a word, words derived from it, and its possessive.

    Parameters
    ----------
    words, relations, kinds, least, name, language : settings of `OtherWords`
    """

    kinds: tuple[str, ...] | list[str] = ("form", "derived", "possessive")
    name: str = "form"

    def instances(self, view: TokenView) -> Instances:
        """Return the words for which a related one fits nearly as well, or better.

        A possessive before punctuation is left out: "my sister's." refers to something mentioned before.
        """
        instances = super().instances(view)
        if instances.own is None or not len(instances):
            return instances
        firsts = [instances.own.texts[i] for i in instances.own.offsets[:-1].tolist()]  # the observed words
        possessive = np.array([text.endswith(("'s", "s'")) for text in firsts], bool)
        return instances.take(
            np.flatnonzero(~(possessive & is_before_punctuation(view, instances.positions)))
        )

    concerns: ClassVar[str] = "grammar"


@dataclass(frozen=True, kw_only=True)
class Slip(OtherWords):
    """Decide between real words that differ by a slip of the pen or the finger.

    Parameters
    ----------
    words, relations, kinds, least, name, language : settings of `OtherWords`
    """

    kinds: tuple[str, ...] | list[str] = ("slip",)
    name: str = "slip"
    concerns: ClassVar[str] = "confusion"
