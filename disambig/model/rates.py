"""The rate of false flags of each model, of what a user asks for: one number for all, one a task, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from disambig.errors import UserError
from disambig.judges.budget import share
from disambig.judges.operating import checked
from disambig.model.model import Model
from disambig.types import Flags, KnowsGains

Asked = float | Mapping[str, float] | None
"""Flags per 1,000 correct words: of all models together, or of some tasks."""


def rates_of(models: Sequence[Model], asked: Asked) -> dict[str, float]:
    """Return the rate of each task that shall not have its model's own.

    Parameters
    ----------
    models : sequence of Model
    asked : float or mapping from task to float, optional
        One number is shared by all the models that flag, so that together they find as many mistakes as
        they can (`disambig.judges.budget`); a model alone gets all of it.

    Raises
    ------
    UserError
        D401 for an impossible rate, D950 for one of a task that no model flags.
    """
    if asked is None:
        return {}
    flagging = [model for model in models if isinstance(model.judge, Flags)]
    tasks = [model.task.name for model in flagging]
    if isinstance(asked, Mapping):
        for task, rate in asked.items():
            checked(rate)
            if task not in tasks:
                raise UserError("D950", task=task, names=", ".join(sorted(tasks)) or "none")
        return {task: float(rate) for task, rate in asked.items()}
    judges = [model.judge for model in flagging]
    curves = [judge.gains() if isinstance(judge, KnowsGains) else None for judge in judges]
    return dict(zip(tasks, share(curves, checked(float(asked))), strict=True))
