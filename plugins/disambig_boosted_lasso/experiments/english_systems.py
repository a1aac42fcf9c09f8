"""The systems compared on English lists: their training, their choices, and the scores of these."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Scorer, SparseRows, resolve
from disambig.api.arrays import Floats, Ints
from disambig.api.batches import convert, segments
from disambig.api.experiments import Progress, ResultRow

from .english_lists import CorrectionLists

Config = Mapping[str, Any]
_OWN = "boosted_lasso"
_LISTS = {"@disambig_decoders": "disambig.Enumerated.v1"}
EPS = (0.5, 0.1, 0.02)
BLASSO, BOOSTING, LOGIT = "BLasso", "Boosting", "conditional logit"
OURS: dict[str, tuple[Config, ...]] = {
    BOOSTING: tuple(
        {"name": f"{_OWN}.Boosting.v1", "smoothing": smoothing} for smoothing in (1e-4, 1e-3, 1e-2)
    ),
    BLASSO: tuple({"name": f"{_OWN}.BLasso.v1", "eps": eps} for eps in EPS),
    "FSLR": tuple({"name": f"{_OWN}.FSLR.v1", "eps": eps} for eps in EPS),
    "F-Boosting": tuple({"name": f"{_OWN}.FBoosting.v1", "eps": eps} for eps in EPS),
    "averaged perceptron": ({"name": f"{_OWN}.AveragedPerceptron.v1"},),
    "pairwise L2": ({"name": f"{_OWN}.PairwiseL2.v1"},),
}
"""Learners of this plugin, each with the settings that are tried on the tuning lists."""
OTHERS: dict[str, tuple[Config, ...]] = {
    LOGIT: ({"name": "variance_svm.ConditionalLogit.v1"},),
    "K-SVM": ({"name": "variance_svm.KSVM.v1"},),
    "SGD, hinge": tuple(
        {"name": "random_subspace.SGD.v1", "alpha": alpha, "passes": 10} for alpha in (1e-4, 1e-3, 1e-2)
    ),
    "perceptron of the core": tuple(
        {"name": "random_subspace.StructuredPerceptron.v1", "passes": C, "decoder": _LISTS} for C in (1, 5)
    ),
}
"""Learners of other plugins; the last is the core's averaged perceptron over any decoder."""
SYSTEMS = OURS | OTHERS


@dataclass(frozen=True, slots=True)
class FittedReranker:
    """A trained system."""

    scorer: Scorer
    # the chosen settings, their cost on the tuning lists, the seconds of all settings together, and the
    # learner's report
    report: dict[str, Any]


def fit_reranker(
    systems: Mapping[str, Sequence[Config]],
    train: SparseRows,
    tune: SparseRows,
    *,
    progress: Progress,
    stage: str,
) -> dict[str, FittedReranker]:
    """Return each trained system, with the settings that have the lowest cost on `tune`."""
    fitted = {}
    for done, (name, configs) in enumerate(systems.items()):
        progress(stage, done, len(systems))
        fitted[name] = fit_best_setting(configs, train, tune)
    return fitted


def fit_best_setting(configs: Sequence[Config], train: SparseRows, tune: SparseRows) -> FittedReranker:
    """Return the system for the settings with the lowest cost on `tune`, the first of equals."""
    began, best = time.monotonic(), None
    for config in configs:
        settings = {key: value for key, value in config.items() if key != "name"}
        learner = resolve({"learner": {"@disambig_learners": config["name"], **settings}})["learner"]
        takes = getattr(learner, "takes", ())  # none: the learner accepts any storage
        taken, dev = (convert(part, *takes) if takes else part for part in (train, tune))
        fitted = learner.fit(taken, dev=dev)
        cost = float(choice_costs(tune, fitted.scorer.scores(tune)).mean())
        if best is None or cost < best[0]:
            best = cost, settings, fitted
    assert best is not None
    plain = {key: value for key, value in best[1].items() if key != "decoder"}
    report = {
        "settings": plain,
        "tune_cost": best[0],
        "seconds": time.monotonic() - began,
        "nonzero": int(np.count_nonzero(best[2].scorer.weights)),
        **{key: best[2].report[key] for key in ("steps", "l1", "base_weights", "C", "strength", "passes")
           if key in best[2].report},
    }  # fmt: skip
    return FittedReranker(best[2].scorer, report)


def choice_costs(batch: SparseRows, scores: Floats) -> Floats:
    """Return the cost of the winner of each list."""
    return np.asarray(batch.cost[segments.best_rows(scores, batch.offsets)], np.float64)


_HALVINGS = 60
LEFT, RIGHT, FALSE, EQUAL = "edits left", "right", "false", "right, equal false"
WRONG, WHOLE = "wrong tags", "sentences right"


@dataclass(frozen=True, slots=True, eq=False)
class ScoredChoice:
    """The choices of one system in some lists."""

    cost: Floats  # float64 (n_lists,): cost of the choices
    # bool (n_lists,): whether the cost is zero; for corrections, whether the mistake is corrected: shape
    # (n_fixes,)
    right: NDArray[np.bool_]
    false: Ints  # int64 (n_clean,): number of changes in each clean paragraph; empty for tags
    # bool (n_fixes,): for corrections: `right` after a threshold is set on changes, so that clean paragraphs
    # have as many changes as with the models' own flags
    equal: NDArray[np.bool_]

    @classmethod
    def concat(cls, parts: list[ScoredChoice]) -> ScoredChoice:
        """Return the choices in all parts, concatenated."""
        cost, right, false, equal = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("cost", "right", "false", "equal")
        )
        return cls(cost, right, false, equal)


def correction_choice(part: CorrectionLists, scores: Floats) -> ScoredChoice:
    """Return the choices by scores in lists of corrections; of equals the first by the models' log odds."""
    winners = segments.best_rows(scores, part.lists.offsets)
    allowed = int(false_changes(part, model_choice(part)).sum())
    margin = restrained_choice(part, scores, allowed)
    held = segments.best_rows(scores - margin * part.changes, part.lists.offsets)
    return _score_choice(part, winners, held)


def default_choice(part: CorrectionLists) -> ScoredChoice:
    """Return the choices of the models at their own flag rates."""
    choice = model_choice(part)
    return _score_choice(part, choice, choice)


def unchanged_choice(part: CorrectionLists) -> ScoredChoice:
    """Return the choices of the system that changes nothing."""
    unchanged = segments.best_rows(-part.changes.astype(np.float64), part.lists.offsets)
    return _score_choice(part, unchanged, unchanged)


def oracle_choice(part: CorrectionLists) -> ScoredChoice:
    """Return the best possible choices."""
    best = segments.best_rows(-part.lists.costs.astype(np.float64), part.lists.offsets)
    return _score_choice(part, best, best)


def model_choice(part: CorrectionLists) -> Ints:
    """Return the rows that the models choose at their own flag rates."""
    return np.asarray(part.lists.offsets[:-1] + part.default, np.int64)


def false_changes(part: CorrectionLists, winners: Ints) -> Ints:
    """Return the number of changes in each clean paragraph."""
    return part.changes[winners[part.n_fixes :]]


def restrained_choice(part: CorrectionLists, scores: Floats, allowed: int) -> float:
    """Return the smallest margin per change with which clean text has at most `allowed` changes.

    Found by bisection: the winners make fewer changes as the margin grows.
    """
    maximum = 2.0 * (float(np.abs(scores).max(initial=0.0)) + 1.0)
    low, high = -maximum, maximum
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        winners = segments.best_rows(scores - middle * part.changes, part.lists.offsets)
        if int(false_changes(part, winners).sum()) <= allowed:
            high = middle
        else:
            low = middle
    return high


def _score_choice(part: CorrectionLists, winners: Ints, held: Ints) -> ScoredChoice:
    n = part.n_fixes
    cost = part.lists.costs[winners].astype(np.float64)
    return ScoredChoice(cost, part.mends[winners[:n]], false_changes(part, winners), part.mends[held[:n]])


def correction_rows(
    where: str, choices: Mapping[str, ScoredChoice], words: Ints, clean_words: int
) -> list[ResultRow]:
    """Return the figures of each system; `where` begins the names of the settings.

    `words`, shape ``(n_lists,)``, are the words in each paragraph, `clean_words` those of the clean ones.
    """
    rows = []
    for name, choice in choices.items():
        n, total = len(choice.right), int(words.sum())
        rows += [
            ResultRow(name, f"{where}: {LEFT}", None, 10_000 * float(choice.cost.sum()) / total, total),
            ResultRow(name, f"{where}: {RIGHT}", None, 100 * float(choice.right.mean()), n),
            ResultRow(
                name, f"{where}: {FALSE}", None, 10_000 * int(choice.false.sum()) / clean_words, clean_words
            ),
            ResultRow(name, f"{where}: {EQUAL}", None, 100 * float(choice.equal.mean()), n),
        ]
    return rows


def tag_rows(choices: Mapping[str, ScoredChoice], n_words: int) -> list[ResultRow]:
    """Return wrong tags per 1,000 words, and the share of sentences without wrong tags."""
    return [
        row
        for name, choice in choices.items()
        for row in (
            ResultRow(name, f"tags: {WRONG}", None, 1_000 * float(choice.cost.sum()) / n_words, n_words),
            ResultRow(name, f"tags: {WHOLE}", None, 100 * float(choice.right.mean()), len(choice.right)),
        )
    ]


def tag_accuracy(costs: Floats) -> ScoredChoice:
    """Return the choices of sequences with the given numbers of wrong tags."""
    empty = np.zeros(0, np.int64)
    return ScoredChoice(costs, costs == 0, empty, empty.astype(bool))
