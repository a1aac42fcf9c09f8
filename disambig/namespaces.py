"""Check which plugin may register names under which prefix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib import metadata
from importlib.metadata import Distribution, EntryPoint
from typing import Any

from disambig.errors import UserError
from disambig.formatting import describe_exception

CORE = "disambig.builtin"
CORE_PREFIXES = ("disambig", "web1t")


def entry_points(*, group: str, name: str | None = None) -> tuple[EntryPoint, ...]:
    """Return the entry points of all installed distributions.

    Raises D021, with the distribution whose entry points cannot be read. `importlib.metadata` does not name
    it, and spaCy and other packages cannot be imported then.

    Parameters
    ----------
    name : str, optional
        Return only entry points with this name.
    """
    query: dict[str, Any] = {"group": group} if name is None else {"group": group, "name": name}
    try:
        entries: Any = metadata.entry_points(**query)
        return tuple(entries)
    except Exception:  # versions of Python raise different errors
        for distribution in metadata.distributions():
            try:
                _ = distribution.entry_points
            except Exception as problem:
                text = describe_exception(problem)
                raise UserError("D021", path=_folder(distribution), problem=text) from problem
        raise


def sort_entry_points(entries: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Return entry points without duplicates, in the order in which plugins reserve names.

    First the core, then the other plugins of its distribution, then all others by name. Those of
    distributions with incomplete metadata come last.
    """
    in_order: list[EntryPoint] = []
    damaged: list[EntryPoint] = []
    for entry in entries:
        (in_order if metadata_error(entry) is None else damaged).append(entry)
    cores = {distribution_name(entry) for entry in in_order if is_core(entry) and entry.dist}
    in_order.sort(key=lambda entry: (not is_core(entry), distribution_name(entry) not in cores, *_key(entry)))
    first: dict[tuple[str, str], EntryPoint] = {}
    for entry in in_order:
        first.setdefault((entry.name, entry.value), entry)
    return [*first.values(), *damaged]


def is_core(entry: EntryPoint) -> bool:
    """Return True if an entry point is that of the core."""
    return entry.name == "core" and entry.value == CORE


def distribution_name(entry: EntryPoint) -> str:
    """Return the distribution of an entry point, or its module if the distribution is unknown."""
    return _name(entry.dist) if entry.dist else entry.value


def metadata_error(entry: EntryPoint) -> UserError | None:
    """Return D018 if the metadata of an entry point's distribution has no name, else None."""
    distribution = entry.dist
    if distribution is None or _metadata_value(distribution, "name"):
        return None
    return UserError("D018", path=_folder(distribution))


def distribution_version(entry: EntryPoint) -> str:
    """Return the version of an entry point's distribution; ``"?"`` if it is unknown."""
    return (_metadata_value(entry.dist, "version") if entry.dist else "") or "?"


@lru_cache(maxsize=64)
def _name(distribution: Distribution) -> str:
    """Return the name of a distribution, cached because each access parses its metadata."""
    return _metadata_value(distribution, "name") or os.path.basename(_folder(distribution))


def _metadata_value(distribution: Distribution, key: str) -> str:
    """Return the name or version of a distribution; "" if its metadata is missing or cannot be read."""
    try:
        return getattr(distribution, key) or ""
    except Exception:  # without a METADATA file, versions of Python raise different errors
        return ""


def _folder(distribution: Distribution) -> str:
    return str(getattr(distribution, "_path", None) or "an unknown place")


def normalise_name(name: str) -> str:
    """Return a name in the form in which prefixes are compared: ``my_plugin`` for ``My-Plugin``."""
    return re.sub(r"[-_.]+", "_", name).lower()


def _key(entry: EntryPoint) -> tuple[str, str, str]:
    return normalise_name(entry.name), distribution_name(entry), entry.value


class Namespaces:
    """The owner of each prefix; the names of all plugins are reserved from the start.

    Parameters
    ----------
    entries : list of EntryPoint
        In the order in which they reserve names.
    """

    def __init__(self, entries: Iterable[EntryPoint]) -> None:
        self._owners = dict.fromkeys(CORE_PREFIXES, "disambig")
        self._entries: dict[str, EntryPoint] = {}
        for entry in entries:
            self._entries.setdefault(normalise_name(entry.name), entry)
            for prefix in self.prefixes(entry):
                self._owners.setdefault(prefix, distribution_name(entry))

    def prefixes(self, entry: EntryPoint) -> list[str]:
        """Return the prefixes of a plugin, even if another plugin owns them."""
        names = [normalise_name(entry.name), *([normalise_name(_name(entry.dist))] if entry.dist else [])]
        return list(dict.fromkeys([*(CORE_PREFIXES if is_core(entry) else ()), *names]))

    def check_name(self, entry: EntryPoint) -> None:
        """Raise an error if another plugin has the same name. Raises D008."""
        first = self._entries[normalise_name(entry.name)]
        if first != entry:
            raise UserError(
                "D008", name=entry.name, first=distribution_name(first), second=distribution_name(entry)
            )

    def check(self, entry: EntryPoint, kind: str, name: str) -> None:
        """Raise an error if the plugin may not register this name. Raises D006."""
        prefix = normalise_name(name.partition(".")[0])
        prefixes, owner = self.prefixes(entry), self._owners.get(prefix)
        may_use = is_core(entry) or owner == distribution_name(entry)
        if prefix in prefixes and may_use:
            return
        if kind == "experiments" and (owner is None or may_use):
            return
        belongs_to_other = owner and not may_use
        problem = f"the prefix {prefix!r} {f'belongs to {owner}' if belongs_to_other else 'is not its name'}"
        free = [p for p in prefixes if self._owners.get(p) == distribution_name(entry)]
        advice = "rename its entry point, whose name must be the prefix of the names that it registers"
        if free:
            advice = f"its names must begin with {' or '.join(f'{p}.' for p in free)}"
        raise UserError("D006", name=name, plugin=entry.name, problem=problem, advice=advice)

    def reserve(self, entry: EntryPoint, names: Iterable[str]) -> None:
        """Reserve the prefixes of registered names for this plugin."""
        for name in names:
            self._owners.setdefault(normalise_name(name.partition(".")[0]), distribution_name(entry))
