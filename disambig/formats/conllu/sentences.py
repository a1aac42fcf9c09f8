"""CoNLL-U, sentence by sentence: comments, rows, words and tokens. The one reader of its lines.

A row is checked for its ten columns, and its id for being one and the next one. Of a multiword token the
line of its range is the token, and the words below it are inside of it; empty nodes are neither words nor
tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from disambig.errors import UserError
from disambig.files.opening import READ_ERRORS, open_bytes, read_error
from disambig.formats.lines import read_lines, text_of

COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(COLUMNS)
_ID = re.compile(
    r"(?:(0|[1-9][0-9]{0,8})|([1-9][0-9]{0,8})-([1-9][0-9]{0,8})|((?:0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}))$"
)
_COMMENT = re.compile(r"#\s*(text|sent_id|newdoc|newdoc id|newpar|newpar id)\s*(?:=\s*(.*))?$")


@dataclass(frozen=True, slots=True)
class ConlluToken:
    """A token of the running text.

    Attributes
    ----------
    line : int
        Number of its line in the file, from 1.
    columns : list of str
        Its row: that of the range where it is a multiword token.
    words : range
        The syntactic words in it, as indices in `ConlluSentence.words`.
    start, end : int
        Character offsets in `ConlluSentence.spelt`.
    """

    line: int
    columns: list[str]
    words: range
    start: int
    end: int

    @property
    def spaced(self) -> bool:
        """Whether a space follows."""
        return "SpaceAfter=No" not in self.columns[MISC].split("|")


@dataclass(slots=True)
class ConlluSentence:
    """A sentence.

    Attributes
    ----------
    line : int
        Number of its first line in the file, from 1.
    comments : dict of str
        ``text``, ``sent_id``, ``newdoc``, ``newdoc id``, ``newpar`` and ``newpar id``, where they are there.
    text_line : int
        Number of the line of ``# text``; 0 where there is none.
    document : str
        The ``newdoc id`` that was last seen; empty where there is none.
    words : list of list of str
        The columns of each syntactic word.
    lines : list of int
        Number of the line of each word.
    tokens : list of ConlluToken
    spelt : str
        The tokens with a space behind each but for ``SpaceAfter=No``, behind the last one, too.
    """

    line: int
    comments: dict[str, str] = field(default_factory=dict)
    text_line: int = 0
    document: str = ""
    words: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    tokens: list[ConlluToken] = field(default_factory=list)
    spelt: str = ""

    @property
    def begins_document(self) -> bool:
        """Whether a document begins with it."""
        return "newdoc" in self.comments or "newdoc id" in self.comments

    @property
    def begins_paragraph(self) -> bool:
        """Whether a paragraph begins with it, by its comments."""
        return "newpar" in self.comments or "newpar id" in self.comments


def read_conllu(path: str | Path) -> Iterator[ConlluSentence]:
    """Yield the sentences of a file, packed (.gz, .xz, .zst) or not.

    Raises
    ------
    UserError
        D324 for a line that is no CoNLL-U, D300, D303 to D305 or D308 for a file that is no text, damaged or
        cut short.
    """
    name = str(path)
    try:
        with open_bytes(name) as stream:
            lines = (text_of(line, name).removesuffix("\n") for line in read_lines(stream))
            yield from (sentence for sentence in sentences(lines, name) if sentence.tokens)
    except READ_ERRORS as problem:
        raise read_error(name, problem) from problem


def sentences(lines: Iterable[str], path: str, first: int = 1) -> Iterator[ConlluSentence]:
    """Yield the sentences in some lines; one without words, where there are comments alone.

    Parameters
    ----------
    lines : iterable of str
        Without line feeds.
    path, first : str and int
        Their file and the number of the first one.

    Raises
    ------
    UserError
        D324 for a line that is no CoNLL-U.
    """
    rows = _Rows(path, first, "")
    number = first
    for number, line in enumerate(lines, first):
        line = line.removeprefix("\ufeff") if number == first else line
        line = line.removesuffix("\r")
        if line.strip():
            rows.add(number, line)
        elif rows.seen:
            yield rows.closed(number)
            rows = _Rows(path, number + 1, rows.sentence.document)
    if rows.seen:
        yield rows.closed(number + 1)


class _Rows:
    """The lines of one sentence, checked as they come."""

    __slots__ = ("last_node", "open_until", "parts", "path", "seen", "sentence", "size")

    def __init__(self, path: str, line: int, document: str) -> None:
        self.path = path
        self.sentence = ConlluSentence(line, document=document)
        self.seen = False
        self.open_until = 0  # last word of the multiword token
        self.last_node = (0, 0)
        self.parts: list[str] = []
        self.size = 0

    def add(self, number: int, line: str) -> None:
        """Read a line that is not blank."""
        if not self.seen:
            self.sentence.line = number
        self.seen = True
        if line.startswith("#"):
            self._comment(number, line)
            return
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            kind = "columns" if len(columns) != 1 else "column"
            self._refuse(number, f"{len(columns)} {kind}, not {COLUMNS} with TABs between them")
        name = _ID.match(columns[ID])
        if name is None:
            self._refuse(number, f"{columns[ID][:20]!r} is no id")
        words = self.sentence.words
        if name[4]:
            self._node(number, name[4])
        elif name[2]:
            self._range(number, int(name[2]), int(name[3]))
            self._token(number, columns, range(len(words), self.open_until))
        else:
            words.append(columns)
            self.sentence.lines.append(number)
            if int(name[1]) != len(words):
                self._refuse(number, f"id {name[1]} where {len(words)} should be")
            if len(words) > self.open_until:
                self._token(number, columns, range(len(words) - 1, len(words)))

    def closed(self, number: int) -> ConlluSentence:
        """Return the sentence, which ends before a line."""
        if self.open_until > len(self.sentence.words):
            last = self.open_until
            self._refuse(number - 1, f"the sentence ends before word {last} of a multiword token")
        if self.sentence.text_line and not self.sentence.tokens:
            self._refuse(self.sentence.text_line, "a sentence without words")
        self.sentence.spelt = "".join(self.parts)
        return self.sentence

    def _comment(self, number: int, line: str) -> None:
        comment = _COMMENT.match(line)
        if comment is None or self.sentence.words:
            return
        self.sentence.comments[comment[1]] = said = (comment[2] or "").strip()
        if comment[1] == "text":
            self.sentence.text_line = number
        if comment[1] in ("newdoc", "newdoc id"):
            self.sentence.document = said

    def _node(self, number: int, name: str) -> None:
        major, minor = map(int, name.split("."))
        words = len(self.sentence.words)
        expected = self.last_node[1] + 1 if self.last_node[0] == major else 1
        if major != words or minor != expected:
            self._refuse(number, f"id {name} where {words}.{expected if major == words else 1} should be")
        self.last_node = major, minor

    def _range(self, number: int, low: int, high: int) -> None:
        words = len(self.sentence.words)
        if low != words + 1 or high < low or low <= self.open_until:
            self._refuse(number, f"id {low}-{high} behind word {words}")
        self.open_until = high

    def _token(self, number: int, columns: list[str], words: range) -> None:
        form = columns[FORM]
        if not form:
            self._refuse(number, "an empty form")
        token = ConlluToken(number, columns, words, self.size, self.size + len(form))
        self.sentence.tokens.append(token)
        text = form + " " * token.spaced
        self.parts.append(text)
        self.size += len(text)

    def _refuse(self, number: int, problem: str) -> NoReturn:
        raise UserError("D324", path=self.path, line=number, problem=problem)
