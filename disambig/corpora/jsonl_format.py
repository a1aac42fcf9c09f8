"""Decisions as JSONL: one document a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from disambig.corpora.results import Annotated, records


@dataclass(frozen=True, slots=True)
class JsonlFormat:
    """One object a document: id, path, line, text, models, number of flags, decisions, other keys."""

    text: bool = True
    name: str = "jsonl"
    suffix: str = ".jsonl"

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return the lines of some documents."""
        return b"".join(json_line(self._object(result)) for result in results if not result.document.blank)

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write what `encode` returned, in order."""
        for chunk in chunks:
            write(chunk)

    def _object(self, result: Annotated) -> dict[str, Any]:
        document = result.document
        found: dict[str, Any] = {"id": document.id, "path": document.path}
        if document.line:
            found["line"] = document.line
        if self.text:
            found["text"] = document.text
        found["models"] = {decisions.task: decisions.model for decisions in result.decisions}
        found["flags"] = result.flags
        found["decisions"] = records(result)
        meta = {key: value for key, value in document.meta.items() if key != "id"}
        if meta:
            found["meta"] = meta
        return found


def json_line(value: Any) -> bytes:
    """Return `value` as a line of JSON in UTF-8; text that UTF-8 cannot hold is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value).encode() + b"\n"
