"""A pytest plugin (``-p no_plugins``) that hides all plugins and packs, so that only the core is installed.

Entry points of anything else are hidden, and importing a first-party plugin or pack fails.
"""

from __future__ import annotations

import importlib.metadata
import sys
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
FORBIDDEN = {path.name for folder in ("plugins", "corpora") for path in (ROOT / folder).iterdir()}
_all_entry_points = importlib.metadata.entry_points


def entry_points(**wanted):
    selected = _all_entry_points(**wanted)
    if isinstance(selected, dict):  # Python 3.10 and 3.11, called without arguments
        return type(selected).load(filter(is_of_core, chain.from_iterable(dict.values(selected))))
    return importlib.metadata.EntryPoints(filter(is_of_core, selected))


def is_of_core(entry):
    return entry.value.partition(":")[0].partition(".")[0] not in FORBIDDEN


class PluginBlocker:
    """An import hook that fails for modules of plugins and packs."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in FORBIDDEN:
            raise ModuleNotFoundError(
                f"{name} is a plugin, but the tests of the core must not need one", name=name
            )


importlib.metadata.entry_points = entry_points
sys.meta_path.insert(0, PluginBlocker())
