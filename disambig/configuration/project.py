"""Whose settings hold for which file: the nearest file of settings, its overrides, what is laid over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from disambig.configuration.finding import SettingsFile, nearest_settings
from disambig.configuration.patterns import GitIgnorePatterns
from disambig.configuration.settings import Layer, Settings, from_folder, laid_over
from disambig.configuration.trusted_paths import check_paths


class Project:
    """The settings of files, found once.

    Parameters
    ----------
    over : Layer, optional
        What holds above all files of settings, such as options of a command.
    """

    def __init__(self, over: Layer | None = None) -> None:
        self._over = [over] if over is not None and over.values else []
        self._files: dict[str, SettingsFile] = {}
        self._settings: dict[tuple[str, tuple[bool, ...], bool], Settings] = {}
        self._patterns: dict[tuple[str, ...], GitIgnorePatterns] = {}

    def settings_of(self, path: str) -> Settings:
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
            self._settings[key] = self._laid(file, fits, excluded)
        return self._settings[key]

    def takes(self, path: str, usual: Callable[[str], bool]) -> bool:
        """Tell whether a file that was found in a directory is to be checked.

        Parameters
        ----------
        usual : callable
            Tells it where no `include` holds.
        """
        settings = self.settings_of(path)
        if settings.excluded:
            return False
        if not settings.include:
            return usual(path)
        path = os.path.abspath(path)
        return self._fits(settings.include, path, nearest_settings(os.path.dirname(path), self._files))

    def _laid(self, file: SettingsFile, fits: Sequence[bool], excluded: bool) -> Settings:
        values = {key: value for key, value in file.values.items() if key != "overrides"}
        layers = [Layer(file.path, from_folder(values, file.folder))]
        overrides = file.values.get("overrides", {})
        for fit, (pattern, values) in zip(fits, overrides.items(), strict=True):
            if fit:
                layers.append(Layer(f"{file.path}, {pattern}", from_folder(values, file.folder)))
        settings = laid_over([*layers, *self._over], excluded=excluded)
        over = self._over[0].values if self._over else {}
        check_paths(laid_over(layers), file.path, over)
        return settings

    def _fits(self, patterns: Sequence[str], path: str, file: SettingsFile) -> bool:
        if not patterns:
            return False
        key = tuple(patterns)
        if key not in self._patterns:
            self._patterns[key] = GitIgnorePatterns(key)
        return self._patterns[key].match(os.path.relpath(path, file.folder))
