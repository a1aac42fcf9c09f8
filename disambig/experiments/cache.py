"""Files that an experiment makes from its data and needs again: outside the data, named by their origin."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from disambig.errors import UserError

VARIABLE = "DISAMBIG_CACHE"
"""Names the directory; by default it is the user's cache directory."""


def cache_directory() -> Path:
    """Return the directory of cached files, which need not exist yet; D722 where there is no home."""
    said = os.environ.get(VARIABLE)
    if said:
        return Path(said)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "disambig"
    except RuntimeError:  # a user without a home
        problem = "this user has no home directory"
        raise UserError("D722", path="~/.cache", problem=problem, variable=VARIABLE) from None


def cached(
    name: str,
    ending: str,
    *,
    sources: Sequence[Path],
    about: Mapping[str, Any],
    make: Callable[[Path], object],
) -> Path:
    """Return a file made before from the same sources with the same settings, or make it.

    Parameters
    ----------
    name, ending : str
        Parts of the file's name; between them stands a hash of all that it depends on.
    sources : sequence of Path
        Files it is made from, known by name, size and time of change.
    about : mapping
        Plain values it depends on.
    make : callable
        Given the path to write to.

    Raises
    ------
    UserError
        D722 where the directory cannot be written to.
    """
    stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(sources)]
    said = json.dumps([stats, about], sort_keys=True)
    directory = cache_directory()
    path = directory / f"{name}-{hashlib.sha256(said.encode()).hexdigest()[:16]}{ending}"
    if path.is_file():
        return path
    unfinished = directory / f"{path.stem}.{os.getpid()}{ending}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
        unfinished.unlink()
    except OSError as problem:
        raise UserError("D722", path=directory, problem=problem.strerror, variable=VARIABLE) from problem
    try:
        make(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
