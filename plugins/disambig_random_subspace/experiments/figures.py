"""``sogaard2012.figure5`` and ``sogaard2012.figure6``: gains per problem instance, and removal rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api.arrays import Floats
from disambig.api.evaluation import wilcoxon
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, ResultRow

from . import comparison as systems, newsgroups
from .comparison import compare_systems, error_reductions, mean_by_training_pair, system_accuracies
from .newsgroups import (
    SHIFTED,
    CountedDocuments,
    ProblemInstance,
    pair_instances,
    read_corpus,
    sample_instances,
)
from .table1 import COUNTING, EVERY, SAMPLED, SIGNIFICANCE, SIZES, WORDS, sample_positions

FIGURE5_BASE = "P"
HURT = (3, 8)
"""Lowest and highest number of hurt instances, of 20, in the paper's plots."""
LARGEST_REDUCTION = 70
"""The largest error reduction in the paper's plots, in %."""
PLACES = 51
"""Number of points of a curve over all instances."""


@dataclass(frozen=True, slots=True)
class Sogaard2012Figure5:
    """Error reductions of the perceptron in random subspaces, sorted."""

    title: ClassVar[str] = "Søgaard and Johannsen 2012, figure 5: P-RLRS against P on each instance, in %"
    description: ClassVar[str] = (
        "error reductions of P-RLRS on each problem instance, sorted, with 25 to 250 subspaces"
    )
    needs: ClassVar[tuple[str, ...]] = (newsgroups.ARCHIVE,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Count words and train on every pair of groups; with `quick` on some of them."""
        progress("counting words", 0, 1)
        instances = pair_instances(SHIFTED, EVERY if quick else 1)
        trials = {FIGURE5_BASE: systems.size_systems(FIGURE5_BASE, SIZES)}
        shares = system_accuracies(read_corpus(data), instances, trials, progress=progress)[FIGURE5_BASE]
        gains = 100 * np.stack([error_reductions(shares[:, 0], column) for column in shares[:, 1:].T], axis=1)
        places = [sample_positions(FIGURE5_BASE, size, instances) for size in SIZES]
        sampled = [gains[at, column] for column, at in enumerate(places)]
        all_gains = list(gains.T)
        rows = [*figure5_rows("", sampled), *figure5_rows(", all", all_gains)]
        notes = [
            COUNTING,
            f"{SAMPLED} random instances for each K, those of table 1; 'all': of all instances",
            "hurt: instances with fewer right decisions than the perceptron's alone",
            WORDS,
        ]
        hurt = {"hurt": count_hurt(sampled), "hurt of all": count_hurt(all_gains), "all": len(instances)}
        panels = list(map(figure5_panel, SIZES, sampled, all_gains))
        return ExperimentResult(rows, figure5_claims(sampled, all_gains), notes, hurt, panels)


def count_hurt(gains: Sequence[Floats]) -> dict[str, int]:
    """Return the number of instances with more errors, for each K."""
    return {str(size): int((column < 0).sum()) for size, column in zip(SIZES, gains, strict=True)}


def figure5_rows(note: str, gains: Sequence[Floats]) -> list[ResultRow]:
    """Return the share of hurt instances in %, and the smallest, median and largest error reduction."""
    figures: dict[str, Any] = {
        "instances hurt": lambda gains: 100 * (gains < 0).mean(),
        "lowest error reduction": np.min,
        "median error reduction": np.median,
        "highest error reduction": np.max,
    }
    return [
        ResultRow(name + note, str(size), None, float(figure(column)), len(column))
        for name, figure in figures.items()
        for size, column in zip(SIZES, gains, strict=True)
    ]


def figure5_claims(sampled: Sequence[Floats], all_gains: Sequence[Floats]) -> list[Claim]:
    """Return the paper's claims about the plots."""
    hurt = count_hurt(sampled)
    shares = [f"{100 * (column < 0).mean():.0f}" for column in all_gains]
    best, best_of_all = (max(float(column.max()) for column in gains) for gains in (sampled, all_gains))
    counts = ", ".join(f"{size}: {n}" for size, n in hurt.items())
    return [
        Claim(
            f"P-RLRS seldom hurts: at most {HURT[1]} of {SAMPLED} instances (paper: {HURT[0]} to {HURT[1]})",
            max(hurt.values()) <= HURT[1],
            f"{counts}; of all instances {', '.join(shares)} %",
        ),
        Claim(
            f"error reductions are up to {LARGEST_REDUCTION} % on some of the sampled instances",
            best >= LARGEST_REDUCTION,
            f"up to {best:.0f} %; of all instances up to {best_of_all:.0f} %",
        ),
    ]


def figure5_panel(size: int, sampled: Floats, all_gains: Floats) -> Panel:
    """Return the sorted reductions with K subspaces: sampled instances as marks, all instances as a curve."""
    across = np.linspace(0, 100, PLACES)
    curve = list(zip(across.tolist(), np.percentile(all_gains, across).tolist(), strict=True))
    at = 100 * (np.arange(len(sampled)) + 0.5) / len(sampled)
    marks = list(zip(at.tolist(), np.sort(sampled).tolist(), strict=True))
    lines, points = {f"all {len(all_gains):,}": curve}, {f"{len(sampled)} sampled": marks}
    return Panel(f"K = {size}", "instances, sorted, %", "error reduction, %", lines, points)


SIZE = 100
"""Number of random subspaces; the paper does not give it for its figure."""
RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
QUICK_EVERY = 24
"""With `quick`, every n-th training pair is used."""
ORDERS = 25
"""Number of orders of the examples over which the control averages, without removal."""
FIGURE6_BASE, USUAL, MORE = "SGD", RATES.index(0.1), RATES.index(0.2)
RIVALS = ("PA", "CW", FIGURE6_BASE)
MUCH_BETTER = 5.0
"""Difference on an instance, in points, that counts as much better."""


@dataclass(frozen=True, slots=True)
class Sogaard2012Figure6:
    """SGD-RLRS compared with passive-aggressive and confidence-weighted learning; the removal rate."""

    title: ClassVar[str] = (
        "Søgaard and Johannsen 2012, figure 6: comparison of learners, and the removal rate, accuracy in %"
    )
    description: ClassVar[str] = "PA, CW, SGD and SGD-RLRS on problem instances; removal rates from 5 to 90 %"
    needs: ClassVar[tuple[str, ...]] = (newsgroups.ARCHIVE,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Count words and train on every pair of groups; with `quick` on some of them."""
        progress("counting words", 0, 1)
        instances, counted = pair_instances(SHIFTED, QUICK_EVERY if quick else 1), read_corpus(data)
        trials = {name: systems.single_system(learner) for name, learner in systems.OTHERS.items()}
        trials |= {base: systems.rate_systems(base, RATES, SIZE) for base in systems.BASES}
        trials |= {mean_name(base): systems.order_systems(base, ORDERS) for base in systems.BASES}
        shares = system_accuracies(counted, instances, trials, progress=progress)
        at = sample_instances(instances, SAMPLED, (12, 6))
        removed = removed_shares(counted, instances)
        by_rate = {base: shares[base][:, 1:] for base in systems.BASES}
        by_learner = {name: columns[:, 0] for name, columns in shares.items()}
        ours = by_learner[systems.robust_system(FIGURE6_BASE)] = by_rate[FIGURE6_BASE][:, USUAL]
        claims = [
            *learners_compared(by_learner, instances, at),
            *rates_compared(by_rate, instances, removed, at),
            *orders_compared(by_learner, by_rate, instances),
        ]
        notes = [
            COUNTING,
            f"K = {SIZE} (the paper does not say); {SAMPLED} random instances, the same for all systems, and "
            "all instances; five passes; the paper's figure has no numbers to compare with ours",
            "p is from Wilcoxon's signed-rank test across training pairs (means of the instances that are "
            "trained on the same documents)",
            WORDS,
        ]
        details: dict[str, Any] = {"learners": {}, "rates": {}}
        for name, values in by_learner.items():
            details["learners"][name] = compare_systems(values, ours)
        for base, columns in by_rate.items():
            usual = columns[:, USUAL]
            of_rates = {str(rate): compare_systems(usual, columns[:, n]) for n, rate in enumerate(RATES)}
            details["rates"][base] = of_rates
        percentiles = np.percentile(removed, (0, 50, 100)).tolist()
        details["removed by the shift"] = [round(value, 4) for value in percentiles]
        panels = [learners_panel(by_learner, at)]
        panels += [rates_panel(base, columns, at) for base, columns in by_rate.items()]
        return ExperimentResult(figure6_rows(by_learner, by_rate, at), claims, notes, details, panels)


def removed_shares(counted: CountedDocuments, instances: Sequence[ProblemInstance]) -> Floats:
    """Return for each instance the share of training words that do not occur in its test documents."""
    training_pairs = {
        pair: counted.training_pair(pair) for pair in dict.fromkeys(instance.train for instance in instances)
    }
    tests = {
        pair: np.concatenate([counted.rows["test", group] for group in pair])
        for pair in dict.fromkeys(instance.test for instance in instances)
    }
    return np.array([training_pairs[instance.train].removed(tests[instance.test]) for instance in instances])


def figure6_rows(
    by_learner: Mapping[str, Floats], by_rate: Mapping[str, Floats], at: Sequence[int]
) -> list[ResultRow]:
    """Return the accuracies of learners and of removal rates, on sampled and on all instances."""
    shown = {
        name: values for name, values in by_learner.items() if name != systems.robust_system(FIGURE6_BASE)
    }
    shown |= {
        f"{systems.robust_system(base)}, {100 * rate:.0f} % removed": columns[:, n]
        for base, columns in by_rate.items()
        for n, rate in enumerate(RATES)
    }
    return [
        ResultRow(name, setting, None, 100 * float(accuracies.mean()), len(accuracies))
        for name, values in shown.items()
        for setting, accuracies in ((f"{len(at)} sampled", values[at]), ("all", values))
    ]


def learners_compared(
    by_learner: Mapping[str, Floats], instances: Sequence[ProblemInstance], at: Sequence[int]
) -> list[Claim]:
    """Claim that SGD-RLRS is more robust than the others, but that CW is much better on some instances."""
    ours = by_learner[systems.robust_system(FIGURE6_BASE)]
    claims = [
        Claim(
            f"{systems.robust_system(FIGURE6_BASE)} is better on average than {rival} (p < {SIGNIFICANCE})",
            bool(ours.mean() > by_learner[rival].mean()) and p < SIGNIFICANCE,
            f"{100 * (ours - by_learner[rival]).mean():+.2f} points on all instances, "
            f"{100 * (ours - by_learner[rival])[at].mean():+.2f} on those sampled; p = {p:.2g}",
        )
        for rival in RIVALS
        for p in [
            wilcoxon(
                mean_by_training_pair(instances, ours), mean_by_training_pair(instances, by_learner[rival])
            )
        ]
    ]
    ahead = 100 * (by_learner["CW"] - ours)
    return [
        *claims,
        Claim(
            f"CW is much better than {systems.robust_system(FIGURE6_BASE)} on some instances "
            f"({MUCH_BETTER:.0f} points or more)",
            bool((ahead >= MUCH_BETTER).any()),
            f"{(ahead >= MUCH_BETTER).sum():,} of {len(ahead):,}, "
            f"{(ahead[at] >= MUCH_BETTER).sum()} of {len(at)} sampled; at most {ahead.max():+.1f} points",
        ),
    ]


def rates_compared(
    by_rate: Mapping[str, Floats], instances: Sequence[ProblemInstance], removed: Floats, at: Sequence[int]
) -> list[Claim]:
    """Claim that 20 % is slightly better than 10 %, and more so the more dimensions the shift removes."""
    from scipy.stats import spearmanr

    claims = []
    for base, columns in by_rate.items():
        name, gain = systems.robust_system(base), 100 * (columns[:, MORE] - columns[:, USUAL])
        p = wilcoxon(*(mean_by_training_pair(instances, columns[:, rate]) for rate in (MORE, USUAL)))
        correlation: Any = spearmanr(removed, gain)
        of_sample: Any = spearmanr(removed[at], gain[at])
        claims += [
            Claim(
                f"{name}: removing 20 % is slightly better than 10 %",
                bool(gain.mean() > 0),
                f"{gain.mean():+.2f} points on all instances, {gain[at].mean():+.2f} on those sampled; "
                f"p = {p:.2g}",
            ),
            Claim(
                f"{name}: the more dimensions are missing in the test data, the more 20 % gains over 10 %",
                bool(correlation.statistic > 0 and correlation.pvalue < SIGNIFICANCE),
                f"Spearman {correlation.statistic:+.2f} (p = {correlation.pvalue:.2g}) over all instances, "
                f"{of_sample.statistic:+.2f} (p = {of_sample.pvalue:.2g}) over those sampled",
            ),
        ]
    return claims


def orders_compared(
    by_learner: Mapping[str, Floats], by_rate: Mapping[str, Floats], instances: Sequence[ProblemInstance]
) -> list[Claim]:
    """Claim that removing dimensions has a larger effect than averaging; the paper makes no such claim."""
    claims = []
    for base, columns in by_rate.items():
        mean, usual = by_learner[mean_name(base)], columns[:, USUAL]
        p = wilcoxon(mean_by_training_pair(instances, usual), mean_by_training_pair(instances, mean))
        best = int(columns.mean(axis=0).argmax())
        claims.append(
            Claim(
                f"control, ours: {systems.robust_system(base)} (10 %) is better than {mean_name(base)} "
                f"(p < {SIGNIFICANCE})",
                bool(usual.mean() > mean.mean()) and p < SIGNIFICANCE,
                f"{100 * (usual - mean).mean():+.2f} points on all instances, p = {p:.2g}; "
                f"with {100 * RATES[best]:.0f} % removed {100 * (columns[:, best] - mean).mean():+.2f}",
            )
        )
    return claims


def mean_name(base: str) -> str:
    """Return the name of a learner's mean over orders of the examples."""
    return f"{base}, mean of {ORDERS} orders"


def learners_panel(by_learner: Mapping[str, Floats], at: Sequence[int]) -> Panel:
    """Return the accuracy of each learner on the sampled instances, sorted by that of SGD-RLRS."""
    order = np.array(at)[np.argsort(by_learner[systems.robust_system(FIGURE6_BASE)][at], kind="stable")]
    points = {
        name: [(n, 100 * float(by_learner[name][place])) for n, place in enumerate(order, start=1)]
        for name in (systems.robust_system(FIGURE6_BASE), *RIVALS)
    }
    title = f"{len(at)} instances, by the accuracy of {systems.robust_system(FIGURE6_BASE)}"
    return Panel(title, "instance", "accuracy, %", points=points)


def rates_panel(base: str, columns: Floats, at: Sequence[int]) -> Panel:
    """Return accuracy against the removal rate."""
    lines = {
        name: [
            (100 * rate, 100 * float(share))
            for rate, share in zip(RATES, accuracies.mean(axis=0), strict=True)
        ]
        for name, accuracies in ((f"{len(at)} sampled", columns[at]), (f"all {len(columns):,}", columns))
    }
    return Panel(f"{systems.robust_system(base)}, K = {SIZE}", "dimensions removed, %", "accuracy, %", lines)
