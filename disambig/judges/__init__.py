"""Judges: what makes decisions of scores. Corrections, labels, the best of a list; no features in here."""

from __future__ import annotations

from disambig.errors import UserError
from disambig.fields import decides, judged_between
from disambig.types import Between, Judge, Task

USUAL: dict[Between, str] = {
    "words": "disambig.Corrections.v1",
    "labels": "disambig.Labels.v1",
    "own": "disambig.Corrections.v1",
}
"""The judge of a task that decides between these in a text, where a config names none."""
OF_ITEMS = "disambig.BestOfList.v1"
"""That of a task outside any text: nothing stands there that could be corrected."""
WHAT: dict[Between, str] = {
    "words": "the words of a group",
    "labels": "labels",
    "own": "candidates of each instance's own",
}


def config_of(task: Task) -> dict[str, str]:
    """Return the config section of the judge that a task has where its config names none."""
    what = decides(task)
    items = what.where == "items" and what.between == "own"
    return {"@disambig_judges": OF_ITEMS if items else USUAL[what.between]}


def check_judge(judge: Judge, task: Task) -> None:
    """Refuse a judge that is for other tasks.

    Raises
    ------
    UserError
        D422.
    """
    known, seen = judged_between(judge), decides(task).between
    if seen not in known:
        raise UserError(
            "D422",
            judge=type(judge).__name__,
            known=" or ".join(WHAT[each] for each in known),
            task=task.name,
            seen=WHAT[seen],
        )
