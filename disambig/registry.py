"""Shelves of versioned names, filled only through the hooks.

The shelves are catalogue registries under confection, the libraries behind spaCy's own configs:
a section asks for what lies there by ``@disambig_learners = "variance_svm.VarianceSVM.v1"``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from disambig.errors import UserError, nearest_first

KINDS = ("tokenisations", "tasks", "extractors", "kernels", "learners", "experiments")
_NAME = re.compile(r"([A-Za-z_]\w*\.)+v[1-9]\d*")
_shelves: dict[str, dict[str, Callable[..., Any]]] = {kind: {} for kind in KINDS}
_owners: dict[tuple[str, str], str] = {}


def put(offered: Iterable[tuple[str, str, Callable[..., Any]]], *, owner: str) -> None:
    """Lay ``(kind, name, factory)`` on the shelves: all of them or, where one is refused, none.

    Parameters
    ----------
    owner : str
        The plugin that brings them.

    Raises
    ------
    UserError
        D003 for a name that is taken, D004 for what is no registry name.
    """
    new: dict[tuple[str, str], Callable[..., Any]] = {}
    for kind, name, factory in offered:
        if not _NAME.fullmatch(name):
            raise UserError("D004", name=name)
        first = owner if (kind, name) in new else _owners.get((kind, name))
        if first is not None:
            raise UserError("D003", kind=kind[:-1], name=name, first=first, second=owner)
        new[kind, name] = factory
    for (kind, name), factory in new.items():
        _shelves[kind][name] = factory
        _owners[kind, name] = owner


def get(kind: str, name: str) -> Callable[..., Any]:
    """Return the factory registered as `name`, loading the plugins first if need be.

    Raises
    ------
    UserError
        D001, with the true list of names, nearest first.
    """
    shelf = everything(kind)
    if name not in shelf:
        raise UserError("D001", kind=kind[:-1], name=name, names=nearest_first(name, shelf))
    return shelf[name]


def everything(kind: str) -> dict[str, Callable[..., Any]]:
    """Return a copy of the shelf `kind`, plugins loaded."""
    from disambig.plugins import load_plugins

    load_plugins()
    return dict(_shelves[kind])


def forget() -> None:
    """Clear every shelf (before plugins are loaded anew)."""
    for shelf in _shelves.values():
        shelf.clear()
    _owners.clear()


def confection_registry() -> Any:
    """Return the shelves as a confection registry, which builds objects from config sections."""
    import catalogue
    import confection

    shelves = {}
    for kind in KINDS:
        shelves[f"disambig_{kind}"] = shelf = catalogue.Registry(("disambig", kind), entry_points=False)
        for name, factory in everything(kind).items():
            shelf.register(name, func=factory)
    return type("Shelves", (confection.registry,), shelves)
