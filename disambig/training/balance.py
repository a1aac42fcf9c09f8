"""Examples where most places are empty: learned from as many of them as of the others, put right afterwards.

A text has far more places without a word than with one of a task's words. A learner that sees them at
their rate sees few of the words. So it gets as many empty places as words, and the zero candidate's
score is then moved by the constant that makes most decisions right on development text at the true rate.

This is for groups, whose candidates have weights of their own. Lists of each instance's own are learned from
at their rate, those with no word in them too: all candidates share their weights, of which empty places tell
as much as words do, and none is there to be moved afterwards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.groups import Group
from disambig.model.linear import LinearScorer
from disambig.types import Scorer

ZERO = ""


def balanced(
    rows: NDArray[np.int64],
    observed: NDArray[np.int32],
    group: Group,
    *,
    most: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return a sample of at most `most` rows in which empty places are no more than the others.

    Parameters
    ----------
    rows : array of int64, shape (n,)
        All instances of the group.
    observed : array of int32, shape (n,)
        What stands at each.
    """
    empty = observed == group.candidates.index(ZERO)
    others, empties = rows[~empty], rows[empty]
    room = max(most // 2, most - len(empties))
    if len(others) > room:
        others = rng.choice(others, room, replace=False)
    n = min(len(empties), max(len(others), 1), most - len(others))
    return np.sort(np.concatenate([others, rng.choice(empties, n, replace=False)]))


def bias_column(columns: Columns, group: Group) -> int | None:
    """Return the column that adds to the zero candidate's score whatever the place; None without one."""
    if ZERO not in group.candidates or "bias" not in columns.group_names:
        return None
    bias = columns.groups == columns.group_names.index("bias")
    found = np.flatnonzero(bias & (columns.labels == group.candidates.index(ZERO)))
    return int(found[0]) if len(found) else None


def restored(
    scorer: LinearScorer, column: int, scores: NDArray[np.float64], gold: NDArray[np.int32], group: Group
) -> tuple[Scorer, float]:
    """Return a scorer whose zero candidate wins as often as is right, and the constant that was added.

    Parameters
    ----------
    column : int
        Of the zero candidate's bias, whose value is one everywhere.
    scores : array of float64, shape (n, K)
        Of development instances at their true rate.
    gold : array of int32, shape (n,)
    """
    zero = group.candidates.index(ZERO)
    rivals = np.delete(np.arange(scores.shape[1]), zero)
    best = rivals[scores[:, rivals].argmax(axis=1)]
    needed = scores[np.arange(len(scores)), best] - scores[:, zero]
    order = np.argsort(needed, kind="stable")
    # right answers where the first i places, in the order of what they need, are left empty
    gained = np.concatenate([[0], np.cumsum((gold == zero)[order])])
    kept = np.concatenate([[0], np.cumsum((gold == best)[order])])
    right = gained + kept[-1] - kept
    ordered = needed[order]
    ends = np.concatenate([[ordered[0] - 1.0], ordered, [ordered[-1] + 1.0]])
    middles = (ends[:-1] + ends[1:]) / 2
    possible = ends[:-1] < ends[1:]  # places that need the same are decided alike
    top = np.flatnonzero(possible & (right == right[possible].max()))
    shift = float(middles[top[np.abs(middles[top]).argmin()]])
    weights = scorer.weights.copy()
    weights[column] += shift
    return replace(scorer, weights=weights), shift
