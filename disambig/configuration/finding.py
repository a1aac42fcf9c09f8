"""The file of settings that holds for a file: the nearest one above it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import Any

from disambig.configuration.trusted_paths import is_inside, project_root
from disambig.errors import UserError
from disambig.files.opening import decode, read_small

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
            return _checked(path, "", _read(path))
    if os.path.isfile(path := os.path.join(folder, SHARED)):
        tools = _read(path).get("tool")
        if isinstance(tools, dict) and "disambig" in tools:
            return _checked(path, SECTION, tools["disambig"])
    return None


def _checked(path: str, section: str, values: Any) -> SettingsFile:
    from disambig.configuration.tables import read_table

    if not isinstance(values, dict):
        raise UserError("D971", path=path, key=section, problem="it must be a table", value=repr(values)[:60])
    return SettingsFile(path, section, read_table(values, path=path, section=section))


def _read(path: str) -> dict[str, Any]:
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
