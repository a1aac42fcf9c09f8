"""Resampling for training: held-out examples, or cross-validation over folds of whole documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, Group, Instances, ScoreBatch, join_offsets, stack_batches, take_rows
from disambig.features import extractor_error, extractor_names, fit_checked, join, transform_checked
from disambig.formatting import pluralize
from disambig.models import LinearScorer, Model
from disambig.training import diagnostics, fitting
from disambig.training.diagnostics import sanity_baseline
from disambig.training.fitting import FitsFolds, ResolvedConfig, fit, fit_folds
from disambig.training.labelled_dataset import (
    ErrorCorpus,
    LabelledDataset,
    TextExamples,
    dataset_report,
    learns_labels,
    right_candidates,
    seen_elsewhere,
)
from disambig.type_aliases import Bools, Progress
from disambig.types import (
    CalibrationData,
    FeatureExtractor,
    Features,
    Fitted,
    HasOpenSettings,
    Learner,
    Scorer,
    SharesWeights,
    Task,
    TaskTraits,
    cross_fits,
    decides,
    get_trait,
    needs_training,
)

_MAX_SHARED = 400
"""Maximum number of examples per group for the shared weights, so that frequent groups do not dominate."""
_ANY = Group("any", ())


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutResampling:
    """Train on one set of examples, and tune and calibrate on another."""

    # examples for the learners, for tuning and for fitting the decision rule, and for the extractors
    learn: TextExamples
    tune: TextExamples
    background: TextExamples
    # maximum number of training examples per group; if there are more, a random sample is taken
    max_examples: int
    min_examples: int  # groups with fewer examples, or in which only one candidate occurs, keep the baseline
    # mistakes that people made, and correct words, for decision rules that learn from them
    error_corpus: ErrorCorpus | None = None

    def prepare(self, parts: ResolvedConfig, progress: Progress) -> FittedHeldOut:
        """Fit the extractors."""
        progress("fitting extractors", 0, 1)
        view, instances, groups = self.background.view, self.background.instances, parts.task.groups
        return FittedHeldOut(
            self, tuple(fit_checked(e, view, instances, groups) for e in parts.extractors.values())
        )


@dataclass(frozen=True, slots=True, eq=False)
class FittedHeldOut:
    """A `HeldOutResampling` with fitted extractors."""

    resampling: HeldOutResampling
    extractors: tuple[FeatureExtractor, ...]

    def shared(self, model: Model, learner: SharesWeights, rng: np.random.Generator) -> Scorer | None:
        """Learn the weights that all groups share, from a few hundred examples of each group."""
        batches = []
        learn = self.resampling.learn
        for g, group in enumerate(model.task.groups):
            rows = learn.rows(g, maximum=_MAX_SHARED, rng=rng)
            # empty places are far more frequent than any word and would dominate the shared weights
            if len(rows) and fitting.EMPTY_CANDIDATE not in group.candidates:
                batches.append(learn.features(rows, g, model.task, model.extractors).batch)
        return learner.fit_shared(batches) if batches else None

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Fit one group."""
        resampling, table = self.resampling, model.task.groups[group]
        if fitting.EMPTY_CANDIDATE in table.candidates:
            return self._fit_with_empty_candidate(model, learner, group, rng)
        rows = resampling.learn.rows(group, maximum=resampling.max_examples, rng=rng)
        report: dict[str, Any] = {"examples": len(rows)}
        if needs_training(learner) and self._too_few(rows):
            return None, report | {"learner": "baseline"}
        dev_rows = resampling.tune.rows(group, maximum=resampling.max_examples // 2, rng=rng)
        fitted, _ = self._fit_rows(model, learner, group, rows, dev_rows, rng)
        return fitted.scorer, report | fitted.report

    def _fit_rows(
        self,
        model: Model,
        learner: Learner,
        group: int,
        rows: NDArray[np.int64],
        dev_rows: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> tuple[Fitted, Columns]:
        """Fit a learner to some examples, tuned on others; also return the columns of the features."""
        learn, tune, extractors = self.resampling.learn, self.resampling.tune, model.extractors
        batch = learn.features(rows, group, model.task, extractors).batch
        model.baseline.fit(batch)  # raises if it does not fit the features, before the long training
        dev = tune.features(dev_rows, group, model.task, extractors).batch if len(dev_rows) else None
        return fit(learner, batch, dev=dev, rng=rng), batch.columns

    def _fit_with_empty_candidate(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Fit a group that has the empty candidate: balance the sample, then restore the bias.

        Empty places are by far the most frequent, so the learner sees a sample with fewer of them; afterwards
        the bias of the empty candidate is shifted so that it wins as often as in the tuning text.
        """
        resampling, table = self.resampling, model.task.groups[group]
        maximum = resampling.max_examples

        def sample(examples: TextExamples, size: int) -> NDArray[np.int64]:
            rows = examples.rows(group)
            observed = examples.instances.observed[rows]
            return fitting.balanced_sample(rows, observed, table, maximum=size, rng=rng)

        rows, dev_rows = sample(resampling.learn, maximum), sample(resampling.tune, maximum // 2)
        true_rows = resampling.tune.rows(group, maximum=maximum, rng=rng)
        report: dict[str, Any] = {"examples": len(rows)}
        if needs_training(learner) and (self._too_few(rows) or not len(dev_rows)):
            return None, report | {"learner": "baseline"}
        fitted, columns = self._fit_rows(model, learner, group, rows, dev_rows, rng)
        column = fitting.bias_column(columns, table)
        if column is None or not isinstance(fitted.scorer, LinearScorer) or not len(true_rows):
            return fitted.scorer, report | fitted.report
        at_true_rate = resampling.tune.features(true_rows, group, model.task, model.extractors)
        scores = fitted.scorer.scores(at_true_rate.batch).reshape(len(true_rows), -1)
        right = resampling.tune.instances.observed[true_rows]
        scorer, shift = fitting.restore_bias(fitted.scorer, column, scores, right, table)
        return scorer, report | fitted.report | {"empty_places_shift": round(shift, 6)}

    def _too_few(self, rows: NDArray[np.int64]) -> bool:
        """Return True if there are too few examples, or the same candidate is right in all of them."""
        if len(rows) < self.resampling.min_examples:
            return True
        instances = self.resampling.learn.instances
        if instances.lists is None:
            return len(np.unique(instances.observed[rows])) < 2
        selected = instances.take(rows)
        assert selected.lists is not None
        if np.isnan(selected.lists.costs).all():
            return bool((np.diff(selected.lists.offsets) < 2).all())
        # True unless some candidate costs more than the cheapest one of its list
        return not bool((selected.costs(_ANY) > 0).any())

    def calibration_data(self, model: Model, rng: np.random.Generator) -> HeldOutCalibration:
        """Return the data for calibration: the tuning examples and, if there is one, the error corpus."""
        if self.resampling.error_corpus is None:
            return HeldOutCalibration(model, self.resampling.tune, rng)
        return ErrorCorpusCalibration(model, self.resampling.tune, rng, self.resampling.error_corpus)

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return the number of words and the settings, for the model's provenance."""
        resampling = self.resampling
        counts: dict[str, Any] = {
            "train_words": resampling.learn.n_words,
            "dev_words": resampling.tune.n_words,
        }
        if (corpus := resampling.error_corpus) is not None:
            counts |= {"mistakes": corpus.report, "clean_words": corpus.right.n_words}
        settings = {"max_examples": resampling.max_examples, "min_examples": resampling.min_examples}
        return {"examples": counts, "settings": settings}


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutCalibration:
    """Tuning examples, scored on demand by a model that did not learn from them."""

    model: Model
    examples: TextExamples
    rng: np.random.Generator

    @property
    def task(self) -> Task:
        """The task."""
        return self.model.task

    @property
    def n_words(self) -> int:
        """Number of words in the text."""
        return self.examples.n_words

    def scored(self, group: int, *, maximum: int | None = None) -> ScoreBatch:
        """Return the scores of a group's examples: all of them, or a random sample of `maximum`."""
        return score_examples(
            self.model, self.examples, self.examples.rows(group, maximum=maximum, rng=self.rng), group
        )


@dataclass(frozen=True, slots=True, eq=False)
class ErrorCorpusCalibration(HeldOutCalibration):
    """Tuning examples together with an error corpus (see `disambig.types.HasErrorCorpus`)."""

    error_corpus: ErrorCorpus

    @property
    def n_mistakes(self) -> int:
        """Number of mistakes in the corpus, including those of other tasks."""
        return self.error_corpus.n_mistakes

    @property
    def n_right_words(self) -> int:
        """Number of words in the clean paragraphs."""
        return self.error_corpus.right.n_words

    def right(self, group: int) -> ScoreBatch:
        """Return the scores of a group's places without a mistake."""
        return score_examples(self.model, self.error_corpus.right, self.error_corpus.right.rows(group), group)

    def mistakes(self, group: int) -> ScoreBatch:
        """Return the scores of a group's mistakes; the candidate that was written is the observed one."""
        rows = self.error_corpus.wrong.rows(group)
        scored = score_examples(self.model, self.error_corpus.wrong, rows, group)
        return replace(scored, observed=self.error_corpus.written[rows])


def score_examples(model: Model, examples: TextExamples, rows: NDArray[np.int64], group: int) -> ScoreBatch:
    """Return a model's scores of some examples of one group."""
    instances = examples.instances.take(rows)
    return model.scored(model.features(examples.view, instances, group), instances, group, examples.view)


FOLDS = 5
_EVIDENCE = ("n_hits", "n_queries")
_GroupFit = tuple[Scorer | None, dict[str, Any], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class FoldResampling:
    """Cross-validate over folds of whole documents."""

    dataset: LabelledDataset

    def prepare(self, parts: ResolvedConfig, progress: Progress) -> FittedFolds:
        """Fit the extractors; those that learn from labels are also fitted without each fold in turn."""
        dataset, task = self.dataset, parts.task
        n_folds = min(FOLDS, dataset.n_documents)
        folds = dataset.folds_apart(max(n_folds, 1))
        extractors, features = _out_of_fold(parts.extractors.values(), dataset, folds, task, progress)
        groups = dataset.examples.instances.groups
        rows = [np.flatnonzero(groups == g) for g in range(len(task.groups))]
        right = [
            right_candidates(dataset.take(own_rows), group)
            for own_rows, group in zip(rows, task.groups, strict=True)
        ]
        features = [_with_zero_costs(*pair) for pair in zip(features, right, strict=True)]
        return FittedFolds(dataset, folds, n_folds, tuple(extractors), features, rows, right)


@dataclass(frozen=True, slots=True, eq=False)
class FittedFolds:
    """A `FoldResampling` with fitted extractors."""

    dataset: LabelledDataset
    folds: NDArray[np.int64]  # (n_instances,)
    n_folds: int
    extractors: tuple[FeatureExtractor, ...]
    # features of each group; those of an example come from extractors that did not see its label
    features: list[Features]
    rows: list[NDArray[np.int64]]  # the instances of each group
    # bool (n_g, K_g): which candidates are right for each example; there may be several
    right: list[NDArray[np.bool_]]
    # scores of each group's candidates by scorers that did not see the example; filled by `fit`
    held_out: list[NDArray[np.float64]] = field(default_factory=list)
    # scorer, report and held-out scores of each group that has been fitted
    group_fits: dict[int, _GroupFit] = field(default_factory=dict)

    def shared(self, model: Model, learner: SharesWeights, rng: np.random.Generator) -> Scorer | None:
        """Return None: shared weights would be learned from every fold."""
        return None

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Fit one group on all its examples, and score each fold with a scorer that did not see it.

        If the other folds contain a single label, a fold is scored by the baseline. If that holds for all
        folds, or the group is not to be learned, the scorer is None: there are too few examples.
        """
        scorer, report, held_out = self._fit_group(model.task, learner, model.baseline, group)
        self.held_out.append(held_out)
        return scorer, dict(report)

    def hits(self, parts: ResolvedConfig) -> NDArray[np.bool_]:
        """Return which examples uncalibrated scorers decide correctly without having seen them."""
        hits = np.zeros(len(self.folds), bool)
        for g, (right, rows) in enumerate(zip(self.right, self.rows, strict=True)):
            if len(rows):
                held_out = self._fit_group(parts.task, parts.learner, parts.baseline, g)[2]
                chosen = held_out.argmax(axis=1)
                hits[rows] = right[np.arange(len(rows)), chosen]
        return hits

    def with_tuned(self, learner: Learner) -> Learner:
        """Return the learner with its open settings chosen from the reports of the groups fitted so far."""
        if not isinstance(learner, HasOpenSettings):
            return learner
        return learner.with_tuned([report for _, report, _ in self.group_fits.values()])

    def _fit_group(self, task: Task, learner: Learner, baseline: Learner, group: int) -> _GroupFit:
        """Return scorer, report and held-out scores of a group; each group is fitted once."""
        if group not in self.group_fits:
            self.group_fits[group] = self._fit_and_score(task.groups[group], learner, baseline, group)
        return self.group_fits[group]

    def _fit_and_score(self, table: Group, learner: Learner, baseline: Learner, group: int) -> _GroupFit:
        """Fit a learner on all examples of a group, and score each example with weights from the other folds.

        Returns `scorer`: none if no fold can be learned: fewer than two labels in the others.
        `scores`: float64 (n, K).
        """
        # With all folds learnable a learner may fit them in one pass; otherwise the baseline's scores are the
        # default, and only the folds whose complement has at least two labels are replaced.
        features, gold = self.features[group], self.gold(group)
        folds = self.folds[self.rows[group]]
        n = len(gold)
        counts = dict(zip(*(values.tolist() for values in np.unique(gold, return_counts=True)), strict=True))
        labels = {str(label): count for label, count in counts.items()}
        report: dict[str, Any] = {"examples": n, "labels": labels}
        fold_numbers = np.unique(folds)
        learnable = [
            fold for fold in fold_numbers if table.learned and len(np.unique(gold[folds != fold])) > 1
        ]
        held_out = np.empty((n, len(table.candidates)))
        # raises if it does not fit the features, before the long training
        baseline_scorer = baseline.fit(features.batch).scorer
        if len(learnable) < len(fold_numbers) or not learnable:
            held_out[:] = baseline_scorer.scores(features.batch).reshape(held_out.shape)
        elif isinstance(learner, FitsFolds):
            one_pass = fit_folds(learner, features.batch, folds)
            if one_pass is not None:
                fitted, scores = one_pass
                return fitted.scorer, report | fitted.report, scores.reshape(held_out.shape)
        if not learnable:
            return None, report | {"learner": "baseline"}, held_out
        reports: list[dict[str, Any]] = []
        for fold in learnable:
            train_rows, test_rows = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            dev = features.batch.take(test_rows)
            fitted = fit(learner, features.batch.take(train_rows), dev=dev)
            held_out[test_rows] = fitted.scorer.scores(dev).reshape(len(test_rows), -1)
            reports.append(fitted.report)
        if isinstance(learner, HasOpenSettings):
            learner = learner.with_tuned(reports)
        fitted = fit(learner, features.batch)
        return fitted.scorer, report | fitted.report, held_out

    def gold(self, group: int) -> NDArray[np.int32]:
        """Return the right candidate of each example of a group."""
        return self.dataset.examples.instances.observed[self.rows[group]]

    def naturally_sampled(self, group: int) -> NDArray[np.int64]:
        """Return the examples of a group that show how frequent its labels are.

        Examples that were picked for their label are left out, unless all were.
        """
        picked = np.array([self.dataset.labelled[row].picked for row in self.rows[group].tolist()], bool)
        # examples picked for their label would make rare labels look frequent
        return np.flatnonzero(~picked | picked.all())

    def calibration_data(self, model: Model, rng: np.random.Generator) -> FoldCalibration:
        """Return the out-of-fold scores of the examples, for calibration."""
        return FoldCalibration(self, model.task, rng)

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return the counts of the examples, and warnings about them."""
        task, dataset = model.task, self.dataset
        warnings = [*diagnostics.example_warnings(dataset)]
        warnings += diagnostics.rare_warnings(
            task, [self.gold(g) for g in range(len(self.rows))], model.scorers, self.n_folds
        )
        examples = dataset.examples
        task_warnings = get_trait(task, TaskTraits, "warnings")(examples.view, examples.instances)
        warnings += diagnostics.first_warnings(task_warnings)
        baselines = [
            None if scorer is None else sanity_baseline(features.batch, right, self.folds[index], scored)
            for scorer, features, right, index, scored in zip(
                model.scorers, self.features, self.right, self.rows, self.held_out, strict=True
            )
        ]
        warnings += diagnostics.baseline_warnings(task, baselines)
        right, hits = self._held_out_hits(model)
        warnings += diagnostics.no_gain_warnings(task, hits, right, model.scorers)
        warnings.append(diagnostics.accuracy_line(np.concatenate(hits), self.n_folds))
        return {**count_dataset(dataset), "notes": warnings}

    def _held_out_hits(self, model: Model) -> tuple[list[Bools], list[Bools]]:
        """Return which candidates are right, and whether the chosen one is, of each group's examples.

        Only examples that are `naturally_sampled` count. Shapes ``(n, K)`` and ``(n,)``.
        """
        scores = self.calibration_data(model, np.random.default_rng(0))
        all_right, all_hits = [], []
        for group, index in enumerate(self.rows):
            chosen = model.judge.judge(scores.scored(group)).chosen
            rows = self.naturally_sampled(group)
            right = self.right[group][rows]
            if learns_labels(model.task):
                chosen = seen_elsewhere(chosen, right, self.folds[index[rows]])
            all_right.append(right)
            all_hits.append((chosen >= 0) & right[np.arange(len(chosen)), chosen])
        return all_right, all_hits


@dataclass(frozen=True, slots=True, eq=False)
class FoldCalibration:
    """Out-of-fold scores of the examples, without those that were picked for their label."""

    resampling: FittedFolds
    task: Task
    rng: np.random.Generator

    @property
    def n_words(self) -> int:
        """Number of words in the texts."""
        return self.resampling.dataset.examples.n_words

    def scored(self, group: int, *, maximum: int | None = None) -> ScoreBatch:
        """Return the scores of a group's examples; raise ValueError if there are more than `maximum`."""
        features, instances = self.resampling.features[group], self.resampling.dataset.examples.instances
        rows = self.resampling.rows[group]
        kept = self.resampling.naturally_sampled(group)
        if maximum is not None and len(rows) > maximum:
            examples = pluralize(len(rows), "example")
            raise ValueError(f"{examples} in folds, more than {maximum:,}: cannot be sampled")
        scored = ScoreBatch.from_group(
            self.task.groups[group],
            group,
            features.batch.offsets,
            self.resampling.held_out[group].ravel(),
            instances.observed[rows],
            features.n_hits,
            features.n_queries,
            features.batch.cost,
        )
        return scored if len(kept) == len(rows) else scored.take(kept)


_FEW_GROUPS, _FEW = 2, 100
"""Numbers of groups, and of examples in each, on which the contract of a decision rule is checked."""


def few_scored(calibration_data: CalibrationData) -> list[ScoreBatch]:
    """Return the scores of a few examples of the first groups that have some."""
    few: list[ScoreBatch] = []
    for group in range(len(calibration_data.task.groups)):
        if isinstance(calibration_data, HeldOutCalibration):
            scored = calibration_data.scored(group, maximum=_FEW)
        else:
            scored = calibration_data.scored(group)
            scored = scored.take(np.arange(min(len(scored), _FEW)))
        if len(scored):
            few.append(scored)
        if len(few) == _FEW_GROUPS:
            break
    return few


def count_dataset(dataset: LabelledDataset) -> dict[str, Any]:
    """Return the numbers of examples, documents and words, for the model's provenance."""
    counts = {"labelled": len(dataset.documents), "documents": len(np.unique(dataset.documents))}
    report = dataset_report(len(dataset.documents), dataset.reasons)
    return {"examples": counts | {"train_words": dataset.examples.n_words, "account": report}}


def _with_zero_costs(features: Features, right: NDArray[np.bool_]) -> Features:
    """Return the features with a cost of zero for every right label, if an example has several."""
    if (right.sum(axis=1) <= 1).all():
        return features
    costs = (~right).astype(np.float32)
    return replace(features, batch=replace(features.batch, costs=costs))  # type: ignore[type-var]


def _out_of_fold(
    extractors: Iterable[FeatureExtractor],
    dataset: LabelledDataset,
    folds: NDArray[np.int64],
    task: Task,
    progress: Progress,
) -> tuple[list[FeatureExtractor], list[Features]]:
    """Return the fitted extractors and the features of each group.

    Attributes learned from labels come from extractors fitted on folds without the example.
    """
    view, instances = dataset.examples.view, dataset.examples.instances
    fitted: list[FeatureExtractor] = []
    group_features: list[list[Features]] = [[] for _ in task.groups]
    labels = decides(task).between == "labels"
    for extractor in extractors:
        progress("fitting extractors", 0, 1)
        fitted.append(fit_checked(extractor, view, instances, task.groups, labels=labels))
        is_cross_fitted = cross_fits(extractor) and len(np.unique(folds)) > 1
        n_folds = int(folds.max(initial=0)) + 1
        if is_cross_fitted:
            by_fold = []
            for fold in range(n_folds):
                progress("fitting extractors out of fold", fold, n_folds)
                by_fold.append(fit_checked(extractor, view, instances.take(folds != fold), task.groups))
        else:
            by_fold = [fitted[-1]]
        for g, parts in enumerate(group_features):
            rows = np.flatnonzero(instances.groups == g)
            fold_of_row = folds[rows] if is_cross_fitted else np.zeros(len(rows), np.int64)
            parts.append(_by_fold(by_fold, dataset, instances.take(rows), fold_of_row, task, g))
    return fitted, [join(parts, extractor_names(fitted)) for parts in group_features]


def _by_fold(
    extractors: Sequence[FeatureExtractor],
    dataset: LabelledDataset,
    instances: Instances,
    folds: NDArray[np.int64],
    task: Task,
    group: int,
) -> Features:
    """Transform each instance with the extractor of its own fold."""
    parts = [
        transform_checked(extractor, dataset.examples.view, instances.take(folds == fold), task.groups[group])
        for fold, extractor in enumerate(extractors)
    ]
    if len(parts) == 1:
        return parts[0]
    # the parts are concatenated fold by fold: this is the inverse permutation
    order = np.argsort(np.concatenate([np.flatnonzero(folds == fold) for fold in range(len(extractors))]))
    batch = stack_batches([part.batch for part in parts])
    if batch is None:
        batches = [f"{type(part.batch).__name__} with {len(part.batch.columns):,} columns" for part in parts]
        actual = ", ".join(dict.fromkeys(batches))
        wanted = "the same storage and columns for every fold it is fitted on (cross_fit)"
        raise extractor_error(extractors[0], f"fitted on different folds, it returned {actual}", wanted)
    rows, _ = take_rows(join_offsets(part.batch.offsets for part in parts), order)
    n_hits, n_queries = (np.concatenate([getattr(part, name) for part in parts])[rows] for name in _EVIDENCE)
    return Features(batch.take(order), n_hits, n_queries)
