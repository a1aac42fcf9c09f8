"""Folds: every example is learned from, and judged by what did not see it.

Labelled examples are few, so none is put aside: everything that must not be judged on what it learned from
(extractors that learn from labels, open settings, probabilities, offsets) is fitted on folds of documents,
and of whole domains (genres) where these are named: then probabilities hold for text of another kind, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.rows import rows_of
from disambig.data.batches.stacked import stacked
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.contract import fault, fitted, transformed
from disambig.features.joining import join, names_of
from disambig.fields import cross_fits
from disambig.model.model import Model
from disambig.training import notes
from disambig.training.accounting import account
from disambig.training.alternative import far_better
from disambig.training.fitting import fit, fit_folds
from disambig.training.marking import Marked, learns_labels, right_candidates, seen_elsewhere
from disambig.training.plan import FitsFolds, Progress
from disambig.types import (
    CandidateBatch,
    FeatureExtractor,
    Features,
    Learner,
    Remarks,
    Scored,
    Scorer,
    Settles,
    Task,
)

FOLDS = 5
_EVIDENCE = ("found", "asked")
_Found = tuple[Scorer | None, dict[str, Any], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """A plan of folds of whole documents."""

    marked: Marked

    def prepare(self, parts: dict[str, Any], tell: Progress) -> Ready:
        """Fit the extractors, those that learn from labels once more without each fold."""
        marked, task = self.marked, parts["task"]
        n_folds = min(FOLDS, marked.n_documents)
        folds = marked.folds_apart(max(n_folds, 1))
        extractors, features = _out_of_fold(parts["extractors"].values(), marked, folds, task, tell)
        groups = marked.examples.instances.groups
        rows = [np.flatnonzero(groups == g) for g in range(len(task.groups))]
        right = [
            right_candidates(marked.take(own), group) for own, group in zip(rows, task.groups, strict=True)
        ]
        features = [_with_all_right(*pair) for pair in zip(features, right, strict=True)]
        return Ready(marked, folds, n_folds, tuple(extractors), features, rows, right)


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """A plan of folds whose extractors are fitted.

    Attributes
    ----------
    marked : Marked
    folds : array of int64, shape (n_instances,)
    n_folds : int
    extractors : tuple of FeatureExtractor
    features : list of Features
        Of each group, each example's from extractors that did not see its label.
    rows : list of arrays of int64
        The instances of each group.
    right : list of arrays of bool, shape (n_g, K_g)
        Which candidates are right; there may be several.
    held_out : list of arrays of float64
        Scores of each group's candidates by scorers that did not see the example; filled by `fit`.
    known : dict
        What was found for groups: their scorers, reports and scores.
    """

    marked: Marked
    folds: NDArray[np.int64]
    n_folds: int
    extractors: tuple[FeatureExtractor, ...]
    features: list[Features]
    rows: list[NDArray[np.int64]]
    right: list[NDArray[np.bool_]]
    held_out: list[NDArray[np.float64]] = field(default_factory=list)
    known: dict[int, _Found] = field(default_factory=dict)

    def shared(self, model: Model, learner: Learner, rng: np.random.Generator) -> Scorer | None:
        """Return None: what groups share would have seen every fold."""
        return None

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Fit one group on all its examples, and on all folds but one to score that one.

        Where the other folds of an example hold one label only, its scores are the baseline's. Where that is
        so for all folds, or the group is not to be learned, the scorer is None: the examples are too few.
        """
        scorer, report, held_out = self._found(model.task, learner, model.baseline, group)
        self.held_out.append(held_out)
        return scorer, dict(report)

    def hits(self, task: Task, learner: Learner, baseline: Learner) -> NDArray[np.bool_]:
        """Return which examples are decided right by scorers that did not see them, before any offsets."""
        found = np.zeros(len(self.folds), bool)
        for g, (right, rows) in enumerate(zip(self.right, self.rows, strict=True)):
            if len(rows):
                chosen = self._found(task, learner, baseline, g)[2].argmax(axis=1)
                found[rows] = right[np.arange(len(rows)), chosen]
        return found

    def settled(self, learner: Learner) -> Learner:
        """Return a learner with what it leaves open as it came out in the groups' fits so far."""
        return (
            learner.settled([about[1] for about in self.known.values()])
            if isinstance(learner, Settles)
            else learner
        )

    def _found(self, task: Task, learner: Learner, baseline: Learner, group: int) -> _Found:
        """Return what was found for a group; each is fitted once."""
        if group not in self.known:
            self.known[group] = self._fitted(task.groups[group], learner, baseline, group)
        return self.known[group]

    def _fitted(self, table: Group, learner: Learner, baseline: Learner, group: int) -> _Found:
        features, gold = self.features[group], self.gold(group)
        folds = self.folds[self.rows[group]]
        n = len(gold)
        counts = dict(zip(*(values.tolist() for values in np.unique(gold, return_counts=True)), strict=True))
        labels = {str(label): count for label, count in counts.items()}
        report: dict[str, Any] = {"examples": n, "labels": labels}
        parts = np.unique(folds)
        learnable = [part for part in parts if table.learned and len(np.unique(gold[folds != part])) > 1]
        held_out = np.empty((n, len(table.candidates)))
        if len(learnable) < len(parts) or not learnable:
            batch = features.batch
            held_out[:] = baseline.fit(batch).scorer.scores(batch).reshape(held_out.shape)
        elif isinstance(learner, FitsFolds):
            at_once = fit_folds(learner, features.batch, folds)
            if at_once is not None:
                found, scores = at_once
                return found.scorer, report | found.report, scores.reshape(held_out.shape)
        if not learnable:
            return None, report | {"learner": "baseline"}, held_out
        reports: list[dict[str, Any]] = []
        for part in learnable:
            inside, outside = np.flatnonzero(folds != part), np.flatnonzero(folds == part)
            dev = features.batch.take(outside)
            found = fit(learner, features.batch.take(inside), dev=dev)
            held_out[outside] = found.scorer.scores(dev).reshape(len(outside), -1)
            reports.append(found.report)
        if isinstance(learner, Settles):
            learner = learner.settled(reports)
        steps = Counter(str(each["chosen"]) for each in reports if "chosen" in each).most_common(1)
        found = fit(learner, features.batch, step=steps[0][0] if steps else None)
        return found.scorer, report | found.report, held_out

    def gold(self, group: int) -> NDArray[np.int32]:
        """Return the right candidate of each example of a group."""
        return self.marked.examples.instances.observed[self.rows[group]]

    def as_they_come(self, group: int) -> NDArray[np.int64]:
        """Return which examples of a group tell how frequent labels are: all but those picked for theirs.

        Where all were picked, it is all of them.
        """
        picked = np.array([self.marked.labelled[row].picked for row in self.rows[group].tolist()], bool)
        return np.flatnonzero(~picked | picked.all())

    def material(self, model: Model, rng: np.random.Generator) -> HeldOutScores:
        """Return the examples as they come, as they were scored out of fold."""
        return HeldOutScores(self, model.task, rng)

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return counts, and what is to be said of the examples."""
        task, marked = model.task, self.marked
        said = [*notes.of_examples(marked)]
        said += notes.rare(task, [self.gold(g) for g in range(len(self.rows))], model.scorers, self.n_folds)
        if isinstance(task, Remarks):
            said += notes.first(task.remarks(marked.examples.view, marked.examples.instances))
        scores = self.material(model, np.random.default_rng(0))
        chosen = [model.judge.judge(scores.scored(g)).chosen for g in range(len(self.rows))]
        kept = [self.as_they_come(g) for g in range(len(self.rows))]
        right = [each[rows] for each, rows in zip(self.right, kept, strict=True)]
        if learns_labels(task):
            chosen = [
                seen_elsewhere(c, r, self.folds[own[rows]])
                for c, r, own, rows in zip(chosen, right, self.rows, kept, strict=True)
            ]
        said += notes.alternatives(
            task,
            [
                None if scorer is None else far_better(features.batch, right, self.folds[own], scored)
                for scorer, features, right, own, scored in zip(
                    model.scorers, self.features, self.right, self.rows, self.held_out, strict=True
                )
            ],
        )
        hits = [(c >= 0) & r[np.arange(len(c)), c] for c, r in zip(chosen, right, strict=True)]
        said += notes.no_better(task, hits, right, model.scorers)
        said.append(notes.accuracy(np.concatenate(hits), self.n_folds))
        return {**counts(marked), "notes": said}


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutScores:
    """Examples as they were scored out of fold, but for those that were picked for their label."""

    ready: Ready
    task: Task
    rng: np.random.Generator

    @property
    def n_words(self) -> int:
        """Words of the texts."""
        return self.ready.marked.examples.n_words

    def scored(self, group: int, *, most: int | None = None) -> Scored:
        """Return the examples of a group; ValueError where there are more than `most`."""
        features, instances = self.ready.features[group], self.ready.marked.examples.instances
        rows = self.ready.rows[group]
        kept = self.ready.as_they_come(group)
        if most is not None and len(rows) > most:
            raise ValueError("examples in folds are few: a judge takes all of them")
        every = Scored(
            self.task.groups[group],
            group,
            features.batch.offsets,
            self.ready.held_out[group].ravel(),
            instances.observed[rows],
            features.found,
            features.asked,
            features.batch.cost,
        )
        return every if len(kept) == len(rows) else every.take(kept)


def counts(marked: Marked) -> dict[str, Any]:
    """Return how many examples, documents and words there are."""
    said = {"labelled": len(marked.documents), "documents": len(np.unique(marked.documents))}
    told = account(len(marked.documents), marked.problems)
    return {"examples": said | {"train_words": marked.examples.n_words, "account": told}}


def _with_all_right(features: Features, right: NDArray[np.bool_]) -> Features:
    """Return features whose batch knows all labels that are right, where an example has several."""
    if (right.sum(axis=1) <= 1).all():
        return features
    costs = (~right).astype(np.float32)
    return replace(features, batch=replace(features.batch, costs=costs))  # type: ignore[type-var]


def _out_of_fold(
    extractors: Iterable[FeatureExtractor],
    marked: Marked,
    folds: NDArray[np.int64],
    task: Task,
    tell: Progress,
) -> tuple[list[FeatureExtractor], list[Features]]:
    """Return the extractors, fitted, and each group's features.

    Attributes learned from labels come from extractors fitted on folds without the example.
    """
    view, instances = marked.examples.view, marked.examples.instances
    whole: list[FeatureExtractor] = []
    joined: list[list[Features]] = [[] for _ in task.groups]
    for extractor in extractors:
        tell("fitting extractors", 0, 1)
        whole.append(fitted(extractor, view, instances, task.groups))
        crossed = cross_fits(extractor) and len(np.unique(folds)) > 1
        n_folds = int(folds.max(initial=0)) + 1
        if crossed:
            each = []
            for fold in range(n_folds):
                tell("fitting extractors out of fold", fold, n_folds)
                each.append(fitted(extractor, view, instances.take(folds != fold), task.groups))
        else:
            each = [whole[-1]]
        for g, parts in enumerate(joined):
            rows = np.flatnonzero(instances.groups == g)
            of = folds[rows] if crossed else np.zeros(len(rows), np.int64)
            parts.append(_by_fold(each, marked, instances.take(rows), of, task, g))
    return whole, [join(parts, names_of(whole)) for parts in joined]


def _by_fold(
    extractors: Sequence[FeatureExtractor],
    marked: Marked,
    instances: Instances,
    folds: NDArray[np.int64],
    task: Task,
    group: int,
) -> Features:
    """Return features of which each row comes from the extractor of its own fold."""
    parts = [
        transformed(extractor, marked.examples.view, instances.take(folds == fold), task.groups[group])
        for fold, extractor in enumerate(extractors)
    ]
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([np.flatnonzero(folds == fold) for fold in range(len(extractors))]))
    batch = stacked([part.batch for part in parts])
    if batch is None:
        seen = ", ".join(dict.fromkeys(_described(part.batch) for part in parts))
        wanted = "rows of one storage in the same columns, whatever fold it learned from (cross_fit)"
        raise fault(extractors[0], f"fitted to the folds it gave {seen}", wanted)
    sizes = np.concatenate([np.diff(part.batch.offsets) for part in parts])
    rows, _ = rows_of(np.append(0, np.cumsum(sizes)), order)
    found, asked = (np.concatenate([getattr(part, name) for part in parts])[rows] for name in _EVIDENCE)
    return Features(batch.take(order), found, asked)


def _described(batch: CandidateBatch) -> str:
    return f"{type(batch).__name__} of {len(batch.columns):,} columns"
