"""``popescu2004.genres``: training in some genres and testing in another, on NOAD-MASC.

There are four kinds of text. Each kind is tested once: half of its documents are test documents, the other
half is the training data "same kind", and all documents of the other kinds are "other kinds". The claims
were written before the first run, which did not include the perceptron, and SGD only with half of the
dimensions removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.arrays import Bools
from disambig.api.evaluation import mcnemar, wilcoxon
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, ResultRow
from disambig.api.formats import read_noad

from . import systems
from .senseval import MFS, SIGNIFICANCE
from .systems import tokens
from .trials import (
    FeatureCache,
    Index,
    WordOccurrence,
    WordOccurrences,
    decide_senses,
    is_right,
    locate_occurrences,
    most_frequent,
)

KINDS = {
    "spoken": ("court-transcript", "debate-transcript", "face-to-face", "telephone"),
    "fiction": ("fiction", "ficlets", "jokes", "movie-script"),
    "messages": ("blog", "email", "letters", "spam", "twitter"),
    "informative": tuple(
        "essays govt-docs journal newspaper:newswire non-fiction technical travel-guides".split()
    ),
}
KIND_OF = {genre: kind for kind, genres in KINDS.items() for genre in genres}
SAME, AS_MANY, OTHER = "same kind", "other kinds, as many", "other kinds, all"
CONDITIONS = (SAME, AS_MANY, OTHER)
MIN_TRAINING = 20
"""Minimum number of occurrences of a word in the training half of a kind."""
MIN_TESTS = 5
"""Minimum number of occurrences of a word in the test half of a kind."""


@dataclass(frozen=True, slots=True, eq=False)
class GenreFold:
    """One word, tested in one kind of text."""

    word: int
    kind: str
    train: Mapping[str, Index]  # training occurrences by condition
    test: Index


def genre_folds(
    words: NDArray[np.integer], kinds: Sequence[str], documents: Sequence[str], *, minimum: int = MIN_TRAINING
) -> list[GenreFold]:
    """Return the folds of all words that occur often enough.

    `words`, `kinds` and `documents` are the word, the kind of text and the document of each occurrence. The
    training half of a kind must have `minimum` occurrences, and the other kinds as many as that half.
    """
    kind, document = np.asarray(kinds), np.asarray(documents)
    test_half = _halves(kind, document)
    folds = []
    for word in np.unique(words).tolist():
        of_word = words == word
        for name in KINDS:
            inside = of_word & (kind == name)
            test, same = np.flatnonzero(inside & test_half), np.flatnonzero(inside & ~test_half)
            others = np.flatnonzero(of_word & (kind != name))
            if len(test) < MIN_TESTS or len(same) < minimum or len(others) < len(same):
                continue
            rng = np.random.default_rng((20, word, list(KINDS).index(name)))
            as_many = np.sort(rng.choice(others, len(same), replace=False))
            folds.append(GenreFold(word, name, {SAME: same, AS_MANY: as_many, OTHER: others}, test))
    return folds


def _halves(kind: NDArray[np.str_], document: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Return which occurrences are in test documents: half of each kind's documents, balanced by size."""
    test = np.zeros(len(kind), bool)
    for name in np.unique(kind).tolist():
        names, sizes = np.unique(document[kind == name], return_counts=True)
        order = names[np.argsort(-sizes, kind="stable")]
        # documents by size are assigned 0 1 1 0 0 1 1 0 ..., so that the halves have similar sizes
        chosen = {document_name for n, document_name in enumerate(order.tolist()) if n % 4 in (0, 3)}
        test |= (kind == name) & np.isin(document, list(chosen))
    return test


ARCHIVE = "labelled/noad-masc/noad-masc.tar.xz"


def read_genre_occurrences(data: Path, *, every: int = 1) -> tuple[WordOccurrences, list[GenreFold]]:
    """Read the corpus and return the occurrences of every n-th frequent ambiguous word, and their folds.

    Raises D738 if no word occurs often enough in two kinds of text; errors of the reader.
    """
    path = data / ARCHIVE
    documents = [
        document for document in read_noad(path).documents if document.genre in KIND_OF and document.text
    ]
    counts: Counter[str] = Counter()
    senses: dict[str, set[str]] = {}
    for document in documents:
        for place in document.places:
            counts[place.word] += 1
            senses.setdefault(place.word, set()).add(place.sense)
    frequent = sorted(
        word for word, n in counts.items() if n >= 2 * MIN_TRAINING + MIN_TESTS and len(senses[word]) > 1
    )
    kept = set(frequent[::every])
    found_occurrences = [
        WordOccurrence(text, place.start, place.end, place.word, (place.sense,))
        for text, document in enumerate(documents)
        for place in document.places
        if place.word in kept
    ]
    kinds = [KIND_OF[documents[occurrence.text].genre] for occurrence in found_occurrences]
    names = [documents[occurrence.text].name for occurrence in found_occurrences]
    occurrences = locate_occurrences(tokens()([document.text for document in documents]), found_occurrences)
    folds = genre_folds(occurrences.instances.groups, kinds, names)
    if not folds:
        raise UserError("D738", path=path, least=MIN_TRAINING)
    return occurrences, folds


Hits = dict[str, dict[str, Bools]]
"""By system and condition: which test occurrences of all folds were decided correctly."""
RLSC_COMB, SVM_COMB = "RLSC-COMB", "SVM-COMB"


def genre_claims(hits: Hits, words: NDArray[np.int64], rivals: Mapping[str, Sequence[str]]) -> list[Claim]:
    """Return the claims with their evidence.

    `words` is the word of each test occurrence, `rivals` has the variants of each base learner in subspaces.
    """
    other = {name: by_condition[AS_MANY] for name, by_condition in hits.items()}
    condition = "trained on other kinds,"
    claims = [
        claim_above(f"{condition} {name} is above the most frequent sense", other[name], other[MFS], words)
        for name in (RLSC_COMB, SVM_COMB, *rivals)
    ]
    ours, as_many = hits[RLSC_COMB], other[RLSC_COMB]
    same = f"{RLSC_COMB} is better trained on the same kind than on as many of other kinds"
    all_others = f"all examples of other kinds give {RLSC_COMB} more than as many do"
    claims += [
        claim_above(same, ours[SAME], as_many, words),
        claim_above(all_others, ours[OTHER], as_many, words),
        claim_above(f"{condition} {RLSC_COMB} is above {SVM_COMB}", as_many, other[SVM_COMB], words),
    ]
    for base, robust in rivals.items():
        for name in robust:
            claims += [
                claim_above(f"{condition} {name} is above {base}", other[name], other[base], words),
                claim_gains_more(base, name, hits, words),
                claim_above(f"{condition} {RLSC_COMB} is above {name}", other[RLSC_COMB], other[name], words),
            ]
    return claims


def claim_above(claim: str, first: Bools, second: Bools, words: NDArray[np.int64]) -> Claim:
    """Return the claim that the first system is correct more often, tested across words."""
    p = wilcoxon(mean_by_word(first, words), mean_by_word(second, words))
    return Claim(
        f"{claim} (p < {SIGNIFICANCE})",
        bool(first.mean() > second.mean()) and p < SIGNIFICANCE,
        f"{100 * first.mean():.2f} and {100 * second.mean():.2f}; p = {p:.2g} across words, "
        f"{mcnemar(first, second):.2g} over occurrences",
    )


def claim_gains_more(base: str, robust: str, hits: Hits, words: NDArray[np.int64]) -> Claim:
    """Return the claim that random subspaces gain more under genre shift than without."""
    points, gains = [], []
    for condition in (AS_MANY, SAME):
        ours, without = hits[robust][condition], hits[base][condition]
        points.append(100 * float(ours.mean() - without.mean()))
        gains.append(mean_by_word(ours, words) - mean_by_word(without, words))
    p = wilcoxon(*gains)
    return Claim(
        f"{robust} gains more over {base} from other kinds than from the same kind (p < {SIGNIFICANCE})",
        points[0] > points[1] and p < SIGNIFICANCE,
        f"{points[0]:+.2f} and {points[1]:+.2f} points; p = {p:.2g} across words",
    )


def mean_by_word(hits: Bools, words: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the accuracy on each word."""
    names, numbers = np.unique(words, return_inverse=True)
    return np.bincount(numbers, weights=hits, minlength=len(names)) / np.bincount(numbers)


AROUND = 60
"""Number of tokens on each side in the broad context, about as many as in a context of Senseval-2."""
BASES = {"SGD": "random_subspace.SGD.v1", "P": "random_subspace.Perceptron.v1"}
SUBSPACES = 25
RATES = (0.1, 0.5)
"""Shares of removed dimensions: the paper's default, and one of the values that it found slightly better."""
_FEATURES = {"local": systems.LOCAL, "broad": systems.BROAD | {"around": AROUND}}


def robust_system(base: str, rate: float) -> str:
    """Return the name of a base learner in random subspaces."""
    return f"{base}-RLRS, {100 * rate:.0f} %"


def _linear(base: str, rate: float | None = None) -> systems.SystemConfig:
    """Return the system of a linear learner from another plugin, alone or in random subspaces."""
    learner = {"@disambig_learners": BASES[base]}
    if rate is None:
        return systems.SystemConfig(_FEATURES, learner, scaled=True)
    name = "random_subspace.RandomSubspaces.v1"
    subspaces = {"@disambig_learners": name, "n_subspaces": SUBSPACES, "removal_rate": rate, "base": learner}
    return systems.SystemConfig(_FEATURES, subspaces, scaled=True)


SYSTEMS = {
    RLSC_COMB: systems.SystemConfig(_FEATURES, {"@disambig_learners": "kernel_rls.RLSCComb.v1"}),
    SVM_COMB: systems.SystemConfig(_FEATURES, {"@disambig_learners": "kernel_rls.SVMComb.v1"}),
}
for _base in BASES:
    SYSTEMS[_base] = _linear(_base)
    SYSTEMS |= {robust_system(_base, rate): _linear(_base, rate) for rate in RATES}
SCALES = (
    "the figure: accuracy on each kind of text, each panel with its own scale; most marks are only "
    "tenths of a point apart"
)
EVERY = 6
"""With `quick`, every n-th word is taken."""


@dataclass(frozen=True, slots=True)
class Popescu2004Genres:
    """RLSC, SVM and random subspaces under genre shift."""

    title: ClassVar[str] = "Word senses under genre shift: NOAD senses in MASC, accuracy in %"
    description: ClassVar[str] = (
        "word senses learned in some genres and tested in others: RLSC, SVM, random subspaces"
    )
    needs: ClassVar[tuple[str, ...]] = (ARCHIVE,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train on every word that is frequent enough; with `quick` on a sixth of them."""
        progress("reading NOAD-MASC", 0, 1)
        occurrences, folds = read_genre_occurrences(data, every=EVERY if quick else 1)
        hits = evaluate_systems(occurrences, folds, progress=progress)
        kinds = np.repeat([fold.kind for fold in folds], [len(fold.test) for fold in folds])
        words = np.repeat([fold.word for fold in folds], [len(fold.test) for fold in folds])
        n_train = sum(len(fold.train[SAME]) for fold in folds)
        details = genre_details(hits, kinds)
        robust = {base: [robust_system(base, rate) for rate in RATES] for base in BASES}
        of_kinds = "; ".join(f"{kind}: {', '.join(genres)}" for kind, genres in KINDS.items())
        notes = [
            f"{len(folds):,} folds of {len(np.unique(words))} words (lemma and part of speech), "
            f"{len(words):,} test occurrences, {n_train:,} training occurrences of the same kind",
            f"kinds of text: {of_kinds}; the documents of a kind are divided into halves for training and "
            "for testing; 'as many' draws as many occurrences of the word from the other kinds as the same "
            "kind has; 'tested: ...': trained on as many from other kinds",
            f"broad context: stems within {AROUND} tokens; the vocabulary comes from all documents; all "
            "systems have the same normalised feature groups",
            f"SGD and P, the perceptron, alone and with RLRS: the mean of {SUBSPACES} models, each without "
            "10 or 50 % of the dimensions (Søgaard and Johannsen 2012)",
            "p: Wilcoxon's signed-rank test across words, McNemar's test over occurrences",
            SCALES,
        ]
        rows, claims = genre_rows(hits, kinds), genre_claims(hits, words, robust)
        return ExperimentResult(rows, claims, notes, details, genre_panels(details))


def evaluate_systems(occurrences: WordOccurrences, folds: Sequence[GenreFold], *, progress: Progress) -> Hits:
    """Return which test occurrences each system decides correctly under each training condition."""
    cache = FeatureCache(occurrences, np.arange(len(occurrences)))
    features = cache.features(SYSTEMS[RLSC_COMB])[0]
    hits: dict[str, dict[str, list[NDArray[np.bool_]]]] = {
        name: {condition: [] for condition in CONDITIONS} for name in (MFS, *SYSTEMS)
    }
    for done, fold in enumerate(folds):
        progress("learning", done, len(folds))
        for condition, train in fold.train.items():
            chosen = {MFS: most_frequent(occurrences, train, fold.test)}
            for name, system in SYSTEMS.items():
                chosen[name] = decide_senses(system, features, occurrences, train, fold.test)
            for name, senses in chosen.items():
                hits[name][condition].append(is_right(occurrences, fold.test, senses))
    return {
        name: {condition: np.concatenate(parts) for condition, parts in by_condition.items()}
        for name, by_condition in hits.items()
    }


def genre_rows(hits: Hits, kinds: NDArray[np.str_]) -> list[ResultRow]:
    """Return the accuracies by condition and, for the condition "as many", by kind."""
    rows = []
    for name, by_condition in hits.items():
        rows += [
            ResultRow(name, condition, None, 100 * float(right.mean()), len(right))
            for condition, right in by_condition.items()
        ]
        for kind in KINDS:
            inside = by_condition[AS_MANY][kinds == kind]
            if len(inside):
                rows.append(ResultRow(name, f"tested: {kind}", None, 100 * float(inside.mean()), len(inside)))
    return rows


def genre_details(hits: Hits, kinds: NDArray[np.str_]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the accuracy of each system by condition and kind of the test text."""
    return {
        name: {
            condition: {
                kind: round(100 * float(right[kinds == kind].mean()), 2)
                for kind in KINDS
                if (kinds == kind).any()
            }
            for condition, right in by_condition.items()
        }
        for name, by_condition in hits.items()
    }


def genre_panels(details: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[Panel]:
    """Return one plot per kind of text: accuracy after training on the same kind and on other kinds.

    The most frequent sense is far below all systems and is given in the title.
    """
    panels = []
    for kind in details[MFS][SAME]:
        points = {
            name: [(by_condition[SAME][kind], by_condition[AS_MANY][kind])]
            for name, by_condition in details.items()
        }
        ((same, other),) = points.pop(MFS)
        axes = "learned from the same kind, %", "from as many of other kinds, %"
        panels.append(Panel(f"{kind} ({MFS}: {same:.1f}, {other:.1f})", *axes, points=points))
    return panels
