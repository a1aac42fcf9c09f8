"""Scores, predictions and decisions, stored column by column; the measured precision of flags."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import CandidateLists, CandidateTable, Group, Instances
from disambig.data.segments import Selection, join_offsets, lengths, offsets_from_sizes, take_rows
from disambig.errors import UserError, nearest_first
from disambig.formatting import describe_share, pluralize
from disambig.rules import Correction, RuleSet, comparable_form
from disambig.text import UNKNOWN
from disambig.type_aliases import Floats, Ints

PUT_IN, TAKEN_OUT = "words put in", "words taken out"
"""Names of the kinds of flags that insert a word, and of those that remove one."""
LEVELS = (("very-high", 0.9), ("high", 0.8), ("medium", 0.5), ("low", 0.0))
"""Precision levels as code scanning names them, and the minimum share of right flags of each."""


@dataclass(frozen=True, slots=True)
class PrecisionPoint:
    """Precision of the flags with at least a certain probability."""

    least: float  # the minimum probability of these flags
    share: float  # share of them that is right in text with the density of mistakes given in `PrecisionTable`
    # its 95 % interval
    low: float
    high: float
    # counts: flags that suggest the writer's own correction, flags at the place of a mistake that suggest
    # something else, and flags in paragraphs that nobody corrected
    right: int
    wrong: int
    false: int


@dataclass(frozen=True, slots=True)
class PrecisionEstimate:
    """The measured precision of flags like a given one."""

    share: float  # share of right flags among those with at least this probability
    # its 95 % interval
    low: float
    high: float
    flags: int  # number of flags it was measured on
    # kind of these flags: all of the task, those that insert words or remove words, or those of a pair
    of: str
    text: str  # the text they were measured on

    def __str__(self) -> str:
        """Return the share for people, in tenths if it was measured on few flags."""
        return describe_share(self.share, self.flags)

    @property
    def level(self) -> str:
        """The highest of `LEVELS` that the share reaches."""
        return next(name for name, minimum in LEVELS if self.share >= minimum)


@dataclass(frozen=True, slots=True)
class PrecisionTable:
    """The measured precision of the flags of a task."""

    task: str
    text: str  # description of the text that it was measured on
    per_1000: float  # mistakes per 1,000 words in the text that the shares refer to
    # for all flags, with ascending probability from 0; the share ascends too
    points: tuple[PrecisionPoint, ...]
    # the same for pairs of words with enough flags (keys from `unordered_pair`), and for `PUT_IN` and
    # `TAKEN_OUT`
    pairs: Mapping[str, tuple[PrecisionPoint, ...]] = field(default_factory=dict)

    def estimate(self, observed: str, replacement: str, probability: float) -> PrecisionEstimate:
        """Return the precision of flags that replace one word with another, at a probability."""
        pair = unordered_pair(observed, replacement)
        key = next((name for name in (pair, edit_kind(pair)) if name in self.pairs), "")
        points = self.pairs[key] if key else self.points
        thresholds = [point.least for point in points]
        point = points[max(0, bisect_right(thresholds, probability) - 1)]
        flags = point.right + point.wrong + point.false
        return PrecisionEstimate(point.share, point.low, point.high, flags, key or self.task, self.text)

    def least_for(self, share: float) -> float | None:
        """Return the lowest probability at which flags reach a precision of `share`; None if none does."""
        curves = (self.points, *self.pairs.values())
        thresholds = [point.least for points in curves for point in points if point.share >= share]
        return min(thresholds, default=None)


def unordered_pair(observed: str, replacement: str) -> str:
    """Return a key of both words that is the same for a correction and for its reverse.

    The key of a flag that inserts a word has nothing before the slash; of one that removes a word, nothing
    after it.
    """
    words = [comparable_form(observed), comparable_form(replacement)]
    return "/".join(sorted(words) if all(words) else words)


def edit_kind(pair: str) -> str:
    """Return `PUT_IN` or `TAKEN_OUT` if one side of a pair is empty, else an empty string."""
    before, _, after = pair.partition("/")
    return "" if before and after else TAKEN_OUT if before else PUT_IN


_QUOTIENT = re.compile(r"(\d+)\s*(?:/|in|of|out of)\s*(\d+)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
SHARE = r"^(\d+ ?(/|in|of|out of) ?\d+|\d+(\.\d+)? ?%|1|0?\.\d+)$"
"""Regular expression by which editors check a share."""
EXAMPLES = ("4 in 5", "4/5", "80 %", "0.8")


def parse_share(value: Any) -> float:
    """Parse a share in a form like those of `EXAMPLES`: above 0, at most 1.

    Raises D860 if it is not a share.
    """
    share = _parse_number(value.strip()) if isinstance(value, str) else value
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise UserError("D860", value=value)
    return float(share)


def _parse_number(text: str) -> float | None:
    """Return the number written as a quotient, in percent or as a decimal; None if it is none of these."""
    if match := _QUOTIENT.fullmatch(text):
        return int(match[1]) / int(match[2]) if int(match[2]) else None
    if match := _PERCENT.fullmatch(text):
        return float(match[1]) / 100
    try:
        return float(text)
    except ValueError:
        return None


WORDS_PER_MISTAKE = {"published": 2_000, "edited": 400, "draft": 100, "learner": 15}
"""Number of words per mistake in each kind of writing."""


def check_writing(value: Any) -> str:
    """Return the kind of writing that a user named. Raises D953 if there is no such kind of writing."""
    if not isinstance(value, str) or value not in WORDS_PER_MISTAKE:
        raise UserError("D953", value=value, names=nearest_first(str(value), WORDS_PER_MISTAKE))
    return value


def mistakes_per_1000(writing: str) -> float:
    """Return the mistakes per 1,000 words in a kind of writing.

    Raises D953 if there is no such kind of writing.
    """
    return 1000 / WORDS_PER_MISTAKE[check_writing(writing)]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBatch(CandidateTable):
    """Scores of the candidates of instances, and further columns that decision rules read.

    Attributes
    ----------
    numbers : tuple of int
        Index of each of the `groups` in its task.
    scores : array of float64, shape (n_candidates,)
    observed : array of int32, shape (n,)
        See `disambig.data.Instances`.
    n_hits, n_queries : arrays of int32, shape (n_candidates,)
        Number of queries of the candidate that the count table answered, and number of all queries.
    cost : array of float32, shape (n_candidates,)
        Cost of each candidate, for examples.
    neighbours : array of uint64, shape (n, 2), optional
        Hashes of the words before and after, if the decision rule asks for them (``sees_beside``).
    parts : array of float32, shape (n_candidates, P), optional
        Contribution of each feature group to the scores, if the decision rule asks for it (``sees_parts``).
    """

    numbers: tuple[int, ...]
    scores: Floats
    observed: NDArray[np.int32]
    n_hits: NDArray[np.int32]
    n_queries: NDArray[np.int32]
    cost: NDArray[np.float32]
    neighbours: NDArray[np.uint64] | None = None
    parts: NDArray[np.float32] | None = None

    @classmethod
    def from_group(
        cls,
        group: Group,
        number: int,
        offsets: NDArray[np.int64],
        *columns: Any,
        lists: CandidateLists | None = None,
    ) -> ScoreBatch:
        """Return the scores of instances of one group.

        Parameters
        ----------
        group : Group
        number : int
            Index of the group in its task.
        offsets : array of int64, shape (n + 1,)
        *columns
            The attributes from `scores` on.
        lists : CandidateLists, optional
            Per-instance candidates.
        """
        return cls((group,), np.zeros(len(offsets) - 1, np.int64), offsets, lists, (number,), *columns)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of candidates of each instance, shape ``(n,)``."""
        return lengths(self.offsets)

    @property
    def number(self) -> int:
        """The index of the only group in its task; ValueError if there are several groups."""
        (number,) = self.numbers
        return number

    @classmethod
    def joined(cls, parts: Sequence[ScoreBatch]) -> ScoreBatch:
        """Concatenate batches; at least one. Either all or none have per-instance candidates."""
        if len(parts) == 1:
            return parts[0]
        firsts = np.cumsum([0, *(len(part.groups) for part in parts)]).tolist()
        lists = [part.lists for part in parts if part.lists is not None]
        groups = tuple(group for part in parts for group in part.groups)
        numbers = tuple(number for part in parts for number in part.numbers)
        group_of = np.concatenate([part.group_of + first for part, first in zip(parts, firsts, strict=False)])
        neighbours = []
        if any(part.neighbours is not None for part in parts):
            neighbours = [
                np.full((len(part), 2), UNKNOWN, np.uint64) if part.neighbours is None else part.neighbours
                for part in parts
            ]
        score_parts = [part.parts for part in parts if part.parts is not None]
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("scores", "observed", "n_hits", "n_queries", "cost")
        }
        return cls(
            groups,
            group_of,
            join_offsets(part.offsets for part in parts),
            CandidateLists.joined(lists) if lists else None,
            numbers,
            **columns,
            neighbours=np.concatenate(neighbours) if neighbours else None,
            parts=np.concatenate(score_parts) if score_parts else None,
        )

    def take(self, index: Selection, groups: slice = slice(None)) -> ScoreBatch:
        """Return the scores of the instances in `index`; nothing is copied if it is a slice.

        `groups`: the groups to keep, if all these instances belong to some of them; by default all.
        """
        rows, offsets = take_rows(self.offsets, index)
        return ScoreBatch(
            self.groups[groups],
            self.group_of[index] - (groups.start or 0),
            offsets,
            None if self.lists is None else self.lists.take(index),
            self.numbers[groups],
            self.scores[rows],
            self.observed[index],
            self.n_hits[rows],
            self.n_queries[rows],
            self.cost[rows],
            None if self.neighbours is None else self.neighbours[index],
            None if self.parts is None else self.parts[rows],
        )

    def by_group(self) -> Iterator[tuple[NDArray[np.int64], ScoreBatch]]:
        """Yield the instances of each group that has some: their indices, and their scores."""
        if len(self.groups) == 1:
            yield np.arange(len(self)), self
            return
        ordered = bool((self.group_of[1:] >= self.group_of[:-1]).all())
        ends = offsets_from_sizes(np.bincount(self.group_of, minlength=len(self.groups))).tolist()
        for i, (first, last) in enumerate(pairwise(ends)):
            if first == last:
                continue
            index = np.arange(first, last) if ordered else np.flatnonzero(self.group_of == i)
            yield index, self.take(slice(first, last) if ordered else index, slice(i, i + 1))

    def map_groups(self, compute: Callable[[ScoreBatch], Floats | None]) -> Floats | None:
        """Return a number for each candidate, computed group by group; None if `compute` returns None."""
        if len(self.groups) == 1:
            return compute(self)
        values = np.empty(len(self.scores))
        for index, part in self.by_group():
            computed = compute(part)
            if computed is None:
                return None
            values[take_rows(self.offsets, index)[0]] = computed
        return values


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Predictions of a decision rule, one entry per instance.

    Plugins import this class as `disambig.api.judges.JudgedScores`.

    Attributes
    ----------
    chosen : array of int64
        Candidate, as an index in its group or list.
    margins : array of float64
        Score of the chosen candidate minus that of the next best one; never negative.
    probabilities : array of float64
        Probability, from 0 to 1, that the best other candidate should replace the observed one; for labels
        and lists, that the chosen one is right.
    flagged : array of bool
        Whether the decision is a flag for the user.
    answered : array of bool
        Whether the decision rule gives an answer at all; some abstain.
    """

    chosen: NDArray[np.int64]
    margins: Floats
    probabilities: Floats
    flagged: NDArray[np.bool_]
    answered: NDArray[np.bool_]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by the names of their attributes."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def joined(cls, parts: Sequence[Predictions]) -> Predictions:
        """Concatenate predictions; at least one."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part.columns().values() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    @classmethod
    def by_group(cls, scored: ScoreBatch, judge: Callable[[ScoreBatch], Predictions]) -> Predictions:
        """Decide the instances of each group with a function that decides those of one group.

        Parameters
        ----------
        scored : ScoreBatch
            Scores of instances of any groups.
        judge : callable
            Returns the predictions for scores of one group.

        Raises
        ------
        ValueError
            If they are not one entry per instance.
        """
        if len(scored.groups) == 1:
            return judge(scored)
        n = len(scored)
        predictions = cls(
            np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(n, np.bool_), np.ones(n, np.bool_)
        )
        for index, part in scored.by_group():
            group_predictions = judge(part)
            for name in cls.__dataclass_fields__:
                column, values = getattr(predictions, name), np.asarray(getattr(group_predictions, name))
                if values.shape != index.shape:  # NumPy would repeat a single entry
                    raise ValueError(f"{name} has the shape {values.shape}; expected {index.shape}")
                if not np.can_cast(values.dtype, column.dtype, "same_kind"):
                    # kept, so that checks of the rule see it: every number would become a flag
                    column = column.astype(values.dtype)
                    predictions = replace(predictions, **{name: column})
                column[index] = values
        return predictions


@dataclass(frozen=True, slots=True)
class Alternative:
    """The suggestion of a less certain task that overlaps a flag."""

    task: str
    # offsets into the document's original text; they may differ from those of the flag
    start: int
    end: int
    chosen: str  # the suggested candidate
    probability: float
    precision: PrecisionEstimate | None = None  # the measured precision of such flags of the task


@dataclass(frozen=True, slots=True, eq=False)
class OverlapResolution:
    """Result of resolving overlaps: the flags of one task that lost to others or won against them."""

    lost: Ints  # decisions, ascending, that would be flagged if no overlapping one were more probable
    won: Ints  # int64 (m,): the flagged decision that each alternative belongs to, ascending
    alternatives: tuple[Alternative, ...]  # the most probable one of each decision first

    def decision_alternatives(self, decision: int) -> tuple[Alternative, ...]:
        """Return the alternatives of one decision."""
        first, last = np.searchsorted(self.won, (decision, decision + 1)).tolist()
        return self.alternatives[first:last]

    def slice(self, first: int, last: int) -> OverlapResolution | None:
        """Return the part that concerns the decisions `first` to `last` (exclusive); None if it is empty."""
        low, high = np.searchsorted(self.won, (first, last)).tolist()
        lost = self.lost[slice(*np.searchsorted(self.lost, (first, last)))]
        if low == high and not len(lost):
            return None
        return OverlapResolution(lost - first, self.won[low:high] - first, self.alternatives[low:high])

    def take(self, rows: Ints) -> OverlapResolution | None:
        """Return the part that concerns the decisions in `rows`, in their order; None if it is empty."""
        lost = np.flatnonzero(np.isin(rows, self.lost))
        at = np.flatnonzero(np.isin(rows, self.won))
        pairs = [
            (row, alternative)
            for row in at.tolist()
            for alternative in self.decision_alternatives(int(rows[row]))
        ]
        if not pairs and not len(lost):
            return None
        return OverlapResolution(
            lost,
            np.array([row for row, _ in pairs], np.int64),
            tuple(alternative for _, alternative in pairs),
        )


def _join_resolutions(parts: Sequence[tuple[OverlapResolution | None, int, int]]) -> OverlapResolution | None:
    """Join the resolutions of pieces of a text, each with its number of decisions and offset in the text."""
    lost: list[Ints] = []
    won: list[Ints] = []
    alternatives: list[Alternative] = []
    before = 0
    for settled, n, offset in parts:
        if settled is not None:
            lost.append(settled.lost + before)
            won.append(settled.won + before)
            alternatives += [
                replace(other, start=other.start + offset, end=other.end + offset)
                for other in settled.alternatives
            ]
        before += n
    return OverlapResolution(np.concatenate(lost), np.concatenate(won), tuple(alternatives)) if lost else None


_MAX_EXCERPT = 200
"""Maximum number of characters of a place that a record repeats."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decisions:
    """The decisions of one task over a batch of documents, in document order.

    Attributes
    ----------
    task : str
        Name of the task, such as ``"preposition"``.
    model : str
        Name and version of the model that decided.
    table : tuple of Group
        Groups of candidates, which `groups` indexes.
    documents : array of int32, shape (n,)
        Index of the document in the batch.
    starts, ends : arrays of int32, shape (n,)
        Character offsets into the document's original text; equal for an empty place, whose offset is
        the start of the next word.
    groups, observed, chosen : arrays of int32, shape (n,)
        Indices of the group, the candidate in the text (-1: none) and the chosen candidate.
    offsets : array of int64, shape (n + 1,)
        The candidates of decision i are ``scores[offsets[i]:offsets[i + 1]]``.
    scores : array of float32, shape (n_candidates,)
    margins : array of float32, shape (n,)
        Difference between the chosen candidate's score and the next best, in the model's units.
    probabilities : array of float32, shape (n,)
        Calibrated probability that the best other candidate should replace the observed one; for
        labels, that the chosen one is right.
    flagged : array of bool, shape (n,)
        Whether `probabilities` passes the operating point, there is evidence, and no other task has a more
        probable edit of the same place (see `disambig.decision.overlaps`).
    n_hits, n_queries : arrays of int32, shape (n,)
        Number of n-grams found in the table, and number of n-grams looked up.
    lists : CandidateLists, optional
        Per-instance candidates, if the task has them.
    settled : OverlapResolution, optional
        Flags that overlap those of other decisions: which lost, and the alternatives of those that won.
    trust : PrecisionTable, optional
        How often flags of this model were right, if that was measured.
    rules : RuleSet, optional
        The rules of the flags; by default one, with the name of the task.
    """

    task: str
    model: str
    table: tuple[Group, ...]
    documents: NDArray[np.int32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    groups: NDArray[np.int32]
    observed: NDArray[np.int32]
    chosen: NDArray[np.int32]
    offsets: NDArray[np.int64]
    scores: NDArray[np.float32]
    margins: NDArray[np.float32]
    probabilities: NDArray[np.float32]
    flagged: NDArray[np.bool_]
    n_hits: NDArray[np.int32]
    n_queries: NDArray[np.int32]
    lists: CandidateLists | None = None
    settled: OverlapResolution | None = None
    trust: PrecisionTable | None = None
    rules: RuleSet | None = None

    @classmethod
    def empty(
        cls,
        task: str,
        model: str,
        table: tuple[Group, ...],
        *,
        lists: CandidateLists | None,
        rules: RuleSet | None,
    ) -> Decisions:
        """Return no decisions; `lists` is empty if the task has per-instance candidates."""
        columns: dict[str, Any] = dict.fromkeys(_INDEX_COLUMNS, np.zeros(0, np.int32))
        columns |= dict.fromkeys(("scores", "margins", "probabilities"), np.zeros(0, np.float32))
        columns["flagged"] = np.zeros(0, np.bool_)
        return cls(task, model, table, **columns, offsets=np.zeros(1, np.int64), lists=lists, rules=rules)

    @classmethod
    def joined(cls, parts: Sequence[tuple[Decisions, int]]) -> Decisions:
        """Join the decisions of one task about consecutive pieces of a document.

        Parameters
        ----------
        parts : sequence of (Decisions, int)
            The decisions about each piece, and its offset in the document.
        """
        first = parts[0][0]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part, _ in parts]) for name in (*_COLUMNS, "scores")
        }
        columns["documents"] = np.zeros(len(columns["documents"]), np.int32)
        for name in ("starts", "ends"):
            columns[name] = np.concatenate([getattr(part, name) + np.int32(offset) for part, offset in parts])
        lists = [part.lists for part, _ in parts if part.lists is not None]
        return replace(
            first,
            offsets=join_offsets(part.offsets for part, _ in parts),
            lists=CandidateLists.joined(lists) if lists else None,
            settled=_join_resolutions([(part.settled, len(part), offset) for part, offset in parts]),
            **columns,
        )

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        """Return the task, the model and the numbers of decisions and flags."""
        counts = f"{pluralize(len(self), 'decision')}, {pluralize(int(self.flagged.sum()), 'flag')}"
        return f"<Decisions {self.task!r} of {self.model}: {counts}>"

    def in_document(self, document: int) -> Decisions:
        """Return the decisions of one document of the batch (views, nothing is copied)."""
        first, last = np.searchsorted(self.documents, (document, document + 1))
        return self.slice(int(first), int(last))

    def slice(self, first: int, last: int) -> Decisions:
        """Return decisions `first` to `last` (exclusive)."""
        return self.take(slice(first, last))

    @property
    def raised(self) -> NDArray[np.bool_]:
        """Mask of the decisions that would be flagged if no more probable one overlapped them."""
        if self.settled is None:
            return self.flagged
        raised = self.flagged.copy()
        raised[self.settled.lost] = True
        return raised

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Mask of the decisions to show: all except empty places that stay empty."""
        return (self.starts < self.ends) | (self.chosen != self.observed)

    def without_empty(self) -> Decisions:
        """Return the decisions that are `shown`; a text has more empty places than words to decide."""
        shown = self.shown
        return self if shown.all() else self.take(shown.nonzero()[0])

    def only_flags(self) -> Decisions:
        """Return the decisions that are flagged."""
        if self.flagged.all():
            return self
        return self.take(self.flagged.nonzero()[0]) if self.flagged.any() else self.slice(0, 0)

    def take(self, index: Selection) -> Decisions:
        """Return the decisions in `index`, in that order; nothing is copied if it is a slice."""
        settled = self.settled
        if settled is not None:
            if isinstance(index, slice):
                first, last, _ = index.indices(len(self))
                settled = settled.slice(first, last)
            else:
                settled = settled.take(index)
        rows, offsets = take_rows(self.offsets, index)
        return Decisions(
            self.task,
            self.model,
            self.table,
            **{name: getattr(self, name)[index] for name in _COLUMNS},
            offsets=offsets,
            scores=self.scores[rows],
            lists=None if self.lists is None else self.lists.take(index),
            settled=settled,
            trust=self.trust,
            rules=self.rules,
        )

    def places(self) -> Instances:
        """Return the decisions as numbered instances outside a text, with the same candidates."""
        n = len(self)
        return Instances(np.arange(n), np.zeros(n, np.int32), self.groups, self.observed, self.lists)

    def candidate_texts(self, index: int) -> tuple[str, ...]:
        """Return the candidates of one decision: its own if there are any, else those of its group."""
        if self.lists is not None:
            return self.lists.instance_candidates(index)
        return self.table[self.groups[index]].candidates

    @property
    def glossed(self) -> bool:
        """Whether candidates have glosses; then every record has one, which may be empty."""
        return any(map(attrgetter("glosses"), self.table))

    def record(self, index: int, text: str) -> dict[str, Any]:
        """Return one decision as a JSON-serialisable dict; `text` is the document's original text.

        Its ``replacement`` is what is proposed; only ``flagged`` says that the text should be changed.
        `disambig.formats.records` builds the same records for many decisions at once: change both together.
        """
        group = self.table[self.groups[index]]
        low, high = self.offsets[index], self.offsets[index + 1]
        start, end = int(self.starts[index]), int(self.ends[index])
        observed = excerpt(text, start, end)
        candidates = self.candidate_texts(index)
        chosen = candidates[self.chosen[index]]
        order = np.argsort(-self.scores[low:high], kind="stable")
        return {
            "task": self.task,
            "group": group.name,
            "start": start,
            "end": end,
            "observed": observed,
            "chosen": chosen,
            **({"gloss": candidate_gloss(group, int(self.chosen[index]))} if self.glossed else {}),
            "replacement": observed
            if self.observed[index] in (-1, self.chosen[index])
            else replacement(chosen, text, start, end),
            "flagged": bool(self.flagged[index]),
            **self.flag_fields(index, text),
            "probability": round(float(self.probabilities[index]), 6),
            "margin": json_margin(float(self.margins[index])),
            "candidates": tuple((candidates[i], round(float(self.scores[low + i]), 4)) for i in order),
            **self.source_record(index),
            "found": int(self.n_hits[index]),
            "asked": int(self.n_queries[index]),
            "model": self.model,
        }

    def flag_fields(self, index: int, text: str) -> dict[str, Any]:
        """Return the fields of flags only; an empty dict without a flag.

        These are the rule, the measured precision of such flags and the number of flags that it was measured
        on (-1 and 0 if it was not measured), and the alternatives.
        """
        if not self.flagged[index]:
            return {}
        alternatives = () if self.settled is None else self.settled.decision_alternatives(index)
        measured = self.precision(index, text)
        return {
            "rule": self.rule_name(index, text),
            "precision": -1.0 if measured is None else measured.share,
            "precision_flags": 0 if measured is None else measured.flags,
            "alternatives": tuple(_alternative(alternative, text) for alternative in alternatives),
        }

    def precision(self, index: int, text: str) -> PrecisionEstimate | None:
        """Return the measured precision of flags like this one; None if it was not measured.

        If several tasks propose the same correction, return the highest of their precisions.

        Parameters
        ----------
        text : str
            The document's original text.
        """
        start, end = int(self.starts[index]), int(self.ends[index])
        chosen = self.candidate_texts(index)[self.chosen[index]]
        estimates = [
            other.precision
            for other in (self.settled.decision_alternatives(index) if self.settled is not None else ())
            if (other.start, other.end, other.chosen) == (start, end, chosen)
        ]
        if self.trust is not None:
            observed, correction = excerpt(text, start, end), replacement(chosen, text, start, end)
            probability = round(float(self.probabilities[index]), 6)
            estimates.insert(0, self.trust.estimate(observed, correction, probability))
        measured = [estimate for estimate in estimates if estimate is not None]
        return max(measured, key=lambda estimate: estimate.share, default=None)

    def rule_name(self, index: int, text: str) -> str:
        """Return the name of the rule of a correction; `text` is the document's original text."""
        return self.task if self.rules is None else self.rules.rule_name(self.correction(index, text))

    def correction(self, index: int, text: str) -> Correction:
        """Return what a correction changes; `text` is the document's original text."""
        start, end = int(self.starts[index]), int(self.ends[index])
        chosen = self.candidate_texts(index)[self.chosen[index]]
        return Correction.plain(text[start:end], chosen, self.table[self.groups[index]].name)

    def source_record(self, index: int) -> dict[str, Any]:
        """Return the base score and the rank (from 0) that the source gave the chosen candidate."""
        if self.lists is None:
            return {}
        at = self.lists.offsets[index] + self.chosen[index]
        return {"base": round(float(self.lists.scores[at]), 4), "rank": int(self.lists.ranks[at])}


_INDEX_COLUMNS = ("documents", "starts", "ends", "groups", "observed", "chosen", "n_hits", "n_queries")
_COLUMNS = (*_INDEX_COLUMNS, "margins", "probabilities", "flagged")
"""The columns of `Decisions` with one value per decision."""


def _alternative(other: Alternative, text: str) -> dict[str, Any]:
    """Return an alternative as a JSON-serialisable dict."""
    return {
        "task": other.task,
        "start": other.start,
        "end": other.end,
        "replacement": replacement(other.chosen, text, other.start, other.end),
        "probability": round(other.probability, 6),
    }


def json_margin(margin: float) -> float | None:
    """Return a margin as records hold it; None for an only candidate, whose margin is infinite."""
    return round(margin, 4) if margin < np.inf else None


def excerpt(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]``, or its beginning if the place is long, such as a whole document."""
    return text[start:end] if end - start <= _MAX_EXCERPT else f"{text[start : start + _MAX_EXCERPT]} ..."


def candidate_gloss(group: Group, chosen: int) -> str:
    """Return a candidate's gloss, empty if its group has none."""
    return group.glosses[chosen] if group.glosses else ""


def rank_alternatives(
    decisions: Decisions, row: int, probabilities: NDArray[np.floating]
) -> list[tuple[int, float]]:
    """Return the candidates of a decision other than the observed one, and their shares, the largest first.

    `probabilities`: those of the candidates of all `decisions`; shares are in proportion to them and add up
    to 1.
    """
    first, stop = decisions.offsets[row : row + 2].tolist()
    observed = int(decisions.observed[row])
    shares = np.array(probabilities[first:stop], np.float64)
    if observed >= 0:
        shares[observed] = 0.0
    shares /= shares.sum() or 1.0
    order = np.argsort(-shares, kind="stable").tolist()
    return [(number, float(shares[number])) for number in order if number != observed]


def replacement(chosen: str, text: str, start: int, end: int) -> str:
    """Return the text that replaces ``text[start:end]`` if `chosen` is taken.

    In an empty place, which is before a word, a space is added after it, and it is written in capitals
    only between words in capitals.
    """
    if start < end:
        return follow_case(chosen, text[start:end])
    # 40 characters are enough for the neighbouring words, and the text may be long
    around = text[max(0, start - 40) : start].split()[-1:] + text[start : start + 40].split()[:1]
    is_upper = len(around) == 2 and all(word.isupper() and len(word) > 1 for word in around)
    return f"{chosen.upper() if is_upper else chosen} " if chosen else ""


def follow_case(replacement: str, observed: str) -> str:
    """Return `replacement` in the case of `observed`: all capitals, an initial capital, or unchanged."""
    letters = [character for character in observed if character.isalpha()]
    if len(letters) > 1 and all(character.isupper() for character in letters):
        return replacement.upper()
    is_pronoun = observed.split()[:1] == ["I"] and "I" in replacement.split()  # "never I have": "have I"
    if letters and letters[0].isupper() and not is_pronoun:
        return replacement[:1].upper() + replacement[1:]
    return replacement
