"""What may stand where a flag is: what is proposed, what other tasks propose, and who came next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from disambig.batch.sources import Annotator
from disambig.checking.flags import Flag, as_written

if TYPE_CHECKING:
    from disambig.batch.sources import Annotate
    from disambig.data.decisions import Decisions

LEAST = 0.02
"""A candidate that is less probable is not named."""
MOST = 5
_Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may stand there.

    Attributes
    ----------
    text : str
        "" for no word.
    probability : float
        That it should stand there.
    edit : (start, end, text)
        The change that puts it there.
    """

    text: str
    probability: float
    edit: _Edit


def candidates_of(
    flags: Sequence[Flag], decisions: Sequence[Decisions], text: str, annotate: Annotate
) -> list[list[Candidate]]:
    """Return the candidates of each flag, what is proposed first, no two that come to the same.

    Parameters
    ----------
    decisions : sequence of Decisions
        A task each, the flags among them.
    text : str
        The text as it stands in its file.
    annotate : Annotate
        What decided; models that are no `disambig.batch.sources.Annotator` name no runners-up.
    """
    models = {each.task.name: each for each in annotate.models} if isinstance(annotate, Annotator) else {}
    raised = {each.task: each.take(np.flatnonzero(each.flagged)) for each in decisions}
    rows = {
        (task, *place): row
        for task, each in raised.items()
        for row, place in enumerate(zip(each.starts.tolist(), each.ends.tolist(), strict=True))
    }
    shares: dict[str, Any] = {}
    found = []
    for flag in flags:
        listed = [Candidate(flag.replacement, flag.probability, flag.edit)]
        listed += [_alternative(each, text) for each in flag.alternatives]
        row = rows.get((flag.task, flag.start, flag.end))
        if row is not None and flag.task in models:
            if flag.task not in shares:
                shares[flag.task] = models[flag.task].candidate_probabilities(raised[flag.task])
            if shares[flag.task] is not None:
                runners = _runners_up(raised[flag.task], row, shares[flag.task], text)
                listed += [replace(each, probability=each.probability * flag.probability) for each in runners]
        found.append([listed[0], *(each for each in _each_once(listed)[1:MOST] if each.probability >= LEAST)])
    return found


def _each_once(candidates: Sequence[Candidate]) -> list[Candidate]:
    found: dict[_Edit, Candidate] = {}
    for each in candidates:
        found.setdefault(each.edit, each)
    return list(found.values())


def _alternative(other: dict[str, Any], text: str) -> Candidate:
    edit = _edit(other["start"], other["end"], other["replacement"], text)
    return Candidate(other["replacement"].strip(), other["probability"], edit)


def _runners_up(decisions: Decisions, row: int, shares: Any, text: str) -> list[Candidate]:
    """Return the most probable candidates, each with its share in all but what stands there."""
    from disambig.data.decisions import replacement

    first, stop = decisions.offsets[row : row + 2].tolist()
    start, end, observed = int(decisions.starts[row]), int(decisions.ends[row]), int(decisions.observed[row])
    own = np.array(shares[first:stop], np.float64)
    if observed >= 0:
        own[observed] = 0.0
    own /= own.sum() or 1.0
    names = decisions.candidates_of(row)
    found = []
    for number in np.argsort(-own, kind="stable").tolist()[: MOST + 1]:
        new = as_written(replacement(names[number], text, start, end), text)
        if new != text[start:end]:
            found.append(Candidate(new.strip(), float(own[number]), _edit(start, end, new, text)))
    return found


def _edit(start: int, end: int, new: str, text: str) -> _Edit:
    from disambig.formats.edits import edit_of

    made = edit_of({"start": start, "end": end, "observed": text[start:end], "replacement": new}, text)
    return made["start"], made["end"], made["replacement"]
