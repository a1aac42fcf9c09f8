"""``/explain``: why a word is flagged, in a sentence, and by what was counted. For the page, on a click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from disambig.formats.jsonl.format import to_json
from disambig.plural import many
from disambig.server.checker import Checker
from disambig.server.languagetool.request import check_text, json_of
from disambig.server.languagetool.rules import rule_of
from disambig.server.refusals import unclear

if TYPE_CHECKING:
    from disambig.explaining.reasons import Reason
    from disambig.model.model import Model
    from disambig.text.view import TokenView

MOST_CANDIDATES = 5
MOST_COUNTS = 3
LONGEST = 20_000
"""Characters of the text around a place."""


@dataclass(frozen=True, slots=True)
class Counted:
    """An n-gram with what was chosen in it, and the same with what was written.

    Attributes
    ----------
    words, other_words : str
    count, other_count : int
        How often each was seen.
    exact : bool
        Whether the second was seen just so often, or at most.
    """

    words: str
    count: int
    other_words: str
    other_count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class ReasonsRequest:
    """A request that was understood: a text, and a place in it where a rule was broken."""

    text: str
    start: int
    end: int
    rule: str


def reasons_request(body: bytes, *, max_text: int) -> ReasonsRequest:
    """Return what a body asks for: ``{"text": ..., "start": ..., "end": ..., "rule": ...}``.

    Raises
    ------
    UserError
        D883 for what makes no sense, D885 for a text that is too long.
    """
    found = json_of(body, "the body")
    if not isinstance(found, dict):
        raise unclear("the body is no object")
    text, start, end, rule = (found.get(key) for key in ("text", "start", "end", "rule"))
    if not isinstance(text, str) or not isinstance(rule, str):
        raise unclear("'text' and 'rule' must be strings")
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in (start, end)):
        raise unclear("'start' and 'end' must be whole numbers: offsets in characters")
    if not 0 <= start <= end <= len(text):  # type: ignore[operator]
        raise unclear(f"'start' and 'end' must lie in the text, from 0 to {len(text):,}")
    return ReasonsRequest(check_text(text, max_text=min(max_text, LONGEST)), start, end, rule)  # type: ignore[arg-type]


def reasons(request: ReasonsRequest, checker: Checker) -> bytes:
    """Return the reasons of the surest decision in a place as JSON.

    Raises
    ------
    UserError
        D883 where nothing is decided in that place.
    """
    import numpy as np

    from disambig.text.documents import view_of_texts

    named = {rule_of(model.task).id: model for model in checker.models.values()}
    model = named.get(request.rule)
    if model is None:
        raise unclear(f"no rule {request.rule[:40]!r} checks here: there are {', '.join(named)}")
    view = view_of_texts([request.text], model.tokenisation, protected=True)
    decisions = model.decide(view, flags_per_1000=checker.rates[model.task.name])
    inside = (decisions.starts >= request.start) & (decisions.ends <= request.end)
    if not inside.any():
        raise unclear(f"{request.rule} decides nothing at {request.start}-{request.end}")
    index = int(np.where(inside, decisions.probabilities, -1.0).argmax())
    record, one = decisions.record(index, request.text), decisions.slice(index, index + 1)
    shares = model.candidate_probabilities(one)
    names, observed = one.candidates_of(0), int(one.observed[0])
    fits = dict(zip(names, [0.0] * len(names) if shares is None else shares.tolist(), strict=True))
    written = names[observed] if observed >= 0 else ""
    best = [name for name, _ in record["candidates"]][:MOST_CANDIDATES]
    best += [name for name in dict.fromkeys((record["chosen"], written)) if name not in best]
    counted = _counted(model, view, index, record["chosen"], written)
    return to_json(
        {
            "reason": _said(record["chosen"], written, counted),
            "probability": record["probability"],
            "candidates": [{"candidate": name, "probability": round(fits[name], 4)} for name in best],
            "counts": [asdict(each) for each in counted],
            "found": record["found"],
            "asked": record["asked"],
            "model": record["model"],
        }
    )


def _counted(model: Model, view: TokenView, index: int, chosen: str, written: str) -> list[Counted]:
    """Return the n-grams that speak most for what was chosen, the strongest first."""
    from disambig.explaining.reasons import explain

    parts = explain(model, view, index) or []
    theirs = {_around(each, written): each for each in parts if each.candidate == written}
    found = []
    for each in parts:
        around = _around(each, chosen)
        other = theirs.get(around)
        if each.candidate != chosen or around is None or other is None or not each.count:
            continue
        if other.count is None or other.count >= each.count or not (other.count or other.least):
            continue
        less = other.count or ((other.least or 1) - 1)
        exact = bool(other.count) or not less
        found.append(Counted(each.evidence, each.count, other.evidence, less, exact))
    found.sort(key=lambda each: -(each.count + 1) / (each.other_count + 1))
    return list({each.words: each for each in reversed(found)}.values())[::-1][:MOST_COUNTS]


def _around(part: Reason, candidate: str) -> tuple[str, ...] | None:
    """Return an n-gram with a mark for its candidate; None where it has none, or goes to a sentence's end."""
    if part.count is None or "<S>" in part.evidence or "</S>" in part.evidence:
        return None
    words, own = part.evidence.split(), candidate.lower().split()
    for at in range(len(words) - len(own) + 1):
        if own and words[at : at + len(own)] == own:
            return (*words[:at], "_", *words[at + len(own) :])
    return None


def _said(chosen: str, written: str, counted: Sequence[Counted]) -> str:
    if counted:
        first = counted[0]
        rarely = f"{first.other_count:,}" if first.exact else f"at most {first.other_count:,}"
        return (
            f"“{first.words}” was counted {many(first.count, 'time')} in the text behind the model, "
            f"“{first.other_words}” {rarely}."
        )
    if not written:
        return f"With “{chosen}” the words around fit together better than without a word."
    if not chosen:
        return f"Without “{written}” the words around fit together better."
    return f"“{chosen}” fits the words around better than “{written}” does."
