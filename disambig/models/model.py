"""A model: a task with its extractors, one scorer per group, and the decision rule; the linear scorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CrossedRows,
    Decisions,
    Group,
    GroupedInstances,
    Instances,
    ScoreBatch,
    SequenceRows,
    check_certain_mistakes,
    find_certain_mistakes,
    find_instances,
    find_right_words,
    has_own_labels,
    minibatch,
    neighbour_words,
    offsets_from_sizes,
    take_rows,
)
from disambig.decision import SecondLook, check_predictions, check_rate, look_again_together
from disambig.errors import UserError
from disambig.features import transform_table, transform_union
from disambig.formatting import add_note
from disambig.runtime import check_time
from disambig.text import Tokenisation, TokenView
from disambig.types import (
    Arrays,
    CandidateBatch,
    DecisionRule,
    DecisionRuleTraits,
    Extensible,
    FeatureExtractor,
    Features,
    FindsBest,
    Fitted,
    Learner,
    LinearScores,
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


def score_parts(scorer: Scorer, batch: CandidateBatch) -> NDArray[np.float32] | None:
    """Split the scores by group of features, shape ``(n_rows, n_feature_groups)``; None if not linear."""
    if not isinstance(scorer, LinearScores):
        return None
    same, weights = scorer.linear(batch)
    groups = np.arange(len(same.columns.group_names))[:, None]
    of_groups = np.where(same.columns.groups == groups, weights, 0.0)  # (n_feature_groups, n_columns)
    return np.stack([same.scores(of_group) for of_group in of_groups], axis=1).astype(np.float32)


Block = tuple[int, NDArray[np.int64]]
"""The number of a group, and the numbers of some of its instances."""
BlockFeatures = tuple[int, NDArray[np.int64], Instances, Features]
"""A block with its instances and their features."""
TOGETHER = 4096
"""Blocks are processed together until they have this many instances, which stay in the CPU cache."""


def iterate_features(
    extractors: Sequence[FeatureExtractor],
    view: TokenView,
    instances: Instances,
    groups: Sequence[Group],
    blocks: Iterable[Block],
    *,
    check: bool = True,
) -> Iterator[list[BlockFeatures]]:
    """Yield the features of the blocks, some blocks at a time.

    `instances`: the instances of all blocks.
    `groups`: all groups, indexed by number.
    `check`: whether the features are checked; those of a model were when it was trained or loaded.
    """
    n = len(instances)
    for piece in minibatch(blocks, TOGETHER, lambda block: len(block[1])):
        # a block of all instances holds them in their order
        parts = [
            (instances if len(rows) == n else instances.take(rows), groups[number]) for number, rows in piece
        ]
        transformed = transform_table(extractors, view, GroupedInstances.from_parts(parts), check=check)
        yield [
            (number, rows, taken, features)
            for (number, rows), (taken, _), features in zip(piece, parts, transformed, strict=True)
        ]


_MAX_MARGIN = 99
"""The largest allowed `least_margin`, in units of log-odds: no model is that certain."""
BLOCK = 4096
"""Number of decisions per block, so that their features stay in the CPU cache."""


class DeferredChecks:
    """Checks of the extractors and scorers of a stored model, made when a group is first decided.

    A model can have hundreds of groups, of which a short text needs a few.

    `home` is the directory of the model, for messages.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self._checked: set[int] = set()

    def check(self, model: Model, group: int) -> None:
        """Check the extractors and scorers of a group once.

        Raises D405 if the scorers do not fit the features, D414 if an extractor breaks its contract.
        """
        if group in self._checked:
            return
        try:
            check_scorers(model, [group])
        except (AttributeError, LookupError, TypeError, ValueError) as problem:
            if isinstance(problem, UserError):
                raise
            raise UserError("D405", path=self.home, problem=f"inconsistent: {problem!r}") from problem
        self._checked.add(group)


def check_scorers(model: Model, groups: Iterable[int]) -> None:
    """Describe and score an empty text for some groups, so that parts that do not fit together fail.

    The shared scorer is tried with each group, since it also decides for groups that a user adds.
    """
    empty_view = model.tokenisation([])
    no_instances = model.task.instances(empty_view)
    for group in groups:
        own = model.scorers[group] if group < len(model.scorers) else None
        batch = model.features(empty_view, no_instances, group).batch
        for scorer in (own, model.shared):
            if scorer is not None:
                scorer.scores(batch)


@dataclass(frozen=True, slots=True, eq=False)
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

    @property
    def language(self) -> str:
        """Code of the task's language."""
        return self.task.language

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
            self.unchecked.check(self, group)
        own = self.scorers[group] if group < len(self.scorers) else None
        scorer = own if own is not None else self.shared
        return scorer if scorer is not None else self.baseline.fit(features.batch).scorer

    def scored(self, features: Features, instances: Instances, group: int, view: TokenView) -> ScoreBatch:
        """Return the scores of instances of one group, with the context that the decision rule needs."""
        in_text = decides(self.task).where != "items"
        scorer = self.scorer(group, features)
        return ScoreBatch.from_group(
            self.task.groups[group],
            group,
            features.batch.offsets,
            scorer.scores(features.batch),
            instances.observed,
            features.n_hits,
            features.n_queries,
            features.batch.cost,
            neighbour_words(view, instances) if in_text and sees_beside(self.judge) else None,
            score_parts(scorer, features.batch) if sees_parts(self.judge) else None,
            own=instances.own,
        )

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
        return _finish([self.begin(view, flags_per_1000=flags_per_1000, near=near)])[0]

    def begin(
        self,
        view: TokenView,
        *,
        flags_per_1000: float | None = None,
        near: NDArray[np.bool_] | None = None,
        right: NDArray[np.bool_] | None = None,
    ) -> PendingDecisions:
        """Decide as `decide` does, up to a second look, which several models take together.

        Tokens that are `right`, an array of shape ``(n_tokens,)``, are not flagged.
        """
        if not isinstance(view, TokenView):
            seen = type(view).__name__
            raise TypeError(f"expected a TokenView, as model.tokenisation(texts) returns it, not a {seen}")
        if flags_per_1000 is not None:
            check_rate(flags_per_1000)
        try:
            instances = self.instances(view)
            if near is not None and not decides(self.task).together:
                instances = _instances_near(instances, near)
            return self._begin_at(instances, view, flags_per_1000, right)
        except Exception as problem:
            self._explain_failure(problem, view)
            raise

    def decide_at(
        self, instances: Instances, view: TokenView, *, flags_per_1000: float | None = None
    ) -> Decisions:
        """Decide given instances: places in `view`, or items outside any text; see `decide`."""
        try:
            first_pass = self._begin_at(instances, view, flags_per_1000)
        except Exception as problem:
            self._explain_failure(problem, view, instances)
            raise
        return _finish([first_pass])[0]

    def _begin_at(
        self,
        instances: Instances,
        view: TokenView,
        flags_per_1000: float | None,
        right: NDArray[np.bool_] | None = None,
    ) -> PendingDecisions:
        """Score and judge instances, piece by piece; parts that need the whole text are left to `_finish`."""
        table = self.task.groups
        n = len(instances)
        offsets = instances.candidate_offsets(table)
        scores = np.empty(offsets[-1], np.float32)
        columns: dict[str, Any] = {
            name: np.zeros(n, dtype)
            for name, dtype in (
                ("chosen", np.int32),
                ("margins", np.float32),
                ("probabilities", np.float32),
                ("flagged", np.bool_),
                ("n_hits", np.int32),
                ("n_queries", np.int32),
            )
        }
        answered = np.ones(n, bool)
        for piece in self._iterate_features(view, instances):
            check_time()  # a time limit may interrupt between pieces
            for group, rows, _, features in piece:
                if table[group].learned:
                    columns["n_hits"][rows] = instance_evidence(features.n_hits, features.batch)
                    columns["n_queries"][rows] = instance_evidence(features.n_queries, features.batch)
            scored = ScoreBatch.joined(
                [self.scored(features, taken, group, view) for group, _, taken, features in piece]
            )
            predictions = self.judge.judge(scored, flags_per_1000=flags_per_1000)
            # a piece has group after group; decisions are in text order
            rows = np.concatenate([rows for _, rows, _, _ in piece])
            for name in ("chosen", "margins", "probabilities", "flagged"):
                columns[name][rows] = getattr(predictions, name)
            answered[rows] = predictions.answered
            scores[take_rows(offsets, rows)[0]] = scored.scores
        decisions = Decisions(
            task=self.task.name,
            model=f"{self.name} {self.version}",
            table=table,
            **self._places(instances, view),
            groups=instances.groups,
            observed=instances.observed,
            offsets=offsets,
            scores=scores,
            own=instances.own,
            rules=task_rules(self.task),
            **columns,
        )
        known_right = None if right is None else right[instances.positions]
        return PendingDecisions(self, view, instances, decisions, answered, flags_per_1000, known_right)

    def _explain_failure(
        self, problem: Exception, view: TokenView, instances: Instances | None = None
    ) -> None:
        """Name the model in an exception that deciding raised; raise D414 if a component broke its contract.

        Decisions are made without checks, which take time; after a failure, they are made again with checks.
        """
        if isinstance(problem, UserError):
            if problem.code == "D414":
                add_note(problem, f"the model {self.name}")
            return
        if isinstance(problem, MemoryError | OSError):  # no component broke its contract
            add_note(problem, f"the model {self.name}")
            return
        try:
            self._check_contracts(view, instances)
        except UserError as broken:
            if broken.code == "D414":
                add_note(broken, f"the model {self.name}")
                raise broken from problem
        except Exception:
            pass  # `problem` itself says what happened
        add_note(problem, f"the model {self.name}")

    def _check_contracts(self, view: TokenView, instances: Instances | None) -> None:
        """Raise D414 if a component breaks its contract in a view, or at given instances."""
        if instances is None:
            find_instances(self.task, view)
            instances = self.instances(view)
        blocks = _blocks(instances.groups, self._joint_decisions(view, instances))
        for piece in iterate_features(self.extractors, view, instances, self.task.groups, blocks):
            scored = [self.scored(features, taken, group, view) for group, _, taken, features in piece]
            check_predictions(self.judge, ScoreBatch.joined(scored))
        find_certain_mistakes(self.task, view, instances)
        find_right_words(self.task, view)

    def _with_certain_mistakes(
        self, view: TokenView, instances: Instances, decisions: Decisions, flags_per_1000: float | None
    ) -> Decisions:
        """Return the decisions with the mistakes that the task knows by itself."""
        if not len(instances):
            return decisions
        rows, intended, sure = get_trait(self.task, TaskTraits, "certain_mistakes")(view, instances)
        if not len(rows) or not isinstance(self.judge, RaisesFlags):
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
        if decides(self.task).where == "items":
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
        pieces = self._iterate_features(view, instances)
        for group, rows, taken, features in chain.from_iterable(pieces):
            scorer = self.scorer(group, features)
            if isinstance(scorer, FindsBest):
                chosen[rows] = scorer.best(features.batch)
            else:
                scored = self.scored(features, taken, group, view)
                chosen[rows] = self.judge.judge(scored).chosen
        return instances, chosen

    def _iterate_features(self, view: TokenView, instances: Instances) -> Iterator[list[BlockFeatures]]:
        """Yield the features of the instances, group by group."""
        if self.unchecked is not None:
            for group in sorted(set(instances.groups.tolist())):
                self.unchecked.check(self, group)
        blocks = _blocks(instances.groups, self._joint_decisions(view, instances))
        return iterate_features(self.extractors, view, instances, self.task.groups, blocks, check=False)

    def _joint_decisions(self, view: TokenView, instances: Instances) -> NDArray[np.int64] | None:
        """Return the sentence of each instance if the task decides all places of a sentence jointly."""
        if not decides(self.task).together:
            return None
        return view.sentences.searchsorted(instances.positions, side="right")

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
            decisions.own,
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
        if protected is None or decides(self.task).between == "labels":
            return instances
        last = instances.positions + instances.lengths - 1
        is_protected = (protected[instances.positions] | protected[last]).astype(bool)
        return instances.take(~is_protected) if is_protected.any() else instances


def instance_evidence(counts: NDArray[np.int32], batch: CandidateBatch) -> NDArray[np.int64]:
    """Return the evidence of each instance, summed over its candidates, shape ``(n,)``.

    If all candidates share the same features, their evidence counts once.
    """
    offsets = batch.offsets
    if len(offsets) < 2:
        return np.zeros(0, np.int64)
    if isinstance(batch, CrossedRows | SequenceRows) and not has_own_labels(batch):
        return counts[offsets[:-1]].astype(np.int64)
    return np.add.reduceat(counts, offsets[:-1], dtype=np.int64)


def _instances_near(instances: Instances, near: NDArray[np.bool_]) -> Instances:
    """Return the instances that contain one of some tokens, or are an empty place beside one."""
    n_before = offsets_from_sizes(near)
    is_empty = instances.lengths == 0
    first = np.maximum(instances.positions - is_empty, 0)
    last = instances.positions + np.maximum(instances.lengths, 1)
    return instances.take(np.flatnonzero(n_before[last] > n_before[first]))


def _blocks(
    groups: NDArray[np.int32], together: NDArray[np.int64] | None = None
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each group with its rows, one block at a time, so that memory does not grow with the batch.

    Rows of a group with the same number in `together` stay in one block.
    """
    n = len(groups)
    if not n:
        return
    if n <= BLOCK and (groups == groups[0]).all():
        yield int(groups[0]), np.arange(n)
        return
    order = groups.argsort(kind="stable")
    in_order = groups[order]
    starts = [0, *((in_order[1:] != in_order[:-1]).nonzero()[0] + 1).tolist()]
    for first, last in pairwise([*starts, n]):
        number, rows = int(in_order[first]), order[first:last]
        start = 0
        while start < len(rows):
            stop = start + BLOCK
            if together is not None and stop < len(rows):
                # rows of one sentence are decided jointly: extend the block to the end of the sentence
                stop = int(together[rows].searchsorted(together[rows[stop - 1]], side="right"))
            yield number, rows[start:stop]
            start = stop


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


@dataclass(frozen=True, slots=True, eq=False)
class PendingDecisions:
    """Decisions of a model before a second look, as `Model.begin` returns them."""

    model: Model
    view: TokenView
    instances: Instances
    decisions: Decisions
    answered: NDArray[np.bool_]  # (n,): where the decision rule does not abstain
    flags_per_1000: float | None  # the rate; by default the model's own
    right: NDArray[np.bool_] | None = None  # (n,): where the observed word is known to be right

    def finish(self, decisions: Decisions) -> Decisions:
        """Add the mistakes that the task knows, and leave out where the decision rule abstains."""
        model, view, instances = self.model, self.view, self.instances
        try:
            decisions = model._with_certain_mistakes(view, instances, decisions, self.flags_per_1000)
        except Exception as problem:
            model._explain_failure(problem, view, instances)
            raise
        if self.right is not None and (decisions.flagged & self.right).any():
            decisions = replace(decisions, flagged=decisions.flagged & ~self.right)
        return decisions if self.answered.all() else decisions.take(np.flatnonzero(self.answered))


def decide_together(
    models: Sequence[Model],
    views: Sequence[TokenView],
    rates: Sequence[float | None],
    *,
    near: Sequence[NDArray[np.bool_] | None] | None = None,
) -> list[Decisions]:
    """Return the decisions of several models about the same texts, as `Model.decide` does of each.

    Second looks at the same view find the density of mistakes in it together (`look_again_together`).

    `views`: the texts, one view per model; models may share a view.
    `rates`: accepted false alarms per 1,000 correct words; None: the model's own.
    `near`: see `Model.decide`.
    """
    decided: list[Decisions | None] = []
    pending: dict[int, list[tuple[int, PendingDecisions]]] = {}
    right = _right_words(models, views)
    for i, (model, view, rate) in enumerate(zip(models, views, rates, strict=True)):
        check_time()
        options = {} if near is None else {"near": near[i]}
        if not isinstance(model, Model):
            decided.append(model.decide(view, flags_per_1000=rate, **options))
            continue
        first_pass = model.begin(view, flags_per_1000=rate, right=right.get(id(view)), **options)
        if isinstance(model.judge, SecondLook):
            pending.setdefault(id(view), []).append((i, first_pass))
            decided.append(None)
        else:
            decided.append(_finish([first_pass])[0])
    for same_view in pending.values():
        numbers, first_passes = zip(*same_view, strict=True)
        for i, decisions in zip(numbers, _finish(first_passes), strict=True):
            decided[i] = decisions
    return [decisions for decisions in decided if decisions is not None]


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


def _finish(pending: Sequence[PendingDecisions]) -> list[Decisions]:
    """Return the decisions of models about one view, after those that look again did so together."""
    rules = [first_pass.model.judge for first_pass in pending]
    pairs = zip(rules, pending, strict=True)
    looks = [(rule, first_pass) for rule, first_pass in pairs if isinstance(rule, SecondLook)]
    proposals = []
    for rule, first_pass in looks:
        with _naming(first_pass):
            proposals.append(rule.propose(first_pass.view, first_pass.instances, first_pass.decisions))
    with _naming(*(first_pass for _, first_pass in looks)):
        again = iter(look_again_together(proposals, [first_pass.flags_per_1000 for _, first_pass in looks]))
    return [
        first_pass.finish(next(again) if isinstance(rule, SecondLook) else first_pass.decisions)
        for rule, first_pass in zip(rules, pending, strict=True)
    ]


@contextmanager
def _naming(*pending: PendingDecisions) -> Iterator[None]:
    """Name the models in an exception that their second look raises."""
    try:
        yield
    except Exception as problem:
        names = [first_pass.model.name for first_pass in pending]
        add_note(problem, f"the model {names[0]}" if len(names) == 1 else f"the models {', '.join(names)}")
        raise
