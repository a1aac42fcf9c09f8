"""JSON Lines: reading documents, writing decisions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from disambig.data import minibatch
from disambig.errors import UserError
from disambig.formats.documents import (
    Document,
    FileLine,
    Kind,
    UnreadableDocument,
    decode_line,
    document_id,
    text_problem,
)
from disambig.formats.results import AnnotatedDocument, records

BYTE_ORDER_MARK = "\ufeff"


def json_documents(
    lines: Iterator[FileLine], path: str, *, field: str
) -> Iterator[Document | UnreadableDocument]:
    """Yield one document per object; skip blank lines, and report invalid lines by number."""
    for line in lines:
        try:
            document = _document(decode_line(line, path), path, line.number, field)
        except UserError as error:
            yield UnreadableDocument(path, error)
            if error.code == "D303":
                return
            continue
        if document is not None:
            yield document


def _document(text: str, path: str, number: int, field: str) -> Document | None:
    def refuse(problem: str) -> UserError:
        return UserError("D306", path=path, line=number, problem=problem, field=field)

    text = text.removeprefix(BYTE_ORDER_MARK).strip()
    if not text:
        return None
    try:
        parsed: Any = json.loads(text)
    except json.JSONDecodeError as problem:
        raise refuse(f"not JSON ({problem.msg}, column {problem.colno})") from None
    except (ValueError, RecursionError) as problem:
        raise refuse(f"not JSON that can be read ({problem})") from None
    if not isinstance(parsed, dict):
        raise refuse(f"a JSON {_name(parsed)}, not an object")
    place, key = _nested(parsed, field)
    if key not in place:
        raise refuse(f"the key {field!r} is missing; keys: {', '.join(map(repr, _keys(parsed))) or 'none'}")
    body = place.pop(key)
    if not isinstance(body, str):
        raise refuse(f"the value of {field!r} is a JSON {_name(body)}, not a string")
    unfitness = text_problem(body)
    if unfitness:
        raise refuse(unfitness)
    return Document(document_id(parsed.get("id"), path, number), body, path, number, "json", "", parsed)


def _nested(parsed: dict[str, Any], field: str) -> tuple[dict[str, Any], str]:
    """Return the object that holds a field, and its key there: ``a.b`` is ``b`` of the object ``a``."""
    head, dot, rest = field.partition(".")
    if field not in parsed and dot and isinstance(parsed.get(head), dict):
        return _nested(parsed[head], rest)
    return parsed, field


def _keys(parsed: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of an object, and those of the objects in it (``a.b``)."""
    for key, value in parsed.items():
        yield from (f"{key}.{inner}" for inner in value) if isinstance(value, dict) and value else (key,)


def _name(value: object) -> str:
    if value is None:
        return "null"
    names = {list: "array", str: "string", bool: "boolean", dict: "object"}
    return names.get(type(value), "number")


_encode = json.JSONEncoder(ensure_ascii=False).encode
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class JsonlFormat:
    """One object per document: id, path, line, text, models, number of flags, decisions, other keys.

    ``other_languages`` has the paragraphs that are not in the language of the models, if there are any.
    """

    text: bool = True
    name: str = "jsonl"
    suffix: str = ".jsonl"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the lines of some documents."""
        line = bytearray()
        for result in results:
            if not result.document.blank:
                self._add(result, line)
        return bytes(line)

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the chunks returned by `encode`, in order."""
        for chunk in chunks:
            write(chunk)

    def _add(self, result: AnnotatedDocument, line: bytearray) -> None:
        """Append a document's line; records are encoded in blocks, since there may be millions."""
        document = result.document
        fields: dict[str, Any] = {"id": document.id, "path": document.path}
        if document.line:
            fields["line"] = document.line
        if self.text:
            fields["text"] = document.text
        meta = {key: value for key, value in document.meta.items() if key != "id"}
        if meta:
            fields["meta"] = meta
        if result.foreign:
            fields["other_languages"] = [asdict(paragraph) for paragraph in result.foreign]
        fields["models"] = {decisions.task: decisions.model for decisions in result.decisions}
        fields["flags"] = result.flags
        line += to_json(fields)[:-1] + b', "decisions": ['
        separator = b""
        for some in minibatch(records(result), _AT_ONCE):
            line += separator + to_json(some)[1:-1]
            separator = b", "
        line += b"]}\n"


def to_json(value: Any) -> bytes:
    """Return `value` as JSON in UTF-8; text that UTF-8 cannot encode is escaped."""
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
