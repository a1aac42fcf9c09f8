"""What holds for a file, for people: TOML, with where each value comes from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from disambig.configuration.settings import DEFAULT, Settings

_NOTHING = {
    "tasks": "all installed models that correct words",
    "flags_per_1000": "what each model is set to",
    "trust": "whatever was measured",
    "max_flags_per_1000": "no bound",
    "include": "text, Markdown and LaTeX",
}
"""What it means that a key is not set."""


def shown(name: str, settings: Settings) -> str:
    """Return the settings of the file `name` as lines of TOML."""
    lines = [f"# {name}: {'excluded, never checked' if settings.excluded else 'checked'}"]
    for each in fields(Settings):
        key, value = each.name, getattr(settings, each.name)
        if key in ("excluded", "origins"):
            continue
        origin = ", ".join(map(_near, settings.origins.get(key, (DEFAULT,))))
        if key not in settings.origins:
            lines.append(f"# {key}: {_NOTHING.get(key, 'none')}  ({origin})")
        else:
            lines.append(f"{key} = {_toml(value)}  # {origin}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _near(origin: str) -> str:
    """Return a path below the current folder as one that is relative to it."""
    here = os.path.join(os.getcwd(), "")
    return origin.removeprefix(here)
