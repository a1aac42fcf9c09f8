"""Explain each decision in a text: its place, verdict, candidates and contributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from disambig.data import Decisions, find_examples
from disambig.explain.contributions import (
    ContributionTable,
    absence_lines,
    contribution_table,
    explain_decision,
    rule_terms,
    with_names,
)
from disambig.explain.verdicts import intended_word, show_candidate, verdict
from disambig.formatting import first_names
from disambig.models import Model, evidence_name
from disambig.text import protected_spans, view_of_texts
from disambig.type_aliases import Floats
from disambig.types import DecisionRuleTraits, HasExamples, RaisesFlags, get_trait


@dataclass(frozen=True, slots=True)
class DecisionAccount:
    """The explanation of one decision, or of a protected place: lines, tables, and notes on the tables."""

    place: str
    lines: tuple[str, ...]
    flagged: bool = False
    tables: tuple[ContributionTable, ...] = ()
    notes: tuple[str, ...] = ()


def title(model: Model, *, flags_per_1000: float | None = None) -> str:
    """Return a title with the task, the model and the rate of flags."""
    rate = model.flags_per_1000 if flags_per_1000 is None else flags_per_1000
    how = f"{rate:g} flags per 1,000 words" if isinstance(model.judge, RaisesFlags) else "labels"
    return f"{model.task.name} ({model.name} {model.version}, {how})"


def accounts(
    text: str, model: Model, *, flags_per_1000: float | None = None, top: int = 5
) -> Iterator[DecisionAccount]:
    """Yield an explanation of each decision of `model` in a text, then of each place that is protected.

    Parameters
    ----------
    top : int
        Number of candidates, and of contributions to a score, that are shown.
    """
    view = view_of_texts([text], model.tokenisation, protected=True)
    least_margin = get_trait(model.judge, DecisionRuleTraits, "least_margin") or 0.0
    if least_margin:  # explain decisions below the least margin too
        model = model.with_least_margin(0.0)
    model = with_names(model, view)
    decisions = model.decide(view, flags_per_1000=flags_per_1000)
    flags = isinstance(model.judge, RaisesFlags)
    probabilities = None if flags else model.candidate_probabilities(decisions)
    threshold = model.judge.limit(flags_per_1000) if isinstance(model.judge, RaisesFlags) else 1.0
    proposals: dict[int, int] = {}
    if flags:  # at its own rate a rule may skip the probabilities of places that it will not flag
        unlimited = model.decide(view, flags_per_1000=float("inf"))
        decisions = replace(decisions, probabilities=unlimited.probabilities)
        proposals = _proposals(unlimited)
    what = evidence_name(model)
    for index in decisions.shown.nonzero()[0].tolist():
        record = decisions.record(index, text)
        best, chosen = record["candidates"][0][0], record["chosen"]
        reasons = explain_decision(model, view, index)
        candidates = {reason.candidate for reason in reasons or () if reason.count}
        evidence = best in candidates or not reasons
        proposed = proposals.get(index)
        lines = [
            verdict(
                decisions, index, text, threshold=threshold, proposed=proposed, evidence=evidence, what=what
            )
        ]
        if proposed is not None and (note := intended_word(decisions, index, proposed)):
            lines.append(note)
        if record["margin"] < least_margin:
            lines.append(f"no label: the margin, {record['margin']:.2f}, is below {least_margin:g}")
        names = _ranked(record, shares := _shares(decisions, index, probabilities))
        observed = _observed(decisions, index)
        weighed_most = chosen if proposed is None else decisions.candidate_texts(index)[proposed]
        kept = [
            name for rank, name in enumerate(names) if rank < top or name in (observed, chosen, weighed_most)
        ]
        tables, notes = [_candidates(decisions, index, record, kept, shares)], []
        if reasons is None:
            notes.append("the scores are not sums of weights: there are no contributions to show")
        else:
            first = chosen if shares else best if proposed is None else weighed_most
            others = [name for name in names if name != first]
            compared = (first, *([observed] if observed is not None and observed != first else others[:1]))
            scores = dict(zip(decisions.candidate_texts(index), _scores(decisions, index), strict=True))
            terms = rule_terms(model.judge, int(decisions.groups[index]), scores)
            parts = contribution_table(reasons, compared, top=top, what=what.removesuffix("s"), judged=terms)
            tables += [parts] if parts else []
            notes += absence_lines(reasons, compared, top=top)
        place = _headline(record, text, proposes=not flags or record["flagged"] or observed is None)
        yield DecisionAccount(place, tuple(lines), bool(record["flagged"]), tuple(tables), tuple(notes))
    for start, end in _protected_accounts(text, model, decisions):
        yield DecisionAccount(_quote_place(text, start, end), (f"protected: {_kind(text, start, end)}",))


def reason_for_no_decision(text: str, model: Model, *, protected: bool) -> str:
    """Return why a model decides nothing in a text.

    Parameters
    ----------
    protected : bool
        Whether the model would decide a place if no text were protected.
    """
    words = _candidate_words(text, model, protected=True)
    if words:
        could = f"{first_names(words, 8)}: no other candidate fits nearly as well"
        return f"{could}, or the task leaves such a place alone"
    if protected or _candidate_words(text, model, protected=False):
        return "all candidate words are protected"
    layer = view_of_texts([text], model.tokenisation, protected=True).layers["protected"]
    word = "unprotected word" if layer.any() else "word"
    # A task may know better why it is silent.
    return getattr(model.task, "no_decision", f"the text contains no {word} that this task decides")


def _candidate_words(text: str, model: Model, *, protected: bool) -> list[str]:
    """Return the words of a text that the task learns from, each once, in quotation marks.

    A task with examples of its own decides only some of these places.

    Parameters
    ----------
    protected : bool
        Whether protected words are omitted.
    """
    if not isinstance(model.task, HasExamples):
        return []
    view = view_of_texts([text], model.tokenisation, protected=protected)
    places = find_examples(model.task, view)
    at = places.positions[places.lengths > 0]
    if protected:
        at = at[~view.layers["protected"][at].astype(bool)]
    starts, ends = view.starts[at].tolist(), view.ends[at].tolist()
    words = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return [f'"{word}"' for word in dict.fromkeys(words) if word]


def _proposals(decisions: Decisions) -> dict[int, int]:
    """Return the proposed candidate of each decision that proposes one, by the index of the decision."""
    at = decisions.flagged.nonzero()[0]
    return dict(zip(at.tolist(), decisions.chosen[at].tolist(), strict=True))


def _shares(decisions: Decisions, index: int, probabilities: Floats | None) -> dict[str, float]:
    """Return the probability of each candidate of a decision; empty for models that choose words."""
    if probabilities is None:
        return {}
    own = probabilities[decisions.offsets[index] : decisions.offsets[index + 1]]
    names = decisions.candidate_texts(index)
    return dict(zip(names, own.tolist(), strict=True))


def _scores(decisions: Decisions, index: int) -> list[float]:
    first, last = decisions.offsets[index : index + 2].tolist()
    return [float(score) for score in decisions.scores[first:last]]


def _ranked(record: dict[str, Any], shares: dict[str, float]) -> list[str]:
    """Return the candidates in display order: by probability or, for models that choose words, by score."""
    names = [name for name, _ in record["candidates"]]
    if not shares:
        return names
    return sorted(names, key=lambda name: (-round(shares[name], 6), name != record["chosen"]))


def _candidates(
    decisions: Decisions, index: int, record: dict[str, Any], names: Sequence[str], shares: dict[str, float]
) -> ContributionTable:
    """Return a table of the given candidates of a decision."""
    group, scores = decisions.table[decisions.groups[index]], dict(record["candidates"])
    columns = {"candidate": [show_candidate(name) for name in names]}
    if group.glosses:
        glosses = dict(zip(group.candidates, group.glosses, strict=True))
        columns["gloss"] = [glosses[name] for name in names]
    if shares:
        columns["probability"] = [f"{shares[name]:.3f}" for name in names]
    columns["score"] = [f"{round(scores[name], 3) + 0.0:.3f}" for name in names]
    return ContributionTable(tuple(columns), tuple(zip(*columns.values(), strict=True)), 2 if shares else 1)


def _observed(decisions: Decisions, index: int) -> str | None:
    observed = int(decisions.observed[index])
    return decisions.candidate_texts(index)[observed] if observed >= 0 else None


def _headline(record: dict[str, Any], text: str, *, proposes: bool) -> str:
    """Return the place of a decision and the suggestion, if there is one."""
    new = show_candidate(record["replacement"].strip())
    arrow = f" -> {new}" if proposes and record["replacement"] != record["observed"] else ""
    return _quote_place(text, record["start"], record["end"]) + arrow


def _quote_place(text: str, start: int, end: int, *, around: int = 30) -> str:
    """Return the offsets of a place, and the place in brackets with some text around it."""
    place = text[start:end]
    if len(place) > 4 * around:  # a whole document
        place = f"{place[: 2 * around]} ... {place[-around:]}"
    place = f"[{place}]" if place else "[] "  # an empty place is at the start of the next word
    context = f"{text[max(0, start - around) : start]}{place}{text[end : end + around]}"
    return f"{start}-{end}: {' '.join(context.split())}"


def _protected_accounts(text: str, model: Model, decisions: Decisions) -> list[tuple[int, int]]:
    """Return the places that would be decided if no text were protected."""
    view = view_of_texts([text], model.tokenisation, protected=False)
    everything = model.decide(view).without_empty()
    decided = set(zip(decisions.starts.tolist(), decisions.ends.tolist(), strict=True))
    places = zip(everything.starts.tolist(), everything.ends.tolist(), strict=True)
    return [place for place in places if place not in decided]


def _kind(text: str, start: int, end: int) -> str:
    for first, last, kind in protected_spans(text):
        if first < end and start < last:
            return kind
    return "name"
