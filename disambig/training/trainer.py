"""From a config and text to a model: fit each group, calibrate, choose the operating point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.model import calibration as calibrations
from disambig.model import operating
from disambig.model.calibration import Calibration, compare
from disambig.model.linear import LinearScorer
from disambig.model.model import Model, same_matrix
from disambig.text.documents import view_of_texts
from disambig.training import balance
from disambig.training.examples import Examples
from disambig.types import Learner, Scorer

Progress = Callable[[str, int, int], None]
MOST_SHARED = 400
"""Examples of each group from which shared weights are learned, at most: frequent groups are not all."""


def train(
    parts: dict[str, Any],
    texts: Mapping[str, Sequence[str]],
    *,
    name: str,
    version: str = "0.1.0",
    config: dict[str, Any] | None = None,
    flags_per_1000: float = 0.5,
    max_examples: int = 20_000,
    min_examples: int = 20,
    seed: int = 0,
    progress: Progress | None = None,
) -> Model:
    """Train a model.

    Parameters
    ----------
    parts : dict
        The resolved config: ``task``, ``tokenisation``, ``extractors`` (name to extractor), ``learner``
        and ``baseline``.
    texts : dict of str to sequence of str
        Documents to learn from (``"train"``) and to tune on (``"dev"``); and, optionally, those that
        extractors learn from (``"background"``), which should be others than the learner's.
    flags_per_1000 : float
        The default operating point.
    max_examples : int
        Examples of a group to learn from; a random sample where there are more.
    min_examples : int
        Groups with fewer, or in which only one candidate occurs, keep the unsupervised baseline.
    progress : callable, optional
        Called with a stage, how far it is, and how far it goes.

    Raises
    ------
    UserError
        D412 where the text holds nothing to learn from.
    """
    learn = _examples(parts, texts["train"], protected=False)
    tune = _examples(parts, texts["dev"], protected=True)
    if not len(learn.instances) or not len(tune.instances):
        task = parts["task"]
        raise UserError("D412", what="the texts", hint=f"none has a candidate of the task {task.name}")
    return train_examples(
        parts,
        learn,
        tune,
        _examples(parts, texts["background"], protected=False) if "background" in texts else learn,
        name=name,
        version=version,
        config=config,
        flags_per_1000=flags_per_1000,
        max_examples=max_examples,
        min_examples=min_examples,
        seed=seed,
        progress=progress,
    )


def train_examples(
    parts: dict[str, Any],
    learn: Examples,
    tune: Examples,
    around: Examples,
    *,
    name: str,
    version: str = "0.1.0",
    config: dict[str, Any] | None = None,
    flags_per_1000: float = 0.5,
    max_examples: int = 20_000,
    min_examples: int = 20,
    seed: int = 0,
    progress: Progress | None = None,
) -> Model:
    """Train a model from instances whose observed candidates are right; `around` serves the extractors.

    The other parameters are those of `train`.
    """
    task, learner = parts["task"], parts["learner"]
    if progress:
        progress("fitting extractors", 0, 1)
    extractors = tuple(
        e.fit(around.view, around.instances, task.groups) for e in parts["extractors"].values()
    )
    del around
    model = Model(
        name=name,
        version=version,
        task=task,
        tokenisation=parts["tokenisation"],
        extractors=extractors,
        baseline=parts["baseline"],
        scorers=(None,) * len(task.groups),
        calibration=Calibration(np.array([1.0, 0.0, 0.0, 0.0]), np.empty((0, 4))),
        operating=operating.OperatingPoint(np.array([1.0]), np.array([0.0]), flags_per_1000),
        config=config or {},
    )
    rng = np.random.default_rng(seed)
    if getattr(learner, "shares", False) and len(task.groups) > 1:
        shared = _fit_shared(model, learner, learn, rng)
        if shared is not None:
            model, learner = replace(model, shared=shared), learner.towards(shared)
    scorers: list[Scorer | None] = []
    reports: dict[str, Any] = {}
    for g, group in enumerate(task.groups):
        if progress:
            progress("learning", g, len(task.groups))
        scorer, report = _fit_group(
            model, learner, learn, tune, g, most=max_examples, least=min_examples, rng=rng
        )
        scorers.append(scorer)
        reports[group.name] = report
    model = replace(model, scorers=tuple(scorers))
    model = replace(model, calibration=_calibrate(model, tune, rng, most=max_examples, progress=progress))
    model = replace(model, operating=_operate(model, tune, flags_per_1000, progress=progress))
    provenance = {
        "examples": {"train_words": learn.n_words, "dev_words": tune.n_words},
        "settings": {"max_examples": max_examples, "min_examples": min_examples, "seed": seed},
        "groups": reports,
    }
    return replace(model, provenance=provenance)


def _examples(parts: dict[str, Any], texts: Sequence[str], *, protected: bool) -> Examples:
    view = view_of_texts(texts, parts["tokenisation"], protected=protected)
    instances = parts["task"].instances(view)
    if protected:
        shielded = view.layers["protected"].astype(bool)
        last = instances.positions + instances.lengths - 1
        instances = instances.take(~(shielded[instances.positions] | shielded[last]))
    return Examples.of(view, instances)


def _fit_shared(model: Model, learner: Any, learn: Examples, rng: np.random.Generator) -> Scorer | None:
    """Learn the weights that all groups share from a few hundred examples of each."""
    batches = []
    for g, group in enumerate(model.task.groups):
        rows = learn.rows(g, most=MOST_SHARED, rng=rng)
        if len(rows) and balance.ZERO not in group.candidates:
            batches.append(learn.features(rows, g, model.task, model.extractors).batch)
    shared: Scorer | None = learner.fit_shared(batches) if batches else None
    return shared


def _fit_group(
    model: Model,
    learner: Learner,
    learn: Examples,
    tune: Examples,
    group: int,
    *,
    most: int,
    least: int,
    rng: np.random.Generator,
) -> tuple[Scorer | None, dict[str, Any]]:
    table = model.task.groups[group]
    if balance.ZERO in table.candidates:
        return _fit_with_zero(model, learner, learn, tune, group, most=most, least=least, rng=rng)
    rows = learn.rows(group, most=most, rng=rng)
    observed = learn.instances.observed[rows]
    report: dict[str, Any] = {"examples": len(rows)}
    if learner.needs_training and (len(rows) < least or len(np.unique(observed)) < 2):
        return None, report | {"learner": "baseline"}
    features = learn.features(rows, group, model.task, model.extractors)
    dev_rows = tune.rows(group, most=most // 2, rng=rng)
    dev = tune.features(dev_rows, group, model.task, model.extractors).batch if len(dev_rows) else None
    fitted = learner.fit(features.batch, dev=dev, rng=rng)
    return fitted.scorer, report | fitted.report


def _fit_with_zero(
    model: Model,
    learner: Learner,
    learn: Examples,
    tune: Examples,
    group: int,
    *,
    most: int,
    least: int,
    rng: np.random.Generator,
) -> tuple[Scorer | None, dict[str, Any]]:
    """Fit a group that has a candidate of no word: see `disambig.training.balance`."""
    table = model.task.groups[group]

    def sample(examples: Examples, size: int) -> NDArray[np.int64]:
        rows = examples.rows(group)
        return balance.balanced(rows, examples.instances.observed[rows], table, most=size, rng=rng)

    rows, dev_rows, true_rows = (
        sample(learn, most),
        sample(tune, most // 2),
        tune.rows(group, most=most, rng=rng),
    )
    report: dict[str, Any] = {"examples": len(rows)}
    too_few = len(rows) < least or len(np.unique(learn.instances.observed[rows])) < 2
    if learner.needs_training and (too_few or not len(dev_rows)):
        return None, report | {"learner": "baseline"}
    features = learn.features(rows, group, model.task, model.extractors)
    dev = tune.features(dev_rows, group, model.task, model.extractors).batch if len(dev_rows) else None
    fitted = learner.fit(features.batch, dev=dev, rng=rng)
    column = balance.bias_column(features.batch.columns, table)
    if column is None or not isinstance(fitted.scorer, LinearScorer) or not len(true_rows):
        return fitted.scorer, report | fitted.report
    at_true_rate = tune.features(true_rows, group, model.task, model.extractors)
    scores = fitted.scorer.scores(at_true_rate.batch).reshape(len(true_rows), -1)
    scorer, shift = balance.restored(fitted.scorer, column, scores, tune.instances.observed[true_rows], table)
    return scorer, report | fitted.report | {"empty_places_shift": round(shift, 6)}


def _calibrate(
    model: Model, tune: Examples, rng: np.random.Generator, *, most: int, progress: Progress | None
) -> Calibration:
    """Weigh right words against words substituted at random, group by group."""
    rows_of, wrong_of, weights_of = [], [], []
    scores_of, truth_of = [], []
    for g, group in enumerate(model.task.groups):
        if progress:
            progress("calibrating", g, len(model.task.groups))
        rows = tune.rows(g, most=most, rng=rng)
        features = model.features(tune.view, tune.instances.take(rows), g)
        shape = (len(rows), len(group.candidates))
        scores = model.scorer(g, features).scores(features.batch).reshape(shape)
        found, same = features.found.reshape(shape), same_matrix(group)
        truth = tune.instances.observed[rows]
        swapped, possible = substitutes(truth, same, rng)
        right = compare(scores, found, truth, same).features
        wrong = compare(scores[possible], found[possible], swapped, same).features
        rows_of.append(np.concatenate([right, wrong]))
        wrong_of.append(np.repeat([False, True], [len(right), len(wrong)]))
        balance = len(right) / max(len(wrong), 1)
        weights_of.append(np.repeat([1.0, balance], [len(right), len(wrong)]))
        scores_of.append(scores)
        truth_of.append(truth)
    errors = calibrations.fit(rows_of, wrong_of, weights_of)
    scales, certainty = calibrations.fit_choices(scores_of, truth_of)
    return replace(errors, scales=scales, certainty=certainty)


def substitutes(
    truth: NDArray[np.int32], same: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Replace each right candidate by another one at random, variants excepted.

    Returns
    -------
    swapped : array of int32, shape (m,)
    rows : array of int64, shape (m,)
        The rows of `truth` that have another candidate at all.
    """
    chance = np.where(same[truth], -1.0, rng.random((len(truth), len(same))))
    swapped = chance.argmax(axis=1).astype(np.int32) if len(truth) else np.empty(0, np.int32)
    rows = np.flatnonzero(chance.max(axis=1, initial=-1.0) >= 0)
    return swapped[rows], rows


def _operate(
    model: Model, tune: Examples, flags_per_1000: float, *, progress: Progress | None
) -> operating.OperatingPoint:
    """Set thresholds on all of the development text."""
    log_odds = []
    for g in range(len(model.task.groups)):
        if progress:
            progress("setting thresholds", g, len(model.task.groups))
        rows = tune.rows(g)
        features = model.features(tune.view, tune.instances.take(rows), g)
        weighed = model.weigh(features, g, tune.instances.observed[rows])
        log_odds.append(weighed.log_odds[weighed.eligible])
    return operating.tune(np.concatenate(log_odds), tune.n_words, flags_per_1000)
