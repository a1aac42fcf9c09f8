"""Subcommands that are imported only when they are called: what keeps ``disambig --help`` quick.

Those of the core are known by name. For those of plugins the plugins' own modules are loaded, which say what
there is and import nothing of it; and only where the list is shown, or a name is none of the core's.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from typer import Typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from disambig.cli.names import COMMANDS, module_of
from disambig.errors import UserError

SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""What the applications of all commands have in common."""


class LazyCommand(TyperCommand):
    """A command known by its name and its line of help; `load` imports it and makes it."""

    def __init__(self, name: str, summary: str, load: Callable[[], Any]) -> None:
        super().__init__(name=name, callback=None, help=summary, short_help=summary, rich_markup_mode=None)
        self.load = load

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Import the command and let it read the arguments."""
        from disambig.cli import metavars, progress

        progress.begin()
        command = metavars.in_words(self.load())
        command.name = self.name
        return command.make_context(info_name, args, parent=parent, **extra)


def known_commands() -> type[TyperGroup]:
    """Return a group class that shows the core's commands in their order, then those of plugins by name."""
    core = {name: LazyCommand(name, summary, _of_core(name)) for name, summary in COMMANDS.items()}

    class Commands(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**{**settings, "commands": dict(core)})

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in self.commands:
                self._look_into_plugins()
            return super().get_command(ctx, cmd_name)

        def list_commands(self, ctx: Any) -> list[str]:
            self._look_into_plugins()
            return list(self.commands)

        def _look_into_plugins(self) -> None:
            for name, command in of_plugins().items():
                self.commands.setdefault(name, command)

    return Commands


def of_plugins() -> dict[str, LazyCommand]:
    """Return the commands that plugins bring, by name; nothing of them is imported."""
    from disambig.plugins import load_plugins
    from disambig.shelves import shelf

    load_plugins()
    parts = sorted(shelf("commands").values(), key=lambda part: part.command)
    return {
        part.command: LazyCommand(part.command, part.summary, _of_part(part))
        for part in parts
        if part.command not in COMMANDS
    }


def _of_core(name: str) -> Callable[[], Any]:
    return lambda: get_command(import_module(module_of(name)).app)


def _of_part(part: Any) -> Callable[[], Any]:
    """Return what makes the command of a part, a Typer or a function; D007 where it is none."""

    def load() -> Any:
        found = part.load()
        try:
            if isinstance(found, Typer):
                return get_command(found)
            alone = Typer(**SETTINGS)
            alone.command()(found)
            return get_command(alone)
        except Exception as problem:  # whatever typer says of what a plugin brings
            said = f"{type(problem).__name__}: {problem}"
            raise UserError(
                "D007", kind="command", name=part.name, plugin=part.owner, problem=said
            ) from problem

    return load
