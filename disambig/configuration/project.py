"""The settings that hold for a file: the settings file is found, checked and trusted only within its project."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from disambig.configuration.patterns import GitIgnorePatterns
from disambig.configuration.settings import CHOICES, CheckSettings, SettingsSource, from_folder, merge_sources
from disambig.errors import UserError
from disambig.files import decode, read_small

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


def check_paths(settings: CheckSettings, file: str, options: Mapping[str, Any]) -> None:
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


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OWN = ("disambig.toml", ".disambig.toml")
SHARED = "pyproject.toml"
"""One without the table ``[tool.disambig]`` is passed over."""
SECTION = "tool.disambig"
MAX_BYTES = 2_000_000
"""Maximum size of a settings file."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of settings as it was read.

    Attributes
    ----------
    path : str
        Absolute; ``""`` where there is none.
    section : str
        The table of the file that holds them, ``""`` for all of it.
    values : dict
        The keys that are set, checked; `overrides` by pattern.
    """

    path: str = ""
    section: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """What its paths and patterns are relative to."""
        return os.path.dirname(self.path)


def nearest_settings(folder: str, known: dict[str, SettingsFile]) -> SettingsFile:
    """Return the file of settings in `folder` or the nearest folder above it; an empty one if there is none.

    Parameters
    ----------
    folder : str
        Absolute; it need not exist.
    known : dict
        What was found before, by folder: added to.

    Raises
    ------
    UserError
        D972 for a file that is no TOML, D970 and D971 for what it says, D30x, D973 and D975 where it cannot
        be read, is a link out of the project, or is too large.
    """
    passed = []
    found = SettingsFile()
    while folder not in known:
        passed.append(folder)
        here = _in_folder(folder)
        if here is not None:
            found = here
            break
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    else:
        found = known[folder]
    known.update(dict.fromkeys(passed, found))
    return found


def _in_folder(folder: str) -> SettingsFile | None:
    for name in OWN:
        if os.path.isfile(path := os.path.join(folder, name)):
            return _check_file(path, "", _read_toml(path))
    if os.path.isfile(path := os.path.join(folder, SHARED)):
        tools = _read_toml(path).get("tool")
        if isinstance(tools, dict) and "disambig" in tools:
            return _check_file(path, SECTION, tools["disambig"])
    return None


def _check_file(path: str, section: str, values: Any) -> SettingsFile:
    from disambig.configuration.tables import read_table

    if not isinstance(values, dict):
        raise UserError("D971", path=path, key=section, problem="it must be a table", value=repr(values)[:60])
    return SettingsFile(path, section, read_table(values, path=path, section=section))


def _read_toml(path: str) -> dict[str, Any]:
    root = project_root(os.path.dirname(path))
    if not is_inside(path, root):
        value = os.path.realpath(path)
        raise UserError("D973", path=path, key="this link", value=value, root=root, hint="")
    text = decode(read_small(path, limit=MAX_BYTES, only_regular=True), path)
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as problem:  # a number of 5,000 digits is a plain ValueError
        is_syntax = isinstance(problem, tomllib.TOMLDecodeError)
        said = str(problem) if is_syntax else "a number is too long, or tables are nested too deep"
        raise UserError("D972", path=path, problem=said[:1].lower() + said[1:]) from None


class ProjectSettings:
    """The settings of files, found once.

    Parameters
    ----------
    over : Layer, optional
        What holds above all files of settings, such as options of a command.
    """

    def __init__(self, over: SettingsSource | None = None) -> None:
        self._over = [over] if over is not None and over.values else []
        self._files: dict[str, SettingsFile] = {}
        self._settings: dict[tuple[str, tuple[bool, ...], bool], CheckSettings] = {}
        self._patterns: dict[tuple[str, ...], GitIgnorePatterns] = {}

    def for_file(self, path: str) -> CheckSettings:
        """Return what holds for the file `path`, which need not exist.

        Raises
        ------
        UserError
            D970, D971 and D972 for what is wrong with its file of settings, D30x where that cannot be read.
        """
        path = os.path.abspath(path)
        file = nearest_settings(os.path.dirname(path), self._files)
        overrides: Mapping[str, Any] = file.values.get("overrides", {})
        fits = tuple(self._fits((pattern,), path, file) for pattern in overrides)
        excluded = self._fits(file.values.get("exclude", ()), path, file)
        key = file.path, fits, excluded
        if key not in self._settings:
            self._settings[key] = self._merge_overrides(file, fits, excluded)
        return self._settings[key]

    def takes(self, path: str, usual: Callable[[str], bool]) -> bool:
        """Tell whether a file that was found in a directory is to be checked.

        Parameters
        ----------
        usual : callable
            Tells it where no `include` holds.
        """
        settings = self.for_file(path)
        if settings.excluded:
            return False
        if not settings.include:
            return usual(path)
        path = os.path.abspath(path)
        return self._fits(settings.include, path, nearest_settings(os.path.dirname(path), self._files))

    def _merge_overrides(self, file: SettingsFile, fits: Sequence[bool], excluded: bool) -> CheckSettings:
        values = {key: value for key, value in file.values.items() if key != "overrides"}
        layers = [SettingsSource(file.path, from_folder(values, file.folder))]
        overrides = file.values.get("overrides", {})
        for fit, (pattern, values) in zip(fits, overrides.items(), strict=True):
            if fit:
                layers.append(SettingsSource(f"{file.path}, {pattern}", from_folder(values, file.folder)))
        settings = merge_sources([*layers, *self._over], excluded=excluded)
        over = self._over[0].values if self._over else {}
        check_paths(merge_sources(layers), file.path, over)
        return settings

    def _fits(self, patterns: Sequence[str], path: str, file: SettingsFile) -> bool:
        if not patterns:
            return False
        key = tuple(patterns)
        if key not in self._patterns:
            self._patterns[key] = GitIgnorePatterns(key)
        return self._patterns[key].match(os.path.relpath(path, file.folder))
