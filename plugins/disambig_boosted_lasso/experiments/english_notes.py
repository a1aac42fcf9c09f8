"""What a reader of the figures on English lists must know."""

from __future__ import annotations

import numpy as np

from .english_corrections import BEST, CLASSES, MOST, Corrections
from .english_tags import FOLDS, K


def notes_of(train: Corrections, dev: Corrections, n_test: int) -> list[str]:
    """Return sentences about the lists, and where they flatter or hurt a system."""
    parts = (("train", train), ("dev", dev))
    sizes = "; ".join(
        f"{name}: {part.n_fixes:,} mistakes, {len(part.lists) - part.n_fixes:,} clean paragraphs, one "
        f"mistake in {int(part.words.sum()) // max(part.n_fixes, 1):,} words"
        for name, part in parts
    )
    return [
        f"corrections ({sizes}): mistakes of tier 1 of the classes {' and '.join(CLASSES)}, which the "
        "shipped models decide, and all clean paragraphs of the same projects: mistakes are about as rare as "
        "where people write; the test part is not touched",
        f"candidates: the paragraph as written, with each change that the models might make, and with the "
        f"{BEST} surest ones together, {MOST} at most; base score: the sum of their log odds, so that the "
        "first candidate makes what is more likely right than not; cost: edits of words to the corrected "
        "text",
        "features: base score, rank, log odds by model and kind of change, the words changed, n-grams of up "
        "to three words around; of tags: base score, rank, runs of up to four tags, tags with their words "
        "and neighbours; 'no n-grams': all but n-grams, runs and tags, so of "
        "corrections the words changed are in",
        "edits left: per 10,000 words of all paragraphs; right: mistakes mended, in %; false: changes per "
        "10,000 words of clean paragraphs (divided by ten: per 1,000); right, equal false: mended where each "
        "change must be better by as much as lets clean paragraphs have as many changes as what ships makes "
        "there; wrong tags: per 1,000 words",
        "dev: learned from the training part (a fifth of its projects to tune on); folds: five folds of the "
        "training part's projects, each by what was learned from the others",
        "the shipped models' judge of mistakes learned from the training part, though their features did "
        f"not: at their own rates they mend {_share(train):.1f} % of its mistakes and {_share(dev):.1f} % of "
        "dev's; figures on folds flatter the models themselves, and lists to learn from are a little surer "
        "than those of dev",
        f"tags: lists of the {K} best sequences of a structured perceptron on EWT; training lists by {FOLDS} "
        f"taggers that did not see the sentence; dev to tune on, {n_test:,} sentences of test, on which "
        "nothing was chosen",
        "each learner's settings are those whose winners cost least on the tuning lists (step length, "
        "smoothing, C, ridge, passes: as far as it has any)",
    ]


def _share(part: Corrections) -> float:
    rows = part.lists.offsets[: part.n_fixes] + part.default[: part.n_fixes]
    return 100 * float(np.mean(part.mends[rows]))
