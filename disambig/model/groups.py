"""The groups that a model was trained for, as they are saved with it and given back to its task.

A task may have its groups from elsewhere than its config, such as a file, which changes. What the weights
mean does not: the model says itself which candidates it decides, and a task that can takes them from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disambig.data.groups import Group
from disambig.errors import UserError
from disambig.tasks.confusion_sets import confusion_set
from disambig.types import TakesGroups, Task


def said_of(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return groups as plain values."""
    said = []
    for group in groups:
        more = {"variants": [list(one) for one in group.variants], "glosses": list(group.glosses)}
        values = {key: value for key, value in more.items() if value}
        said.append({"name": group.name, "candidates": list(group.candidates), **values})
    return said


def task_of(task: Task, said: Sequence[Any]) -> Task | None:
    """Return the task with the groups that a model says it was trained for; None where it has others.

    Raises
    ------
    LookupError, TypeError
        For what `said_of` did not make.
    """
    if all(isinstance(one, str) for one in said):
        return _of_names(task, said)
    groups = tuple(_group(one) for one in said)
    if isinstance(task, TakesGroups):
        return task.of_groups(groups)
    return task if _meaning(task.groups) == _meaning(groups) else None


def _of_names(task: Task, names: Sequence[str]) -> Task | None:
    """Return the task with groups of which a model says the names only, as all did that are of 0.1.0.

    A confusion set is named by its candidates.
    """
    if [group.name for group in task.groups] == list(names):
        return task
    if not isinstance(task, TakesGroups):
        return None
    try:
        return task.of_groups(tuple(confusion_set(name) for name in names))
    except UserError:
        return None


def _group(said: Any) -> Group:
    name, candidates = said["name"], tuple(said["candidates"])
    variants = tuple(tuple(one) for one in said.get("variants", ()))
    glosses = tuple(said.get("glosses", ()))
    if not all(isinstance(one, str) for one in (name, *candidates, *sum(variants, ()), *glosses)):
        raise TypeError(f"a group of other things than words: {said!r}")
    return Group(name, candidates, variants, glosses)


def _meaning(groups: Sequence[Group]) -> list[tuple[str, tuple[str, ...]]]:
    """Return what the weights of a model are of."""
    return [(group.name, group.candidates) for group in groups]
