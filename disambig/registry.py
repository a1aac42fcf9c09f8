"""The registry of entries by kind and versioned name, and the plugins that fill it.

Plugins are loaded by entry point when an entry is first requested. A plugin that fails to load does not
affect the others. A plugin registers names under its own prefix only.
"""

from __future__ import annotations

import difflib
import io
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module, metadata
from importlib.metadata import Distribution, EntryPoint
from importlib.util import find_spec, resolve_name
from operator import attrgetter
from pathlib import Path
from typing import Any

import pluggy

from disambig import hookspecs
from disambig.errors import UserError, nearest_first
from disambig.formatting import describe_exception, describe_failure, with_article
from disambig.runtime import DeadlineExceeded

CORE = "disambig.builtin"
CORE_PREFIXES = ("disambig", "web1t")


def entry_points(*, group: str, name: str | None = None) -> tuple[EntryPoint, ...]:
    """Return the entry points of all installed distributions.

    Raises D021, with the distribution whose entry points cannot be read. `importlib.metadata` does not name
    it, and spaCy and other packages cannot be imported then.
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

    def rank(entry: EntryPoint) -> tuple[bool, bool, str, str, str]:
        distribution = distribution_name(entry)
        name = normalise_name(entry.name)
        return not is_core(entry), distribution not in cores, name, distribution, entry.value

    first: dict[tuple[str, str], EntryPoint] = {}
    for entry in sorted(in_order, key=rank):
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


def _name(distribution: Distribution) -> str:
    return _metadata_value(distribution, "name") or os.path.basename(_folder(distribution))


@lru_cache(maxsize=128)
def _metadata_value(distribution: Distribution, key: str) -> str:
    """Return the name or version of a distribution; "" if its metadata is missing or cannot be read.

    It is cached because each access parses the metadata.
    """
    try:
        return getattr(distribution, key) or ""
    except Exception:  # without a METADATA file, versions of Python raise different errors
        return ""


def _folder(distribution: Distribution) -> str:
    return str(getattr(distribution, "_path", None) or "an unknown place")


def normalise_name(name: str) -> str:
    """Return a name in the form in which prefixes are compared: ``my_plugin`` for ``My-Plugin``."""
    return re.sub(r"[-_.]+", "_", name).lower()


class Namespaces:
    """The owner of each prefix; the names of all plugins are reserved from the start.

    `entries`: in the order in which they reserve names.
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
            owners = {"first": distribution_name(first), "second": distribution_name(entry)}
            raise UserError("D008", name=entry.name, **owners)

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


COMMANDS = "commands"
KINDS = (
    "tokenisations", "tasks", "extractors", "kernels", "learners", "decoders", "judges", "measures",
    "readers", "models", "runners", "experiments", COMMANDS,
)  # fmt: skip
_NAME = re.compile(r"([A-Za-z_]\w*\.)+v[1-9]\d*")
_COMMAND = re.compile(r"[A-Za-z_]\w*\.[a-z][a-z0-9_]*\.v[1-9]\d*")
_LOCATION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_entries: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Entry:
    """A factory that a plugin registered under a name."""

    # the kind, the versioned name, and the plugin that registered it
    kind: str
    name: str
    owner: str
    factory: Callable[..., Any] | str  # the class or function that a config section calls, or its location
    summary: str = ""  # one-line help, for commands only

    @property
    def command(self) -> str:
        """The name of a command for the user: ``new-plugin`` for ``disambig.new_plugin.v1``."""
        return self.name.split(".")[-2].replace("_", "-")

    def check(self) -> None:
        """Raise an error if the entry is invalid.

        Raises D004 for an invalid name, D011 for a factory that is neither callable nor a location, D016 for
        an invalid name of a command, D017 for a command without a one-line help.
        """
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise UserError("D004", name=self.name)
        if self.kind == COMMANDS and not _COMMAND.fullmatch(self.name):
            raise UserError("D016", name=self.name)
        summary = self.summary if isinstance(self.summary, str) else ""
        if self.kind == COMMANDS and (not summary or summary != " ".join(summary.split())):
            raise UserError("D017", name=self.name, summary=self.summary)
        is_location = isinstance(self.factory, str) and _LOCATION.fullmatch(self.factory)
        if not is_location and not callable(self.factory):
            raise UserError("D011", name=self.name, factory=self.factory)

    def load(self) -> Callable[..., Any]:
        """Return the factory, and import it if necessary.

        Raises D007 for any exception during the import.
        """
        factory: Any = self.factory
        try:
            if isinstance(factory, str):
                module, _, name = factory.partition(":")
                with nullcontext() if module in sys.modules else _redirect_prints(self.owner):
                    factory = attrgetter(name)(import_module(module))
                if not callable(factory):
                    raise TypeError(f"{self.factory} is not a class or function but {type(factory).__name__}")
            self._check_factory(factory)
        except BaseException as problem:  # an error in a plugin must not stop the tool
            _reraise_unless_error(problem)
            raise self.import_error(problem) from problem
        loaded: Callable[..., Any] = factory
        return loaded

    def import_error(self, problem: BaseException) -> UserError:
        """Return D007 for an exception that the factory raised."""
        message = problem.text if isinstance(problem, UserError) else ""
        packages = plugin_packages()
        text = describe_failure(problem, packages, message) + _missing_module_hint(problem, packages)
        return UserError("D007", kind=self.kind[:-1], name=self.name, plugin=self.owner, problem=text)

    def has_factory(self, factory: type) -> bool:
        """Return True if `factory` is the factory of the entry, which is not imported for this."""
        if not isinstance(self.factory, str):
            return self.factory is factory
        module, _, name = self.factory.partition(":")
        if module not in sys.modules or name.rpartition(".")[2] != factory.__name__:
            return False
        try:
            return attrgetter(name)(sys.modules[module]) is factory
        except AttributeError:
            return False

    def _check_factory(self, factory: Callable[..., Any]) -> None:
        """Raise TypeError for models and readers that do not declare what they read, or lack a method."""
        if self.kind == "readers":
            _check_reader(factory())
        if self.kind != "models":
            return
        if not _is_tuple_of_names(formats := getattr(factory, "formats", None)):
            raise TypeError(f"its formats are {formats!r}, not a tuple of names")
        for name in ("load", "save", "describe", "records"):
            if not callable(getattr(factory, name, None)):
                raise TypeError(f"it has no method {name!r}")


def _check_reader(reader: Any) -> None:
    """Raise TypeError for a reader that lacks the method `read`, or that would never be given a file."""
    if not callable(getattr(reader, "read", None)):
        raise TypeError("it has no method 'read'")
    suffixes, elements = (getattr(reader, name, ()) for name in ("suffixes", "elements"))
    for name, value in (("suffixes", suffixes), ("elements", elements)):
        if value != () and not _is_tuple_of_names(value):
            raise TypeError(f"its {name} are {value!r}, not a tuple of texts")
    if not suffixes and not elements:
        raise TypeError("it has neither suffixes nor elements, so it would never read a file")
    if wrong := [suffix for suffix in suffixes if not suffix.startswith(".")]:
        raise TypeError(f"its suffix {wrong[0]!r} does not begin with a dot")


def _is_tuple_of_names(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(item, str) and item for item in value)


def register_entries(offered: Iterable[Entry]) -> None:
    """Register all entries, or none if one is invalid.

    Raises D003 for a name that is already registered; errors of `Entry.check`.
    """
    new: dict[tuple[str, str], Entry] = {}
    for entry in offered:
        entry.check()
        first = new.get((entry.kind, entry.name)) or _entries[entry.kind].get(entry.name)
        if first is not None:
            by = f"by the plugin {first.owner} and by {entry.owner}"
            if (entry.kind, entry.name) in new:
                by = f"both times by {entry.owner}"
            raise UserError("D003", kind=entry.kind[:-1], name=entry.name, by=by, second=entry.owner)
        new[entry.kind, entry.name] = entry
    for (kind, name), entry in new.items():
        _entries[kind][name] = entry


def registered_entries(kind: str) -> dict[str, Entry]:
    """Return a copy of the entries of a kind, without loading plugins."""
    return dict(_entries[kind])


_ROLES = {"judges": "decision rule"}
"""What messages call the entries of a kind; by default the kind in the singular."""


def describe_component(kind: str, component: object) -> str:
    """Return what messages call a component: its registered name and plugin, or its class.

    `kind`: one of `KINDS`.
    """
    component_class = component if isinstance(component, type) else type(component)
    role = _ROLES.get(kind, kind[:-1])
    for entry in _entries[kind].values():
        if entry.has_factory(component_class):
            return f"the {role} {entry.name} of the plugin {entry.owner}"
    return f"the {role} {component_class.__name__}"


def clear() -> None:
    """Remove all entries, before plugins are loaded again."""
    for by_name in _entries.values():
        by_name.clear()


GROUP = "disambig"
_HOOK = "disambig_register_"
_ENTRY_POINT = re.compile(r"[A-Za-z_][\w.]*(\s*:\s*[\w.]+)?(\s*\[.*\])?")
_log = logging.getLogger(__name__)
_lock = threading.RLock()
_report: list[PluginReport] | None = None


@dataclass(frozen=True, slots=True)
class PluginReport:
    """The result of loading one entry point; `error` and `warning` are None if there was none."""

    name: str
    distribution: str
    version: str
    module: str
    error: str | None = None
    registered: tuple[tuple[str, str], ...] = ()
    warning: str | None = None

    def broken_entries(self) -> dict[str, str]:
        """Import every entry and return the errors by name."""
        errors = {}
        for kind, name in self.registered:
            try:
                if (entry := _entries[kind].get(name)) is not None:
                    entry.load()
            except UserError as problem:
                errors[name] = str(problem)
        return errors


def load_plugins() -> list[PluginReport]:
    """Load every installed plugin once and return the results.

    Raises D002, only under ``DISAMBIG_STRICT_PLUGINS=1``.
    """
    global _report
    with _lock:
        if _report is None:
            _report = []  # set first: a plugin may query the registry while it is loaded
            try:
                plugins = sort_entry_points(_entry_points())
                namespaces = Namespaces([plugin for plugin in plugins if metadata_error(plugin) is None])
                _report.extend(_load_plugin(plugin, namespaces) for plugin in plugins)
            except UserError:
                clear()
                _report = None
                raise
        return list(_report)


def plugin_packages() -> set[str]:
    """Return the top-level names of the packages of all plugins but the core, for `describe_failure`."""
    factories = (entry.factory for by_name in _entries.values() for entry in by_name.values())
    locations = {report.module for report in _report or ()}
    locations.update(factory for factory in factories if isinstance(factory, str))
    return {_top_level_name(location) for location in locations} - {GROUP}


def _top_level_name(location: str) -> str:
    """Return the package of a location such as ``package.module:Name``."""
    return re.split("[.:]", location, maxsplit=1)[0].strip()


def reload_plugins() -> list[PluginReport]:
    """Clear the registry and load every plugin again (for tests and notebooks)."""
    global _report
    with _lock:
        clear()
        _report = None
        return load_plugins()


def plugin_configs() -> dict[str, Path]:
    """Return the config files of all installed plugins, by file name without suffix."""
    configs: dict[str, Path] = {}
    for entry in sorted(_entry_points(), key=attrgetter("name")):
        package, *inside = entry.module.split(".")[:-1] or [""]
        spec = find_spec(package) if package else None  # located without importing the plugin
        for home in (spec.submodule_search_locations if spec else None) or ():
            for path in sorted(Path(home, *inside).glob("*.cfg")):
                configs.setdefault(path.stem, path)
    return configs


def _entry_points() -> list[EntryPoint]:
    return list(entry_points(group=GROUP))


def _load_plugin(entry_point: EntryPoint, namespaces: Namespaces) -> PluginReport:
    """Load a plugin and register its entries; the report says whether that failed."""
    name = entry_point.name
    distribution = distribution_name(entry_point) if entry_point.dist else "?"
    version = (entry_point.dist and _metadata_value(entry_point.dist, "version")) or "?"
    report = partial(PluginReport, name, distribution, version, entry_point.value)
    try:
        if damaged := metadata_error(entry_point):
            raise damaged
        if _ENTRY_POINT.fullmatch(entry_point.value) is None:
            raise UserError("D019", value=entry_point.value)
        namespaces.check_name(entry_point)
        with _redirect_prints(name):
            registered, warning = _call_hooks(entry_point, namespaces)
    except BaseException as problem:  # an error in a plugin must not stop the tool
        _reraise_unless_error(problem)
        packages = {_top_level_name(entry_point.value)}
        error = str(problem) if isinstance(problem, UserError) else describe_failure(problem, packages)
        error += _missing_module_hint(problem, packages)
        if _strict():
            values = {"name": name, "distribution": f"{distribution} {version}", "problem": error}
            raise UserError("D002", **values) from problem
        _log.warning("plugin %r (%s %s) could not be loaded: %s", name, distribution, version, error)
        return report(error)
    if warning is not None:
        # An ignored command does not concern users of other commands; `disambig plugins` shows it.
        level = logging.INFO if registered else logging.WARNING
        _log.log(level, "plugin %r (%s %s): %s", name, distribution, version, warning)
    return report(None, registered, warning)


def _missing_module_hint(problem: BaseException, packages: Collection[str]) -> str:
    """Return what to do if a package that a plugin imports is not installed."""
    missing = (problem.name or "").partition(".")[0] if isinstance(problem, ModuleNotFoundError) else ""
    return f"; install {missing}, which it imports" if missing and missing not in packages else ""


def _reraise_unless_error(problem: BaseException) -> None:
    """Raise `problem` again if it is not an error: an interrupt, or an expired time limit."""
    if isinstance(problem, (KeyboardInterrupt, GeneratorExit, DeadlineExceeded)):
        raise problem


@contextmanager
def _redirect_prints(plugin: str) -> Iterator[None]:
    """Log what a plugin prints when it is imported, since standard output is for results only."""
    sink = io.BytesIO()
    captured = io.TextIOWrapper(sink, encoding="utf-8", errors="backslashreplace", write_through=True)
    try:
        with redirect_stdout(captured):
            yield
    finally:
        if text := sink.getvalue().decode("utf-8", "backslashreplace").strip():
            _log.warning("%s", UserError("D020", name=plugin, text=text[:200]))


def _strict() -> bool:
    return os.environ.get("DISAMBIG_STRICT_PLUGINS") == "1"


def _call_hooks(
    entry_point: EntryPoint, namespaces: Namespaces
) -> tuple[tuple[tuple[str, str], ...], str | None]:
    """Collect the entries of a plugin, then register all of them or none."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    if os.environ.get("DISAMBIG_TRACE_PLUGINS") == "1":
        manager.trace.root.setwriter(lambda text: _log.info("%s", text.rstrip()))
        manager.enable_tracing()
    plugin = entry_point.load()
    try:
        manager.register(plugin, name=entry_point.name)
    except pluggy.PluginValidationError as problem:
        raise UserError("D024", problem=" ".join(str(problem).split())) from problem
    _check_hooks(manager, plugin)
    offered: list[Entry] = []
    ignored: list[str] = []

    def offer(kind: str, name: str, factory: Callable[..., Any] | str, summary: str = "") -> None:
        if isinstance(factory, str) and factory.startswith("."):
            module, colon, attribute = factory.partition(":")
            factory = f"{resolve_name(module, getattr(plugin, '__package__', None))}{colon}{attribute}"
        entry = Entry(kind, name, entry_point.name, factory, summary)
        entry.check()
        namespaces.check(entry_point, kind, name)
        if first := _first_command_entry(entry, offered):
            owns = f"{first.owner} already has a command of that name"
            ignored.append(f"command {entry.command!r} is ignored: {owns}")
            return
        if _strict():
            entry.load()
        offered.append(entry)

    def register(kind: str, name: str, factory: Callable[..., Any] | str) -> None:
        offer(kind, name, factory)

    def register_command(name: str, factory: Callable[..., Any] | str, summary: str = "") -> None:
        offer(COMMANDS, name, factory, summary)

    for kind in KINDS:
        callback = register_command if kind == COMMANDS else partial(register, kind)
        getattr(manager.hook, f"{_HOOK}{kind}")(register=callback)
    register_entries(offered)
    namespaces.reserve(entry_point, (entry.name for entry in offered))
    warning = "; ".join(ignored) or (None if offered else "registers nothing")
    return tuple((entry.kind, entry.name) for entry in offered), warning


def _first_command_entry(entry: Entry, offered: Iterable[Entry]) -> Entry | None:
    """Return an earlier command with the same name, or None."""
    if entry.kind != COMMANDS:
        return None
    earlier = [*_entries[COMMANDS].values(), *(other for other in offered if other.kind == COMMANDS)]
    return next((other for other in earlier if other.command == entry.command), None)


def _check_hooks(manager: pluggy.PluginManager, plugin: Any) -> None:
    """Raise an error for an unknown hook, and for a function named like a hook but without @hookimpl."""
    for caller in manager.get_hookcallers(plugin) or ():
        if not caller.has_spec():
            hook_names = [f"{_HOOK}{kind}" for kind in KINDS]
            near = difflib.get_close_matches(caller.name, hook_names, n=1, cutoff=0.6)
            raise UserError("D009", name=caller.name, names=near[0] if near else " or ".join(hook_names))
    called = {caller.name for caller in manager.get_hookcallers(plugin) or ()}
    unmarked = [name for name in dir(plugin) if name.startswith(_HOOK) and name not in called]
    if unmarked:
        raise UserError("D015", names=" and ".join(unmarked))


def get(kind: str, name: str) -> Callable[..., Any]:
    """Return the factory registered as `name`.

    Raises D001, with the available names, nearest first; D007 if it cannot be imported.
    """
    by_name = entries(kind)
    if name not in by_name:
        names = nearest_first(name, by_name) + _explain_unknown(name)
        raise UserError("D001", kind=kind[:-1], name=name, names=names)
    return by_name[name].load()


def _explain_unknown(name: str) -> str:
    """Return why a name may be unknown: another kind of entry has it, or its plugin is not installed."""
    kinds = [_ROLES.get(kind, kind[:-1]) for kind in KINDS if name in _entries[kind]]
    if kinds:
        return f" ({name!r} is {with_article(kinds[0])})"
    prefix, dot, _ = name.partition(".")
    installed = {entry.partition(".")[0] for kind in KINDS for entry in _entries[kind]}
    if not dot or prefix in installed:
        return ""
    broken = next((report.name for report in _report or () if report.error and report.name == prefix), None)
    if broken:
        return f" (the plugin {broken!r} could not be loaded)"
    return f" (no installed plugin has names that begin with '{prefix}.')"


def entries(kind: str) -> dict[str, Entry]:
    """Return the entries of a kind by name, without importing them."""
    load_plugins()
    return registered_entries(kind)


def load_all(kind: str) -> dict[str, Callable[..., Any]]:
    """Return every factory of a kind; one that cannot be imported is skipped with a warning."""
    factories = {}
    for name, entry in entries(kind).items():
        try:
            factories[name] = entry.load()
        except UserError as problem:
            _log.warning("%s", problem)
    return factories


def confection_registry(wanted: Iterable[tuple[str, str]]) -> Any:
    """Return a confection registry, which builds objects from config sections, with these entries."""
    import catalogue
    import confection

    registries = {kind: catalogue.Registry(("disambig", kind), entry_points=False) for kind in KINDS}
    for kind, name in wanted:
        registries[kind].register(name, func=get(kind, name))
    namespace = {f"disambig_{kind}": registry for kind, registry in registries.items()}
    return type("ConfectionRegistry", (confection.registry,), namespace)
