"""One domain at one size: every way to adapt to it, and what it makes of the domain's test sentences."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kana.converter import Converter
from ..kana.cross_fitting import cross_fitted
from ..kana.segmented import Segmented
from .corpora import Parts, evenly
from .reranking import Described, Listed, learner

BASELINE, MAP, BOOSTING, FSLR, F_BOOSTING, BLASSO = (
    "Baseline",
    "MAP",
    "Boosting",
    "FSLR",
    "F-Boosting",
    "BLasso",
)
PERCEPTRON, PAIRS = "averaged perceptron", "L2, pairs"
BOTH = f"{MAP}, {BLASSO}"
"""Lists of the adapted language model, reranked."""
LEARNERS: Mapping[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    BOOSTING: tuple(("Boosting", {"smoothing": smoothing}) for smoothing in (1e-5, 1e-4, 1e-3)),
    FSLR: (("FSLR", {}),),
    F_BOOSTING: (("FBoosting", {}),),
    BLASSO: (("BLasso", {}),),
    PERCEPTRON: (("AveragedPerceptron", {}),),
    PAIRS: (("PairwiseL2", {}),),
}
"""The settings that each system chooses among on development sentences."""
FOLDS = 5
LISTS = 8_000
"""Sentences of which there are lists of adapted language models to learn from, at most."""


@dataclass(slots=True)
class Found:
    """What came out.

    Attributes
    ----------
    texts : dict of str to list of str
        What each system chooses for the test sentences.
    about : dict
        Of each system, plain values: seconds, what its learner says.
    oracles : dict of str to float
        Error rate of the best candidates of the lists of each language model.
    """

    texts: dict[str, list[str]] = field(default_factory=dict)
    about: dict[str, dict[str, Any]] = field(default_factory=dict)
    oracles: dict[str, float] = field(default_factory=dict)


def adapt(background: Converter, parts: Parts, dev: Listed, test: Listed, size: int) -> Found:
    """Adapt a converter to so many sentences of a domain, in every way.

    Parameters
    ----------
    background : Converter
    parts : Parts
    dev, test : Listed
        The lists of `background`.
    """
    found = Found({BASELINE: test.first()}, oracles={BASELINE: test.oracle()})
    train = parts.some(size)
    adapted, seconds = _timed(lambda: background.adapted(train, held_out=parts.dev))
    weight = adapted.model.weight
    own_dev, own_test = (Listed.of(adapted, part) for part in (parts.dev, parts.test))
    found.texts[MAP], found.oracles[MAP] = own_test.first(), own_test.oracle()
    found.about[MAP] = {"seconds": seconds, "weight of the background": weight}
    rerank(Listed.of(background, train), dev, test, dict(zip(LEARNERS, LEARNERS, strict=True)), found)
    rerank(left_out_lists(background, train, weight), own_dev, own_test, {BOTH: BLASSO}, found)
    return found


def rerank(
    train: Listed, dev: Listed, test: Listed, systems: Mapping[str, str], found: Found, *, heads: bool = False
) -> None:
    """Learn to rerank lists, and add what it gives; `systems` are `LEARNERS` by what they are called."""
    described = Described.of(train.lists, heads=heads)
    dev_batch, test_batch = described.batch(dev.lists), described.batch(test.lists)
    for called, name in systems.items():
        tried: list[tuple[float, int, dict[str, Any], Any, float]] = []
        for registered, settings in LEARNERS[name]:
            made = learner(registered, **settings)
            fitted, seconds = _timed(lambda made=made: made.fit(described.train, dev=dev_batch))
            rate = dev.error_rate(dev.chosen(fitted.scorer, dev_batch))
            tried.append((rate, len(tried), settings, fitted, seconds))
        rate, _, settings, fitted, seconds = min(tried, key=lambda each: each[:2])
        found.texts[called] = test.chosen(fitted.scorer, test_batch)
        found.about[called] = {
            "seconds": seconds,
            "CER on development sentences": 100 * rate,
            "features": described.train.rows.shape[1],  # type: ignore[attr-defined]
            "non-zero": int(np.count_nonzero(fitted.scorer.weights)),
            **settings,
            **{name: fitted.report[name] for name in ("steps", "l1", "exp_loss") if name in fitted.report},
        }


def left_out_lists(background: Converter, train: Segmented, weight: float) -> Listed:
    """Return lists of `LISTS` sentences at most, each of a language model adapted to the other folds."""
    folds = np.arange(len(train)) % FOLDS
    asked = np.zeros(len(train), np.bool_)
    for fold in range(FOLDS):
        asked[evenly(np.flatnonzero(folds == fold), LISTS // FOLDS)] = True
    lists, rows = cross_fitted(
        train, folds, lambda others: background.adapted(train.take(others), weight=weight), asked=asked
    )
    return Listed(lists, train.take(rows).column(0))


def _timed(work: Any) -> tuple[Any, float]:
    start = time.process_time()
    done = work()
    return done, round(time.process_time() - start, 2)
