"""Held-out examples: some examples to learn from, others to tune on and to fit the judge to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.features.contract import fitted
from disambig.fields import needs_training
from disambig.model.linear import LinearScorer
from disambig.model.model import Model
from disambig.training import balance
from disambig.training.examples import Examples
from disambig.training.fitting import fit
from disambig.training.mistakes import People
from disambig.training.plan import Progress
from disambig.types import FeatureExtractor, Learner, Scored, Scorer, SharesWeights, Task

MOST_SHARED = 400
"""Examples of each group from which shared weights are learned, at most: frequent groups are not all."""
_ANY = Group("any", ())


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
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

    learn: Examples
    tune: Examples
    around: Examples
    max_examples: int
    min_examples: int
    people: People | None = None

    def prepare(self, parts: dict[str, Any], tell: Progress) -> Ready:
        """Fit the extractors."""
        tell("fitting extractors", 0, 1)
        view, instances, groups = self.around.view, self.around.instances, parts["task"].groups
        return Ready(self, tuple(fitted(e, view, instances, groups) for e in parts["extractors"].values()))


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """A plan of two parts whose extractors are fitted."""

    plan: HeldOut
    extractors: tuple[FeatureExtractor, ...]

    def shared(self, model: Model, learner: Learner, rng: np.random.Generator) -> Scorer | None:
        """Learn the weights that all groups share from a few hundred examples of each."""
        batches = []
        learn = self.plan.learn
        for g, group in enumerate(model.task.groups):
            rows = learn.rows(g, most=MOST_SHARED, rng=rng)
            if len(rows) and balance.ZERO not in group.candidates:
                batches.append(learn.features(rows, g, model.task, model.extractors).batch)
        return learner.fit_shared(batches) if batches and isinstance(learner, SharesWeights) else None

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Fit one group."""
        plan, table = self.plan, model.task.groups[group]
        if balance.ZERO in table.candidates:
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
        """Fit a group that has a candidate of no word: see `disambig.training.balance`."""
        plan, table, most = self.plan, model.task.groups[group], self.plan.max_examples

        def sample(examples: Examples, size: int) -> NDArray[np.int64]:
            rows = examples.rows(group)
            return balance.balanced(rows, examples.instances.observed[rows], table, most=size, rng=rng)

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
        scorer, shift = balance.restored(found.scorer, column, scores, right, table)
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

    def material(self, model: Model, rng: np.random.Generator) -> Tuned:
        """Return the examples to tune on, and what people wrote."""
        if self.plan.people is None:
            return Tuned(model, self.plan.tune, rng)
        return TunedOnPeople(model, self.plan.tune, rng, self.plan.people)

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
class Tuned:
    """Examples scored by a model that did not learn from them, when they are asked for."""

    model: Model
    examples: Examples
    rng: np.random.Generator

    @property
    def task(self) -> Task:
        """The task."""
        return self.model.task

    @property
    def n_words(self) -> int:
        """Words of the text."""
        return self.examples.n_words

    def scored(self, group: int, *, most: int | None = None) -> Scored:
        """Return the examples of a group, scored: all, or a random sample of `most`."""
        return scored_of(self.model, self.examples, self.examples.rows(group, most=most, rng=self.rng), group)


@dataclass(frozen=True, slots=True, eq=False)
class TunedOnPeople(Tuned):
    """Examples to tune on, and what people wrote (see `disambig.types.HasMistakes`)."""

    people: People

    @property
    def n_mistakes(self) -> int:
        """All mistakes of the file, those of other tasks among them."""
        return self.people.n_mistakes

    @property
    def n_right_words(self) -> int:
        """Words of the clean paragraphs."""
        return self.people.right.n_words

    def right(self, group: int) -> Scored:
        """Return places without a mistake, scored."""
        return scored_of(self.model, self.people.right, self.people.right.rows(group), group)

    def mistakes(self, group: int) -> Scored:
        """Return the mistakes, scored."""
        rows = self.people.wrong.rows(group)
        found = scored_of(self.model, self.people.wrong, rows, group)
        return replace(found, observed=self.people.written[rows])


def scored_of(model: Model, examples: Examples, rows: NDArray[np.int64], group: int) -> Scored:
    """Return some examples of a group, scored by a model."""
    part = examples.instances.take(rows)
    return model.scored(model.features(examples.view, part, group), part, group, examples.view)
