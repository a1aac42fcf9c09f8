"""Loading of plugins by entry point: lazily, each on its own, so that a broken one stops nothing.

``DISAMBIG_STRICT_PLUGINS=1`` raises at the first broken plugin, and imports all parts to see whether they can
be; ``DISAMBIG_TRACE_PLUGINS=1`` logs each hook call to the logger ``disambig.plugins``.
"""

from __future__ import annotations

import difflib
import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from importlib.util import resolve_name
from typing import Any

import pluggy

from disambig import hookspecs, shelves
from disambig.claims import Claims, in_order
from disambig.errors import UserError
from disambig.shelves import Part

GROUP = "disambig"
_HOOK = "disambig_register_"
_log = logging.getLogger(__name__)
_lock = threading.RLock()
_report: list[PluginReport] | None = None


@dataclass(frozen=True, slots=True)
class PluginReport:
    """What became of one entry point: `error` is None where it loaded, `warning` where nothing is odd."""

    name: str
    distribution: str
    version: str
    module: str
    error: str | None = None
    registered: tuple[tuple[str, str], ...] = ()
    warning: str | None = None

    def broken_parts(self) -> dict[str, str]:
        """Import every part and return, by name, what is wrong with those that cannot be."""
        wrong = {}
        for kind, name in self.registered:
            part = shelves.shelf(kind).get(name)
            try:
                if part is not None:
                    part.load()
            except UserError as problem:
                wrong[name] = str(problem)
        return wrong


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
                entries = in_order(_entries())
                claims = Claims(entries)
                _report.extend(_load_one(entry, claims) for entry in entries)
            except UserError:
                shelves.forget()
                _report = None
                raise
        return list(_report)


def reload_plugins() -> list[PluginReport]:
    """Forget what is registered and load every plugin again (for tests and notebooks)."""
    global _report
    with _lock:
        shelves.forget()
        _report = None
        return load_plugins()


def _entries() -> list[EntryPoint]:
    return list(entry_points(group=GROUP))


def _load_one(entry: EntryPoint, claims: Claims) -> PluginReport:
    distribution = entry.dist.name if entry.dist else "?"
    version = entry.dist.version if entry.dist else "?"
    try:
        claims.check_name(entry)
        registered, warning = _call_hooks(entry, claims)
    except (Exception, SystemExit) as problem:  # whatever a plugin does wrong must not take the tool down
        error = str(problem) if isinstance(problem, UserError) else f"{type(problem).__name__}: {problem}"
        if _strict():
            raise UserError(
                "D002", name=entry.name, distribution=f"{distribution} {version}", problem=error
            ) from problem
        _log.warning("plugin %r (%s %s) could not be loaded: %s", entry.name, distribution, version, error)
        return PluginReport(entry.name, distribution, version, entry.value, error)
    if (
        warning is not None
    ):  # a command that is left out is no matter of the others: `disambig plugins` says it
        level = logging.INFO if registered else logging.WARNING
        _log.log(level, "plugin %r (%s %s): %s", entry.name, distribution, version, warning)
    return PluginReport(entry.name, distribution, version, entry.value, None, registered, warning)


def _strict() -> bool:
    return os.environ.get("DISAMBIG_STRICT_PLUGINS") == "1"


def _call_hooks(entry: EntryPoint, claims: Claims) -> tuple[tuple[tuple[str, str], ...], str | None]:
    """Collect all that one plugin offers, then shelve it: a plugin comes whole or not at all."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    if os.environ.get("DISAMBIG_TRACE_PLUGINS") == "1":
        manager.trace.root.setwriter(lambda text: _log.info("%s", text.rstrip()))
        manager.enable_tracing()
    plugin = entry.load()
    manager.register(plugin, name=entry.name)
    _check_hooks(manager, plugin)
    offered: list[Part] = []
    left_out: list[str] = []

    def offer(kind: str, name: str, factory: Callable[..., Any] | str, summary: str = "") -> None:
        if isinstance(factory, str) and factory.startswith("."):
            module, colon, known_as = factory.partition(":")
            factory = f"{resolve_name(module, getattr(plugin, '__package__', None))}{colon}{known_as}"
        part = Part(kind, name, entry.name, factory, summary)
        part.check()
        claims.check(entry, kind, name)
        first = _first_of_command(part, offered)
        if first is not None:
            left_out.append(f"command {part.command!r} is left out: {first.owner} has one of that name")
            return
        if _strict():
            part.load()
        offered.append(part)

    def register(kind: str, name: str, factory: Callable[..., Any] | str) -> None:
        offer(kind, name, factory)

    def register_command(name: str, factory: Callable[..., Any] | str, summary: str) -> None:
        offer(shelves.COMMANDS, name, factory, summary)

    for kind in shelves.KINDS:
        callback = register_command if kind == shelves.COMMANDS else partial(register, kind)
        getattr(manager.hook, f"{_HOOK}{kind}")(register=callback)
    shelves.put(offered)
    claims.take(entry, (part.name for part in offered))
    warning = "; ".join(left_out) or (None if offered else "registers nothing")
    return tuple((part.kind, part.name) for part in offered), warning


def _first_of_command(part: Part, offered: Iterable[Part]) -> Part | None:
    """Return the command that has the name of this one already; None where there is none."""
    if part.kind != shelves.COMMANDS:
        return None
    known = [*shelves.shelf(part.kind).values(), *(each for each in offered if each.kind == part.kind)]
    return next((each for each in known if each.command == part.command), None)


def _check_hooks(manager: pluggy.PluginManager, plugin: Any) -> None:
    """Refuse a hook that there is not, and a function named like a hook that is none."""
    for caller in manager.get_hookcallers(plugin) or ():
        if not caller.has_spec():
            known = [f"{_HOOK}{kind}" for kind in shelves.KINDS]
            near = difflib.get_close_matches(caller.name, known, n=1, cutoff=0.6)
            raise UserError("D009", name=caller.name, names=near[0] if near else " or ".join(known))
    called = {caller.name for caller in manager.get_hookcallers(plugin) or ()}
    unmarked = [name for name in dir(plugin) if name.startswith(_HOOK) and name not in called]
    if unmarked:
        raise UserError("D015", names=" and ".join(unmarked))
