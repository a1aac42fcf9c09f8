"""The systems of the text classification experiments, and their comparison across problem instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from disambig.api import CrossedRows, Fitted, Learner
from disambig.api.arrays import Floats
from disambig.api.evaluation import wilcoxon
from disambig.api.experiments import Progress, count_hits

from ..learners.linear import SGD, ConfidenceWeighted, PassiveAggressive, Perceptron
from ..learners.random_subspaces import RandomSubspaces
from .newsgroups import CountedDocuments, Pair, ProblemInstance

Trial = Callable[[CrossedRows], Sequence[Fitted]]
"""Trains on a batch and returns a fit for each of its settings."""


def system_accuracies(
    counted: CountedDocuments,
    instances: Sequence[ProblemInstance],
    trials: Mapping[str, Trial],
    *,
    progress: Progress,
) -> dict[str, Floats]:
    """Return the share of right decisions for each trial, shape ``(n_instances, n_settings)``.

    Every trial is trained once on each training pair and decides all test pairs that the instances need.
    """
    wanted: dict[Pair, list[int]] = {}
    for place, instance in enumerate(instances):
        wanted.setdefault(instance.train, []).append(place)
    accuracies: dict[str, Floats] = {}
    for number, (pair, places) in enumerate(wanted.items()):
        progress("learning", number, len(wanted))
        training_pair = counted.training_pair(pair)
        groups = sorted({group for place in places for group in instances[place].test})
        train = training_pair.batch("train", pair)
        tests = [training_pair.batch("test", [group]) for group in groups]
        for name, learn in trials.items():
            fits = learn(train)
            shares = accuracies.setdefault(name, np.empty((len(instances), len(fits))))
            for setting, fitted in enumerate(fits):
                hits = {
                    group: count_hits(fitted.scorer.scores(test), test)
                    for group, test in zip(groups, tests, strict=True)
                }
                for place in places:
                    decisions = [hits[group] for group in instances[place].test]
                    shares[place, setting] = np.concatenate(decisions).mean()
    return accuracies


def error_reduction(base: float, other: float) -> float:
    """Return the share of errors that is removed, given two accuracies; negative if there are more errors.

    If the base makes no errors, it is 0 if the other makes none either and -1 otherwise.
    """
    if base == 1.0:
        return 0.0 if other == 1.0 else -1.0
    return (other - base) / (1.0 - base)


def error_reductions(base: Floats, other: Floats) -> Floats:
    """Return the error reduction for each instance."""
    return np.array([error_reduction(*pair) for pair in zip(base.tolist(), other.tolist(), strict=True)])


def compare_systems(base: Floats, other: Floats) -> dict[str, Any]:
    """Return comparison figures for two systems on the same instances.

    The error reduction is that of the mean accuracies, as in the paper's table; ``hurt`` and ``helped``
    count instances; ``p`` is from Wilcoxon's signed-rank test, two-sided.
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


def mean_by_training_pair(instances: Sequence[ProblemInstance], shares: Floats) -> Floats:
    """Return the mean share for each training pair.

    Instances with the same training documents are not independent; these means are less dependent.
    """
    pairs = {pair: n for n, pair in enumerate(dict.fromkeys(instance.train for instance in instances))}
    number = np.array([pairs[instance.train] for instance in instances])
    return np.bincount(number, weights=shares) / np.bincount(number)


REMOVED = 0.1
"""Share of the dimensions that a mask removes, in the paper's tables."""
BASES: dict[str, Perceptron | SGD] = {"P": Perceptron(), "SGD": SGD()}
OTHERS: dict[str, Learner] = {"PA": PassiveAggressive(), "CW": ConfidenceWeighted()}


def robust_system(base: str) -> str:
    """Return the name of a base system's robust version in random subspaces."""
    return f"{base}-RLRS"


def size_systems(base: str, sizes: Sequence[int]) -> Trial:
    """Return a trial of a base learner alone and with increasing numbers of random subspaces."""
    learner = BASES[base]

    def learn(batch: CrossedRows) -> list[Fitted]:
        path = RandomSubspaces(base=learner, n_subspaces=max(sizes), removal_rate=REMOVED)
        return [learner.fit(batch), *path.fit_sizes(batch, sizes)]

    return learn


def rate_systems(base: str, rates: Sequence[float], size: int) -> Trial:
    """Return a trial of a base learner alone and in subspaces with increasing removal rates."""
    learner = BASES[base]

    def learn(batch: CrossedRows) -> list[Fitted]:
        ensembles = [RandomSubspaces(base=learner, n_subspaces=size, removal_rate=rate) for rate in rates]
        return [learner.fit(batch), *(ensemble.fit(batch) for ensemble in ensembles)]

    return learn


def order_systems(base: str, n: int) -> Trial:
    """Return a trial of a base learner's mean weights over `n` orders of the examples, without removal."""

    def learn(batch: CrossedRows) -> list[Fitted]:
        fits = [replace(BASES[base], seed=seed).fit(batch) for seed in range(n)]
        mean = np.mean([fitted.scorer.state()["weights"] for fitted in fits], axis=0)
        return [Fitted(BASES[base].from_state({"weights": mean}))]

    return learn


def single_system(learner: Learner) -> Trial:
    """Return a trial of a learner without changes."""
    return lambda batch: [learner.fit(batch)]
