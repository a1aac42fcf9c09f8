"""Where what a saved model reads lies: files and folders near it by their place beside it, others in full."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_IS_THERE: dict[str, Callable[[Path], bool]] = {
    "counts": Path.is_file,
    "gaps": Path.is_dir,
    "parts_of_speech": Path.is_dir,
    "words": Path.is_dir,
}
"""Settings of extractors and tasks that name a count table, or a folder with weights or words."""


def located(config: dict[str, Any], target: Path) -> dict[str, Any]:
    """Return `config` with the files and folders that are there as a model at `target` is to name them.

    One below the directory that holds the model is named by its place relative to the model's: both can
    be moved together, and nothing is said of the machine. Others are named by their full path. Settings that
    a task or an extractor declares to be folders or files are such, too (`TaskOptions.folders`).
    """
    home = target.parent.resolve() / target.name

    def named(is_there: Callable[[Path], bool], value: str) -> str:
        path = Path(value).resolve()
        if not is_there(path):
            return value  # such as the name of a pack, whose table it is
        near = path.is_relative_to(home.parent)
        return Path(os.path.relpath(path, home)).as_posix() if near else str(path)

    return _with_paths(config, named)


def found(config: dict[str, Any], home: Path) -> dict[str, Any]:
    """Return the config of a model at `home` with full paths: what `located` made, undone."""

    def full(is_there: Callable[[Path], bool], value: str) -> str:
        path = home / value
        relative = not os.path.isabs(value) and len(Path(value).parts) > 1
        return str(path.resolve()) if relative and is_there(path) else value

    return _with_paths(config, full)


def _with_paths(
    config: dict[str, Any], named: Callable[[Callable[[Path], bool], str], str]
) -> dict[str, Any]:
    def of(section: Any, known: dict[str, Callable[[Path], bool]]) -> Any:
        if not isinstance(section, dict):
            return section
        paths = {name: value for name, value in section.items() if name in known and isinstance(value, str)}
        return section | {name: named(known[name], value) for name, value in paths.items()}

    made = dict(config)
    if isinstance(made.get("task"), dict):  # of which "gaps" may be a word, too
        paths = {name: value for name, value in made["task"].items() if os.sep in str(value)}
        made["task"] = made["task"] | of(paths, _IS_THERE | _declared("tasks", made["task"]))
    if "extractors" in made:
        made["extractors"] = {
            name: of(section, _IS_THERE | _declared("extractors", section))
            for name, section in made["extractors"].items()
        }
    return made


def _declared(shelf: str, section: Any) -> dict[str, Callable[[Path], bool]]:
    """Return the settings that a part's class declares to be paths; an unknown class is no matter here."""
    from disambig.fields import folders
    from disambig.registry import parts

    name = section.get(f"@disambig_{shelf}") if isinstance(section, dict) else None
    part = parts(shelf).get(str(name))
    factory = part.load() if part is not None else None
    return dict.fromkeys(folders(factory), Path.exists) if isinstance(factory, type) else {}
