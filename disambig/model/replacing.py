"""Where a model may be written: on nothing, or in the place of another model, never over what is none."""

from __future__ import annotations

from pathlib import Path

from disambig.errors import UserError
from disambig.files.json_text import read_json
from disambig.files.saving import followed
from disambig.files.swapping import restore

_SAID = ("format", "name", "files")


def free_target(path: str | Path, *, force: bool = False) -> Path:
    """Return where a model of that name goes, its links followed; what stands there stays as it is.

    Raises
    ------
    UserError
        D406 for a model or an empty directory that is there, unless `force` is set; D940 for anything else
        that is there; D309 where it cannot be looked at.
    """
    try:
        target = followed(Path(path))
        restore(target)
        if target.exists():
            if not _may_go(target):
                raise UserError("D940", path=path)
            if not force:
                raise UserError("D406", path=path)
    except OSError as problem:
        raise UserError("D309", path=path, problem=problem.strerror or problem) from problem
    return target


def _may_go(target: Path) -> bool:
    """Tell whether nothing but a model, whole or damaged, is lost with a directory."""
    return target.is_dir() and (_is_model(target) or next(target.iterdir(), None) is None)


def _is_model(home: Path) -> bool:
    try:
        said = read_json(home / "model.json")
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(said, dict) and all(key in said for key in _SAID)
