"""The systems of the text classification experiments, and their comparison across problem instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CrossedRows, Fitted, Learner
from disambig.api.evaluation import wilcoxon
from disambig.api.experiments import Progress

from ..learners.linear import SGD, ConfidenceWeighted, PassiveAggressive, Perceptron
from ..learners.random_subspaces import RandomSubspaces
from .newsgroups import CountedDocuments, Pair, ProblemInstance

Floats = NDArray[np.float64]
Trial = Callable[[CrossedRows], Sequence[Fitted]]
"""Learns, and gives a scorer for each of its settings."""


def system_accuracies(
    counted: CountedDocuments,
    instances: Sequence[ProblemInstance],
    trials: Mapping[str, Trial],
    *,
    progress: Progress,
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


def error_reductions(base: Floats, other: Floats) -> Floats:
    """Return the error reduction of each instance."""
    return np.array([error_reduction(*each) for each in zip(base.tolist(), other.tolist(), strict=True)])


def compare_systems(base: Floats, other: Floats) -> dict[str, Any]:
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


def group_by_lesson(instances: Sequence[ProblemInstance], shares: Floats) -> Floats:
    """Return the mean share of each pair learned from.

    Instances that learn from the same documents are far from independent; these means less so.
    """
    pairs = {pair: n for n, pair in enumerate(dict.fromkeys(instance.train for instance in instances))}
    number = np.array([pairs[instance.train] for instance in instances])
    return np.bincount(number, weights=shares) / np.bincount(number)


REMOVED = 0.1
"""Share of the dimensions that a mask removes, in the paper's tables."""
BASES: dict[str, Perceptron | SGD] = {"P": Perceptron(), "SGD": SGD()}
OTHERS: dict[str, Learner] = {"PA": PassiveAggressive(), "CW": ConfidenceWeighted()}


def robust_system(base: str) -> str:
    """Return what the system in random subspaces is called."""
    return f"{base}-RLRS"


def size_systems(base: str, sizes: Sequence[int]) -> Trial:
    """Return a trial of a base learner alone and then under rising numbers of random subspaces."""
    learner = BASES[base]

    def learn(batch: CrossedRows) -> list[Fitted]:
        path = RandomSubspaces(base=learner, n_subspaces=max(sizes), removal_rate=REMOVED)
        return [learner.fit(batch), *path.fit_sizes(batch, sizes)]

    return learn


def rate_systems(base: str, rates: Sequence[float], size: int) -> Trial:
    """Return a trial of a base learner alone and then under subspaces of rising removal rates."""
    learner = BASES[base]

    def learn(batch: CrossedRows) -> list[Fitted]:
        under = [RandomSubspaces(base=learner, n_subspaces=size, removal_rate=rate) for rate in rates]
        return [learner.fit(batch), *(each.fit(batch) for each in under)]

    return learn


def order_systems(base: str, n: int) -> Trial:
    """Return a trial of a base learner's mean weights over `n` orders of the examples, nothing removed."""

    def learn(batch: CrossedRows) -> list[Fitted]:
        fits = [replace(BASES[base], seed=seed).fit(batch) for seed in range(n)]
        mean = np.mean([fitted.scorer.state()["weights"] for fitted in fits], axis=0)
        return [Fitted(BASES[base].from_state({"weights": mean}))]

    return learn


def single_system(learner: Learner) -> Trial:
    """Return a trial of a learner as it is."""
    return lambda batch: [learner.fit(batch)]
