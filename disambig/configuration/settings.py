"""Settings of a check: their sources, laid over each other, and how they are shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disambig.data import Group


DEFAULT = "default"
ADDED = ("ignore", "ignore_files", "sets", "sets_files")
"""Lists that a layer adds to; all other keys are replaced."""
CHOICES = (("tasks", "models"), ("trust", "flags_per_1000"))
"""What checks, and what is shown of it: a layer with one of a choice replaces all of it."""
PATHS = ("models", "ignore_files", "sets_files", "baseline")
"""Relative to the file that names them."""


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """Some settings from one place.

    Attributes
    ----------
    origin : str
        Where they come from, for people.
    values : mapping
        By key, paths as they are opened.
    """

    origin: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What holds for one file.

    Attributes
    ----------
    tasks, models : tuple of str
        Installed models and directories of models; both empty: all installed ones.
    flags_per_1000 : float, mapping from task to float, or None
        False alarms to accept per 1,000 correct words; None: what each model is set to.
    trust : float or None
        Share of the flags shown that were right at least; None: whatever it is.
    max_flags_per_1000 : float or None
    ignore, ignore_files, sets, sets_files : tuple of str
        Words and confusion sets, and files of them.
    baseline : str or None
    include, exclude : tuple of str
        Patterns; `include` is empty where the usual suffixes hold.
    excluded : bool
        Whether the file is never checked.
    origins : mapping from str to tuple of str
        Where the value of each key comes from; without an entry it is the default.
    """

    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    flags_per_1000: float | Mapping[str, float] | None = None
    trust: float | None = None
    max_flags_per_1000: float | None = None
    ignore: tuple[str, ...] = ()
    ignore_files: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    sets_files: tuple[str, ...] = ()
    baseline: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    excluded: bool = False
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def checker(self) -> tuple[object, ...]:
        """What the models are loaded for: files with equal ones are checked by the same models."""
        rate = self.flags_per_1000
        rates = tuple(sorted(rate.items())) if isinstance(rate, Mapping) else rate
        return self.tasks, self.models, rates, self.trust, self.sets, self.sets_files

    def words_to_ignore(self) -> tuple[str, ...]:
        """Return the words to leave alone, those in files included.

        Raises
        ------
        UserError
            D30x for a file that cannot be read.
        """
        from disambig.files import read_words

        return (*self.ignore, *(word for path in self.ignore_files for word in read_words(path)))

    def confusion_sets(self) -> tuple[Group, ...]:
        """Return the confusion sets beside those of the models, each once.

        Raises
        ------
        UserError
            D30x for a file that cannot be read; D410, D411 and D665 for what is no set.
        """
        from disambig.data import confusion_set, read_confusion_sets

        groups = [confusion_set(said) for said in self.sets]
        groups += [group for path in self.sets_files for group in read_confusion_sets(path)]
        return tuple({group.name: group for group in groups}.values())


def merge_sources(layers: Iterable[SettingsSource], *, excluded: bool = False) -> CheckSettings:
    """Return what holds where each layer is laid over those before it."""
    values: dict[str, Any] = {}
    origins: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        for choice in CHOICES:
            for key in choice if any(key in layer.values for key in choice) else ():
                values.pop(key, None)
                origins.pop(key, None)
        for key, value in layer.values.items():
            if isinstance(value, list | tuple):
                before = values.get(key, ()) if key in ADDED else ()
                value = (*before, *(each for each in value if each not in before))
                if not value:
                    values.pop(key, None)
                    origins.pop(key, None)
                    continue
            sources = origins.get(key, ()) if key in ADDED else ()
            values[key], origins[key] = value, tuple(dict.fromkeys((*sources, layer.origin)))
    return CheckSettings(**values, excluded=excluded, origins=origins)


def from_folder(values: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return values whose paths are relative to `folder` as they are opened from here."""
    found = dict(values)
    for key in PATHS:
        value = found.get(key)
        if isinstance(value, str):
            found[key] = _relative_to_here(folder, value)
        elif value is not None:
            found[key] = [_relative_to_here(folder, each) for each in value]
    return found


def _relative_to_here(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))


_NOTHING = {
    "tasks": "all installed models that correct words",
    "flags_per_1000": "what each model is set to",
    "trust": "whatever was measured",
    "max_flags_per_1000": "no bound",
    "include": "text, Markdown and LaTeX",
}
"""What it means that a key is not set."""


def settings_to_toml(name: str, settings: CheckSettings) -> str:
    """Return the settings of the file `name` as lines of TOML."""
    lines = [f"# {name}: {'excluded, never checked' if settings.excluded else 'checked'}"]
    for each in fields(CheckSettings):
        key, value = each.name, getattr(settings, each.name)
        if key in ("excluded", "origins"):
            continue
        origin = ", ".join(map(_near, settings.origins.get(key, (DEFAULT,))))
        if key not in settings.origins:
            lines.append(f"# {key}: {_NOTHING.get(key, 'none')}  ({origin})")
        else:
            lines.append(f"{key} = {_toml(value)}  # {origin}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _near(origin: str) -> str:
    """Return a path below the current folder as one that is relative to it."""
    here = os.path.join(os.getcwd(), "")
    return origin.removeprefix(here)
