"""Decide instances with models: features, scores and predictions block by block, then second looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CrossedRows,
    Decisions,
    Group,
    GroupedInstances,
    Instances,
    Predictions,
    ScoreBatch,
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
from disambig.type_aliases import Floats, Ints
from disambig.types import (
    CandidateBatch,
    Features,
    LinearScores,
    Scorer,
    decides,
    sees_beside,
    sees_parts,
    task_rules,
)

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
        """Yield the instances group by group, in blocks that limit the memory."""
        model, instances = self.model, self.instances
        n = len(instances)
        together = None
        if decides(model.task).together:  # all places of a sentence are decided jointly
            together = self.view.sentences.searchsorted(instances.positions, side="right")
        for number, rows in _blocks(instances.groups, together):
            # a block of all instances holds them in their order
            yield Block(self, number, rows, instances if len(rows) == n else instances.take(rows))


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some instances of one group of a task."""

    undecided: Undecided
    number: int  # of the group
    rows: NDArray[np.int64]  # numbers of the instances among those of `undecided`
    instances: Instances

    @property
    def group(self) -> Group:
        """The group."""
        return self.undecided.model.task.groups[self.number]


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


@dataclass(slots=True, eq=False)
class Run:
    """Consecutive blocks of one model, which are parts of a table."""

    undecided: Undecided
    table: GroupedInstances
    first: int  # the first of the parts
    blocks: list[Block]

    @property
    def parts(self) -> slice:
        """The parts of the table."""
        return slice(self.first, self.first + len(self.blocks))

    def of_table(self, of_parts: Sequence[slice]) -> slice:
        """Return what belongs to the blocks, given the instances or rows of all parts of the table."""
        return slice(of_parts[self.first].start, of_parts[self.first + len(self.blocks) - 1].stop)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Blocks that are processed together, with the features of each."""

    blocks: list[Block]
    table: GroupedInstances
    features: list[Features]
    runs: list[Run]

    def scored(self) -> ScoreBatch:
        """Return the scores, with the context that the decision rules need."""
        numbers = [block.number for block in self.blocks]
        models = [(run.undecided.model, run.parts) for run in self.runs]
        return score_table(self.table, self.features, numbers, models, self.blocks[0].undecided.view)


def iterate_features(blocks: Iterable[Block], *, check: bool = True) -> Iterator[Piece]:
    """Yield the features of blocks of instances of one view, some blocks at a time.

    Extractors that models have in common transform their blocks together.

    `check`: whether the features are checked, of a single model; they were when it was trained or loaded.
    """
    for piece in minibatch(blocks, TOGETHER, lambda block: len(block.rows)):
        first, view = piece[0].undecided, piece[0].undecided.view
        table = GroupedInstances.from_parts([(block.instances, block.group) for block in piece])
        runs: list[Run] = []
        for part, block in enumerate(piece):
            if not runs or runs[-1].undecided is not block.undecided:
                runs.append(Run(block.undecided, table, part, []))
            runs[-1].blocks.append(block)
        if check:
            features = transform_table(first.model.extractors, view, table)
        else:
            features = transform_runs(
                [(run.undecided.model.extractors, len(run.blocks)) for run in runs], view, table
            )
        yield Piece(piece, table, features, runs)


def score_table(
    table: GroupedInstances,
    features: Sequence[Features],
    numbers: Sequence[int],
    models: Sequence[tuple[Model, slice]],
    view: TokenView,
) -> ScoreBatch:
    """Return the scores of a table with the features and the numbers of its groups.

    `models`: the models with the groups that each scores.
    """
    scores, parts = [], []
    neighbours = None
    for model, of_model in models:
        splits = sees_parts(model.judge)
        for number, group_features in zip(numbers[of_model], features[of_model], strict=True):
            scorer = model.scorer(number, group_features)
            scores.append(scorer.scores(group_features.batch))
            parts.append(score_parts(scorer, group_features.batch) if splits else None)
        if decides(model.task).where != "items" and sees_beside(model.judge):
            if neighbours is None:
                neighbours = np.full((len(table), 2), UNKNOWN, np.uint64)
            rows = slice(table.slices[of_model][0].start, table.slices[of_model][-1].stop)
            neighbours[rows] = neighbour_words(view, table.instances)[rows]
    return ScoreBatch(
        table.groups,
        table.group_of,
        table.offsets,
        table.own,
        tuple(numbers),
        _concatenate(scores),
        table.instances.observed,
        _concatenate([group_features.n_hits for group_features in features]),
        _concatenate([group_features.n_queries for group_features in features]),
        table.costs,
        neighbours,
        _join_parts(parts),
    )


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


def _evidence(piece: Piece, counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the evidence of each instance of a piece, summed over its candidates, shape ``(n,)``.

    If all candidates share the same features, their evidence counts once; groups that the model has not
    learned have none.
    """
    first_rows = piece.table.offsets[:-1]
    evidence: NDArray[np.int64] = np.add.reduceat(counts, first_rows, dtype=np.int64)
    groups = zip(piece.table.groups, piece.table.slices, piece.features, strict=True)
    for group, instances, features in groups:
        if isinstance(features.batch, CrossedRows | SequenceRows) and not has_own_labels(features.batch):
            evidence[instances] = counts[first_rows[instances]]
        if not group.learned:
            evidence[instances] = 0
    return evidence


@dataclass(frozen=True, slots=True, eq=False)
class PendingDecisions:
    """Decisions of a model before a second look."""

    undecided: Undecided
    decisions: Decisions
    answered: NDArray[np.bool_]  # (n,): where the decision rule does not abstain

    @property
    def model(self) -> Model:
        """The model."""
        return self.undecided.model

    def finish(self, decisions: Decisions) -> Decisions:
        """Add the mistakes that the task knows, and leave out where the decision rule abstains."""
        one = self.undecided
        model, view, instances, right = one.model, one.view, one.instances, one.right
        try:
            decisions = model._with_certain_mistakes(view, instances, decisions, one.flags_per_1000)
        except Exception as problem:
            model._explain_failure(problem, view, instances)
            raise
        if right is not None and decisions.flagged.any():
            decisions = replace(decisions, flagged=decisions.flagged & ~right[instances.positions])
        return decisions if self.answered.all() else decisions.take(np.flatnonzero(self.answered))


_PREDICTED = (
    ("chosen", np.int32),
    ("margins", np.float32),
    ("probabilities", np.float32),
    ("flagged", np.bool_),
    ("answered", np.bool_),
)
"""Names and types of the columns of `Predictions` as decisions have them."""


class _Columns:
    """The decisions of a model, which are filled in piece by piece, since these are not in text order."""

    def __init__(self, undecided: Undecided) -> None:
        self.undecided = undecided
        n = len(undecided.instances)
        self.offsets = undecided.instances.candidate_offsets(undecided.model.task.groups)
        self.scores = np.empty(self.offsets[-1], np.float32)
        self.predicted: dict[str, NDArray[Any]] = {name: np.zeros(n, kind) for name, kind in _PREDICTED}
        self.evidence = np.zeros(n, np.int32), np.zeros(n, np.int32)

    def fill(self, run: Run, scores: Floats, predictions: Predictions, evidence: Sequence[Ints]) -> None:
        """Fill in what belongs to the blocks of a run.

        `scores`: of all candidates of the table; the other arguments are of all its instances.
        """
        rows: Any = slice(None)
        of_candidates: Any = rows
        if len(run.blocks) > 1 or len(run.blocks[0].rows) < len(self.undecided.instances):
            rows = np.concatenate([block.rows for block in run.blocks])
            of_candidates = take_rows(self.offsets, rows)[0]
        self.scores[of_candidates] = scores[run.of_table(run.table.rows)]
        instances = run.of_table(run.table.slices)
        for name, column in self.predicted.items():
            column[rows] = getattr(predictions, name)[instances]
        for column, values in zip(self.evidence, evidence, strict=True):
            column[rows] = values[instances]

    def decisions(self) -> PendingDecisions:
        """Return the decisions; all must have been filled in."""
        model, view, instances = self.undecided.model, self.undecided.view, self.undecided.instances
        predicted = self.predicted
        decisions = Decisions(
            task=model.task.name,
            model=f"{model.name} {model.version}",
            table=model.task.groups,
            **model._places(instances, view),
            groups=instances.groups,
            observed=instances.observed,
            offsets=self.offsets,
            scores=self.scores,
            chosen=predicted["chosen"],
            margins=predicted["margins"],
            probabilities=predicted["probabilities"],
            flagged=predicted["flagged"],
            n_hits=self.evidence[0],
            n_queries=self.evidence[1],
            own=instances.own,
            rules=task_rules(model.task),
        )
        return PendingDecisions(self.undecided, decisions, predicted["answered"])


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
    columns = {id(one): _Columns(one) for one in undecided}
    kinds: dict[Any, list[Undecided]] = {}  # only candidates of the same kind can be in one table
    for one in undecided:
        one.model.check_groups(one.instances)
        own = one.instances.own
        kinds.setdefault(None if own is None else own.feature_names, []).append(one)
    for same_kind in kinds.values():
        for piece in iterate_features(chain.from_iterable(one.blocks() for one in same_kind), check=False):
            check_time()  # a time limit may interrupt between pieces
            scored = piece.scored()
            predictions = judge_together(
                scored,
                [run.undecided.model.judge for run in piece.runs],
                [len(run.blocks) for run in piece.runs],
                [run.undecided.flags_per_1000 for run in piece.runs],
            )
            if {len(getattr(predictions, name)) for name, _ in _PREDICTED} != {len(scored)}:
                raise ValueError("the decision rule did not return one prediction for each instance")
            evidence = [_evidence(piece, counts) for counts in (scored.n_hits, scored.n_queries)]
            for run in piece.runs:
                columns[id(run.undecided)].fill(run, scored.scores, predictions, evidence)
    return [columns[id(one)].decisions() for one in undecided]


def finish(pending: Sequence[PendingDecisions]) -> list[Decisions]:
    """Return the decisions of models about one view, after those that look again did so together."""
    decisions = [first_pass.decisions for first_pass in pending]
    looks = [i for i, first_pass in enumerate(pending) if isinstance(first_pass.model.judge, SecondLook)]
    if any(decisions[i].flagged.any() for i in looks):
        proposals = []
        for i in looks:
            one, rule = pending[i].undecided, pending[i].model.judge
            assert isinstance(rule, SecondLook)
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
