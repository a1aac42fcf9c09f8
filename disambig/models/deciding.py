"""Decide instances with models: features, scores and predictions block by block, then second looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CrossedRows,
    Decisions,
    Group,
    GroupedInstances,
    Instances,
    ScoreBatch,
    Selection,
    SequenceRows,
    has_own_labels,
    minibatch,
    neighbour_words,
    take_rows,
)
from disambig.decision import SecondLook, judge_together, look_again_together
from disambig.features import transform_runs, transform_table
from disambig.formatting import add_note
from disambig.runtime import check_time
from disambig.text import UNKNOWN, TokenView
from disambig.type_aliases import Floats
from disambig.types import CandidateBatch, Features, LinearScores, Scorer, sees_beside, sees_parts

if TYPE_CHECKING:
    from disambig.models.model import Model


BLOCK = 4096
"""Number of decisions per block, so that their features stay in the CPU cache."""


TOGETHER = 4096
"""Blocks are processed together until they have this many instances, which stay in the CPU cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Undecided:
    """Instances that a model is to decide."""

    model: Model
    view: TokenView
    instances: Instances
    flags_per_1000: float | None = None  # the rate; by default the model's own
    right: NDArray[np.bool_] | None = None  # (n_tokens,): words that are known to be right

    def blocks(self) -> Iterator[Block]:
        """Yield the instances group by group, in blocks that limit the memory.

        All places of a sentence that are decided jointly are in one block.
        """
        groups = self.instances.groups
        n = len(groups)
        if not n:
            return
        order = groups.argsort(kind="stable")
        in_order = groups[order]
        together = None
        if self.model.decides.together:
            together = self.view.sentences.searchsorted(self.instances.positions, side="right")
        starts = [0, *((in_order[1:] != in_order[:-1]).nonzero()[0] + 1).tolist()]
        for first, last in pairwise([*starts, n]):
            number, rows = int(in_order[first]), order[first:last]
            start = 0
            while start < len(rows):
                stop = start + BLOCK
                if together is not None and stop < len(rows):  # extend the block to the end of the sentence
                    stop = int(together[rows].searchsorted(together[rows[stop - 1]], side="right"))
                yield Block(self, number, rows[start:stop])
                start = stop


class Block(NamedTuple):
    """Some instances of one group of a task."""

    undecided: Undecided
    number: int  # of the group
    rows: NDArray[np.int64]  # numbers of the instances among those of `undecided`, ascending

    @property
    def group(self) -> Group:
        """The group."""
        return self.undecided.model.task.groups[self.number]


@dataclass(slots=True, eq=False)
class Run:
    """Consecutive blocks of one model in a table."""

    undecided: Undecided
    groups: slice  # of the table: one for each block
    numbers: list[int]  # of the groups among those of the model
    order: Selection  # the instances among those of `undecided`; a slice if they are all of them, in order


@dataclass(slots=True, eq=False)
class Piece:
    """Blocks that are processed together, with the features of each."""

    table: GroupedInstances
    features: list[Features]  # of each block
    runs: list[Run]

    def scored(self) -> ScoreBatch:
        """Return the scores, with the context that the decision rules need."""
        table, features = self.table, self.features
        scores, parts = [], []
        neighbours = None
        for run in self.runs:
            model = run.undecided.model
            splits = sees_parts(model.judge)
            for number, of_group in zip(run.numbers, features[run.groups], strict=True):
                scorer = model.scorer(number, of_group)
                scores.append(scorer.scores(of_group.batch))
                parts.append(score_parts(scorer, of_group.batch) if splits else None)
            if model.decides.where != "items" and sees_beside(model.judge):
                if neighbours is None:
                    neighbours = np.full((len(table), 2), UNKNOWN, np.uint64)
                rows = table.slice_of_groups(run.groups)
                neighbours[rows] = neighbour_words(run.undecided.view, table.instances.take(rows))
        return ScoreBatch(
            table.groups,
            table.group_of,
            table.offsets,
            table.lists,
            tuple(number for run in self.runs for number in run.numbers),
            _concatenate(scores),
            table.instances.observed,
            _concatenate([of_group.n_hits for of_group in features]),
            _concatenate([of_group.n_queries for of_group in features]),
            table.costs,
            neighbours,
            _join_parts(parts),
        )

    def evidence(self, scored: ScoreBatch) -> list[NDArray[np.int64]]:
        """Return the numbers of hits and of queries of each instance, summed over its candidates.

        If all candidates share the same features, their evidence counts once; groups that the model has not
        learned have none.
        """
        table, first_rows = self.table, self.table.offsets[:-1]
        evidence = []
        for counts in (scored.n_hits, scored.n_queries):
            sums: NDArray[np.int64] = np.add.reduceat(counts, first_rows, dtype=np.int64)
            for group, instances, features in zip(table.groups, table.slices, self.features, strict=True):
                if not group.learned:
                    sums[instances] = 0
                elif isinstance(features.batch, _SHARED) and not has_own_labels(features.batch):
                    sums[instances] = counts[first_rows[instances]]
            evidence.append(sums)
        return evidence


_SHARED = (CrossedRows, SequenceRows)
"""Batches with one row for all candidates of an instance."""


def iterate_features(blocks: Iterable[Block], *, check: bool = True) -> Iterator[Piece]:
    """Yield the features of blocks of instances of one view, some blocks at a time.

    Extractors that models have in common transform their blocks together.

    `check`: whether the features are checked, of a single model; they were when it was trained or loaded.
    """
    for piece in minibatch(blocks, TOGETHER, lambda block: len(block.rows)):
        runs, instances = [], []
        start = 0
        for undecided, of_model in groupby(piece, lambda block: block.undecided):
            _, numbers, rows = zip(*of_model, strict=True)
            order = _concatenate(rows)
            is_all = len(rows) == 1 and len(order) == len(undecided.instances)
            instances.append(undecided.instances if is_all else undecided.instances.take(order))
            groups = slice(start, start := start + len(numbers))
            runs.append(Run(undecided, groups, list(numbers), slice(None) if is_all else order))
        table = GroupedInstances.from_groups(
            Instances.joined(instances),
            tuple(block.group for block in piece),
            [len(block.rows) for block in piece],
        )
        view = runs[0].undecided.view
        if check:
            features = transform_table(runs[0].undecided.model.extractors, view, table)
        else:
            features = transform_runs(
                [(run.undecided.model.extractors, run.groups) for run in runs], view, table
            )
        yield Piece(table, features, runs)


def score_parts(scorer: Scorer, batch: CandidateBatch) -> NDArray[np.float32] | None:
    """Split the scores by group of features, shape ``(n_rows, n_feature_groups)``; None if not linear."""
    if not isinstance(scorer, LinearScores):
        return None
    same, weights = scorer.linear(batch)
    groups = np.arange(len(same.columns.group_names))[:, None]
    of_groups = np.where(same.columns.groups == groups, weights, 0.0)  # (n_feature_groups, n_columns)
    parts = np.empty((len(same.cost), len(groups)), np.float32)
    for number, of_group in enumerate(of_groups):
        parts[:, number] = same.scores(of_group)
    return parts


def _concatenate(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _join_parts(parts: Sequence[NDArray[np.float32] | None]) -> NDArray[np.float32] | None:
    """Concatenate the parts of scores; models with fewer feature groups get further columns of zeros."""
    linear = [part for part in parts if part is not None]
    if len(linear) < len(parts):
        return None
    if len(linear) == 1:
        return linear[0]
    ends = list(accumulate((len(part) for part in linear), initial=0))
    joined = np.zeros((ends[-1], max(part.shape[1] for part in linear)), np.float32)
    for part, first in zip(linear, ends, strict=False):
        joined[first : first + len(part), : part.shape[1]] = part
    return joined


_COLUMNS = {
    "chosen": np.int32,
    "margins": np.float32,
    "probabilities": np.float32,
    "flagged": np.bool_,
    "answered": np.bool_,
    "n_hits": np.int32,
    "n_queries": np.int32,
}
"""The types of the columns of decisions: predictions, then evidence."""


class _Columns:
    """The decisions of a model, which are filled in piece by piece, since these are not in text order."""

    def __init__(self, undecided: Undecided) -> None:
        n = len(undecided.instances)
        self.offsets = undecided.instances.candidate_offsets(undecided.model.task.groups)
        self.scores = np.empty(self.offsets[-1], np.float32)
        self.columns: dict[str, Any] = {name: np.empty(n, kind) for name, kind in _COLUMNS.items()}

    def fill(
        self, run: Run, table: GroupedInstances, scores: Floats, columns: Mapping[str, NDArray[Any]]
    ) -> None:
        """Fill in what belongs to a run: the scores of its candidates, and columns of its instances.

        `scores` and `columns` are those of the whole table.
        """
        instances = table.slice_of_groups(run.groups)
        for name, column in self.columns.items():
            column[run.order] = columns[name][instances]
        rows = slice(table.offsets[instances.start], table.offsets[instances.stop])
        self.scores[take_rows(self.offsets, run.order)[0]] = scores[rows]


@dataclass(slots=True, eq=False)
class PendingDecisions:
    """Decisions of a model before a second look."""

    undecided: Undecided
    decisions: Decisions
    answered: NDArray[np.bool_]  # (n,): where the decision rule does not abstain

    @classmethod
    def from_columns(cls, undecided: Undecided, filled: _Columns | None) -> PendingDecisions:
        """Return the decisions in columns, all of which have been filled in; None without instances."""
        model, view, instances = undecided.model, undecided.view, undecided.instances
        name, groups = model.task.name, model.task.groups
        if filled is None:
            nothing = Decisions.empty(name, model.label, groups, lists=instances.lists, rules=model.rules)
            return cls(undecided, nothing, nothing.flagged)
        answered = filled.columns.pop("answered")
        decisions = Decisions(
            task=name,
            model=model.label,
            table=groups,
            **model._places(instances, view),
            groups=instances.groups,
            observed=instances.observed,
            offsets=filled.offsets,
            scores=filled.scores,
            **filled.columns,
            lists=instances.lists,
            rules=model.rules,
        )
        return cls(undecided, decisions, answered)

    def finish(self, decisions: Decisions) -> Decisions:
        """Add the mistakes that the task knows, and leave out where the decision rule abstains."""
        one = self.undecided
        model, view, instances, right = one.model, one.view, one.instances, one.right
        if not len(instances):
            return decisions
        try:
            decisions = model._with_certain_mistakes(view, instances, decisions, one.flags_per_1000)
        except Exception as problem:
            model._explain_failure(problem, view, instances)
            raise
        if right is not None and decisions.flagged.any():
            decisions = replace(decisions, flagged=decisions.flagged & ~right[instances.positions])
        return decisions if self.answered.all() else decisions.take(self.answered.nonzero()[0])


def decide_first(undecided: Sequence[Undecided]) -> list[PendingDecisions]:
    """Return the decisions of models about one view, without second looks; name the model that fails."""
    try:
        return _score_and_judge(undecided)
    except Exception as problem:
        if len(undecided) > 1:
            return [pending for one in undecided for pending in decide_first([one])]
        undecided[0].model._explain_failure(problem, undecided[0].view, undecided[0].instances)
        raise


def _score_and_judge(undecided: Sequence[Undecided]) -> list[PendingDecisions]:
    """Score and judge the instances of models about one view, piece by piece.

    What needs a whole text is left to `finish`.
    """
    filled: dict[int, _Columns] = {}
    kinds: dict[Any, list[Undecided]] = {}  # only candidates of the same kind can be in one table
    for one in undecided:
        if len(one.instances):
            one.model.check_groups(one.instances)
            filled[id(one)] = _Columns(one)
            lists = one.instances.lists
            kinds.setdefault(None if lists is None else lists.feature_names, []).append(one)
    for same_kind in kinds.values():
        for piece in iterate_features(chain.from_iterable(one.blocks() for one in same_kind), check=False):
            check_time()  # a time limit may interrupt between pieces
            scored = piece.scored()
            predictions = judge_together(
                scored,
                [run.undecided.model.judge for run in piece.runs],
                [run.groups for run in piece.runs],
                [run.undecided.flags_per_1000 for run in piece.runs],
            )
            columns = predictions.columns()
            if {len(column) for column in columns.values()} != {len(scored)}:
                raise ValueError("the decision rule did not return one prediction for each instance")
            columns["n_hits"], columns["n_queries"] = piece.evidence(scored)
            for run in piece.runs:
                filled[id(run.undecided)].fill(run, piece.table, scored.scores, columns)
    return [PendingDecisions.from_columns(one, filled.get(id(one))) for one in undecided]


def finish(pending: Sequence[PendingDecisions]) -> list[Decisions]:
    """Return the decisions of models about one view, after those that look again did so together."""
    decisions = [first_pass.decisions for first_pass in pending]
    rules = [(i, first_pass.undecided.model.judge) for i, first_pass in enumerate(pending)]
    looks = {i: rule for i, rule in rules if isinstance(rule, SecondLook)}
    if any(decisions[i].flagged.any() for i in looks):
        proposals = []
        for i, rule in looks.items():
            one = pending[i].undecided
            with _naming(one):
                proposals.append(rule.propose(one.view, one.instances, decisions[i]))
        undecided = [pending[i].undecided for i in looks]
        with _naming(*undecided):
            again = look_again_together(proposals, [one.flags_per_1000 for one in undecided])
        for i, looked_at in zip(looks, again, strict=True):
            decisions[i] = looked_at
    return [first_pass.finish(batch) for first_pass, batch in zip(pending, decisions, strict=True)]


@contextmanager
def _naming(*undecided: Undecided) -> Iterator[None]:
    """Name the models in an exception that their second look raises."""
    try:
        yield
    except Exception as problem:
        names = [one.model.name for one in undecided]
        add_note(problem, f"the model {names[0]}" if len(names) == 1 else f"the models {', '.join(names)}")
        raise
