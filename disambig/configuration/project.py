"""Settings of a check: find the settings file of a file, check it, merge it with other sources, write TOML.

Paths in a settings file are limited to the project.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from disambig.configuration.patterns import GitIgnorePatterns
from disambig.errors import UserError
from disambig.files import decode, read_small
from disambig.rules import RuleSelection

if TYPE_CHECKING:
    from disambig.data import Group

DEFAULT = "default"
ADDED = ("ignore", "ignore_files", "ignore_rules", "sets", "sets_files")
"""Keys of lists, which later sources extend; they replace the values of all other keys."""
CAN_BE_EMPTY = ("yaml_fields",)
"""Keys of lists of which an empty one is not the default."""
CHOICES = (("tasks", "models"), ("trust", "flags_per_1000"))
"""Keys that exclude each other: a source that sets one of them replaces the values of both."""
PATHS = ("models", "ignore_files", "sets_files", "baseline")
"""Keys whose values are paths, relative to the settings file."""


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """Settings from one source, such as a file or the options of a command."""

    origin: str  # display name of the source
    values: Mapping[str, Any]  # values by key; paths are relative to the current directory


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The settings of one file, merged from all sources."""

    # installed models and directories of models; if both are empty, all installed models
    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    # accepted number of false alarms per 1,000 correct words; None for each model's own rate
    flags_per_1000: float | Mapping[str, float] | None = None
    # minimum measured share of right flags among those that are shown; None for no minimum
    trust: float | None = None
    # maximum number of flags per 1,000 words of a file; None for no maximum
    max_flags_per_1000: float | None = None
    # rules or tasks whose flags are shown (all if empty), and rules or tasks whose flags are hidden
    rules: tuple[str, ...] = ()
    ignore_rules: tuple[str, ...] = ()
    # words to ignore and confusion sets, and files with them
    ignore: tuple[str, ...] = ()
    ignore_files: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    sets_files: tuple[str, ...] = ()
    baseline: str | None = None  # path of the baseline file
    # kind of writing, whose usual number of mistakes the models assume; None for the number that each model
    # was fitted to
    writing: str | None = None
    # whether paragraphs in other languages than those of the models are left alone
    detect_language: bool = True
    # names of fields of YAML files whose values are text
    yaml_fields: tuple[str, ...] = ("description", "summary")
    # patterns; if `include` is empty, files with the usual suffixes are checked
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    excluded: bool = False  # whether the file is never checked
    # names of the project of the file, from its manifests: ``pyproject.toml``, ``package.json``,
    # ``Cargo.toml``
    project_names: tuple[str, ...] = ()
    # sources of the value of each key; a key without an entry has its default value
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def checker(self) -> tuple[object, ...]:
        """A key for loaded models: files with equal keys are checked by the same models."""
        rate = self.flags_per_1000
        rates = tuple(sorted(rate.items())) if isinstance(rate, Mapping) else rate
        models = self.tasks, self.models, rates, self.trust, self.sets, self.sets_files
        return *models, self.detect_language, self.writing, self.rule_selection

    @property
    def rule_selection(self) -> RuleSelection:
        """The rules that raise flags."""
        return RuleSelection(frozenset(self.rules), frozenset(self.ignore_rules))

    @property
    def markup_options(self) -> dict[str, object]:
        """Options of `disambig.markup.read_markup`."""
        return {"yaml_fields": frozenset(name.lower() for name in self.yaml_fields)}

    def words_to_ignore(self) -> tuple[str, ...]:
        """Return the words to ignore, including those in `ignore_files`.

        Raises D974 for a file that a settings file names and that does not exist; D30x for a file that cannot
        be read; D971 for a pattern in it.
        """
        from disambig.data import read_ignore_list

        self._check_existence("ignore_files")
        return (*self.ignore, *(word for path in self.ignore_files for word in read_ignore_list(path)))

    def confusion_sets(self) -> tuple[Group, ...]:
        """Return the confusion sets that are added to those of the models, without duplicates.

        Raises D974 for a file that a settings file names and that does not exist; D30x for a file that cannot
        be read; D410, D411 and D665 for an invalid confusion set.
        """
        from disambig.data import confusion_set, read_confusion_sets

        self._check_existence("sets_files")
        groups = [confusion_set(text) for text in self.sets]
        groups += [group for path in self.sets_files for group in read_confusion_sets(path)]
        return tuple({group.name: group for group in groups}.values())

    def baseline_path(self) -> str | None:
        """Return the path of the baseline, or None if there is none.

        Raises D974 if a settings file names a baseline that does not exist.
        """
        self._check_existence("baseline", "; --write-baseline makes one")
        return self.baseline

    def _check_existence(self, key: str, advice: str = "") -> None:
        """Raise D974 if a settings file names a file that does not exist."""
        sources = [origin for origin in self.origins.get(key, ()) if os.path.isabs(origin)]
        value = getattr(self, key) or ()
        for path in ((value,) if isinstance(value, str) else value) if sources else ():
            if not os.path.exists(path):
                source = f"{' or '.join(sources)}, {key}{advice}"
                raise UserError("D974", path=path, problem="does not exist", source=source)


def merge_sources(sources: Iterable[SettingsSource], *, excluded: bool = False) -> CheckSettings:
    """Merge sources of settings; later sources take precedence."""
    values: dict[str, Any] = {}
    origins: dict[str, tuple[str, ...]] = {}
    for source in sources:
        for choice in CHOICES:
            for key in choice if any(key in source.values for key in choice) else ():
                values.pop(key, None)
                origins.pop(key, None)
        for key, value in source.values.items():
            if isinstance(value, list | tuple):
                old_items = values.get(key, ()) if key in ADDED else ()
                value = (*old_items, *(item for item in value if item not in old_items))
                if not value and key not in CAN_BE_EMPTY:
                    values.pop(key, None)
                    origins.pop(key, None)
                    continue
            old_origins = origins.get(key, ()) if key in ADDED else ()
            values[key], origins[key] = value, tuple(dict.fromkeys((*old_origins, source.origin)))
    return CheckSettings(**values, excluded=excluded, origins=origins)


def from_folder(values: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return a copy of `values` in which paths relative to `folder` are relative to the current directory."""

    def resolve(path: str) -> str:
        return os.path.normpath(os.path.join(folder, path))

    resolved = dict(values)
    for key in PATHS:
        value = resolved.get(key)
        if isinstance(value, str):
            resolved[key] = resolve(value)
        elif value is not None:
            resolved[key] = list(map(resolve, value))
    return resolved


_DEFAULT_TEXTS = {
    "tasks": "all installed models that correct words",
    "flags_per_1000": "the rate of each model",
    "trust": "no minimum",
    "max_flags_per_1000": "no maximum",
    "rules": "all",
    "writing": "the rate that each model was fitted to",
    "detect_language": "true",
    "yaml_fields": "description, summary",
    "include": "text and documents",
}
"""Descriptions of the defaults of keys; those of other keys are "none"."""


def settings_to_toml(name: str, settings: CheckSettings) -> str:
    """Return the settings of the file `name` as lines of TOML."""
    lines = [f"# {name}: {'excluded, never checked' if settings.excluded else 'checked'}"]
    here = os.path.join(os.getcwd(), "")  # paths below it are shown relative to it
    for setting in fields(CheckSettings):
        key, value = setting.name, getattr(settings, setting.name)
        if key in ("excluded", "project_names", "origins"):
            continue
        origin = ", ".join(name.removeprefix(here) for name in settings.origins.get(key, (DEFAULT,)))
        if key not in settings.origins:
            lines.append(f"# {key}: {_DEFAULT_TEXTS.get(key, 'none')}  ({origin})")
        else:
            lines.append(f"{key} = {_toml(value)}  # {origin}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


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

    `settings`: the settings of the file, without options.
    `options`: options that take precedence: values that they replace are not checked.
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
    for task in filter(os.path.isdir, settings.tasks):
        from disambig.packs import available

        if task not in available():
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

    `folder`: absolute path; the folder need not exist.
    `cache`: results of earlier calls, by folder; new results are added.
    """
    searched = []
    settings_file = SettingsFile()
    while folder not in cache:
        searched.append(folder)
        if (in_folder := _settings_in(folder)) is not None:
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

    `options`: settings that take precedence over all settings files, such as options of a command.
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

        Raises D970, D971 and D972 for an invalid settings file, D30x for one that cannot be read.
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
        """Return True if a file in a directory is checked; `by_default` decides if no `include` is set."""
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
