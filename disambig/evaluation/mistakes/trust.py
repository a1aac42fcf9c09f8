"""How often flags are right, by how sure they are, in text that has so many mistakes.

Mistakes that people made tell how many are found and rightly corrected; paragraphs that nobody corrected tell
how often right words are flagged. How many of all flags are right depends on how many mistakes there are, so
both are weighed as in a text of a stated density. Mistakes that stand in the paragraphs unseen count against
the checker: what comes out is too low rather than too high.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.trust import PUT_IN, TAKEN_OUT, Point, Trust, kind_of
from disambig.evaluation.mistakes.trial import Limits, Trial
from disambig.measures.intervals import wilson
from disambig.model.one_place import ranks

PER_1000 = 5.0
"""Mistakes in 1,000 words of the text that shares are for: a draft by somebody who writes with some care."""
LEAST_FLAGS = 20
"""Flags that are seen at least of each probability or more."""
LEAST_PAIR = 30
"""Flags that are seen at least of a pair of words that has a curve of its own."""
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
"""How many flags of each of `_KINDS`."""
_KINDS = RIGHT, WRONG, FALSE = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Flags that can be judged, by columns: task, how sure, which of `_KINDS`, which words."""

    tasks: NDArray[np.int64]
    sure: Floats
    kinds: NDArray[np.int64]
    pairs: NDArray[np.str_]

    def take(self, which: NDArray[np.bool_]) -> _Seen:
        return _Seen(self.tasks[which], self.sure[which], self.kinds[which], self.pairs[which])


def measured(trial: Trial, limits: Limits, *, text: str, per_1000: float = PER_1000) -> dict[str, Trust]:
    """Return what a trial tells of each task of which enough is seen.

    Parameters
    ----------
    limits : mapping of str to float
        Of each task: a pair of words has a curve of its own where enough is seen of it above.
    text : str
        What the mistakes and the paragraphs are of, for people.
    per_1000 : float
        Mistakes in 1,000 words of the text that shares are for.
    """
    weights = _weights(trial, per_1000)
    seen = _seen(trial)
    found = {}
    for number, task in enumerate(trial.tasks):
        own = seen.take(seen.tasks == number)
        if len(own.sure) < LEAST_FLAGS or not (own.kinds == RIGHT).any():
            continue
        shown = own.pairs[own.sure > limits.get(task, -np.inf)]
        pairs, counts = np.unique(shown, return_counts=True)
        curves = {
            str(pair): _curve(own.take(own.pairs == pair), weights) for pair in pairs[counts >= LEAST_PAIR]
        }
        kinds = np.array([kind_of(pair) for pair in own.pairs.tolist()])
        for kind in (PUT_IN, TAKEN_OUT):
            if LEAST_FLAGS <= (kinds == kind).sum() < len(kinds):
                curves[kind] = _curve(own.take(kinds == kind), weights)
        found[task] = Trust(task, text, per_1000, _curve(own, weights), curves)
    return found


def share_at(
    trial: Trial, task: str, least: float, *, kind: str = "", per_1000: float = PER_1000
) -> Point | None:
    """Return how many of a task's flags of a probability or more are right; None where there is none.

    Parameters
    ----------
    kind : str
        `PUT_IN` or `TAKEN_OUT` where only these are counted.
    """
    seen = _seen(trial)
    own = seen.take((seen.tasks == trial.tasks.index(task)) & (seen.sure >= least))
    if kind:
        own = own.take(np.array([kind_of(pair) == kind for pair in own.pairs.tolist()], bool))
    counts = np.bincount(own.kinds, minlength=len(_KINDS))
    return _point(least, counts, _weights(trial, per_1000)) if counts.sum() else None


def _weights(trial: Trial, per_1000: float) -> Floats:
    """Return how many flags in 1,000 words one that was seen stands for, by its kind."""
    words = sum(len(each.text.split()) for each in trial.clean)
    of_fix, of_clean = per_1000 / max(len(trial.fixes), 1), 1000 / max(words, 1)
    return np.array([of_fix, of_fix, of_clean])


def _seen(trial: Trial) -> _Seen:
    """Return the flags that can be judged: one a place, at any probability.

    In a text with a mistake those elsewhere are not: nobody knows what else is wrong there.
    """
    none, by_name = np.full(len(trial.tasks), -np.inf), ranks(trial.tasks)
    on_fixes, on_clean = trial.on_fixes.above(none, by_name), trial.on_clean.above(none, by_name)
    there = np.flatnonzero(on_fixes.there)
    return _Seen(
        np.concatenate([on_fixes.tasks[there], on_clean.tasks]),
        np.concatenate([on_fixes.sure[there], on_clean.sure]),
        np.concatenate([np.where(on_fixes.right[there], RIGHT, WRONG), np.full(len(on_clean.rows), FALSE)]),
        np.concatenate([on_fixes.pairs[there], on_clean.pairs]),
    )


def _curve(seen: _Seen, weights: Floats) -> tuple[Point, ...]:
    """Return points of rising probability and share: neighbours that fall are taken together."""
    sures, at = np.unique(-seen.sure, return_inverse=True)
    table = np.zeros((len(sures), len(_KINDS)), np.int64)
    np.add.at(table, (at, seen.kinds), 1)
    blocks: list[tuple[float, Counts]] = []  # least probability and counts, the surest first
    for sure, counts in zip((-sures).tolist(), table, strict=True):
        if blocks and blocks[0][1].sum() < LEAST_FLAGS:
            counts = counts + blocks.pop()[1]
        while blocks and _share(counts, weights) >= _share(blocks[-1][1], weights):
            counts = counts + blocks.pop()[1]
        blocks.append((sure, counts))
    points = []
    total = np.zeros(len(_KINDS), np.int64)
    for least, counts in blocks:
        total = total + counts
        points.append(_point(float(np.floor(1e4 * least) / 1e4), total, weights))
    points[-1] = _point(0.0, total, weights)
    rising: list[Point] = []
    for point in points[::-1]:  # of the few surest flags less is known than of more
        if not rising or point.share > rising[-1].share:
            rising.append(point)
    return tuple(rising)


def _share(counts: Counts, weights: Floats) -> float:
    weighed = counts * weights
    return float(weighed[RIGHT] / weighed.sum())


def _point(least: float, counts: Counts, weights: Floats) -> Point:
    """Return a point; its interval is that of as many flags as would tell as much if all weighed the same.

    One flag more of each side is counted than was seen (Laplace): no share is 0 or 1.
    """
    share = _share(counts + np.array([1, 0, 1]), weights)
    n = float((counts * weights).sum() ** 2 / (counts * weights**2).sum())
    low, high = wilson(share * n, n)
    right, wrong, false = counts.tolist()
    low, high = round(min(low, share), 4), round(max(high, share), 4)
    return Point(least, round(share, 4), low, high, right, wrong, false)
