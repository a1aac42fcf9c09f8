"""Settings of a check: merging several sources, and writing the result as TOML."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from disambig.errors import UserError
from disambig.rules import RuleSelection

if TYPE_CHECKING:
    from disambig.data import Group


DEFAULT = "default"
ADDED = ("ignore", "ignore_files", "ignore_rules", "sets", "sets_files")
"""Keys of lists, which later sources extend; they replace the values of all other keys."""
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
    yaml_fields: tuple[str, ...] = ()  # names of fields of YAML files whose values are text
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
        fields = frozenset(name.lower() for name in self.yaml_fields)
        return {"yaml_fields": fields} if fields else {}

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

    def _check_existence(self, key: str) -> None:
        """Raise D974 if a settings file names a file that does not exist."""
        sources = [origin for origin in self.origins.get(key, ()) if os.path.isabs(origin)]
        for path in getattr(self, key) if sources else ():
            if not os.path.exists(path):
                source = f"{' or '.join(sources)}, {key}"
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
                if not value:
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
    "include": "text and documents",
}
"""Descriptions of the defaults of keys; those of other keys are "none"."""


def settings_to_toml(name: str, settings: CheckSettings) -> str:
    """Return the settings of the file `name` as lines of TOML."""
    lines = [f"# {name}: {'excluded, never checked' if settings.excluded else 'checked'}"]
    for setting in fields(CheckSettings):
        key, value = setting.name, getattr(settings, setting.name)
        if key in ("excluded", "project_names", "origins"):
            continue
        origin = ", ".join(map(_relative_origin, settings.origins.get(key, (DEFAULT,))))
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


def _relative_origin(origin: str) -> str:
    """Return an origin; a path below the current directory is made relative to it."""
    return origin.removeprefix(os.path.join(os.getcwd(), ""))
