"""AP and AP-RLRS as taggers: the only module of this experiment that knows how they are trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from disambig.api import Scorer
from disambig.api.decoding import ChainScorer
from disambig.api.experiments import Progress
from disambig.api.features import TokenContext, WordClasses
from disambig.api.text import SpacyTokens

from ..random_subspaces import RandomSubspaces
from ..tagging.sequences import batch_of, tags_of
from ..tagging.structured_perceptron import StructuredPerceptron
from ..tagging.task import words_of
from .table2_claims import AP, CHOSEN, CLASSES, SUBSPACES
from .tag_data_penn import Sentence
from .tagger_peers import Run, Tagger, cpu_seconds, tagged

PASSES, REMOVAL_RATE = 5, 0.1
CHOSEN_PASSES, CHOSEN_RATE = 8, 0.5
"""Best on e-mail of 3 to 12 passes and rates of 0.1 to 0.8, with 24 subspaces; the paper chose nothing."""


def our_runs(
    train: Sequence[Sentence],
    tests: Mapping[str, Sequence[Sentence]],
    *,
    sizes: Sequence[int],
    progress: Progress,
    classes: WordClasses | None = None,
) -> list[Run]:
    """Return what AP does, and AP-RLRS with each number of subspaces.

    The largest also with the settings chosen, the first also with word classes.

    All numbers of subspaces are learned in one go; the time of each is its share of the largest one's.
    """
    progress(f"training: {AP}", 0, 3)
    warm, _ = batch_of(train[:2], tags_of(train[:2]))
    StructuredPerceptron(passes=1).fit(warm)  # compiled before the clock starts
    began = cpu_seconds()
    tags = tags_of(train)
    batch, extractor = batch_of(train, tags)
    prepared = cpu_seconds() - began
    base = StructuredPerceptron(passes=PASSES)
    learned = [(AP, base.fit(batch), cpu_seconds() - began)]
    progress(f"training: {AP}-RLRS", 1, 3)
    began = cpu_seconds()
    path = RandomSubspaces(base=base, removal_rate=REMOVAL_RATE).fit_sizes(batch, sizes)
    spent = cpu_seconds() - began
    for size, fitted in zip(sizes, path, strict=True):
        learned.append((f"{SUBSPACES}{size}", fitted, prepared + spent * size / max(sizes)))
    progress(f"training: {CHOSEN}", 2, 3)
    began = cpu_seconds()
    longer = StructuredPerceptron(passes=CHOSEN_PASSES)
    subspaces = RandomSubspaces(base=longer, n_subspaces=max(sizes), removal_rate=CHOSEN_RATE)
    learned.append((CHOSEN, subspaces.fit(batch), prepared + cpu_seconds() - began))
    runs = [
        tagged(name, tagger_of(fitted.scorer, extractor, tags), tests, training_seconds=seconds)
        for name, fitted, seconds in learned
    ]
    if classes is None:
        return runs
    progress(f"training: {AP}-RLRS, {CLASSES}", 0, 1)
    began = cpu_seconds()
    batch, extractor = batch_of(train, tags, classes=classes)
    fitted = RandomSubspaces(base=base, n_subspaces=sizes[0], removal_rate=REMOVAL_RATE).fit(batch)
    seconds = cpu_seconds() - began
    name = f"{SUBSPACES}{sizes[0]}, {CLASSES}"
    return [*runs, tagged(name, tagger_of(fitted.scorer, extractor, tags), tests, training_seconds=seconds)]


def tagger_of(scorer: Scorer, extractor: TokenContext, tags: Sequence[str]) -> Tagger:
    """Return what tags sentences that are cut into words."""
    assert isinstance(scorer, ChainScorer)
    tokens = SpacyTokens()
    names = np.array(tags, object)

    def tags_of_text(text: Sequence[list[str]]) -> list[list[str]]:
        view = tokens.of_sentences(text)
        rows, _ = extractor.rows(view, words_of(view))
        ends = np.cumsum([0, *map(len, text)])
        starts = np.unique(ends)  # a sentence without words is none
        found = names[scorer.decode(rows, starts)].tolist()
        return [found[start:end] for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    return tags_of_text
