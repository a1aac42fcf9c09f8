"""JSON Lines: reading documents, writing decisions."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from json.encoder import encode_basestring
from typing import Any

from disambig.data import minibatch
from disambig.errors import UserError
from disambig.files import replace_nonfinite
from disambig.formats.documents import (
    Document,
    FileLine,
    Kind,
    UnreadableDocument,
    decode_line,
    document_id,
    escape_unencodable,
    find_field,
    is_no_text,
    take_field,
    text_problem,
)
from disambig.formats.record_schema import RECORD_VERSIONS, SCHEMA_NAME, input_meta
from disambig.formats.results import AnnotatedDocument, JoinsChunks, records, rule_name

BYTE_ORDER_MARK = "\ufeff"


def json_documents(
    lines: Iterator[FileLine], path: str, *, field: str
) -> Iterator[Document | UnreadableDocument]:
    """Yield one document per object; skip blank lines, and report invalid lines by number.

    A file that begins with a list of candidates is reported once (D350) and read no further.
    """
    has_objects = False
    for line in lines:
        try:
            document = _document(decode_line(line, path), path, line.number, field)
        except UserError as error:
            yield UnreadableDocument(path, error)
            if is_no_text(error) or (error.code == "D350" and not has_objects):
                return
            has_objects = True
            continue
        if document is not None:
            has_objects = True
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
        raise refuse(f"a JSON {_json_type(parsed)}, not an object")
    place = find_field(parsed, field)
    if not place:
        if isinstance(parsed.get("candidates"), list):
            raise UserError("D350", path=path, line=number)
        keys = ", ".join(map(repr, _keys(parsed))) or "none"
        raise refuse(f"the key {field!r} is missing; keys: {keys}; name another one with --field NAME")
    text_value = take_field(parsed, place)
    if not isinstance(text_value, str):
        raise refuse(f"the value of {field!r} is a JSON {_json_type(text_value)}, not a string")
    invalid_text = text_problem(text_value)
    if invalid_text:
        raise refuse(invalid_text)
    name = document_id(parsed.get("id"), path, number)
    return Document(name, text_value, path, number, "json", "", parsed, place)


def _keys(parsed: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of an object, and those of the objects in it (``a.b``)."""
    for key, value in parsed.items():
        yield from (f"{key}.{inner}" for inner in value) if isinstance(value, dict) and value else (key,)


def _json_type(value: object) -> str:
    """Return the name of the JSON type of a parsed value."""
    if value is None:
        return "null"
    names = {list: "array", str: "string", bool: "boolean", dict: "object"}
    return names.get(type(value), "number")


_encode = json.JSONEncoder(ensure_ascii=False).encode
_encode_strictly = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_quote = encode_basestring  # like `_encode` for a string, but several times as fast
_NO_TEXT = '""'
_ADDED_LATER = ("precision", "precision_flags")  # keys that records of version 1 do not have
_NO_ALTERNATIVES = '"[]"'
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class JsonlFormat(JoinsChunks):
    """One object per document, with the schema that `disambig.formats.record_schema` returns."""

    text: bool = True  # whether records have the text of their documents
    # Version of the records, one of `RECORD_VERSIONS`. In version 1, keys without a value are left out,
    # candidates are pairs of text and score, and models are the values of an object
    version: int = RECORD_VERSIONS[-1]
    name: str = "jsonl"
    suffix: str = ".jsonl"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the lines of some documents."""
        lines = io.BytesIO()  # its bytes are returned without a copy, and may be 40 times the text
        for result in results:
            if not result.document.blank:
                self._add(result, lines.write)
        return lines.getvalue()

    def _add(self, result: AnnotatedDocument, write: Callable[[bytes], object]) -> None:
        """Write a document's line; records are encoded in blocks, since there may be millions."""
        decisions: Iterable[dict[str, Any]] = records(result)
        if self.version == 1:
            write(to_json(self._version_1_fields(result))[:-1] + b', "decisions": [')
            version_1 = (
                {key: record[key] for key in record if key not in _ADDED_LATER} for record in decisions
            )
            encoded = (to_json(block)[1:-1] for block in minibatch(version_1, _AT_ONCE))
        else:
            write(to_json(self._fields(result))[:-1] + b', "decisions": [')
            blocks = minibatch(map(_decision, decisions), _AT_ONCE)
            # the escape of half a surrogate pair is the same in Python and in JSON
            encoded = (", ".join(block).encode(errors="backslashreplace") for block in blocks)
        for number, encoded_block in enumerate(encoded):
            write(b", " * bool(number) + encoded_block)
        write(b"]}\n")

    def _fields(self, result: AnnotatedDocument) -> dict[str, Any]:
        """Return the keys of a record before its decisions."""
        document = result.document
        return {
            "schema": SCHEMA_NAME,
            # a name that UTF-8 cannot encode would be half a surrogate pair, which other programs refuse
            "id": escape_unencodable(document.id),
            "path": escape_unencodable(document.path),
            "line": document.line or 1,
            "text": document.text if self.text else None,
            "meta": _json_text(input_meta(_other_keys(document))),
            "other_languages": _json_text([asdict(paragraph) for paragraph in result.foreign]),
            "models": [{"task": decisions.task, "model": decisions.model} for decisions in result.decisions],
            "flags": result.flags,
        }

    def _version_1_fields(self, result: AnnotatedDocument) -> dict[str, Any]:
        document = result.document
        fields: dict[str, Any] = {"id": document.id, "path": document.path}
        if document.line:
            fields["line"] = document.line
        if self.text:
            fields["text"] = document.text
        meta = _other_keys(document)
        if meta:
            fields["meta"] = meta
        if result.foreign:
            fields["other_languages"] = [asdict(paragraph) for paragraph in result.foreign]
        fields["models"] = {decisions.task: decisions.model for decisions in result.decisions}
        fields["flags"] = result.flags
        return fields


def _other_keys(document: Document) -> dict[str, Any]:
    """Return the keys of the input that the record does not repeat: without the id, unless it has another."""
    meta = dict(document.meta)
    if meta.get("id") in (None, "") or str(meta["id"]) == document.id:
        meta.pop("id", None)
    return meta


def _decision(record: dict[str, Any]) -> str:
    """Return a decision as JSON with the keys of the schema; `record` is one of `disambig.formats.records`.

    It is put together here, since building an object for `json` would take as long as the rest of the record.
    """
    candidates = ", ".join(
        [f'{{"text": {_quote(text)}, "score": {score!r}}}' for text, score in record["candidates"]]
    )
    flagged, alternatives = record["flagged"], record.get("alternatives")
    margin = record["margin"]
    return (
        f'{{"task": {_quote(record["task"])}, "group": {_quote(record["group"])}, '
        f'"start": {record["start"]}, "end": {record["end"]}, "observed": {_quote(record["observed"])}, '
        f'"chosen": {_quote(record["chosen"])}, "gloss": {_quote(record.get("gloss", ""))}, '
        f'"replacement": {_quote(record["replacement"])}, "flagged": {"true" if flagged else "false"}, '
        f'"rule": {_quote(rule_name(record)) if flagged else _NO_TEXT}, '
        f'"precision": {record.get("precision", -1.0)!r}, '
        f'"precision_flags": {record.get("precision_flags", 0)}, '
        # Most decisions have no alternatives. Programs that infer types from the first lines would take a
        # list of objects for a list of nothing, and fail at the first object.
        f'"alternatives": {_quote(_json_text(alternatives)) if alternatives else _NO_ALTERNATIVES}, '
        f'"probability": {record["probability"]!r}, "margin": {"null" if margin is None else repr(margin)}, '
        f'"candidates": [{candidates}], "base": {record.get("base", 0.0)!r}, '
        f'"rank": {record.get("rank", -1)}, "found": {record["found"]}, "asked": {record["asked"]}}}'
    )


def _json_text(value: Any) -> str:
    """Return `value` as JSON; NaN and infinity, which JSON does not have, become null."""
    try:
        return _encode_strictly(value)
    except ValueError:
        return _encode_strictly(replace_nonfinite(value))


def to_json(value: Any) -> bytes:
    """Return `value` as JSON in UTF-8; text that UTF-8 cannot encode is escaped."""
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
