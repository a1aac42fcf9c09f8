"""The best of lists of candidates, by a model; lists come from a file, or from a program by columns."""

from __future__ import annotations

from disambig.data.decisions import Decisions
from disambig.data.lists import CandidateLists
from disambig.errors import UserError
from disambig.fields import decides
from disambig.formats.nbest.columns import instances_of
from disambig.model.model import Model


def check_lists(model: Model) -> None:
    """Raise D336 for a model that does not decide between candidates of lists."""
    if decides(model.task).where != "items":
        raise UserError("D336", model=model.name, task=model.task.name)


def decide_lists(model: Model, lists: CandidateLists) -> Decisions:
    """Return a model's decision for each list; ``scores`` has one number a candidate, ``chosen`` the best.

    Costs that lists know are not looked at.

    Raises
    ------
    UserError
        D336 for a model that does not decide between candidates of lists.
    """
    check_lists(model)
    return model.decide_at(instances_of(lists).unseen(), model.tokenisation([]))
