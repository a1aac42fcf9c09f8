"""``sogaard2012.figure5``: what P-RLRS gains or loses on each problem instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, Row

from . import newsgroups, systems
from .across import Floats, accuracies, reductions
from .counted import corpus
from .instances import SHIFTED, of_pairs
from .table1 import COUNTING, EVERY, SAMPLED, SIZES, WORDS, sample

BASE = "P"
HURT = (3, 8)
"""How many of 20 instances are hurt in the paper's plots: from, to."""
MOST = 70
"""The largest error reduction in the paper's plots, in %."""
PLACES = 51
"""Points of a curve that shows all instances."""


@dataclass(frozen=True, slots=True)
class Figure5:
    """Error reductions of the perceptron under random subspaces, sorted."""

    title: ClassVar[str] = "Søgaard and Johannsen 2012, figure 5: P-RLRS against P on each instance, in %"
    description: ClassVar[str] = (
        "error reductions of P-RLRS on each problem instance, sorted, with 25 to 250 subspaces"
    )
    needs: ClassVar[tuple[str, ...]] = (newsgroups.ARCHIVE,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Count words, learn from every pair of groups; with `quick` from some of them."""
        progress("counting words", 0, 1)
        instances = of_pairs(SHIFTED, EVERY if quick else 1)
        trials = {BASE: systems.by_size(BASE, SIZES)}
        shares = accuracies(corpus(data), instances, trials, progress=progress)[BASE]
        gains = 100 * np.stack([reductions(shares[:, 0], each) for each in shares[:, 1:].T], axis=1)
        places = [sample(BASE, size, instances) for size in SIZES]
        some = [gains[at, column] for column, at in enumerate(places)]
        everything = list(gains.T)
        return ExperimentResult(
            [*rows_of("", some), *rows_of(", all", everything)],
            claims_of(some, everything),
            [
                COUNTING,
                f"{SAMPLED} random instances for each K, those of table 1; 'all': of all instances",
                "hurt: instances with fewer right decisions than the perceptron's alone",
                WORDS,
            ],
            {"hurt": hurt_of(some), "hurt of all": hurt_of(everything), "all": len(instances)},
            [
                panel(size, of_some, of_all)
                for size, of_some, of_all in zip(SIZES, some, everything, strict=True)
            ],
        )


def hurt_of(gains: Sequence[Floats]) -> dict[str, int]:
    """Return for each K how many instances are hurt."""
    return {str(size): int((each < 0).sum()) for size, each in zip(SIZES, gains, strict=True)}


def rows_of(note: str, gains: Sequence[Floats]) -> list[Row]:
    """Return hurt instances in %, and the least, median and largest error reduction."""
    figures: dict[str, Any] = {
        "instances hurt": lambda each: 100 * (each < 0).mean(),
        "lowest error reduction": np.min,
        "median error reduction": np.median,
        "highest error reduction": np.max,
    }
    return [
        Row(name + note, str(size), None, float(figure(each)), len(each))
        for name, figure in figures.items()
        for size, each in zip(SIZES, gains, strict=True)
    ]


def claims_of(some: Sequence[Floats], everything: Sequence[Floats]) -> list[Claim]:
    """Return what the paper says of the plots."""
    hurt = hurt_of(some)
    shares = [f"{100 * (each < 0).mean():.0f}" for each in everything]
    best, best_of_all = (max(float(each.max()) for each in gains) for gains in (some, everything))
    said = ", ".join(f"{size}: {n}" for size, n in hurt.items())
    return [
        Claim(
            f"P-RLRS seldom hurts: at most {HURT[1]} of {SAMPLED} instances (paper: {HURT[0]} to {HURT[1]})",
            max(hurt.values()) <= HURT[1],
            f"{said}; of all instances {', '.join(shares)} %",
        ),
        Claim(
            f"error reductions are up to {MOST} % on some of the sampled instances",
            best >= MOST,
            f"up to {best:.0f} %; of all instances up to {best_of_all:.0f} %",
        ),
    ]


def panel(size: int, some: Floats, everything: Floats) -> Panel:
    """Return the sorted reductions with K subspaces: sampled ones as marks, all as a curve."""
    across = np.linspace(0, 100, PLACES)
    curve = list(zip(across.tolist(), np.percentile(everything, across).tolist(), strict=True))
    at = 100 * (np.arange(len(some)) + 0.5) / len(some)
    marks = list(zip(at.tolist(), np.sort(some).tolist(), strict=True))
    return Panel(
        f"K = {size}",
        "instances, sorted, %",
        "error reduction, %",
        {f"all {len(everything):,}": curve},
        {f"{len(some)} sampled": marks},
    )
