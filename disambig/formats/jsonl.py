"""Records of decisions: annotated documents, their records, the schema of records, and JSON Lines."""

from __future__ import annotations

import io
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from heapq import merge
from importlib.resources import files
from itertools import chain
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

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
from disambig.formatting import describe_share, escape_control_chars, on_one_line, shown_path

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.text import ForeignParagraph

CANDIDATES_KEPT = 5
_WORD = re.compile(r"\w")
_DECISIONS_PER_SLICE = 4096


class JoinsChunks:
    """Base of formats whose output is their chunks, one after the other."""

    __slots__ = ()

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the chunks returned by `encode`, in order."""
        for chunk in chunks:
            write(chunk)


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document with its decisions: one `Decisions` per task, with offsets into its text."""

    document: Document
    decisions: tuple[Decisions, ...]
    # Paragraphs that were left alone, since they are not in the language of the models
    foreign: tuple[ForeignParagraph, ...] = ()

    @property
    def flags(self) -> int:
        """The number of flagged decisions."""
        return sum(int(decisions.flagged.sum()) for decisions in self.decisions)


def count_words(text: str) -> int:
    """Return the number of words separated by white space; 0 if the text has no letter or digit."""
    return len(text.split()) if _WORD.search(text) else 0


def records(result: AnnotatedDocument, *, kept: int = CANDIDATES_KEPT) -> Iterator[dict[str, Any]]:
    """Yield the decisions of all tasks as plain values, in text order, with bounded memory.

    They are the records of `Decisions.record` without the model, which is the same for all, and with the best
    `kept` candidates only, which always include the observed one.
    """
    text = result.document.text
    task_records = [_task_records(decisions, text, kept) for decisions in result.decisions]
    if sum(map(len, result.decisions)) <= _DECISIONS_PER_SLICE:
        return iter(sorted(chain(*task_records), key=_span))
    return merge(*task_records, key=_span)


def _span(record: dict[str, Any]) -> tuple[int, int]:
    return record["start"], record["end"]


def _task_records(decisions: Decisions, text: str, kept: int) -> Iterator[dict[str, Any]]:
    for first in range(0, len(decisions), _DECISIONS_PER_SLICE):
        yield from _slice_records(
            decisions.slice(first, min(first + _DECISIONS_PER_SLICE, len(decisions))), text, kept
        )


def _slice_records(decisions: Decisions, text: str, kept: int) -> Iterator[dict[str, Any]]:
    """Yield the records of `Decisions.record` for many decisions; values are read from columns, for speed.

    `kept` is the maximum number of candidates of a record, to which the observed one is added.
    """
    import numpy as np

    from disambig.data import candidate_gloss, excerpt, replacement, row_owners

    has_glosses = decisions.glossed
    owner = row_owners(decisions.offsets)
    # the candidates of all decisions in one stable sort: by decision, then by falling score
    order = np.lexsort((-decisions.scores, owner))
    ranked = (order - decisions.offsets[owner]).tolist()
    scores = np.round(decisions.scores[order].astype(np.float64), 4).tolist()
    offsets = decisions.offsets.tolist()
    starts, ends, groups = decisions.starts.tolist(), decisions.ends.tolist(), decisions.groups.tolist()
    observed_indices, chosen_indices = decisions.observed.tolist(), decisions.chosen.tolist()
    flagged, n_hits, n_queries = (
        column.tolist() for column in (decisions.flagged, decisions.n_hits, decisions.n_queries)
    )
    probabilities = np.round(decisions.probabilities.astype(np.float64), 6).tolist()
    margins = np.round(decisions.margins.astype(np.float64), 4).tolist()
    for i in range(len(decisions)):
        start, end, group = starts[i], ends[i], decisions.table[groups[i]]
        observed_index, chosen_index = observed_indices[i], chosen_indices[i]
        first, last = offsets[i], offsets[i + 1]
        names = decisions.candidate_texts(i)
        observed, chosen = excerpt(text, start, end), names[chosen_index]
        top = list(range(first, min(last, first + kept)))
        if observed_index >= 0 and observed_index not in ranked[first : first + kept]:
            top.append(ranked.index(observed_index, first, last))
        yield {
            "task": decisions.task,
            "group": group.name,
            "start": start,
            "end": end,
            "observed": observed,
            "chosen": chosen,
            **({"gloss": candidate_gloss(group, chosen_index)} if has_glosses else {}),
            "replacement": observed
            if observed_index in (-1, chosen_index)
            else replacement(chosen, text, start, end),
            "flagged": flagged[i],
            **decisions.flag_fields(i, text),
            "probability": probabilities[i],
            "margin": margins[i] if margins[i] < float("inf") else None,
            "candidates": [(names[ranked[rank]], scores[rank]) for rank in top],
            **decisions.source_record(i),
            "found": n_hits[i],
            "asked": n_queries[i],
        }


def rule_name(record: dict[str, Any]) -> str:
    """Return the name of the rule of a flag: its task, unless the record names a rule."""
    return str(record.get("rule") or record["task"])


def describe_flag(record: dict[str, Any]) -> str:
    """Return the rule of a flag and how often such flags are right: ``a-an, 98 % right``.

    If that was not measured, the model's probability stands in its place: ``a-an, 0.98``.
    """
    if record["precision"] < 0:
        return f"{rule_name(record)}, {record['probability']:.2f}"
    return f"{rule_name(record)}, {describe_share(record['precision'], record['precision_flags'])} right"


def only_labels(result: AnnotatedDocument) -> bool:
    """Return True if all decisions are labels, that is, have no observed candidate."""
    return bool(result.decisions) and all(
        len(decisions) and (decisions.observed < 0).all() for decisions in result.decisions
    )


def flagged_records(result: AnnotatedDocument) -> list[dict[str, Any]]:
    """Return the records of the flagged decisions only, which is fast if there are few."""
    import numpy as np

    flagged = [
        decisions.record(int(index), result.document.text)
        for decisions in result.decisions
        for index in np.flatnonzero(decisions.flagged)
    ]
    return sorted(flagged, key=_span)


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
    """Yield a line of text per flag or, if all decisions assign labels, per label."""
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
    return escape_control_chars(on_one_line(text)) or '""'


RECORD_VERSIONS = (1, 2)
"""Versions of records that can be written; the last one is the default.

Version 1 has no published schema: its keys depend on the input. It will be removed in the next release.
"""
SCHEMA_NAME = "disambig/records/2"
"""Value of the key ``schema`` of each record; it changes with the keys and types of records."""
SCHEMA_FILE = "records.schema.json"
_VERSION_1_KEYS = frozenset(
    ("path", "line", "text", "meta", "other_languages", "models", "flags", "decisions")
)  # except "id"


def record_schema_text() -> str:
    """Return the JSON Schema of records (draft 2020-12), as the file in the package contains it."""
    return (files("disambig.formats") / SCHEMA_FILE).read_text(encoding="utf-8")


def record_schema() -> dict[str, Any]:
    """Return the JSON Schema of records (draft 2020-12)."""
    schema: dict[str, Any] = json.loads(record_schema_text())
    return schema


def arrow_schema() -> Any:
    """Return the schema of records as a ``pyarrow.Schema``.

    Programs that infer types from the first lines of a file need no schema, unless these lines have no
    decision at all. Then pass this one, for instance as ``explicit_schema`` to ``pyarrow.json.read_json``.

    Raises
    ------
    UserError
        D531 if pyarrow is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise UserError("D531") from None
    return pyarrow.schema(_fields(pyarrow, record_schema()))


def _fields(arrow: Any, schema: Mapping[str, Any]) -> list[Any]:
    # all nullable, as pyarrow makes them when it reads JSON: schemas that differ in this are not equal
    return [arrow.field(name, _type(arrow, value)) for name, value in schema["properties"].items()]


def _type(arrow: Any, schema: Mapping[str, Any]) -> Any:
    """Return the Arrow type of the values that a part of the JSON Schema describes."""
    kind = schema.get("type", "string")  # the only constant is a string
    if isinstance(kind, list):
        (kind,) = (name for name in kind if name != "null")
    if kind == "array":
        return arrow.list_(_type(arrow, schema["items"]))
    if kind == "object":
        return arrow.struct(_fields(arrow, schema))
    types = {"string": arrow.string, "integer": arrow.int64, "number": arrow.float64, "boolean": arrow.bool_}
    return types[kind]()


@cache
def _schema_keys() -> frozenset[str]:
    return frozenset(record_schema()["properties"])


def input_meta(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of an input's object or row that a record repeats in ``meta``.

    The keys of an object ``meta`` are moved beside the others, unless one of them is already there. Of a
    record of either version, only its ``meta`` and the keys that were added to it remain.

    `values` is the object without its text, and without its id if that is the id of the record.
    """
    meta = dict(values)
    inner = meta.get("meta")
    if meta.get("schema") == SCHEMA_NAME:
        inner = _parse_object(inner)
        meta = {key: value for key, value in meta.items() if key not in _schema_keys()}
    elif isinstance(meta.get("models"), dict) and isinstance(meta.get("decisions"), list):
        meta = {key: value for key, value in meta.items() if key not in _VERSION_1_KEYS}
    if isinstance(inner, dict) and not (inner.keys() & (meta.keys() - {"meta"})):
        meta.pop("meta", None)
        meta.update(inner)
    return meta


def _parse_object(value: object) -> object:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None


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
    """Return the document in a line of JSON; None for a blank line. Raises D306 and D350."""

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
    if invalid_text := text_problem(text_value):
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
_DECISIONS_PER_BLOCK = 256


@dataclass(frozen=True, slots=True)
class JsonlFormat(JoinsChunks):
    """One object per document, with the schema that `disambig.formats.jsonl` returns."""

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
            encoded = (to_json(block)[1:-1] for block in minibatch(version_1, _DECISIONS_PER_BLOCK))
        else:
            write(to_json(self._fields(result))[:-1] + b', "decisions": [')
            blocks = minibatch(map(_decision, decisions), _DECISIONS_PER_BLOCK)
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
        if meta := _other_keys(document):
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
    """Return `value` as JSON; NaN and infinity, which JSON does not have, become null.

    Half surrogate pairs are escaped: other programs refuse a text that contains them, and with it the file.
    """
    try:
        text = _encode_strictly(value)
    except ValueError:
        text = _encode_strictly(replace_nonfinite(value))
    return text.encode(errors="backslashreplace").decode()


def to_json(value: Any) -> bytes:
    """Return `value` as JSON in UTF-8; text that UTF-8 cannot encode is escaped."""
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
