"""``bergsma2010.table1``: preposition selection with every system of the paper's table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from disambig.api import DenseBlocks, Words
from disambig.api.counts import NgramCounts
from disambig.api.experiments import (
    Draw,
    ExperimentResult,
    LearningSystem,
    Progress,
    ResultRow,
    count_hits,
    counts_around,
    learn_all,
    paragraphs,
)
from disambig.api.features import transform_checked
from disambig.api.text import view_of_texts
from disambig.api.training import split

from ..learners.baselines import Majority, SumLM
from ..learners.multiclass_svm import KSVM, MAX_PASSES, OneVersusAll
from ..learners.variance_svm import VarianceSVM
from ..plain_text import COUNTED, HELD_OUT, QUICK_COUNTED, find_files
from ..prepositions.task import PREPOSITIONS, Preposition
from . import learning_curves as curves
from .learning_curves import WORDS, check_parts

SUMMED = ("3-gram", "4-gram", "5-gram")
PAPER = {
    "OvA-SVM": dict(zip(curves.SIZES, (16.0, 50.6, 66.1, 71.1, 73.5), strict=True)),
    "K-SVM": dict(zip(curves.SIZES, (13.7, 50.0, 65.8, 72.0, 74.7), strict=True)),
    "K-SVM+": dict(zip(curves.SIZES, (22.2, 56.8, 70.5, 73.7, 75.2), strict=True)),
    "CS-SVM": dict(zip(curves.SIZES, (27.1, 58.8, 69.0, 73.5, 74.2), strict=True)),
    "CS-SVM+": dict(zip(curves.SIZES, (39.6, 64.8, 71.5, 74.0, 74.4), strict=True)),
    "VAR-SVM": dict(zip(curves.SIZES, (73.8, 74.2, 74.7, 74.9, 74.9), strict=True)),
}
TUNED = 10_000
"""Number of training examples up to which LIBLINEAR's learners choose C; larger sizes reuse that C."""
TOLERANCE = 0.1
"""LIBLINEAR's stopping criterion; with it the K-SVM's objective is within about 1e-3 of the optimum."""


def passes(size: int) -> int:
    """Return the maximum number of passes over the examples for OvA's 34 SVMs; unbounded, it takes hours."""
    return min(1000, max(50, 100_000 // size))


SYSTEMS = (
    LearningSystem("OvA-SVM", lambda size: OneVersusAll(tolerance=TOLERANCE, max_iter=passes(size)), TUNED),
    LearningSystem("K-SVM", lambda size: KSVM(tolerance=TOLERANCE), TUNED),
    LearningSystem("K-SVM+", lambda size: KSVM(tolerance=TOLERANCE, sum=SUMMED), TUNED),
    LearningSystem("CS-SVM", lambda size: VarianceSVM(variance=())),
    LearningSystem("CS-SVM+", lambda size: VarianceSVM(variance=(), sum=SUMMED)),
    LearningSystem("VAR-SVM", lambda size: VarianceSVM(variance=SUMMED)),
)
LEARN, DEV, TEST = 100_000, 10_000, 10_000
DRAWS = {10: 10, 100: 5, 1000: 3, 10_000: 1, 100_000: 1}
QUICK_DRAWS = {10: 3, 100: 2, 1000: 1}


@dataclass(frozen=True, slots=True)
class Bergsma2010Table1:
    """Predict which of 34 prepositions was written, at every occurrence of one."""

    title: ClassVar[str] = "Bergsma et al. 2010, table 1: preposition selection, accuracy in % (paper / ours)"
    description: ClassVar[str] = "preposition selection: OvA, K, K+, CS, CS+ and VAR-SVM, 10 to 100K examples"
    needs: ClassVar[tuple[str, ...]] = (*COUNTED, *HELD_OUT)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Count n-grams, draw examples and train; with `quick` on up to 1,000 examples."""
        texts = split(paragraphs(find_files(data, HELD_OUT)))
        files = find_files(data, QUICK_COUNTED if quick else COUNTED)
        counts = counts_around(files, [*PREPOSITIONS, *WORDS], progress=progress)
        maximum = (1000, 2000, 3000) if quick else (LEARN, DEV, TEST)
        pool, dev, test = preposition_examples(texts, counts, maximum, progress)
        parts = {"to learn from": pool, "to tune on": dev, "to test on": test}
        check_parts(data, "a preposition", {use: len(batch.values) for use, batch in parts.items()})

        def draw(number: int) -> Draw:
            return Draw(pool, np.random.default_rng((1, number)).permutation(len(pool.values)), dev, test)

        outcomes = learn_all(SYSTEMS, draw, draws=QUICK_DRAWS if quick else DRAWS, progress=progress)
        fixed = {
            "SumLM": SumLM(patterns=SUMMED).fit(pool).scorer.scores(test),
            "majority": Majority().fit(pool).scorer.scores(test),
        }
        shares = {name: 100 * float(count_hits(scores, test).mean()) for name, scores in fixed.items()}
        n = len(test.values)
        large = outcomes.get(("K-SVM", 10_000))
        unfinished = large.plain()["not_converged"] if large else 0
        figures, tests = curves.mean_accuracies(outcomes), curves.differences(outcomes, "VAR-SVM")
        rows = [ResultRow("majority", "", 20.3, shares["majority"], n)]
        rows += [ResultRow("SumLM", "", 73.7, shares["SumLM"], n), *curves.curve_rows(outcomes, PAPER, n=n)]
        claims = [
            *curves.claim_no_worse_than_sum(figures, shares["SumLM"]),
            *curves.claim_worth_ten_times(figures, "K-SVM", unfinished=unfinished),
            *curves.claim_order(figures, ("K-SVM", "CS-SVM", "CS-SVM+", "VAR-SVM")),
            *curves.claim_gains_shrink(figures, "K-SVM"),
            *curves.claim_significantly_best(tests, [system.name for system in SYSTEMS[:-1]]),
        ]
        notes = [
            "counts from the training text; examples from held-out text, from different paragraphs: "
            f"{len(pool.values):,} for training, {len(dev.values):,} for tuning, {n:,} for testing",
            "an example is every occurrence of one of the 34 words, including particles and conjunctions",
            f"LIBLINEAR makes at most 1,000 passes over the examples for OvA-SVM, {passes(10000)} if there "
            f"are many, and {MAX_PASSES:,} for K-SVM and K-SVM+; details.systems.*.not_converged says for "
            f"which draws they were too few; for more than {TUNED:,} examples it uses the C chosen for "
            f"{TUNED:,}",
        ]
        details = {"significance": tests, "systems": curves.draw_details(outcomes)}
        return ExperimentResult(rows, claims, notes, details)


def preposition_examples(
    texts: Mapping[str, Sequence[str]], counts: Path, maximum: tuple[int, int, int], progress: Progress
) -> tuple[DenseBlocks, DenseBlocks, DenseBlocks]:
    """Return batches for training, tuning and testing: random occurrences from different paragraphs."""
    task, extractor = Preposition(only_as_preposition=False), NgramCounts(counts=counts)
    batches = []
    for number, (part, size) in enumerate(zip(("train", "dev", "test"), maximum, strict=True)):
        progress("looking up counts", number, 3)
        view = view_of_texts(texts[part], Words())
        instances = task.instances(view)
        chosen = np.random.default_rng((0, number)).permutation(len(instances))[:size]
        batch = transform_checked(extractor, view, instances.take(np.sort(chosen)), task.groups[0]).batch
        assert isinstance(batch, DenseBlocks)
        batches.append(batch)
    return batches[0], batches[1], batches[2]
