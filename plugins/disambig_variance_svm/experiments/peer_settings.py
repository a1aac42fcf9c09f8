"""What the file named by ``DISAMBIG_PEERS`` says, checked before the long work; `peers` shows its form."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from disambig.api import Group, UserError, Words, load_model, nearest_first
from disambig.api.counts import open_table
from disambig.api.judges import Flags

from ..peers.kenlm import KenLM

SETTINGS = "DISAMBIG_PEERS"
TABLES = ("counts", "ratio")


class _Unusable(Exception):
    """What is wrong, in words."""


def read_settings(decided: Mapping[str, Sequence[Group]], systems: Sequence[str]) -> Mapping[str, Any]:
    """Return what the file says; nothing where the variable is not set.

    Parameters
    ----------
    decided : mapping of str to sequence of Group
        The tasks that models can be named for, and the groups that each is judged on.
    systems : sequence of str
        Names that are taken.

    Raises
    ------
    UserError
        D743 for the first thing that cannot be used: a key, a type, a file, a model of other candidates.
    """
    path = os.environ.get(SETTINGS)
    if not path:
        return {}
    try:
        said = json.loads(Path(path).read_text(encoding="utf8"))
        check(said, decided, systems)
    except (OSError, ValueError, RecursionError, _Unusable) as error:
        raise UserError("D743", path=path, problem=str(error)) from error
    return dict(said)


def check(said: Any, decided: Mapping[str, Sequence[Group]], systems: Sequence[str]) -> None:
    """Look at all that is said, what is quick before what is slow."""
    _object("it", said)
    _known("key", said, (*TABLES, "kenlm", "models"))
    language_models, models = said.get("kenlm", {}), said.get("models", {})
    _object("kenlm", language_models)
    _object("models", models)
    _known("task", models, decided)
    for task, of_task in models.items():
        _object(f"models: {task}", of_task)
        for name in (*language_models, *of_task):
            if name in systems or (name in language_models and name in of_task):
                raise _Unusable(f"two systems are called {name!r}")
    for key in TABLES:
        if key in said:
            _tried(key, said[key], lambda place: open_table(place).require(Words.name))
    for name, place in language_models.items():
        _tried(f"kenlm: {name}", place, lambda place: KenLM(path=place).model)
    for task, of_task in models.items():
        for name, place in of_task.items():
            model = _tried(f"models: {task}: {name}", place, load_model)
            _check_model(f"models: {task}: {name}", model, decided[task])


def _object(what: str, said: Any) -> None:
    if not isinstance(said, dict):
        raise _Unusable(f"{what} is {said!r}, not an object {{...}} with names")


def _known(kind: str, said: Iterable[str], known: Iterable[str]) -> None:
    for name in said:
        if name not in known:
            raise _Unusable(f"no {kind} is called {name!r}: there are {nearest_first(name, known)}")


def _tried(what: str, place: Any, opened: Callable[[str], Any]) -> Any:
    if not isinstance(place, str):
        raise _Unusable(f"{what} is {place!r}, not a name or path in quotes")
    try:
        return opened(place)
    except UserError as error:
        raise _Unusable(f"{what}: {error}") from error


def _check_model(what: str, model: Any, groups: Sequence[Group]) -> None:
    """Refuse a model that flags nothing, or would be asked about other words or candidates than its own."""
    if model.tokenisation.name != Words.name:
        raise _Unusable(f"{what}: it reads {model.tokenisation.name}, not {Words.name}")
    if not isinstance(model.judge, Flags):
        raise _Unusable(f"{what}: it flags no words")
    own = {group.name: set(group.candidates) for group in model.task.groups}
    for group in groups:
        if not own.get(group.name, set()).issuperset(group.candidates):
            raise _Unusable(f"{what}: its task {model.task.name} does not decide {_said(group)}")


def _said(group: Group) -> str:
    shown = ", ".join(group.candidates[:4]) + (", ..." if len(group.candidates) > 4 else "")
    return f"{group.name!r} between {shown}"
