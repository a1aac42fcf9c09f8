"""What the three tables share: rows of figures beside the paper's, tests of difference, and claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from disambig.api.evaluation import chi_squared, mcnemar
from disambig.api.experiments import Claim, Outcomes, Row

Paper = Mapping[str, Mapping[int, float]]
Figures = dict[str, dict[int, float]]
SIZES = (10, 100, 1000, 10_000, 100_000)
WITHIN = 0.5
"""Points by which VAR-SVM with 10 examples may stay below the unsupervised sum."""
SURE = 0.05


def rows_of(outcomes: Outcomes, paper: Paper, *, n: int, note: str = "") -> list[Row]:
    """Return a row for each system and size; None where nothing was learned.

    Parameters
    ----------
    n : int
        Test examples.
    note : str
        Stands behind the size in the setting.
    """
    rows = []
    for (system, size), outcome in outcomes.items():
        published = None if note else paper.get(system, {}).get(size)
        setting = f"{size}{note}"
        rows.append(Row(system, setting, published, outcome.accuracy(), n, outcome.spread()))
    return rows


def figures_of(outcomes: Outcomes) -> Figures:
    """Return the mean accuracy in % of each system and size that was tried."""
    found: Figures = {}
    for (system, size), outcome in outcomes.items():
        share = outcome.accuracy()
        if share is not None:
            found.setdefault(system, {})[size] = share
    return found


def differences(outcomes: Outcomes, best: str, *, folds: int = 1) -> dict[str, dict[str, dict[str, float]]]:
    """Return p by size and system that it differs from `best`: chi-squared and McNemar.

    Parameters
    ----------
    folds : int
        How many of the first draws have test examples of their own; they are put together.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for (system, size), outcome in outcomes.items():
        other = outcomes[best, size]
        if system == best or not outcome.hits or not other.hits:
            continue
        first, second = (np.concatenate(each.hits[:folds]) for each in (outcome, other))
        found.setdefault(str(size), {})[system] = {
            "difference": round(100 * float(second.mean() - first.mean()), 2),
            "chi_squared": float(
                f"{chi_squared(int(first.sum()), len(first), int(second.sum()), len(second)):.3g}"
            ),
            "mcnemar": float(f"{mcnemar(first, second):.3g}"),
        }
    return found


def no_worse_than_the_sum(figures: Figures, unsupervised: float, name: str = "SumLM") -> list[Claim]:
    """VAR-SVM with 10 examples is no worse than the unsupervised sum."""
    var = figures.get("VAR-SVM", {}).get(10)
    if var is None:
        return []
    said = f"VAR-SVM {var:.1f}, {name} {unsupervised:.1f}: {var - unsupervised:+.1f} points"
    text = f"VAR-SVM with 10 examples is no worse than {name} (within {WITHIN} point)"
    return [Claim(text, var >= unsupervised - WITHIN, said)]


def worth_ten_times(figures: Figures, other: str, *, unfinished: int = 0) -> list[Claim]:
    """VAR-SVM with 1K examples does at least as well as `other` with 10K.

    Parameters
    ----------
    unfinished : int
        Draws in which `other` did not converge with 10K examples.
    """
    var, theirs = figures.get("VAR-SVM", {}).get(1000), figures.get(other, {}).get(10_000)
    if var is None or theirs is None:
        return []
    said = f"VAR-SVM {var:.1f}, {other} {theirs:.1f}"
    if unfinished:
        said += f" (which did not converge in {unfinished} draws)"
    text = f"VAR-SVM with 1,000 examples does at least as well as {other} with 10,000"
    return [Claim(text, var >= theirs, said)]


def in_order(figures: Figures, systems: Sequence[str], sizes: Sequence[int] = (10, 100)) -> list[Claim]:
    """Each system beats the one before it, at each of the sizes."""
    claims = []
    for size in sizes:
        shares = [figures[system][size] for system in systems if size in figures.get(system, {})]
        if len(shares) < len(systems):
            continue
        rising = all(a < b for a, b in pairwise(shares))
        said = ", ".join(f"{system} {share:.1f}" for system, share in zip(systems, shares, strict=True))
        claims.append(Claim(f"{' < '.join(systems)} with {size} examples", rising, said))
    return claims


def gains_shrink(figures: Figures, other: str) -> list[Claim]:
    """Claim that the lead of VAR-SVM over `other` falls from each size to the next."""
    sizes = sorted(set(figures.get("VAR-SVM", {})) & set(figures.get(other, {})))
    if len(sizes) < 2:
        return []
    gains = [figures["VAR-SVM"][size] - figures[other][size] for size in sizes]
    said = ", ".join(f"{size:,}: {gain:+.1f}" for size, gain in zip(sizes, gains, strict=True))
    falling = all(a > b for a, b in pairwise(gains))
    return [Claim(f"the gain of VAR-SVM over {other} shrinks as examples are added", falling, said)]


def surely_best(tests: Mapping[str, Any], systems: Sequence[str]) -> list[Claim]:
    """VAR-SVM is better than every one of `systems` up to 1,000 examples, by chi-squared."""
    pairs = [
        (int(size), system, tests[size][system])
        for size in ("10", "100", "1000")
        for system in systems
        if system in tests.get(size, {})
    ]
    if not pairs:
        return []
    weak = [
        f"{system} at {size:,} ({test['difference']:+.1f}, p = {test['chi_squared']:.2g}, "
        f"McNemar {test['mcnemar']:.2g})"
        for size, system, test in pairs
        if not (test["difference"] > 0 and test["chi_squared"] < SURE)
    ]
    said = "not so: " + "; ".join(weak) if weak else f"all {len(pairs)} comparisons have p < {SURE}"
    text = f"VAR-SVM is significantly better than all others up to {pairs[-1][0]:,} examples (chi-squared)"
    return [Claim(text, not weak, said)]


def details_of(outcomes: Outcomes) -> dict[str, Any]:
    """Return for each system and size the figures of each draw, C and seconds."""
    found: dict[str, Any] = {}
    for (system, size), outcome in outcomes.items():
        if outcome.hits:
            found.setdefault(system, {})[str(size)] = outcome.plain()
    return found
