"""CoNLL-U: reading documents and their running text, and where each token lies in both.

A document is what ``# newdoc`` begins; without it, and in longer ones, at most `SENTENCES` sentences and
about `DOCUMENT_LIMIT` bytes.
Its text is made of the sentences: that of ``# text``, else the forms, with a space between them but
for ``SpaceAfter=No``. After a sentence comes a space, or a blank line where a paragraph begins
(``# newpar``) or no final punctuation ends it. Of a multiword token only the line of its range counts; empty
nodes do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from disambig.errors import UserError
from disambig.files.opening import decode
from disambig.formats.conllu.sentences import FORM, ConlluSentence, sentences
from disambig.formats.documents import Bad, Document
from disambig.formats.lines import Line, read_lines, too_long

SENTENCES = 500
DOCUMENT_LIMIT = 4_000_000
"""Bytes above which a document ends with its sentence."""
SENTENCE_LIMIT = 4_000_000
"""Bytes above which a sentence is none: a blank line is missing."""
BLANK_LIMIT = 1_000_000
"""Bytes of blank lines in a row that are kept."""
_NEWDOC = re.compile(rb"#\s*newdoc\b")
_TAIL = 16  # characters in which final punctuation is looked for
_ENDS = re.compile(r"[.!?…:;。\uff01\uff1f؟।]\W*$")


@dataclass(slots=True)
class Parsed:
    """The text of a document and its tokens: line (index in the document), start and end of each."""

    text: str = ""
    id: str = ""
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Block:
    """The lines of a document: number and byte offset of the first, the bytes, or why there are none."""

    number: int
    offset: int
    data: bytearray = field(default_factory=bytearray)
    error: UserError | None = None


def conllu_documents(lines: Iterator[Line], path: str) -> Iterator[Document | Bad]:
    """Yield the documents of CoNLL-U; a malformed one is reported by line, and the rest goes on."""
    for block in _blocks(lines, path):
        number, data = block.number, bytes(block.data)
        try:
            if block.error is not None:
                raise block.error
            found = parse(decode(data, path, start=block.offset), path, number)
        except UserError as error:
            yield Bad(path, error)
            if error.code == "D303":
                return
            continue
        if found.text:
            yield Document(found.id or f"{path}:{number}", found.text, path, number, "conllu", source=data)


def _blocks(lines: Iterator[Line], path: str) -> Iterator[_Block]:
    """Yield the lines of each document; together they are all lines but for blank ones beyond `BLANK_LIMIT`.

    What is held is bounded: a long document is cut behind a sentence, a sentence that does not end is
    a block of its own, with an error and without its lines.
    """
    block: _Block | None = None
    begins = (0, 0, 0)  # where in `block` the last sentence begins: byte, line number, offset in the file
    sentences = blanks = 0  # sentences before that one; bytes of blank lines at the end
    ended = fresh = skipping = False
    for line in lines:
        data = line.data if line.data is not None else b"?"
        if not data.strip():
            ended, skipping = True, False
            blanks += len(data)
            if blanks > BLANK_LIMIT or block is None:
                continue
        elif skipping:
            continue
        elif ended or block is None:
            cut = block is not None and (
                sentences + 1 >= SENTENCES or len(block.data) >= DOCUMENT_LIMIT or blanks > BLANK_LIMIT
            )
            if cut or block is None:
                if block is not None:
                    yield block
                block, begins, sentences = _Block(line.number, line.offset), (0, line.number, line.offset), 0
            else:
                begins, sentences = (len(block.data), line.number, line.offset), sentences + 1
            ended, fresh, blanks = False, False, 0
        assert block is not None
        if (
            data.strip()
            and len(block.data) + len(data) - begins[0] > SENTENCE_LIMIT
            and line.data is not None
        ):
            at, number, offset = begins
            del block.data[at:]
            if block.data:
                yield block
            problem = f"a sentence of more than {SENTENCE_LIMIT:,} bytes"
            error = UserError("D324", path=path, line=number, problem=problem)
            yield _Block(number, offset, error=error)
            block, skipping = None, True
            continue
        if not fresh and data.startswith(b"#") and _NEWDOC.match(data):
            at, number, offset = begins
            if at:
                yield _Block(block.number, block.offset, block.data[:at], block.error)
                block, begins, sentences = _Block(number, offset, block.data[at:]), (0, number, offset), 0
            fresh = True
        if line.data is None:
            block.error = block.error or too_long(line, path)
        block.data += data
    if block is not None:
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
    for sentence in sentences(text.split("\n"), path, first):
        if not sentence.tokens:
            continue
        if not parts:
            found.id = sentence.comments.get("newdoc id", "")
        given = sentence.comments.get("text")
        body = given if given is not None else sentence.spelt.strip()
        between = ""
        if length:
            before = next(part for part in reversed(parts) if part)
            between = "\n\n" if sentence.begins_paragraph or not _ENDS.search(before[-_TAIL:]) else " "
        _place(sentence, body, found, length + len(between), path, first)
        length += len(between + body)
        parts.append(between + body)
    found.text = "".join(parts)
    return found


def _place(sentence: ConlluSentence, text: str, found: Parsed, offset: int, path: str, first: int) -> None:
    """Add the tokens of a sentence, whose text begins at `offset`, to `found`."""
    position = 0
    for token in sentence.tokens:
        form = token.columns[FORM]
        form = form.strip() or form
        while position < len(text) and text[position].isspace() and not text.startswith(form, position):
            position += 1
        if not text.startswith(form, position):
            seen = text[position : position + len(form)]
            problem = f"the form {form[:40]!r} where `# text` has {seen[:40]!r}"
            raise UserError("D324", path=path, line=token.line, problem=problem)
        found.lines.append(token.line - first)
        found.starts.append(offset + position)
        position += len(form)
        found.ends.append(offset + position)
    rest = text[position:].strip()
    if rest:
        problem = f"`# text` goes on with {rest[:40]!r} behind the last form"
        raise UserError("D324", path=path, line=sentence.text_line, problem=problem)


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
