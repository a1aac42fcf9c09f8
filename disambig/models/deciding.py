"""Decide instances with models: features, scores and predictions block by block, then second looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
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
    neighbour_words,
    offsets_from_sizes,
    take_rows,
)
from disambig.decision import RuleAssignment, SecondLook, judge_together, look_again_together
from disambig.features import transform_runs, transform_table
from disambig.formatting import add_note
from disambig.runtime import check_time
from disambig.text import UNKNOWN, TokenView
from disambig.type_aliases import Floats, Ints
from disambig.types import CandidateBatch, Features, LinearScores, RaisesFlags, Scorer

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

    def blocks(self) -> Iterator[tuple[int, Ints]]:
        """Yield the instances group by group, in blocks that limit the memory.

        A block is the number of a group and the rows of some of its instances, ascending. All places of a
        sentence that are decided jointly are in one block.
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
                yield number, rows[start:stop]
                start = stop


@dataclass(slots=True, eq=False)
class Run:
    """Consecutive blocks of one model in a table."""

    undecided: Undecided
    instances: Instances
    order: Selection  # the instances among those of `undecided`; a slice if they are all of them, in order
    numbers: list[int]  # the number of the group of each block
    groups: slice  # of the table: one for each block
    rows: slice  # the instances of the table


@dataclass(slots=True, eq=False)
class Piece:
    """Blocks that are processed together, with the features of each."""

    table: GroupedInstances
    features: list[Features]  # of each block
    runs: list[Run]

    @classmethod
    def from_blocks(
        cls, blocks: Sequence[tuple[Undecided, Sequence[tuple[int, Ints]]]], *, check: bool
    ) -> Piece:
        """Compute the features of the blocks of each model; see `iterate_features`."""
        runs: list[Run] = []
        extractors = []
        groups: list[Group] = []
        sizes: list[int] = []
        n = 0
        for undecided, of_model in blocks:
            numbers, rows = zip(*of_model, strict=True)
            in_order, instances = _concatenate(rows), undecided.instances
            order: Selection = slice(None)
            if len(rows) > 1 or len(in_order) < len(instances.groups):
                order, instances = in_order, instances.take(in_order)
            places = slice(n, n := n + len(in_order))
            of_table = slice(len(groups), len(groups) + len(numbers))
            groups += [undecided.model.task.groups[number] for number in numbers]
            sizes += map(len, rows)
            extractors.append((undecided.model.extractors, of_table))
            runs.append(Run(undecided, instances, order, list(numbers), of_table, places))
        table = GroupedInstances.from_groups(
            Instances.joined([run.instances for run in runs]), tuple(groups), sizes
        )
        view = runs[0].undecided.view
        if check:
            features = transform_table(extractors[0][0], view, table)
        else:
            features = transform_runs(extractors, view, table)
        return cls(table, features, runs)

    def scored(self) -> ScoreBatch:
        """Return the scores, with the context that the decision rules need."""
        table = self.table
        numbers: list[int] = []
        scores, n_hits, n_queries, parts = [], [], [], []
        neighbours = None
        for run in self.runs:
            model = run.undecided.model
            numbers += run.numbers
            for number, features in zip(run.numbers, self.features[run.groups], strict=True):
                scorer = model.scorer(number, features)
                scores.append(scorer.scores(features.batch))
                n_hits.append(features.n_hits)
                n_queries.append(features.n_queries)
                parts.append(score_parts(scorer, features.batch) if model.sees_parts else None)
            if model.sees_beside:
                if neighbours is None:
                    neighbours = np.full((len(table.group_of), 2), UNKNOWN, np.uint64)
                neighbours[run.rows] = neighbour_words(run.undecided.view, run.instances)
        return ScoreBatch(
            table.groups,
            table.group_of,
            table.offsets,
            table.lists,
            tuple(numbers),
            _concatenate(scores),
            table.instances.observed,
            _concatenate(n_hits),
            _concatenate(n_queries),
            table.costs,
            neighbours,
            parts[0] if len(parts) == 1 else _join_parts(parts),
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


def iterate_features(undecided: Iterable[Undecided], *, check: bool = True) -> Iterator[Piece]:
    """Yield the features of instances of one view, some blocks at a time.

    Extractors that models have in common transform their blocks together.

    `check`: whether the features are checked, of a single model; they were when it was trained or loaded.
    """
    piece: list[tuple[Undecided, list[tuple[int, Ints]]]] = []
    size = 0
    for one in undecided:
        blocks: list[tuple[int, Ints]] = []
        for block in one.blocks():
            if not blocks:
                piece.append((one, blocks))
            blocks.append(block)
            size += len(block[1])
            if size >= TOGETHER:
                yield Piece.from_blocks(piece, check=check)
                piece, blocks, size = [], [], 0
    if piece:
        yield Piece.from_blocks(piece, check=check)


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


class DecidedRun(NamedTuple):
    """The decisions about the instances of a run."""

    order: Selection  # see `Run`
    sizes: Ints  # number of candidates of each instance
    scores: Floats  # of all candidates
    columns: dict[str, NDArray[Any]]  # by the names in `_COLUMNS`

    @classmethod
    def joined(cls, parts: Sequence[DecidedRun]) -> DecidedRun:
        """Join the decisions of all runs of a model in text order."""
        if isinstance(parts[0].order, slice):  # a single run, which is in this order
            return parts[0]
        orders, all_sizes, scores, columns = zip(*parts, strict=True)
        sizes = np.concatenate(all_sizes)
        index = np.empty(len(sizes), np.int64)  # of each instance in the runs
        index[np.concatenate(orders)] = np.arange(len(sizes))
        rows = take_rows(offsets_from_sizes(sizes), index)[0]
        in_order = {name: np.concatenate([part[name] for part in columns])[index] for name in _COLUMNS}
        return cls(slice(None), sizes[index], np.concatenate(scores)[rows], in_order)


@dataclass(slots=True, eq=False)
class PendingDecisions:
    """Decisions of a model before a second look."""

    undecided: Undecided
    decisions: Decisions
    answered: NDArray[np.bool_]  # (n,): where the decision rule does not abstain

    @classmethod
    def from_runs(cls, undecided: Undecided, runs: Sequence[DecidedRun]) -> PendingDecisions:
        """Return the decisions of a model, which are those of all its instances."""
        model, view, instances = undecided.model, undecided.view, undecided.instances
        name, groups = model.task.name, model.task.groups
        if not runs:
            nothing = Decisions.empty(name, model.label, groups, lists=instances.lists, rules=model.rules)
            return cls(undecided, nothing, nothing.flagged)
        _, sizes, scores, decided = DecidedRun.joined(runs)
        columns: dict[str, Any] = model._places(instances, view)
        for column, kind in _COLUMNS.items():
            columns[column] = decided[column].astype(kind)
        answered = columns.pop("answered")
        decisions = Decisions(
            task=name,
            model=model.label,
            table=groups,
            groups=instances.groups,
            observed=instances.observed,
            offsets=offsets_from_sizes(sizes),
            scores=scores.astype(np.float32),
            **columns,
            lists=instances.lists,
            rules=model.rules,
        )
        return cls(undecided, decisions, answered)

    def finish(self, decisions: Decisions) -> Decisions:
        """Add the mistakes that the task knows, and leave out where the decision rule abstains."""
        one = self.undecided
        model, view, instances, right = one.model, one.view, one.instances, one.right
        if not len(instances.groups):
            return decisions
        try:
            if hasattr(model.task, "certain_mistakes") and isinstance(model.judge, RaisesFlags):
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
    runs: dict[int, list[DecidedRun]] = {}
    kinds: dict[Any, list[Undecided]] = {}  # only candidates of the same kind can be in one table
    for one in undecided:
        if len(one.instances.groups):
            one.model.check_groups(one.instances)
            runs[id(one)] = []
            lists = one.instances.lists
            kinds.setdefault(None if lists is None else lists.feature_names, []).append(one)
    for same_kind in kinds.values():
        for piece in iterate_features(same_kind, check=False):
            check_time()  # a time limit may interrupt between pieces
            scored = piece.scored()
            assignments = [
                RuleAssignment(run.undecided.model.judge, run.undecided.flags_per_1000, run.groups, run.rows)
                for run in piece.runs
            ]
            columns = judge_together(scored, assignments).columns()
            if set(map(len, columns.values())) != {len(scored.group_of)}:
                raise ValueError("the decision rule did not return one prediction for each instance")
            columns["n_hits"], columns["n_queries"] = piece.evidence(scored)
            offsets, sizes = piece.table.offsets, piece.table.sizes
            for run in piece.runs:
                of_run = {name: column[run.rows] for name, column in columns.items()}
                scores = scored.scores[offsets[run.rows.start] : offsets[run.rows.stop]]
                runs[id(run.undecided)].append(DecidedRun(run.order, sizes[run.rows], scores, of_run))
    return [PendingDecisions.from_runs(one, runs.get(id(one), ())) for one in undecided]


def finish(pending: Sequence[PendingDecisions]) -> list[Decisions]:
    """Return the decisions of models about one view, after those that look again did so together."""
    decisions = [first_pass.decisions for first_pass in pending]
    looks: dict[int, SecondLook] = {}
    has_proposals = False
    for i, first_pass in enumerate(pending):
        rule = first_pass.undecided.model.judge
        if isinstance(rule, SecondLook):
            looks[i] = rule
            has_proposals = has_proposals or bool(decisions[i].flagged.any())
    if has_proposals:
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
    return [first_pass.finish(made) for first_pass, made in zip(pending, decisions, strict=True)]


@contextmanager
def _naming(*undecided: Undecided) -> Iterator[None]:
    """Name the models in an exception that their second look raises."""
    try:
        yield
    except Exception as problem:
        names = [one.model.name for one in undecided]
        add_note(problem, f"the model {names[0]}" if len(names) == 1 else f"the models {', '.join(names)}")
        raise
