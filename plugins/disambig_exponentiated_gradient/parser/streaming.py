"""Parsing of a stream: lines to sentences, and parsed sentences to brackets, drawings, JSON or HTML."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from disambig.api import UserError
from disambig.api.arrays import minibatch
from disambig.api.formats import read_conllu
from disambig.api.settings import whole_number_between
from disambig.api.text import SpacyTokens

from ..treebank.tree import below_top, format_indented, format_one_line
from . import drawing as page
from .drawing import draw_tree, visible
from .parser import COARSE, LONG, NBEST, NONE, PARSED, SENTENCE_LENGTH, ParsedSentence, Parser
from .sentences import ParserSentence, ParserTagger

TEXT, LINES, WORDS, CONLLU = "text", "lines", "words", "conllu"
INPUTS = (TEXT, LINES, WORDS, CONLLU)
_ENDED = re.compile(
    r"[.!?\N{HORIZONTAL ELLIPSIS}][\"'\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK})\]}]*$"
)
_MAX_LINES, _MAX_CHARACTERS = 200, 20_000
"""Longer paragraphs are split at the end of a line."""
_LINES_PER_BATCH = 64
Line = tuple[str, str]
Placed = tuple[str, ParserSentence]
"""The place (file and line) where a sentence begins, and the sentence."""


@dataclass(slots=True)
class ParagraphReader:
    """Join lines to pieces of text that contain whole sentences.

    A piece ends at a blank line, at the start of another file, and after a line that ends a sentence, so
    that a user who types a sentence and waits gets its tree at once.
    """

    at_once: bool = False  # whether each line is a piece, for interactive input
    language: str = "en"  # language whose tokeniser knows the abbreviations
    _where: str = ""
    _lines: list[str] = field(default_factory=list)
    _size: int = 0

    def take(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Yield the pieces that some more lines complete, each with the location of its first line."""
        for where, text in lines:
            if self._lines and where.rpartition(":")[0] != self._where.rpartition(":")[0]:
                yield self._piece()
            stripped = text.strip()
            if stripped:
                self._where = self._where if self._lines else where
                self._lines.append(text)
                self._size += len(text)
            full = len(self._lines) >= _MAX_LINES or self._size >= _MAX_CHARACTERS
            ended = not stripped or ends_sentence(stripped, self.language)
            if self._lines and (ended or full or self.at_once):
                yield self._piece()

    def rest(self) -> Iterator[Line]:
        """Yield the remaining text when there are no more lines."""
        if self._lines:
            yield self._piece()

    def _piece(self) -> Line:
        piece = self._where, "\n".join(self._lines)
        self._lines, self._size = [], 0
        return piece


def ends_sentence(line: str, language: str) -> bool:
    """Return True if a line ends with a full stop that is not part of an abbreviation of a language."""
    if _ENDED.search(line) is None:
        return False
    last = line.split()[-1].rstrip("\"'\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK})]}")
    if not last.endswith(".") or len(last) > 100:
        return True
    # the tokeniser does not split the full stop from an abbreviation
    return SpacyTokens(language).words(f"{last} x")[1:2] != [last.lower()]


def read_sentences(
    parser: Parser, blocks: Iterable[Sequence[Line]], kind: str, *, at_once: bool = False
) -> Iterator[list[Placed]]:
    """Yield the sentences of lines, as a list for each block of lines that completes some.

    Lines of the kind ``"text"`` are running text, of ``"lines"`` a sentence each, and of ``"words"`` the
    words of a sentence, separated by spaces. With `at_once` each line of text is complete, for interactive
    input.
    """
    paragraphs = ParagraphReader(at_once, parser.language)
    for block in blocks:
        if kind == WORDS:
            split_lines = [(where, text.split()) for where, text in block]
            yield [(where, parser.cutter.from_words(words)) for where, words in split_lines if words]
            continue
        pieces = list(paragraphs.take(block)) if kind == TEXT else list(block)
        yield _cut(parser, pieces, whole=kind == LINES)
    yield _cut(parser, list(paragraphs.rest()), whole=False)


def read_conllu_sentences(parser: Parser, paths: Sequence[str], *, tags: bool) -> Iterator[list[Placed]]:
    """Yield the sentences of CoNLL-U files: their words, and their tags if there are any (column XPOS)."""

    def placed(path: str) -> Iterator[Placed]:
        for sentence in read_conllu(path):
            xpos = [row[4] for row in sentence.words]
            words = [row[1].replace(" ", "_") for row in sentence.words]
            known_tags = xpos if tags and "_" not in xpos else None
            yield f"{path}:{sentence.line}", parser.cutter.from_words(words, known_tags)

    for path in paths:
        yield from minibatch(placed(path), _LINES_PER_BATCH)


def _cut(parser: Parser, pieces: Sequence[Line], *, whole: bool) -> list[Placed]:
    """Return the sentences with words of some pieces of text, with their places."""
    if not pieces:
        return []
    cut: Any = parser.sentences([text for _, text in pieces], whole=whole)
    return [
        (where, sentence)
        for (where, _), sentences in zip(pieces, cut, strict=True)
        for sentence in sentences
        if sentence.words
    ]


BRACKETS, INDENTED, TREE, HTML, JSONL = "brackets", "indented", "tree", "html", "jsonl"
FORMATS = (BRACKETS, INDENTED, TREE, HTML, JSONL)


@dataclass(frozen=True, slots=True)
class TreeFormatter:
    """The output format of trees."""

    format: str  # one of `FORMATS`
    nbest: bool = False  # whether scores are written, since there may be several trees
    width: int = 100  # number of columns for drawings
    title: str = "Trees"  # title of a page
    language: str = "en"

    def head(self) -> str:
        """Return the output before all sentences."""
        return page.html_head(self.title, language=self.language) if self.format == HTML else ""

    def foot(self) -> str:
        """Return the output after all sentences."""
        return page.html_foot() if self.format == HTML else ""

    def one(self, number: int, where: str, parsed: ParsedSentence) -> str:
        """Return the output for a sentence, which ends with a line end."""
        if self.format == BRACKETS:
            if not self.nbest:
                return format_one_line(parsed.best) + "\n"
            scored = zip(parsed.trees, parsed.scores, strict=True)
            return "".join(f"{number}\t{score:.4f}\t{format_one_line(tree)}\n" for tree, score in scored)
        if self.format == JSONL:  # with scores, a list in the format of ``disambig train --lists``
            record = {"id": f"{where}#{number}", **parsed.record(several=self.nbest)}
            return json.dumps(record, ensure_ascii=False) + "\n"
        if self.format == HTML:
            return self._section(number, parsed)
        if self.format == INDENTED:
            trees = [format_indented(tree) + "\n" for tree in parsed.trees]
        elif parsed.is_flat:
            return f"{visible(parsed.sentence.source_text)}\n({_PARSE_NOTES[parsed.kind]})\n\n"
        else:
            words = parsed.sentence.source_words
            trees = [draw_tree(below_top(tree), width=self.width, words=words) for tree in parsed.trees]
        # a blank line after each tree and, if asked for, its number and score before it
        headings = [
            f"# {number}.{rank}  {score:.4f}\n" if self.nbest else ""
            for rank, score in enumerate(parsed.scores, 1)
        ]
        return "".join(f"{heading}{tree}\n" for heading, tree in zip(headings, trees, strict=True))

    def _section(self, number: int, parsed: ParsedSentence) -> str:
        """Return a section of a page."""
        notes = []
        for rank, score in enumerate(parsed.scores, 1):
            parts = [f"{rank}.", f"ln P = {score:.2f}"] if self.nbest and not math.isnan(score) else []
            notes.append(" ".join(filter(None, [*parts, _PARSE_NOTES[parsed.kind]])))
        return page.html_section(
            number,
            parsed.sentence.source_text,
            parsed.trees,
            words=parsed.sentence.source_words,
            notes=notes if any(notes) else (),
            is_flat=parsed.is_flat,
        )


_PARSE_NOTES = {
    PARSED: "",
    COARSE: "parsed by the grammar of plain labels, because the other one has no parse",
    NONE: "no parse",
    LONG: "too long to be parsed",
}


_SENTENCES_PER_BATCH = 16
"""Number of sentences that are parsed before output is written."""


@dataclass(slots=True)
class ParserRun:
    """Parses sentences and counts the results."""

    parser: Parser
    formatter: TreeFormatter
    nbest: int = 1  # maximum number of trees per sentence
    tagger: ParserTagger | None = None  # tags words without tags
    done: int = 0  # number of sentences so far
    kinds: Counter[str] = field(default_factory=Counter)  # number of sentences for each `ParsedSentence.kind`

    def texts(self, sentences: Sequence[Placed]) -> Iterator[str]:
        """Yield the output for some sentences, a few at a time."""
        for placed in minibatch(sentences, _SENTENCES_PER_BATCH):
            places, batch = zip(*placed, strict=True)
            tagged = batch if self.tagger is None else self.tagger(batch)
            output = []
            for where, parsed in zip(places, self.parser.parses(tagged, k=self.nbest), strict=True):
                self.done += 1
                self.kinds[parsed.kind] += 1
                output.append(self.formatter.one(self.done, where, parsed))
            yield "".join(output)

    def warnings(self) -> Iterator[str]:
        """Yield lines about sentences without a parse."""
        total = f"of {self.done:,} sentence{'s' * (self.done != 1)}"
        if n := self.kinds[NONE]:
            yield f"{n:,} {total}: no parse, {_flat(n)}"
        if n := self.kinds[LONG]:
            longest = self.parser.max_length
            yield f"{n:,} {total}: more than {longest:,} words (--max-length), {_flat(n)}"
        if n := self.kinds[COARSE]:
            yield f"{n:,} {total}: parsed by the grammar of plain labels, because the other one has no parse"


def _flat(n: int) -> str:
    return "a flat tree is given instead" if n == 1 else "flat trees are given instead"


def check_options(
    format: str,
    input: str,
    nbest: int | None,
    width: int | None,
    max_length: int,
    output: Path | None,
    *,
    force: bool,
) -> None:
    """Raise an error for invalid settings before anything is loaded (D671, D903, D310)."""
    for setting, value, names in (("--format", format, FORMATS), ("--input", input, INPUTS)):
        if value not in names:
            raise UserError("D671", setting=setting, value=value, names=", ".join(names))
    NBEST.or_none.check("--nbest", nbest)
    whole_number_between(20, 10_000, "D903").or_none.check("--width", width)
    SENTENCE_LENGTH.check("--max-length", max_length)
    if output is not None and output.exists() and not force:
        raise UserError("D310", path=output)


def group_by_format(paths: Sequence[str], kind: str) -> list[tuple[str, list[str]]]:
    """Return runs of files with the same format, in order; a file named .conllu is always CoNLL-U."""

    def file_kind(path: str) -> str:
        for compressed in (".gz", ".xz", ".zst"):
            path = path.removesuffix(compressed)
        return CONLLU if path.endswith(".conllu") else kind

    return [(kind, list(group)) for kind, group in groupby(paths, file_kind)]
