"""A model: a task with its extractors, one scorer for each group, and the rule that decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CrossedColumns,
    CrossedRows,
    Decisions,
    DenseBlocks,
    Group,
    Instances,
    Predictions,
    ScoreBatch,
    SequenceRows,
    neighbour_words,
    own_columns,
    take_rows,
)
from disambig.decision import check_rate
from disambig.errors import UserError
from disambig.features import transform_union, transform_union_all
from disambig.runtime import check_time
from disambig.text import Tokenisation, TokenView
from disambig.types import (
    Abstains,
    CandidateBatch,
    DecidesBatches,
    DecisionRule,
    Extensible,
    FeatureExtractor,
    Features,
    FindsBest,
    HasFallback,
    Learner,
    LinearScores,
    RaisesFlags,
    ReadsCountTable,
    Scorer,
    Task,
    decides,
    rows_are_shared,
    sees_beside,
    sees_parts,
)


def score_parts(scorer: Scorer, batch: CandidateBatch) -> NDArray[np.float32] | None:
    """Return the parts of the scores by group of features, ``(n_rows, P)``; None if not linear."""
    if not isinstance(scorer, LinearScores):
        return None
    same, weights = scorer.linear(batch)
    groups, n = same.columns.groups, len(same.columns.group_names)
    parts = [same.scores(np.where(groups == group, weights, 0.0)) for group in range(n)]
    return np.stack(parts, axis=1).astype(np.float32)


Rows = NDArray[np.int64]
HELD = 4096
"""Instances that wait for others to be judged with them."""


def decide_scores(
    judge: DecisionRule, parts: Iterable[tuple[Rows, ScoreBatch]], *, flags_per_1000: float | None = None
) -> Iterator[tuple[Rows, Predictions]]:
    """Yield what a judge makes of scores of a group each, which come with the numbers of their instances."""
    if not isinstance(judge, DecidesBatches):
        for rows, scored in parts:
            yield rows, judge.judge(scored, flags_per_1000=flags_per_1000)
        return
    held: list[tuple[Rows, ScoreBatch]] = []
    waiting = 0
    for rows, scored in parts:
        held.append((rows, scored))
        waiting += len(rows)
        if waiting >= HELD:
            yield from _decide_batches(judge, held, flags_per_1000)
            held, waiting = [], 0
    if held:
        yield from _decide_batches(judge, held, flags_per_1000)


def _decide_batches(
    judge: DecidesBatches, held: list[tuple[Rows, ScoreBatch]], flags_per_1000: float | None
) -> Iterator[tuple[Rows, Predictions]]:
    found = judge.judge_all([scored for _, scored in held], flags_per_1000=flags_per_1000)
    yield from zip((rows for rows, _ in held), found, strict=True)


Block = tuple[int, NDArray[np.int64]]
"""The number of a group, and some of its instances."""
Described = tuple[int, NDArray[np.int64], Instances, Features]
"""The same, with these instances and their features."""
TOGETHER = 4096
"""From so many instances on no more are described at once: their features stay near the cache."""
_ANY = Group("any", ("any",))


def iterate_features(
    extractors: Sequence[FeatureExtractor],
    view: TokenView,
    instances: Instances,
    groups: Sequence[Group],
    blocks: Iterable[Block],
) -> Iterator[Described]:
    """Yield the features of each block.

    Parameters
    ----------
    instances : Instances
        Of all blocks.
    groups : sequence of Group
        By their numbers.
    """
    if instances.own is None and all(rows_are_shared(extractor) for extractor in extractors):
        yield from _share_rows(extractors, view, instances, groups, blocks)
        return
    for some in _group_blocks(blocks):
        parts = [(instances.take(rows), groups[number]) for number, rows in some]
        found = transform_union_all(extractors, view, parts)
        for (number, rows), (taken, _), features in zip(some, parts, found, strict=True):
            yield number, rows, taken, features


def _share_rows(
    extractors: Sequence[FeatureExtractor],
    view: TokenView,
    instances: Instances,
    groups: Sequence[Group],
    blocks: Iterable[Block],
) -> Iterator[Described]:
    whole = transform_union(
        extractors, view, instances.without_labels(), _ANY
    )  # what is observed is no candidate of it
    assert isinstance(whole.batch, CrossedRows)
    features, own = whole.batch.rows, own_columns(whole.batch.columns, int(whole.batch.rows.shape[1]))
    for number, rows in blocks:
        group, taken = groups[number], instances.take(rows)
        k = len(group.candidates)
        costs = taken.costs(group).reshape(-1, k)
        batch = CrossedRows(features[rows], costs, CrossedColumns(own, group.candidates))
        found, asked = (np.repeat(each[rows], k) for each in (whole.found, whole.asked))
        yield number, rows, taken, Features(batch, found, asked)


def _group_blocks(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    held: list[Block] = []
    waiting = 0
    for block in blocks:
        held.append(block)
        waiting += len(block[1])
        if waiting >= TOGETHER:
            yield held
            held, waiting = [], 0
    if held:
        yield held


MOST_MARGIN = 99
"""The largest least margin, in units of log-odds: no model is as sure as that."""
BLOCK = 4096
"""Decisions taken at a time: their features stay near the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What `train` makes and `annotate` uses. Deciding changes nothing in it.

    Attributes
    ----------
    name, version : str
    task : Task
    tokenisation : Tokenisation
    extractors : tuple of FeatureExtractor
    baseline : Learner
        Needs no training; decides for groups without a scorer where there is no `shared` one.
    scorers : tuple of Scorer or None
        One a group of `task`; None, or none at all, for `shared` or the baseline.
    judge : Judge
        What makes decisions of scores.
    shared : Scorer, optional
        Learned from all groups together; decides for groups without a scorer of their own.
    config : dict
        The resolved config that rebuilds task, extractors and learners.
    provenance : dict
        What it was trained on, reports of the learners, figures: plain values.
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

    @property
    def language(self) -> str:
        """Code of the language it decides for."""
        return self.task.language

    @property
    def flags_per_1000(self) -> float:
        """The default rate of flags per 1,000 correct words; 0 where nothing is ever flagged."""
        return self.judge.flags_per_1000 if isinstance(self.judge, RaisesFlags) else 0.0

    def with_groups(self, groups: Sequence[Group]) -> Model:
        """Return a model that also decides `groups`, by what all share or the baseline, without training.

        Groups of the same candidates as one that it has, in whatever order, are not added again.
        """
        known = {frozenset(group.candidates): group for group in (*groups[::-1], *self.task.groups)}
        new = tuple(group for group in groups if known[frozenset(group.candidates)] is group)
        if not new or not isinstance(self.task, Extensible):
            return self
        return replace(self, task=self.task.with_groups(new))

    def with_least_margin(self, least_margin: float) -> Model:
        """Return a model of labels that says nothing where its margin is smaller, in units of log-odds.

        Raises
        ------
        UserError
            D477 for what is no number from 0 to 99, or a model that chooses words.
        """
        good = isinstance(least_margin, int | float) and not isinstance(least_margin, bool)
        if not isinstance(self.judge, Abstains) or not good or not 0 <= least_margin <= MOST_MARGIN:
            raise UserError("D477", value=least_margin, model=self.name, most=MOST_MARGIN)
        return replace(self, judge=self.judge.with_least_margin(float(least_margin)))

    def with_fallback(self) -> Model:
        """Return a model that says the most frequent label where it has learned no group (`Group.learned`).

        Raises
        ------
        UserError
            D478 for a model that knows of no such group.
        """
        if not isinstance(self.task, HasFallback) or all(group.learned for group in self.task.groups):
            raise UserError("D478", model=self.name)
        return replace(self, task=self.task.with_fallback())

    def features(self, view: TokenView, instances: Instances, group: int) -> Features:
        """Return the joined features of instances that all belong to one group."""
        return transform_union(self.extractors, view, instances, self.task.groups[group])

    def scorer(self, group: int, features: Features) -> Scorer:
        """Return the scorer of a group."""
        own = self.scorers[group] if group < len(self.scorers) else None
        scorer = own if own is not None else self.shared
        return scorer if scorer is not None else self.baseline.fit(features.batch).scorer

    def scored(self, features: Features, instances: Instances, group: int, view: TokenView) -> ScoreBatch:
        """Return the scores of instances of one group, with what a judge may want to know beside them."""
        in_text = decides(self.task).where != "items"
        scorer = self.scorer(group, features)
        return ScoreBatch(
            self.task.groups[group],
            group,
            features.batch.offsets,
            scorer.scores(features.batch),
            instances.observed,
            features.found,
            features.asked,
            features.batch.cost,
            instances.own,
            neighbour_words(view, instances) if in_text and sees_beside(self.judge) else None,
            score_parts(scorer, features.batch) if sees_parts(self.judge) else None,
        )

    def decide(self, view: TokenView, *, flags_per_1000: float | None = None) -> Decisions:
        """Decide everywhere in `view`; words of the layer ``"protected"`` are left alone.

        Where the judge says nothing there is no decision.

        Raises
        ------
        UserError
            D401 for an impossible rate; D110 for a view of another tokenisation.
        """
        if flags_per_1000 is not None:
            check_rate(flags_per_1000)
        return self.decide_at(self.instances(view), view, flags_per_1000=flags_per_1000)

    def decide_at(
        self, instances: Instances, view: TokenView, *, flags_per_1000: float | None = None
    ) -> Decisions:
        """Decide for given instances: places of `view`, or items outside any text; see `decide`."""
        table = self.task.groups
        n = len(instances)
        offsets = candidate_offsets(instances, table)
        scores = np.empty(offsets[-1], np.float32)
        columns: dict[str, Any] = {
            name: np.zeros(n, dtype)
            for name, dtype in (
                ("chosen", np.int32),
                ("margins", np.float32),
                ("probabilities", np.float32),
                ("flagged", np.bool_),
                ("found", np.int32),
                ("asked", np.int32),
            )
        }
        said = np.ones(n, bool)
        done: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        blocks = _blocks(instances.groups, self._together(view, instances))

        def parts() -> Iterator[tuple[NDArray[np.int64], ScoreBatch]]:
            found = iterate_features(self.extractors, view, instances, table, blocks)
            for group, rows, taken, features in found:
                check_time()
                scored = self.scored(features, taken, group, view)
                done.append((rows, scored.scores))
                if table[group].learned:
                    columns["found"][rows] = instance_evidence(features.found, features.batch)
                    columns["asked"][rows] = instance_evidence(features.asked, features.batch)
                yield rows, scored

        for rows, found in decide_scores(self.judge, parts(), flags_per_1000=flags_per_1000):
            for name in ("chosen", "margins", "probabilities", "flagged"):
                columns[name][rows] = getattr(found, name)
            said[rows] = found.answered
        if done:
            order = np.concatenate([rows for rows, _ in done])
            scores[take_rows(offsets, order)[0]] = np.concatenate([each for _, each in done])
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
            **columns,
        )
        return decisions if said.all() else decisions.take(np.flatnonzero(said))

    def _places(self, instances: Instances, view: TokenView) -> dict[str, Any]:
        """Return document, start and end of each instance; an item is a document of its own, without text."""
        if decides(self.task).where == "items":
            nothing = np.zeros(len(instances), np.int32)
            return {"documents": instances.positions.astype(np.int32), "starts": nothing, "ends": nothing}
        last = instances.positions + instances.lengths - 1
        starts = view.starts[instances.positions]
        return {
            "documents": view.document_indices(instances.positions).astype(np.int32),
            "starts": starts,
            "ends": np.where(instances.lengths > 0, view.ends[last], starts),
        }

    def choose(self, view: TokenView) -> tuple[Instances, NDArray[np.int64]]:
        """Return the decisions to take in a view and the candidate chosen for each: `decide` without scores.

        Quicker where a scorer finds the best candidates by itself (`FindsBest`).
        """
        instances = self.instances(view)
        chosen = np.zeros(len(instances), np.int64)
        blocks = _blocks(instances.groups, self._together(view, instances))
        found = iterate_features(self.extractors, view, instances, self.task.groups, blocks)
        for group, rows, taken, features in found:
            scorer = self.scorer(group, features)
            if isinstance(scorer, FindsBest):
                chosen[rows] = scorer.best(features.batch)
            else:
                scored = self.scored(features, taken, group, view)
                chosen[rows] = self.judge.judge(scored).chosen
        return instances, chosen

    def _together(self, view: TokenView, instances: Instances) -> NDArray[np.int64] | None:
        """Return the sentence of each instance where those of a sentence are decided together."""
        if not decides(self.task).together:
            return None
        return view.sentences.searchsorted(instances.positions, side="right")

    def candidate_probabilities(self, decisions: Decisions) -> NDArray[np.float64] | None:
        """Return the probability of each candidate to be the right one, one for each of ``decisions.scores``.

        Those of one decision sum to one; what stands in the text plays no part. None for models trained
        before these probabilities were. ``decisions.probabilities`` are something else: of words, the
        probability that what stands there is an error.

        Parameters
        ----------
        decisions : Decisions
            Of this very model.
        """
        found = np.empty(len(decisions.scores))
        for group, rows in _blocks(decisions.groups):
            at, offsets = take_rows(decisions.offsets, rows)
            n = len(at)
            nothing = np.zeros(n, np.int32)
            shares = self.judge.probabilities(
                ScoreBatch(
                    decisions.table[group],
                    group,
                    offsets,
                    decisions.scores[at].astype(np.float64),
                    decisions.observed[rows],
                    nothing,
                    nothing,
                    np.zeros(n, np.float32),
                    None if decisions.own is None else decisions.own.take(rows),
                )
            )
            if shares is None:
                return None
            found[at] = shares
        return found

    def instances(self, view: TokenView) -> Instances:
        """Return the decisions to take in `view`; protected words are left out, unless they get a label."""
        instances = self.task.instances(view)
        protected = view.layers.get("protected")
        if protected is None or decides(self.task).between == "labels":
            return instances
        last = instances.positions + instances.lengths - 1
        return instances.take(~(protected[instances.positions] | protected[last]).astype(bool))


def candidate_offsets(instances: Instances, groups: Sequence[Group]) -> NDArray[np.int64]:
    """Return where the candidates of each instance begin, whatever its group, shape ``(n + 1,)``."""
    if instances.own is not None:
        return instances.own.offsets
    sizes = np.array([len(group.candidates) for group in groups], np.int64)[instances.groups]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def instance_evidence(counts: NDArray[np.int32], batch: CandidateBatch) -> NDArray[np.int64]:
    """Return the evidence of each instance: that of all its candidates together, shape ``(n,)``.

    Candidates of the same features have the same evidence, which counts once.
    """
    if isinstance(batch, DenseBlocks):
        return counts.reshape(batch.costs.shape).sum(axis=1, dtype=np.int64)
    offsets = batch.offsets
    if len(offsets) < 2:
        return np.zeros(0, np.int64)
    if isinstance(batch, CrossedRows | SequenceRows):
        return counts[offsets[:-1]].astype(np.int64)
    return np.add.reduceat(counts, offsets[:-1], dtype=np.int64)


def _blocks(
    groups: NDArray[np.int32], together: NDArray[np.int64] | None = None
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each group with its rows, a block at a time, so that memory does not grow with the batch.

    Rows of a group that have the same number in `together` stay in one block.
    """
    order = np.argsort(groups, kind="stable")
    numbers, starts = np.unique(groups[order], return_index=True)
    for number, rows in zip(numbers.tolist(), np.split(order, starts[1:]), strict=False):
        start = 0
        while start < len(rows):
            stop = start + BLOCK
            if together is not None and stop < len(rows):
                stop = int(together[rows].searchsorted(together[rows[stop - 1]], side="right"))
            yield number, rows[start:stop]
            start = stop


def evidence_name(model: Model) -> str:
    """Return what was looked up for a model's decisions: words, features of tokens, or n-grams."""
    what = decides(model.task)
    if what.where == "documents":
        return "words"
    shared = any(rows_are_shared(extractor) for extractor in model.extractors)
    counted = any(isinstance(extractor, ReadsCountTable) for extractor in model.extractors)
    return "n-grams" if counted and not shared and not what.together else "features"
