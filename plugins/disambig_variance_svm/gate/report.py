"""How well `usage` tells prepositions: tables of precision, recall and F1 against labelled text.

Only for training and tests; nothing is decided or learned here, but for the rule it is compared with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig_variance_svm.gate.examples import Examples, swap
from disambig_variance_svm.gate.features import neighbours
from disambig_variance_svm.gate.truth import PREPOSITIONS

if TYPE_CHECKING:
    from disambig_variance_svm.gate.usage import Usage

Bools = NDArray[np.bool_]
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
_HEAD = f"{'':<28}{'n':>6}{'is':>7}{'passed':>8}{'precision':>11}{'recall':>8}{'F1':>7}{'accuracy':>10}"


def row(name: str, passed: Bools, truth: Bools) -> str:
    """Return one line: of `truth` the share that is, then how `passed` agrees with it (in per cent)."""
    both = int((passed & truth).sum())
    precision = both / passed.sum() if passed.any() else np.nan
    recall = both / truth.sum() if truth.any() else np.nan
    f1 = 2 * both / max(1, passed.sum() + truth.sum())
    accuracy = float((passed == truth).mean())
    figures = f"{100 * truth.mean():7.1f}{100 * passed.mean():8.1f}{100 * precision:11.1f}{100 * recall:8.1f}"
    return f"{name:<28}{len(truth):6d}{figures}{100 * f1:7.1f}{100 * accuracy:10.1f}"


def report(usage: Usage, train: Examples, test: Examples) -> str:
    """Return the tables for people: all words, a curve over thresholds, mistakes let through, each word."""
    chance = usage.probability(test.view, test.positions)
    passed = chance >= usage.header["threshold"]
    lines = [
        "All 34 words",
        _HEAD,
        row("always", np.ones_like(passed), test.truth),
        row("rules", by_rules(train, test), test.truth),
        row("usage, 0.5", chance >= 0.5, test.truth),
        row(f"usage, {usage.header['threshold']}", passed, test.truth),
        "",
        "By threshold",
        _HEAD,
        *(row(f"{threshold}", chance >= threshold, test.truth) for threshold in THRESHOLDS),
        "",
        f"Prepositions swapped for another of the 34, let through: {100 * swapped_recall(usage, test):.1f} %",
        "",
        f"By word, {usage.header['threshold']}",
        _HEAD,
    ]
    words = test.words()
    for i, word in enumerate(PREPOSITIONS):
        here = words == i
        if here.any():
            lines.append(row(word, passed[here], test.truth[here]))
    return "\n".join(lines)


def by_rules(train: Examples, test: Examples) -> Bools:
    """Return what simple rules say: "to" before no known verb is one, another word is what it mostly is."""
    words, to = train.words(), PREPOSITIONS.index("to")
    shares = [train.truth[words == i].sum() / max(1, (words == i).sum()) for i in range(len(PREPOSITIONS))]
    following = neighbours(train.view.hashes, train.positions)["r"][words == to]
    known, which = np.unique(following, return_inverse=True)
    verbs = known[np.bincount(which, weights=train.truth[words == to]) < 0.5 * np.bincount(which)]
    after = neighbours(test.view.hashes, test.positions)["r"]
    return np.where(test.words() == to, ~np.isin(after, verbs), np.array(shares)[test.words()] >= 0.5)


def swapped_recall(usage: Usage, test: Examples, *, seed: int = 0) -> float:
    """Return the share let through where each preposition was swapped for another: mistakes to be found."""
    positions = test.positions[test.truth]
    swapped = swap(neighbours(test.view.hashes, positions), np.random.default_rng(seed))["C"]
    found = []
    for parity in (0, 1):  # two words apart at least, so that few neighbours are swapped as well
        at = positions[parity::2]
        hashes = test.view.hashes.copy()
        hashes[at] = swapped[parity::2]
        found.append(usage.is_preposition(replace(test.view, hashes=hashes), at))
    return float(np.concatenate(found).mean())
