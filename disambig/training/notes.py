"""What is to be said of examples and of what was learned from them: lines for the card and for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.fields import metric
from disambig.measures.intervals import wilson
from disambig.plural import many
from disambig.training.marking import Marked
from disambig.types import Scorer, Task

MOST_NOTES = 3
"""Notes of one kind: of hundreds of groups nobody reads more."""
FEW = 100
"""Examples below which a note says that they are few."""

ON_FITTED = "on the scores that calibration was fitted to"
"""Stands in the note on an accuracy that flatters: not for those who have a cross-validated one."""


def of_examples(marked: Marked) -> list[str]:
    """Say which examples were left out and why, and whether there are few."""
    notes = []
    if marked.problems:
        notes.append(f"not used: {_shortened(marked.problems, 3, '; ')}")
    n, different = len(marked.labelled), len({(e.text, e.start, e.end, e.word) for e in marked.labelled})
    if 2 * different < n:
        notes.append(
            f"only {different:,} of {many(n, 'labelled example')} differ: equal texts are one document"
        )
    if len(marked.documents) < FEW:
        n = len(marked.documents)
        few = "is little" if n == 1 else "are few"
        notes.append(f"{many(n, 'labelled example')} {few}: do not rely on this model yet")
    return notes


def accuracy(hits: NDArray[np.bool_], n_folds: int) -> str:
    """Say how many choices were right on the examples themselves."""
    n, n_right = len(hits), int(hits.sum())
    if n_folds < 2 and not n_right:
        return f"{many(n, 'labelled example')} of one document: how good the model is cannot be said"
    low, high = wilson(n_right, n)
    return (
        f"{many(n, 'labelled example')}: accuracy {n_right / n:.1%} {ON_FITTED} (less on new text), "
        f"95 % interval {low:.1%} to {high:.1%}" + (": more examples are needed" if high - low > 0.1 else "")
    )


def rare(
    task: Task, gold: Sequence[NDArray[np.int32]], scorers: Sequence[Scorer | None], n_folds: int
) -> list[str]:
    """Say what had too few examples: of a group to learn, of a label to be in every fold, or one label."""
    unlearned, rarer, single = [], [], []
    for group, right, scorer in zip(task.groups, gold, scorers, strict=True):
        if not group.learned:
            continue
        if len(group.candidates) == 1:
            single.append(f"{group.name}: one label only ({group.candidates[0]}): it is always given")
            continue
        counts = np.bincount(right, minlength=len(group.candidates))
        rare = [
            f"{name!r} ({n})"
            for name, n in zip(group.candidates, counts.tolist(), strict=True)
            if n < n_folds
        ]
        if scorer is None:
            few = "documents" if (counts > 0).sum() > 1 and len(right) >= 2 * n_folds else "examples"
            unlearned.append(f"{group.name}: too few {few} to learn from, give more of each label")
        elif rare:
            rarer.append(f"{group.name}: fewer examples than folds of {_shortened(rare, 10)}")
    return [*first(single), *first(unlearned), *first(rarer)]


def no_better(
    task: Task,
    hits: Sequence[NDArray[np.bool_]],
    right: Sequence[NDArray[np.bool_]],
    scorers: Sequence[Scorer | None],
) -> list[str]:
    """Say which groups learned nothing that shows on examples they did not see."""
    if metric(task)[0] != "accuracy":
        return []
    notes = []
    for group, hit, candidates, scorer in zip(task.groups, hits, right, scorers, strict=True):
        often = candidates.sum(axis=0)
        if scorer is not None and hit.sum() <= often.max():
            label = group.candidates[int(often.argmax())]
            notes.append(f"{group.name}: in cross-validation no better than {label!r} every time")
    return first(notes)


def alternatives(task: Task, found: Sequence[tuple[float, float] | None]) -> list[str]:
    """Say of which groups a cheap alternative was far better (see `disambig.training.alternative`)."""
    return first(
        [
            f"{group.name}: in cross-validation the scores are right in {each[0]:.1%}, those of a plain "
            f"linear SVM in {each[1]:.1%}: change the learner's settings, first of all its regularisation"
            for group, each in zip(task.groups, found, strict=True)
            if each is not None
        ]
    )


def first(notes: list[str]) -> list[str]:
    """Return some notes of one kind, the last of which says how many more groups there are."""
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else [*notes[:MOST_NOTES], f"... and {many(more, 'more group')} like these"]


def _shortened(names: list[str], most: int, between: str = ", ") -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return between.join(names[:most]) + more
