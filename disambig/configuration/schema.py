"""The JSON schema of settings files, for editors: made from the tables, shipped as ``schema.json``.

``python -m disambig.configuration.schema`` writes the shipped file again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from disambig.configuration.tables import Table

SHIPPED = Path(__file__).with_name("schema.json")


def schema() -> dict[str, Any]:
    """Return the schema of ``disambig.toml``, in the dialect that editors of TOML know (draft 7)."""
    made = Table.model_json_schema(ref_template="#/definitions/{model}")
    definitions = made.pop("$defs")
    return _plain({"$schema": "http://json-schema.org/draft-07/schema#", **made, "definitions": definitions})


def text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(schema(), indent=2) + "\n"


def _plain(value: Any) -> Any:
    """Return a schema without what TOML cannot say, null, and without titles that repeat the key."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _plain(each) for key, each in value.items() if not (key == "default" and each is None)}
    for said in kept.get("properties", {}).values():
        said.pop("title", None)
    sides = [side for side in kept.get("anyOf", ()) if side != {"type": "null"}]
    if len(sides) == 1:
        return {**{key: each for key, each in kept.items() if key != "anyOf"}, **sides[0]}
    return {**kept, "anyOf": sides} if sides else kept


if __name__ == "__main__":
    SHIPPED.write_text(text(), encoding="utf-8")
