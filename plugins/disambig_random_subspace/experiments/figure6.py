"""``sogaard2012.figure6``: other robust learners beside SGD-RLRS, and how many dimensions to remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api.evaluation import wilcoxon
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, Row

from . import newsgroups, systems
from .across import Floats, accuracies, by_lesson, compared
from .counted import Counted, corpus
from .instances import SHIFTED, Instance, of_pairs, sampled
from .table1 import COUNTING, SAMPLED, SURE, WORDS

SIZE = 100
"""Random subspaces; the paper does not say how many its figure has."""
RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
EVERY = 24
"""Of the pairs to learn from, the quick form takes each so many-th."""
ORDERS = 25
"""Of the examples, that a control averages over without removing anything."""
BASE, USUAL, MORE = "SGD", RATES.index(0.1), RATES.index(0.2)
RIVALS = ("PA", "CW", BASE)
MUCH = 5.0
"""Points by which a system is much better on an instance."""


@dataclass(frozen=True, slots=True)
class Figure6:
    """SGD-RLRS beside passive-aggressive and confidence-weighted learning; the removal rate."""

    title: ClassVar[str] = (
        "Søgaard and Johannsen 2012, figure 6: comparison of learners, and the removal rate, accuracy in %"
    )
    description: ClassVar[str] = "PA, CW, SGD and SGD-RLRS on problem instances; removal rates from 5 to 90 %"
    needs: ClassVar[tuple[str, ...]] = (newsgroups.ARCHIVE,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Count words, learn from every pair of groups; with `quick` from some of them."""
        progress("counting words", 0, 1)
        instances, counted = of_pairs(SHIFTED, EVERY if quick else 1), corpus(data)
        trials = {name: systems.alone(learner) for name, learner in systems.OTHERS.items()}
        trials |= {base: systems.by_rate(base, RATES, SIZE) for base in systems.BASES}
        trials |= {mean_of(base): systems.of_orders(base, ORDERS) for base in systems.BASES}
        shares = accuracies(counted, instances, trials, progress=progress)
        at = sampled(instances, SAMPLED, (12, 6))
        removed = removed_shares(counted, instances)
        by_rate = {base: shares[base][:, 1:] for base in systems.BASES}
        alike = {name: each[:, 0] for name, each in shares.items()}
        alike[systems.robust(BASE)] = by_rate[BASE][:, USUAL]
        return ExperimentResult(
            rows_of(alike, by_rate, at),
            [
                *learners_compared(alike, instances, at),
                *rates_compared(by_rate, instances, removed, at),
                *orders_compared(alike, by_rate, instances),
            ],
            [
                COUNTING,
                f"K = {SIZE} (the paper does not say); {SAMPLED} random instances, the same for all systems, "
                "and all; five passes; the paper's figure has no numbers that could stand beside ours",
                "p is of Wilcoxon's signed ranks across training pairs (means of the instances that learn "
                "from the same documents)",
                WORDS,
            ],
            {
                "learners": {
                    name: compared(each, alike[systems.robust(BASE)]) for name, each in alike.items()
                },
                "rates": {
                    base: {str(rate): compared(of[:, USUAL], of[:, n]) for n, rate in enumerate(RATES)}
                    for base, of in by_rate.items()
                },
                "removed by the shift": [
                    round(float(each), 4) for each in np.percentile(removed, (0, 50, 100))
                ],
            },
            [learners_panel(alike, at), *(rates_panel(base, of, at) for base, of in by_rate.items())],
        )


def removed_shares(counted: Counted, instances: Sequence[Instance]) -> Floats:
    """Return for each instance the share of training words that its test documents lack altogether."""
    lessons = {pair: counted.lesson(pair) for pair in dict.fromkeys(each.train for each in instances)}
    tests = {
        pair: np.concatenate([counted.rows["test", group] for group in pair])
        for pair in dict.fromkeys(each.test for each in instances)
    }
    return np.array([lessons[each.train].removed(tests[each.test]) for each in instances])


def rows_of(alike: Mapping[str, Floats], by_rate: Mapping[str, Floats], at: Sequence[int]) -> list[Row]:
    """Return the accuracies of learners, then those of removal rates, on sampled and on all instances."""
    shown = {name: each for name, each in alike.items() if name != systems.robust(BASE)}
    shown |= {
        f"{systems.robust(base)}, {100 * rate:.0f} % removed": of[:, n]
        for base, of in by_rate.items()
        for n, rate in enumerate(RATES)
    }
    return [
        Row(name, setting, None, 100 * float(some.mean()), len(some))
        for name, each in shown.items()
        for setting, some in ((f"{len(at)} sampled", each[at]), ("all", each))
    ]


def learners_compared(
    alike: Mapping[str, Floats], instances: Sequence[Instance], at: Sequence[int]
) -> list[Claim]:
    """Claim that SGD-RLRS is more robust than others, but CW much better on some instances."""
    ours = alike[systems.robust(BASE)]
    claims = [
        Claim(
            f"{systems.robust(BASE)} is better on average than {rival} (p < {SURE})",
            bool(ours.mean() > alike[rival].mean()) and p < SURE,
            f"{100 * (ours - alike[rival]).mean():+.2f} points on all instances, "
            f"{100 * (ours - alike[rival])[at].mean():+.2f} on those sampled; p = {p:.2g}",
        )
        for rival in RIVALS
        for p in [wilcoxon(by_lesson(instances, ours), by_lesson(instances, alike[rival]))]
    ]
    ahead = 100 * (alike["CW"] - ours)
    return [
        *claims,
        Claim(
            f"CW is much better than {systems.robust(BASE)} on some instances ({MUCH:.0f} points or more)",
            bool((ahead >= MUCH).any()),
            f"{(ahead >= MUCH).sum():,} of {len(ahead):,}, {(ahead[at] >= MUCH).sum()} of {len(at)} sampled; "
            f"at most {ahead.max():+.1f} points",
        ),
    ]


def rates_compared(
    by_rate: Mapping[str, Floats], instances: Sequence[Instance], removed: Floats, at: Sequence[int]
) -> list[Claim]:
    """Claim that 20 % is slightly better than 10 %, and more so the more dimensions the shift removes."""
    from scipy.stats import spearmanr

    claims = []
    for base, of in by_rate.items():
        name, gain = systems.robust(base), 100 * (of[:, MORE] - of[:, USUAL])
        p = wilcoxon(by_lesson(instances, of[:, MORE]), by_lesson(instances, of[:, USUAL]))
        found: Any = spearmanr(removed, gain)
        some: Any = spearmanr(removed[at], gain[at])
        claims += [
            Claim(
                f"{name}: removing 20 % is slightly better than 10 %",
                bool(gain.mean() > 0),
                f"{gain.mean():+.2f} points on all instances, {gain[at].mean():+.2f} on those sampled; "
                f"p = {p:.2g}",
            ),
            Claim(
                f"{name}: the more dimensions are gone in the test data, the more 20 % gains over 10 %",
                bool(found.statistic > 0 and found.pvalue < SURE),
                f"Spearman {found.statistic:+.2f} (p = {found.pvalue:.2g}) over all instances, "
                f"{some.statistic:+.2f} (p = {some.pvalue:.2g}) over those sampled",
            ),
        ]
    return claims


def orders_compared(
    alike: Mapping[str, Floats], by_rate: Mapping[str, Floats], instances: Sequence[Instance]
) -> list[Claim]:
    """Claim, though the paper does not, that removing dimensions does more than averaging does."""
    claims = []
    for base, of in by_rate.items():
        mean, usual = alike[mean_of(base)], of[:, USUAL]
        p = wilcoxon(by_lesson(instances, usual), by_lesson(instances, mean))
        best = int(of.mean(axis=0).argmax())
        claims.append(
            Claim(
                f"control, ours: {systems.robust(base)} (10 %) is better than {mean_of(base)} (p < {SURE})",
                bool(usual.mean() > mean.mean()) and p < SURE,
                f"{100 * (usual - mean).mean():+.2f} points on all instances, p = {p:.2g}; "
                f"with {100 * RATES[best]:.0f} % removed {100 * (of[:, best] - mean).mean():+.2f}",
            )
        )
    return claims


def mean_of(base: str) -> str:
    """Return what the mean over orders of the examples is called."""
    return f"{base}, mean of {ORDERS} orders"


def learners_panel(alike: Mapping[str, Floats], at: Sequence[int]) -> Panel:
    """Return the accuracy of each learner on the sampled instances, in the order of SGD-RLRS."""
    order = np.array(at)[np.argsort(alike[systems.robust(BASE)][at], kind="stable")]
    points = {
        name: [(n, 100 * float(alike[name][place])) for n, place in enumerate(order, start=1)]
        for name in (systems.robust(BASE), *RIVALS)
    }
    title = f"{len(at)} instances, by the accuracy of {systems.robust(BASE)}"
    return Panel(title, "instance", "accuracy, %", points=points)


def rates_panel(base: str, of: Floats, at: Sequence[int]) -> Panel:
    """Return accuracy against the removal rate."""
    lines = {
        name: [(100 * rate, 100 * float(each)) for rate, each in zip(RATES, some.mean(axis=0), strict=True)]
        for name, some in ((f"{len(at)} sampled", of[at]), (f"all {len(of):,}", of))
    }
    return Panel(f"{systems.robust(base)}, K = {SIZE}", "dimensions removed, %", "accuracy, %", lines)
