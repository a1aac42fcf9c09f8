"""A model: a task with its extractors, one scorer a group, calibration and operating point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.decisions import Decisions
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.joining import join
from disambig.data.sequences import SequenceRows
from disambig.data.sparse import CrossedRows
from disambig.errors import UserError
from disambig.model.calibration import Calibration, Comparison, compare, probabilities
from disambig.model.labels import Labels, are_labels, decided_together, softmax
from disambig.model.operating import OperatingPoint
from disambig.model.rows_once import features_of
from disambig.text.view import Tokenisation, TokenView
from disambig.types import FeatureExtractor, Features, Learner, Scorer, Task

MOST_MARGIN = 99
"""The largest least margin, in units of log-odds: no model is as sure as that."""
BLOCK = 4096
"""Decisions taken at a time: their features stay near the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupDecisions:
    """The decisions between one group's candidates, before a threshold.

    Attributes
    ----------
    scores : array of float64, shape (n, K)
    comparison : Comparison
    log_odds : array of float64, shape (n,)
    eligible : array of bool, shape (n,)
        Whether a flag is possible: the other candidate scores best of all and has evidence.
    found, asked : arrays of int32, shape (n, K)
    """

    scores: NDArray[np.float64]
    comparison: Comparison
    log_odds: NDArray[np.float64]
    eligible: NDArray[np.bool_]
    found: NDArray[np.int32]
    asked: NDArray[np.int32]


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
    shared : Scorer, optional
        Learned from all groups together; decides for groups without a scorer of their own.
    calibration : Calibration
    operating : OperatingPoint
    labels : Labels, optional
        How scores become decisions where candidates are labels; such a model never flags.
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
    calibration: Calibration
    operating: OperatingPoint
    labels: Labels | None = None
    shared: Scorer | None = None
    config: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """Code of the language it decides for."""
        return self.task.language

    @property
    def flags_per_1000(self) -> float:
        """The default rate of flags per 1,000 correct words."""
        return self.operating.flags_per_1000

    def with_groups(self, groups: Sequence[Group]) -> Model:
        """Return a model that also decides `groups`, by what all share or the baseline, without training.

        Groups of the same candidates as one that it has, in whatever order, are not added again.
        """
        known = {frozenset(group.candidates): group for group in (*groups[::-1], *self.task.groups)}
        new = tuple(group for group in groups if known[frozenset(group.candidates)] is group)
        if not new:
            return self
        return replace(self, task=replace(self.task, extra=(*self.task.extra, *new)))  # type: ignore

    def with_least_margin(self, least_margin: float) -> Model:
        """Return a model of labels that says nothing where its margin is smaller, in units of log-odds.

        Raises
        ------
        UserError
            D477 for what is no number from 0 to 99, or a model that chooses words.
        """
        good = isinstance(least_margin, int | float) and not isinstance(least_margin, bool)
        if self.labels is None or not good or not 0 <= least_margin <= MOST_MARGIN:
            raise UserError("D477", value=least_margin, model=self.name, most=MOST_MARGIN)
        return replace(self, labels=replace(self.labels, least_margin=float(least_margin)))

    def features(self, view: TokenView, instances: Instances, group: int) -> Features:
        """Return the joined features of instances that all belong to one group."""
        table = self.task.groups[group]
        return join([extractor.transform(view, instances, table) for extractor in self.extractors])

    def scorer(self, group: int, features: Features) -> Scorer:
        """Return the scorer of a group."""
        own = self.scorers[group] if group < len(self.scorers) else None
        scorer = own if own is not None else self.shared
        return scorer if scorer is not None else self.baseline.fit(features.batch).scorer

    def weigh(self, features: Features, group: int, observed: NDArray[np.int32]) -> GroupDecisions:
        """Score candidates and compare the best with the observed one, for one group."""
        table = self.task.groups[group]
        shape = (len(observed), len(table.candidates))
        scores = self.scorer(group, features).scores(features.batch).reshape(shape)
        found, asked = features.found.reshape(shape), features.asked.reshape(shape)
        comparison = compare(scores, found, observed, same_matrix(table))
        log_odds = self.calibration.log_odds(comparison.features, group)
        other = comparison.other
        evidence = found[np.arange(len(other)), other] > 0
        eligible = (comparison.features[:, 0] > 0) & (scores.argmax(axis=1) == other) & evidence
        return GroupDecisions(scores, comparison, log_odds, eligible, found, asked)

    def decide(self, view: TokenView, *, flags_per_1000: float | None = None) -> Decisions:
        """Decide everywhere in `view`; words of the layer ``"protected"`` are left alone.

        Labels whose margin is too small (``labels.least_margin``) are left out.

        Raises
        ------
        UserError
            D401 for an impossible rate; D110 for a view of another tokenisation.
        """
        threshold = self.operating.threshold(flags_per_1000)
        instances = self.instances(view)
        table = self.task.groups
        n = len(instances)
        sizes = np.array([len(group.candidates) for group in table], np.int64)[instances.groups]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
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
        features_of_group = features_of(self.extractors, view, instances)
        for group, rows in _blocks(instances.groups, self._together(view, instances)):
            features = features_of_group(rows, table[group])
            k = len(table[group].candidates)
            each = offsets[rows][:, None] + np.arange(k)
            shared = isinstance(features.batch, CrossedRows | SequenceRows)
            once = slice(1) if shared else slice(None)  # candidates of the same features, the same evidence
            columns["found"][rows] = features.found.reshape(len(rows), k)[:, once].sum(axis=1)
            columns["asked"][rows] = features.asked.reshape(len(rows), k)[:, once].sum(axis=1)
            if self.labels is not None:
                scores[each] = own = self.scorer(group, features).scores(features.batch).reshape(len(rows), k)
                judged = self.labels.judge(own, group)
                columns["chosen"][rows], columns["margins"][rows], columns["probabilities"][rows] = judged
                continue
            weighed = self.weigh(features, group, instances.observed[rows])
            scores[each] = weighed.scores
            ordered = np.sort(weighed.scores, axis=1)
            columns["chosen"][rows] = weighed.scores.argmax(axis=1)
            columns["margins"][rows] = ordered[:, -1] - ordered[:, -2] if k > 1 else np.inf
            columns["probabilities"][rows] = np.where(
                weighed.comparison.other >= 0, probabilities(weighed.log_odds), 0.0
            )
            columns["flagged"][rows] = weighed.eligible & (weighed.log_odds > threshold)
        last = instances.positions + instances.lengths - 1
        decisions = Decisions(
            task=self.task.name,
            model=f"{self.name} {self.version}",
            table=table,
            documents=view.document_of(instances.positions).astype(np.int32),
            starts=view.starts[instances.positions],
            ends=np.where(instances.lengths > 0, view.ends[last], view.starts[instances.positions]),
            groups=instances.groups,
            observed=instances.observed,
            offsets=offsets,
            scores=scores,
            **columns,
        )
        if self.labels is None or self.labels.least_margin <= 0:
            return decisions
        return decisions.take(np.flatnonzero(decisions.margins >= self.labels.least_margin))

    def choose(self, view: TokenView) -> tuple[Instances, NDArray[np.int64]]:
        """Return the decisions to take in a view and the candidate chosen for each: `decide` without scores.

        Quicker where a scorer finds the best candidates by itself (it has ``best(batch)``).
        """
        instances = self.instances(view)
        chosen = np.zeros(len(instances), np.int64)
        features_of_group = features_of(self.extractors, view, instances)
        for group, rows in _blocks(instances.groups, self._together(view, instances)):
            features = features_of_group(rows, self.task.groups[group])
            scorer = self.scorer(group, features)
            if hasattr(scorer, "best"):
                chosen[rows] = scorer.best(features.batch)
                continue
            scores = scorer.scores(features.batch).reshape(len(rows), -1)
            judged = scores.argmax(axis=1) if self.labels is None else self.labels.judge(scores, group)[0]
            chosen[rows] = judged
        return instances, chosen

    def _together(self, view: TokenView, instances: Instances) -> NDArray[np.int64] | None:
        """Return the sentence of each instance where those of a sentence are decided together."""
        if not decided_together(self.task):
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
        if self.labels is None and self.calibration.scales is None:
            return None
        found = np.empty(len(decisions.scores))
        for group, rows in _blocks(decisions.groups):
            k = len(decisions.table[group].candidates)
            at = decisions.offsets[rows][:, None] + np.arange(k)
            scores = decisions.scores[at].astype(np.float64)
            if self.labels is not None:
                found[at] = softmax(self.labels.logits(scores, group))
            else:
                found[at] = self.calibration.candidates(scores, group)
        return found

    def instances(self, view: TokenView) -> Instances:
        """Return the decisions to take in `view`; protected words are left out, unless they get a label."""
        instances = self.task.instances(view)
        protected = view.layers.get("protected")
        if protected is None or are_labels(self.task):
            return instances
        last = instances.positions + instances.lengths - 1
        return instances.take(~(protected[instances.positions] | protected[last]).astype(bool))


@lru_cache(maxsize=1024)
def same_matrix(group: Group) -> NDArray[np.bool_]:
    """Return which candidates are equal or variants of each other, shape ``(K, K)``."""
    k = range(len(group.candidates))
    return np.array([[group.same(i, j) for j in k] for i in k], bool)


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
