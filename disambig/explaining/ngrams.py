"""The n-grams behind one flag: those with the word that is written beside those with the word proposed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from disambig.explaining.reasons import Reason, explain
from disambig.model.model import Model
from disambig.text.documents import view_of_texts
from disambig.text.hashing import NOTHING
from disambig.text.view import SENTENCE_END, SENTENCE_START

NO_WORD = "_"
"""A place without a word, for people."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Two n-grams of the same place.

    Attributes
    ----------
    written, proposed : str
    written_count, proposed_count : int
        How often each was seen; 0 where the table does not have it.
    least : int, optional
        How often the first must have been seen to be in the table; None where nobody says it.
    """

    written: str
    written_count: int
    proposed: str
    proposed_count: int
    least: int | None = 1

    @property
    def speaks(self) -> float:
        """How much they speak for what is proposed: the logarithm of the ratio of their counts."""
        return math.log((self.proposed_count + 0.5) / (self.written_count + 0.5))

    @property
    def at_most(self) -> int | None:
        """How often the first was seen, at most; None where nobody knows."""
        return self.written_count or (None if self.least is None else max(self.least - 1, 0))


def ngrams_beside(model: Model, text: str, start: int, end: int, proposed: str) -> list[Beside]:
    """Return the n-grams of a place that were seen, the shorter first; none where the model asks for none.

    Parameters
    ----------
    model : Model
        Which decides there.
    text : str
        Without markup, what is around the place.
    start, end : int
        The place, as offsets into `text`.
    proposed : str
        A candidate of the place.
    """
    view = view_of_texts([text], model.tokenisation, protected=True)
    instances = model.instances(view)
    last = instances.positions + instances.lengths - 1
    starts = view.starts[instances.positions]
    ends = np.where(instances.lengths > 0, view.ends[last], starts)
    at = np.flatnonzero((starts == start) & (ends == end))
    if not len(at):
        return []
    index, own = int(at[0]), instances.own
    names = model.task.groups[instances.groups[index]].candidates if own is None else own.of_instance(index)
    observed = int(instances.observed[index])
    reasons = explain(model, view, index)
    if reasons is None or observed < 0:
        return []
    return beside_of(reasons, names[observed], proposed)


def beside_of(reasons: Sequence[Reason], written: str, proposed: str) -> list[Beside]:
    """Return the n-grams of a place that were seen, of the parts of its candidates' scores.

    Parameters
    ----------
    reasons : sequence of Reason
        As `disambig.explaining.reasons.explain` returns them.
    written, proposed : str
        Candidates of the place.
    """
    proposals = {each.attribute: each for each in counted(reasons, proposed)}
    pairs = ((one, proposals.get(one.attribute)) for one in counted(reasons, written))
    return [
        Beside(one.evidence, one.count or 0, other.evidence, other.count or 0, one.least)
        for one, other in pairs
        if other is not None and (one.count or other.count)
    ]


def strongest(beside: Sequence[Beside], most: int) -> list[Beside]:
    """Return those that speak for what is proposed, the strongest first, `most` at most.

    Those that reach beyond the sentence are left out: people would have to know how its ends are written.
    """
    found = [each for each in beside if each.proposed_count > each.written_count and _in_sentence(each)]
    return sorted(found, key=lambda each: -each.speaks)[:most]


def _in_sentence(beside: Beside) -> bool:
    return not {SENTENCE_START, SENTENCE_END} & {*beside.written.split(), *beside.proposed.split()}


def sentence(beside: Sequence[Beside]) -> str:
    """Say which n-grams speak most for what is proposed; "" where none does."""
    first = strongest(beside, 1)
    if not first:
        return ""
    most = first[0]
    seen = f"only {most.written_count:,} times" if most.written_count > 1 else "only once"
    if not most.written_count:  # what was seen too seldom is not kept
        seen = (
            "never" if most.least == 1 else f"fewer than {most.least} times" if most.least else "was not kept"
        )
    often = f'"{most.proposed}" was seen {most.proposed_count:,} times in the counted text'
    return f'{often}, "{most.written}" {seen}.'


def counted(reasons: Sequence[Reason], candidate: str) -> list[Reason]:
    """Return what was counted of a candidate, each n-gram once: of two counts of one that of the first table.

    Where no word stands between the others, `NO_WORD` is shown.
    """
    found: dict[str, Reason] = {}
    for reason in reasons:
        if reason.candidate == candidate and reason.count is not None:
            shown = " ".join(NO_WORD if word == NOTHING else word for word in reason.evidence.split(" "))
            found.setdefault(shown, replace(reason, evidence=shown))
    return list(found.values())
