"""Flags or labels for people, in the style of compilers and linters: ``path:line:column: ...``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from disambig.formats.documents import Document, Kind
from disambig.formats.results import (
    AnnotatedDocument,
    JoinsChunks,
    describe_flag,
    flagged_records,
    only_labels,
    records,
)
from disambig.formatting import escape_control_chars, shown_path


@dataclass(frozen=True, slots=True)
class ReadableFormat(JoinsChunks):
    """One line per flag; or one line per decision if all decisions are labels.

    Lines and columns of the file are counted from 1, columns in characters. For a row of JSONL or CSV, the
    line is the first line of the row and the column is counted in its text; for a Doc or a row of Parquet,
    the line is its number.
    """

    name: str = "text"
    suffix: str = ".txt"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the lines of the flags of some documents."""
        return "".join(line for result in results for line in _lines(result)).encode()


def _lines(result: AnnotatedDocument) -> Iterable[str]:
    document = result.document
    number, position, line_start = document.line or 1, 0, 0
    path = shown_path(document.path)
    locate = _token_locator(document) if document.kind == "conllu" else None
    is_labelled = only_labels(result)
    for record in records(result) if is_labelled else flagged_records(result):
        start = record["start"]
        if locate is not None:
            number, line_start = locate(start)
        if document.kind == "file":
            newlines = document.text.count("\n", position, start)
            if newlines:
                line_start = document.text.rfind("\n", position, start) + 1
            number, position = number + newlines, start
        observed, gloss = one_line_text(record["observed"]), record.get("gloss")
        new = escape_control_chars(record["chosen"]) if is_labelled else one_line_text(record["replacement"])
        change = f"{observed}: {new}" if is_labelled else f"{observed} -> {new}"
        certainty = f"{record['task']}, {record['probability']:.2f}" if is_labelled else describe_flag(record)
        details = escape_control_chars(", ".join(filter(None, [certainty, gloss])))
        yield f"{path}:{number}:{start - line_start + 1}: {change} ({details})\n"


def _token_locator(document: Document) -> Callable[[int], tuple[int, int]]:
    """Return a function from a text offset to its CoNLL-U line, and the offset of the start of that line."""
    from disambig.formats.conllu import parse_document

    source = document.source.decode()
    parsed, lines = parse_document(source, document.path, document.line), source.split("\n")

    def place(start: int) -> tuple[int, int]:
        token = bisect_right(parsed.starts, start) - 1
        line = parsed.lines[token]
        return document.line + line, parsed.starts[token] - lines[line].index("\t") - 1

    return place


def one_line_text(text: str) -> str:
    """Return a text on one line with control characters escaped; the empty text is shown as ``""``."""
    return escape_control_chars(" ".join(text.split())) or '""'
