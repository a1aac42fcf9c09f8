"""Resampling: held-out examples, or folds of whole documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances, ScoreBatch, stack_batches, take_rows
from disambig.features import extractor_error, extractor_names, fit_checked, join, transform_checked
from disambig.models import LinearScorer, Model
from disambig.training import diagnostics as notes
from disambig.training import fitting as balance
from disambig.training.diagnostics import sanity_baseline
from disambig.training.examples import ErrorCorpus, TextExamples, dataset_report
from disambig.training.fitting import FitsFolds, Progress, fit, fit_folds
from disambig.training.labelled_dataset import (
    LabelledDataset,
    learns_labels,
    right_candidates,
    seen_elsewhere,
)
from disambig.types import (
    CandidateBatch,
    FeatureExtractor,
    Features,
    HasOpenSettings,
    HasWarnings,
    Learner,
    Scorer,
    SharesWeights,
    Task,
    cross_fits,
    needs_training,
)

MOST_SHARED = 400
"""Examples of each group from which shared weights are learned, at most: frequent groups are not all."""
_ANY = Group("any", ())


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutResampling:
    """A plan of two parts.

    Attributes
    ----------
    learn, tune, around : Examples
        What learners learn from, what they are tuned and the judge is fitted on, what extractors learn from.
    max_examples : int
        Of a group to learn from; a random sample where there are more.
    min_examples : int
        Groups with fewer, or in which only one candidate occurs, keep the baseline.
    people : People, optional
        Mistakes that people made, and right words: for judges that learn from them.
    """

    learn: TextExamples
    tune: TextExamples
    around: TextExamples
    max_examples: int
    min_examples: int
    people: ErrorCorpus | None = None

    def prepare(self, parts: dict[str, Any], tell: Progress) -> FittedHeldOut:
        """Fit the extractors."""
        tell("fitting extractors", 0, 1)
        view, instances, groups = self.around.view, self.around.instances, parts["task"].groups
        return FittedHeldOut(
            self, tuple(fit_checked(e, view, instances, groups) for e in parts["extractors"].values())
        )


@dataclass(frozen=True, slots=True, eq=False)
class FittedHeldOut:
    """A plan of two parts whose extractors are fitted."""

    plan: HeldOutResampling
    extractors: tuple[FeatureExtractor, ...]

    def shared(self, model: Model, learner: Learner, rng: np.random.Generator) -> Scorer | None:
        """Learn the weights that all groups share from a few hundred examples of each."""
        batches = []
        learn = self.plan.learn
        for g, group in enumerate(model.task.groups):
            rows = learn.rows(g, most=MOST_SHARED, rng=rng)
            if len(rows) and balance.EMPTY_CANDIDATE not in group.candidates:
                batches.append(learn.features(rows, g, model.task, model.extractors).batch)
        return learner.fit_shared(batches) if batches and isinstance(learner, SharesWeights) else None

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Fit one group."""
        plan, table = self.plan, model.task.groups[group]
        if balance.EMPTY_CANDIDATE in table.candidates:
            return self._fit_with_zero(model, learner, group, rng)
        rows = plan.learn.rows(group, most=plan.max_examples, rng=rng)
        report: dict[str, Any] = {"examples": len(rows)}
        if needs_training(learner) and self._too_few(rows):
            return None, report | {"learner": "baseline"}
        features = plan.learn.features(rows, group, model.task, model.extractors)
        dev_rows = plan.tune.rows(group, most=plan.max_examples // 2, rng=rng)
        dev = None
        if len(dev_rows):
            dev = plan.tune.features(dev_rows, group, model.task, model.extractors).batch
        found = fit(learner, features.batch, dev=dev, rng=rng)
        return found.scorer, report | found.report

    def _fit_with_zero(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Fit a group that has a candidate of no word: see `disambig.training.fitting`."""
        plan, table, most = self.plan, model.task.groups[group], self.plan.max_examples

        def sample(examples: TextExamples, size: int) -> NDArray[np.int64]:
            rows = examples.rows(group)
            return balance.balanced_sample(rows, examples.instances.observed[rows], table, most=size, rng=rng)

        rows, dev_rows, true_rows = (
            sample(plan.learn, most),
            sample(plan.tune, most // 2),
            plan.tune.rows(group, most=most, rng=rng),
        )
        report: dict[str, Any] = {"examples": len(rows)}
        if needs_training(learner) and (self._too_few(rows) or not len(dev_rows)):
            return None, report | {"learner": "baseline"}
        features = plan.learn.features(rows, group, model.task, model.extractors)
        dev = None
        if len(dev_rows):
            dev = plan.tune.features(dev_rows, group, model.task, model.extractors).batch
        found = fit(learner, features.batch, dev=dev, rng=rng)
        column = balance.bias_column(features.batch.columns, table)
        if column is None or not isinstance(found.scorer, LinearScorer) or not len(true_rows):
            return found.scorer, report | found.report
        at_true_rate = plan.tune.features(true_rows, group, model.task, model.extractors)
        scores = found.scorer.scores(at_true_rate.batch).reshape(len(true_rows), -1)
        right = plan.tune.instances.observed[true_rows]
        scorer, shift = balance.restore_bias(found.scorer, column, scores, right, table)
        return scorer, report | found.report | {"empty_places_shift": round(shift, 6)}

    def _too_few(self, rows: NDArray[np.int64]) -> bool:
        """Tell whether examples are few, or say nothing: always the same candidate is right."""
        if len(rows) < self.plan.min_examples:
            return True
        instances = self.plan.learn.instances
        if instances.own is None:
            return len(np.unique(instances.observed[rows])) < 2
        some = instances.take(rows)
        assert some.own is not None
        if np.isnan(some.own.costs).all():
            return bool((np.diff(some.own.offsets) < 2).all())
        return not bool((some.costs(_ANY) > 0).any())  # beyond the cheapest one of a list

    def material(self, model: Model, rng: np.random.Generator) -> HeldOutCalibration:
        """Return the examples to tune on, and what people wrote."""
        if self.plan.people is None:
            return HeldOutCalibration(model, self.plan.tune, rng)
        return ErrorCorpusCalibration(model, self.plan.tune, rng, self.plan.people)

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return how many words there were, and the settings."""
        plan = self.plan
        examples: dict[str, Any] = {"train_words": plan.learn.n_words, "dev_words": plan.tune.n_words}
        if plan.people is not None:
            examples |= {"mistakes": plan.people.account, "clean_words": plan.people.right.n_words}
        return {
            "examples": examples,
            "settings": {"max_examples": plan.max_examples, "min_examples": plan.min_examples},
        }


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutCalibration:
    """Examples scored by a model that did not learn from them, when they are asked for."""

    model: Model
    examples: TextExamples
    rng: np.random.Generator

    @property
    def task(self) -> Task:
        """The task."""
        return self.model.task

    @property
    def n_words(self) -> int:
        """Words of the text."""
        return self.examples.n_words

    def scored(self, group: int, *, most: int | None = None) -> ScoreBatch:
        """Return the examples of a group, scored: all, or a random sample of `most`."""
        return score_examples(
            self.model, self.examples, self.examples.rows(group, most=most, rng=self.rng), group
        )


@dataclass(frozen=True, slots=True, eq=False)
class ErrorCorpusCalibration(HeldOutCalibration):
    """Examples to tune on, and what people wrote (see `disambig.types.HasErrorCorpus`)."""

    people: ErrorCorpus

    @property
    def n_mistakes(self) -> int:
        """All mistakes of the file, those of other tasks among them."""
        return self.people.n_mistakes

    @property
    def n_right_words(self) -> int:
        """Words of the clean paragraphs."""
        return self.people.right.n_words

    def right(self, group: int) -> ScoreBatch:
        """Return places without a mistake, scored."""
        return score_examples(self.model, self.people.right, self.people.right.rows(group), group)

    def mistakes(self, group: int) -> ScoreBatch:
        """Return the mistakes, scored."""
        rows = self.people.wrong.rows(group)
        found = score_examples(self.model, self.people.wrong, rows, group)
        return replace(found, observed=self.people.written[rows])


def score_examples(model: Model, examples: TextExamples, rows: NDArray[np.int64], group: int) -> ScoreBatch:
    """Return some examples of a group, scored by a model."""
    part = examples.instances.take(rows)
    return model.scored(model.features(examples.view, part, group), part, group, examples.view)


FOLDS = 5
_EVIDENCE = ("found", "asked")
_GroupFit = tuple[Scorer | None, dict[str, Any], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class FoldResampling:
    """A plan of folds of whole documents."""

    marked: LabelledDataset

    def prepare(self, parts: dict[str, Any], tell: Progress) -> FittedFolds:
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
        return FittedFolds(marked, folds, n_folds, tuple(extractors), features, rows, right)


@dataclass(frozen=True, slots=True, eq=False)
class FittedFolds:
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

    marked: LabelledDataset
    folds: NDArray[np.int64]
    n_folds: int
    extractors: tuple[FeatureExtractor, ...]
    features: list[Features]
    rows: list[NDArray[np.int64]]
    right: list[NDArray[np.bool_]]
    held_out: list[NDArray[np.float64]] = field(default_factory=list)
    known: dict[int, _GroupFit] = field(default_factory=dict)

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

    def with_tuned(self, learner: Learner) -> Learner:
        """Return a learner with what it leaves open as it came out in the groups' fits so far."""
        return (
            learner.with_tuned([about[1] for about in self.known.values()])
            if isinstance(learner, HasOpenSettings)
            else learner
        )

    def _found(self, task: Task, learner: Learner, baseline: Learner, group: int) -> _GroupFit:
        """Return what was found for a group; each is fitted once."""
        if group not in self.known:
            self.known[group] = self._fitted(task.groups[group], learner, baseline, group)
        return self.known[group]

    def _fitted(self, table: Group, learner: Learner, baseline: Learner, group: int) -> _GroupFit:
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
        if isinstance(learner, HasOpenSettings):
            learner = learner.with_tuned(reports)
        steps = Counter(str(each["chosen"]) for each in reports if "chosen" in each).most_common(1)
        found = fit(learner, features.batch, step=steps[0][0] if steps else None)
        return found.scorer, report | found.report, held_out

    def gold(self, group: int) -> NDArray[np.int32]:
        """Return the right candidate of each example of a group."""
        return self.marked.examples.instances.observed[self.rows[group]]

    def naturally_sampled(self, group: int) -> NDArray[np.int64]:
        """Return which examples of a group tell how frequent labels are: all but those picked for theirs.

        Where all were picked, it is all of them.
        """
        picked = np.array([self.marked.labelled[row].picked for row in self.rows[group].tolist()], bool)
        return np.flatnonzero(~picked | picked.all())

    def material(self, model: Model, rng: np.random.Generator) -> FoldCalibration:
        """Return the examples as they come, as they were scored out of fold."""
        return FoldCalibration(self, model.task, rng)

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return counts, and what is to be said of the examples."""
        task, marked = model.task, self.marked
        said = [*notes.example_warnings(marked)]
        said += notes.rare_warnings(
            task, [self.gold(g) for g in range(len(self.rows))], model.scorers, self.n_folds
        )
        if isinstance(task, HasWarnings):
            said += notes.first_warnings(task.warnings(marked.examples.view, marked.examples.instances))
        scores = self.material(model, np.random.default_rng(0))
        chosen = [model.judge.judge(scores.scored(g)).chosen for g in range(len(self.rows))]
        kept = [self.naturally_sampled(g) for g in range(len(self.rows))]
        right = [each[rows] for each, rows in zip(self.right, kept, strict=True)]
        if learns_labels(task):
            chosen = [
                seen_elsewhere(c, r, self.folds[own[rows]])
                for c, r, own, rows in zip(chosen, right, self.rows, kept, strict=True)
            ]
        said += notes.baseline_warnings(
            task,
            [
                None if scorer is None else sanity_baseline(features.batch, right, self.folds[own], scored)
                for scorer, features, right, own, scored in zip(
                    model.scorers, self.features, self.right, self.rows, self.held_out, strict=True
                )
            ],
        )
        hits = [(c >= 0) & r[np.arange(len(c)), c] for c, r in zip(chosen, right, strict=True)]
        said += notes.no_gain_warnings(task, hits, right, model.scorers)
        said.append(notes.accuracy_line(np.concatenate(hits), self.n_folds))
        return {**count_dataset(marked), "notes": said}


@dataclass(frozen=True, slots=True, eq=False)
class FoldCalibration:
    """Examples as they were scored out of fold, but for those that were picked for their label."""

    ready: FittedFolds
    task: Task
    rng: np.random.Generator

    @property
    def n_words(self) -> int:
        """Words of the texts."""
        return self.ready.marked.examples.n_words

    def scored(self, group: int, *, most: int | None = None) -> ScoreBatch:
        """Return the examples of a group; ValueError where there are more than `most`."""
        features, instances = self.ready.features[group], self.ready.marked.examples.instances
        rows = self.ready.rows[group]
        kept = self.ready.naturally_sampled(group)
        if most is not None and len(rows) > most:
            raise ValueError("examples in folds are few: a judge takes all of them")
        every = ScoreBatch(
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


def count_dataset(marked: LabelledDataset) -> dict[str, Any]:
    """Return how many examples, documents and words there are."""
    said = {"labelled": len(marked.documents), "documents": len(np.unique(marked.documents))}
    told = dataset_report(len(marked.documents), marked.problems)
    return {"examples": said | {"train_words": marked.examples.n_words, "account": told}}


def _with_all_right(features: Features, right: NDArray[np.bool_]) -> Features:
    """Return features whose batch knows all labels that are right, where an example has several."""
    if (right.sum(axis=1) <= 1).all():
        return features
    costs = (~right).astype(np.float32)
    return replace(features, batch=replace(features.batch, costs=costs))  # type: ignore[type-var]


def _out_of_fold(
    extractors: Iterable[FeatureExtractor],
    marked: LabelledDataset,
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
        whole.append(fit_checked(extractor, view, instances, task.groups))
        crossed = cross_fits(extractor) and len(np.unique(folds)) > 1
        n_folds = int(folds.max(initial=0)) + 1
        if crossed:
            each = []
            for fold in range(n_folds):
                tell("fitting extractors out of fold", fold, n_folds)
                each.append(fit_checked(extractor, view, instances.take(folds != fold), task.groups))
        else:
            each = [whole[-1]]
        for g, parts in enumerate(joined):
            rows = np.flatnonzero(instances.groups == g)
            of = folds[rows] if crossed else np.zeros(len(rows), np.int64)
            parts.append(_by_fold(each, marked, instances.take(rows), of, task, g))
    return whole, [join(parts, extractor_names(whole)) for parts in joined]


def _by_fold(
    extractors: Sequence[FeatureExtractor],
    marked: LabelledDataset,
    instances: Instances,
    folds: NDArray[np.int64],
    task: Task,
    group: int,
) -> Features:
    """Return features of which each row comes from the extractor of its own fold."""
    parts = [
        transform_checked(extractor, marked.examples.view, instances.take(folds == fold), task.groups[group])
        for fold, extractor in enumerate(extractors)
    ]
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([np.flatnonzero(folds == fold) for fold in range(len(extractors))]))
    batch = stack_batches([part.batch for part in parts])
    if batch is None:
        seen = ", ".join(dict.fromkeys(_transform_dataset(part.batch) for part in parts))
        wanted = "rows of one storage in the same columns, whatever fold it learned from (cross_fit)"
        raise extractor_error(extractors[0], f"fitted to the folds it gave {seen}", wanted)
    sizes = np.concatenate([np.diff(part.batch.offsets) for part in parts])
    rows, _ = take_rows(np.append(0, np.cumsum(sizes)), order)
    found, asked = (np.concatenate([getattr(part, name) for part in parts])[rows] for name in _EVIDENCE)
    return Features(batch.take(order), found, asked)


def _transform_dataset(batch: CandidateBatch) -> str:
    return f"{type(batch).__name__} of {len(batch.columns):,} columns"
