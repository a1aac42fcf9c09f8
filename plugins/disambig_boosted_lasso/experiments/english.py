"""``gao2006.english``: the learners on English lists of corrections and of tag sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api.batches import segments
from disambig.api.evaluation import ModelChecker
from disambig.api.experiments import EWT, Claim, ExperimentResult, Progress
from disambig.api.measures import Outcomes, measure_named, paired_bootstrap
from disambig.api.tasks import CandidateLists

from . import english_lists as tagging, english_systems as scoring
from .english_lists import (
    CLASSES,
    CORRECTIONS_FOLDER,
    MAX_CANDIDATES,
    MODELS,
    N_BEST,
    N_COMBINED,
    TAGGING_FOLDS,
    WORD_FEATURES,
    CorrectionLists,
    NgramFamily,
    RowExtractor,
    WordLists,
    build_correction_lists,
    read_part,
    select_lists,
)
from .english_systems import (
    BLASSO,
    BOOSTING,
    LOGIT,
    OTHERS,
    OURS,
    SYSTEMS,
    Config,
    FittedReranker,
    ScoredChoice,
    fit_reranker,
)


def english_notes(train: CorrectionLists, dev: CorrectionLists, n_test: int) -> list[str]:
    """Return sentences about the lists, and about biases for or against a system."""
    parts = (("train", train), ("dev", dev))
    sizes = "; ".join(
        f"{name}: {part.n_fixes:,} mistakes, {len(part.lists) - part.n_fixes:,} clean paragraphs, one "
        f"mistake in {int(part.words.sum()) // max(part.n_fixes, 1):,} words"
        for name, part in parts
    )
    return [
        f"corrections ({sizes}): mistakes of tier 1 in the classes {' and '.join(CLASSES)}, which "
        "two shipped models decide, and all clean paragraphs of the same projects, so that mistakes are "
        "about as rare as in real text; the test part is not used",
        "candidates: the paragraph as written, with each change that the models might make, and with the "
        f"{N_COMBINED} most certain changes together, at most {MAX_CANDIDATES}; base score: the sum of "
        "their log odds, so that the first candidate contains the changes that are more likely right than "
        "wrong; cost: word edits to the corrected text",
        "features: base score, rank, log odds by model and kind of change, the changed words, n-grams of "
        "up to three words around them; for tags: base score, rank, sequences of up to four tags, tags "
        "with their words and neighbours; 'no n-grams': without n-grams, tag sequences and tags, so that "
        "in corrections the changed words remain",
        "edits left: per 10,000 words of all paragraphs; right: mistakes corrected, in %; false: changes "
        "per 10,000 words of clean paragraphs (divided by ten: per 1,000); right, equal false: mistakes "
        "corrected if a change needs a minimum gain, chosen so that clean paragraphs have as many "
        "changes as with what ships; wrong tags: per 1,000 words",
        "dev: trained on the training part (a fifth of its projects for tuning); folds: five folds of "
        "the training part's projects, each decided after training on the others",
        "the shipped models' decision rule and encoder were trained on the training part, though their "
        f"features were not: at their own flag rates they correct {_share(train):.1f} % of its mistakes and "
        f"{_share(dev):.1f} % of dev's; figures on folds flatter the models themselves, and training "
        "lists are slightly more certain than those of dev",
        f"tags: lists of the {N_BEST} best sequences of a structured perceptron on EWT; training lists "
        f"come from {TAGGING_FOLDS} taggers that were not trained on the sentence; dev for tuning, "
        f"{n_test:,} sentences of test, on which nothing was chosen",
        "the settings of each learner are those whose winners have the lowest cost on the tuning lists "
        "(step length, smoothing, C, ridge, passes, if it has them)",
    ]


def _share(part: CorrectionLists) -> float:
    rows = part.lists.offsets[: part.n_fixes] + part.default[: part.n_fixes]
    return 100 * float(np.mean(part.mends[rows]))


PLAIN = f"{BLASSO}, no n-grams"
FIRST, SHIPS = "first candidate", "what ships"
CONFIDENCE = 0.05
PAIRS = (
    (BLASSO, FIRST),
    (BOOSTING, FIRST),
    (LOGIT, FIRST),
    (BLASSO, PLAIN),
    (BLASSO, LOGIT),
    (BLASSO, "K-SVM"),
    (BLASSO, BOOSTING),
    (BOOSTING, LOGIT),
)
"""Pairs of systems; the claim is that the first has the lower cost."""


def claim_lower_cost(
    where: str, choices: Mapping[str, ScoredChoice], units: NDArray[np.int64], what: str
) -> list[Claim]:
    """Claim for each of `PAIRS` that its first system's choices have the lower cost.

    `units`, shape ``(n_lists,)``, are the units of the bootstrap, and `what` is their name.
    """
    claims = []
    for name, other in PAIRS:
        drawn = paired_bootstrap(
            measure_named("cost"),
            as_outcomes(choices[other].cost, units),
            as_outcomes(choices[name].cost, units),
        )
        low, high = drawn.interval
        claims.append(
            Claim(
                f"{where}: {name} has a lower cost than {other} (p < {CONFIDENCE})",
                bool(drawn.difference < 0 and drawn.p < CONFIDENCE),
                f"mean cost {drawn.second:.4f} and {drawn.first:.4f}, {drawn.difference:+.4f} "
                f"({low:+.4f} to {high:+.4f}); p = {drawn.p:.2g} over {drawn.n_units:,} {what}",
            )
        )
    return claims


def claim_more_corrections(
    where: str, choices: Mapping[str, ScoredChoice], units: NDArray[np.int64]
) -> list[Claim]:
    """Claim that rerankers correct more mistakes than the shipped decision rule, with as many false changes.

    `units`, shape ``(n_fixes,)``, is the project of each mistake.
    """
    claims = []
    for name in (BLASSO, BOOSTING, LOGIT):
        sides = [
            Outcomes.from_group(
                ("not mended", "mended"), np.ones(len(units)), choices[system].equal, units=units
            )
            for system in (SHIPS, name)
        ]
        drawn = paired_bootstrap(measure_named("accuracy"), *sides)
        low, high = (100 * end for end in drawn.interval)
        claims.append(
            Claim(
                f"{where}: {name} corrects more than {SHIPS} with as many false changes (p < {CONFIDENCE})",
                bool(drawn.difference > 0 and drawn.p < CONFIDENCE),
                f"{100 * drawn.second:.1f} and {100 * drawn.first:.1f} %, {100 * drawn.difference:+.1f} "
                f"({low:+.1f} to {high:+.1f}); p = {drawn.p:.2g} over {drawn.n_units} projects",
            )
        )
    return claims


def as_outcomes(cost: NDArray[np.float64], units: NDArray[np.int64]) -> Outcomes:
    """Return choices with given costs as outcomes of lists with one candidate each."""
    n = len(cost)
    lists = CandidateLists(
        np.arange(n + 1), [""] * n, np.zeros(n), np.zeros(n, np.int32), cost.astype(np.float32)
    )
    return Outcomes.from_lists(lists, units=units)


ON_DEV, BY_FOLDS = "dev", "folds"
N_FOLDS = 5
EVERY, TAGS_EVERY = 32, 8
"""With `quick`, one in this many mistakes and paragraphs, and in this many tagged sentences, is read.

Fewer sentences would not fill the five folds of the taggers, which consist of blocks.
"""
QUICK_FOLDS = 2
"""With `quick`, only the first folds are decided."""
WORD_FAMILIES = (NgramFamily(WORD_FEATURES, 3, 3),)
TAG_FAMILIES = (NgramFamily(tagging.TAGS, 4, 5), NgramFamily(tagging.LEXICAL, 1, 5))
LOGIT_PLAIN = f"{LOGIT}, no n-grams"
TAGS_ALONE = f"{BLASSO}, tags alone"
ABLATED = {PLAIN: OURS[BLASSO], LOGIT_PLAIN: OTHERS[LOGIT]}
"""Systems without n-grams, to see whether the gain comes from the features of the source."""
ORACLE, WRITTEN = "best candidate", "as written"


@dataclass(frozen=True, slots=True)
class Gao2006English:
    """Reranking of corrections and of tag sequences in English."""

    title: ClassVar[str] = "English lists: corrections of paragraphs, and tag sequences"
    description: ClassVar[str] = "the lasso family and other learners on lists of corrections and of tags"
    needs: ClassVar[tuple[str, ...]] = (
        *(
            (CORRECTIONS_FOLDER / f"{kind}{part}.jsonl.xz").as_posix()
            for part in ("train", "dev")
            for kind in ("", "clean.")
        ),
        *(EWT.replace("*", f"*.{split}") for split in ("train", "dev", "test")),
    )

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train on both kinds of lists; with `quick` on a part of the texts (`EVERY`)."""
        every = EVERY if quick else 1
        progress("loading the shipped models", 0, 1)
        checker, built = ModelChecker.from_names(MODELS), []
        for number, part in enumerate(("train", "dev")):
            progress("lists of corrections", number, 2)
            built.append(build_correction_lists(checker, *read_part(data, part, every=every)))
        train, dev = built
        by_folds, parts = compare_on_folds(train, folds=QUICK_FOLDS if quick else N_FOLDS, progress=progress)
        dev_choices, learned = compare_on_dev(train, dev, progress=progress)
        tags = compare_on_tags(data, every=TAGS_EVERY if quick else 1, progress=progress)
        rows, claims = [], []
        for part_name, choices, paragraph_lists in (
            (ON_DEV, dev_choices, [dev]),
            (BY_FOLDS, by_folds, parts),
        ):
            words, units = (
                np.concatenate([getattr(part, name) for part in paragraph_lists])
                for name in ("words", "units")
            )
            fix_units = np.concatenate([part.units[: part.n_fixes] for part in paragraph_lists])
            clean = int(sum(part.words[part.n_fixes :].sum() for part in paragraph_lists))
            rows += scoring.correction_rows(part_name, choices, words, clean)
            claims += claim_lower_cost(f"corrections, {part_name}", choices, units, "projects")
            claims += claim_more_corrections(f"corrections, {part_name}", choices, fix_units)
        claims += claim_lower_cost("tags", tags.choices, np.arange(tags.n_sentences), "sentences")
        rows += scoring.tag_rows(tags.choices, tags.n_words)
        fitted = {"corrections": learned, "tags": tags.learned}
        details = {what: {name: system.report for name, system in by.items()} for what, by in fitted.items()}
        return ExperimentResult(rows, claims, english_notes(train, dev, tags.n_sentences), details)


@dataclass(frozen=True, slots=True)
class TagResults:
    """The choices of systems in the lists of the test sentences, and their training reports."""

    choices: dict[str, ScoredChoice]
    learned: dict[str, FittedReranker]
    n_sentences: int
    n_words: int


def compare_on_dev(
    train: CorrectionLists,
    dev: CorrectionLists,
    *,
    progress: Progress,
    stage: str = "learning from corrections",
) -> tuple[dict[str, ScoredChoice], dict[str, FittedReranker]]:
    """Return the choices in `dev` after training on `train`; a fifth of its projects is for tuning."""
    several = np.diff(train.lists.offsets) > 1  # lists with one candidate carry no information
    tuned = train.units % N_FOLDS == N_FOLDS - 1
    parts = train.seen.take(several & ~tuned), train.seen.take(several & tuned)
    scores, learned = _train_systems(SYSTEMS, WORD_FAMILIES, parts, dev.seen, progress, stage)
    plain, learned_ablated = _train_systems(ABLATED, (), parts, dev.seen, progress, stage)
    choices = {
        WRITTEN: scoring.unchanged_choice(dev),
        FIRST: scoring.correction_choice(dev, dev.lists.scores),
        SHIPS: scoring.default_choice(dev),
        ORACLE: scoring.oracle_choice(dev),
    }
    choices |= {
        name: scoring.correction_choice(dev, system_scores)
        for name, system_scores in (scores | plain).items()
    }
    return choices, learned | learned_ablated


def compare_on_folds(
    train: CorrectionLists, *, folds: int, progress: Progress
) -> tuple[dict[str, ScoredChoice], list[CorrectionLists]]:
    """Return the choices in the first folds of projects after training on all others, and these folds."""
    parts, chosen = [], []
    for fold in range(folds):
        inside = train.units % N_FOLDS == fold
        rest = select_lists(train, np.flatnonzero(~inside))
        renumbered = np.unique(rest.units, return_inverse=True)[1]
        parts.append(select_lists(train, np.flatnonzero(inside)))
        stage = f"learning from corrections, fold {fold + 1} of {folds}"
        chosen.append(
            compare_on_dev(replace(rest, units=renumbered), parts[-1], progress=progress, stage=stage)[0]
        )
    return {name: ScoredChoice.concat([fold[name] for fold in chosen]) for name in chosen[0]}, parts


def compare_on_tags(data: Path, *, every: int, progress: Progress) -> TagResults:
    """Return the choices among the 20 best sequences of the test part, tuned on the development part."""
    train, tune, test = (tagging.read_ewt(data, split, every=every) for split in ("train", "dev", "test"))
    tags = tagging.distinct_tags(train)
    seen = tagging.cross_fitted_tags(train, tags, progress)
    progress("tagging", 0, 1)
    tagger = tagging.ChainTagger.train(train, tags)
    tune_lists, test_lists = (
        tagging.tag_sequence_lists(part, tagger.best(part), tags) for part in (tune, test)
    )
    stage = "learning from tags"
    scores, learned = _train_systems(SYSTEMS, TAG_FAMILIES, (seen, tune_lists), test_lists, progress, stage)
    for systems, families in ((ABLATED, ()), ({TAGS_ALONE: OURS[BLASSO]}, TAG_FAMILIES[:1])):
        ablated = _train_systems(systems, families, (seen, tune_lists), test_lists, progress, stage)
        scores, learned = scores | ablated[0], learned | ablated[1]
    lists = test_lists.lists
    all_scores = {FIRST: lists.scores, ORACLE: -lists.costs.astype(np.float64)} | scores
    choices = {}
    for name, system_scores in all_scores.items():
        best = segments.best_rows(system_scores, lists.offsets)
        choices[name] = scoring.tag_accuracy(lists.costs[best].astype(np.float64))
    return TagResults(choices, learned, len(test), sum(len(words) for words, _ in test))


def _train_systems(
    systems: Mapping[str, Sequence[Config]],
    families: Sequence[NgramFamily],
    parts: tuple[WordLists, WordLists],
    test: WordLists,
    progress: Progress,
    stage: str,
) -> tuple[dict[str, NDArray[np.float64]], dict[str, FittedReranker]]:
    """Return the scores of each system for some lists, and the systems trained on `parts`."""
    describer = RowExtractor.fit(parts[0], families)
    train, tune = (describer.rows(part) for part in parts)
    learned = fit_reranker(systems, train, tune, progress=progress, stage=stage)
    rows = describer.rows(test)
    return {name: fitted.scorer.scores(rows) for name, fitted in learned.items()}, learned
