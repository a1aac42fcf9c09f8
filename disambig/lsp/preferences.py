"""What holds for each text: files of settings, and above them what the editor says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from disambig.configuration.patterns import GitIgnorePatterns
from disambig.configuration.project import Project
from disambig.configuration.settings import ADDED, CHOICES, Layer, Settings, from_folder
from disambig.configuration.tables import read_table
from disambig.errors import UserError

ORIGIN = "settings of the editor"
SECTION = "disambig"


class Preferences:
    """Settings by file, read once; made anew where files of settings or the editor's changed.

    Parameters
    ----------
    said : Any
        What the editor says: a table as in ``disambig.toml``, or one below the key ``disambig``; None for
        nothing. Paths and patterns are relative to `root`.
    begun : Any
        What it said when it began: keys that `said` has not hold on.
    root : str
        Folder that is open in the editor.
    words : frozenset of str
        Words to leave alone that no file holds yet.

    Raises
    ------
    UserError
        D849 for what is no table, D970 for an unknown key, D971 for a value that is none.
    """

    def __init__(
        self, said: Any, root: str, words: frozenset[str] = frozenset(), *, begun: Any = None
    ) -> None:
        self._root = root
        self._values = {**_read(begun), **_read(said)}
        self.words = words
        self._projects: dict[tuple[str, ...], Project] = {}

    def settings_of(self, path: str) -> Settings:
        """Return what holds for a text.

        Raises
        ------
        UserError
            As `disambig.configuration.project.Project.settings_of`.
        """
        overrides: Mapping[str, Any] = self._values.get("overrides", {})
        fits = tuple(pattern for pattern in overrides if self._fits([pattern], path))
        if fits not in self._projects:
            layers = [self._values, *(overrides[pattern] for pattern in fits)]
            values = _flat([from_folder(layer, self._root) for layer in layers])
            if self.words:
                values["ignore"] = [*values.get("ignore", ()), *sorted(self.words)]
            self._projects[fits] = Project(Layer(ORIGIN, values))
        settings = self._projects[fits].settings_of(path)
        excluded = self._fits(self._values.get("exclude", ()), path)
        return replace(settings, excluded=True) if excluded else settings

    def with_word(self, word: str) -> Preferences:
        """Return the same with one more word to leave alone."""
        return Preferences(self._values, self._root, self.words | {word})

    def anew(self) -> Preferences:
        """Return the same, files of settings not yet read."""
        return Preferences(self._values, self._root, self.words)

    def _fits(self, patterns: Any, path: str) -> bool:
        if not patterns:
            return False
        relative = os.path.relpath(path, self._root)
        return not relative.startswith(os.pardir) and GitIgnorePatterns(patterns).match(relative)


def _read(said: Any) -> dict[str, Any]:
    if isinstance(said, Mapping) and SECTION in said:
        said = said[SECTION]
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        raise UserError("D849", value=repr(said)[:60])
    return read_table(
        {key: value for key, value in said.items() if value is not None}, path=ORIGIN, section=""
    )


def _flat(layers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one layer for several, as `disambig.configuration.settings.laid_over` lays them."""
    values: dict[str, Any] = {}
    for layer in layers:
        for choice in CHOICES:
            if any(key in layer for key in choice):
                values = {key: value for key, value in values.items() if key not in choice}
        for key, value in layer.items():
            if key != "overrides":
                values[key] = [*values.get(key, ()), *value] if key in ADDED else value
    return values
