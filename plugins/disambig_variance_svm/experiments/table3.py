"""``bergsma2010.table3``: detect non-referential "it" with the systems of the paper's table 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks
from disambig.api.arrays import offsets_from_sizes
from disambig.api.experiments import (
    Claim,
    Draw,
    ExperimentResult,
    LearningSystem,
    Outcomes,
    Progress,
    ResultRow,
    learn_all,
)
from disambig.api.features import transform_checked
from disambig.api.training import label_instances

from ..learners.baselines import SumLM
from ..learners.multiclass_svm import KSVM
from ..learners.variance_svm import VarianceSVM
from ..plain_text import COUNTED
from ..pronoun_it.examples import read_ewt, read_qa_it
from ..pronoun_it.fillers import FillerCounts, load_fillers
from ..pronoun_it.task import It, NormalisedWords
from . import learning_curves as curves
from .learning_curves import check_folds

SIZES = (10, 100, 1000)
PAPER = {
    "CS-SVM": dict(zip(SIZES, (59.0, 71.0, 84.3), strict=True)),
    "CS-SVM+": dict(zip(SIZES, (59.4, 74.9, 84.5), strict=True)),
    "VAR-SVM": dict(zip(SIZES, (70.2, 76.2, 84.5), strict=True)),
    "VAR-SVM+FreeB": dict(zip(SIZES, (64.2, 80.3, 84.5), strict=True)),
}
SHARE = 1 - 0.594
"""Share of non-referential examples in the paper; the data here have far fewer."""
FOLDS, OF_DEV = 10, 2
DRAWS = {10: 30, 100: 20, 1000: 10}
QUICK_DRAWS = {10: 10, 100: 10}
AS_FOUND = ", as found"
UNSUPERVISED = "it less they"


def with_difference(batch: DenseBlocks) -> DenseBlocks:
    """Add the unsupervised score, the "it" fillers minus the "they" fillers, as an attribute."""
    old = batch.columns
    sign = old.in_groups(["it"]).astype(np.float32) - old.in_groups(["they"]).astype(np.float32)
    added = np.einsum("nka,ka->nk", batch.values, sign[batch.column_of])
    new = np.full((len(batch.column_of), 1), len(old))
    return DenseBlocks(
        np.concatenate([batch.values, added[:, :, None]], axis=2),
        np.concatenate([batch.column_of, new], axis=1),
        old.with_group("sum", [1]),
        batch.costs,
    )


SYSTEMS = (
    LearningSystem("K-SVM", lambda size: KSVM()),
    LearningSystem("CS-SVM", lambda size: VarianceSVM(variance=())),
    LearningSystem("CS-SVM+", lambda size: VarianceSVM(variance=()), attributes=with_difference),
    LearningSystem("VAR-SVM", lambda size: VarianceSVM(variance=(("it",), ("they",)))),
    LearningSystem("VAR-SVM+FreeB", lambda size: VarianceSVM(variance=(("it",), ("they",)), free=("bias",))),
)


@dataclass(frozen=True, slots=True)
class Bergsma2010Table3:
    """Predict whether an "it" refers to something."""

    title: ClassVar[str] = 'Bergsma et al. 2010, table 3: non-referential "it", accuracy in % (paper / ours)'
    description: ClassVar[str] = (
        'non-referential "it": K, CS, CS+, VAR-SVM and VAR-SVM+FreeB, 10 to 1K examples'
    )
    needs: ClassVar[tuple[str, ...]] = (
        *COUNTED,
        "labelled/qa-it/qa-it-v1.0.tsv",
        "labelled/ewt/*.xz",
    )

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Count n-grams, read the labelled examples and train; with `quick` on 10 and 100 examples."""
        labelled = [
            *read_qa_it(data),
            *(example for part in ("train", "dev", "test") for example in read_ewt(data, part)),
        ]
        counts = load_fillers(data, progress=progress, quick=quick)
        progress("looking up counts", 0, 1)
        marked = label_instances(It(), NormalisedWords(), labelled)
        view, instances = marked.examples.view, marked.examples.instances
        batch = transform_checked(FillerCounts(counts=counts), view, instances, It().groups[0]).batch
        assert isinstance(batch, DenseBlocks)
        folds = marked.folds(FOLDS)
        draws = QUICK_DRAWS if quick else DRAWS
        shown: list[ResultRow] = []
        details: dict[str, Any] = {}
        parts: dict[str, tuple[Outcomes, float]] = {}
        for note, rows in (("", as_in_the_paper(batch)), (AS_FOUND, np.arange(len(folds)))):
            check_folds(data, f'"it"{note}', folds[rows], FOLDS)
            material = PronounExamples(batch.take(rows), folds[rows])
            outcomes = learn_all(
                SYSTEMS, material.draw, draws=draws, progress=progress, stage=f"learning{note}"
            )
            majority, unsupervised = material.fixed()
            n = len(rows)
            suffix = f"-{note}" if note else ""
            shown += [
                ResultRow("majority", suffix, None if note else 59.4, majority, n),
                ResultRow(UNSUPERVISED, suffix, None if note else 80.1, unsupervised, n),
                *curves.curve_rows(outcomes, PAPER, n=n, note=note),
            ]
            parts[note] = outcomes, unsupervised
            details[note.strip(", ") or "as in the paper"] = {
                "examples": n,
                "majority": majority,
                "unsupervised": unsupervised,
                "significance": curves.differences(outcomes, "VAR-SVM+FreeB", folds=FOLDS),
                "systems": curves.draw_details(outcomes),
            }
        claims = [
            claim
            for note, (outcomes, unsupervised) in parts.items()
            for claim in table3_claims(outcomes, unsupervised, note)
        ]
        notes = [
            f"QA-It and UD English EWT, {len(batch.values):,} examples, of which "
            f"{(batch.costs[:, 1] == 0).mean():.1%} are non-referential (the paper's: {SHARE:.1%}); the "
            f"first columns are for a sample with the paper's share, those '{AS_FOUND[2:]}' for all examples",
            f"{FOLDS} folds of documents: each tests once in {FOLDS} draws, the next {OF_DEV} tune C and the "
            "threshold of the unsupervised system",
            f"majority and '{UNSUPERVISED}', whose threshold is tuned, do not depend on a training size",
        ]
        return ExperimentResult(shown, claims, notes, details)


@dataclass(frozen=True, slots=True, eq=False)
class PronounExamples:
    """Examples and the fold of each example's document."""

    batch: DenseBlocks
    folds: NDArray[np.int64]

    def draw(self, number: int) -> Draw:
        """Return draw `number`: one fold to test on, the next ones to tune on, all others to train on."""
        fold = (self.folds - number) % FOLDS
        order = np.random.default_rng((3, number)).permutation(np.flatnonzero(fold > OF_DEV))
        test = self.batch.take(np.flatnonzero(fold == 0))
        dev = self.batch.take(np.flatnonzero((fold > 0) & (fold <= OF_DEV)))
        return Draw(self.batch, order, dev, test)

    def fixed(self) -> tuple[float, float]:
        """Return the accuracy in % of the majority class and of the thresholded sum, over all folds."""
        gold = self.batch.costs[:, 1] == 0
        scores = SumLM(patterns=["it"], minus=["they"]).fit(self.batch).scorer.scores(self.batch)
        difference = np.diff(scores.reshape(-1, 2), axis=1)[:, 0]
        right = 0
        for number in range(FOLDS):
            fold = (self.folds - number) % FOLDS
            dev, test = (fold > 0) & (fold <= OF_DEV), fold == 0
            limit = best_threshold(difference[dev], gold[dev])
            right += int(((difference[test] > limit) == gold[test]).sum())
        return 100 * float(max(gold.mean(), 1 - gold.mean())), 100 * right / len(gold)


def best_threshold(scores: NDArray[np.float64], gold: NDArray[np.bool_]) -> float:
    """Return the threshold with the highest accuracy if scores above it mean non-referential."""
    order = np.argsort(scores, kind="stable")
    ranked, truth = scores[order], gold[order]
    # threshold i labels all examples from i on as non-referential; equal scores cannot be separated
    right = offsets_from_sizes(~truth) + np.concatenate([np.cumsum(truth[::-1])[::-1], [0]])
    edges = np.concatenate([[-np.inf], (ranked[1:] + ranked[:-1]) / 2, [np.inf]])
    possible = np.concatenate([[True], ranked[1:] > ranked[:-1], [True]])
    return float(edges[np.where(possible, right, -1).argmax()])


def as_in_the_paper(batch: DenseBlocks) -> NDArray[np.int64]:
    """Return all non-referential examples and a sample of the others that gives the paper's share."""
    gold = batch.costs[:, 1] == 0
    wanted = round(gold.sum() * (1 - SHARE) / SHARE)
    others = np.random.default_rng(3).permutation(np.flatnonzero(~gold))[:wanted]
    return np.sort(np.concatenate([np.flatnonzero(gold), others]))


def table3_claims(outcomes: Outcomes, unsupervised: float, note: str) -> list[Claim]:
    """Return the paper's claims with the evidence from these examples."""
    figures = curves.mean_accuracies(outcomes)
    claims = [
        *claim_free_bias_helps(figures, curves.differences(outcomes, "VAR-SVM+FreeB", folds=FOLDS)),
        *curves.claim_no_worse_than_sum(figures, unsupervised, UNSUPERVISED),
        *curves.claim_order(figures, ("CS-SVM", "CS-SVM+", "VAR-SVM")),
        *curves.claim_gains_shrink(figures, "CS-SVM"),
    ]
    return [replace(claim, claim=claim.claim + note) for claim in claims]


def claim_free_bias_helps(figures: curves.Figures, tests: Mapping[str, Any]) -> list[Claim]:
    """Return the claim that an unregularised bias helps VAR-SVM significantly with 100 examples."""
    test = tests.get("100", {}).get("VAR-SVM")
    if test is None:
        return []
    free, bound = figures["VAR-SVM+FreeB"][100], figures["VAR-SVM"][100]
    evidence = (
        f"VAR-SVM+FreeB {free:.1f}, VAR-SVM {bound:.1f}: {free - bound:+.2f} points over all draws; "
        f"{test['difference']:+.2f} over the first turn of the folds, McNemar p = {test['mcnemar']:.2g}"
    )
    holds = free > bound and test["difference"] > 0 and test["mcnemar"] < curves.SIGNIFICANCE
    return [Claim(f"FreeB helps with 100 examples (McNemar p < {curves.SIGNIFICANCE})", holds, evidence)]
