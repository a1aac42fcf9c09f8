"""A checker put to the test: what it proposes on mistakes and on clean text, kept for any limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.evaluation.mistakes.edits import Checker, corrects, touches
from disambig.formats.fixes.fix import Clean, Fix

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Limits = Mapping[str, float]
"""Of each task: an edit counts where it is surer. A task without one has no limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Proposed:
    """Edits by columns.

    Attributes
    ----------
    rows : array of int64, shape (m,)
        Which mistake or paragraph an edit is of.
    tasks : array of int64, shape (m,)
        Index among the tasks of the checker.
    sure : array of float64, shape (m,)
    right : array of bool, shape (m,)
        Whether it corrects the mistake.
    """

    rows: Ints
    tasks: Ints
    sure: Floats
    right: Bools

    def above(self, limits: Floats) -> Proposed:
        """Return those that are surer than the limit of their task."""
        kept = self.sure > limits[self.tasks]
        return Proposed(self.rows[kept], self.tasks[kept], self.sure[kept], self.right[kept])


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What a checker proposes.

    Attributes
    ----------
    name : str
        Of the checker.
    tasks : tuple of str
    fixes : sequence of Fix
    clean : sequence of Clean
    on_fixes : Proposed
        Edits that touch the place of a mistake, or correct it.
    on_clean : Proposed
        All edits of the clean paragraphs.
    """

    name: str
    tasks: tuple[str, ...]
    fixes: Sequence[Fix]
    clean: Sequence[Clean]
    on_fixes: Proposed
    on_clean: Proposed

    @classmethod
    def of(cls, checker: Checker, fixes: Sequence[Fix], clean: Sequence[Clean] = ()) -> Trial:
        """Ask a checker once, for all texts together."""
        texts = [*(fix.before for fix in fixes), *(each.text for each in clean)]
        edits = checker.edits(texts)
        number = {task: i for i, task in enumerate(checker.tasks)}
        rows = [
            (i, number[edit.task], edit.sure, right)
            for i, fix in enumerate(fixes)
            for edit in edits[i]
            if (right := corrects(edit, fix)) or touches(edit, fix)
        ]
        flags = [
            (i, number[edit.task], edit.sure, False)
            for i, of_text in enumerate(edits[len(fixes) :])
            for edit in of_text
        ]
        return cls(checker.name, tuple(checker.tasks), fixes, clean, _columns(rows), _columns(flags))

    def at(self, limits: Limits | None = None) -> Found:
        """Return what is found where flags must be surer than the limit of their task."""
        least = np.array([(limits or {}).get(task, -np.inf) for task in self.tasks])
        on_fixes, on_clean = self.on_fixes.above(least), self.on_clean.above(least)
        n = len(self.fixes)
        found, right = np.zeros(n, bool), np.zeros(n, bool)
        found[on_fixes.rows] = True
        right[on_fixes.rows[on_fixes.right]] = True
        shape = len(self.tasks), max(len(self.clean), 1)
        cells = on_clean.tasks * shape[1] + on_clean.rows
        flags = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)[:, : len(self.clean)]
        return Found(found, right, flags)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a checker finds at certain limits.

    Attributes
    ----------
    found, right : arrays of bool, shape (n_fixes,)
        Whether a flag touches the place of each mistake, and whether one corrects it.
    flags : array of int64, shape (n_tasks, n_clean)
        Flags of each task in each clean paragraph.
    """

    found: Bools
    right: Bools
    flags: Ints


def limit_for(trial: Trial, task: str, flags: int) -> float:
    """Return the limit at which a task raises at most so many flags in the clean paragraphs."""
    sure = np.sort(trial.on_clean.sure[trial.on_clean.tasks == trial.tasks.index(task)])[::-1]
    return float(sure[flags]) if flags < len(sure) else -np.inf


def _columns(rows: Sequence[tuple[int, int, float, bool]]) -> Proposed:
    table = np.array(rows, np.float64).reshape(len(rows), 4)
    return Proposed(
        table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2], table[:, 3].astype(bool)
    )
