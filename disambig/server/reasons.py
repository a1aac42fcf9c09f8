"""``/explain``: why a word is flagged, in a sentence, and by what was counted. For the page, on a click."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from disambig.formats.jsonl.format import to_json
from disambig.server.checker import Checker
from disambig.server.languagetool.request import check_text, json_of
from disambig.server.languagetool.rules import rule_of
from disambig.server.refusals import unclear

if TYPE_CHECKING:
    from disambig.explaining.ngrams import Beside

MOST_CANDIDATES = 5
MOST_COUNTS = 3
LONGEST = 20_000
"""Characters of the text around a place."""


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

    from disambig.explaining.ngrams import beside_of, sentence, strongest
    from disambig.explaining.reasons import explain
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
    beside = beside_of(explain(model, view, index) or [], written, record["chosen"])
    known = [each for each in beside if each.at_most is not None]
    return to_json(
        {
            "reason": sentence(beside) or _fits(record["chosen"], written),
            "probability": record["probability"],
            "candidates": [{"candidate": name, "probability": round(fits[name], 4)} for name in best],
            "counts": [_as_json(each) for each in strongest(known, MOST_COUNTS)],
            "found": record["found"],
            "asked": record["asked"],
            "model": record["model"],
        }
    )


def _as_json(beside: Beside) -> dict[str, Any]:
    """Return an n-gram with what was chosen in it, and the same with what was written, and their counts.

    ``exact`` says whether the second was seen just so often, or at most.
    """
    return {
        "words": beside.proposed,
        "count": beside.proposed_count,
        "other_words": beside.written,
        "other_count": beside.at_most,
        "exact": bool(beside.written_count) or not beside.at_most,
    }


def _fits(chosen: str, written: str) -> str:
    """Say that something fits better where no n-gram says so."""
    if not written:
        return f"With “{chosen}” the words around fit together better than without a word."
    if not chosen:
        return f"Without “{written}” the words around fit together better."
    return f"“{chosen}” fits the words around better than “{written}” does."
