"""Decisions: what was chosen and why, by columns; a record (a dict) is made only when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.rows import rows_of
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.data.settled import Alternative, Settled
from disambig.data.trust import Trust

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
        another edit in the same place (see `disambig.model.one_place`).
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
    settled: Settled | None = None
    trust: Trust | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def of_document(self, document: int) -> Decisions:
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
        found = self.flagged.copy()
        found[self.settled.lost] = True
        return found

    @property
    def noted(self) -> NDArray[np.bool_]:
        """Which decisions are to be shown: all but those that an empty place stays empty."""
        return (self.starts < self.ends) | (self.chosen != self.observed)

    def without_empty(self) -> Decisions:
        """Return the decisions that are `noted`: a text has more empty places than words to decide."""
        return self if self.noted.all() else self.take(np.flatnonzero(self.noted))

    def take(self, rows: NDArray[np.int64]) -> Decisions:
        """Return some of the decisions, in the order of `rows`."""
        at, offsets = rows_of(self.offsets, rows)
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

    def candidates_of(self, index: int) -> tuple[str, ...]:
        """Return the candidates of one decision: those of its group, or its own."""
        if self.own is not None:
            return self.own.of_instance(index)
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
        observed = seen(text, start, end)
        candidates = self.candidates_of(index)
        chosen = candidates[self.chosen[index]]
        order = np.argsort(-self.scores[low:high], kind="stable")
        return {
            "task": self.task,
            "group": group.name,
            "start": start,
            "end": end,
            "observed": observed,
            "chosen": chosen,
            **({"gloss": gloss_of(group, int(self.chosen[index]))} if self.glossed else {}),
            "replacement": observed
            if self.observed[index] in (-1, self.chosen[index])
            else replacement(chosen, text, start, end),
            "flagged": bool(self.flagged[index]),
            **self.alternatives_of(index, text),
            "probability": round(float(self.probabilities[index]), 6),
            "margin": margin_of(float(self.margins[index])),
            "candidates": tuple((candidates[i], round(float(self.scores[low + i]), 4)) for i in order),
            **self.source_of(index),
            "found": int(self.found[index]),
            "asked": int(self.asked[index]),
            "model": self.model,
        }

    def alternatives_of(self, index: int, text: str) -> dict[str, Any]:
        """Return what else was proposed in the place of a flag, the surest first; nothing where none is."""
        if not self.flagged[index]:
            return {}
        found = () if self.settled is None else self.settled.of(index)
        return {"alternatives": tuple(_alternative(each, text) for each in found)}

    def source_of(self, index: int) -> dict[str, Any]:
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


def margin_of(margin: float) -> float | None:
    """Return a margin as records have it; None for an only candidate, which leads no other."""
    return round(margin, 4) if margin < np.inf else None


def seen(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]``, of a long place (a whole document) its beginning."""
    return text[start:end] if end - start <= LONGEST_SEEN else f"{text[start : start + LONGEST_SEEN]} ..."


def gloss_of(group: Group, chosen: int) -> str:
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
