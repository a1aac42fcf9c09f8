"""Lines of input to sentences, as they come: text by paragraphs, a sentence a line, words, CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from disambig.api.formats import read_conllu

from .parser import Parser
from .sentences import Sentence

TEXT, LINES, WORDS, CONLLU = "text", "lines", "words", "conllu"
INPUTS = (TEXT, LINES, WORDS, CONLLU)
_ENDED = re.compile(
    r"[.!?\N{HORIZONTAL ELLIPSIS}][\"'\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK})\]}]*$"
)
_MOST_LINES, _MOST_CHARACTERS = 200, 20_000
"""A paragraph of more is cut where a line ends."""
_AT_ONCE = 64
Line = tuple[str, str]
Placed = tuple[str, Sentence]
"""A sentence, and where it begins: file and line."""


@dataclass(slots=True)
class Paragraphs:
    """Gather lines to pieces of text whose sentences are whole.

    A piece ends at a blank line, where another file begins, and behind a line that ends a sentence: then
    whoever writes a sentence and waits gets its tree at once.

    Attributes
    ----------
    at_once : bool
        Whether each line is a piece: somebody types.
    language : str
        Whose tokeniser knows the abbreviations.
    """

    at_once: bool = False
    language: str = "en"
    _where: str = ""
    _held: list[str] = field(default_factory=list)
    _size: int = 0

    def take(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Yield the pieces that some more lines make whole, each with the place of its first line."""
        for where, text in lines:
            if self._held and where.rpartition(":")[0] != self._where.rpartition(":")[0]:
                yield self._piece()
            stripped = text.strip()
            if stripped:
                self._where = self._where if self._held else where
                self._held.append(text)
                self._size += len(text)
            full = len(self._held) >= _MOST_LINES or self._size >= _MOST_CHARACTERS
            ended = not stripped or ends_sentence(stripped, self.language)
            if self._held and (ended or full or self.at_once):
                yield self._piece()

    def rest(self) -> Iterator[Line]:
        """Yield what is held when there are no more lines."""
        if self._held:
            yield self._piece()

    def _piece(self) -> Line:
        piece = self._where, "\n".join(self._held)
        self._held, self._size = [], 0
        return piece


def ends_sentence(line: str, language: str) -> bool:
    """Return whether a line ends with a stop that is no part of an abbreviation of a language."""
    if _ENDED.search(line) is None:
        return False
    last = line.split()[-1].rstrip("\"'\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK})]}")
    return not last.endswith(".") or _cut_off(last, language)


def _cut_off(word: str, language: str) -> bool:
    """Return whether the tokeniser of a language takes the stop off a word."""
    from disambig.api.text import SpacyTokens

    if len(word) > 100:
        return True
    return SpacyTokens(language).words(f"{word} x")[1:2] != [word.lower()]


def sentences_in(
    parser: Parser, blocks: Iterable[Sequence[Line]], kind: str, *, at_once: bool = False
) -> Iterator[list[Placed]]:
    """Yield the sentences of lines, a list for each block of lines that ends some.

    Parameters
    ----------
    parser : Parser
    blocks : iterable of lists of (where, text)
    kind : {"text", "lines", "words"}
        What lines are: running text, a sentence each, or a sentence of words parted by blanks.
    at_once : bool
        Whether each line of text is whole: somebody types.
    """
    paragraphs = Paragraphs(at_once, parser.language)
    for block in blocks:
        if kind == WORDS:
            given = [(where, text.split()) for where, text in block]
            yield [(where, parser.cutter.of_words(words)) for where, words in given if words]
            continue
        pieces = list(paragraphs.take(block)) if kind == TEXT else list(block)
        yield _cut(parser, pieces, whole=kind == LINES)
    yield _cut(parser, list(paragraphs.rest()), whole=False)


def conllu_sentences(parser: Parser, paths: Sequence[str], *, tags: bool) -> Iterator[list[Placed]]:
    """Yield the sentences of CoNLL-U files: their words, and their tags where they have any (column XPOS)."""
    for path in paths:
        held: list[Placed] = []
        for found in read_conllu(path):
            held.append((f"{path}:{found.line}", _of_rows(parser, found.words, tags=tags)))
            if len(held) == _AT_ONCE:
                yield held
                held = []
        yield held


def _of_rows(parser: Parser, rows: Sequence[Sequence[str]], *, tags: bool) -> Sentence:
    known = [row[4] for row in rows]  # XPOS
    are_tags = tags and not any(tag == "_" for tag in known)
    return parser.cutter.of_words([row[1].replace(" ", "_") for row in rows], known if are_tags else None)


def _cut(parser: Parser, pieces: Sequence[Line], *, whole: bool) -> list[Placed]:
    if not pieces:
        return []
    found: Any = parser.sentences([text for _, text in pieces], whole=whole)
    return [
        (where, sentence)
        for (where, _), sentences in zip(pieces, found, strict=True)
        for sentence in sentences
        if sentence.words
    ]
