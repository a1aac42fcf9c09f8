"""Configs that plugins bring, ready for `disambig train`: the ``.cfg`` files beside their ``plugin.py``."""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from disambig.errors import UserError, nearest_first
from disambig.plugins import GROUP

ENDING = ".cfg"


def shipped() -> dict[str, Path]:
    """Return the configs of all installed plugins, by the name of the file without its ending."""
    found: dict[str, Path] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package, *inside = entry.module.split(".")[:-1] or [""]
        spec = find_spec(package) if package else None  # found without being run
        for home in (spec.submodule_search_locations if spec else None) or ():
            for path in sorted(Path(home, *inside).glob(f"*{ENDING}")):
                found.setdefault(path.stem, path)
    return found


def config_path(name: str | Path) -> Path:
    """Return the path of a config: a file, or one that a plugin brings, by its name.

    Raises
    ------
    UserError
        D472 for a name without an ending that is neither.
    """
    path = Path(name)
    if path.suffix or path.is_file() or path.name != str(name):
        return path
    known = shipped()
    if str(name) not in known:
        raise UserError("D472", name=str(name), names=nearest_first(str(name), known))
    return known[str(name)]
