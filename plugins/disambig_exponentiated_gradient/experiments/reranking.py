"""``collins2005.reranking``: the 50 best parses of a PCFG, reranked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api.experiments import ExperimentResult, Progress, Row, in_parts
from disambig_exponentiated_gradient.reranking.lists import TreeLists
from disambig_exponentiated_gradient.treebank.parseval import Parseval

from .described import Described, Ints, chosen
from .reranking_claims import Compared, claims_of, compare
from .systems import LEARNED, ORACLE, PCFG, train
from .treebanks import CRAFT_LISTS, CRAFT_TEST, CRAFT_TREES, SOURCES, Source, lists_of


@dataclass(frozen=True, slots=True)
class Reranking:
    """PCFG, averaged perceptron and EG on both treebanks."""

    title: ClassVar[str] = "Collins 2005: reranking of parses, sentences of up to 40 words, in %"
    description: ClassVar[str] = "parse reranking: PCFG, averaged perceptron, EG with each loss, oracle"
    needs: ClassVar[tuple[str, ...]] = Source.needs

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Parse, learn and rerank; with `quick` few and short sentences of one treebank."""
        return in_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> list[str]:
        """Return the names of the treebanks."""
        return [each.name for each in SOURCES[: 1 if quick else None]]

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> Tried:
        """Learn from one treebank's lists, and rerank others."""
        (source,) = (each for each in SOURCES if each.name == name)
        return try_source(source, data, quick=quick, progress=progress)

    def joined(self, found: Mapping[str, Tried], *, quick: bool) -> ExperimentResult:
        """Put the treebanks' figures together."""
        return ExperimentResult(
            [row for each in found.values() for row in rows_of(each)],
            claims_of({name: each.compared for name, each in found.items()}),
            _notes(quick),
            {name: each.about for name, each in found.items()},
            places=2,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """What a treebank gave.

    Attributes
    ----------
    name : str
    counts : mapping of str to Parseval
        Of what each system chose in the lists to test on.
    compared : Compared
    about : dict
        More figures, as plain values.
    """

    name: str
    counts: Mapping[str, Parseval]
    compared: Compared
    about: dict[str, Any]


def try_source(source: Source, data: Path, *, quick: bool, progress: Progress) -> Tried:
    """Learn from one treebank's lists, and rerank others."""
    lists = lists_of(source, data, quick=quick, progress=progress)
    learn, test = lists["train"], lists["test"]
    progress(f"{source.name}: features", 0, 0)
    before = time.perf_counter()
    described = Described.of(learn.lists)
    spent = time.perf_counter() - before
    found = {}
    for number, name in enumerate(LEARNED):
        progress(f"{source.name}: {name}", number, len(LEARNED))
        found[name] = train(name, described.train)
    progress(f"{source.name}: reranking", 0, 0)
    scores = described.scores(test.lists, [each.weights for each in found.values()])
    at: dict[str, Ints] = {PCFG: chosen(test, test.lists.scores)}
    at |= {name: chosen(test, each) for name, each in zip(found, scores, strict=True)}
    at[ORACLE] = chosen(test, -test.lists.costs.astype(np.float64))
    about = {
        "lists to learn from": _about(learn),
        "lists to test on": _about(test),
        "features": len(described.train.columns),
        "features a candidate": round(float(np.diff(described.train.rows.indptr).mean()), 1),  # type: ignore[attr-defined]
        "seconds for features": round(spent, 1),
        "systems": {name: each.about for name, each in found.items()},
    }
    counts = {name: test.counts.take(each) for name, each in at.items()}
    compared = compare(test, at)
    return Tried(source.name, counts, compared, {**about, "significance": compared.told()})


def rows_of(tried: Tried) -> list[Row]:
    """Return the figures of each system."""
    return [
        Row(f"{tried.name}, {name}", setting, None, 100 * figure, len(counts))
        for name, counts in tried.counts.items()
        for setting, figure in (
            ("F1", counts.f1),
            ("recall", counts.recall),
            ("precision", counts.precision),
            ("exact", counts.exact),
        )
    ]


def _about(found: TreeLists) -> dict[str, Any]:
    offsets = found.lists.offsets
    least = np.minimum.reduceat(found.lists.costs, offsets[:-1])
    first = found.counts.take(offsets[:-1])
    best = found.counts.take(chosen(found, -found.lists.costs.astype(np.float64)))
    return {
        "sentences": len(found),
        "candidates": int(offsets[-1]),
        "lists with the right tree": int((least == 0).sum()),
        "F1 of the first": round(100 * first.f1, 2),
        "F1 of the oracle": round(100 * best.f1, 2),
    }


def _notes(quick: bool) -> list[str]:
    said = [
        "the slides show plots of accuracy and of convergence against iterations, of 36,000 sentences of the "
        "Wall Street Journal, and print no table: there is no figure to set beside ours",
        "lists are the 50 best parses of the PCFG, without tags; those to learn from come of folds, each "
        "parsed by a grammar of the other ones (Collins 2000; ten folds, five of CRAFT)",
        f"CRAFT is cut: its grammar is of {CRAFT_TREES:,} sentences of 24,067, spread evenly over the "
        f"articles to learn from, of which {CRAFT_LISTS:,} have a list; {CRAFT_TEST:,} of 5,753 test",
        "C, and the perceptron's number of passes, are those of the least bracket errors on the last fifth "
        "of the lists to learn from; then all are learned from",
        "figures are evalb's, of all sentences of up to 40 words, punctuation counted; p is of a paired "
        "bootstrap over sentences",
    ]
    return [*said, "few and short sentences of one treebank"] if quick else said
