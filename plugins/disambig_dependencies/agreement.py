"""Evidence from syntax for proposed corrections: how forms fit a subject, auxiliary or noun."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import (
    Features,
    Group,
    Instances,
    Model,
    StatelessExtractor,
    TokenView,
    by_group,
    load_model,
)
from disambig.api.features import one_score
from disambig.api.text import SpacyTokens, hash_words, tokenisation_named

from .grammar import (
    ED_FORM,
    ING_FORM,
    NOTHING,
    PARTICIPLE_FORM,
    PAST_FORM,
    SINGULAR,
    UNKNOWN,
    Expectation,
    SentenceParse,
    adds_s,
    determiner_number,
    expect_determiner,
    expect_noun,
    expect_verb,
    is_irregular,
    noun_form,
    noun_number,
    verb_fit,
    verb_form,
)
from .parser import PACK, DependencyParser, check_tagger, load_parser

EVIDENCE = tuple(
    "verb noun determiner article observed candidate observed_corrected candidate_corrected confidence "
    "parse_gain".split()
)
"""Columns of the evidence.

``verb``, ``noun``, ``determiner`` and ``article`` are 1 for places of that kind. ``observed`` and
``candidate`` are the fits of the two words in the sentence as it is, times their confidence, from -1 to 1;
``observed_corrected`` and ``candidate_corrected`` those in the corrected sentence, which is parsed as well,
because a mistake may mislead the parser. ``confidence`` is the mean of both sentences. ``parse_gain`` is by
how much the score of the parse rises with the correction.
"""
_VERB, _NOUN, _DETERMINER, _ARTICLE, _FITS, _CONFIDENCE = map(
    EVIDENCE.index, ("verb", "noun", "determiner", "article", "observed", "confidence")
)
"""Numbers of columns; the four fits begin at `_FITS`."""
LONGEST = 200
"""Longer sentences are not parsed: they are tables or lists."""
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_CODE = re.compile(r"``[^`\n]+``|`[^`\n]+`")
# the target of a link, its brackets, and stars or underscores at the edges of words
_LINK = re.compile(
    r"\]\([^()\s]*\)|\]\[[^\]\s]*\]|[\[\]]|(?<!\w)[*_]{1,3}(?=\w)|(?<=[\w.,!?])[*_]{1,3}(?!\w)"
)


@dataclass(frozen=True, slots=True)
class PlaceEdit:
    """A proposed correction."""

    document: int  # index of the text
    # character offsets; equal for an insertion
    start: int
    end: int
    new: str  # what should stand there; empty for a deletion


def hide_markup(text: str) -> str:
    """Return a text of the same length: each code span is one word, links and emphasis are blanks."""
    text = _CODE.sub(lambda code: "x" * len(code[0]), text)
    return _LINK.sub(lambda mark: " " * len(mark[0]), text)


def _paragraph(text: str, breaks: Sequence[tuple[int, int]], edit: PlaceEdit) -> tuple[int, int]:
    """Return the start and end of the paragraph of an edit, given the spans of the blank lines of its text.

    No sentence crosses a blank line, so that the rest of the text need not be tokenised.
    """
    before = bisect_right(breaks, edit.start, key=itemgetter(1))
    after = bisect_left(breaks, edit.end, lo=before, key=itemgetter(0))
    start = breaks[before - 1][1] if before else 0
    return start, breaks[after][0] if after < len(breaks) else len(text)


class SyntaxReader:
    """Parses the sentences of proposed corrections, as they are and corrected.

    The tagger is by default the parser's own. Raises D505 for one that does not tag every token.
    """

    def __init__(self, parser: DependencyParser, tagger: Model | None = None) -> None:
        self.parser = parser
        self.tagger = load_model(parser.tagger) if tagger is None else tagger
        check_tagger(self.tagger, "disambig_dependencies")
        self._tokens = SpacyTokens(parser.language)
        # web1t.v1 splits English nearly as spaCy does (99.3 % of the words are the same), without loading it
        self._tokenise = tokenisation_named("web1t.v1") if parser.language == "en" else self._tokens
        self._tags = list(self.tagger.task.groups[0].candidates)
        self._tag_hashes = hash_words(self._tags)
        self._split = lru_cache(maxsize=4096)(self._split_words)

    def parse(self, sentences: Sequence[Sequence[str]]) -> tuple[list[SentenceParse], NDArray[np.float64]]:
        """Return the parses of sentences given as words, and their scores; 0 for a sentence without words."""
        view = self._tokens.of_sentences(sentences)
        instances, chosen = self.tagger.choose(view)
        tags = np.zeros(len(view), np.int64)
        tags[instances.positions] = chosen
        heads, relations, scores = self.parser.parse_view_scored(view, self._tag_hashes[tags])
        all_scores = np.zeros(len(sentences))
        all_scores[[i for i, words in enumerate(sentences) if words]] = scores
        parses = []
        for words, first in zip(sentences, view.documents[:-1].tolist(), strict=True):
            tokens = slice(first + 1, first + 1 + len(words))
            parses.append(
                SentenceParse(
                    [word.lower().replace("\u2019", "'") for word in words],
                    [self._tags[tag] for tag in tags[tokens].tolist()],
                    [head - first - 1 if head >= 0 else -1 for head in heads[tokens].tolist()],
                    [self.parser.relation(label) for label in relations[tokens].tolist()],
                )
            )
        return parses, all_scores

    def evidence(self, texts: Sequence[str], edits: Sequence[PlaceEdit]) -> NDArray[np.float32]:
        """Return the evidence for proposed corrections.

        Only sentences with a proposed correction are parsed, each of them once as it is, and once for each
        different correction.

        The evidence has the shape ``(n_edits, n_columns)`` (see `EVIDENCE`); zeros where the grammar says
        nothing.
        """
        columns = np.zeros((len(edits), len(EVIDENCE)), np.float32)
        places = list(self._places(texts, edits))
        numbers: dict[tuple[str, ...], int] = {}
        for _, _, _, old, new in places:
            numbers.setdefault(old, len(numbers))
            numbers.setdefault(new, len(numbers))
        parses, scores = self.parse(list(numbers))
        for row, at, sizes, old, new in places:
            before, after = numbers[old], numbers[new]
            columns[row, :-1] = _compare(parses[before], parses[after], at, sizes)
            # a longer sentence has a higher score
            per_word = scores[before] / max(len(old), 1)
            columns[row, -1] = (scores[after] - scores[before] - per_word * (len(new) - len(old))) / 1000
        return columns

    def _places(
        self, texts: Sequence[str], edits: Sequence[PlaceEdit]
    ) -> Iterator[tuple[int, int, tuple[int, int], tuple[str, ...], tuple[str, ...]]]:
        """Yield row, first word, numbers of words before and after, and the sentence before and after."""
        breaks = {
            document: [blank.span() for blank in _BLANK_LINE.finditer(texts[document])]
            for document in {edit.document for edit in edits}
        }
        spans = [
            (edit.document, *_paragraph(texts[edit.document], breaks[edit.document], edit)) for edit in edits
        ]
        paragraphs = {span: i for i, span in enumerate(dict.fromkeys(spans))}
        masked = [hide_markup(texts[document][start:end]) for document, start, end in paragraphs]
        view = self._tokenise(masked)
        for row, (edit, span) in enumerate(zip(edits, spans, strict=True)):
            # the words of the paragraph that the edit replaces, or the one before which it inserts
            paragraph = paragraphs[span]
            first, last = view.documents[paragraph : paragraph + 2].tolist()
            starts, ends = view.starts[first:last] + span[1], view.ends[first:last] + span[1]
            is_after = (ends > starts) & (ends > edit.start)
            inside = np.flatnonzero(is_after & ((starts < edit.end) | (edit.start == edit.end)))
            if not len(inside):
                continue
            size = 0 if edit.start == edit.end else len(inside)
            at = first + int(inside[0])
            # its sentence as it is, and corrected
            begin, end = view.sentence_bounds(at)
            if end - begin > LONGEST or at + size >= end:
                continue
            text = masked[paragraph]
            old = tuple(text[view.starts[i] : view.ends[i]] for i in range(begin + 1, end - 1))
            new, at = self._split(edit.new), at - begin - 1
            yield row, at, (size, len(new)), old, (*old[:at], *new, *old[at + size :])

    def _split_words(self, text: str) -> tuple[str, ...]:
        """Return the words of a correction."""
        view = self._tokenise([text])
        spans = zip(view.starts.tolist(), view.ends.tolist(), strict=True)
        return tuple(text[start:end] for start, end in spans if end > start)


@lru_cache(maxsize=4)
def load_reader(name: str | Path = PACK) -> SyntaxReader:
    """Return the reader of a parser, which is loaded once.

    Raises D901 if there is no such parser, D900 for a damaged one.
    """
    return SyntaxReader(load_parser(name))


def _compare(
    before: SentenceParse, after: SentenceParse, at: int, sizes: tuple[int, int]
) -> NDArray[np.float32]:
    """Return all columns but the last for one correction."""
    values = np.zeros(len(EVIDENCE) - 1, np.float32)
    if not all(sizes):  # a word is inserted or removed: only articles matter
        with_word, without = (after, before) if sizes[1] else (before, after)
        if sum(sizes) == 1 and with_word.words[at] in ("a", "an", "the"):
            article_fit, bare_fit = _article_fits(with_word, without, at)
            values[_ARTICLE], values[_CONFIDENCE] = 1, 0.5
            fits = (bare_fit, article_fit) if sizes[1] else (article_fit, bare_fit)
            values[_FITS : _FITS + 4] = fits * 2  # for both sentences
        return values

    # the first word that changes, and how each of the two forms fits each of the two sentences
    n_equal = 0
    while n_equal < min(sizes) - 1 and before.words[at + n_equal] == after.words[at + n_equal]:
        n_equal += 1
    place = at + n_equal
    observed, candidate = before.words[place], after.words[place]
    for i, parse in enumerate((before, after)):
        kind, expected = _expect(parse, place)
        if kind >= 0:
            values[kind] = 1
        if not expected.kind:
            continue
        values[_CONFIDENCE] += expected.confidence / 2
        word_fits = [
            _fit(expected, word, other, sentence.tags[place])
            for word, other, sentence in ((observed, candidate, before), (candidate, observed, after))
        ]
        if min(word_fits) < 0 or 0 not in word_fits:  # a fit alone says nothing: all good text fits
            column = _FITS + 2 * i
            values[column : column + 2] = expected.confidence * np.array(word_fits)
    return values


def _expect(parse: SentenceParse, at: int) -> tuple[int, Expectation]:
    """Return the column of the kind of a place, -1 if it has none, and what is expected there."""
    tag = parse.tags[at]
    if tag.startswith("V"):
        return _VERB, expect_verb(parse, at)
    if tag.startswith("NN"):
        return _NOUN, expect_noun(parse, at)
    if determiner_number(parse.words[at]):
        return _DETERMINER, expect_determiner(parse, at)
    return -1, NOTHING


def _fit(expected: Expectation, word: str, other: str, tag: str) -> int:
    """Return how a word fits what is expected: 1, 0 or -1; `other` is the word it is compared with."""
    if expected.wants == UNKNOWN:
        return 0
    if expected.kind == "verb":
        return verb_fit(verb_form(word, other, tag), word, expected.wants)
    number = noun_form(word, other, tag) if expected.kind == "noun" else determiner_number(word)
    return 0 if not number else 1 if number == expected.wants else -1


def _article_fits(with_word: SentenceParse, without: SentenceParse, at: int) -> tuple[float, float]:
    """Return the fits of an article and of none."""
    noun = with_word.heads[at]
    if noun <= at or with_word.relations[at] != "det":
        return 0.0, 0.0
    relations = with_word.relations
    others = [i for i in with_word.children[noun] if i != at and relations[i] in ("det", "nmod:poss")]
    if others and "all" not in {with_word.words[i] for i in others}:  # "the my file"
        return -1.0, 0.5
    number, confidence = noun_number(with_word, noun)
    tag = with_word.tags[noun]
    if with_word.words[at] != "the" and number and number != SINGULAR and not with_word.select(noun, "conj"):
        return -confidence, 0.5
    if tag == "NN" and without.tags[noun - 1] == "NN":  # a singular noun needs an article
        return 0.5, -0.5
    return 0.0, 0.0


_AUXILIARIES = frozenset(
    "am is are was were be been has have had do does did don't doesn't isn't aren't".split()
)
_VERB_FORMS = frozenset((ING_FORM, ED_FORM, PAST_FORM, PARTICIPLE_FORM))


def concerns_agreement(observed: str, candidate: str) -> bool:
    """Return True if the grammar may prefer one of two lower-case words, or an article or none.

    These are forms in -s beside those without, forms of auxiliaries, other forms of a verb, determiners that
    show a number, and articles.
    """
    if not observed or not candidate:
        return (observed or candidate) in ("a", "an", "the")
    if adds_s(observed, candidate) or adds_s(candidate, observed):
        return True
    if observed in _AUXILIARIES and candidate in _AUXILIARIES:
        return True
    if determiner_number(observed) and determiner_number(candidate):
        return determiner_number(observed) != determiner_number(candidate)
    forms = {verb_form(observed, candidate, ""), verb_form(candidate, observed, "")}
    related = observed[:1] == candidate[:1] or is_irregular(observed) or is_irregular(candidate)
    return len(forms) == 2 and related and bool(forms & _VERB_FORMS)


class Agreement(StatelessExtractor):
    """Extractor of one score per candidate: how much better it agrees with the sentence than the text does.

    The score is from -1 to 1, and 0 for the words of the text. Only sentences with a candidate that
    `concerns_agreement` are parsed.

    Parameters
    ----------
    parser : str or path
        A pack with a dependency parser, or the folder of one.

    Raises
    ------
    UserError
        On first use D901 if there is no such parser, D900 for a damaged one.
    """

    folders: ClassVar[tuple[str, ...]] = ("parser",)

    def __init__(self, *, parser: str | Path = PACK) -> None:
        self.parser = parser

    @cached_property
    def reader(self) -> SyntaxReader:
        """The reader of sentences."""
        return load_reader(self.parser)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the scores of all candidates."""
        offsets = instances.offsets(group)
        texts = instances.texts(group)
        last = instances.positions + instances.lengths - 1
        starts = np.where(instances.lengths > 0, view.starts[instances.positions], view.ends[last])
        ends = view.ends[last]
        documents = view.document_indices(instances.positions).tolist()
        rows, edits = [], []
        places = zip(documents, starts.tolist(), ends.tolist(), pairwise(offsets.tolist()), strict=True)
        for document, start, end, (first, after) in places:
            observed = view.texts[document][start:end].lower()
            for row in range(first, after):
                candidate = texts[row]
                if candidate.lower() != observed and concerns_agreement(observed, candidate.lower()):
                    rows.append(row)
                    edits.append(PlaceEdit(document, start, end, candidate))
        scores = np.zeros(len(texts), np.float32)
        if edits:
            evidence = self.reader.evidence(view.texts, edits)
            observed_fits, candidate_fits = (
                evidence[:, EVIDENCE.index(name)] + evidence[:, EVIDENCE.index(f"{name}_corrected")]
                for name in ("observed", "candidate")
            )
            scores[rows] = (candidate_fits - observed_fits) / 4
        return one_score(scores, instances, group, "agreement")

    def __getstate__(self) -> dict[str, Any]:
        return {"parser": self.parser}
