"""Read documents and write decisions in the formats with a name; corrected texts and corrections in M2."""

from __future__ import annotations

import dataclasses
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import IO, Any, Protocol

import numpy as np

from disambig.data import edited_text, record_edit
from disambig.decision import edits_to_keep
from disambig.errors import UserError, nearest_first
from disambig.files import READ_ERRORS, open_bytes, read_error, too_large_error, without_compression
from disambig.formats.conllu import ConlluFormat, conllu_documents
from disambig.formats.docbin import SpacyFormat, docbin_documents
from disambig.formats.documents import (
    FILE_LIMIT,
    LINE_LIMIT,
    Document,
    FileLine,
    Input,
    Kind,
    UnreadableDocument,
    decode_line,
    file_document,
    line_documents,
    part_documents,
    read_lines,
    text_parts,
    with_field,
)
from disambig.formats.html import HtmlFormat
from disambig.formats.jsonl import (
    RECORD_VERSIONS,
    AnnotatedDocument,
    JoinsChunks,
    JsonlFormat,
    ReadableFormat,
    flagged_records,
    json_documents,
    to_json,
)
from disambig.formats.tables import (
    CsvFormat,
    ParquetFormat,
    csv_documents,
    make_seekable,
    parquet_documents,
    read_header,
)


@dataclass(frozen=True, slots=True)
class CorrectedFormat(JoinsChunks):
    """Corrected documents in their original form: a text, a line with its line end, or a JSON object.

    Rows of CSV and Parquet are written as JSON objects. Tokenised input (CoNLL-U, ``.spacy``) is not
    supported, since its tokens would not match the corrected text.
    """

    field: str = "text"  # key of the text in JSONL
    name: str = "corrected"
    suffix: str = ".txt"
    mirrors: tuple[Kind, ...] = ("file",)

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the corrected documents, concatenated."""
        return b"".join(map(self._encode, results))

    def _encode(self, result: AnnotatedDocument) -> bytes:
        text, document = corrected_text(result), result.document
        if document.kind in ("json", "csv", "parquet"):
            row = with_field(document.meta, self.field, text, document.source or ())
            return to_json(row) + b"\n"
        return (text + document.ending).encode()


@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """A change of a text: `task` replaces ``text[start:end]`` by `replacement`."""

    start: int
    end: int
    replacement: str
    task: str

    @classmethod
    def from_record(cls, edit: dict[str, Any]) -> AppliedEdit:
        """Return the change of a flagged record, as returned by `disambig.data.record_edit`."""
        return cls(edit["start"], edit["end"], edit["replacement"], edit["task"])


def corrected_text(result: AnnotatedDocument) -> str:
    """Return the text with the flagged replacements (see `apply_records`)."""
    return apply_records(result.document.text, flagged_records(result))


def apply_records(text: str, records: Iterable[Mapping[str, Any]]) -> str:
    """Return a text with the corrections of its flagged records; other records are ignored.

    A word that is removed takes the blank beside it along, and passes its capital on. Of two corrections that
    overlap, the more probable is applied.

    Parameters
    ----------
    text : str
    records : iterable of mapping
        The decisions of a record of the document, or ``span._.disambig`` of the spans of a spaCy Doc, with
        `task`, `start`, `end`, `observed`, `replacement`, `probability` and `flagged`.
    """
    edits = _record_edits(text, records)
    return edited_text(text, [(edit.start, edit.end, edit.replacement) for edit in edits])


def applied_edits(result: AnnotatedDocument) -> list[AppliedEdit]:
    """Return the changes that `corrected_text` applies, in text order and without overlaps."""
    return _record_edits(result.document.text, flagged_records(result))


def _record_edits(text: str, records: Iterable[Mapping[str, Any]]) -> list[AppliedEdit]:
    """Return the changes of flagged records, in text order and without overlaps."""
    changes = (dict(record) for record in records if record["flagged"])
    corrections = [record for record in changes if record["replacement"] != record["observed"]]
    corrections.sort(key=lambda record: (record["start"], record["end"]))
    edits = [AppliedEdit.from_record(record_edit(record, text)) for record in corrections]
    kept = edits_to_keep(
        [(edit.start, edit.end, edit.replacement) for edit in edits],
        [record["probability"] for record in corrections],
        [edit.task for edit in edits],
    )
    return [edits[i] for i in kept]


_TOKEN = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")
_LINE = re.compile(r"[^\r\n]+")
_NOOP = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n"


@dataclass(frozen=True, slots=True)
class M2Format(JoinsChunks):
    """The M2 format: lines of text and edits of one annotator; lines without a token are left out.

    Each line of a text is one ``S`` line, even if it has several sentences.
    """

    name: str = "m2"
    suffix: str = ".m2"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the lines of some documents with their edits, each followed by a blank line."""
        blocks = "".join(block for result in results for block in _sentences(result))
        return blocks.encode(errors="backslashreplace")


def split_tokens(text: str) -> list[str]:
    """Return the tokens of a line."""
    return _TOKEN.findall(text)


def _sentences(result: AnnotatedDocument) -> Iterator[str]:
    text, edits = result.document.text, applied_edits(result)
    starts = [edit.start for edit in edits]
    for line in _LINE.finditer(text):
        spans = [match.span() for match in _TOKEN.finditer(text, line.start(), line.end())]
        if not spans:
            continue
        first, last = bisect_left(starts, line.start()), bisect_right(starts, line.end())
        lines = "".join(_edits(text, spans, edits[first:last], line.end()))
        yield f"S {' '.join(text[start:end] for start, end in spans)}\n{lines or _NOOP}\n"


def _edits(
    text: str, spans: Sequence[tuple[int, int]], edits: Iterable[AppliedEdit], end: int
) -> Iterator[str]:
    """Yield the M2 lines of edits in a line of text, widened to tokens; only the first edit of a token."""
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    covered = 0
    for edit in edits:
        stop = min(edit.end, end)
        first, last = bisect_right(ends, edit.start), bisect_left(starts, stop)
        new = edit.replacement
        if first < last:
            new = text[starts[first] : edit.start] + new + text[stop : ends[last - 1]]
        else:
            last = first
        words = split_tokens(new)
        if first < covered or words == [text[start:stop] for start, stop in spans[first:last]]:
            continue
        covered = last
        kind = "U" if not words else "M" if first == last else "R"
        yield (f"A {first} {last}|||{kind}:{edit.task.upper()}|||{' '.join(words)}|||REQUIRED|||-NONE-|||0\n")


FORMATS = ("jsonl", "text", "corrected", "html", "csv", "tsv", "parquet", "conllu", "spacy", "m2")
BINARY = ("parquet", "spacy")
LANGUAGE_FORMATS = ("html", "conllu", "spacy")
"""The formats that depend on the language."""
_FORMATS_BY_SUFFIX = {
    ".jsonl": ("jsonl", "corrected"),
    ".ndjson": ("jsonl", "corrected"),
    ".txt": ("text", "corrected"),
    ".html": ("html",),
    ".htm": ("html",),
    ".csv": ("csv",),
    ".tsv": ("tsv",),
    ".parquet": ("parquet",),
    ".conllu": ("conllu",),
    ".spacy": ("spacy",),
    ".m2": ("m2",),
}
"""The formats that a file with this suffix can have; the first is the default."""


class Format(Protocol):
    """An output format: `encode` runs in the workers, `join` in the process that writes the output."""

    @property
    def name(self) -> str:
        """One of `FORMATS`."""
        ...

    @property
    def suffix(self) -> str:
        """Suffix of output files."""
        ...

    @property
    def mirrors(self) -> tuple[Kind, ...]:
        """Kinds of input whose files a job writes under their own names, and never splits."""
        ...

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Encode some documents as a chunk."""
        ...

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write chunks, in order, as one output file."""
        ...


def make_format(
    name: str,
    *,
    field: str = "text",
    text: bool = True,
    language: str = "en",
    safe_cells: bool | None = None,
    records: int = RECORD_VERSIONS[-1],
) -> Format:
    """Return the format `name`.

    Raises D601 for an unknown name, D530 for an unknown version.

    `name`: one of `FORMATS`.
    `field`: key of the text in JSONL inputs (for ``"corrected"``).
    `text`: whether ``"jsonl"`` repeats each document's text, and tables the text around a decision.
    `language`: language of the blank spaCy pipeline (``"spacy"`` and ``"conllu"``) and of the page
    (``"html"``).
    `safe_cells`: whether formulas in ``"csv"`` and ``"tsv"`` are escaped; by default only in ``"csv"``.
    `records`: version of the records in ``"jsonl"``, one of `RECORD_VERSIONS`.
    """
    if records not in RECORD_VERSIONS:
        raise UserError("D530", version=records, versions=", ".join(map(str, RECORD_VERSIONS)))
    makers: dict[str, Callable[[], Format]] = {
        "jsonl": lambda: JsonlFormat(text=text, version=records),
        "text": ReadableFormat,
        "corrected": lambda: CorrectedFormat(field=field),
        "html": lambda: HtmlFormat(language=language),
        "csv": lambda: CsvFormat(text=text, safe_cells=safe_cells is not False),
        "tsv": lambda: CsvFormat(text=text, safe_cells=bool(safe_cells), name="tsv", suffix=".tsv"),
        "parquet": lambda: ParquetFormat(text=text),
        "conllu": lambda: ConlluFormat(language=language),
        "spacy": lambda: SpacyFormat(language=language),
        "m2": M2Format,
    }
    assert tuple(makers) == FORMATS
    if name not in makers:
        raise UserError("D601", name=name, names=nearest_first(name, FORMATS))
    return makers[name]()


def guess_format(path: str | None, *, terminal: bool = False) -> str:
    """Return the default format of an output (see `check_suffix` for unknown suffixes)."""
    if path is None:
        return "text" if terminal else "jsonl"
    return _FORMATS_BY_SUFFIX.get(_suffix(path), ("jsonl",))[0]


def check_suffix(path: str) -> None:
    """Check whether the suffix of an output names a format; a name without a suffix is accepted.

    Raises D351 for an unknown suffix.
    """
    suffix = _suffix(path)
    if suffix and suffix not in _FORMATS_BY_SUFFIX:
        raise UserError("D351", path=path, suffix=suffix, endings=", ".join(_FORMATS_BY_SUFFIX))


def check_output(path: str, format: str) -> None:
    """Check whether a file with this name can have this format.

    Raises D330 if its suffix is that of another format.
    """
    suffix = _suffix(path)
    if format not in _FORMATS_BY_SUFFIX.get(suffix, FORMATS):
        right = " or ".join(end for end, formats in _FORMATS_BY_SUFFIX.items() if format in formats)
        raise UserError("D330", path=path, suffix=suffix, format=format, right=right)


def check_inputs(format: Format, inputs: Iterable[Input]) -> None:
    """Check whether the format can be written for these inputs.

    Raises D321 for corrected text from tokenised inputs.
    """
    for entry in inputs:
        if format.name in ("corrected", "m2") and entry.kind in ("conllu", "spacy"):
            raise UserError("D321", format=format.name, kind=entry.kind, path=entry.path)


def _suffix(path: str) -> str:
    return os.path.splitext(without_compression(path))[1].lower()


DECISION_FORMATS = ("jsonl", "csv", "tsv", "parquet", "text")
"""The formats that list decisions, so that some can be left out; the others contain the whole text."""


class FlagsOnlyFormat:
    """A format restricted to flagged decisions, and to documents that have any.

    Its attributes and options are those of the format; an option that the format does not have is None.
    """

    def __init__(self, format: Format) -> None:
        self.format = format
        self.name, self.suffix, self.mirrors = format.name, format.suffix, format.mirrors
        self.text: bool | None = getattr(format, "text", None)
        self.version: int | None = getattr(format, "version", None)
        self.safe_cells: bool | None = getattr(format, "safe_cells", None)

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Encode the flags of some documents as a chunk."""
        return self.format.encode(
            [flagged for flagged in map(_flagged, results) if any(map(len, flagged.decisions))]
        )

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the chunks with the format."""
        self.format.join(chunks, write)


def _flagged(result: AnnotatedDocument) -> AnnotatedDocument:
    decisions = tuple(decisions.take(np.flatnonzero(decisions.flagged)) for decisions in result.decisions)
    return dataclasses.replace(result, decisions=decisions)


def only_flags(format: Format, *, can_flag: bool) -> FlagsOnlyFormat:
    """Return `format` restricted to flags.

    Raises D650 for a format that contains the whole text, D651 if nothing can be flagged.
    """
    if format.name not in DECISION_FORMATS:
        raise UserError("D650", format=format.name, formats=", ".join(DECISION_FORMATS))
    if not can_flag:
        raise UserError("D651")
    return FlagsOnlyFormat(format)


FIELD = "text"


def read(
    source: Input,
    *,
    field: str = FIELD,
    start: int = 0,
    end: int | None = None,
    line: int = 1,
    limit: int = FILE_LIMIT,
) -> Iterator[Document | UnreadableDocument]:
    """Yield the documents of one file that begin between byte `start` and byte `end`.

    Parameters
    ----------
    field : str
        Key of the text in JSONL, or its column in CSV and Parquet.
    start, end, line : int
        A range of whole documents in an uncompressed file, and the number of its first line.
    limit : int
        Maximum number of bytes in memory for a file that cannot be streamed; a larger file is an error. Plain
        text, lines, JSONL, CSV and CoNLL-U are streamed.

    Yields
    ------
    Document or UnreadableDocument
        A file that is empty, missing or not text yields one `UnreadableDocument`. So does an invalid line,
        after which reading continues.
    """
    path = source.shown
    try:
        with open_bytes(source.path) as handle:
            if source.kind == "file":
                yield from _text(source, handle, limit, start, end, line)
                return
            if source.kind == "spacy":
                yield from docbin_documents(handle, path, limit=limit)
                return
            if source.kind == "parquet":
                yield from parquet_documents(
                    make_seekable(handle, path, limit=limit), path, field=field, limit=limit
                )
                return
            if source.kind == "csv":
                yield from _csv(handle, path, field, start, end, line)
                return
            if start:
                handle.seek(start)
            lines = read_lines(handle, start=start, end=end, number=line)
            first = next(lines, None)
            if first is None:
                raise UserError("D302", path=path)
            lines = chain([first], lines)
            if source.kind == "json":
                yield from json_documents(lines, path, field=field)
            elif source.kind == "conllu":
                yield from conllu_documents(lines, path)
            else:
                yield from line_documents(lines, path)
    except UserError as error:
        yield UnreadableDocument(path, error)
    except READ_ERRORS as problem:
        yield UnreadableDocument(path, read_error(path, problem))


def _text(
    source: Input, handle: IO[bytes], limit: int, start: int, end: int | None, line: int
) -> Iterator[Document]:
    """Yield a file as one document, or a large file of plain text in parts.

    All parts are checked first, so that nothing is written for a file that is not a text. Standard input
    cannot be read twice, and markup may extend over any distance: these are never cut.
    """
    path = source.shown
    if not source.may_be_cut:
        yield file_document(handle, path, limit=limit)
        return
    longest = min(LINE_LIMIT, limit)

    def read_parts(stream: IO[bytes]) -> Iterator[FileLine]:
        if start:
            stream.seek(start)
        return text_parts(stream, start=start, end=end, number=line, longest=longest)

    parts = read_parts(handle)
    first, second = next(parts, FileLine(1, 0, b"")), next(parts, None)
    if first.data is not None and second is None and not start and end is None:
        yield file_document(BytesIO(first.data), path, limit=limit)
        return
    for part in chain([first], [] if second is None else [second], parts):
        if part.data is None and longest < LINE_LIMIT:
            raise too_large_error(path, limit)
        decode_line(part, path)
    with open_bytes(source.path) as again:
        yield from part_documents(read_parts(again), path)


def _csv(
    handle: IO[bytes], path: str, field: str, start: int, end: int | None, line: int
) -> Iterator[Document | UnreadableDocument]:
    lines = read_lines(handle, end=None if start else end)
    header, lines = read_header(lines, path, field=field)
    if start:
        handle.seek(start)
        lines = read_lines(handle, start=start, end=end, number=line)
    yield from csv_documents(lines, path, header, field=field)


def read_all(
    sources: Iterable[Input], *, field: str = FIELD, limit: int = FILE_LIMIT
) -> Iterator[Document | UnreadableDocument]:
    """Yield the documents of all `sources` in order; `limit` as for `read`."""
    for source in sources:
        yield from read(source, field=field, limit=limit)
