"""JSON that any reader takes: written without NaN, and read so that damage is always a ValueError."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def json_text(value: Any, *, indent: int | None = 1, ensure_ascii: bool = True) -> str:
    """Return plain values as JSON; NaN and infinities, which JSON does not have, as null."""
    return json.dumps(finite(value), indent=indent, ensure_ascii=ensure_ascii, allow_nan=False)


def finite(value: Any) -> Any:
    """Return plain values with None for each number that is NaN or infinite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(each) for key, each in value.items()}
    return [finite(each) for each in value] if isinstance(value, list | tuple) else value


def parse_json(data: str | bytes | bytearray, *, unique_keys: bool = False) -> Any:
    """Return the value of a JSON text.

    Parameters
    ----------
    unique_keys : bool
        Whether to refuse an object with the same key twice, of which other readers may take the first.

    Raises
    ------
    ValueError
        If the text is not JSON, is nested too deep, or has a number that is not finite or too long.
        The standard library raises `RecursionError` for depth and accepts NaN.
    """
    pairs = _unique if unique_keys else None
    try:
        return json.loads(
            data, parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=pairs
        )
    except RecursionError:
        raise ValueError("values are nested too deep") from None
    except ValueError as problem:
        if isinstance(problem, json.JSONDecodeError | UnicodeDecodeError | _NotStrict):
            raise
        raise ValueError(_long_number(problem)) from None


def read_json(path: Path, *, limit: int = 100_000_000) -> Any:
    """Return the value of a JSON file.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is not JSON (see `parse_json`), not an ordinary file, or has more than `limit` bytes.
    """
    if path.exists() and not path.is_file():
        raise ValueError("it is not an ordinary file")  # opening a pipe waits for whoever writes into it
    with open(path, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it has more than {limit:,} bytes")
    return parse_json(data)


class _NotStrict(ValueError):
    """A number that JSON does not have, or a key that is there twice."""


def _refuse_constant(name: str) -> Any:
    raise _NotStrict(f"{name} is not a number of JSON")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _NotStrict(f"the number {text[:20]} is too large")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _NotStrict(f"the key {twice!r} is there twice")
    return values


def _long_number(problem: ValueError) -> str:
    return "a number has too many digits" if "digits" in str(problem) else str(problem)
