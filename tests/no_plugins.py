"""A pytest plugin (``-p no_plugins``) under which only the core is installed: no plugin, no pack.

Entry points of anything else are hidden, and importing a first-party plugin or pack fails.
"""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FORBIDDEN = {path.name for folder in ("plugins", "corpora") for path in (ROOT / folder).iterdir()}
_real = importlib.metadata.entry_points


def entry_points(**wanted):
    found = _real(**wanted)
    if wanted.get("group", "").startswith("disambig"):
        return importlib.metadata.EntryPoints(entry for entry in found if entry.name == "core")
    return found


class Refuse:
    """Finds no module of a plugin."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in FORBIDDEN:
            raise ModuleNotFoundError(f"{name} is a plugin: the core's tests do without", name=name)


importlib.metadata.entry_points = entry_points
sys.meta_path.insert(0, Refuse())
