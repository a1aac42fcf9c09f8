"""Scores, predictions and decisions, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import CandidateLists, Instances
from disambig.data.precision import PrecisionTable
from disambig.data.segments import take_rows

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBatch:
    """Scores of some instances of one group, and what a judge may want to know beside them.

    Attributes
    ----------
    group : Group
    number : int
        Index of the group in its task.
    offsets : array of int64, shape (n + 1,)
    scores : array of float64, shape (n_candidates,)
    observed : array of int32, shape (n,)
        See `disambig.data.instances`.
    found, asked : arrays of int32, shape (n_candidates,)
    cost : array of float32, shape (n_candidates,)
        Of examples: what each candidate costs.
    own : CandidateLists, optional
        The candidates, where each instance has its own.
    neighbours : array of uint64, shape (n, 2), optional
        Hashes of the words before and after, where the judge asks for them (``sees_beside``).
    parts : array of float32, shape (n_candidates, P), optional
        What each group of features adds to the scores, where the judge asks for it (``sees_parts``).
    """

    group: Group
    number: int
    offsets: NDArray[np.int64]
    scores: Floats
    observed: NDArray[np.int32]
    found: NDArray[np.int32]
    asked: NDArray[np.int32]
    cost: NDArray[np.float32]
    own: CandidateLists | None = None
    neighbours: NDArray[np.uint64] | None = None
    parts: NDArray[np.float32] | None = None

    def take(self, index: NDArray[np.int64]) -> ScoreBatch:
        """Return the scores of some of the instances."""
        rows, offsets = take_rows(self.offsets, index)
        return ScoreBatch(
            self.group,
            self.number,
            offsets,
            self.scores[rows],
            self.observed[index],
            self.found[rows],
            self.asked[rows],
            self.cost[rows],
            None if self.own is None else self.own.take(index),
            None if self.neighbours is None else self.neighbours[index],
            None if self.parts is None else self.parts[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What a judge makes of scores, an entry an instance.

    Attributes
    ----------
    chosen : array of int64
        Candidate, as an index in its group or list.
    margins, probabilities : arrays of float64
        See `disambig.data.decisions.Decisions`.
    flagged : array of bool
        Whether the user is to be told.
    answered : array of bool
        Whether the judge gives an answer at all.
    """

    chosen: NDArray[np.int64]
    margins: Floats
    probabilities: Floats
    flagged: NDArray[np.bool_]
    answered: NDArray[np.bool_]


Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a less sure task would have put where a flag stands.

    Attributes
    ----------
    task : str
    start, end : int
        Offsets into the document's original text: the place need not be that of the flag.
    chosen : str
        The candidate.
    probability : float
    """

    task: str
    start: int
    end: int
    chosen: str
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class OverlapResolution:
    """Flags of one task that overlap others.

    Attributes
    ----------
    lost : array of int64
        Decisions, ascending, that would be flagged if no other were surer.
    won : array of int64, shape (m,)
        The flagged decision that each alternative stands behind, ascending.
    alternatives : tuple of Alternative, length m
        The surest of a decision first.
    """

    lost: Rows
    won: Rows
    alternatives: tuple[Alternative, ...]

    def decision_alternatives(self, decision: int) -> tuple[Alternative, ...]:
        """Return the alternatives of one decision."""
        first, last = np.searchsorted(self.won, (decision, decision + 1)).tolist()
        return self.alternatives[first:last]

    def slice(self, first: int, last: int) -> OverlapResolution | None:
        """Return what concerns the decisions `first` to `last` (exclusive); None where nothing does."""
        low, high = np.searchsorted(self.won, (first, last)).tolist()
        lost = self.lost[slice(*np.searchsorted(self.lost, (first, last)))]
        if low == high and not len(lost):
            return None
        return OverlapResolution(lost - first, self.won[low:high] - first, self.alternatives[low:high])

    def take(self, rows: Rows) -> OverlapResolution | None:
        """Return what concerns some of the decisions, in the order of `rows`; None where nothing does."""
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


def join_resolutions(parts: Sequence[tuple[OverlapResolution | None, int, int]]) -> OverlapResolution | None:
    """Return one of pieces of a text: each with its number of decisions and its offset in the text."""
    lost: list[Rows] = []
    won: list[Rows] = []
    alternatives: list[Alternative] = []
    before = 0
    for settled, n, offset in parts:
        if settled is not None:
            lost.append(settled.lost + before)
            won.append(settled.won + before)
            alternatives += [
                Alternative(
                    alternative.task,
                    alternative.start + offset,
                    alternative.end + offset,
                    alternative.chosen,
                    alternative.probability,
                )
                for alternative in settled.alternatives
            ]
        before += n
    return OverlapResolution(np.concatenate(lost), np.concatenate(won), tuple(alternatives)) if lost else None


LONGEST_SEEN = 200
"""Characters of a place that a record repeats."""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The decisions of one task over a batch of documents, in document order.

    Attributes
    ----------
    task : str
        What is decided, such as ``"preposition"``.
    model : str
        Name and version of the model that decided.
    table : tuple of Group
        The candidate lists; `groups` indexes it.
    documents : array of int32, shape (n,)
        Index of the document in the batch.
    starts, ends : arrays of int32, shape (n,)
        Character offsets into the document's original text; equal for an empty place, which is where
        the word after it begins.
    groups, observed, chosen : arrays of int32, shape (n,)
        Group, candidate in the text (-1: none) and candidate with the highest score, as indices.
    offsets : array of int64, shape (n + 1,)
        Where each decision's candidates lie in `scores`.
    scores : array of float32, shape (n_candidates,)
    margins : array of float32, shape (n,)
        Score of the chosen candidate above the next best, in the model's units.
    probabilities : array of float32, shape (n,)
        Calibrated probability that the best other candidate should stand where the observed does; of
        labels, that the chosen one is right.
    flagged : array of bool, shape (n,)
        Whether `probabilities` passes the operating point, with evidence, and no other task is surer of
        another edit in the same place (see `disambig.decision.overlaps`).
    found, asked : arrays of int32, shape (n,)
        Coverage: how many of the n-grams asked for the table holds.
    own : CandidateLists, optional
        The candidates, where each decision has its own.
    settled : Settled, optional
        Flags that overlap those of other decisions: what lost its place, and to what.
    trust : Trust, optional
        How often flags of this model were right, where that was measured.
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
    found: NDArray[np.int32]
    asked: NDArray[np.int32]
    own: CandidateLists | None = None
    settled: OverlapResolution | None = None
    trust: PrecisionTable | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def in_document(self, document: int) -> Decisions:
        """Return the decisions of one document of the batch (views, nothing is copied)."""
        first, last = np.searchsorted(self.documents, (document, document + 1))
        return self.slice(int(first), int(last))

    def slice(self, first: int, last: int) -> Decisions:
        """Return decisions `first` to `last` (exclusive)."""
        low, high = self.offsets[first], self.offsets[last]
        columns = {name: getattr(self, name)[first:last] for name in _COLUMNS}
        return Decisions(
            task=self.task,
            model=self.model,
            table=self.table,
            offsets=self.offsets[first : last + 1] - low,
            scores=self.scores[low:high],
            own=None if self.own is None else self.own.take(slice(first, last)),
            settled=None if self.settled is None else self.settled.slice(first, last),
            trust=self.trust,
            **columns,
        )

    @property
    def raised(self) -> NDArray[np.bool_]:
        """Which decisions would be flagged if no other were surer of the same place."""
        if self.settled is None:
            return self.flagged
        raised = self.flagged.copy()
        raised[self.settled.lost] = True
        return raised

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Which decisions are to be shown: all but those that an empty place stays empty."""
        return (self.starts < self.ends) | (self.chosen != self.observed)

    def without_empty(self) -> Decisions:
        """Return the decisions that are `noted`: a text has more empty places than words to decide."""
        return self if self.shown.all() else self.take(np.flatnonzero(self.shown))

    def take(self, rows: NDArray[np.int64]) -> Decisions:
        """Return some of the decisions, in the order of `rows`."""
        at, offsets = take_rows(self.offsets, rows)
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return Decisions(
            task=self.task,
            model=self.model,
            table=self.table,
            offsets=offsets,
            scores=self.scores[at],
            own=None if self.own is None else self.own.take(rows),
            settled=None if self.settled is None else self.settled.take(rows),
            trust=self.trust,
            **columns,
        )

    def places(self) -> Instances:
        """Return the decisions as instances, numbered, of which only the candidates are known."""
        n = len(self)
        return Instances(np.arange(n), np.zeros(n, np.int32), self.groups, self.observed, self.own)

    def candidate_texts(self, index: int) -> tuple[str, ...]:
        """Return the candidates of one decision: those of its group, or its own."""
        if self.own is not None:
            return self.own.instance_candidates(index)
        return self.table[self.groups[index]].candidates

    @property
    def glossed(self) -> bool:
        """Whether candidates have glosses: then all records have one, empty where there is none."""
        return any(group.glosses for group in self.table)

    def record(self, index: int, text: str) -> dict[str, Any]:
        """Return one decision as plain values; `text` is the document's original text."""
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
            **self.alternatives(index, text),
            "probability": round(float(self.probabilities[index]), 6),
            "margin": json_margin(float(self.margins[index])),
            "candidates": tuple((candidates[i], round(float(self.scores[low + i]), 4)) for i in order),
            **self.source_record(index),
            "found": int(self.found[index]),
            "asked": int(self.asked[index]),
            "model": self.model,
        }

    def alternatives(self, index: int, text: str) -> dict[str, Any]:
        """Return what else was proposed in the place of a flag, the surest first; nothing where none is."""
        if not self.flagged[index]:
            return {}
        alternatives = () if self.settled is None else self.settled.decision_alternatives(index)
        return {"alternatives": tuple(_alternative(alternative, text) for alternative in alternatives)}

    def source_record(self, index: int) -> dict[str, Any]:
        """Return what the source of a list said of the chosen candidate: its base score, its rank from 0."""
        if self.own is None:
            return {}
        at = self.own.offsets[index] + self.chosen[index]
        return {"base": round(float(self.own.scores[at]), 4), "rank": int(self.own.ranks[at])}


_COLUMNS = (
    "documents",
    "starts",
    "ends",
    "groups",
    "observed",
    "chosen",
    "margins",
    "probabilities",
    "flagged",
    "found",
    "asked",
)


def _alternative(other: Alternative, text: str) -> dict[str, Any]:
    """Return what a less sure task proposed, as plain values."""
    return {
        "task": other.task,
        "start": other.start,
        "end": other.end,
        "replacement": replacement(other.chosen, text, other.start, other.end),
        "probability": round(other.probability, 6),
    }


def json_margin(margin: float) -> float | None:
    """Return a margin as records have it; None for an only candidate, which leads no other."""
    return round(margin, 4) if margin < np.inf else None


def excerpt(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]``, of a long place (a whole document) its beginning."""
    return text[start:end] if end - start <= LONGEST_SEEN else f"{text[start : start + LONGEST_SEEN]} ..."


def candidate_gloss(group: Group, chosen: int) -> str:
    """Return a candidate's gloss, empty where its group has none."""
    return group.glosses[chosen] if group.glosses else ""


def replacement(chosen: str, text: str, start: int, end: int) -> str:
    """Return what `chosen` is in the place of ``text[start:end]``.

    In an empty place, which is before a word, it gets a space behind it; capitals between capitals only.
    """
    if start < end:
        return follow_case(chosen, text[start:end])
    around = text[max(0, start - 40) : start].split()[-1:] + text[start : start + 40].split()[:1]
    loud = len(around) == 2 and all(word.isupper() and len(word) > 1 for word in around)
    return f"{chosen.upper() if loud else chosen} " if chosen else ""


def follow_case(replacement: str, observed: str) -> str:
    """Return `replacement` in the case of `observed`: all capitals, a capital first, or as it is."""
    letters = [character for character in observed if character.isalpha()]
    if len(letters) > 1 and all(character.isupper() for character in letters):
        return replacement.upper()
    if letters and letters[0].isupper():
        return replacement[:1].upper() + replacement[1:]
    return replacement
