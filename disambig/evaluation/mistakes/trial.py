"""A checker put to the test: what it proposes on mistakes and on clean text, kept for any limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from disambig.data.trust import pair_of
from disambig.evaluation.mistakes.edits import Checker, Edit, corrects, touches
from disambig.formats.fixes.fix import Clean, Fix
from disambig.model.one_place import ranks, slots_of, standing

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Limits = Mapping[str, float]
"""Of each task: an edit counts where it is surer, and no other that overlaps it is surer still."""


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
    slots : array of int64, shape (2, m)
        What it takes up of its text: see `disambig.model.one_place`.
    there, right : arrays of bool, shape (m,)
        Whether it is at the place of the mistake, and whether it corrects it.
    pairs : array of str, shape (m,)
        The words that it puts in each other's place, see `disambig.data.trust.pair_of`.
    """

    rows: Ints
    tasks: Ints
    sure: Floats
    slots: Ints
    there: Bools
    right: Bools
    pairs: NDArray[np.str_]

    def above(self, limits: Floats, ranks: Ints) -> Proposed:
        """Return those that are surer than the limit of their task and, of those that overlap, the surest."""
        kept = self.take(np.flatnonzero(self.sure > limits[self.tasks]))
        return kept.take(np.unique(standing(kept.rows, kept.slots, kept.sure, ranks[kept.tasks])))

    def take(self, at: Ints) -> Proposed:
        """Return some of the edits."""
        places = self.rows[at], self.tasks[at], self.sure[at], self.slots[:, at]
        return Proposed(*places, self.there[at], self.right[at], self.pairs[at])


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
        All edits of the texts with mistakes.
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
        on_fixes = [
            (i, number[edit.task], edit, (right := corrects(edit, fix)) or touches(edit, fix), right)
            for i, fix in enumerate(fixes)
            for edit in edits[i]
        ]
        on_clean = [
            (i, number[edit.task], edit, False, False)
            for i, of_text in enumerate(edits[len(fixes) :])
            for edit in of_text
        ]
        return cls(
            checker.name,
            tuple(checker.tasks),
            fixes,
            clean,
            _columns(on_fixes, texts),
            _columns(on_clean, texts[len(fixes) :]),
        )

    def without(self, places: Iterable[tuple[int, int, int]]) -> Trial:
        """Return the trial without the edits of clean paragraphs that touch some places.

        Parameters
        ----------
        places : iterable of (paragraph, start, end)
            Mistakes that nobody corrected: what flags them is neither right nor wrong here.
        """
        known = np.array([*places], np.int64).reshape(-1, 3)
        on_clean = self.on_clean
        same = on_clean.rows[:, None] == known[:, 0]
        first, last = on_clean.slots[0][:, None], on_clean.slots[1][:, None]
        touches = same & (first <= 2 * known[:, 2]) & (last >= 2 * known[:, 1])
        return replace(self, on_clean=on_clean.take(np.flatnonzero(~touches.any(axis=1))))

    def at(self, limits: Limits | None = None) -> Found:
        """Return what is found where flags must be surer than the limit of their task.

        A task without a limit has none. Of edits that overlap the surest counts alone.
        """
        least = np.array([(limits or {}).get(task, -np.inf) for task in self.tasks])
        by_name = ranks(self.tasks)
        on_fixes, on_clean = self.on_fixes.above(least, by_name), self.on_clean.above(least, by_name)
        n = len(self.fixes)
        found, right = np.zeros(n, bool), np.zeros(n, bool)
        found[on_fixes.rows[on_fixes.there]] = True
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


def _columns(found: Sequence[tuple[int, int, Edit, bool, bool]], texts: Sequence[str]) -> Proposed:
    """Return edits by columns: each with its row, its task, whether it is there and whether it is right."""
    numbers = np.array([(i, task) for i, task, _, _, _ in found], np.int64).reshape(-1, 2)
    edits = [edit for _, _, edit, _, _ in found]
    places = np.array([(edit.start, edit.end) for edit in edits], np.int64).reshape(-1, 2)
    removes = np.array([edit.new == "" for edit in edits], bool)
    return Proposed(
        numbers[:, 0],
        numbers[:, 1],
        np.array([edit.sure for edit in edits], np.float64),
        slots_of(places[:, 0], places[:, 1], removes),
        np.array([there for _, _, _, there, _ in found], bool),
        np.array([right for _, _, _, _, right in found], bool),
        np.array([pair_of(texts[i][e.start : e.end], e.new or "") for i, _, e, _, _ in found], np.str_),
    )
