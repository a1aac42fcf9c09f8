"""A pytest plugin (``-p no_plugins``) under which only the core is installed: no plugin, no pack.

Entry points of anything else are hidden, and importing a first-party plugin or pack fails.
"""

from __future__ import annotations

import importlib.metadata
import sys
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
FORBIDDEN = {path.name for folder in ("plugins", "corpora") for path in (ROOT / folder).iterdir()}
_real = importlib.metadata.entry_points


def entry_points(**wanted):
    found = _real(**wanted)
    if isinstance(found, dict):  # Python 3.10 and 3.11, asked for all groups
        return type(found).load(filter(is_left, chain.from_iterable(dict.values(found))))
    return importlib.metadata.EntryPoints(filter(is_left, found))


def is_left(entry):
    return entry.value.partition(":")[0].partition(".")[0] not in FORBIDDEN


class Refuse:
    """Finds no module of a plugin."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in FORBIDDEN:
            raise ModuleNotFoundError(f"{name} is a plugin: the core's tests do without", name=name)


importlib.metadata.entry_points = entry_points
sys.meta_path.insert(0, Refuse())
