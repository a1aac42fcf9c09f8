"""The published schema of the records in JSON Lines: as JSON Schema and as an Arrow schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from disambig.errors import UserError

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
def _keys() -> frozenset[str]:
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
        meta = {key: value for key, value in meta.items() if key not in _keys()}
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
