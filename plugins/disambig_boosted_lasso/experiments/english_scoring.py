"""What systems choose in lists of corrections and of tags, and the figures of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api.experiments import Row

from .english_corrections import Corrections
from .english_learners import chosen

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_HALVINGS = 60
LEFT, RIGHT, FALSE, EQUAL = "edits left", "right", "false", "right, equal false"
WRONG, WHOLE = "wrong tags", "sentences right"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What one system chose in some lists.

    Attributes
    ----------
    cost : array of float64, shape (n_lists,)
        What its choices cost.
    right : array of bool, shape (n_lists,)
        Whether they cost nothing; of corrections, whether the mistake is mended: shape (n_fixes,).
    false : array of int64, shape (n_clean,)
        Changes in each clean paragraph; none of tags.
    equal : array of bool, shape (n_fixes,)
        Of corrections: `right` where changes are held back, or let go, until clean paragraphs have as many
        as the models' own flags make.
    """

    cost: Floats
    right: NDArray[np.bool_]
    false: Ints
    equal: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: list[Choice]) -> Choice:
        """Return what was chosen in all parts; mistakes of a part come one after the other."""
        cost, right, false, equal = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("cost", "right", "false", "equal")
        )
        return cls(cost, right, false, equal)


def corrected(part: Corrections, scores: Floats) -> Choice:
    """Return what scores choose in lists of corrections; of equals the first by the models' log odds."""
    winners = chosen(scores, part.lists.offsets)
    allowed = int(false_changes(part, models_own(part)).sum())
    held = chosen(scores - held_back(part, scores, allowed) * part.changes, part.lists.offsets)
    return _choice(part, winners, held)


def by_default(part: Corrections) -> Choice:
    """Return what the models choose at their own rates of flags."""
    own = models_own(part)
    return _choice(part, own, own)


def as_written(part: Corrections) -> Choice:
    """Return what it is to change nothing."""
    none = chosen(-part.changes.astype(np.float64), part.lists.offsets)
    return _choice(part, none, none)


def cheapest(part: Corrections) -> Choice:
    """Return the best choice that there is."""
    best = chosen(-part.lists.costs.astype(np.float64), part.lists.offsets)
    return _choice(part, best, best)


def models_own(part: Corrections) -> Ints:
    """Return the rows that the models choose at their own rates of flags."""
    return np.asarray(part.lists.offsets[:-1] + part.default, np.int64)


def false_changes(part: Corrections, winners: Ints) -> Ints:
    """Return how many changes each clean paragraph gets."""
    return part.changes[winners[part.n_fixes :]]


def held_back(part: Corrections, scores: Floats, allowed: int) -> float:
    """Return what each change must be better by, the least with `allowed` changes of clean text at most.

    It is found by halving: as it grows, the winners make fewer and fewer changes.
    """
    most = 2.0 * (float(np.abs(scores).max(initial=0.0)) + 1.0)
    low, high = -most, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        winners = chosen(scores - middle * part.changes, part.lists.offsets)
        if int(false_changes(part, winners).sum()) <= allowed:
            high = middle
        else:
            low = middle
    return high


def _choice(part: Corrections, winners: Ints, held: Ints) -> Choice:
    n = part.n_fixes
    cost = part.lists.costs[winners].astype(np.float64)
    return Choice(cost, part.mends[winners[:n]], false_changes(part, winners), part.mends[held[:n]])


def rows_of_corrections(where: str, found: Mapping[str, Choice], words: Ints, clean_words: int) -> list[Row]:
    """Return the figures of each system.

    Parameters
    ----------
    where : str
        What the settings begin with.
    words : array of int64, shape (n_lists,)
        Of each paragraph.
    clean_words : int
        Of the clean ones.
    """
    rows = []
    for name, choice in found.items():
        n, total = len(choice.right), int(words.sum())
        rows += [
            Row(name, f"{where}: {LEFT}", None, 10_000 * float(choice.cost.sum()) / total, total),
            Row(name, f"{where}: {RIGHT}", None, 100 * float(choice.right.mean()), n),
            Row(name, f"{where}: {FALSE}", None, 10_000 * int(choice.false.sum()) / clean_words, clean_words),
            Row(name, f"{where}: {EQUAL}", None, 100 * float(choice.equal.mean()), n),
        ]
    return rows


def rows_of_tags(found: Mapping[str, Choice], n_words: int) -> list[Row]:
    """Return wrong tags per 1,000 words, and the share of sentences without any."""
    return [
        row
        for name, choice in found.items()
        for row in (
            Row(name, f"tags: {WRONG}", None, 1_000 * float(choice.cost.sum()) / n_words, n_words),
            Row(name, f"tags: {WHOLE}", None, 100 * float(choice.right.mean()), len(choice.right)),
        )
    ]


def tagged(costs: Floats) -> Choice:
    """Return the choice of sequences that have so many wrong tags."""
    none = np.zeros(0, np.int64)
    return Choice(costs, costs == 0, none, none.astype(bool))
