"""Flags, or labels, for people, as compilers and linters print theirs: ``path:line:column: ...``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from disambig.formats.conllu import parse_document
from disambig.formats.documents import Document, Kind
from disambig.formats.results import AnnotatedDocument, flagged_records, only_labels, records
from disambig.formatting import escape_control_chars, shown_path


@dataclass(frozen=True, slots=True)
class ReadableFormat:
    """One line a flag; nothing for decisions that are not flagged. Of labels alone one line each.

    Line and column count from 1, columns in characters, those of the file; but of a row (JSONL, CSV) the
    line is that of its begin and the column that in its text, and of a Doc or a row of Parquet its number.
    """

    name: str = "text"
    suffix: str = ".txt"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the lines of the flags of some documents."""
        return "".join(line for result in results for line in _lines(result)).encode()

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write what `encode` returned, in order."""
        for chunk in chunks:
            write(chunk)


def _lines(result: AnnotatedDocument) -> Iterable[str]:
    document = result.document
    number, position, line_start = document.line or 1, 0, 0
    path = shown_path(document.path)
    tokens = _tokens(document) if document.kind == "conllu" else None
    labelled = only_labels(result)
    for record in records(result) if labelled else flagged_records(result):
        start = record["start"]
        if tokens is not None:
            number, line_start = tokens(start)
        if document.kind == "file":
            newlines = document.text.count("\n", position, start)
            if newlines:
                line_start = document.text.rfind("\n", position, start) + 1
            number, position = number + newlines, start
        observed, gloss = one_line_text(record["observed"]), record.get("gloss")
        meant = escape_control_chars(record["chosen"]) if labelled else one_line_text(record["replacement"])
        decided = f"{observed}: {meant}" if labelled else f"{observed} -> {meant}"
        line = escape_control_chars(
            ", ".join(filter(None, [record["task"], f"{record['probability']:.2f}", gloss]))
        )
        yield f"{path}:{number}:{start - line_start + 1}: {decided} ({line})\n"


def _tokens(document: Document) -> Callable[[int], tuple[int, int]]:
    """Return what tells of an offset the line of CoNLL-U, and the offset at which that line would begin."""
    source = document.source.decode()
    parsed, lines = parse_document(source, document.path, document.line), source.split("\n")

    def place(start: int) -> tuple[int, int]:
        token = bisect_right(parsed.starts, start) - 1
        line = parsed.lines[token]
        return document.line + line, parsed.starts[token] - lines[line].index("\t") - 1

    return place


def one_line_text(text: str) -> str:
    """Return what stands or should stand in a place, no word too, as a line shows it."""
    return escape_control_chars(" ".join(text.split())) or '""'
