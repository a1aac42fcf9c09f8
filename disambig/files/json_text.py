"""Values as JSON that any reader takes: numbers that are none are null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
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
