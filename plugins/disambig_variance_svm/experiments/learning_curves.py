"""Shared by the three tables: the five confusion sets, examples from counted text, rows, tests and claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateFinder, DenseBlocks, Group, Instances, TokenView, UserError, Words
from disambig.api.counts import NgramCounts, batches, ngram_columns
from disambig.api.evaluation import chi_squared, mcnemar
from disambig.api.experiments import Claim, Outcomes, Progress, ResultRow, cached, text_lines, with_left_out
from disambig.api.tasks import confusion_set
from disambig.api.text import view_of_texts

from ..plain_text import COUNTED, find_files


def check_parts(path: Path, what: str, parts: Mapping[str, int]) -> None:
    """Raise D725 if a part has no example of `what`; `parts` has their numbers by use ("to test on")."""
    empty = [name for name, n in parts.items() if not n]
    if empty:
        raise UserError("D725", path=path, problem=f"no example of {what} {' and '.join(empty)}")


def check_folds(path: Path, what: str, fold_of: NDArray[np.int64], folds: int) -> None:
    """Raise D725 if a fold has no examples: each fold is used for testing, tuning and training."""
    used = len(np.unique(fold_of))
    if used < folds:
        problem = f"only {used} of {folds} folds have an example of {what}; every one needs some"
        raise UserError("D725", path=path, problem=problem)


SETS = ("among/between", "amount/number", "cite/sight/site", "peace/piece", "raise/rise")
WORDS = tuple(word for name in SETS for word in name.split("/"))


@dataclass(frozen=True)
class FiveConfusionSets:
    """A task that decides every occurrence of a member of the five sets."""

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The five sets."""
        return tuple(map(confusion_set, SETS))

    def instances(self, view: TokenView) -> Instances:
        """Return every occurrence of a member."""
        return CandidateFinder.from_groups(self.groups).find(view)


LAYOUT = 1


@dataclass(frozen=True, slots=True, eq=False)
class CountedExamples:
    """Examples of one set, and the fold of each example's paragraph."""

    batch: DenseBlocks
    folds: NDArray[np.int64]


def find_counted_examples(data: Path, counts: Path, *, progress: Progress) -> Mapping[str, DenseBlocks]:
    """Return all examples from the counted text by set; the result is cached on disk."""
    task = FiveConfusionSets()
    sources = find_files(data, COUNTED)

    def make(path: Path) -> None:
        extractor = NgramCounts(counts=counts)
        parts: list[list[DenseBlocks]] = [[] for _ in task.groups]
        for number, source in enumerate(sources):
            progress("finding examples in counted text", number, len(sources))
            for texts in batches(text_lines(source)):
                view = view_of_texts(texts, Words())
                instances = task.instances(view)
                for g, group in enumerate(task.groups):
                    of_group = instances.take(np.flatnonzero(instances.groups == g))
                    if len(of_group):
                        parts[g].append(with_left_out(extractor, view, of_group, group))
        arrays = {}
        for g, blocks in enumerate(parts):
            check_parts(data, task.groups[g].name, {"in counted text": len(blocks)})
            arrays[f"values{g}"] = np.concatenate([batch.values for batch in blocks])
            arrays[f"costs{g}"] = np.concatenate([batch.costs for batch in blocks])
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

    details = {
        "layout": LAYOUT,
        "sets": [list(group.candidates) for group in task.groups],
        "counts": counts.name,
    }
    path = cached("five-sets", ".npz", sources=sources, details=details, make=make)
    by_set = {}
    with np.load(path, allow_pickle=False) as arrays:
        for g, group in enumerate(task.groups):
            values = arrays[f"values{g}"]
            _, k, a = values.shape
            column_of = np.arange(k * a).reshape(k, a)
            by_set[group.name] = DenseBlocks(values, column_of, ngram_columns(group), arrays[f"costs{g}"])
    return by_set


Paper = Mapping[str, Mapping[int, float]]
Figures = dict[str, dict[int, float]]
SIZES = (10, 100, 1000, 10_000, 100_000)
WITHIN = 0.5
"""Points by which VAR-SVM with 10 examples may be below the unsupervised sum."""
SIGNIFICANCE = 0.05


def curve_rows(outcomes: Outcomes, paper: Paper, *, n: int, note: str = "") -> list[ResultRow]:
    """Return a row for each system and size, without a value if nothing was learned.

    `n` is the number of test examples; `note` is appended to the size.
    """
    rows = []
    for (system, size), outcome in outcomes.items():
        published = None if note else paper.get(system, {}).get(size)
        setting = f"{size}{note}"
        rows.append(ResultRow(system, setting, published, outcome.accuracy(), n, outcome.spread()))
    return rows


def mean_accuracies(outcomes: Outcomes) -> Figures:
    """Return the mean accuracy in % for each system and size that was run."""
    accuracies: Figures = {}
    for (system, size), outcome in outcomes.items():
        accuracy = outcome.accuracy()
        if accuracy is not None:
            accuracies.setdefault(system, {})[size] = accuracy
    return accuracies


def differences(outcomes: Outcomes, best: str, *, folds: int = 1) -> dict[str, dict[str, dict[str, float]]]:
    """Return the p-values of the difference of each system from `best`: chi-squared and McNemar.

    `folds` is the number of first draws whose test examples do not overlap; they are concatenated.
    """
    tests: dict[str, dict[str, dict[str, float]]] = {}
    for (system, size), outcome in outcomes.items():
        other = outcomes[best, size]
        if system == best or not outcome.hits or not other.hits:
            continue
        first, second = (np.concatenate(compared.hits[:folds]) for compared in (outcome, other))
        tests.setdefault(str(size), {})[system] = {
            "difference": round(100 * float(second.mean() - first.mean()), 2),
            "chi_squared": float(
                f"{chi_squared(int(first.sum()), len(first), int(second.sum()), len(second)):.3g}"
            ),
            "mcnemar": float(f"{mcnemar(first, second):.3g}"),
        }
    return tests


def claim_no_worse_than_sum(figures: Figures, unsupervised: float, name: str = "SumLM") -> list[Claim]:
    """Return the claim that VAR-SVM with 10 examples is no worse than the unsupervised sum."""
    var = figures.get("VAR-SVM", {}).get(10)
    if var is None:
        return []
    evidence = f"VAR-SVM {var:.1f}, {name} {unsupervised:.1f}: {var - unsupervised:+.1f} points"
    text = f"VAR-SVM with 10 examples is not worse than {name} (within {WITHIN} point)"
    return [Claim(text, var >= unsupervised - WITHIN, evidence)]


def claim_worth_ten_times(figures: Figures, other: str, *, unfinished: int = 0) -> list[Claim]:
    """Return the claim that VAR-SVM with 1K examples does at least as well as `other` with 10K.

    `unfinished` is the number of draws in which `other` did not converge with 10K examples.
    """
    var, theirs = figures.get("VAR-SVM", {}).get(1000), figures.get(other, {}).get(10_000)
    if var is None or theirs is None:
        return []
    evidence = f"VAR-SVM {var:.1f}, {other} {theirs:.1f}"
    if unfinished:
        evidence += f" (which did not converge in {unfinished} draws)"
    text = f"VAR-SVM with 1,000 examples does at least as well as {other} with 10,000"
    return [Claim(text, var >= theirs, evidence)]


def claim_order(figures: Figures, systems: Sequence[str]) -> list[Claim]:
    """Return the claims that each system beats the previous one at each size."""
    claims = []
    for size in (10, 100):
        shares = [figures[system][size] for system in systems if size in figures.get(system, {})]
        if len(shares) < len(systems):
            continue
        rising = all(a < b for a, b in pairwise(shares))
        evidence = ", ".join(f"{system} {share:.1f}" for system, share in zip(systems, shares, strict=True))
        claims.append(Claim(f"{' < '.join(systems)} with {size} examples", rising, evidence))
    return claims


def claim_gains_shrink(figures: Figures, other: str) -> list[Claim]:
    """Return the claim that the lead of VAR-SVM over `other` falls from each size to the next."""
    sizes = sorted(set(figures.get("VAR-SVM", {})) & set(figures.get(other, {})))
    if len(sizes) < 2:
        return []
    gains = [figures["VAR-SVM"][size] - figures[other][size] for size in sizes]
    evidence = ", ".join(f"{size:,}: {gain:+.1f}" for size, gain in zip(sizes, gains, strict=True))
    falling = all(a > b for a, b in pairwise(gains))
    return [Claim(f"the gain of VAR-SVM over {other} shrinks as examples are added", falling, evidence)]


def claim_significantly_best(tests: Mapping[str, Any], systems: Sequence[str]) -> list[Claim]:
    """Return the claim that VAR-SVM beats all `systems` up to 1,000 examples, by chi-squared."""
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
        if not (test["difference"] > 0 and test["chi_squared"] < SIGNIFICANCE)
    ]
    evidence = (
        "exceptions: " + "; ".join(weak) if weak else f"all {len(pairs)} comparisons have p < {SIGNIFICANCE}"
    )
    text = f"VAR-SVM is significantly better than all others up to {pairs[-1][0]:,} examples (chi-squared)"
    return [Claim(text, not weak, evidence)]


def draw_details(outcomes: Outcomes) -> dict[str, Any]:
    """Return the accuracy of each draw, C and seconds for each system and size."""
    details: dict[str, Any] = {}
    for (system, size), outcome in outcomes.items():
        if outcome.hits:
            details.setdefault(system, {})[str(size)] = outcome.plain()
    return details
