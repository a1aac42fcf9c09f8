"""``popescu2004.genres``: learned in some kinds of text and tested in another, on NOAD-MASC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api.experiments import ExperimentResult, Panel, Progress, Row

from .. import systems
from . import noad
from .genre_claims import Hits, claims_of
from .genre_folds import AS_MANY, CONDITIONS, KINDS, SAME, Fold
from .occurrences import Occurrences
from .scored import MFS
from .trials import Bench, decide, most_frequent, right

AROUND = 60
"""Tokens on each side that are the broad context: about as many as a context of Senseval-2 has."""
COMB, SVM = "RLSC-COMB", "SVM-COMB"
BASES = {"SGD": "random_subspace.SGD.v1", "P": "random_subspace.Perceptron.v1"}
SUBSPACES = 25
RATES = (0.1, 0.5)
"""Shares of the dimensions that are removed: the paper's, and one of those that it found slightly better."""
_FEATURES = {"local": systems.LOCAL, "broad": systems.BROAD | {"around": AROUND}}


def robust(base: str, rate: float) -> str:
    """Return what a base in random subspaces is called."""
    return f"{base}-RLRS, {100 * rate:.0f} %"


def _linear(base: str, rate: float | None = None) -> systems.System:
    """Return a linear learner of another plugin, alone or in random subspaces."""
    learner = {"@disambig_learners": BASES[base]}
    if rate is None:
        return systems.System(_FEATURES, learner, scaled=True)
    name = "random_subspace.RandomSubspaces.v1"
    under = {"@disambig_learners": name, "n_subspaces": SUBSPACES, "removal_rate": rate, "base": learner}
    return systems.System(_FEATURES, under, scaled=True)


def rivals() -> dict[str, list[str]]:
    """Return the names of each base's systems in random subspaces."""
    return {base: [robust(base, rate) for rate in RATES] for base in BASES}


SYSTEMS = {
    COMB: systems.System(_FEATURES, {"@disambig_learners": "kernel_rls.RLSCComb.v1"}),
    SVM: systems.System(_FEATURES, {"@disambig_learners": "kernel_rls.SVMComb.v1"}),
}
for _base in BASES:
    SYSTEMS[_base] = _linear(_base)
    SYSTEMS |= {robust(_base, rate): _linear(_base, rate) for rate in RATES}
SCALES = (
    "the figure: accuracy on each kind of text, each panel to a scale of its own; most marks are only "
    "tenths of a point apart"
)
EVERY = 6
"""Of the words, the quick form takes each so many-th."""


@dataclass(frozen=True, slots=True)
class Genres:
    """RLSC, SVM and random subspaces under genre shift."""

    title: ClassVar[str] = "Word senses under genre shift: NOAD senses in MASC, accuracy in %"
    description: ClassVar[str] = (
        "word senses learned in some genres and tested in others: RLSC, SVM, random subspaces"
    )
    needs: ClassVar[tuple[str, ...]] = (noad.ARCHIVE,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Learn every word that is frequent enough; with `quick` a sixth of them."""
        progress("reading NOAD-MASC", 0, 1)
        occurrences, folds = noad.read(data, every=EVERY if quick else 1)
        hits = tried(occurrences, folds, progress=progress)
        kinds = np.repeat([fold.kind for fold in folds], [len(fold.test) for fold in folds])
        words = np.repeat([fold.word for fold in folds], [len(fold.test) for fold in folds])
        n_train = sum(len(fold.train[SAME]) for fold in folds)
        details = details_of(hits, kinds)
        return ExperimentResult(
            rows_of(hits, kinds),
            claims_of(hits, words, rivals()),
            [
                f"{len(folds):,} folds of {len(np.unique(words))} words (lemma and part of speech), "
                f"{len(words):,} test occurrences, {n_train:,} to learn from in the same kind",
                "kinds of text: "
                + "; ".join(f"{kind}: {', '.join(genres)}" for kind, genres in KINDS.items())
                + "; a kind's documents are cut into halves to learn from and to test on; 'as many' draws as "
                "many occurrences of the word from the other kinds as the same kind has; 'tested: ...': "
                "learned from other kinds, as many",
                f"broad context: stems within {AROUND} tokens; the vocabulary is that of all documents; all "
                "systems have the same normalised feature groups",
                f"SGD and P, the perceptron, alone and with RLRS: the mean of {SUBSPACES} models, each "
                "without 10 or 50 % of the dimensions (Søgaard and Johannsen 2012)",
                "p: Wilcoxon's signed ranks across words, McNemar over occurrences",
                SCALES,
            ],
            details,
            panels(details),
        )


def tried(occurrences: Occurrences, folds: Sequence[Fold], *, progress: Progress) -> Hits:
    """Return whether each system decides each test occurrence rightly, learned in each condition."""
    bench = Bench(occurrences, np.arange(len(occurrences)))
    features = bench.features(SYSTEMS[COMB])[0]
    found: dict[str, dict[str, list[NDArray[np.bool_]]]] = {
        name: {condition: [] for condition in CONDITIONS} for name in (MFS, *SYSTEMS)
    }
    for done, fold in enumerate(folds):
        progress("learning", done, len(folds))
        for condition, train in fold.train.items():
            chosen = {MFS: most_frequent(occurrences, train, [fold.test])[0]}
            for name, system in SYSTEMS.items():
                chosen[name] = decide(system, features, occurrences, train, [fold.test])[0]
            for name, senses in chosen.items():
                found[name][condition].append(right(occurrences, fold.test, senses))
    return {
        name: {condition: np.concatenate(each) for condition, each in of.items()}
        for name, of in found.items()
    }


def rows_of(hits: Hits, kinds: NDArray[np.str_]) -> list[Row]:
    """Return the accuracies by condition, and by kind where as many are learned from other kinds."""
    rows = []
    for name, of in hits.items():
        rows += [
            Row(name, condition, None, 100 * float(each.mean()), len(each)) for condition, each in of.items()
        ]
        for kind in KINDS:
            inside = of[AS_MANY][kinds == kind]
            if len(inside):
                rows.append(Row(name, f"tested: {kind}", None, 100 * float(inside.mean()), len(inside)))
    return rows


def details_of(hits: Hits, kinds: NDArray[np.str_]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the accuracy of each system by condition and kind of the test."""
    return {
        name: {
            condition: {
                kind: round(100 * float(each[kinds == kind].mean()), 2)
                for kind in KINDS
                if (kinds == kind).any()
            }
            for condition, each in of.items()
        }
        for name, of in hits.items()
    }


def panels(details: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[Panel]:
    """Return a panel a kind of text, a mark a system: learned from the same kind, and from as many of others.

    The most frequent sense, far below all others, stands in the title.
    """
    found = []
    for kind in details[MFS][SAME]:
        points = {name: [(of[SAME][kind], of[AS_MANY][kind])] for name, of in details.items()}
        ((same, other),) = points.pop(MFS)
        found.append(
            Panel(
                f"{kind} ({MFS}: {same:.1f}, {other:.1f})",
                "learned from the same kind, %",
                "from as many of other kinds, %",
                points=points,
            )
        )
    return found
