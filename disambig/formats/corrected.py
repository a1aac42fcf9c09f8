"""The text itself, with every flagged replacement made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disambig.formats.documents import Kind
from disambig.formats.edits import edit_of
from disambig.formats.jsonl.format import to_json
from disambig.formats.results import Annotated, flagged_records
from disambig.model.one_place import ranks, slots_of, standing


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

    @classmethod
    def of(cls, edit: dict[str, Any]) -> Made:
        """Return the change of a flagged record, as `edit_of` gives it."""
        return cls(edit["start"], edit["end"], edit["replacement"], edit["task"])


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
    edits = [Made.of(edit_of(record, text)) for record in wanted]
    if len(edits) < 2:
        return edits
    starts, ends = np.array([(edit.start, edit.end) for edit in edits]).T
    slots = slots_of(starts, ends, np.array([not edit.replacement for edit in edits]))
    sure = np.array([record["probability"] for record in wanted])
    tasks = ranks([edit.task for edit in edits])
    stands = standing(np.zeros(len(edits), np.int64), slots, sure, tasks)
    kept = [edits[i] for i in np.unique(stands).tolist()]
    return sorted(kept, key=lambda edit: (edit.start, edit.end))
