"""The settings of a file: find its settings file, check it, and limit it to paths inside the project."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from disambig.configuration.patterns import GitIgnorePatterns
from disambig.configuration.settings import CHOICES, CheckSettings, SettingsSource, from_folder, merge_sources
from disambig.errors import UserError
from disambig.files import decode, read_small

MAX_MODEL_BYTES = 2_000_000_000
"""Maximum size of the files of a model that a settings file names."""
_MAX_MODEL_FILES = 1_000
_FILE_KEYS = ("ignore_files", "sets_files", "baseline")
_OPTIONS = {"ignore_files": "--ignore", "sets_files": "--sets", "baseline": "--baseline", "models": "--model"}


def project_root(folder: str) -> str:
    """Return the project of a settings file in `folder`: the git repository, or the folder itself."""
    start = current = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(current, ".git")):
        parent = os.path.dirname(current)
        if parent == current:
            return start
        current = parent
    return current


def is_inside(path: str, root: str) -> bool:
    """Return True if `path`, with all links resolved, is `root` or below it."""
    path = os.path.realpath(path)
    return path == root or path.startswith(os.path.join(root, ""))


def check_paths(settings: CheckSettings, file: str, options: Mapping[str, Any]) -> None:
    """Check the paths in a settings file.

    Raises D973 for a path outside the project, or a model that refers to one; D974 for a path that is not a
    regular file, or a model that is too large.

    Parameters
    ----------
    settings : CheckSettings
        The settings of the file, without options.
    file : str
        Path of the settings file.
    options : mapping
        Options that take precedence: values that they replace are not checked.
    """
    if not file:
        return
    root = project_root(os.path.dirname(file))
    for key in _FILE_KEYS:
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
            raise unknown_task_error(task, file)
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


def unknown_task_error(task: str, where: str) -> UserError:
    """Return the error (D404) about an unknown task in the settings file `where`."""
    from disambig.models import nearest_correcting

    return UserError(
        "D404",
        name=task,
        hint=f"in {where}, `tasks` lists installed models that correct words, `models` lists directories; ",
        takes="give a directory in `models`",
        names=nearest_correcting(task),
    )


def _check_model(home: str, root: str, file: str) -> None:
    """Check the files of a model and the paths in its config before any of them is loaded."""
    source = f"{file}, models"
    n_files = n_bytes = 0
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            _check_inside(path, root, file, "models")
            try:
                status = os.stat(path)
            except OSError:
                continue  # a broken link: loading the model reports it if the file is needed
            n_files += 1
            n_bytes += status.st_size
            if not stat.S_ISREG(status.st_mode):
                raise UserError("D974", path=path, problem="is not an ordinary file", source=source)
            if n_files > _MAX_MODEL_FILES or n_bytes > MAX_MODEL_BYTES:
                problem = f"has more than {MAX_MODEL_BYTES:,} bytes or {_MAX_MODEL_FILES:,} files"
                raise UserError("D974", path=home, problem=problem, source=source)
    config = os.path.join(home, "config.cfg")
    if not os.path.isfile(config):
        return  # loading the model reports it
    from disambig.config import read_config

    for value in _strings(read_config(config)):
        in_model = os.path.join(home, value)
        is_path = os.path.isabs(value) or os.pardir in value.split("/") or os.path.lexists(in_model)
        leaves_project = is_path and not is_inside(in_model, root)
        # A value can also name a file in the current directory.
        is_outside = not os.path.lexists(in_model) and os.path.isfile(value) and not is_inside(value, root)
        if "\0" in value or leaves_project or is_outside:
            raise UserError("D973", path=config, key="the model", value=value, root=root, hint="")


def _strings(value: Any) -> Iterator[str]:
    """Yield all strings in the values of a config."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MANIFESTS: Mapping[str, tuple[Callable[[str], Any], tuple[tuple[str, ...], ...]]] = {
    "pyproject.toml": (tomllib.loads, (("project", "name"), ("tool", "poetry", "name"))),
    "package.json": (json.loads, (("name",),)),
    "Cargo.toml": (tomllib.loads, (("package", "name"),)),
}
"""For each manifest, its parser and the keys under which it may contain the name of the package."""
_PACKAGE_NAME = re.compile(r"(?:@[\w.-]+/)?([\w.-]{2,80})")


def project_names(root: str) -> tuple[str, ...]:
    """Return the names of a project in the manifests of its top folder, in lower case.

    Manifests that cannot be read are ignored.
    """
    names = []
    for file, (parse, key_paths) in _MANIFESTS.items():
        path = os.path.join(root, file)
        if not os.path.isfile(path) or os.path.islink(path):
            continue
        try:
            table = parse(decode(read_small(path, limit=MAX_BYTES, only_regular=True), path))
        except (UserError, ValueError, RecursionError):
            continue
        for key_path in key_paths:
            value = table
            for key in key_path:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, str) and (match := _PACKAGE_NAME.fullmatch(value)):
                names.append(match[1].lower())
    return tuple(dict.fromkeys(names))


OWN = ("disambig.toml", ".disambig.toml")
SHARED = "pyproject.toml"
"""A file of this name without the table ``[tool.disambig]`` is skipped."""
SECTION = "tool.disambig"
MAX_BYTES = 2_000_000
"""Maximum size of a settings file or manifest."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The contents of a settings file."""

    path: str = ""  # absolute path; ``""`` if there is no settings file
    section: str = ""  # table of the file that holds the settings; ``""`` for the whole file
    # the validated keys that are set; `overrides` by pattern
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The folder to which paths and patterns are relative."""
        return os.path.dirname(self.path)


def nearest_settings(folder: str, cache: dict[str, SettingsFile]) -> SettingsFile:
    """Return the settings file in `folder` or the nearest folder above it; an empty one if there is none.

    Raises D972 for a file that is not valid TOML, D970 and D971 for invalid contents, D30x, D973 and D975 for
    a file that cannot be read, is a link out of the project, or is too large.

    Parameters
    ----------
    folder : str
        Absolute path; the folder need not exist.
    cache : dict
        Results of earlier calls, by folder; new results are added.
    """
    searched = []
    settings_file = SettingsFile()
    while folder not in cache:
        searched.append(folder)
        in_folder = _settings_in(folder)
        if in_folder is not None:
            settings_file = in_folder
            break
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    else:
        settings_file = cache[folder]
    cache.update(dict.fromkeys(searched, settings_file))
    return settings_file


def _settings_in(folder: str) -> SettingsFile | None:
    """Return the settings file in a folder, or None."""
    for name in OWN:
        if os.path.isfile(path := os.path.join(folder, name)):
            values = _read_toml(path)
            _check_prefix(path, values)
            return _check_file(path, "", values)
    if os.path.isfile(path := os.path.join(folder, SHARED)):
        tools = _read_toml(path).get("tool")
        if isinstance(tools, dict) and "disambig" in tools:
            return _check_file(path, SECTION, tools["disambig"])
    return None


def _check_prefix(path: str, values: dict[str, Any]) -> None:
    """Raise D971 if tables have the prefix that is only for ``pyproject.toml``."""
    tools = values.get("tool")
    if isinstance(tools, dict) and "disambig" in tools:
        problem = (
            f"in {os.path.basename(path)} the tables have no prefix {SECTION}; write the keys without a "
            'table, and overrides as [overrides."*.md"]'
        )
        raise UserError("D971", path=path, key=SECTION, problem=problem, value="a table")


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
    except (ValueError, RecursionError) as problem:  # a number with 5,000 digits raises a plain ValueError
        is_syntax = isinstance(problem, tomllib.TOMLDecodeError)
        message = str(problem) if is_syntax else "a number is too long, or tables are nested too deeply"
        raise UserError("D972", path=path, problem=message[:1].lower() + message[1:]) from None


class ProjectSettings:
    """The settings of files; each settings file is read once.

    Parameters
    ----------
    options : SettingsSource, optional
        Settings that take precedence over all settings files, such as options of a command.
    """

    def __init__(self, options: SettingsSource | None = None) -> None:
        self._options = [options] if options is not None and options.values else []
        self._files: dict[str, SettingsFile] = {}
        self._settings: dict[tuple[str, tuple[bool, ...], bool, str], CheckSettings] = {}
        self._roots: dict[str, str] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._patterns: dict[tuple[str, ...], GitIgnorePatterns] = {}

    def for_file(self, path: str) -> CheckSettings:
        """Return the settings of the file `path`, which need not exist.

        Raises
        ------
        UserError
            D970, D971 and D972 for an invalid settings file, D30x for one that cannot be read.
        """
        path = os.path.abspath(path)
        file = nearest_settings(os.path.dirname(path), self._files)
        overrides: Mapping[str, Any] = file.values.get("overrides", {})
        matches = tuple(self._matches((pattern,), path, file) for pattern in overrides)
        excluded = self._matches(file.values.get("exclude", ()), path, file)
        root = self._root(os.path.dirname(path))
        key = file.path, matches, excluded, root
        if key not in self._settings:
            settings = self._merge_overrides(file, matches, excluded)
            self._settings[key] = replace(settings, project_names=self._names[root])
        return self._settings[key]

    def _root(self, folder: str) -> str:
        """Return the project of a folder, and read its names."""
        if folder not in self._roots:
            root = self._roots[folder] = project_root(folder)
            if root not in self._names:
                self._names[root] = project_names(root)
        return self._roots[folder]

    def takes(self, path: str, by_default: Callable[[str], bool]) -> bool:
        """Return True if a file in a directory is checked.

        Parameters
        ----------
        path : str
        by_default : callable
            Decides if no `include` is set.
        """
        settings = self.for_file(path)
        if settings.excluded:
            return False
        if not settings.include:
            return by_default(path)
        path = os.path.abspath(path)
        return self._matches(settings.include, path, nearest_settings(os.path.dirname(path), self._files))

    def _merge_overrides(self, file: SettingsFile, matches: Sequence[bool], excluded: bool) -> CheckSettings:
        """Merge a settings file, its overrides that match, and the options; check the paths in the file."""
        values = {key: value for key, value in file.values.items() if key != "overrides"}
        sources = [SettingsSource(file.path, from_folder(values, file.folder))]
        overrides = file.values.get("overrides", {})
        for is_match, (pattern, values) in zip(matches, overrides.items(), strict=True):
            if is_match:
                sources.append(SettingsSource(f"{file.path}, {pattern}", from_folder(values, file.folder)))
        settings = merge_sources([*sources, *self._options], excluded=excluded)
        options = self._options[0].values if self._options else {}
        check_paths(merge_sources(sources), file.path, options)
        return settings

    def _matches(self, patterns: Sequence[str], path: str, file: SettingsFile) -> bool:
        if not patterns:
            return False
        key = tuple(patterns)
        if key not in self._patterns:
            self._patterns[key] = GitIgnorePatterns(key)
        return self._patterns[key].match(os.path.relpath(path, file.folder))
