"""Check that a decision rule fits its task, and choose the default rule of a task."""

from __future__ import annotations

from disambig.errors import UserError
from disambig.types import Between, DecisionRule, Task, decides, judged_between, learns_mistakes

USUAL: dict[Between, str] = {
    "words": "disambig.Corrections.v1",
    "labels": "disambig.Labels.v1",
    "own": "disambig.Corrections.v1",
}
"""Default decision rules by the kind of candidates, for tasks in a text."""
OF_MISTAKES = "disambig.Mistakes.v1"
"""Default rule of a correction task if there is an error corpus."""
OF_ITEMS = "disambig.BestOfList.v1"
"""Default rule of a task without a text, in which there is nothing to correct."""
WHAT: dict[Between, str] = {
    "words": "the words of a group",
    "labels": "labels",
    "own": "candidates of each instance",
}


def default_rule_config(task: Task, *, mistakes: bool = False) -> dict[str, str]:
    """Return the config section of the default decision rule of a task.

    Parameters
    ----------
    mistakes : bool
        Whether there is an error corpus to train on.
    """
    if mistakes and is_correction_task(task):
        return {"@disambig_judges": OF_MISTAKES}
    what = decides(task)
    items = what.where == "items" and what.between == "own"
    return {"@disambig_judges": OF_ITEMS if items else USUAL[what.between]}


def is_correction_task(task: Task) -> bool:
    """Return True if a task decides between words of a text, and so can correct mistakes."""
    what = decides(task)
    return what.where != "items" and what.between != "labels"


def check_decision_rule(judge: DecisionRule, task: Task) -> None:
    """Check that a decision rule supports a task.

    Raises
    ------
    UserError
        D422 if it does not.
    """
    supported, seen = judged_between(judge), decides(task).between
    if seen not in supported:
        raise UserError(
            "D422",
            judge=type(judge).__name__,
            known=" or ".join(WHAT[entry] for entry in supported),
            task=task.name,
            seen=WHAT[seen],
        )


def check_error_corpus(judge: DecisionRule, task: Task) -> None:
    """Check that an error corpus is of use for a task and its decision rule.

    Raises
    ------
    UserError
        D427 for a task that does not correct words, D429 for a rule that does not learn from mistakes.
    """
    if not is_correction_task(task):
        raise UserError("D427", task=task.name, seen=WHAT[decides(task).between])
    if not learns_mistakes(judge):
        raise UserError("D429", judge=type(judge).__name__)
