"""Packs: packages with trained models for a language, and possibly a count table that they use.

A pack is a package directory with a ``pack.json`` and an entry point in the group `disambig_packs`.
It is found without being imported, since a pack contains no code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from disambig.errors import UserError, nearest_first
from disambig.files import file_stamp, read_json
from disambig.namespaces import entry_points

GROUP = "disambig_packs"


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
            D901 for an unknown name, D943 for the name of a file, D902 for a folder without one.
        """
        installed = packs()
        pack_name = str(name).removesuffix(f"/{self.key}")
        if pack_name in installed:
            pack = installed[pack_name]
            if self.key not in pack.folders:
                raise UserError("D902", path=pack.home, what=self.what, made_by=self.made_by)
            return pack.folders[self.key]
        path = Path(name)
        for folder in (path, path / self.key):
            if self.is_in(folder):
                return folder
        if path.is_dir():
            raise UserError("D902", path=path, what=self.what, made_by=self.made_by)
        providers = [pack.name for pack in installed.values() if self.key in pack.folders]
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
    """Return the installed packs by name."""
    by_name: dict[str, Pack] = {}
    for name, home in _homes(entry_points, tuple(map(_stamp, sys.path))):
        if stamp := file_stamp(home / "pack.json"):
            by_name[name] = _read_pack(home, stamp)
    return by_name


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
def _read_pack(home: Path, stamp: tuple[int, ...]) -> Pack:  # the stamp changes if the file does
    return read_pack(home)


def _stamp(directory: str) -> tuple[str, int]:
    """Return a value that changes when something is installed into a directory."""
    with suppress(OSError):
        return directory, os.stat(directory or ".").st_mtime_ns
    return directory, 0


def read_pack(home: Path) -> Pack:
    """Read the ``pack.json`` of a pack's directory.

    Raises D403 if it is damaged or names files outside the pack.
    """
    try:
        description = read_json(home / "pack.json")
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
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
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
        D402, with the installed packs.
    """
    installed = packs()
    if name not in installed:
        raise UserError("D402", name=name, names=nearest_first(name, installed))
    return installed[name]


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
    """Return the tasks of installed packs that are used by default, in alphabetical order."""
    return tuple(
        sorted({task for pack in packs().values() for task in pack.models if task not in pack.by_name})
    )


def nearest_models(name: str) -> str:
    """Join the names of the installed models for a message about an unknown one, the nearest first.

    PACK/TASK is listed if TASK alone is another model, or if `name` has this form.
    """
    models = available()
    pack, _, _ = name.rpartition("/")
    listed = [
        other
        for other, folder in models.items()
        if pack in packs() or "/" not in other or models.get(other.rpartition("/")[2]) != folder
    ]
    return nearest_first(name, listed)


def model_folder(name_or_path: str | Path) -> Path:
    """Return the directory of a model, given a task such as ``"preposition"``, ``"PACK/TASK"`` or a path.

    Raises
    ------
    UserError
        D404 for an unknown name, with the available names and the pack to install.
    """
    models = available()
    if str(name_or_path) in models:
        return models[str(name_or_path)].resolve()
    path = Path(name_or_path)
    if not path.is_dir():
        name = str(name_or_path)
        missing = providing_pack(name)
        hint = f"install the pack {missing}, or " if missing else ""
        takes = "give a model directory"
        raise UserError("D404", name=name, hint=hint, takes=takes, names=nearest_models(name))
    return path.resolve()
