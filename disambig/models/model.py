"""A model: a task with its extractors, one scorer per group, and the decision rule; the linear scorer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Decisions,
    Group,
    GroupedInstances,
    Instances,
    ScoreBatch,
    check_certain_mistakes,
    find_certain_mistakes,
    find_instances,
    find_right_words,
    offsets_from_sizes,
)
from disambig.decision import check_predictions, check_rate
from disambig.errors import UserError
from disambig.features import transform_table, transform_union
from disambig.formatting import add_note, describe_exception, describe_failure, pluralize
from disambig.models.deciding import Piece, Run, Undecided, decide_first, finish, iterate_features
from disambig.registry import plugin_packages
from disambig.rules import RuleSet
from disambig.runtime import check_time
from disambig.text import Tokenisation, TokenView
from disambig.types import (
    Arrays,
    CandidateBatch,
    Decides,
    DecisionRule,
    DecisionRuleTraits,
    Extensible,
    FeatureExtractor,
    Features,
    FindsBest,
    Fitted,
    Learner,
    RaisesFlags,
    ReadsCountTable,
    Scorer,
    Task,
    TaskTraits,
    decides,
    get_trait,
    rows_are_shared,
    sees_beside,
    sees_parts,
    task_rules,
)


@dataclass(frozen=True, slots=True, eq=False)
class LinearScorer:
    """Score rows by ``weights . features``.

    Attributes
    ----------
    weights : array of float64, shape (n_columns,)
    """

    weights: NDArray[np.float64]

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score per row.

        Raises
        ------
        ValueError
            If the batch has a different number of columns.
        """
        if len(self.weights) != len(batch.columns):
            raise ValueError(f"{len(self.weights)} weights for {len(batch.columns)} columns")
        return batch.scores(self.weights)

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch unchanged, and the weights (see `disambig.types.LinearScores`)."""
        return batch, self.weights

    def state(self) -> Arrays:
        """Return the weights."""
        return {"weights": self.weights}

    @classmethod
    def from_state(cls, arrays: Arrays) -> LinearScorer:
        """Rebuild a scorer from `state`."""
        return cls(np.asarray(arrays["weights"], dtype=np.float64))


@dataclass(frozen=True, slots=True)
class ZeroScorer:
    """Score every row zero."""

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one zero per row."""
        return np.zeros(len(batch.cost))

    def state(self) -> Arrays:
        """Return no arrays: the scorer has no state."""
        return {}


@dataclass(frozen=True, slots=True)
class NoPreference:
    """A learner without training that prefers no candidate."""

    needs_training: ClassVar[bool] = False

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return a scorer of zeros; the examples are ignored."""
        return Fitted(ZeroScorer())

    def from_state(self, arrays: Arrays) -> ZeroScorer:
        """Rebuild a saved scorer."""
        return ZeroScorer()


_MAX_MARGIN = 99
"""The largest allowed `least_margin`, in units of log-odds: no model is that certain."""


class DeferredChecks:
    """Checks of the extractors and scorers of a stored model, made when a group is first decided.

    A model can have hundreds of groups, of which a short text needs a few.

    `home` is the directory of the model, for messages.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.checked: set[int] = set()  # groups that were checked

    def check(self, model: Model, groups: Iterable[int]) -> None:
        """Check the extractors and scorers of those groups that were not checked yet.

        Raises D405 if the scorers do not fit the features, D414 if an extractor breaks its contract.
        """
        new = sorted(set(groups) - self.checked)
        if not new:
            return
        try:
            check_scorers(model, new)
        except (AttributeError, LookupError, TypeError, ValueError) as problem:
            if isinstance(problem, UserError):
                raise
            raise inconsistent_model(self.home, problem) from problem
        self.checked.update(new)


def inconsistent_model(home: Path, problem: Exception) -> UserError:
    """Return the error for a model whose parts do not fit together, with the line of a plugin that failed."""
    failure = describe_failure(problem, plugin_packages())
    in_plugin = failure != describe_exception(problem)
    either = "inconsistent, or a plugin that it uses is broken" if in_plugin else "inconsistent"
    return UserError("D405", path=home, problem=f"{either}: {failure}")


def check_scorers(model: Model, groups: Sequence[int]) -> None:
    """Describe and score an empty text for some groups, so that parts that do not fit together fail.

    The shared scorer is tried with each group, since it also decides for groups that a user adds.
    """
    empty_view = model.tokenisation([])
    tried = tuple(model.task.groups[group] for group in groups)
    table = GroupedInstances.from_groups(model.task.instances(empty_view), tried, [0] * len(tried))
    for group, features in zip(groups, transform_table(model.extractors, empty_view, table), strict=True):
        group_scorer = model.scorers[group] if group < len(model.scorers) else None
        for scorer in (group_scorer, model.shared):
            if scorer is not None:
                scorer.scores(features.batch)


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model; it is immutable, and deciding does not change it.

    Attributes
    ----------
    name, version : str
    task : Task
    tokenisation : Tokenisation
    extractors : tuple of FeatureExtractor
    baseline : Learner
        Needs no training; decides for groups without a scorer if there is no `shared` one.
    scorers : tuple of Scorer or None
        One per group of `task`; None, or missing, for groups that `shared` or the baseline decides.
    judge : DecisionRule
        Turns scores into decisions.
    shared : Scorer, optional
        Learned from all groups together; decides for groups without a scorer of their own.
    config : dict
        The resolved config, from which task, extractors and learners are rebuilt.
    provenance : dict
        Training data, reports of the learners and figures, as plain values.
    unchecked : DeferredChecks, optional
        Checks of the scorers of a stored model, each of which is made when its group is first decided.
    """

    name: str
    version: str
    task: Task
    tokenisation: Tokenisation
    extractors: tuple[FeatureExtractor, ...]
    baseline: Learner
    scorers: tuple[Scorer | None, ...]
    judge: DecisionRule
    shared: Scorer | None = None
    config: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    unchecked: DeferredChecks | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        """Return the name, the version, the task and its number of groups: arrays would fill the screen."""
        return f"<Model {self.label}, task {self.task.name!r}: {pluralize(len(self.task.groups), 'group')}>"

    @property
    def language(self) -> str:
        """Code of the task's language."""
        return self.task.language

    @cached_property
    def label(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"

    @cached_property
    def decides(self) -> Decides:
        """What the task decides."""
        return decides(self.task)

    @cached_property
    def rules(self) -> RuleSet:
        """The rules of the task's flags."""
        return task_rules(self.task)

    @cached_property
    def sees_beside(self) -> bool:
        """Whether the decision rule uses the words before and after a place."""
        return self.decides.where != "items" and sees_beside(self.judge)

    @cached_property
    def sees_parts(self) -> bool:
        """Whether the decision rule uses the contributions of feature groups."""
        return sees_parts(self.judge)

    @property
    def flags_per_1000(self) -> float:
        """The default rate of flags per 1,000 correct words; 0 if the model never flags anything."""
        return self.judge.flags_per_1000 if isinstance(self.judge, RaisesFlags) else 0.0

    @property
    def mistakes_per_1000(self) -> float | None:
        """The number of mistakes per 1,000 words that the decision rule assumes.

        None if it makes no such assumption.
        """
        return get_trait(self.judge, DecisionRuleTraits, "mistakes_per_1000")

    def with_mistakes_per_1000(self, mistakes_per_1000: float) -> Model:
        """Return the model for a writer who makes this many mistakes.

        `self` if its rule makes no such assumption.
        """
        if self.mistakes_per_1000 is None:
            return self
        rule: Any = self.judge
        return replace(self, judge=rule.with_mistakes_per_1000(mistakes_per_1000))

    def check_groups(self, instances: Instances) -> None:
        """Check the groups of some instances if that was deferred (see `DeferredChecks`)."""
        if self.unchecked is not None:
            self.unchecked.check(self, instances.groups.tolist())

    def with_groups(self, groups: Sequence[Group]) -> Model:
        """Return a model that also decides `groups`, by the shared scorer or the baseline, without training.

        A group with the same candidates as an existing one, in any order, is not added again.
        """
        # later entries win: the groups of the task over new ones, and of equal new ones the first
        by_candidates = {frozenset(group.candidates): group for group in (*groups[::-1], *self.task.groups)}
        new = tuple(group for group in groups if by_candidates[frozenset(group.candidates)] is group)
        if not new or not isinstance(self.task, Extensible):
            return self
        return replace(self, task=self.task.with_groups(new))

    def with_least_margin(self, least_margin: float) -> Model:
        """Return a model that gives no label if its margin, in units of log-odds, is smaller.

        Raises
        ------
        UserError
            D477 if `least_margin` is not a number from 0 to 99, or the model chooses words.
        """
        is_number = isinstance(least_margin, int | float) and not isinstance(least_margin, bool)
        rule: Any = self.judge
        abstains = get_trait(rule, DecisionRuleTraits, "least_margin") is not None
        if not abstains or not is_number or not 0 <= least_margin <= _MAX_MARGIN:
            raise UserError("D477", value=least_margin, model=self.name, most=_MAX_MARGIN)
        return replace(self, judge=rule.with_least_margin(float(least_margin)))

    def with_fallback(self) -> Model:
        """Return a model that gives the most frequent label for groups it has not learned (`Group.learned`).

        Raises
        ------
        UserError
            D478 if the model has no such group.
        """
        task = get_trait(self.task, TaskTraits, "with_fallback")()
        if task is None or all(group.learned for group in self.task.groups):
            raise UserError("D478", model=self.name)
        return replace(self, task=task)

    def features(self, view: TokenView, instances: Instances, group: int) -> Features:
        """Return the features of instances of one group, joined over the extractors."""
        return transform_union(self.extractors, view, instances, self.task.groups[group])

    def scorer(self, group: int, features: Features) -> Scorer:
        """Return the scorer of a group: its own, else the shared one, else the baseline's.

        Raises
        ------
        UserError
            D405 if the model is stored, and its scorer does not fit the features.
        """
        if self.unchecked is not None:
            self.unchecked.check(self, [group])
        group_scorer = self.scorers[group] if group < len(self.scorers) else None
        scorer = group_scorer if group_scorer is not None else self.shared
        return scorer if scorer is not None else self.baseline.fit(features.batch).scorer

    def scored(self, features: Features, instances: Instances, group: int, view: TokenView) -> ScoreBatch:
        """Return the scores of instances of one group, with the context that the decision rule needs."""
        table = GroupedInstances.from_parts([(instances, self.task.groups[group])])
        one, rows = Undecided(self, view, instances), slice(0, len(instances))
        run = Run(one, instances, slice(None), [group], slice(0, 1), rows)
        return Piece(table, [features], [run]).scored()

    def decide(
        self,
        view: TokenView,
        *,
        flags_per_1000: float | None = None,
        near: NDArray[np.bool_] | None = None,
    ) -> Decisions:
        """Decide everywhere in `view` except at words of the layer ``"protected"``.

        If the decision rule abstains, there is no decision.

        Parameters
        ----------
        view : TokenView
        flags_per_1000 : float, optional
            By default the model's own rate.
        near : array of bool, shape (n_tokens,), optional
            Decide only places that contain one of these tokens, and empty places beside one; not for tasks
            that decide a sentence together.

        Raises
        ------
        UserError
            D401 for an invalid rate; D110 for a view with another tokenisation.
        """
        if not isinstance(view, TokenView):
            seen = type(view).__name__
            raise TypeError(f"expected a TokenView, as model.tokenisation(texts) returns it, not a {seen}")
        undecided = self.undecided(view, flags_per_1000=flags_per_1000, near=near)
        return finish(decide_first([undecided]))[0]

    def undecided(
        self,
        view: TokenView,
        *,
        flags_per_1000: float | None = None,
        near: NDArray[np.bool_] | None = None,
        right: NDArray[np.bool_] | None = None,
    ) -> Undecided:
        """Return the instances that `decide` decides.

        Tokens that are `right`, an array of shape ``(n_tokens,)``, are not flagged.
        """
        if flags_per_1000 is not None:
            check_rate(flags_per_1000)
        try:
            instances = self.instances(view)
        except Exception as problem:
            self._explain_failure(problem, view)
            raise
        if near is not None and not self.decides.together:
            instances = _instances_near(instances, near)
        return Undecided(self, view, instances, flags_per_1000, right)

    def decide_at(
        self, instances: Instances, view: TokenView, *, flags_per_1000: float | None = None
    ) -> Decisions:
        """Decide given instances: places in `view`, or items outside any text; see `decide`."""
        return finish(decide_first([Undecided(self, view, instances, flags_per_1000)]))[0]

    def _explain_failure(
        self, problem: Exception, view: TokenView, instances: Instances | None = None
    ) -> None:
        """Name the model in an exception that deciding raised; raise D414 if a component broke its contract.

        Decisions are made without checks, which take time; after a failure, they are made again with checks.
        """
        if isinstance(problem, UserError) and problem.code != "D414":
            return
        note = f"the model {self.name}"
        if not isinstance(problem, UserError | MemoryError | OSError):  # a component broke its contract
            try:
                self._check_contracts(view, instances)
            except UserError as broken:
                if broken.code == "D414":
                    add_note(broken, note)
                    raise broken from problem
            except Exception:
                pass  # `problem` itself says what happened
        add_note(problem, note)

    def _check_contracts(self, view: TokenView, instances: Instances | None) -> None:
        """Raise D414 if a component breaks its contract in a view, or at given instances."""
        if instances is None:
            find_instances(self.task, view)
            instances = self.instances(view)
        for piece in iterate_features([Undecided(self, view, instances)]):
            check_predictions(self.judge, piece.scored())
        find_certain_mistakes(self.task, view, instances)
        find_right_words(self.task, view)

    def _with_certain_mistakes(
        self, view: TokenView, instances: Instances, decisions: Decisions, flags_per_1000: float | None
    ) -> Decisions:
        """Return the decisions with the mistakes that the task knows by itself; there must be instances."""
        assert isinstance(self.judge, RaisesFlags)
        rows, intended, sure = get_trait(self.task, TaskTraits, "certain_mistakes")(view, instances)
        if not len(rows):
            return decisions
        check_certain_mistakes(self.task, instances, (rows, intended, sure))  # they are rare
        chosen, probabilities = decisions.chosen.copy(), decisions.probabilities.copy()
        flagged = decisions.flagged.copy()
        sure = np.maximum(sure, probabilities[rows])
        chosen[rows], probabilities[rows] = intended, sure
        flagged[rows] = sure > self.judge.limit(flags_per_1000)
        return replace(decisions, chosen=chosen, probabilities=probabilities, flagged=flagged)

    def _places(self, instances: Instances, view: TokenView) -> dict[str, Any]:
        """Return document, start and end of each instance; an item is its own document, without text."""
        if self.decides.where == "items":
            nothing = np.zeros(len(instances), np.int32)
            return {"documents": instances.positions.astype(np.int32), "starts": nothing, "ends": nothing}
        starts, ends = instances.spans(view)
        documents = view.document_indices(instances.positions).astype(np.int32)
        return {"documents": documents, "starts": starts, "ends": ends}

    def choose(self, view: TokenView) -> tuple[Instances, NDArray[np.int64]]:
        """Return the instances of a view and the chosen candidate of each, without scores.

        This is faster than `decide` if a scorer finds the best candidates by itself (`FindsBest`).
        """
        instances = self.instances(view)
        chosen = np.zeros(len(instances), np.int64)
        for piece in iterate_features([Undecided(self, view, instances)], check=False):
            best = []
            (run,) = piece.runs  # the blocks are all of this model
            for number, features, (part, _) in zip(
                run.numbers, piece.features, piece.table.parts, strict=True
            ):
                scorer = self.scorer(number, features)
                if isinstance(scorer, FindsBest):
                    best.append(scorer.best(features.batch))
                else:
                    best.append(self.judge.judge(self.scored(features, part, number, view)).chosen)
            chosen[run.order] = np.concatenate(best)
        return instances, chosen

    def candidate_probabilities(self, decisions: Decisions) -> NDArray[np.float64] | None:
        """Return for each of ``decisions.scores`` the probability that its candidate is the right one.

        Probabilities of one decision sum to one; they do not depend on the observed candidate. The result is
        None for models that were trained before these probabilities were introduced. In contrast, for tasks
        with words ``decisions.probabilities`` is the probability that the observed word is an error.

        Parameters
        ----------
        decisions : Decisions
            Decisions of this model.
        """
        n = len(decisions.scores)
        if not n:
            return np.empty(0)
        nothing = np.zeros(n, np.int32)
        scored = ScoreBatch(
            decisions.table,
            decisions.groups.astype(np.int64),
            decisions.offsets,
            decisions.lists,
            tuple(range(len(decisions.table))),
            decisions.scores.astype(np.float64),
            decisions.observed,
            nothing,
            nothing,
            np.zeros(n, np.float32),
        )
        return self.judge.probabilities(scored)

    def instances(self, view: TokenView) -> Instances:
        """Return the instances in `view`; protected words are left out unless the task assigns labels."""
        instances = self.task.instances(view)
        protected = view.layers.get("protected")
        if protected is None or not len(instances.positions) or self.decides.between == "labels":
            return instances
        last = instances.positions + instances.lengths - 1
        is_protected = (protected[instances.positions] | protected[last]).astype(bool)
        return instances.take(~is_protected) if is_protected.any() else instances


def _instances_near(instances: Instances, near: NDArray[np.bool_]) -> Instances:
    """Return the instances that contain one of some tokens, or are an empty place beside one."""
    n_before = offsets_from_sizes(near)  # number of these tokens before each token
    is_empty = instances.lengths == 0
    first = np.maximum(instances.positions - is_empty, 0)
    last = instances.positions + np.maximum(instances.lengths, 1)
    return instances.take(np.flatnonzero(n_before[last] > n_before[first]))


def is_corrector(model: Model) -> bool:
    """Return True if a model corrects words of a text by flagging them."""
    return decides(model.task).corrects and isinstance(model.judge, RaisesFlags)


def evidence_name(model: Model) -> str:
    """Return the kind of evidence of a model's decisions: ``"words"``, ``"features"`` or ``"n-grams"``."""
    what = decides(model.task)
    if what.where == "documents":
        return "words"
    shared = any(rows_are_shared(extractor) for extractor in model.extractors)
    counted = any(isinstance(extractor, ReadsCountTable) for extractor in model.extractors)
    return "n-grams" if counted and not shared and not what.together else "features"


def decide_together(
    models: Sequence[Model],
    views: Sequence[TokenView],
    rates: Sequence[float | None],
    *,
    near: Sequence[NDArray[np.bool_] | None] | None = None,
) -> list[Decisions]:
    """Return the decisions of several models about the same texts, as `Model.decide` does of each.

    Words that are right according to one model's task are flagged by none. Second looks at the same view find
    the density of mistakes in it together (`look_again_together`).

    `views`: the texts, one view per model; models may share a view.
    `rates`: accepted false alarms per 1,000 correct words; None: the model's own.
    `near`: see `Model.decide`.
    """
    decided: dict[int, Decisions] = {}
    by_view: dict[int, list[tuple[int, Undecided]]] = {}
    right = _right_words(models, views)
    for i, (model, view, rate) in enumerate(zip(models, views, rates, strict=True)):
        check_time()
        options = {} if near is None else {"near": near[i]}
        if isinstance(model, Model):
            one = model.undecided(view, flags_per_1000=rate, right=right.get(id(view)), **options)
            by_view.setdefault(id(view), []).append((i, one))
        else:
            decided[i] = model.decide(view, flags_per_1000=rate, **options)
    for same_view in by_view.values():
        numbers, undecided = zip(*same_view, strict=True)
        decided.update(zip(numbers, finish(decide_first(undecided)), strict=True))
    return [decided[i] for i in range(len(models))]


def _right_words(models: Sequence[Model], views: Sequence[TokenView]) -> dict[int, NDArray[np.bool_]]:
    """Return the tokens of each view, by its id, that the task of a model knows to be right."""
    right: dict[int, NDArray[np.bool_]] = {}
    for model, view in zip(models, views, strict=True):
        try:
            tokens = find_right_words(model.task, view)
        except Exception as problem:
            add_note(problem, f"the model {getattr(model, 'name', '')}")
            raise
        if tokens is not None:
            right[id(view)] = tokens | right[id(view)] if id(view) in right else tokens
    return right
