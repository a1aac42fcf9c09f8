"""What was decided in the parts of a text: kept by what they were decided from, joined for the whole.

Only decisions that raise a flag are kept, for nothing else is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from disambig.batch.annotation import joined
from disambig.checking.live.paragraphs import Part

if TYPE_CHECKING:
    from disambig.batch.sources import Annotate
    from disambig.data.decisions import Decisions

AT_ONCE = 50_000
"""Characters decided together; then somebody may say that it is not wanted any more."""
_Key = tuple[str, int, int]
"""A part with the parts around it, and where in that it begins and ends."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """The decisions of each task that raise a flag in a part; none at all where no task has any."""

    decisions: tuple[Decisions, ...] = ()
    start: int = 0
    """Where the part begins in what the offsets count in."""


_NOTHING = _Raised()


class Decided:
    """Decides one text again and again, and keeps what the last time came to.

    Parameters
    ----------
    annotate : Annotate
        The models.
    """

    def __init__(self, annotate: Annotate) -> None:
        self._annotate = annotate
        self._known: dict[_Key, _Raised] = {}

    def of(self, text: str, parts: Sequence[Part], stop: Callable[[], bool]) -> Sequence[Decisions] | None:
        """Return the decisions of each task that raise a flag; None where `stop` told to leave it.

        Parameters
        ----------
        stop : callable
            Asked after every `AT_ONCE` characters; what was decided by then is kept.
        """
        keys = [
            (text[part.first : part.last], part.start - part.first, part.end - part.first) for part in parts
        ]
        known = {key: self._known[key] for key in keys if key in self._known}
        unknown = [number for number, key in enumerate(keys) if key not in known]
        for numbers in _batches(parts, unknown):
            if stop():
                self._known |= known
                return None
            self._decide(
                text, [parts[number] for number in numbers], [keys[number] for number in numbers], known
            )
        self._known = known
        pieces = [
            (raised.decisions, part.start - raised.start)
            for key, part in zip(keys, parts, strict=True)
            if (raised := known[key]).decisions
        ]
        return joined(pieces) if pieces else ()

    def _decide(
        self, text: str, parts: Sequence[Part], keys: Sequence[_Key], known: dict[_Key, _Raised]
    ) -> None:
        """Decide some parts: those that touch as one document."""
        stretches = _stretches(parts)
        documents = [text[parts[rows[0]].first : parts[rows[-1]].last] for rows in stretches]
        found = self._annotate(documents)
        for number, rows in enumerate(stretches):
            base = parts[rows[0]].first
            own = [decisions.of_document(number) for decisions in found]
            raised = [each.take(np.flatnonzero(each.raised)) for each in own]
            for row in rows:
                start, end = parts[row].start - base, parts[row].end - base
                known[keys[row]] = _within(raised, start, end)


def _within(raised: Sequence[Decisions], start: int, end: int) -> _Raised:
    rows = [np.flatnonzero((each.starts >= start) & (each.starts < end)) for each in raised]
    if not any(map(len, rows)):
        return _NOTHING
    return _Raised(tuple(each.take(at) for each, at in zip(raised, rows, strict=True)), start)


def _batches(parts: Sequence[Part], numbers: Sequence[int]) -> list[list[int]]:
    batches: list[list[int]] = []
    held = AT_ONCE
    for number in numbers:
        if held >= AT_ONCE:
            batches.append([])
            held = 0
        batches[-1].append(number)
        held += parts[number].end - parts[number].start
    return batches


def _stretches(parts: Sequence[Part]) -> list[range]:
    """Return the numbers of parts that touch each other, together."""
    stretches: list[range] = []
    for number, part in enumerate(parts):
        if stretches and parts[number - 1].end == part.start:
            stretches[-1] = range(stretches[-1].start, number + 1)
        else:
            stretches.append(range(number, number + 1))
    return stretches
