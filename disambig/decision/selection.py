"""Check that a decision rule fits its task, and choose the rule if a configuration names none."""

from __future__ import annotations

from disambig.errors import UserError
from disambig.types import Between, DecisionRule, Task, decides, judged_between, learns_mistakes

USUAL: dict[Between, str] = {
    "words": "disambig.Corrections.v1",
    "labels": "disambig.Labels.v1",
    "own": "disambig.Corrections.v1",
}
"""The judge of a task that decides between these in a text, where a config names none."""
OF_MISTAKES = "disambig.Mistakes.v1"
"""That of a task that corrects words, where there are mistakes that people made."""
OF_ITEMS = "disambig.BestOfList.v1"
"""That of a task outside any text: nothing stands there that could be corrected."""
WHAT: dict[Between, str] = {
    "words": "the words of a group",
    "labels": "labels",
    "own": "candidates of each instance's own",
}


def default_rule_config(task: Task, *, mistakes: bool = False) -> dict[str, str]:
    """Return the config section of the judge that a task has where its config names none.

    Parameters
    ----------
    mistakes : bool
        Whether there are mistakes that people made to learn from.
    """
    if mistakes and is_correction_task(task):
        return {"@disambig_judges": OF_MISTAKES}
    what = decides(task)
    items = what.where == "items" and what.between == "own"
    return {"@disambig_judges": OF_ITEMS if items else USUAL[what.between]}


def is_correction_task(task: Task) -> bool:
    """Tell whether a task decides between words of a text: whether there are mistakes that it could mend."""
    what = decides(task)
    return what.where != "items" and what.between != "labels"


def check_decision_rule(judge: DecisionRule, task: Task) -> None:
    """Refuse a judge that is for other tasks.

    Raises
    ------
    UserError
        D422.
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
    """Refuse mistakes that people made where nothing would learn from them.

    Raises
    ------
    UserError
        D427 for a task that corrects no words, D429 for a judge that does not learn from mistakes.
    """
    if not is_correction_task(task):
        raise UserError("D427", task=task.name, seen=WHAT[decides(task).between])
    if not learns_mistakes(judge):
        raise UserError("D429", judge=type(judge).__name__)
