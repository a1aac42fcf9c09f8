"""``collins2005.reranking``: reranking of the 50 best parses of a PCFG."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api.arrays import Ints
from disambig.api.experiments import Claim, ExperimentResult, Progress, ResultRow, run_parts
from disambig.api.measures import Outcomes, Paired, paired_bootstrap
from disambig.api.tasks import CandidateLists

from ..reranking.lists import TreeLists
from ..treebank.parseval import BracketF1, Parseval
from .tree_lists import (
    COST,
    CRAFT_LISTS,
    CRAFT_TEST,
    CRAFT_TREES,
    HINGE,
    LEARNED,
    LOG,
    ORACLE,
    PCFG,
    PERCEPTRON,
    SOURCES,
    TreebankSource,
    TreeListFeatures,
    chosen_trees,
    load_lists,
    train_reranker,
)

SIGNIFICANCE = 0.05
REQUIRED_GAIN = 2.0
"""Required gain in F1 over the PCFG, in points."""
COMPARED = (
    (PCFG, PERCEPTRON), (PCFG, HINGE), (PCFG, COST), (PCFG, LOG),
    (PERCEPTRON, HINGE), (PERCEPTRON, COST), (PERCEPTRON, LOG), (HINGE, COST),
)  # fmt: skip


Comparisons = Mapping[tuple[str, str], Paired]
"""The comparison of the second of two systems with the first."""


def compare_rerankers(test: TreeLists, at: Mapping[str, Ints]) -> Comparisons:
    """Compare the choices of systems, given as rows of candidates, with a paired bootstrap over sentences."""
    outcomes = {}
    for name, rows in at.items():
        chosen = CandidateLists.from_texts([[test.lists.texts[row]] for row in rows.tolist()])
        outcomes[name] = Outcomes.from_lists(chosen, references=test.references)
    return {
        (first, second): paired_bootstrap(BracketF1(), outcomes[first], outcomes[second])
        for first, second in COMPARED
    }


def reranking_claims(comparisons: Mapping[str, Comparisons]) -> list[Claim]:
    """Return each claim with its figures."""

    def evidence(first: str, second: str) -> str:
        return "; ".join(
            f"{name} {100 * compared[first, second].difference:+.2f} (p = {compared[first, second].p:.4f})"
            for name, compared in comparisons.items()
        )

    def better(first: str, second: str, minimum: float = 0.0) -> bool:
        gains = [compared[first, second] for compared in comparisons.values()]
        return all(
            100 * gain.difference >= max(minimum, np.nextafter(0, 1)) and gain.p < SIGNIFICANCE
            for gain in gains
        )

    def no_worse(first: str, second: str) -> bool:
        differences = [compared[first, second] for compared in comparisons.values()]
        return not any(paired.difference < 0 and paired.p < SIGNIFICANCE for paired in differences)

    claims = [
        Claim(f"{system}: reranking beats the PCFG", better(PCFG, system), evidence(PCFG, system))
        for system in (HINGE, COST, LOG)
    ]
    claims += [
        Claim(
            f"{system}: not worse than the averaged perceptron (not significantly, p < {SIGNIFICANCE:g})",
            no_worse(PERCEPTRON, system),
            evidence(PERCEPTRON, system),
        )
        for system in (HINGE, COST, LOG)
    ]
    claims.append(
        Claim("cost-sensitive EG is not worse than hinge on F1", no_worse(HINGE, COST), evidence(HINGE, COST))
    )
    claims.append(
        Claim(
            f"our requirement: cost-sensitive EG is at least {REQUIRED_GAIN:g} points of F1 above the PCFG",
            better(PCFG, COST, REQUIRED_GAIN),
            evidence(PCFG, COST),
        )
    )
    return claims


@dataclass(frozen=True, slots=True)
class Collins2005Reranking:
    """PCFG, averaged perceptron and EG on both treebanks."""

    title: ClassVar[str] = "Collins 2005: reranking of parses, sentences of up to 40 words, in %"
    description: ClassVar[str] = "parse reranking: PCFG, averaged perceptron, EG with each loss, oracle"
    needs: ClassVar[tuple[str, ...]] = TreebankSource.needs

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Parse, train and rerank; with `quick` on a few short sentences of one treebank."""
        return run_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> list[str]:
        """Return the names of the treebanks."""
        return [source.name for source in SOURCES[: 1 if quick else None]]

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> SourceResults:
        """Train on one treebank's lists, and rerank its test lists."""
        (source,) = (item for item in SOURCES if item.name == name)
        return evaluate_source(source, data, quick=quick, progress=progress)

    def joined(self, results: Mapping[str, SourceResults], *, quick: bool) -> ExperimentResult:
        """Combine the results of the treebanks."""
        return ExperimentResult(
            [row for result in results.values() for row in result.rows],
            reranking_claims({name: result.compared for name, result in results.items()}),
            _reranking_notes(quick),
            {name: result.details for name, result in results.items()},
            places=2,
        )


@dataclass(frozen=True, slots=True)
class SourceResults:
    """Results of a treebank."""

    rows: list[ResultRow]  # the figures of each system's choices in the test lists
    compared: Comparisons
    details: dict[str, Any]  # further figures as plain values


def evaluate_source(source: TreebankSource, data: Path, *, quick: bool, progress: Progress) -> SourceResults:
    """Train on one treebank's lists, and rerank its test lists."""
    lists = load_lists(source, data, quick=quick, progress=progress)
    learn, test = lists["train"], lists["test"]
    progress(f"{source.name}: features", 0, 0)
    started = time.perf_counter()
    features = TreeListFeatures.from_lists(learn.lists)
    seconds = time.perf_counter() - started
    weights, reports = {}, {}
    for number, name in enumerate(LEARNED):
        progress(f"{source.name}: {name}", number, len(LEARNED))
        weights[name], reports[name] = train_reranker(name, features.train)
    progress(f"{source.name}: reranking", 0, 0)
    scores = features.scores(test.lists, list(weights.values()))
    at: dict[str, Ints] = {PCFG: chosen_trees(test, test.lists.scores)}
    at |= {name: chosen_trees(test, row_scores) for name, row_scores in zip(weights, scores, strict=True)}
    at[ORACLE] = chosen_trees(test, -test.lists.costs.astype(np.float64))
    details = {
        "lists to learn from": _describe_source(learn),
        "lists to test on": _describe_source(test),
        "features": len(features.train.columns),
        "features a candidate": round(float(np.diff(features.train.rows.indptr).mean()), 1),  # type: ignore[attr-defined]
        "seconds for features": round(seconds, 1),
        "systems": reports,
    }
    counts = {name: test.counts.take(chosen) for name, chosen in at.items()}
    compared = compare_rerankers(test, at)
    details["significance"] = {
        f"{second} less {first}": {
            "points": round(100 * paired.difference, 3),
            "interval": [round(100 * end, 3) for end in paired.interval],
            "p": round(paired.p, 5),
        }
        for (first, second), paired in compared.items()
    }
    return SourceResults(reranking_rows(source.name, counts), compared, details)


def reranking_rows(treebank: str, by_system: Mapping[str, Parseval]) -> list[ResultRow]:
    """Return the figures of each system from the counts of its choices."""
    return [
        ResultRow(f"{treebank}, {name}", setting, None, 100 * figure, len(counts))
        for name, counts in by_system.items()
        for setting, figure in (
            ("F1", counts.f1),
            ("recall", counts.recall),
            ("precision", counts.precision),
            ("exact", counts.exact),
        )
    ]


def _describe_source(lists: TreeLists) -> dict[str, Any]:
    offsets = lists.lists.offsets
    lowest_costs = np.minimum.reduceat(lists.lists.costs, offsets[:-1])
    first = lists.counts.take(offsets[:-1])
    best = lists.counts.take(chosen_trees(lists, -lists.lists.costs.astype(np.float64)))
    return {
        "sentences": len(lists),
        "candidates": int(offsets[-1]),
        "lists with the right tree": int((lowest_costs == 0).sum()),
        "F1 of the first": round(100 * first.f1, 2),
        "F1 of the oracle": round(100 * best.f1, 2),
    }


def _reranking_notes(quick: bool) -> list[str]:
    notes = [
        "the slides plot accuracy and convergence against iterations, for 36,000 sentences of the Wall "
        "Street Journal, and print no table: there is no figure to compare with ours",
        "lists are the 50 best parses of the PCFG, without tags; training lists are made in folds, each "
        "parsed by a grammar of the others (Collins 2000; ten folds, five for CRAFT)",
        f"CRAFT is subsampled: its grammar is read from {CRAFT_TREES:,} of 24,067 sentences, spread "
        f"evenly over the training articles, of which {CRAFT_LISTS:,} have a list; {CRAFT_TEST:,} of "
        "5,753 are tested",
        "C and the perceptron's number of passes have the fewest bracket errors on the last fifth of the "
        "training lists; the final model is trained on all",
        "figures are evalb's, on all sentences of up to 40 words, punctuation counted; p is from a "
        "paired bootstrap over sentences",
    ]
    return [*notes, "a few short sentences of one treebank"] if quick else notes
