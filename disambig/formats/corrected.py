"""The text itself, with every flagged replacement made."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from disambig.formats.documents import Kind
from disambig.formats.edits import edit_of
from disambig.formats.jsonl.format import to_json
from disambig.formats.results import Annotated, flagged_records


@dataclass(frozen=True, slots=True)
class CorrectedFormat:
    """Documents as they came: a text, a line with its line end, a JSON object with new text.

    Rows of CSV and Parquet come out as JSON objects. Tokens (CoNLL-U, ``.spacy``) have no corrected text:
    that would not be their tokens any more.

    Attributes
    ----------
    field : str
        Key of the text in JSONL.
    """

    field: str = "text"
    name: str = "corrected"
    suffix: str = ".txt"
    mirrors: tuple[Kind, ...] = ("file",)

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return the corrected documents, one behind the other."""
        return b"".join(map(self._encode, results))

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write what `encode` returned, in order."""
        for chunk in chunks:
            write(chunk)

    def _encode(self, result: Annotated) -> bytes:
        text, document = corrected(result), result.document
        if document.kind in ("json", "csv", "parquet"):
            return to_json({**document.meta, self.field: text}) + b"\n"
        return (text + document.ending).encode()


@dataclass(frozen=True, slots=True)
class Made:
    """A change of a text: ``text[start:end]`` becomes `replacement`, as `task` decided."""

    start: int
    end: int
    replacement: str
    task: str


def corrected(result: Annotated) -> str:
    """Return the text with the flagged replacements; of two that overlap the more probable is made."""
    text = result.document.text
    parts, position = [], 0
    for edit in made_edits(result):
        parts += [text[position : edit.start], edit.replacement]
        position = edit.end
    return "".join([*parts, text[position:]])


def made_edits(result: Annotated) -> list[Made]:
    """Return the changes that `corrected` makes, in text order; none overlaps another."""
    text = result.document.text
    wanted = [record for record in flagged_records(result) if record["replacement"] != record["observed"]]
    edits = sorted((edit_of(record, text) for record in wanted), key=lambda edit: edit["start"])
    made = []
    for cluster in _overlapping(edits):
        tasks = {(each["start"], each["end"], each["replacement"]): each["task"] for each in cluster}
        made += [Made(*edit, tasks[edit]) for edit in _surest(cluster)]
    return made


def _overlapping(records: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield records, which come in text order, in groups that do not overlap each other."""
    group: list[dict[str, Any]] = []
    end = 0
    for record in records:
        if group and record["start"] >= end and not _in_one_gap(group[-1], record):
            yield group
            group = []
        group.append(record)
        end = max(end, record["end"])
    if group:
        yield group


def _in_one_gap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two records put a word into the same empty place."""
    return bool(one["start"] == one["end"] == other["start"] == other["end"])


def _surest(group: list[dict[str, Any]]) -> list[tuple[int, int, str]]:
    """Return (start, end, replacement) of the records to be made, in text order."""
    taken: list[tuple[int, int, str]] = []
    for record in sorted(group, key=lambda record: (-record["probability"], record["start"])):
        start, end = record["start"], record["end"]
        place = bisect(taken, (start,))
        after_last = not place or taken[place - 1][1] <= start
        in_a_gap = start == end and any((start, end) == other[:2] for other in taken[place : place + 1])
        if after_last and not in_a_gap and (place == len(taken) or end <= taken[place][0]):
            taken.insert(place, (start, end, record["replacement"]))
    return taken
