"""Lazy modules: names are imported on first use, but known to type checkers.

Such a module imports its names under ``if TYPE_CHECKING:``, for type checkers and editors. At run time the
same lines are parsed to find out where each name comes from, so that they are written only once. Deprecated
names still work in this release and warn.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

Getter = Callable[[str], Any]

RENAMED: dict[str, dict[str, str]] = {
    "disambig.api": {"Finder": "CandidateFinder"},
    "disambig.api.components": {"Universal": "UniversalTags"},
    "disambig.api.counts": {"columns_of": "ngram_columns"},
    "disambig.api.evaluation": {"Ground": "SharedTestSet", "Judged": "SystemDecisions"},
    "disambig.api.experiments": {
        "Row": "ResultRow",
        "System": "LearningSystem",
        "hits_of": "count_hits",
        "joined": "join_blocks",
    },
    "disambig.api.training": {"Learned": "FittedExtractor", "mark": "label_instances"},
}
"""Names of version 0.1.0 that have changed, by the module of the API that has them now."""


def lazy_names(
    module: str, otherwise: Getter | None = None
) -> tuple[Getter, Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a module that is being imported.

    Parameters
    ----------
    module : str
        Its name. Its block ``if TYPE_CHECKING:`` contains only ``from HOME import NAME as NAME`` and, for a
        name that differs from that in its module, ``from HOME import OTHER as _NAME`` and ``NAME = _NAME``.
    otherwise : callable, optional
        Called for all names but these and the old names in `RENAMED`; must raise AttributeError for unknown
        ones.
    """
    homes, renamed = parse_lazy_names(_source(module)), RENAMED.get(module, {})
    names = sorted(name for name in homes if not name.startswith("_"))

    def get(name: str) -> Any:
        if name in renamed:
            new = renamed[name]
            warnings.warn(f"{module}.{name} is now called {new}", DeprecationWarning, stacklevel=2)
            return get(new)
        if name.startswith("_") or name not in homes:
            if otherwise is not None and not name.startswith("_"):
                return otherwise(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, known_as = homes[name]
        try:
            return getattr(import_module(home), known_as)
        except AttributeError:
            return import_module(f"{home}.{known_as}")  # the name is a submodule

    return get, lambda: names, names


def _source(module: str) -> str:
    spec = sys.modules[module].__spec__
    source = getattr(spec.loader, "get_source", lambda _: None)(module) if spec is not None else None
    if source is None:
        raise ImportError(
            f"{module} needs its own source, which is missing: install disambig with its .py files"
        )
    return str(source)


def parse_lazy_names(source: str) -> dict[str, tuple[str, str]]:
    """Return the module, and the name in it, of each name under ``if TYPE_CHECKING:``."""
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
