"""Modules whose names are imported on first use, and are typed all the same.

Such a module imports its names under ``if TYPE_CHECKING:``, where type checkers and editors find them; at
run time the same lines, read as text, say where a name comes from. So they are written once.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

Getter = Callable[[str], Any]


def lazy_names(
    module: str, otherwise: Getter | None = None
) -> tuple[Getter, Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a module that is being imported.

    Parameters
    ----------
    module : str
        Its name. Under ``if TYPE_CHECKING:`` stand ``from HOME import NAME as NAME`` and, where a name is
        another at home, ``from HOME import OTHER as _NAME`` and ``NAME = _NAME``; nothing else.
    otherwise : callable, optional
        Asked for names that do not stand there; it raises AttributeError, too.
    """
    homes = _homes(_source(module))
    names = sorted(name for name in homes if not name.startswith("_"))

    def get(name: str) -> Any:
        if name.startswith("_") or name not in homes:
            if otherwise is not None and not name.startswith("_"):
                return otherwise(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, known_as = homes[name]
        try:
            return getattr(import_module(home), known_as)
        except AttributeError:
            return import_module(f"{home}.{known_as}")  # a module is handed out whole

    return get, lambda: names, names


def _source(module: str) -> str:
    spec = sys.modules[module].__spec__
    source = getattr(spec.loader, "get_source", lambda _: None)(module) if spec is not None else None
    if source is None:
        raise ImportError(
            f"{module} reads its own source, which is not here: install disambig with its .py files"
        )
    return str(source)


def _homes(source: str) -> dict[str, tuple[str, str]]:
    """Return where each name under ``if TYPE_CHECKING:`` comes from: a module, and its name there."""
    (block,) = (
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    )
    homes: dict[str, tuple[str, str]] = {}
    for node in block.body:
        match node:
            case ast.ImportFrom(module=str(home), names=aliases, level=0):
                homes.update({alias.asname or alias.name: (home, alias.name) for alias in aliases})
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)):
                homes[name] = homes[other]
            case _:
                raise ValueError(f"line {node.lineno}: neither an import nor another name of one")
    return homes
