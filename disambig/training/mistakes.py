"""Mistakes that people made as examples for a judge, and right words of the text that they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.formats.fixes.fix import Clean, Fix
from disambig.tasks.contract import instances_of
from disambig.text.documents import view_of_texts
from disambig.text.view import Tokenisation, TokenView
from disambig.training.accounting import account, line
from disambig.training.examples import Examples
from disambig.types import Task

TIER = 1
"""Mistakes of higher tiers are wording or taste: nothing is learned from them."""
UNSURE, ELSEWHERE, OTHER, SHIELDED = (
    f"of a tier above {TIER}",
    "nothing is decided there",
    "decided, but not between these words",
    "protected text, such as code, a quotation or a name",
)
"""Why a mistake is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """What people wrote.

    Attributes
    ----------
    wrong : Examples
        Places of mistakes; what was meant is observed.
    written : array of int32, shape (n,)
        The candidate that was written there.
    right : Examples
        Places without a mistake.
    account : dict
        How many mistakes are used, and why the others are left out (see `disambig.training.accounting`).
    n_mistakes : int
        All that were given, used or not.
    """

    wrong: Examples
    written: NDArray[np.int32]
    right: Examples
    account: dict[str, Any]
    n_mistakes: int

    @classmethod
    def of(
        cls, task: Task, tokenisation: Tokenisation, mistakes: Sequence[Fix], clean: Sequence[Clean]
    ) -> People:
        """Find what a task decides among some mistakes and in clean paragraphs.

        Raises
        ------
        UserError
            D426 for mistakes without clean paragraphs or the reverse, D428 where no mistake, or nothing in
            the clean paragraphs, is decided.
        """
        if not (mistakes and clean):
            raise UserError("D426", problem=f"{'clean' if mistakes else 'fixes'} is missing")
        sure = [fix for fix in mistakes if fix.tier <= TIER]
        view = view_of_texts([fix.before for fix in sure], tokenisation, protected=True)
        found = instances_of(task, view)
        at, meant, reasons = _places(task, view, found, sure)
        problems = [f"{fix.where}: {reason}" for fix, reason in zip(sure, reasons, strict=True) if reason]
        problems += [f"{fix.where}: {UNSURE}" for fix in mistakes if fix.tier > TIER]
        said = account(len(mistakes) - len(problems), problems, "mistakes")
        if not len(at):
            raise UserError("D428", task=task.name, problem=line(said))
        places = found.take(at)
        paragraphs = view_of_texts([each.text for each in clean], tokenisation, protected=True)
        right = instances_of(task, paragraphs)
        right = right.take((right.observed >= 0) & ~_shielded(paragraphs, right))
        if not len(right):
            raise UserError("D428", task=task.name, problem="it decides nothing in the clean paragraphs")
        return cls(
            Examples.of(view, replace(places, observed=meant)),
            places.observed,
            Examples.of(paragraphs, right),
            said,
            len(mistakes),
        )


def _shielded(view: TokenView, instances: Instances) -> NDArray[np.bool_]:
    """Return at which instances something is protected."""
    shielded = view.layers["protected"].astype(bool)
    found: NDArray[np.bool_] = (
        shielded[instances.positions] | shielded[instances.positions + instances.lengths - 1]
    )
    return found


def _places(
    task: Task, view: TokenView, instances: Instances, mistakes: Sequence[Fix]
) -> tuple[NDArray[np.int64], NDArray[np.int32], list[str]]:
    """Return the instances at which a mistake was made between their candidates, and what was meant.

    And why nothing is to be learned from each mistake; "" where something is.
    """
    starts = view.starts[instances.positions]
    last = instances.positions + instances.lengths - 1
    ends = np.where(instances.lengths > 0, view.ends[last], starts)
    which = view.document_of(instances.positions)
    wanted = np.array([(fix.start, fix.end) for fix in mistakes], np.int64).reshape(-1, 2)
    near = np.flatnonzero((starts == wanted[which, 0]) & (ends == wanted[which, 1]))
    shielded = _shielded(view, instances)
    at, meant = [], []
    reasons = [ELSEWHERE] * len(mistakes)
    for i in near.tolist():
        number, here = int(which[i]), int(instances.observed[i])
        fix, candidates = mistakes[number], _candidates(task, instances, i)
        old, new = _plain(fix.old), _plain(fix.new)
        if here < 0 or candidates[here] != old or new not in candidates or new == old:
            reasons[number] = OTHER if reasons[number] == ELSEWHERE else reasons[number]
        elif shielded[i]:
            reasons[number] = SHIELDED
        else:
            reasons[number] = ""
            at.append(i)
            meant.append(candidates.index(new))
    return np.array(at, np.int64), np.array(meant, np.int32), reasons


def _candidates(task: Task, instances: Instances, i: int) -> tuple[str, ...]:
    if instances.own is not None:
        return tuple(instances.own.of_instance(i))
    return task.groups[int(instances.groups[i])].candidates


def _plain(words: str) -> str:
    return " ".join(words.lower().replace("\u2019", "'").split())
