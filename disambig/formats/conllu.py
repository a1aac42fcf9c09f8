"""CoNLL-U: reading sentences and documents, writing decisions."""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import IO, NoReturn
from unicodedata import normalize
from urllib.parse import quote

from disambig.errors import UserError
from disambig.files import decode, open_bytes, reading
from disambig.formats.documents import (
    CONLLU_PLUS,
    Document,
    FileLine,
    Kind,
    UnreadableDocument,
    decode_line,
    is_no_text,
    line_too_long_error,
    read_lines,
)
from disambig.formats.jsonl import AnnotatedDocument, records
from disambig.formatting import on_one_line

COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(COLUMNS)
_NAMES = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=(.*)")
# The id of a word `1`, of a multiword token `1-2`, or of an empty node `1.1`.
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
        Its row; for a multiword token, the row of its range.
    words : range
        Its syntactic words, as indices into `ConlluSentence.words`.
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
        """Whether the token is followed by a space."""
        return "SpaceAfter=No" not in self.columns[MISC].split("|")


@dataclass(slots=True)
class ConlluSentence:
    """A sentence of a CoNLL-U file.

    Attributes
    ----------
    line : int
        Number of its first line in the file, from 1.
    comments : dict of str
        ``text``, ``sent_id``, ``newdoc``, ``newdoc id``, ``newpar`` and ``newpar id``, if present.
    text_line : int
        Number of the line of ``# text``; 0 if there is none.
    document : str
        The last ``newdoc id`` before or in the sentence; empty if there is none.
    words : list of list of str
        The columns of each syntactic word.
    lines : list of int
        Number of the line of each word.
    tokens : list of ConlluToken
    spelt : str
        The tokens, each (including the last) followed by a space unless it has ``SpaceAfter=No``.
    path : str
        The file, for messages.
    """

    line: int
    comments: dict[str, str] = field(default_factory=dict)
    text_line: int = 0
    document: str = ""
    words: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    tokens: list[ConlluToken] = field(default_factory=list)
    spelt: str = ""
    path: str = ""

    @property
    def begins_document(self) -> bool:
        """Whether a document begins with this sentence."""
        return "newdoc" in self.comments or "newdoc id" in self.comments

    @property
    def begins_paragraph(self) -> bool:
        """Whether a paragraph begins with this sentence, according to its comments."""
        return "newpar" in self.comments or "newpar id" in self.comments

    @property
    def forms(self) -> list[str]:
        """The syntactic words."""
        return [word[FORM] for word in self.words]

    @property
    def tags(self) -> list[str]:
        """Their tags in the tag set of the language (XPOS)."""
        return [word[XPOS] for word in self.words]

    @property
    def universal_tags(self) -> list[str]:
        """Their universal tags (UPOS)."""
        return [word[UPOS] for word in self.words]

    @property
    def heads(self) -> list[int]:
        """The index of the head of each word; -1 for the root.

        Raises
        ------
        UserError
            D324 for a head that is missing or not a word of the sentence, and for heads that are not a tree
            with one root.
        """
        for line, word in zip(self.lines, self.words, strict=True):
            head = word[HEAD]
            if not (head.isascii() and head.isdigit() and len(head) < 10 and int(head) <= len(self.words)):
                problem = f"head {head[:20]!r} instead of 0 or the id of a word of the sentence"
                raise UserError("D324", path=self.path, line=line, problem=problem)
        heads = [int(word[HEAD]) - 1 for word in self.words]
        roots = [number for number, head in enumerate(heads) if head < 0]
        if len(roots) > 1:
            problem = f"a second root: word {roots[0] + 1} is one already"
            raise UserError("D324", path=self.path, line=self.lines[roots[1]], problem=problem)
        if (first := _word_in_cycle(heads)) >= 0:
            problem = f"the heads from word {first + 1} lead back to it, and not to the root"
            raise UserError("D324", path=self.path, line=self.lines[first], problem=problem)
        return heads

    @property
    def relations(self) -> list[str]:
        """The relation of each word to its head."""
        return [word[DEPREL] for word in self.words]


def _word_in_cycle(heads: Sequence[int]) -> int:
    """Return the first word that is its own ancestor, an index; -1 if there is none."""
    # Each word is visited once: a path that meets a word of an earlier path leads where that one led.
    seen_from = [-1] * len(heads)  # the word from which each word was first reached
    for start in range(len(heads)):
        word = start
        while word >= 0 and seen_from[word] < 0:
            seen_from[word] = start
            word = heads[word]
        if word >= 0 and seen_from[word] == start:
            cycle = [word]
            while heads[cycle[-1]] != word:
                cycle.append(heads[cycle[-1]])
            return min(cycle)
    return -1


def read_conllu(path: str | Path) -> Iterator[ConlluSentence]:
    """Yield the sentences of a file, which may be compressed.

    Raises
    ------
    UserError
        D324 for a line that is not CoNLL-U, D339 for CoNLL-U Plus; D300, D303 to D305 or D308 for a file that
        is not text, is damaged or truncated.
    """
    name = str(path)
    with reading(name), open_bytes(name) as stream:
        lines = (decode_line(line, name).removesuffix("\n") for line in read_lines(stream))
        yield from (sentence for sentence in sentences(lines, name) if sentence.tokens)


def sentences(lines: Iterable[str], path: str, first: int = 1) -> Iterator[ConlluSentence]:
    """Yield the sentences in some lines; comments without words become a sentence without words.

    Raises D324 for a line that is not CoNLL-U.

    `lines`: lines without line feeds.
    `path` and `first` (str and int): their file and the number of the first line.
    """
    rows = _SentenceRows(path, first, "")
    number = first
    for number, line in enumerate(lines, first):
        line = line.removeprefix("\ufeff") if number == first else line
        line = line.removesuffix("\r")
        if line.strip():
            rows.add(number, line)
        elif rows.has_lines:
            yield rows.finish(number)
            rows = _SentenceRows(path, number + 1, rows.sentence.document)
    if rows.has_lines:
        yield rows.finish(number + 1)


class _SentenceRows:
    """The lines of one sentence, checked as they come."""

    def __init__(self, path: str, line: int, document: str) -> None:
        self.path = path
        self.sentence = ConlluSentence(line, document=document, path=path)
        self.has_lines = False
        self.open_until = 0  # last word of the current multiword token
        self.last_node = (0, 0)  # id of the last empty node: the word before it, and its number there
        self.has_more_columns = False  # whether a comment names further columns, as in CoNLL-U Plus
        self.parts: list[str] = []  # forms with the spaces after them, and their length
        self.size = 0

    def add(self, number: int, line: str) -> None:
        """Read a non-blank line."""
        if not self.has_lines:
            self.sentence.line = number
        self.has_lines = True
        if "\r" in line:
            self._fail(number, "a carriage return inside the line; end lines with LF or CR LF")
        if line.startswith("#"):
            self._comment(number, line)
            return
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            if self.has_more_columns:
                raise UserError("D339", path=self.path, what=CONLLU_PLUS[0], command=CONLLU_PLUS[1])
            kind = "columns" if len(columns) != 1 else "column"
            self._fail(number, f"{len(columns)} {kind} instead of {COLUMNS} separated by TABs")
        name = _ID.match(columns[ID])
        if name is None:
            self._fail(number, f"invalid id {columns[ID][:20]!r}")
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
                self._fail(number, f"id {name[1]} instead of {len(words)}{_new_sentence(int(name[1]))}")
            if len(words) > self.open_until:
                self._token(number, columns, range(len(words) - 1, len(words)))

    def finish(self, number: int) -> ConlluSentence:
        """Finish the sentence, which ends before line `number`, and return it."""
        if self.open_until > len(self.sentence.words):
            last = self.open_until
            self._fail(number - 1, f"the sentence ends before word {last} of a multiword token")
        if self.sentence.text_line and not self.sentence.tokens:
            self._fail(self.sentence.text_line, "a sentence without words")
        self.sentence.spelt = "".join(self.parts)
        return self.sentence

    def _comment(self, number: int, line: str) -> None:
        if named := _GLOBAL_COLUMNS.match(line):
            names = named[1].split()
            if names[:COLUMNS] != _NAMES:
                self._fail(number, f"columns {' '.join(names)[:60]!r} instead of {' '.join(_NAMES)!r}")
            self.has_more_columns = len(names) > COLUMNS
        comment = _COMMENT.match(line)
        if comment is None or self.sentence.words:
            return
        self.sentence.comments[comment[1]] = value = (comment[2] or "").strip()
        if comment[1] == "text":
            self.sentence.text_line = number
        if comment[1] in ("newdoc", "newdoc id"):
            self.sentence.document = value

    def _node(self, number: int, name: str) -> None:
        major, minor = map(int, name.split("."))
        words = len(self.sentence.words)
        expected = self.last_node[1] + 1 if self.last_node[0] == major else 1
        if major != words or minor != expected:
            self._fail(number, f"id {name} instead of {words}.{expected if major == words else 1}")
        self.last_node = major, minor

    def _range(self, number: int, low: int, high: int) -> None:
        words = len(self.sentence.words)
        if low != words + 1 or high < low or low <= self.open_until:
            self._fail(number, f"invalid range {low}-{high} after word {words}{_new_sentence(low)}")
        self.open_until = high

    def _token(self, number: int, columns: list[str], words: range) -> None:
        form = columns[FORM]
        if not form:
            self._fail(number, "an empty form")
        token = ConlluToken(number, columns, words, self.size, self.size + len(form))
        self.sentence.tokens.append(token)
        text = form + " " * token.spaced
        self.parts.append(text)
        self.size += len(text)

    def _fail(self, number: int, problem: str) -> NoReturn:
        raise UserError("D324", path=self.path, line=number, problem=problem)


def _new_sentence(word: int) -> str:
    return " (a blank line is missing before a new sentence)" if word == 1 else ""


SENTENCES = 500
DOCUMENT_LIMIT = 4_000_000
"""Number of bytes after which a document is ended at the end of its current sentence."""
SENTENCE_LIMIT = 4_000_000
"""Maximum number of bytes of a sentence; in a longer one a blank line is missing."""
BLANK_LIMIT = 1_000_000
"""Maximum number of bytes of consecutive blank lines that are kept."""
_NEWDOC = re.compile(rb"#\s*newdoc\b")
_WITHOUT_WORDS = re.compile(rb"#(?!\s*text\b)[^\r]*\r?\n?$")
_TAIL = 16  # characters searched for final punctuation
_ENDS = re.compile(r"[.!?…:;。\uff01\uff1f؟।]\W*$")


@dataclass(slots=True)
class ParsedConllu:
    """The text of a document and, for each token, its line (index in the document), start and end."""

    text: str = ""
    id: str = ""
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _DocumentBlock:
    """The lines of a document: number and offset in the file of the first line, and the bytes."""

    number: int
    offset: int
    data: bytearray = field(default_factory=bytearray)


def conllu_documents(lines: Iterator[FileLine], path: str) -> Iterator[Document | UnreadableDocument]:
    """Yield the documents of CoNLL-U.

    A sentence that is malformed is reported with its line; its document ends before it, and what follows is
    another document.
    """
    for block in _blocks(lines, path):
        if isinstance(block, UnreadableDocument):
            yield block
            continue
        read = _read_block(block, path)
        if isinstance(read, UnreadableDocument):
            if read.error.code == "D339" or is_no_text(read.error):
                yield read
                return
            for part in _without_malformed_sentences(block, path):
                read = part if isinstance(part, UnreadableDocument) else _read_block(part, path)
                if read is not None:
                    yield read
        elif read is not None:
            yield read


def _read_block(block: _DocumentBlock, path: str) -> Document | UnreadableDocument | None:
    """Return the document in some lines, or None if they contain no words."""
    number, data = block.number, bytes(block.data)
    try:
        parsed = parse_document(decode(data, path, start=block.offset), path, number)
    except UserError as error:
        return UnreadableDocument(path, error)
    if not parsed.text:
        return None
    return Document(parsed.id or f"{path}:{number}", parsed.text, path, number, "conllu", source=data)


def _without_malformed_sentences(
    block: _DocumentBlock, path: str
) -> Iterator[_DocumentBlock | UnreadableDocument]:
    """Yield the lines between the malformed sentences of a document, and an error for each of these."""
    valid: _DocumentBlock | None = None
    for sentence in _sentence_blocks(block):
        read = _read_block(sentence, path)
        if isinstance(read, UnreadableDocument):
            if valid is not None:
                yield valid
            yield read
            valid = None
        elif valid is None:
            valid = sentence
        else:
            valid.data += sentence.data
    if valid is not None:
        yield valid


def _sentence_blocks(block: _DocumentBlock) -> Iterator[_DocumentBlock]:
    """Yield the lines of each sentence, with the blank lines after it."""
    sentence, offset, ended = _DocumentBlock(block.number, block.offset), block.offset, False
    for number, line in enumerate(BytesIO(block.data), block.number):
        is_blank = not line.strip()
        if ended and not is_blank:
            yield sentence
            sentence = _DocumentBlock(number, offset)
        sentence.data += line
        offset += len(line)
        ended = is_blank
    yield sentence


def _blocks(lines: Iterator[FileLine], path: str) -> Iterator[_DocumentBlock | UnreadableDocument]:
    """Yield the lines of each document; together these are all lines except blank ones beyond `BLANK_LIMIT`.

    Memory is bounded: a long document is cut after a sentence, and a sentence that is too long, or has a line
    that is too long, is reported and left out; the document ends before it.
    """
    block: _DocumentBlock | None = None
    start = (0, 0, 0)  # of the last sentence: byte in `block`, line number, offset in the file
    n_sentences = n_blank_bytes = 0  # sentences before it in `block`; bytes of blank lines after it
    ended = has_newdoc = skipping = has_words = False  # about the last sentence
    had_words = False  # in the sentences before it in `block`
    for line in lines:
        if line.data is not None and not line.data.strip():
            ended, skipping = True, False
            n_blank_bytes += len(line.data)
            if block is not None and n_blank_bytes <= BLANK_LIMIT:
                block.data += line.data
            continue
        if skipping:  # the rest of a sentence that is too long
            continue
        # a blank line before this one: end the document here if it is long enough
        if ended and block is not None:
            is_long = n_sentences + 1 >= SENTENCES or len(block.data) >= DOCUMENT_LIMIT
            if is_long or n_blank_bytes > BLANK_LIMIT:
                yield block
                block = None
        # this line begins a document, or the next sentence of it
        if block is None:
            block, n_sentences = _DocumentBlock(line.number, line.offset), 0
            start, ended, has_newdoc, n_blank_bytes = (0, line.number, line.offset), False, False, 0
            had_words = has_words = False
        elif ended:
            had_words, has_words = had_words or has_words, False
            n_sentences += 1
            start = (len(block.data), line.number, line.offset)
            ended, has_newdoc, n_blank_bytes = False, False, 0
        at, number, offset = start
        if line.data is None or len(block.data) + len(line.data) - at > SENTENCE_LIMIT:
            del block.data[at:]
            if block.data:
                yield block
            problem = f"a sentence of more than {SENTENCE_LIMIT:,} bytes"
            too_long = UserError("D324", path=path, line=number, problem=problem)
            yield UnreadableDocument(path, line_too_long_error(line, path) if line.data is None else too_long)
            block, skipping = None, True
            continue
        # "# newdoc" need not be the first line of its sentence: what was read of the sentence moves along
        if not has_newdoc and _NEWDOC.match(line.data):
            if at and had_words:  # comments alone belong to the next document
                had_words = False
                yield _DocumentBlock(block.number, block.offset, block.data[:at])
                block, n_sentences = _DocumentBlock(number, offset, block.data[at:]), 0
                start = (0, number, offset)
            has_newdoc = True
        has_words = has_words or not _WITHOUT_WORDS.match(line.data.removeprefix(BOM_UTF8))
        block.data += line.data
    if block is not None:
        yield block


def parse_document(text: str, path: str, first: int = 1) -> ParsedConllu:
    """Parse one document.

    Raises D324 for a line that is not CoNLL-U.

    `path` and `first` (str and int): its file and the number of its first line, for messages.
    """
    parsed = ParsedConllu()
    parts: list[str] = []
    length = 0
    for sentence in sentences(text.split("\n"), path, first):
        if not sentence.tokens:
            continue
        if not parts:
            parsed.id = sentence.comments.get("newdoc id", "")
        declared = sentence.comments.get("text")
        body = declared if declared is not None else sentence.spelt.strip()
        separator = ""
        if length:
            last_part = next(part for part in reversed(parts) if part)
            separator = "\n\n" if sentence.begins_paragraph or not _ENDS.search(last_part[-_TAIL:]) else " "
        _align_tokens(sentence, body, parsed, length + len(separator), path, first)
        length += len(separator + body)
        parts.append(separator + body)
    parsed.text = "".join(parts)
    return parsed


def _align_tokens(
    sentence: ConlluSentence, text: str, parsed: ParsedConllu, offset: int, path: str, first: int
) -> None:
    """Add the tokens of a sentence, whose text begins at `offset`, to `parsed`."""
    position = 0
    for token in sentence.tokens:
        form = token.columns[FORM]
        form = form.strip() or form
        while position < len(text) and text[position].isspace() and not text.startswith(form, position):
            position += 1
        if not text.startswith(form, position):
            actual = text[position : position + len(form)]
            if normalize("NFC", text[position:]).startswith(normalize("NFC", form)):
                problem = f"the form {form[:40]!r} and `# text` are not in the same Unicode normal form"
                raise UserError("D324", path=path, line=token.line, problem=problem)
            problem = f"the form is {form[:40]!r}, but `# text` has {actual[:40]!r}"
            raise UserError("D324", path=path, line=token.line, problem=problem)
        parsed.lines.append(token.line - first)
        parsed.starts.append(offset + position)
        position += len(form)
        parsed.ends.append(offset + position)
    if rest := text[position:].strip():
        problem = f"`# text` continues with {rest[:40]!r} after the last form"
        raise UserError("D324", path=path, line=sentence.text_line, problem=problem)


def conllu_cuts(file: IO[bytes], size: int) -> list[tuple[int, int]]:
    """Return the starts of parts of about `size` bytes, as (byte, line number); the first is (0, 1).

    Parts begin with documents or, in a file without ``# newdoc``, with sentences.
    """
    documents, sentences = [(0, 1)], [(0, 1)]
    starts, ended, has_documents = (0, 1), False, False
    for line in read_lines(file):
        data = line.data or b"?"
        if not data.strip():
            ended = True
            continue
        if ended:
            starts, ended = (line.offset, line.number), False
            if line.offset - sentences[-1][0] >= size:
                sentences.append(starts)
        if data.startswith(b"#") and _NEWDOC.match(data):
            has_documents = True
            if starts[0] - documents[-1][0] >= size:
                documents.append(starts)
    return documents if has_documents else sentences


@dataclass(frozen=True, slots=True)
class BlankTokens:
    """The tokens of one text: offsets, sentences (first token, one past the last), and paragraphs.

    `paragraphs` contains the numbers (from 1) of the sentences that begin a paragraph.
    """

    starts: list[int]
    ends: list[int]
    sentences: list[tuple[int, int]]
    paragraphs: frozenset[int]


def tokenise_documents(documents: Sequence[Document], language: str) -> Iterator[BlankTokens]:
    """Yield the tokens of spaCy's blank tokeniser and the sentences of ``disambig.words.v1``."""
    import numpy as np

    from disambig.text import Words, spacy_docs

    docs = spacy_docs((document.text for document in documents), language or "xx")
    view = Words()([document.text for document in documents])
    firsts = view.sentences[:-1]
    owners = view.document_indices(firsts)
    for number, (document, doc) in enumerate(zip(documents, docs, strict=True)):
        words = [token for token in doc if not token.is_space]
        starts = [token.idx for token in words]
        ends = [token.idx + len(token) for token in words]
        breaks = np.searchsorted(starts, view.starts[firsts[owners == number]]).tolist()
        bounds = sorted({0, len(words), *breaks} - ({len(words)} if not words else set()))
        sentences = list(pairwise(bounds))
        paragraphs = frozenset(
            at
            for at, (first, _) in enumerate(sentences, 1)
            if at > 1 and _is_blank_line(document.text[ends[first - 1] : starts[first]])
        )
        yield BlankTokens(starts, ends, sentences, paragraphs)


def _is_blank_line(between: str) -> bool:
    return len(between.splitlines()) > 2 or between.count("\n") > 1


KEY = "Disambig"
_SAFE = "'\N{RIGHT SINGLE QUOTATION MARK}-_.,!?/$&+*()"


@dataclass(frozen=True, slots=True)
class ConlluFormat:
    """CoNLL-U with decisions added in MISC; other texts are tokenised with spaCy's blank tokeniser."""

    language: str = "en"
    name: str = "conllu"
    suffix: str = ".conllu"
    mirrors: tuple[Kind, ...] = ("conllu",)

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Encode some documents, separated by blank lines."""
        kept = [result for result in results if not result.document.blank]
        foreign = [result.document for result in kept if result.document.kind != "conllu"]
        tokens = iter(tokenise_documents(foreign, self.language) if foreign else ())
        return b"".join(
            _with_blank_lines(
                [
                    _with_annotations(result)
                    if result.document.kind == "conllu"
                    else _new_conllu(result, next(tokens))
                    for result in kept
                ]
            )
        )

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the chunks returned by `encode`, in order."""
        for chunk in _with_blank_lines(chunks):
            write(chunk)


def _with_blank_lines(parts: Iterable[bytes]) -> Iterable[bytes]:
    """Yield the parts, with line ends between them so that a blank line separates them."""
    ended, before = True, b""
    for part in parts:
        if not part:
            continue
        if not ended:
            yield b"\n" if before.endswith(b"\n") else b"\n\n"
        yield part
        ended = part.endswith((b"\n\n", b"\n\r\n"))
        before = part


def _with_annotations(result: AnnotatedDocument) -> bytes:
    """Return the bytes of a CoNLL-U document with decisions added; everything else is unchanged."""
    parsed = parse_document(result.document.source.decode(), result.document.path, result.document.line)
    lines = result.document.source.decode().split("\n")
    marks = _values_by_token(result, parsed.starts)
    decided = {escaped(decisions.task) for decisions in result.decisions}
    for index, line in enumerate(parsed.lines):
        if index not in marks and f"{KEY}=" not in lines[line]:
            continue
        body = lines[line].removesuffix("\r")
        columns = body.split("\t")
        columns[MISC] = _with_key(columns[MISC], marks.get(index, []), decided)
        lines[line] = "\t".join(columns) + lines[line][len(body) :]
    return "\n".join(lines).encode()


def _new_conllu(result: AnnotatedDocument, tokens: BlankTokens) -> bytes:
    """Return a document of another format as CoNLL-U."""
    values = _values_by_token(result, tokens.starts)
    lines = [f"# newdoc id = {on_one_line(result.document.id)}"]
    text = result.document.text
    for number, (first, last) in enumerate(tokens.sentences, 1):
        if number in tokens.paragraphs:
            lines.append("# newpar")
        lines.append(f"# sent_id = {number}")
        words = [on_one_line(text[tokens.starts[i] : tokens.ends[i]]) or "_" for i in range(first, last)]
        gaps = [tokens.starts[i + 1] - tokens.ends[i] for i in range(first, last - 1)] + [1]
        spelt = "".join(word + " " * bool(gap) for word, gap in zip(words, gaps, strict=True))
        lines.append(f"# text = {spelt.strip()}")
        for i, (word, gap) in enumerate(zip(words, gaps, strict=True)):
            misc = "_" if gap else "SpaceAfter=No"
            if first + i in values:
                misc = _with_key(misc, values[first + i])
            lines.append("\t".join([str(i + 1), word, *["_"] * (COLUMNS - 3), misc]))
        lines.append("")
    return ("\n".join(lines) + "\n").encode(errors="replace")


def _values_by_token(result: AnnotatedDocument, starts: Sequence[int]) -> dict[int, list[str]]:
    """Return the values to write at each token that has decisions."""
    values: dict[int, list[str]] = {}
    for record in records(result):
        index = max(bisect_right(starts, record["start"]) - 1, 0)
        if starts:
            fields = [record["task"], record["observed"], record["chosen"], f"{record['probability']:.2f}"]
            values.setdefault(index, []).append(
                ":".join([escaped(field) for field in fields] + ["flag"] * record["flagged"])
            )
    return values


def escaped(text: str) -> str:
    """Percent-encode spaces, ``| = : ; %`` and control characters in `text`; letters are kept."""
    return "".join(
        character
        if character.isalnum() or character in _SAFE
        else quote(character, safe="", errors="replace")
        for character in text
    )


def _with_key(misc: str, values: Sequence[str], decided: Collection[str] = ()) -> str:
    """Add values to the key in a MISC column, in place of those of the tasks that were decided."""
    kept, others = [], []
    for part in misc.split("|"):
        if part.startswith(f"{KEY}="):
            others += part.removeprefix(f"{KEY}=").split(";")
        elif part not in ("", "_"):
            kept.append(part)
    others = [value for value in others if value.partition(":")[0] not in decided]
    if others or values:
        kept.append(f"{KEY}={';'.join([*others, *values])}")
    return "|".join(kept) or "_"
