"""``sogaard2012.table1``: text classification under domain shift, with and without K random subspaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from disambig.api.arrays import Floats
from disambig.api.evaluation import wilcoxon
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, ResultRow

from . import comparison as systems, newsgroups
from .comparison import compare_systems, mean_by_training_pair, system_accuracies
from .newsgroups import (
    DIFFERENT,
    ONE_SIDE,
    SHIFTED,
    ProblemInstance,
    pair_instances,
    read_corpus,
    sample_instances,
)

SIZES = (25, 50, 75, 100, 150, 250)
SAMPLED = 20
SIGNIFICANCE = 0.05
PAPER = {
    "P": ((67.2, 63.8, 73.2, 72.0, 72.3, 70.4), (70.1, 66.2, 75.3, 73.3, 76.2, 72.6), (9, 7, 8, 5, 14, 7)),
    "SGD": (
        (75.2, 68.6, 76.3, 73.6, 74.6, 75.0),
        (75.7, 70.9, 78.9, 77.1, 79.2, 78.7),
        (2, 7, 11, 15, 18, 15),
    ),
}
"""The paper's accuracies of the base and of K subspaces, and error reductions, in %."""
EVERY = 8
"""With `quick`, every n-th training pair is used."""
COUNTING = (
    "an instance is trained on the training documents of two groups and tested on the test documents "
    "(the split by date) of two others of the same categories; both groups change, as in the paper's "
    "example: 1,944 instances, 134 training pairs, 6 pairs of categories (misc has one group and cannot "
    "change); the paper counts 280 instances of 20 problems and does not say how"
)
WORDS = (
    "words: scikit-learn's lower-cased tokens and TF-IDF, fitted on an instance's training documents; "
    "headers as distributed"
)
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sogaard2012Table1:
    """Perceptron and SGD, each compared with its version in random subspaces."""

    title: ClassVar[str] = "Søgaard and Johannsen 2012, table 1: 20 Newsgroups, accuracy in % (paper / ours)"
    description: ClassVar[str] = (
        "text classification under domain shift: P and SGD, alone and in 25 to 250 random subspaces"
    )
    needs: ClassVar[tuple[str, ...]] = (newsgroups.ARCHIVE,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Count words and train on every pair of groups; with `quick` on some of them."""
        progress("counting words", 0, 1)
        instances = pair_instances(DIFFERENT, EVERY if quick else 1)
        trials = {base: systems.size_systems(base, SIZES) for base in systems.BASES}
        shares = system_accuracies(read_corpus(data), instances, trials, progress=progress)
        rows: list[ResultRow] = []
        claims: list[Claim] = []
        details: Figures = {}
        for base in systems.BASES:
            figures = table1_figures(base, instances, shares[base])
            rows += table1_rows(base, figures)
            claims += table1_claims(base, figures)
            details[base] = figures
        notes = [
            COUNTING,
            f"the first rows of a system are for {SAMPLED} random instances, drawn anew for each K and "
            "system as in the paper, so columns cannot be compared; rows called 'all' are for all instances",
            "error reductions are those of the mean accuracies; p is from Wilcoxon's signed-rank test; "
            "'training pairs' are the means of all instances that are trained on the same documents, which "
            "are far from independent",
            other_countings(details),
            WORDS,
        ]
        panels = [table1_panel(base, details[base]["all"]) for base in systems.BASES]
        return ExperimentResult(rows, claims, notes, details, panels)


def table1_figures(base: str, instances: Sequence[ProblemInstance], shares: Floats) -> Figures:
    """Return the results for each K: on samples, all instances, training pairs, and counted otherwise."""
    places = {instance: place for place, instance in enumerate(instances)}
    shifted = [instance for instance in instances if instance in set(SHIFTED)]
    all_shares = shares[[places[instance] for instance in shifted]]
    one_side = shares[[places[instance] for instance in instances if instance in set(ONE_SIDE)]]
    figures: Figures = {"sampled": {}, "all": {}, "training pairs": {}, "one side": {}, "different": {}}
    for column, size in enumerate(SIZES, start=1):
        sampled = all_shares[sample_positions(base, size, shifted)]
        pair_means = [mean_by_training_pair(shifted, all_shares[:, index]) for index in (0, column)]
        for name, pair in {
            "sampled": (sampled[:, 0], sampled[:, column]),
            "all": (all_shares[:, 0], all_shares[:, column]),
            "training pairs": (pair_means[0], pair_means[1]),
            "one side": (one_side[:, 0], one_side[:, column]),
            "different": (shares[:, 0], shares[:, column]),
        }.items():
            figures[name][str(size)] = compare_systems(*pair)
    fewest, maximum = (mean_by_training_pair(shifted, all_shares[:, index]) for index in (1, len(SIZES)))
    return figures | {"p of most against fewest": wilcoxon(maximum, fewest)}


def sample_positions(base: str, size: int, instances: Sequence[ProblemInstance]) -> list[int]:
    """Return the indices of the instances on which a system is tested with K subspaces."""
    return sample_instances(instances, SAMPLED, (12, list(systems.BASES).index(base), size))


def table1_rows(base: str, figures: Figures) -> list[ResultRow]:
    """Return the rows of a base system and its robust version, sampled and for all instances."""
    names = (base, systems.robust_system(base), f"{base}: error reduction")
    rows = []
    for selection, published in (("sampled", PAPER[base]), ("all", [[None] * len(SIZES)] * 3)):
        note = ", all" if selection == "all" else ""
        for name, key, paper in zip(names, ("base", "other", "error_reduction"), published, strict=True):
            for size, in_paper in zip(map(str, SIZES), paper, strict=True):
                at = figures[selection][size]
                rows.append(ResultRow(name + note, size, in_paper, at[key], at["n"]))
    return rows


def table1_claims(base: str, figures: Figures) -> list[Claim]:
    """Return the paper's claims about a base system and its robust version, with the measured results."""
    name, sizes = systems.robust_system(base), [str(size) for size in SIZES if size >= 50]
    all_instances, sampled, training_pairs = (
        [figures[which][k] for k in sizes] for which in ("all", "sampled", "training pairs")
    )
    fewest, most = (figures["all"][str(size)] for size in (SIZES[0], SIZES[-1]))
    p = figures["p of most against fewest"]
    gains = ", ".join(
        f"{k}: {row['other'] - row['base']:+.2f}" for k, row in zip(sizes, all_instances, strict=True)
    )
    return [
        Claim(
            f"{name} beats {base} on average at every K >= 50",
            all(row["other"] > row["base"] for row in all_instances),
            f"all instances, in points: {gains}",
        ),
        Claim(
            f"{name} is significantly better across {SAMPLED} sampled instances (p < {SIGNIFICANCE}, "
            "every K >= 50)",
            all(row["other"] > row["base"] and row["p"] < SIGNIFICANCE for row in sampled),
            ", ".join(f"{k}: p = {row['p']:.2g}" for k, row in zip(sizes, sampled, strict=True)),
        ),
        Claim(
            f"{name} is significantly better across training pairs (p < {SIGNIFICANCE}, every K >= 50)",
            all(row["other"] > row["base"] and row["p"] < SIGNIFICANCE for row in training_pairs),
            f"{training_pairs[0]['n']} pairs; "
            + ", ".join(f"{k}: p = {row['p']:.2g}" for k, row in zip(sizes, training_pairs, strict=True)),
        ),
        Claim(
            f"{name} hurts in a minority of instances at every K >= 50",
            all(2 * row["hurt"] < row["n"] for row in (*all_instances, *sampled)),
            ", ".join(
                f"{k}: {100 * a['hurt'] / a['n']:.0f} % of all, {s['hurt']} of {s['n']}"
                for k, a, s in zip(sizes, all_instances, sampled, strict=True)
            ),
        ),
        Claim(
            f"{name} becomes more robust with more subspaces",
            most["other"] > fewest["other"] and p < SIGNIFICANCE,
            f"all instances: {fewest['other']:.2f} with {SIZES[0]}, {most['other']:.2f} with {SIZES[-1]}; "
            f"p = {p:.2g} across training pairs",
        ),
    ]


def other_countings(details: Figures) -> str:
    """Return a sentence about other ways of counting instances."""
    last, sentences = str(SIZES[-1]), []
    for counting, meaning in (
        ("one side", "one group moves to another sub-domain and the other stays (280 if order is ignored)"),
        ("different", "any other pair of groups"),
    ):
        figures = ", ".join(
            f"{base} {by_counting[counting][last]['base']:.1f}, "
            f"{systems.robust_system(base)} {by_counting[counting][last]['other']:.1f}"
            for base, by_counting in details.items()
        )
        n = next(iter(details.values()))[counting][last]["n"]
        sentences.append(f"{meaning}, {n:,} instances: {figures}")
    return f"other ways to count, K = {last}: " + "; ".join(sentences)


def table1_panel(base: str, figures: Figures) -> Panel:
    """Return the plot of accuracy against K."""
    lines = {
        systems.robust_system(base): [(size, figures[str(size)]["other"]) for size in SIZES],
        base: [(size, figures[str(size)]["base"]) for size in SIZES],
    }
    return Panel(f"{base}, all instances", "random subspaces (K)", "accuracy, %", lines)
