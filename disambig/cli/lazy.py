"""Subcommands that are imported only when they are called: what keeps ``disambig --help`` quick."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


class LazyCommand(TyperCommand):
    """A command known by its name and its line of help; its module holds a Typer called ``app``."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name=name, callback=None, help=summary, short_help=summary, rich_markup_mode=None)
        self.module = module

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Import the module and let its own command read the arguments."""
        from disambig.cli import metavars, progress

        progress.begin()
        command = metavars.in_words(get_command(import_module(self.module).app))
        command.name = self.name
        return command.make_context(info_name, args, parent=parent, **extra)


def lazy_group(commands: Mapping[str, str], *, package: str) -> type[TyperGroup]:
    """Return a group class that shows `commands` (name to line of help) in this order.

    The command ``a-name`` is the Typer object ``app`` of the module ``package.a_name``.
    """
    modules = {name: f"{package}.{name.replace('-', '_')}" for name in commands}
    known = {name: LazyCommand(name, modules[name], summary) for name, summary in commands.items()}

    class LazyGroup(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**{**settings, "commands": dict(known)})

    return LazyGroup
