"""Decisions as JSONL: one document a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from disambig.formats.documents import Kind
from disambig.formats.results import Annotated, records

_encode = json.JSONEncoder(ensure_ascii=False).encode
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class JsonlFormat:
    """One object a document: id, path, line, text, models, number of flags, decisions, other keys."""

    text: bool = True
    name: str = "jsonl"
    suffix: str = ".jsonl"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return the lines of some documents."""
        line = bytearray()
        for result in results:
            if not result.document.blank:
                self._add(result, line)
        return bytes(line)

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write what `encode` returned, in order."""
        for chunk in chunks:
            write(chunk)

    def _add(self, result: Annotated, line: bytearray) -> None:
        """Add a document's line; its records are encoded some at a time, since there may be millions."""
        document = result.document
        found: dict[str, Any] = {"id": document.id, "path": document.path}
        if document.line:
            found["line"] = document.line
        if self.text:
            found["text"] = document.text
        meta = {key: value for key, value in document.meta.items() if key != "id"}
        if meta:
            found["meta"] = meta
        found["models"] = {decisions.task: decisions.model for decisions in result.decisions}
        found["flags"] = result.flags
        line += to_json(found)[:-1] + b', "decisions": ['
        every, separator = records(result), b""
        while some := list(islice(every, _AT_ONCE)):
            line += separator + to_json(some)[1:-1]
            separator = b", "
        line += b"]}\n"


def to_json(value: Any) -> bytes:
    """Return `value` as JSON in UTF-8; text that UTF-8 cannot hold is escaped."""
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
