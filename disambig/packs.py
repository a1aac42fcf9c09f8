"""Packs: packages with trained models for a language, and possibly a count table that they use.

A pack is a package directory with a ``pack.json`` and an entry point in the group `disambig_packs`.
It is found without being imported, since a pack contains no code.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from disambig.errors import UserError, nearest_first
from disambig.files import file_stamp, read_json
from disambig.registry import entry_points, plugin_configs

GROUP = "disambig_packs"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pack:
    """An installed pack.

    Attributes
    ----------
    name, version, language : str
    home : Path
        Its directory.
    counts : Path or None
        Its count table.
    models : dict of str to Path
        Directory of the model of each task.
    by_name : tuple of str
        Tasks that are used only if they are named, since they label everything, such as each token.
    folders : dict of str to Path
        Further folders for components of plugins, by the name that the plugin uses.
    """

    name: str
    version: str
    language: str
    home: Path
    counts: Path | None
    models: dict[str, Path]
    by_name: tuple[str, ...] = ()
    folders: dict[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PackFolder:
    """A kind of folder that packs contain besides models of tasks, such as a parser.

    Attributes
    ----------
    key : str
        Its key in `Pack.folders`.
    what : str
        What it contains, for messages: ``"parser"``.
    made_by : str
        What makes such a folder, for messages: ``"`disambig train-parser`"``.
    is_in : callable
        Returns whether a folder contains it.
    pack : str
        The pack to install for it.
    """

    key: str
    what: str
    made_by: str
    is_in: Callable[[Path], bool]
    pack: str

    def locate(self, name: str | Path) -> Path:
        """Return the folder, given a pack, ``"PACK/KEY"``, the folder itself or the one that contains it.

        Raises
        ------
        UserError
            D901 for an unknown name, D943 for the name of a file, D902 for a folder without one, D403 for a
            damaged pack.
        """
        pack = find_pack(str(name).removesuffix(f"/{self.key}"))
        if pack is not None:
            if self.key not in pack.folders:
                raise UserError("D902", path=pack.home, what=self.what, made_by=self.made_by)
            return pack.folders[self.key]
        path = Path(name)
        for folder in (path, path / self.key):
            if self.is_in(folder):
                return folder
        if path.is_dir():
            raise UserError("D902", path=path, what=self.what, made_by=self.made_by)
        require_undamaged_pack(str(name))
        providers = [pack.name for pack in packs().values() if self.key in pack.folders]
        values = {
            "name": str(name),
            "what": self.what,
            "made_by": self.made_by,
            "names": nearest_first(str(name), providers) if providers else "none",
        }
        if path.exists():
            raise UserError("D943", **values)
        missing = f"install the pack {self.pack} (pip install ./corpora/{self.pack}), or "
        raise UserError("D901", hint="" if self.pack in providers else missing, **values)


def packs() -> dict[str, Pack]:
    """Return the installed packs by name.

    A pack whose ``pack.json`` is damaged or missing is left out; a process logs this once for each version of
    the file.
    """
    return {name: pack for name, pack in _installed() if isinstance(pack, Pack)}


def find_pack(name: str) -> Pack | None:
    """Return the installed pack `name`, or None if there is none.

    Raises
    ------
    UserError
        D403 if it is damaged.
    """
    pack = dict(_installed()).get(name)
    if isinstance(pack, UserError):
        raise UserError(pack.code, **pack.values)
    return pack


def require_undamaged_pack(name: str, provider: str | None = None) -> None:
    """Raise an error if an unknown name belongs to a damaged pack. Raises D403.

    `name`: such as ``"PACK/TASK"``.
    `provider`: the pack that is known to provide it.
    """
    for pack_name in (name, name.partition("/")[0], provider):
        if pack_name:
            find_pack(pack_name)


def _damaged_hint() -> str:
    """Return a hint for a message about an unknown name, if a damaged pack may be what provides it."""
    damaged = [name for name, pack in _installed() if isinstance(pack, UserError)]
    return f"it may be in {' or '.join(damaged)}, which is damaged: install it again, or " if damaged else ""


def check_packs_readable() -> None:
    """Raise an error if a pack is damaged, for callers that need some pack and find none. Raises D403."""
    for name, _ in _installed():
        find_pack(name)


def _installed() -> Iterator[tuple[str, Pack | UserError]]:
    """Yield the names of installed packs with their descriptions, or the error about a damaged one."""
    for name, home in _homes(entry_points, tuple(map(_stamp, sys.path))):
        yield name, _try_pack(home, file_stamp(home / "pack.json"))


@lru_cache(maxsize=4)
def _homes(find: Any, stamps: tuple[tuple[str, int], ...]) -> tuple[tuple[str, Path], ...]:
    """Return the names and directories of packs; cached, since reading all installed metadata is slow."""
    homes = []
    for entry in find(group=GROUP):
        try:
            spec = find_spec(entry.value)
        except (ImportError, ValueError, AttributeError):  # `disambig doctor` reports it
            continue
        if spec is not None and spec.submodule_search_locations:
            homes.append((entry.value, Path(next(iter(spec.submodule_search_locations)))))
    return tuple(homes)


@lru_cache(maxsize=64)
def _try_pack(home: Path, stamp: Any) -> Pack | UserError:  # the stamp changes if the file does
    try:
        return read_pack(home)
    except UserError as problem:
        if multiprocessing.parent_process() is None:  # workers would repeat what their parent has logged
            _log.warning("%s; other packs are used without it", problem)
        return problem.with_traceback(None)


def _stamp(directory: str) -> tuple[str, int]:
    """Return a value that changes when something is installed into a directory."""
    with suppress(OSError):
        return directory, os.stat(directory or ".").st_mtime_ns
    return directory, 0


def read_pack(home: Path) -> Pack:
    """Read the ``pack.json`` of a pack's directory.

    Raises D403 if it is damaged or missing, or names files outside the pack.
    """
    try:
        description = read_json(home / "pack.json")
    except FileNotFoundError:
        raise UserError("D403", path=home, problem="it has no pack.json") from None
    except (OSError, ValueError) as problem:
        raise UserError("D403", path=home, problem=f"pack.json: {problem!r}") from problem
    try:
        counts, models = description.get("counts"), description["models"]
        pack = Pack(
            str(description["name"]),
            str(description["version"]),
            str(description["language"]),
            home,
            None if counts is None else home / str(counts),
            {str(task): home / str(path) for task, path in models.items()},
            tuple(map(str, description.get("by_name", ()))),
            {str(what): home / str(path) for what, path in description.get("folders", {}).items()},
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise UserError("D403", path=home, problem=f"pack.json: {problem!r}") from problem
    root = home.resolve()
    for path in (*([pack.counts] if pack.counts else []), *pack.models.values(), *pack.folders.values()):
        if not path.resolve().is_relative_to(root):
            raise UserError("D403", path=home, problem=f"{path} is outside the pack")
    return pack


def pack(name: str) -> Pack:
    """Return the installed pack `name`.

    Raises
    ------
    UserError
        D402 if there is none, with the installed packs; D403 if it is damaged.
    """
    installed = find_pack(name)
    if installed is None:
        raise UserError("D402", name=name, names=nearest_first(name, packs()))
    return installed


def available() -> dict[str, Path]:
    """Return the directory of every model in the installed packs, by task and by PACK/TASK."""
    folders: dict[str, Path] = {}
    for pack in packs().values():
        for task, path in pack.models.items():
            folders.setdefault(task, path)
            folders[f"{pack.name}/{task}"] = path
    return folders


def language_of_counts(path: str | os.PathLike[str]) -> str:
    """Return the language of the pack that a count table belongs to; an empty string for other tables."""
    resolved = Path(path).resolve()
    owners = (pack for pack in packs().values() if pack.counts and pack.counts.resolve() == resolved)
    return next((pack.language for pack in owners), "")


def providing_pack(name: str) -> str | None:
    """Return the pack that contains a model, installed or not; None if it is unknown.

    The factory of the spaCy component of a task, ``disambig_TASK``, names the pack. This imports spaCy.
    """
    task = name.rpartition("/")[2]
    for entry in entry_points(group="spacy_factories"):
        if entry.name == f"disambig_{task}":
            with suppress(Exception):  # a broken plugin is reported elsewhere
                pack_name = getattr(entry.load(), "pack", None)
                return pack_name if pack_name and name in (task, f"{pack_name}/{task}") else None
    return None


def default_tasks() -> tuple[str, ...]:
    """Return the default tasks of the installed packs, in alphabetical order.

    Raises D403 if there are none because a pack is damaged.
    """
    tasks = {task for pack in packs().values() for task in pack.models if task not in pack.by_name}
    if not tasks:
        check_packs_readable()
    return tuple(sorted(tasks))


def nearest_models(name: str, task: str | None = None) -> str:
    """Join the names of the installed models for a message about an unknown one, the nearest first.

    PACK/TASK is listed if TASK alone is another model, or if `name` has this form. With `task`, only models
    of this task are listed, if there are any.
    """
    models = available()
    pack, _, _ = name.rpartition("/")
    listed = [
        other
        for other, folder in models.items()
        if pack in packs() or "/" not in other or models.get(other.rpartition("/")[2]) != folder
    ]
    of_task = [other for other in listed if other.rpartition("/")[2] == task]
    return nearest_first(name, of_task or listed)


def model_folder(name_or_path: str | Path) -> Path:
    """Return the directory of a model, given a task such as ``"preposition"``, ``"PACK/TASK"`` or a path.

    Raises
    ------
    UserError
        D404 for an unknown name, with the available names and the pack to install; D403 if this pack is
        installed, but damaged.
    """
    models = available()
    name = str(name_or_path)
    if name in models:
        return models[name].resolve()
    path = Path(name_or_path)
    if not os.path.isdir(path):  # False for a name that is too long, too
        missing = providing_pack(name)
        require_undamaged_pack(name, missing)
        hint = f"install the pack {missing}, or " if missing else _damaged_hint()
        if missing is None and ((path.suffix == ".cfg" and os.path.isfile(path)) or name in plugin_configs()):
            hint = "it is a config, from which `disambig train` makes a model; "
        elif "," in name:
            hint = "several models cannot be joined by a comma; "
        takes = "give a model directory"
        raise UserError("D404", name=name, hint=hint, takes=takes, names=nearest_models(name))
    return path.resolve()
