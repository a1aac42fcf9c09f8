"""``gao2006.english``: the learners on English lists, of corrections and of tag sequences.

Lists of corrections are of paragraphs with a mistake that somebody made and mended, and of paragraphs
that needed no change. Lists of tag sequences are the 20 best of a chain model. The learners of this plugin
are held against those of the core and of other plugins, and against what made the lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api.evaluation import ModelChecker
from disambig.api.experiments import ExperimentResult, Progress

from . import english_scoring as scoring
from . import english_tags as tagging
from .english_claims import FIRST, PLAIN, SHIPS, below, mends_more
from .english_corrections import FOLDER, WORDS, Corrections, corrections_of, part_of, read_part
from .english_learners import BLASSO, LOGIT, OTHERS, OURS, SYSTEMS, Config, Learned, chosen, learn
from .english_notes import notes_of
from .english_rows import Describer, Family, Seen
from .english_scoring import Choice

DEV, FOLDS = "dev", "folds"
N_FOLDS = 5
EVERY = 8
"""With `quick` one mistake, paragraph or sentence of so many is read."""
OF_WORDS = (Family(WORDS, 3, 3),)
OF_TAGS = (Family(tagging.TAGS, 4, 5), Family(tagging.LEXICAL, 1, 5))
LOGIT_PLAIN = f"{LOGIT}, no n-grams"
TAGS_ALONE = f"{BLASSO}, tags alone"
ABLATED = {PLAIN: OURS[BLASSO], LOGIT_PLAIN: OTHERS[LOGIT]}
"""Learned from what the source says alone: does the gain come from that?"""
ORACLE, WRITTEN = "best candidate", "as written"


@dataclass(frozen=True, slots=True)
class English:
    """Reranking of corrections and of tag sequences."""

    title: ClassVar[str] = "English lists: corrections of paragraphs, and tag sequences"
    description: ClassVar[str] = "the lasso family on lists of corrections and of tags, beside other learners"
    needs: ClassVar[tuple[str, ...]] = (
        *(
            (FOLDER / f"{kind}{part}.jsonl.xz").as_posix()
            for part in ("train", "dev")
            for kind in ("", "clean.")
        ),
        *(tagging.EWT.replace("*", f"*.{split}") for split in ("train", "dev", "test")),
    )

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Learn from both kinds of lists; with `quick` from an eighth of the texts."""
        every = EVERY if quick else 1
        progress("lists of corrections", 0, 1)
        checker = ModelChecker.named()
        train, dev = (
            corrections_of(checker, *read_part(data, part, every=every)) for part in ("train", "dev")
        )
        by_folds, parts = on_folds(train, progress=progress)
        of_dev, learned = on_dev(train, dev, progress=progress)
        tags = on_tags(data, every=every, progress=progress)
        rows, claims = [], []
        for where, found, of in ((DEV, of_dev, [dev]), (FOLDS, by_folds, parts)):
            words, units, of_fixes = (np.concatenate(each) for each in zip(*map(_columns, of), strict=True))
            clean = int(sum(part.words[part.n_fixes :].sum() for part in of))
            rows += scoring.rows_of_corrections(where, found, words, clean)
            claims += below(f"corrections, {where}", found, units, "projects")
            claims += mends_more(f"corrections, {where}", found, of_fixes)
        claims += below("tags", tags.found, np.arange(tags.n_sentences), "sentences")
        return ExperimentResult(
            [*rows, *scoring.rows_of_tags(tags.found, tags.n_words)],
            claims,
            notes_of(train, dev, tags.n_sentences),
            {
                "corrections": {name: each.report for name, each in learned.items()},
                "tags": {name: each.report for name, each in tags.learned.items()},
            },
        )


@dataclass(frozen=True, slots=True)
class OfTags:
    """What systems chose in the lists of the test sentences, and what they learned."""

    found: dict[str, Choice]
    learned: dict[str, Learned]
    n_sentences: int
    n_words: int


def on_dev(
    train: Corrections, dev: Corrections, *, progress: Progress, stage: str = "learning from corrections"
) -> tuple[dict[str, Choice], dict[str, Learned]]:
    """Return what systems choose in `dev`, learned from `train`: a fifth of its projects to tune on."""
    several = np.diff(train.lists.offsets) > 1  # one candidate says nothing
    tuned = train.units % N_FOLDS == N_FOLDS - 1
    parts = train.seen.take(several & ~tuned), train.seen.take(several & tuned)
    scores, learned = _learned(SYSTEMS, OF_WORDS, parts, dev.seen, progress, stage)
    plain, alone = _learned(ABLATED, (), parts, dev.seen, progress, stage)
    found = {
        WRITTEN: scoring.as_written(dev),
        FIRST: scoring.corrected(dev, dev.lists.scores),
        SHIPS: scoring.by_default(dev),
        ORACLE: scoring.cheapest(dev),
    }
    found |= {name: scoring.corrected(dev, each) for name, each in (scores | plain).items()}
    return found, learned | alone


def on_folds(train: Corrections, *, progress: Progress) -> tuple[dict[str, Choice], list[Corrections]]:
    """Return what systems choose in each fold of projects, learned from the other ones, and the folds."""
    parts, chosen = [], []
    for fold in range(N_FOLDS):
        inside = train.units % N_FOLDS == fold
        rest = part_of(train, np.flatnonzero(~inside))
        renumbered = np.unique(rest.units, return_inverse=True)[1]
        parts.append(part_of(train, np.flatnonzero(inside)))
        stage = f"learning from corrections, fold {fold + 1} of {N_FOLDS}"
        chosen.append(on_dev(replace(rest, units=renumbered), parts[-1], progress=progress, stage=stage)[0])
    return {name: Choice.joined([each[name] for each in chosen]) for name in chosen[0]}, parts


def on_tags(data: Path, *, every: int, progress: Progress) -> OfTags:
    """Return what systems choose of the 20 best sequences of the test part, tuned on the development part."""
    train, tune, test = (tagging.sentences_of(data, split, every=every) for split in ("train", "dev", "test"))
    tags = tagging.tags_in(train)
    seen = tagging.by_folds(train, tags, progress)
    progress("tagging", 0, 1)
    tagger = tagging.Tagger.learned(train, tags)
    held, asked = (tagging.lists_of(part, tagger.best(part), tags) for part in (tune, test))
    stage = "learning from tags"
    scores, learned = _learned(SYSTEMS, OF_TAGS, (seen, held), asked, progress, stage)
    for systems, families in ((ABLATED, ()), ({TAGS_ALONE: OURS[BLASSO]}, OF_TAGS[:1])):
        more = _learned(systems, families, (seen, held), asked, progress, stage)
        scores, learned = scores | more[0], learned | more[1]
    lists = asked.lists
    every_score = {FIRST: lists.scores, ORACLE: -lists.costs.astype(np.float64)} | scores
    return OfTags(
        {
            name: scoring.tagged(lists.costs[chosen(each, lists.offsets)].astype(np.float64))
            for name, each in every_score.items()
        },
        learned,
        len(test),
        sum(len(words) for words, _ in test),
    )


def _learned(
    systems: Mapping[str, Sequence[Config]],
    families: Sequence[Family],
    parts: tuple[Seen, Seen],
    asked: Seen,
    progress: Progress,
    stage: str,
) -> tuple[dict[str, NDArray[np.float64]], dict[str, Learned]]:
    """Return what systems score the candidates of some lists, and what they learned from `parts`."""
    describer = Describer.fit(parts[0], families)
    train, tune = (describer.rows(part) for part in parts)
    learned = learn(systems, train, tune, progress=progress, stage=stage)
    rows = describer.rows(asked)
    return {name: each.scorer.scores(rows) for name, each in learned.items()}, learned


def _columns(part: Corrections) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return words and project of each paragraph, and the project of each mistake."""
    return part.words, part.units, part.units[: part.n_fixes]
