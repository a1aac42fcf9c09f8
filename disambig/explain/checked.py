"""What several models decide in a text together, and which of their flags a check does not raise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from disambig.data import Decisions, replacement
from disambig.decision import is_correction_task
from disambig.explain.contributions import show_candidate
from disambig.models import DroppedFlag, Model, ModelSet, decide_together
from disambig.text import TokenView, view_of_texts
from disambig.types import RaisesFlags


@dataclass(frozen=True, slots=True, eq=False)
class CheckedDecisions:
    """The decisions of one of several models that decide a text together."""

    decisions: Decisions  # at the rate of the model, before overlaps are resolved and flags are verified
    unlimited: Decisions  # at an unlimited rate
    # for each flag of `decisions` that a check does not raise as it is, by its row: the reason, as a sentence
    remarks: Mapping[int, str]


def check_together(
    text: str, models: Sequence[Model], rates: Mapping[str, float]
) -> dict[int, CheckedDecisions]:
    """Return what models decide together, as `disambig check` does, by the index of the model.

    Models that do not correct words are left out.

    Parameters
    ----------
    rates : mapping of str to float
        See `disambig.models.ModelSet`.
    """
    numbers = [i for i, model in enumerate(models) if _corrects(model)]
    correcting = tuple(models[i] for i in numbers)
    model_set = ModelSet(correcting, rates, detect_language=False)
    views: dict[str, TokenView] = {}
    for model in correcting:
        if model.tokenisation.name not in views:
            views[model.tokenisation.name] = view_of_texts([text], model.tokenisation, protected=True)
    model_views = [views[model.tokenisation.name] for model in correcting]
    decided = decide_together(correcting, model_views, [rates.get(model.task.name) for model in correcting])
    # at its own rate a rule may skip the probabilities of places that it will not flag
    unlimited = decide_together(correcting, model_views, [float("inf")] * len(correcting))
    dropped: dict[tuple[int, int], DroppedFlag] = {}
    raised = model_set.verify(decided, [text], neighbours=True, dropped=dropped)
    checked = {}
    for i, number in enumerate(numbers):
        flagged = decided[i].flagged.nonzero()[0].tolist()
        remarks = {row: _remark(text, raised, i, row, decided[i], dropped.get((i, row))) for row in flagged}
        checked[number] = CheckedDecisions(
            replace(decided[i], probabilities=unlimited[i].probabilities),
            unlimited[i],
            {row: remark for row, remark in remarks.items() if remark},
        )
    return checked


def _corrects(model: Model) -> bool:
    return is_correction_task(model.task) and isinstance(model.judge, RaisesFlags)


def _remark(
    text: str,
    raised: Sequence[Decisions],
    task: int,
    row: int,
    decided: Decisions,
    reason: DroppedFlag | None,
) -> str:
    """Return why a check does not raise a flag as it was decided; empty if it does."""
    verified, proposed = raised[task], int(decided.chosen[row])
    if verified.flagged[row]:
        if int(verified.chosen[row]) == proposed:
            return ""
        return f"check proposes {_correction(text, verified, row)}, on which all tasks agree"
    if winner := _winner(raised, task, row):
        other, other_row = winner
        correction = _correction(text, raised[other], other_row)
        name = raised[other].task
        if correction == _correction(text, decided, row):
            return f"check raises this flag once, for the task {name}, which is more certain"
        return f"check raises a more certain flag here: {correction}, of the task {name}"
    if reason and reason.explained_by:
        corrected = _join(reason.explained_by)
        return f"check drops this flag: with the surer {corrected} corrected, nothing is wrong here"
    if reason and reason.corrected_again:
        again = _join(reason.corrected_again)
        return f"check drops this flag: in the corrected text, the models would correct {again}"
    return "check drops this flag: the models do not agree with the corrected text"


def _winner(raised: Sequence[Decisions], task: int, row: int) -> tuple[int, int] | None:
    """Return the task and row of the flag against which another one lost; None if it did not lose."""
    lost = raised[task]
    place = lost.task, int(lost.starts[row]), int(lost.ends[row])
    for number, decisions in enumerate(raised):
        settled = decisions.settled
        for winner, other in zip(settled.won.tolist(), settled.alternatives, strict=True) if settled else ():
            if (other.task, other.start, other.end) == place:
                return number, winner
    return None


def _correction(text: str, decisions: Decisions, row: int) -> str:
    start, end = int(decisions.starts[row]), int(decisions.ends[row])
    chosen = decisions.candidate_texts(row)[decisions.chosen[row]]
    return _join([(text[start:end], replacement(chosen, text, start, end).strip())])


def _join(corrections: Sequence[tuple[str, str]]) -> str:
    return " and ".join(f"{_quoted(written)} -> {_quoted(new)}" for written, new in corrections)


def _quoted(word: str) -> str:
    return f'"{word}"' if word else show_candidate("")
