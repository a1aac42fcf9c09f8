"""Systems compared across problem instances, each system with the same instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CrossedRows, Fitted
from disambig.api.evaluation import wilcoxon
from disambig.api.experiments import Progress

from .counted import Counted
from .instances import Instance, Pair

Floats = NDArray[np.float64]
Trial = Callable[[CrossedRows], Sequence[Fitted]]
"""Learns, and gives a scorer for each of its settings."""


def accuracies(
    counted: Counted, instances: Sequence[Instance], trials: Mapping[str, Trial], *, progress: Progress
) -> dict[str, Floats]:
    """Return the share of right decisions of each trial, shape ``(n_instances, n_settings)``.

    Every trial learns once from each pair of groups and decides on all that instances want of it.
    """
    wanted: dict[Pair, list[int]] = {}
    for place, instance in enumerate(instances):
        wanted.setdefault(instance.train, []).append(place)
    found: dict[str, Floats] = {}
    for number, (pair, places) in enumerate(wanted.items()):
        progress("learning", number, len(wanted))
        lesson = counted.lesson(pair)
        groups = sorted({group for place in places for group in instances[place].test})
        train, tests = lesson.batch("train", pair), [lesson.batch("test", [group]) for group in groups]
        for name, learn in trials.items():
            fits = learn(train)
            shares = found.setdefault(name, np.empty((len(instances), len(fits))))
            for setting, fitted in enumerate(fits):
                hits = {
                    group: right(fitted.scorer.scores(test), test)
                    for group, test in zip(groups, tests, strict=True)
                }
                for place in places:
                    both = [hits[group] for group in instances[place].test]
                    shares[place, setting] = np.concatenate(both).mean()
    return found


def right(scores: Floats, batch: CrossedRows) -> NDArray[np.bool_]:
    """Return for each document whether the best-scored category is right, the first of equals."""
    chosen = scores.reshape(batch.costs.shape).argmax(axis=1)
    return np.asarray(batch.costs[np.arange(len(chosen)), chosen] == 0)


def error_reduction(base: float, other: float) -> float:
    """Return which share of the errors is gone, from two accuracies; below 0 where there are more.

    Where there was nothing to gain, it is 0 if there still are no errors and -1 otherwise.
    """
    if base == 1.0:
        return 0.0 if other == 1.0 else -1.0
    return (other - base) / (1.0 - base)


def reductions(base: Floats, other: Floats) -> Floats:
    """Return the error reduction of each instance."""
    return np.array([error_reduction(*each) for each in zip(base.tolist(), other.tolist(), strict=True)])


def compared(base: Floats, other: Floats) -> dict[str, Any]:
    """Return plain figures of two systems on the same instances.

    The error reduction is that of the mean accuracies, as in the paper's table; ``hurt`` and ``helped``
    count instances; ``p`` is of Wilcoxon's signed ranks, two-sided.
    """
    return {
        "n": len(base),
        "base": round(100 * float(base.mean()), 3),
        "other": round(100 * float(other.mean()), 3),
        "error_reduction": round(100 * error_reduction(float(base.mean()), float(other.mean())), 3),
        "hurt": int((other < base).sum()),
        "helped": int((other > base).sum()),
        "p": wilcoxon(other, base),
    }


def by_lesson(instances: Sequence[Instance], shares: Floats) -> Floats:
    """Return the mean share of each pair learned from.

    Instances that learn from the same documents are far from independent; these means less so.
    """
    pairs = {pair: n for n, pair in enumerate(dict.fromkeys(instance.train for instance in instances))}
    number = np.array([pairs[instance.train] for instance in instances])
    return np.bincount(number, weights=shares) / np.bincount(number)
