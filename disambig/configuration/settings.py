"""What holds for one file, and where each of it comes from: the layers of settings laid over each other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disambig.data.groups import Group

DEFAULT = "default"
ADDED = ("ignore", "ignore_files", "sets", "sets_files")
"""Lists that a layer adds to; all other keys are replaced."""
CHOICES = (("tasks", "models"), ("trust", "flags_per_1000"))
"""What checks, and what is shown of it: a layer with one of a choice replaces all of it."""
PATHS = ("models", "ignore_files", "sets_files", "baseline")
"""Relative to the file that names them."""


@dataclass(frozen=True, slots=True)
class Layer:
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
class Settings:
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
        from disambig.files.word_lists import read_words

        return (*self.ignore, *(word for path in self.ignore_files for word in read_words(path)))

    def confusion_sets(self) -> tuple[Group, ...]:
        """Return the confusion sets beside those of the models, each once.

        Raises
        ------
        UserError
            D30x for a file that cannot be read; D410, D411 and D665 for what is no set.
        """
        from disambig.tasks.confusion_sets import confusion_set, read_confusion_sets

        groups = [confusion_set(said) for said in self.sets]
        groups += [group for path in self.sets_files for group in read_confusion_sets(path)]
        return tuple({group.name: group for group in groups}.values())


def laid_over(layers: Iterable[Layer], *, excluded: bool = False) -> Settings:
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
    return Settings(**values, excluded=excluded, origins=origins)


def from_folder(values: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return values whose paths are relative to `folder` as they are opened from here."""
    found = dict(values)
    for key in PATHS:
        value = found.get(key)
        if isinstance(value, str):
            found[key] = _opened(folder, value)
        elif value is not None:
            found[key] = [_opened(folder, each) for each in value]
    return found


def _opened(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))
