"""CoNLL-U: reading documents and their running text, and where each token lies in both.

A document is what ``# newdoc`` begins; without it, and in longer ones, at most `SENTENCES` sentences.
Its text is made of the sentences: that of ``# text``, else the forms, with a space between them but
for ``SpaceAfter=No``. After a sentence comes a space, or a blank line where a paragraph begins
(``# newpar``) or no final punctuation ends it. Of a multiword token only the line of its range counts; empty
nodes do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, NoReturn

from disambig.corpora.documents import Bad, Document
from disambig.corpora.lines import Line, read_lines, text_of
from disambig.corpora.opening import decode
from disambig.errors import UserError

SENTENCES = 500
COLUMNS = 10
FORM, MISC = 1, 9
_NEWDOC = re.compile(rb"#\s*newdoc\b")
_ID = re.compile(
    r"(?:(0|[1-9][0-9]{0,8})|([1-9][0-9]{0,8})-([1-9][0-9]{0,8})|((?:0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}))$"
)
_TAIL = 16  # characters in which final punctuation is looked for
_ENDS = re.compile(r"[.!?…:;。\uff01\uff1f؟।]\W*$")
_COMMENT = re.compile(r"#\s*(text|newdoc|newdoc id|newpar|newpar id)\s*(?:=\s*(.*))?$")


@dataclass(slots=True)
class Parsed:
    """The text of a document and its tokens: line (index in the document), start and end of each."""

    text: str = ""
    id: str = ""
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


def conllu_documents(lines: Iterator[Line], path: str) -> Iterator[Document | Bad]:
    """Yield the documents of CoNLL-U; a malformed one is reported by line, and the rest goes on."""
    for block in _blocks(lines):
        number, data = block[0].number, b"".join(line.data or b"" for line in block)
        try:
            for line in block:
                if line.data is None:
                    text_of(line, path)
            found = parse(decode(data, path, start=block[0].offset), path, number)
        except UserError as error:
            yield Bad(path, error)
            if error.code == "D303":
                return
            continue
        if found.text:
            yield Document(found.id or f"{path}:{number}", found.text, path, number, "conllu", source=data)


def _blocks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Yield the lines of each document; together they are all lines."""
    block: list[Line] = []
    begins = sentences = 0  # where in `block` the last sentence begins, and how many are before it
    ended = fresh = False
    for line in lines:
        data = line.data or b"?"
        if not data.strip():
            ended = True
        elif ended:
            ended = fresh = False
            begins, sentences = len(block), sentences + 1
            if sentences >= SENTENCES:
                yield block
                block, begins, sentences = [], 0, 0
        if not fresh and data.startswith(b"#") and _NEWDOC.match(data):
            if begins:
                yield block[:begins]
                block, begins, sentences = block[begins:], 0, 0
            fresh = True
        block.append(line)
    if block:
        yield block


def parse(text: str, path: str, first: int = 1) -> Parsed:
    """Read one document.

    Parameters
    ----------
    text : str
        Its lines.
    path, first : str and int
        Its file and the number of its first line, for messages.

    Raises
    ------
    UserError
        D324 for a line that is no CoNLL-U.
    """
    found = Parsed()
    parts: list[str] = []
    length = 0
    sentence = _Sentence(path, first)
    for index, line in enumerate([*text.removeprefix("\ufeff").split("\n"), ""]):
        line = line.removesuffix("\r")
        if line.strip():
            sentence.add(index, line)
            continue
        body = sentence.close(index, found, length, parts)
        length += len(body)
        parts.append(body)
        sentence = _Sentence(path, first)
    found.text = "".join(parts)
    return found


class _Sentence:
    """The lines of one sentence, checked as they come."""

    __slots__ = ("comments", "first", "forms", "last_node", "open_until", "path", "text_line", "words")

    def __init__(self, path: str, first: int) -> None:
        self.path, self.first = path, first
        self.comments: dict[str, str] = {}
        self.text_line = 0
        self.forms: list[tuple[int, str, bool]] = []  # line, form, whether a space follows
        self.words = 0
        self.open_until = 0  # last word of the multiword token
        self.last_node = (0, 0)

    def add(self, index: int, line: str) -> None:
        if line.startswith("#"):
            comment = _COMMENT.match(line)
            if comment and not self.words:
                self.comments[comment[1]] = (comment[2] or "").strip()
                self.text_line = index if comment[1] == "text" else self.text_line
            return
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            kind = "columns" if len(columns) != 1 else "column"
            self.refuse(index, f"{len(columns)} {kind}, not {COLUMNS} with TABs between them")
        name = _ID.match(columns[0])
        if name is None:
            self.refuse(index, f"{columns[0][:20]!r} is no id")
        if name[4]:
            self._node(index, name[4])
        elif name[2]:
            self._range(index, int(name[2]), int(name[3]))
            self._surface(index, columns)
        else:
            self.words += 1
            if int(name[1]) != self.words:
                self.refuse(index, f"id {name[1]} where {self.words} should be")
            if self.words > self.open_until:
                self._surface(index, columns)

    def _node(self, index: int, name: str) -> None:
        major, minor = map(int, name.split("."))
        expected = self.last_node[1] + 1 if self.last_node[0] == major else 1
        if major != self.words or minor != expected:
            self.refuse(
                index, f"id {name} where {self.words}.{expected if major == self.words else 1} should be"
            )
        self.last_node = major, minor

    def _range(self, index: int, low: int, high: int) -> None:
        if low != self.words + 1 or high < low or low <= self.open_until:
            self.refuse(index, f"id {low}-{high} behind word {self.words}")
        self.open_until = high

    def _surface(self, index: int, columns: list[str]) -> None:
        if not columns[FORM]:
            self.refuse(index, "an empty form")
        spaced = "SpaceAfter=No" not in columns[MISC].split("|")
        self.forms.append((index, columns[FORM], spaced))

    def close(self, index: int, found: Parsed, length: int, parts: list[str]) -> str:
        """Add the tokens to `found`; return the sentence's text with what parts it from the one before."""
        if self.open_until > self.words:
            self.refuse(index - 1, f"the sentence ends before word {self.open_until} of a multiword token")
        if not self.forms:
            if self.text_line:
                self.refuse(self.text_line, "a sentence without words")
            return ""
        if not parts or not length:
            found.id = self.comments.get("newdoc id", "")
        given = self.comments.get("text")
        text = given if given is not None else self._spelt()
        between = ""
        if length:
            before = next(part for part in reversed(parts) if part)
            paragraph = (
                "newpar" in self.comments or "newpar id" in self.comments or not _ENDS.search(before[-_TAIL:])
            )
            between = "\n\n" if paragraph else " "
        self._place(text, found, length + len(between))
        return between + text

    def _spelt(self) -> str:
        return "".join(form + " " * spaced for _, form, spaced in self.forms).strip()

    def _place(self, text: str, found: Parsed, offset: int) -> None:
        position = 0
        for index, form, _ in self.forms:
            form = form.strip() or form
            while position < len(text) and text[position].isspace() and not text.startswith(form, position):
                position += 1
            if not text.startswith(form, position):
                seen = text[position : position + len(form)]
                self.refuse(index, f"the form {form[:40]!r} where `# text` has {seen[:40]!r}")
            found.lines.append(index)
            found.starts.append(offset + position)
            position += len(form)
            found.ends.append(offset + position)
        rest = text[position:].strip()
        if rest:
            self.refuse(self.text_line, f"`# text` goes on with {rest[:40]!r} behind the last form")

    def refuse(self, index: int, problem: str) -> NoReturn:
        raise UserError("D324", path=self.path, line=self.first + index, problem=problem)


def conllu_cuts(file: IO[bytes], size: int) -> list[tuple[int, int]]:
    """Return where parts of about `size` bytes begin, as (byte, line number), the first at (0, 1).

    They begin with documents, or with sentences in a file without ``# newdoc``.
    """
    documents, sentences = [(0, 1)], [(0, 1)]
    begins, ended, has_documents = (0, 1), False, False
    for line in read_lines(file):
        data = line.data or b"?"
        if not data.strip():
            ended = True
            continue
        if ended:
            begins, ended = (line.offset, line.number), False
            if line.offset - sentences[-1][0] >= size:
                sentences.append(begins)
        if data.startswith(b"#") and _NEWDOC.match(data):
            has_documents = True
            if begins[0] - documents[-1][0] >= size:
                documents.append(begins)
    return documents if has_documents else sentences
