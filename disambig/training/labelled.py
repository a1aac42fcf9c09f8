"""Training from labelled examples: out-of-fold attributes, C, calibration and offsets by cross-validation.

Labelled examples are few, so none is put aside: everything that must not be judged on what it learned
from (extractors that learn from labels, C, probabilities, offsets) is fitted on folds of documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.corpora.labelled import Labelled
from disambig.data.dense import DenseBlocks
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.joining import join
from disambig.evaluation.intervals import wilson
from disambig.model import calibration, labels, operating
from disambig.model.model import Model
from disambig.training.marking import Marked, learns_labels, mark, right_candidates, seen_elsewhere
from disambig.training.trainer import Progress, train_examples
from disambig.types import FeatureExtractor, Features, Learner, Scorer, Task

FOLDS = 5
MOST_NOTES = 3
"""Notes of one kind: of hundreds of groups nobody reads more."""
FEW = 100
"""Examples below which a note says that they are few."""

ON_FITTED = "on the scores that calibration was fitted to"
"""Stands in the note on an accuracy that flatters: not for those who have a cross-validated one."""


def train_labelled(
    parts: dict[str, Any],
    labelled: Sequence[Labelled],
    *,
    name: str,
    version: str = "0.1.0",
    config: dict[str, Any] | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Model:
    """Train a model from labelled examples.

    Parameters
    ----------
    parts : dict
        The resolved config, as for `trainer.train`.
    labelled : sequence of Labelled
    **settings
        As for `trainer.train`; tasks of labels use ``least_margin`` alone.

    Raises
    ------
    UserError
        D462 where no example can be used.
    """
    about: dict[str, Any] = {"name": name, "version": version, "config": config or {}, "progress": progress}
    return train_marked(parts, mark(parts["task"], parts["tokenisation"], labelled), **about, **settings)


def train_marked(parts: dict[str, Any], marked: Marked, **settings: Any) -> Model:
    """Train a model from examples whose places are found; parameters are those of `train_labelled`."""
    if labels.are_labels(parts["task"]):
        known = ("name", "version", "config", "progress", "least_margin")
        return train_labels(parts, marked, **{key: settings[key] for key in known if key in settings})
    folds = marked.folds(FOLDS)
    learn, tune = marked.take(folds > 0), marked.take(folds == 0)
    notes = _notes(marked)
    if marked.n_documents < FOLDS:
        learn = tune = marked
        few = "1 document is" if marked.n_documents == 1 else f"{marked.n_documents} documents are"
        notes.append(f"{few} too few to put any aside for tuning")
    model = train_examples(parts, learn.examples, tune.examples, learn.examples, **settings)
    return replace(model, provenance={**model.provenance, **_counts(marked), "notes": notes})


def train_labels(
    parts: dict[str, Any],
    marked: Marked,
    *,
    name: str,
    version: str = "0.1.0",
    config: dict[str, Any] | None = None,
    least_margin: float = 0.0,
    progress: Progress | None = None,
) -> Model:
    """Train the model of a task whose candidates are labels; parameters are those of `train_labelled`.

    `least_margin` is that of `disambig.model.labels.Labels`. A task that has something to say of the places
    that are labelled has ``remarks(view, instances)``, lines that become notes.
    """
    task, learner = parts["task"], parts["learner"]
    instances = marked.examples.instances
    tell = progress or (lambda stage, done, total: None)
    n_folds = min(FOLDS, marked.n_documents)
    folds = marked.folds(max(n_folds, 1))
    scorers: list[Scorer | None] = []
    scores, gold, reports = [], [], {}
    extractors, features = _out_of_fold(parts["extractors"].values(), marked, folds, task, tell)
    rows = [np.flatnonzero(instances.groups == g) for g in range(len(task.groups))]
    right = [right_candidates(marked.take(own), group) for own, group in zip(rows, task.groups, strict=True)]
    for g, group in enumerate(task.groups):
        tell("learning", g, len(task.groups))
        gold.append(instances.observed[rows[g]])
        features[g] = _with_all_right(features[g], right[g])
        learners = learner, parts["baseline"]
        fitted, report, held_out = _fit(*learners, group, features[g], gold[g], folds[rows[g]])
        scorers.append(fitted)
        scores.append(held_out)
        reports[group.name] = report
    biased = not labels.decided_together(task)
    fitted_labels = labels.fit(scores, gold, metric=metric_of(task), biased=biased)
    fitted_labels = replace(fitted_labels, least_margin=float(least_margin))
    notes = [*_notes(marked), *_rare(task, gold, scorers, n_folds)]
    if hasattr(task, "remarks"):
        notes += _first(task.remarks(marked.examples.view, instances))
    chosen = [fitted_labels.judge(each, g)[0] for g, each in enumerate(scores)]
    if learns_labels(task):
        chosen = [seen_elsewhere(c, r, folds[own]) for c, r, own in zip(chosen, right, rows, strict=True)]
    hits = [(c >= 0) & r[np.arange(len(c)), c] for c, r in zip(chosen, right, strict=True)]
    notes += _no_better(task, hits, right, scorers)
    notes.append(_accuracy(np.concatenate(hits), n_folds))
    return label_model(
        parts,
        name=name,
        version=version,
        config=config,
        extractors=tuple(extractors),
        scorers=scorers,
        fitted=fitted_labels,
        provenance={"groups": reports, **_counts(marked), "notes": notes},
    )


def label_model(
    parts: dict[str, Any],
    *,
    name: str,
    version: str,
    config: dict[str, Any] | None,
    extractors: Sequence[FeatureExtractor],
    scorers: Sequence[Scorer | None],
    fitted: labels.Labels,
    provenance: dict[str, Any],
) -> Model:
    """Return the model of a task of labels from what was fitted for it."""
    n_groups = len(parts["task"].groups)
    return Model(
        name=name,
        version=version,
        task=parts["task"],
        tokenisation=parts["tokenisation"],
        extractors=tuple(extractors),
        baseline=parts["baseline"],
        scorers=tuple(scorers),
        calibration=calibration.none(n_groups),
        operating=operating.never(),
        labels=fitted,
        config=config or {},
        provenance=provenance,
    )


def metric_of(task: Task) -> tuple[str, int | None]:
    """Return what a task's decisions are to serve: ``("f1", candidate)`` or ``("accuracy", None)``."""
    name, label = getattr(task, "metric", ("accuracy", None))
    for group in task.groups:
        if name == "f1" and label in group.candidates:
            return "f1", group.candidates.index(label)
    return "accuracy", None


def _fit(
    learner: Learner,
    baseline: Learner,
    group: Group,
    features: Features,
    gold: NDArray[np.int32],
    folds: NDArray[np.int64],
) -> tuple[Scorer | None, dict[str, Any], NDArray[np.float64]]:
    """Return the scorer, what is to be said of it, and scores of each example by scorers that did not see it.

    Where the other folds of an example hold one label only, these are the baseline's. Where that is so for
    all folds the scorer is None: the examples are too few to learn from.
    """
    n = len(gold)
    counts = dict(zip(*(values.tolist() for values in np.unique(gold, return_counts=True)), strict=True))
    report: dict[str, Any] = {"examples": n, "labels": {str(label): count for label, count in counts.items()}}
    parts = np.unique(folds)
    learnable = [part for part in parts if len(np.unique(gold[folds != part])) > 1]
    held_out = np.empty((n, len(group.candidates)))
    if len(learnable) < len(parts) or not learnable:
        batch = features.batch
        held_out[:] = baseline.fit(batch).scorer.scores(batch).reshape(held_out.shape)
    if not learnable:
        return None, report | {"learner": "baseline"}, held_out
    strengths: list[Any] = []
    for part in learnable:
        inside, outside = np.flatnonzero(folds != part), np.flatnonzero(folds == part)
        dev = features.batch.take(outside)
        fitted = learner.fit(features.batch.take(inside), dev=dev)
        held_out[outside] = fitted.scorer.scores(dev).reshape(len(outside), -1)
        strengths.append(fitted.report.get("C"))
    if getattr(learner, "C", 0) is None and all(strengths):
        learner = replace(learner, C=float(np.median(strengths)))  # type: ignore[type-var]
    fitted = learner.fit(features.batch)
    return fitted.scorer, report | fitted.report, held_out


def _with_all_right(features: Features, right: NDArray[np.bool_]) -> Features:
    """Return features whose batch knows all labels that are right, where an example has several."""
    if (right.sum(axis=1) <= 1).all():
        return features
    costs = (~right).astype(np.float32)
    return replace(features, batch=replace(features.batch, costs=costs))  # type: ignore[type-var]


def _out_of_fold(
    extractors: Any, marked: Marked, folds: NDArray[np.int64], task: Task, tell: Progress
) -> tuple[list[FeatureExtractor], list[Features]]:
    """Return the extractors, fitted, and each group's features.

    Attributes learned from labels come from extractors fitted on folds without the example.
    """
    view, instances = marked.examples.view, marked.examples.instances
    whole: list[FeatureExtractor] = []
    joined: list[list[Features]] = [[] for _ in task.groups]
    for extractor in extractors:
        tell("fitting extractors", 0, 1)
        whole.append(extractor.fit(view, instances, task.groups))
        crossed = getattr(extractor, "cross_fit", False) and len(np.unique(folds)) > 1
        n_folds = int(folds.max(initial=0)) + 1
        if crossed:
            fitted = []
            for fold in range(n_folds):
                tell("fitting extractors out of fold", fold, n_folds)
                fitted.append(extractor.fit(view, instances.take(folds != fold), task.groups))
        else:
            fitted = [whole[-1]]
        for g, parts in enumerate(joined):
            rows = np.flatnonzero(instances.groups == g)
            of = folds[rows] if crossed else np.zeros(len(rows), np.int64)
            parts.append(_by_fold(fitted, marked, instances.take(rows), of, task, g))
    return whole, [join(parts) for parts in joined]


def _by_fold(
    fitted: Sequence[FeatureExtractor],
    marked: Marked,
    instances: Instances,
    folds: NDArray[np.int64],
    task: Task,
    group: int,
) -> Features:
    """Return features of which each row comes from the extractor of its own fold."""
    parts = [
        extractor.transform(marked.examples.view, instances.take(folds == fold), task.groups[group])
        for fold, extractor in enumerate(fitted)
    ]
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([np.flatnonzero(folds == fold) for fold in range(len(fitted))]))
    batches = [part.batch for part in parts]
    if not all(isinstance(batch, DenseBlocks) for batch in batches):
        raise TypeError("attributes learned out of fold must be dense class blocks")
    values = np.concatenate([batch.values for batch in batches])[order]  # type: ignore[attr-defined]
    costs = np.concatenate([batch.costs for batch in batches])[order]  # type: ignore[attr-defined]
    batch = replace(batches[0], values=values, costs=costs)  # type: ignore[type-var]
    k = values.shape[1]
    found, asked = (
        np.concatenate([getattr(part, name).reshape(-1, k) for part in parts])[order].ravel()
        for name in ("found", "asked")
    )
    return Features(batch, found, asked)


def _accuracy(hits: NDArray[np.bool_], n_folds: int) -> str:
    """Say how many choices were right on the examples themselves."""
    n, n_right = len(hits), int(hits.sum())
    if n_folds < 2 and not n_right:
        return f"{_examples(n)} of one document: how good the model is cannot be said"
    low, high = wilson(n_right, n)
    return (
        f"{_examples(n)}: accuracy {n_right / n:.1%} {ON_FITTED} (less on new text), "
        f"95 % interval {low:.1%} to {high:.1%}" + (": more examples are needed" if high - low > 0.1 else "")
    )


def _counts(marked: Marked) -> dict[str, Any]:
    said = {"labelled": len(marked.documents), "documents": len(np.unique(marked.documents))}
    return {"examples": said | {"train_words": marked.examples.n_words}}


def _notes(marked: Marked) -> list[str]:
    notes = []
    if marked.problems:
        notes.append(f"not used: {_shortened(marked.problems, 3, '; ')}")
    if len(marked.documents) < FEW:
        n = len(marked.documents)
        few = "is little" if n == 1 else "are few"
        notes.append(f"{_examples(n)} {few}: do not rely on this model yet")
    return notes


def _examples(n: int) -> str:
    return f"{n:,} labelled example{'' if n == 1 else 's'}"


def _rare(
    task: Task, gold: Sequence[NDArray[np.int32]], scorers: Sequence[Scorer | None], n_folds: int
) -> list[str]:
    """Say what had too few examples: of a group to learn, of a label to be in every fold, or one label."""
    unlearned, rarer, single = [], [], []
    for group, right, scorer in zip(task.groups, gold, scorers, strict=True):
        if len(group.candidates) == 1:
            single.append(f"{group.name}: one label only ({group.candidates[0]}): it is always given")
            continue
        counts = np.bincount(right, minlength=len(group.candidates))
        rare = [
            f"{name!r} ({n})"
            for name, n in zip(group.candidates, counts.tolist(), strict=True)
            if n < n_folds
        ]
        if scorer is None:
            few = "documents" if (counts > 0).sum() > 1 and len(right) >= 2 * n_folds else "examples"
            unlearned.append(f"{group.name}: too few {few} to learn from, give more of each label")
        elif rare:
            rarer.append(f"{group.name}: fewer examples than folds of {_shortened(rare, 10)}")
    return [*_first(single), *_first(unlearned), *_first(rarer)]


def _no_better(
    task: Task,
    hits: Sequence[NDArray[np.bool_]],
    right: Sequence[NDArray[np.bool_]],
    scorers: Sequence[Scorer | None],
) -> list[str]:
    """Say which groups learned nothing that shows on examples they did not see."""
    if metric_of(task)[0] != "accuracy":
        return []
    notes = []
    for group, hit, candidates, scorer in zip(task.groups, hits, right, scorers, strict=True):
        often = candidates.sum(axis=0)
        if scorer is not None and hit.sum() <= often.max():
            label = group.candidates[int(often.argmax())]
            notes.append(f"{group.name}: in cross-validation no better than {label!r} every time")
    return _first(notes)


def _first(notes: list[str]) -> list[str]:
    """Return some notes of one kind, the last of which says how many more groups there are."""
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else [*notes[:MOST_NOTES], f"... and {more:,} groups more like these"]


def _shortened(names: list[str], most: int, between: str = ", ") -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return between.join(names[:most]) + more
