"""Shelves of versioned names and what lies there. How it comes there is no matter of this module.

A part is a class or function, or the place where it is (``"package.module:Name"``): that is imported when
the part is first asked for, so that a start of the program costs nothing for what it does not use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import Any

from disambig.errors import UserError

KINDS = (
    "tokenisations",
    "tasks",
    "extractors",
    "kernels",
    "learners",
    "decoders",
    "judges",
    "measures",
    "readers",
    "runners",
    "experiments",
    "commands",
)
COMMANDS = "commands"
_NAME = re.compile(r"([A-Za-z_]\w*\.)+v[1-9]\d*")
_COMMAND = re.compile(r"[A-Za-z_]\w*\.[a-z][a-z0-9_]*\.v[1-9]\d*")
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_shelves: dict[str, dict[str, Part]] = {kind: {} for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Part:
    """What a plugin registered.

    Attributes
    ----------
    kind, name, owner : str
        The shelf, the versioned name, and the plugin that brings it.
    factory : callable or str
        What a config section calls, or its place.
    summary : str
        Of a command, its line of help.
    """

    kind: str
    name: str
    owner: str
    factory: Callable[..., Any] | str
    summary: str = ""

    @property
    def command(self) -> str:
        """Of a command, what the user calls it: ``new-plugin`` of ``disambig.new_plugin.v1``."""
        return self.name.split(".")[-2].replace("_", "-")

    def check(self) -> None:
        """Refuse what cannot lie on a shelf.

        Raises
        ------
        UserError
            D004 for what is no registry name, D011 for a factory that is neither callable nor a place; D016
            and D017 for what is no name of a command, and for one without a line of help.
        """
        if not _NAME.fullmatch(self.name):
            raise UserError("D004", name=self.name)
        if self.kind == COMMANDS:
            self._check_command()
        is_place = isinstance(self.factory, str) and _PLACE.fullmatch(self.factory)
        if not is_place and not callable(self.factory):
            raise UserError("D011", name=self.name, factory=self.factory)

    def _check_command(self) -> None:
        if not _COMMAND.fullmatch(self.name):
            raise UserError("D016", name=self.name)
        said = self.summary if isinstance(self.summary, str) else ""
        if not said.strip() or said != " ".join(said.split()):
            raise UserError("D017", name=self.name, summary=self.summary)

    def load(self) -> Callable[..., Any]:
        """Return the factory, imported now if it was not yet.

        Raises
        ------
        UserError
            D007, whatever the import raises.
        """
        if not isinstance(self.factory, str):
            return self.factory
        module, _, name = self.factory.partition(":")
        try:
            factory = attrgetter(name)(import_module(module))
            if not callable(factory):
                raise TypeError(f"{self.factory} is no class or function but {type(factory).__name__}")
        except (Exception, SystemExit) as problem:  # whatever a plugin does wrong must not take the tool down
            said = f"{type(problem).__name__}: {problem}"
            raise UserError(
                "D007", kind=self.kind[:-1], name=self.name, plugin=self.owner, problem=said
            ) from problem
        return factory


def put(offered: Iterable[Part]) -> None:
    """Lay parts on the shelves: all of them or, where one is refused, none.

    Raises
    ------
    UserError
        D003 for a name that is taken: who comes later loses. D004 and D011 as `Part.check` says.
    """
    new: dict[tuple[str, str], Part] = {}
    for part in offered:
        part.check()
        first = new.get((part.kind, part.name)) or _shelves[part.kind].get(part.name)
        if first is not None:
            raise UserError("D003", kind=part.kind[:-1], name=part.name, first=first.owner, second=part.owner)
        new[part.kind, part.name] = part
    for (kind, name), part in new.items():
        _shelves[kind][name] = part


def shelf(kind: str) -> dict[str, Part]:
    """Return a copy of what lies on the shelf `kind` now."""
    return dict(_shelves[kind])


def forget() -> None:
    """Clear every shelf (before plugins are loaded anew)."""
    for parts in _shelves.values():
        parts.clear()
