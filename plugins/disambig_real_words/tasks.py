"""The tasks *article*, *doubled*, *form* and *slip*, which share a model of words in context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Decides, Group, Instances, TokenView, UserError
from disambig.api.arrays import Ragged, row_owners, row_ranks
from disambig.api.features import Cloze, ContextPlaces, context_vectors, open_cloze, score_candidates
from disambig.api.tasks import (
    ENGLISH_RULES,
    Correction,
    RuleSet,
    empty_places,
    english_rule,
    word_tokens,
)
from disambig.api.text import (
    END_HASH,
    START_HASH,
    begins_gerund_subject,
    hash_words,
    tokenisation_named,
    view_of_texts,
)

from .clauses import (
    agrees_with_head,
    clause_before,
    follows_opening_clause,
    has_gerund_subject,
    is_after_organisation,
    is_after_title,
    is_unreal_past,
    may_be_elliptical,
    may_be_subjunctive,
)
from .phrases import ENGLISH_PHRASES, PhraseMatches, PhraseTable, read_phrases
from .places import (
    EVERY_PLACE,
    NO_PLACES,
    ZERO,
    insertion_lists,
    join_places,
    listed_places,
    model_word_ids,
    open_between,
    open_places,
    take_where,
)
from .relations import ENGLISH_RELATIONS, KINDS, WordRelations, is_word, load_relations, normalise_word
from .repeated import ENGLISH_REPEATED, RIGHT, UNDECIDED, WRONG, RepeatedWords, is_enclosed, read_repeated
from .running_text import (
    has_hidden_subject,
    in_running_text,
    is_after_plural_name,
    is_alone_in_line,
    is_before_punctuation,
    is_code,
    is_repeated,
    is_word_part,
)
from .sounds import A_AN, CLEAR, ENGLISH_SOUNDS, WordSounds, log_odds_after, read_sounds


@dataclass(frozen=True, kw_only=True)
class InContext:
    """A task that finds open places with a model of words in context."""

    words: str | Path = "disambig_en"  # folder of the model, or name of a pack that contains one
    name: str = "words"  # the default key of its annotations
    language: str = "en"
    decides: ClassVar[Decides] = Decides("words", "lists")
    folders: ClassVar[tuple[str, ...]] = ("words", "relations")
    rules: ClassVar[RuleSet] = ENGLISH_RULES

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


@dataclass(frozen=True, kw_only=True)
class KnowsPhrases(InContext):
    """A task that leaves out the words of phrases that are right.

    `phrases` is a table of phrases that are right in any context, or mistakes (see the module of that name);
    by default the English one, and none for other languages.
    """

    phrases: str | Path | None = None
    folders: ClassVar[tuple[str, ...]] = (*InContext.folders, "phrases")

    @cached_property
    def known_phrases(self) -> PhraseTable:
        """The table of phrases; it is empty if there is none for the language."""
        path = self.phrases or (ENGLISH_PHRASES if self.language == "en" else None)
        return PhraseTable() if path is None else read_phrases(str(path))

    def right_words(self, view: TokenView) -> NDArray[np.bool_] | None:
        """Return the words of phrases that are right: no model that decides with this one flags them."""
        return self.known_phrases.right_words(view)

    def outside_right_phrases(self, view: TokenView, places: Instances) -> Instances:
        """Return the places that are not in a phrase that is right."""
        right = self.known_phrases.right_words(view)
        return places if right is None else take_where(places, ~right[places.positions])


ARTICLES = ("a", "an", "the")
DETERMINERS = frozenset((*ARTICLES, "any", "this", "that", "these", "those", "each", "its", "their", "our"))
_THIRD_PERSONS = {"be": ("is", "are"), "have": ("has",), "do": ("does",), "go": ("goes",)}
SINGULAR_AUXILIARIES = ("is", "was", "has", "does")
PLURAL_AUXILIARIES = ("are", "were", "have", "do")
AUXILIARIES = (*SINGULAR_AUXILIARIES, *PLURAL_AUXILIARIES)
SINGULAR_VERBS = (
    *SINGULAR_AUXILIARIES,
    *(
        "describes explains provides contains shows lists defines allows gives includes uses supports"
        " requires returns covers discusses introduces presents specifies becomes means needs lets makes"
        " depends consists works runs offers"
    ).split(),
)
"""Verbs that often follow the name of a chapter, a menu or a program."""


@dataclass(frozen=True, kw_only=True)
class Article(KnowsPhrases):
    """Decide between the articles and no article.

    Parameters
    ----------
    articles : sequence of str
    sounds : path, optional
        A table of word-initial sounds (see `sounds`); by default the English one. It decides between "a" and
        "an" before unknown words.
    least : float
        Minimum log-odds of another candidate against the observed one for a place to be decided.
    least_missing : float
        The same for empty places. The model saw only a part of the empty places of its training text, and
        therefore overestimates words there.
    phrases : path, optional
        A table of phrases that are right in any context, such as "on Monday mornings", or mistakes, such as
        "could of" (see `phrases`); by default the English one, and none for other languages.
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that contains one.
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
    folders: ClassVar[tuple[str, ...]] = (*KnowsPhrases.folders, "sounds")
    concerns: ClassVar[str] = "grammar"

    def instances(self, view: TokenView) -> Instances:
        """Return the articles for which another or none fits nearly as well, and open empty places.

        Words in a phrase that is right are left out: "a" is a name in "the point a is".
        """
        return self.outside_right_phrases(view, self._places(view, self.least, self.least_missing))

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

    def _places(self, view: TokenView, minimum: float, least_missing: float) -> Instances:
        """Return the articles that may be wrong, and the empty places where one may be missing."""
        articles = self._article_words
        number = articles.find(view.hashes)
        is_article = number >= 0
        empty = empty_places(view)
        empty = empty[~(is_article[empty] | is_article[empty - 1])]
        left_alone = is_repeated(view)  # a repeated article is for the task *doubled*
        if "protected" in view.layers:  # "the A key": the model would read two articles
            left_alone = left_alone.copy()
            left_alone[:-1] |= is_article[1:] & view.layers["protected"][1:].astype(bool)
        at = (is_article & ~left_alone & (view.ends > view.starts)).nonzero()[0]
        hints = self._sound_hints(view, number, articles)
        return open_between(
            self.model, view, articles, at, empty, minimum=minimum, least_missing=least_missing, hints=hints
        )

    @cached_property
    def _article_words(self) -> WordRelations:
        return insertion_lists("articles", self.articles)

    def _sound_hints(
        self, view: TokenView, number: NDArray[np.int64], articles: WordRelations
    ) -> NDArray[np.int64]:
        """Return hints for `open_between`: "a" or "an" by the sound of the next word."""
        hints = np.full(len(view), -1)
        if not set(A_AN) <= set(articles.spellings):
            return hints
        a, an = map(articles.spellings.index, A_AN)
        at = np.flatnonzero(((number == a) | (number == an)) & (view.ends > view.starts))
        if not len(at):
            return hints
        odds = log_odds_after(self.word_sounds, view, at)
        # the other one of the two, and the log-odds that it is right and the written one wrong
        other, wrong = np.where(number[at] == a, an, a), np.where(number[at] == a, odds, -odds)
        is_right = (wrong <= -CLEAR) | np.isnan(wrong)  # nobody knows how hidden code is spoken
        hints[at] = np.select([is_right, wrong > 0], [-2 - other, other], -1)
        return hints


MISSING = (
    "to be is are was were been has have had do does not that and or it you we they can will would should if "
    "which when this so of in for with as on at by from"
).split()
NO_NAMES = 500
"""This many most frequent words count as words even if they have a capital, as in "The the"."""
FUNCTION_WORDS = 100
"""About this many most frequent words are function words, which are repeated by mistake in markup as well."""
SHORT = 3
"""Rare words of up to so many letters may be sounds or names: the table does not decide their repetition."""
CERTAIN, LIKELY = 0.97, 0.9
"""Probability that a repetition is a mistake: of one of the most frequent words, and of another word."""
CERTAIN_PHRASE = 0.999
"""Probability of a mistake of the table of phrases: higher than that of models that see a part of it only."""
FREQUENT = 2000
"""Number of the most frequent words among which the probability of a word is computed."""
RELATIVES = hash_words(["that", "which", "who"])
"""After these a verb may be followed by the same word as a noun or as the verb of the main clause."""
MIN_RIVAL = 1.0
"""Minimum log-odds of another word against no word to replace a repeated word instead of removing it."""
MIN_GAIN = 3.0
"""Minimum gain in log-probability of the word that stays, beside the other word instead of alone."""


def repetition_rule(correction: Correction) -> str:
    """Return the rule of a correction by `Doubled`: the only words that it removes are repeated ones."""
    return english_rule(correction) if correction.replacement else "doubled-word"


@dataclass(frozen=True, kw_only=True)
class Doubled(InContext):
    """Decide whether the second word of a repetition belongs there, and whether a function word is missing.

    Parameters
    ----------
    missing : sequence of str
        Words that may be missing; if it is empty, only doubled words are decided.
    most_twice : float
        Maximum log-odds of the repeated word against no word for a place to be decided. Above it the
        repetition may be intended, as in "had had" or "what it is is this". With infinity every repetition is
        decided without the model, except words with a capital, which count as names. With a smaller value,
        these count as names unless they are among the model's most frequent words.
    least_missing : float
        Minimum log-odds of a missing word against no word for an empty place to be decided.
    repeated : path, optional
        A table of the words that may stand twice (see `repeated`); by default the English one. All other
        repetitions are mistakes; without a table, as for other languages, the model decides all of them.
    relations : path, optional
        A file of words that are confused with each other (see `relations`); by default the English one. A
        repetition may be a slip for another word: "is is better" for "it is better".
    words, name, language : settings of `Article`

    Raises
    ------
    UserError
        On first use D995 for an invalid file, D996 if `missing` is not a list of words.
    """

    missing: tuple[str, ...] | list[str] = tuple(MISSING)
    most_twice: float = -4.0
    least_missing: float = 0.0
    repeated: str | Path | None = None
    relations: str | Path | None = None
    name: str = "doubled"
    folders: ClassVar[tuple[str, ...]] = (*InContext.folders, "repeated")
    concerns: ClassVar[str] = "repetition"
    rules: ClassVar[RuleSet] = RuleSet(ENGLISH_RULES.rules, repetition_rule, "en")

    def instances(self, view: TokenView) -> Instances:
        """Return the words that repeat the previous one, and the places where a word may be missing."""
        return self._places(view, self.least_missing)

    def examples(self, view: TokenView) -> Instances:
        """Return the words that repeat the previous one, and all places where a word may be missing."""
        return self._places(view, EVERY_PLACE)

    def _places(self, view: TokenView, minimum: float) -> Instances:
        parts = [self._unexcused_repetitions(view, minimum)]
        if self.missing:
            words, none, empty = self._missing_words, np.zeros(0, np.int64), empty_places(view)
            missing = open_between(
                self.model, view, words, none, empty, minimum=minimum, least_missing=minimum
            )
            parts.append(missing)
        return join_places(parts)

    @cached_property
    def _missing_words(self) -> WordRelations:
        return insertion_lists("missing", self.missing)

    @cached_property
    def repeated_words(self) -> RepeatedWords:
        """The table of the words that may stand twice; it is empty if there is none for the language."""
        path = self.repeated or (ENGLISH_REPEATED if self.language == "en" else None)
        return RepeatedWords() if path is None else read_repeated(str(path))

    def check_files(self) -> str:
        """Read the model and the table, and return a line that describes them."""
        return f"{super().check_files()}; {len(self.repeated_words):,} words that may stand twice"

    def certain_mistakes(
        self, view: TokenView, instances: Instances
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return the repetitions that are mistakes by the table (see `disambig.types.TaskTraits`)."""
        rows = np.flatnonzero(instances.lengths == 1)
        if self.most_twice == np.inf or instances.lists is None or not len(rows):
            return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)
        at = instances.positions[rows]
        at = at + (view.hashes[at] != view.hashes[at - 1])  # the first word of a repetition may be replaced
        wrong = self._judge(view, at) == WRONG
        rows, at = rows[wrong], at[wrong]
        sizes = np.diff(instances.lists.offsets)[rows]
        rank = self.model.vocabulary.hash_numbers(view.hashes[at])
        return rows, (sizes - 1).astype(np.int32), np.where((rank >= 0) & (rank < NO_NAMES), CERTAIN, LIKELY)

    def _judge(self, view: TokenView, positions: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return what the table says about repetitions, with exceptions for rare words, names and code."""
        if not len(self.repeated_words):
            return np.full(len(positions), UNDECIDED, np.int8)
        judged = self.repeated_words.judge(view, positions)
        rank = self.model.vocabulary.hash_numbers(view.hashes[positions])
        short = view.ends[positions] - view.starts[positions] <= SHORT
        judged[(judged == WRONG) & short & ((rank < 0) | (rank >= FREQUENT))] = UNDECIDED  # "goo goo"
        after_relative = np.isin(view.hashes[positions - 2], RELATIVES)  # "a list that changes changes it"
        has_content = (rank < 0) | (rank >= FUNCTION_WORDS)
        judged[has_content & after_relative] = RIGHT
        for row in np.flatnonzero((rank >= 0) & (rank < NO_NAMES)).tolist():
            if is_enclosed(view, positions[row] - 1, positions[row]):  # a mention of the mistake: *the the*
                judged[row] = RIGHT
        for row in np.flatnonzero((judged == WRONG) & has_content).tolist():
            if is_enclosed(view, positions[row]) != is_enclosed(view, positions[row] - 1):
                judged[row] = RIGHT  # a word and a name: "the type *type*"
            elif is_alone_in_line(view, positions[row] - 1):
                judged[row] = RIGHT  # commands in lines of their own: "make", "make install"
        return judged

    def _unexcused_repetitions(self, view: TokenView, minimum: float) -> Instances:
        """Return repetitions that are mistakes by the table, and undecided ones that the model rejects."""
        repetitions = self._repetitions(view)
        if minimum == EVERY_PLACE or self.most_twice == np.inf or not len(repetitions):
            return repetitions
        judged = self._judge(view, repetitions.positions)
        undecided = repetitions.take(np.flatnonzero(judged == UNDECIDED))
        wrong = repetitions.positions[judged == WRONG]
        return join_places([self._with_rivals(view, wrong), self._rejected_by_model(view, undecided)])

    def _with_rivals(self, view: TokenView, positions: NDArray[np.int64]) -> Instances:
        """Return repetitions with the word that one of the two is a slip for, if it fits better than none."""
        lists, places = [], []
        path = self.relations or (ENGLISH_RELATIONS if self.language == "en" else None)
        related = None if path is None else load_relations(str(path), ("slip",))
        words = [normalise_word(text[start:end]) for text, start, end in view.locate(positions)]
        best: Iterable[tuple[int, str]] = ((at, "") for at in positions.tolist())
        if related is not None:
            best = self._best_rivals(view, positions, words, related)
        for at, word, (place, rival) in zip(positions.tolist(), words, best, strict=True):
            if not rival and is_enclosed(view, at):  # removing it would leave empty markup
                place = at - 1
            lists.append((word, ZERO, rival) if rival else (word, ZERO))
            places.append(place)
        return listed_places(np.array(places, np.int64), lists)

    def _best_rivals(
        self, view: TokenView, positions: NDArray[np.int64], words: Sequence[str], related: WordRelations
    ) -> Iterator[tuple[int, str]]:
        """Yield the place of each repetition at which a related word fits best, and the word, or ""."""
        model = self.model
        numbers = related.find(view.hashes[positions])
        beside = view.hashes[np.concatenate([positions - 2, positions + 1])]
        edges = np.array([START_HASH, END_HASH], np.uint64)
        have_context = np.isin(beside, edges) | (model.vocabulary.hash_numbers(beside) >= 0)
        # without its context a rival is a guess; an article is simply doubled
        compared = (numbers >= 0) & have_context.reshape(2, -1).all(axis=0)
        compared &= np.array([word not in ARTICLES for word in words], bool)

        # log-odds of each related word against no word, at both places of each repetition
        numbers, places = numbers[compared], np.stack([positions - 1, positions], axis=1)[compared].ravel()
        others = related.others.take(np.repeat(numbers, 2))  # of the first and of the second word
        states = context_vectors(model, view, ContextPlaces(places, places + 1))
        rows = row_owners(others.offsets)
        scores = score_candidates(model, states, rows, model_word_ids(model, related)[others.values])
        nothing = np.full(len(places), model.nothing, np.int32)
        scores -= score_candidates(model, states, np.arange(len(places)), nothing)[rows]
        odds = np.nan_to_num(scores, nan=-np.inf)

        # the best of them, if it is likely enough and the word that stays fits better beside it
        pairs = iter(range(0, len(places), 2))
        for at, is_compared in zip(positions.tolist(), compared.tolist(), strict=True):
            place, rival = at, ""
            if is_compared:
                pair = next(pairs)
                first, middle, end = others.offsets[pair : pair + 3].tolist()  # `middle`: of the second place
                best = first + int(odds[first:end].argmax())
                if odds[best] >= MIN_RIVAL:
                    word = related.spellings[int(others.values[best])]
                    if self._gain(view, at, int(best >= middle), word) >= MIN_GAIN:
                        place, rival = at - (best < middle), word
            yield place, rival

    def _gain(self, view: TokenView, at: int, place: int, rival: str) -> float:
        """Return by how much a word of a repetition fits better beside a rival in place of the other one.

        A word that joins clauses fits nearly everywhere ("then the file"), so that its own score says little.
        """
        first, stop = view.sentence_bounds(at)
        text = view.document_text(at)
        start, end, word = int(view.starts[at - 1]), int(view.ends[at]), view.written(at)
        before, after = text[int(view.starts[first + 1]) : start], text[end : int(view.ends[stop - 2])]
        alone = self._fit(before, word, after)
        if place == 0:
            return self._fit(f"{before}{rival} ", word, after) - alone
        return self._fit(before, word, f" {rival}{after}") - alone

    def _fit(self, before: str, word: str, after: str) -> float:
        """Return the log-probability of a word between two texts, among the most frequent words."""
        model = self.model
        view = view_of_texts([before + word + after], tokenisation_named(model.header["tokenisation"]))
        at = np.flatnonzero((view.starts == len(before)) & (view.ends > view.starts))[:1]
        if not len(at):
            return 0.0
        frequent = min(FREQUENT, len(model.vocabulary))
        number = model.vocabulary.hash_numbers(view.hashes[at])
        candidates = np.concatenate([number, np.arange(frequent), [model.nothing]]).astype(np.int32)
        states = context_vectors(model, view, ContextPlaces(at, at + 1))
        scores = score_candidates(model, states, np.zeros(len(candidates), np.int64), candidates)
        return float(scores[0] - np.logaddexp.reduce(scores[1:]))

    def _rejected_by_model(self, view: TokenView, repetitions: Instances) -> Instances:
        """Return the repetitions that do not fit the context by the model."""
        if not len(repetitions):
            return repetitions
        model, row = self.model, np.arange(len(repetitions))
        states = context_vectors(model, view, ContextPlaces(repetitions.positions, repetitions.positions + 1))
        words = model.vocabulary.hash_numbers(view.hashes[repetitions.positions])
        nothing = np.full(len(repetitions), model.nothing, np.int32)
        fits = score_candidates(model, states, row, words) - score_candidates(model, states, row, nothing)
        return repetitions.take(np.flatnonzero(~(fits > self.most_twice)))  # unknown words (NaN) stay

    def _repetitions(self, view: TokenView) -> Instances:
        """Return the words that repeat the previous one, regardless of the context, but not names."""
        words = word_tokens(view)
        at = np.flatnonzero(words[1:] & words[:-1] & (view.hashes[1:] == view.hashes[:-1])) + 1
        if not len(at):
            return NO_PLACES
        if "near" in view.layers:  # to compare each word with its rivals takes time
            at = at[view.layers["near"][at - 1].astype(bool) | view.layers["near"][at].astype(bool)]
        if "protected" in view.layers:  # the first word is one of code or of a quotation
            quoted = view.layers["protected"][at - 1].astype(bool)
            at = at[~quoted | np.array([view.written(place - 1).istitle() for place in at.tolist()], bool)]
        # places of both words: the first of the two may be a part of a larger word as well
        span = at - 1, np.full(len(at), 2, np.int32)
        is_part = is_word_part(view, *span)
        is_part &= ~(self._is_after_two_blanks(view, at) & ~is_word_part(view, *span, inner_blanks=True))
        at = at[~is_part & in_running_text(view, *span, any_line=True)]
        texts = [text[start:end] for text, start, end in view.locate(at)]
        names = [not text.islower() for text in texts]
        if any(names) and self.most_twice < np.inf:
            rank = self.model.vocabulary.hash_numbers(view.hashes[at])
            names = (np.array(names) & ((rank < 0) | (rank >= NO_NAMES))).tolist()
        kept = [i for i, text in enumerate(texts) if is_word(normalise_word(text)) and not names[i]]
        return listed_places(at[kept], [(normalise_word(texts[i]), ZERO) for i in kept])

    def _is_after_two_blanks(self, view: TokenView, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which words are function words after two blanks: a column seldom begins with one."""
        places = zip(view.locate(positions), view.ends[positions - 1].tolist(), strict=True)
        after_two = np.array([text[end:start] == "  " for (text, start, _), end in places], bool)
        if after_two.any():  # the model is opened only if it is needed
            rank = self.model.vocabulary.hash_numbers(view.hashes[positions])
            after_two &= (rank >= 0) & (rank < FUNCTION_WORDS)
        return after_two


@dataclass(frozen=True, kw_only=True)
class OtherWords(KnowsPhrases):
    """Decide between each word and its related words.

    Raises on first use D995 for an invalid file, D997 for unknown `kinds`.
    """

    # a file of words that are confused with each other (the English one by default), and the kinds in it
    # that are used
    relations: str | Path | None = None
    kinds: tuple[str, ...] | list[str] = KINDS
    least: float = -2.0  # minimum log-odds of another word against the observed one for a place to be decided
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
        words, patterns = len(self.related.spellings), len(self.known_phrases)
        return f"{super().check_files()}; {words:,} words with others; {patterns:,} patterns of phrases"

    def instances(self, view: TokenView) -> Instances:
        """Return the words for which a related one fits nearly as well, or better.

        Words in a phrase that is right are left out.
        """
        return self.outside_right_phrases(view, self._places(view, self.least))

    def examples(self, view: TokenView) -> Instances:
        """Return all words that have related words, each with all of these."""
        return self._places(view, EVERY_PLACE)

    def _places(self, view: TokenView, minimum: float) -> Instances:
        """Return the words of which a related one fits nearly as well."""
        number = self.related.find(view.hashes)
        positions = np.flatnonzero((number >= 0) & word_tokens(view) & ~is_repeated(view))
        number = number[positions]
        others = self.related.others.take(number)
        starts = others.offsets + np.arange(len(others) + 1)
        numbers = np.empty(starts[-1], np.int64)
        # the observed word is the first candidate
        is_first = row_ranks(starts) == 0
        numbers[is_first], numbers[~is_first] = number, others.values
        lists = Ragged(numbers, starts)
        ones = np.ones(len(positions), np.int32)
        least = np.full(len(positions), minimum, np.float32)
        return open_places(self.model, view, positions, ones, self.related, lists, minimum=least)


def form_rule(correction: Correction) -> str:
    """Return the rule of a correction by `Form`, whose words are forms of each other."""
    return english_rule(correction, otherwise="word-form")


@dataclass(frozen=True, kw_only=True)
class Form(OtherWords):
    """Decide between the forms of a word, words derived from it, and its possessive.

    Parameters
    ----------
    relations, kinds, least, phrases, words, name, language : settings of `Slip`
    """

    kinds: tuple[str, ...] | list[str] = ("form", "derived", "possessive")
    name: str = "form"
    concerns: ClassVar[str] = "grammar"
    rules: ClassVar[RuleSet] = RuleSet(ENGLISH_RULES.rules, form_rule, "en")

    def instances(self, view: TokenView) -> Instances:
        """Return the words for which a related one fits nearly as well, or better.

        These are left out:

        * a possessive before punctuation, which refers to something mentioned before ("my sister's."), one
          that is compared ("better than the author's in all cases"), and a letter, which may be in the plural
          ("the A's");
        * "its" before a gerund that is the subject of a sentence: "Its being late is fine";
        * an auxiliary after a name of code, which may mean several things: "the optional `args` are passed";
        * a verb that may be a subjunctive: "it is important that each file have a name", "as if each file
          were empty";
        * one whose subject is left out, as documentation does: "If omitted, uses the default";
        * a plural verb after an organisation, as in British English: "the SWP continue";
        * the base form of a verb after a first word that is hidden, as the first words of comments are:
          "Events that occur", "Pools enable you".
        """
        instances = super().instances(view)
        at = instances.positions
        words = zip(self.related.find(view.hashes[at]).tolist(), at.tolist(), view.locate(at), strict=True)
        left_out = (self._is_left_out(view, number, token, *place) for number, token, place in words)
        return take_where(instances, [not is_out for is_out in left_out])

    def _is_left_out(self, view: TokenView, number: int, at: int, text: str, start: int, end: int) -> bool:
        """Return True if a word is not decided (see `instances`).

        `number`: its number among the related words.
        `at`: its token, which has the offsets `start` and `end` in `text`.
        """
        word = self.related.spellings[number]
        if word == "its" and view.hashes[at - 1] == START_HASH:
            return begins_gerund_subject(text, end)
        if word.endswith(("'s", "s'")):
            is_alone = len(word) == len("a's") or is_before_punctuation(view, at)
            if is_alone or may_be_elliptical(text, start, end):
                return True
        is_auxiliary, is_base = word in AUXILIARIES, self._is_base(number)
        if not (is_auxiliary or is_base or word.endswith("s")):
            return False
        before = clause_before(text, start)
        if is_auxiliary and (
            is_code(view, at - 1)
            or is_after_plural_name(text, start)
            or agrees_with_head(before, word)
            or (word in SINGULAR_AUXILIARIES and has_gerund_subject(before))
            or (word == "were" and is_unreal_past(before))
        ):
            return True
        if (is_base or word in PLURAL_AUXILIARIES) and is_after_organisation(before):
            return True
        return (
            (is_base and (may_be_subjunctive(before, text, end) or has_hidden_subject(view, at)))
            or (word.endswith("s") and follows_opening_clause(before))
            or (word in SINGULAR_VERBS and is_after_title(before))
        )

    def _is_base(self, number: int) -> bool:
        """Return True if a word may be the base form of a verb: its third person is related to it."""
        spellings = self.related.spellings
        word = spellings[number]
        third = _THIRD_PERSONS.get(word) or (f"{word}s", f"{word}es", f"{word[:-1]}ies")
        return any(spellings[other] in third for other in self.related.others[number].tolist())


@dataclass(frozen=True, kw_only=True)
class Slip(OtherWords):
    """Decide between real words that differ by a slip of the pen or the finger, and correct wrong phrases.

    Parameters
    ----------
    relations : path, optional
        A file of words that are confused with each other (see `relations`); by default the English one.
    kinds : sequence of str
        The kinds of relations in that file that are used.
    least : float
        Minimum log-odds of another word against the observed one for a place to be decided.
    phrases, words, name, language : settings of `Article`

    Raises
    ------
    UserError
        On first use D995 for an invalid file.
    """

    kinds: tuple[str, ...] | list[str] = ("slip",)
    name: str = "slip"
    concerns: ClassVar[str] = "confusion"

    def instances(self, view: TokenView) -> Instances:
        """Return the words for which a related one fits nearly as well, or better, and the wrong phrases."""
        slips, wrong = self._slips(view), self._wrong_phrases(view)
        if not len(wrong.positions):
            return slips
        phrases = listed_places(wrong.positions, wrong.texts, wrong.lengths)
        return join_places([slips.take(np.flatnonzero(~wrong.covers(slips.positions))), phrases])

    def _wrong_phrases(self, view: TokenView) -> PhraseMatches:
        return self.known_phrases.find(view).select(right=False)

    def _slips(self, view: TokenView) -> Instances:
        """Return the words for which a related one fits nearly as well, or better.

        A determiner before code is left out: only the hidden word could show that it is wrong.
        """
        slips = super().instances(view)
        if slips.lists is None or not len(slips):
            return slips
        written = (slips.lists.texts[i] for i in slips.lists.offsets[:-1].tolist())
        places = zip(written, slips.positions.tolist(), strict=True)
        return take_where(
            slips, [word not in DETERMINERS or not is_code(view, at + 1) for word, at in places]
        )

    def certain_mistakes(
        self, view: TokenView, instances: Instances
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return the wrong phrases (see `disambig.types.TaskTraits`)."""
        wrong = self._wrong_phrases(view).positions
        rows = np.isin(instances.positions, wrong).nonzero()[0] if len(wrong) else wrong
        return rows, np.ones(len(rows), np.int32), np.full(len(rows), CERTAIN_PHRASE)
