"""Paths that a settings file may name.

Settings come with cloned repositories: what they name lies in the project and is an ordinary file of bounded
size. What the user names on the command line or in the editor is not limited so.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from typing import Any

from disambig.configuration.settings import CHOICES, Settings
from disambig.errors import UserError

MAX_MODEL_BYTES = 2_000_000_000
"""Maximum size of the files of a model that a settings file names."""
_MAX_MODEL_FILES = 1_000
_FILES = ("ignore_files", "sets_files", "baseline")
_OPTIONS = {"ignore_files": "--ignore", "sets_files": "--sets", "baseline": "--baseline", "models": "--model"}


def project_root(folder: str) -> str:
    """Return the project of a settings file in `folder`: the git repository, else the folder itself."""
    root = here = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return root
        here = above
    return here


def is_inside(path: str, root: str) -> bool:
    """Return True if `path`, all links followed, is `root` or below it."""
    path = os.path.realpath(path)
    return path == root or path.startswith(os.path.join(root, ""))


def check_paths(settings: Settings, file: str, options: Mapping[str, Any]) -> None:
    """Check what a settings file names.

    Parameters
    ----------
    settings : Settings
        What the file says, without options.
    file : str
        Path of the settings file.
    options : mapping
        What the user says above it: values that these replace are not checked.

    Raises
    ------
    UserError
        D973 for a path outside the project, or a model that names one; D974 for what is not an ordinary file
        or too large.
    """
    if not file:
        return
    root = project_root(os.path.dirname(file))
    for key in _FILES:
        if key == "baseline" and key in options:
            continue
        value = getattr(settings, key) or ()
        for path in (value,) if isinstance(value, str) else value:
            _check_inside(path, root, file, key)
            if os.path.exists(path) and not os.path.isfile(path):
                raise UserError("D974", path=path, problem="is not an ordinary file", source=f"{file}, {key}")
    if any(key in options for key in CHOICES[0]):
        return
    for task in settings.tasks:
        if os.path.isdir(task) and not _is_installed(task):
            raise UserError("D404", **_unknown_task(task))
    for path in settings.models:
        _check_inside(path, root, file, "models")
        if os.path.isdir(path):
            _check_model(path, root, file)


def _check_inside(path: str, root: str, file: str, key: str) -> None:
    if not is_inside(path, root):
        option = _OPTIONS[key]
        raise UserError(
            "D973", path=file, key=key, value=path, root=root, hint=f"; give it by {option} instead"
        )


def _is_installed(task: str) -> bool:
    from disambig.packs import available

    return task in available()


def _unknown_task(task: str) -> dict[str, Any]:
    from disambig.errors import nearest_first
    from disambig.packs import available

    hint = "in settings, `tasks` holds names of installed models, `models` directories; "
    return {"name": task, "hint": hint, "names": nearest_first(task, available())}


def _check_model(home: str, root: str, file: str) -> None:
    """Check the files of a model, and what its config names, before anything of it is loaded."""
    source = f"{file}, models"
    n_files = n_bytes = 0
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            _check_inside(path, root, file, "models")
            try:
                status = os.stat(path)
            except OSError:
                continue  # a link to nothing: loading says so if it is needed
            n_files += 1
            n_bytes += status.st_size
            if not stat.S_ISREG(status.st_mode):
                raise UserError("D974", path=path, problem="is not an ordinary file", source=source)
            if n_files > _MAX_MODEL_FILES or n_bytes > MAX_MODEL_BYTES:
                problem = f"has more than {MAX_MODEL_BYTES:,} bytes or {_MAX_MODEL_FILES:,} files"
                raise UserError("D974", path=home, problem=problem, source=source)
    config = os.path.join(home, "config.cfg")
    if not os.path.isfile(config):
        return  # loading says so
    from disambig.config import read_config

    for value in _texts(read_config(config)):
        near = os.path.join(home, value)
        is_path = os.path.isabs(value) or os.pardir in value.split("/") or os.path.lexists(near)
        if "\0" in value or (is_path and not is_inside(near, root)) or _is_elsewhere(value, near, root):
            raise UserError("D973", path=config, key="the model", value=value, root=root, hint="")


def _is_elsewhere(value: str, near: str, root: str) -> bool:
    """Return True if a config names a file of the current folder that is outside the project."""
    return not os.path.lexists(near) and os.path.isfile(value) and not is_inside(value, root)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a config, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
