"""Judges: what makes decisions of scores. Corrections, labels, the best of a list; no features in here."""

from __future__ import annotations

from disambig.fields import decides
from disambig.types import Between, Task

USUAL: dict[Between, str] = {
    "words": "disambig.Corrections.v1",
    "labels": "disambig.Labels.v1",
    "own": "disambig.Corrections.v1",
}
"""The judge of a task that decides between these in a text, where a config names none."""
OF_ITEMS = "disambig.BestOfList.v1"
"""That of a task outside any text: nothing stands there that could be corrected."""


def config_of(task: Task) -> dict[str, str]:
    """Return the config section of the judge that a task has where its config names none."""
    what = decides(task)
    items = what.where == "items" and what.between == "own"
    return {"@disambig_judges": OF_ITEMS if items else USUAL[what.between]}
