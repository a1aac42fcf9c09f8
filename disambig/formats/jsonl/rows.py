"""JSONL: one object a line, its text under one key; the other keys are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from disambig.errors import UserError
from disambig.formats.documents import Bad, Document, id_of, unfit
from disambig.formats.lines import Line, text_of

BYTE_ORDER_MARK = "\ufeff"


def json_documents(lines: Iterator[Line], path: str, *, field: str) -> Iterator[Document | Bad]:
    """Yield one document an object; blank lines are passed over, bad ones reported by number."""
    for line in lines:
        try:
            document = _document(text_of(line, path), path, line.number, field)
        except UserError as error:
            yield Bad(path, error)
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
        raise refuse(f"no JSON ({problem.msg}, column {problem.colno})") from None
    except (ValueError, RecursionError) as problem:
        raise refuse(f"no JSON that can be read ({problem})") from None
    if not isinstance(parsed, dict):
        raise refuse(f"a JSON {_name(parsed)} and no object")
    if field not in parsed:
        raise refuse(f"no key {field!r}, only {', '.join(map(repr, parsed)) or 'an empty object'}")
    body = parsed.pop(field)
    if not isinstance(body, str):
        raise refuse(f"the value of {field!r} is a JSON {_name(body)} and no string")
    unfitness = unfit(body)
    if unfitness:
        raise refuse(unfitness)
    return Document(id_of(parsed.get("id"), path, number), body, path, number, "json", "", parsed)


def _name(value: object) -> str:
    if value is None:
        return "null"
    names = {list: "array", str: "string", bool: "boolean", dict: "object"}
    return names.get(type(value), "number")
