"""What plugins registered, asked for by kind and versioned name; plugins are loaded when it is first asked.

For configs the shelves are catalogue registries under confection, the libraries behind spaCy's own configs:
a section asks for what lies there by ``@disambig_learners = "variance_svm.VarianceSVM.v1"``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from disambig.errors import UserError, nearest_first
from disambig.plugins import load_plugins
from disambig.shelves import KINDS as KINDS
from disambig.shelves import Part, shelf

_log = logging.getLogger(__name__)


def get(kind: str, name: str) -> Callable[..., Any]:
    """Return the factory registered as `name`.

    Raises
    ------
    UserError
        D001, with the true list of names, nearest first; D007 where it cannot be imported.
    """
    known = parts(kind)
    if name not in known:
        raise UserError("D001", kind=kind[:-1], name=name, names=nearest_first(name, known))
    return known[name].load()


def parts(kind: str) -> dict[str, Part]:
    """Return the parts of a kind by name; nothing of them is imported."""
    load_plugins()
    return shelf(kind)


def everything(kind: str) -> dict[str, Callable[..., Any]]:
    """Return every factory of a kind; one that cannot be imported is left out, with a warning."""
    found = {}
    for name, part in parts(kind).items():
        try:
            found[name] = part.load()
        except UserError as problem:
            _log.warning("%s", problem)
    return found


def confection_registry(wanted: Iterable[tuple[str, str]]) -> Any:
    """Return a confection registry, which builds objects from config sections, of parts (kind, name)."""
    import catalogue
    import confection

    registries = {kind: catalogue.Registry(("disambig", kind), entry_points=False) for kind in KINDS}
    for kind, name in wanted:
        registries[kind].register(name, func=get(kind, name))
    shelves = {f"disambig_{kind}": registry for kind, registry in registries.items()}
    return type("Shelves", (confection.registry,), shelves)
