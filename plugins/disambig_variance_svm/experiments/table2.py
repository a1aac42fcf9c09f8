"""``bergsma2010.table2``: five confusion sets with the systems of the paper's table 2, mean over the sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks, Words
from disambig.api.counts import NgramCounts
from disambig.api.experiments import (
    Draw,
    ExperimentResult,
    LearningSystem,
    Outcomes,
    Progress,
    ResultRow,
    count_hits,
    counts_around,
    join_blocks,
    learn_all,
    paragraphs,
)
from disambig.api.features import transform_checked
from disambig.api.text import view_of_texts

from ..learners.baselines import Majority, SumLM
from ..learners.multiclass_svm import KSVM, MAX_PASSES
from ..learners.variance_svm import VarianceSVM
from ..plain_text import COUNTED, HELD_OUT, QUICK_COUNTED, find_files
from ..prepositions.task import PREPOSITIONS
from . import learning_curves as curves
from .learning_curves import WORDS, CountedExamples, FiveConfusionSets, check_folds, find_counted_examples

SUMMED = ("2-gram", "3-gram", "4-gram", "5-gram")
PAPER = {
    "CS-SVM": dict(zip(curves.SIZES, (86.0, 93.5, 95.1, 95.7, 95.7), strict=True)),
    "CS-SVM+": dict(zip(curves.SIZES, (91.0, 94.9, 95.3, 95.7, 95.7), strict=True)),
    "VAR-SVM": dict(zip(curves.SIZES, (94.9, 95.3, 95.6, 95.7, 95.8), strict=True)),
}
TUNED = 10_000
"""Number of training examples up to which the K-SVM chooses C; larger sizes reuse that C."""
SYSTEMS = (
    LearningSystem("K-SVM", lambda size: KSVM(tolerance=0.1), TUNED),
    LearningSystem("CS-SVM", lambda size: VarianceSVM(variance=())),
    LearningSystem("CS-SVM+", lambda size: VarianceSVM(variance=(), sum=SUMMED)),
    LearningSystem("VAR-SVM", lambda size: VarianceSVM(variance=SUMMED)),
)
FOLDS = 5
DRAWS = {10: 10, 100: 5, 1000: 5, 10_000: 5, 100_000: 5}
QUICK_DRAWS = {10: 5, 100: 5}


@dataclass(frozen=True, slots=True)
class Bergsma2010Table2:
    """Predict which member of a confusion set was written."""

    title: ClassVar[str] = (
        "Bergsma et al. 2010, table 2: context-sensitive spelling, accuracy in % (paper / ours)"
    )
    description: ClassVar[str] = "five confusion sets, mean: K, CS, CS+ and VAR-SVM, 10 to 100K examples"
    needs: ClassVar[tuple[str, ...]] = (*COUNTED, *HELD_OUT)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Count n-grams, find examples and train set by set; with `quick` 10 and 100 held-out examples."""
        texts = list(paragraphs(find_files(data, HELD_OUT)))
        files = find_files(data, QUICK_COUNTED if quick else COUNTED)
        counts = counts_around(files, [*PREPOSITIONS, *WORDS], progress=progress)
        progress("looking up counts", 0, 1)
        held_out = held_out_examples(texts, counts)
        for name, examples in held_out.items():
            check_folds(data, name, examples.folds, FOLDS)
        counted = {} if quick else find_counted_examples(data, counts, progress=progress)
        draws = QUICK_DRAWS if quick else DRAWS
        by_set: dict[str, Outcomes] = {}
        fixed: dict[str, tuple[float, float]] = {}
        for group in FiveConfusionSets().groups:
            test = held_out[group.name]
            material = SpellingExamples(test, counted.get(group.name))
            outcomes = learn_all(
                SYSTEMS, material.draw, draws=draws, progress=progress, stage=f"learning {group.name}"
            )
            by_set[group.name] = complete(outcomes, draws)
            scorers = [learner.fit(test.batch).scorer for learner in (Majority(), SumLM(patterns=SUMMED))]
            shares = [100 * float(count_hits(s.scores(test.batch), test.batch).mean()) for s in scorers]
            fixed[group.name] = shares[0], shares[1]
        n = sum(len(examples.batch.values) for examples in held_out.values())
        return _result(by_set, fixed, n, counted, held_out)


@dataclass(frozen=True, slots=True, eq=False)
class SpellingExamples:
    """Examples of one set: the folds of the held-out paragraphs, and more examples from counted text."""

    held_out: CountedExamples
    counted: DenseBlocks | None

    def draw(self, number: int) -> Draw:
        """Return draw `number`: one fold of paragraphs tests, the next one tunes, the rest trains."""
        rng = np.random.default_rng((2, number))
        fold = (self.held_out.folds - number) % FOLDS
        training = rng.permutation(np.flatnonzero(fold > 1))
        pool, order = self.held_out.batch, training
        if self.counted is not None:
            more = rng.permutation(len(self.counted.values)) + len(pool.values)
            pool, order = join_blocks([pool, self.counted]), np.concatenate([training, more])
        test, dev = (self.held_out.batch.take(np.flatnonzero(fold == part)) for part in (0, 1))
        return Draw(pool, order, dev, test)


def held_out_examples(texts: Sequence[str], counts: Path) -> dict[str, CountedExamples]:
    """Return all examples from held-out text by set."""
    view, extractor = view_of_texts(texts, Words()), NgramCounts(counts=counts)
    instances = FiveConfusionSets().instances(view)
    fold_of = np.random.default_rng(2).permutation(len(texts)) % FOLDS
    by_set = {}
    for number, group in enumerate(FiveConfusionSets().groups):
        of_group = instances.take(np.flatnonzero(instances.groups == number))
        batch = transform_checked(extractor, view, of_group, group).batch
        assert isinstance(batch, DenseBlocks)
        by_set[group.name] = CountedExamples(batch, fold_of[view.document_indices(of_group.positions)])
    return by_set


def _result(
    by_set: Mapping[str, Outcomes],
    fixed: Mapping[str, tuple[float, float]],
    n: int,
    counted: Mapping[str, DenseBlocks],
    held_out: Mapping[str, CountedExamples],
) -> ExperimentResult:
    """Return the table, the paper's claims and notes, from the outcomes by set of all systems.

    `fixed`: accuracies of the majority and of SumLM by set, in %.
    `n`: number of held-out examples.
    """
    majority, summed = (float(np.mean([pair[i] for pair in fixed.values()])) for i in (0, 1))
    rows = [ResultRow("majority", "", 66.9, majority, n), ResultRow("SumLM", "", 94.8, summed, n)]
    figures: curves.Figures = {}
    incomplete: dict[str, int] = {}
    for system, size in next(iter(by_set.values())):
        outcomes = [
            set_outcomes[system, size] for set_outcomes in by_set.values() if set_outcomes[system, size].hits
        ]
        published = PAPER.get(system, {}).get(size)
        if len(outcomes) < len(by_set):  # a mean over fewer sets would not be comparable
            incomplete[f"{size:,}"] = len(outcomes)
            rows.append(ResultRow(system, str(size), published, None, 0))
            continue
        draws = np.array([[hits.mean() for hits in outcome.hits] for outcome in outcomes])
        shares = 100 * draws.mean(axis=0)
        figures.setdefault(system, {})[size] = float(shares.mean())
        rows.append(
            ResultRow(system, str(size), published, float(shares.mean()), n, float(shares.std(ddof=1)))
        )
    tests = {name: curves.differences(outcomes, "VAR-SVM", folds=FOLDS) for name, outcomes in by_set.items()}
    pooled = curves.differences(pool(list(by_set.values())), "VAR-SVM", folds=FOLDS)
    large = [
        set_outcomes["K-SVM", 10_000] for set_outcomes in by_set.values() if ("K-SVM", 10_000) in set_outcomes
    ]
    unfinished = sum(outcome.plain()["not_converged"] for outcome in large)
    claims = [
        *curves.claim_no_worse_than_sum(figures, summed),
        *curves.claim_worth_ten_times(figures, "K-SVM", unfinished=unfinished),
        *curves.claim_worth_ten_times(figures, "CS-SVM+"),
        *curves.claim_order(figures, ("CS-SVM", "CS-SVM+", "VAR-SVM")),
        *curves.claim_gains_shrink(figures, "CS-SVM"),
        *curves.claim_significantly_best(pooled, ("K-SVM", "CS-SVM", "CS-SVM+")),
    ]
    details = {
        "significance": pooled,
        "sets": {
            name: {
                "majority": round(fixed[name][0], 2),
                "SumLM": round(fixed[name][1], 2),
                "systems": curves.draw_details(outcomes),
                "significance": tests[name],
            }
            for name, outcomes in by_set.items()
        },
    }
    return ExperimentResult(rows, claims, _notes(counted, held_out, incomplete), details)


def _notes(
    counted: Mapping[str, DenseBlocks],
    held_out: Mapping[str, CountedExamples],
    incomplete: Mapping[str, int],
) -> list[str]:
    """Return the notes below the table; `incomplete`: numbers of sets with enough examples, by size."""
    sizes = ", ".join(f"{name} {len(examples.batch.values):,}" for name, examples in held_out.items())
    notes = [f"held-out examples: {sizes}; five folds of paragraphs: each tests once, the next one tunes"]
    if counted:
        sizes = ", ".join(f"{name} {len(batch.values):,}" for name, batch in counted.items())
        notes.append(
            "larger sizes are filled up from counted text, without the counts of the example's own "
            f"paragraph: {sizes}"
        )
    notes += [
        f"{size} examples: {sets} of 5 sets have that many, so there is no mean"
        for size, sets in incomplete.items()
    ]
    return [
        *notes,
        "significance: over the test examples of all sets together; majority: over all test examples",
        f"LIBLINEAR (K-SVM) makes at most {MAX_PASSES:,} passes over the examples; for more than "
        f"{TUNED:,} examples it uses the C chosen for {TUNED:,}",
    ]


def complete(outcomes: Outcomes, draws: Mapping[int, int]) -> Outcomes:
    """Return the outcomes without the sizes for which some draw had too few examples."""
    return {
        key: outcome if len(outcome.hits) == draws[key[1]] else type(outcome)()
        for key, outcome in outcomes.items()
    }


def pool(by_set: Sequence[Outcomes]) -> Outcomes:
    """Concatenate the test examples of all sets, draw by draw, for the systems that ran on every set."""
    pooled: Outcomes = {}
    for key, first in by_set[0].items():
        outcome = type(first)()
        if all(set_outcomes[key].hits for set_outcomes in by_set):
            parts: list[tuple[NDArray[np.bool_], ...]] = list(
                zip(*(set_outcomes[key].hits for set_outcomes in by_set), strict=True)
            )
            outcome.hits = [np.concatenate(part) for part in parts]
        pooled[key] = outcome
    return pooled
