"""What a task found, held against its contract: a plugin's mistake is named before anything learns."""

from __future__ import annotations

import numpy as np

from disambig.data.instances import Instances
from disambig.errors import UserError, broken
from disambig.text.view import TokenView
from disambig.types import HasExamples, Task

_COLUMNS = ("positions", "lengths", "groups", "observed")


def instances_of(task: Task, view: TokenView) -> Instances:
    """Return the decisions that a task takes in a view, checked.

    Raises
    ------
    UserError
        D414 where it cannot be asked, or gives columns that are no whole numbers or of different lengths.
    """
    if not callable(getattr(task, "instances", None)):
        raise _fault(task, "it has no method instances", "a task")
    return _checked(task, task.instances(view), "instances")


def examples_of(task: Task, view: TokenView) -> Instances:
    """Return the places of a view that a task is learned from, checked; by default those that it decides.

    Raises
    ------
    UserError
        D414.
    """
    if isinstance(task, HasExamples) and callable(task.examples):
        return _checked(task, task.examples(view), "examples")
    return instances_of(task, view)


def _checked(task: Task, found: Instances, name_of_method: str) -> Instances:
    if not isinstance(found, Instances):
        raise _fault(task, f"{name_of_method} returned {type(found).__name__}", "Instances")
    n = len(found)
    for name in _COLUMNS:
        column = np.asarray(getattr(found, name))
        if column.shape != (n,) or column.dtype.kind not in "iu":
            seen = f"{name} is of {column.dtype} and shape {column.shape}"
            raise _fault(task, seen, f"whole numbers of shape ({n},): one an instance")
    if n and not (found.groups.min() >= 0 and found.groups.max() < len(task.groups)):
        seen = f"an instance is of group {int(found.groups.max())}, with {len(task.groups)} in groups"
        raise _fault(task, seen, "an index into groups")
    return found


def _fault(task: Task, seen: str, wanted: str) -> UserError:
    return broken(f"the task {type(task).__name__}", seen, wanted)
