"""Corrected texts, and corrections in the M2 format."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disambig.data import edited_text, record_edit
from disambig.decision import edits_to_keep
from disambig.formats.documents import Kind, with_field
from disambig.formats.jsonl import to_json
from disambig.formats.results import AnnotatedDocument, JoinsChunks, flagged_records


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
