"""Flags as lines: for people, as compilers and linters print theirs, or for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from disambig.checking.flags import Flag
from disambig.formats.readable import on_one_line
from disambig.visible import visible

FORMATS = ("text", "json", "jsonl")
"""``json`` and ``jsonl`` are one: an object a line."""


def line_of(name: str, flag: Flag, format: str, outcome: str = "") -> str:
    """Return the line of a flag in the file `name`, and what became of it."""
    if format != "text":
        return json.dumps({"path": name, **asdict(flag), **({"outcome": outcome} if outcome else {})}) + "\n"
    change = f"{on_one_line(flag.observed)} -> {on_one_line(flag.replacement)}"
    place = f"{visible(name)}:{flag.line}:{flag.column}"
    said = f"{change} ({flag.task}, {flag.probability:.2f})"
    return f"{place}: {said}{', ' if outcome else ''}{outcome}\n"


def without(left: Sequence[Flag]) -> str:
    """Name the first flags that could not be corrected."""
    return ", ".join(f"{flag.line}:{flag.column} {on_one_line(flag.observed)}" for flag in left[:5])
