"""Read the names of a project from its package manifests."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from disambig.errors import UserError
from disambig.files import decode, read_small

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MANIFESTS: Mapping[str, tuple[Callable[[str], Any], tuple[tuple[str, ...], ...]]] = {
    "pyproject.toml": (tomllib.loads, (("project", "name"), ("tool", "poetry", "name"))),
    "package.json": (json.loads, (("name",),)),
    "Cargo.toml": (tomllib.loads, (("package", "name"),)),
}
"""Manifests, how they are read, and the keys under which they have the name of the package."""
_NAME = re.compile(r"(?:@[\w.-]+/)?([\w.-]{2,80})")
_MAX_BYTES = 2_000_000


def project_names(root: str) -> tuple[str, ...]:
    """Return the names that the manifests in the top folder of a project give it, in lower case.

    A manifest that cannot be read says nothing.
    """
    names = []
    for file, (load, places) in _MANIFESTS.items():
        path = os.path.join(root, file)
        if not os.path.isfile(path) or os.path.islink(path):
            continue
        try:
            table = load(decode(read_small(path, limit=_MAX_BYTES, only_regular=True), path))
        except (UserError, ValueError, RecursionError):
            continue
        for keys in places:
            value = table
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, str) and (match := _NAME.fullmatch(value)):
                names.append(match[1].lower())
    return tuple(dict.fromkeys(names))
