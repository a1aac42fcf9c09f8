"""Where a saved model's count tables lie: those near it by their place beside it, others by full path."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def located(config: dict[str, Any], target: Path) -> dict[str, Any]:
    """Return `config` with the count tables that are files as a model at `target` is to name them.

    A table below the directory that holds the model is named by its place relative to the model's: both can
    be moved together, and nothing is said of the machine. Others are named by their full path.
    """
    home = target.parent.resolve() / target.name

    def named(counts: str) -> str:
        path = Path(counts).resolve()
        if not path.is_file():
            return counts  # a pack's
        near = path.is_relative_to(home.parent)
        return Path(os.path.relpath(path, home)).as_posix() if near else str(path)

    return _with_tables(config, named)


def found(config: dict[str, Any], home: Path) -> dict[str, Any]:
    """Return the config of a model at `home` with its tables by full paths: what `located` made, undone."""

    def full(counts: str) -> str:
        path = home / counts
        relative = not os.path.isabs(counts) and len(Path(counts).parts) > 1
        return str(path.resolve()) if relative and path.is_file() else counts

    return _with_tables(config, full)


def _with_tables(config: dict[str, Any], named: Callable[[str], str]) -> dict[str, Any]:
    extractors = {
        name: section | {"counts": named(section["counts"])}
        if isinstance(section, dict) and isinstance(section.get("counts"), str)
        else section
        for name, section in config.get("extractors", {}).items()
    }
    return config | {"extractors": extractors} if "extractors" in config else config
