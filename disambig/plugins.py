"""Loading of plugins by entry point: lazily, each on its own, so that a broken one stops nothing.

``DISAMBIG_STRICT_PLUGINS=1`` raises at the first broken plugin; ``DISAMBIG_TRACE_PLUGINS=1`` logs
each hook call to the logger ``disambig.plugins``.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from disambig import hookspecs, registry
from disambig.errors import UserError

GROUP = "disambig"
_log = logging.getLogger(__name__)
_lock = threading.RLock()
_report: list[PluginReport] | None = None


@dataclass(frozen=True, slots=True)
class PluginReport:
    """What became of one entry point: `error` is None where it loaded."""

    name: str
    distribution: str
    version: str
    module: str
    error: str | None = None
    registered: tuple[tuple[str, str], ...] = ()


def load_plugins() -> list[PluginReport]:
    """Load every installed plugin once and return what became of each.

    Raises
    ------
    UserError
        D002, only under ``DISAMBIG_STRICT_PLUGINS=1``.
    """
    global _report
    with _lock:
        if _report is None:
            _report = []  # now, so that a plugin that asks the registry while it loads does not begin anew
            try:
                _report.extend(_load_one(entry) for entry in _entries())
            except UserError:
                registry.forget()
                _report = None
                raise
        return list(_report)


def reload_plugins() -> list[PluginReport]:
    """Forget what is registered and load every plugin again (for tests and notebooks)."""
    global _report
    with _lock:
        registry.forget()
        _report = None
        return load_plugins()


def _entries() -> list[EntryPoint]:
    found = {(entry.name, entry.value): entry for entry in entry_points(group=GROUP)}
    return sorted(found.values(), key=lambda entry: (entry.name != "core", entry.name))


def _load_one(entry: EntryPoint) -> PluginReport:
    distribution = entry.dist.name if entry.dist else "?"
    version = entry.dist.version if entry.dist else "?"
    try:
        registered = _call_hooks(entry)
    except (Exception, SystemExit) as problem:  # whatever a plugin does wrong must not take the tool down
        error = f"{type(problem).__name__}: {problem}"
        if os.environ.get("DISAMBIG_STRICT_PLUGINS") == "1":
            raise UserError(
                "D002", name=entry.name, distribution=f"{distribution} {version}", problem=error
            ) from problem
        _log.warning("plugin %r (%s %s) could not be loaded: %s", entry.name, distribution, version, error)
        return PluginReport(entry.name, distribution, version, entry.value, error)
    return PluginReport(entry.name, distribution, version, entry.value, None, registered)


def _call_hooks(entry: EntryPoint) -> tuple[tuple[str, str], ...]:
    """Collect all that one plugin offers, then shelve it: a plugin comes whole or not at all."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    if os.environ.get("DISAMBIG_TRACE_PLUGINS") == "1":
        manager.trace.root.setwriter(lambda text: _log.info("%s", text.rstrip()))
        manager.enable_tracing()
    manager.register(entry.load(), name=entry.name)
    manager.check_pending()
    offered: list[tuple[str, str, Callable[..., Any]]] = []

    def register(kind: str, name: str, factory: Callable[..., Any]) -> None:
        if not callable(factory):
            raise TypeError(f"{name} is no class or function but {type(factory).__name__}")
        offered.append((kind, name, factory))

    for kind in registry.KINDS:
        getattr(manager.hook, f"disambig_register_{kind}")(register=partial(register, kind))
    registry.put(offered, owner=entry.name)
    return tuple((kind, name) for kind, name, _ in offered)
