"""Explanations as tables: candidates, the n-grams and weights behind them, coverage, why (not) flagged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disambig.data.decisions import Decisions
    from disambig.model.explain import Reason
    from disambig.model.labels import Floats
    from disambig.model.model import Model

_PIPE_WIDTH = 160


class Console:
    """Prints lines and tables: in colours on a terminal, plainly into a pipe."""

    def __init__(self) -> None:
        from rich.console import Console as RichConsole

        width = None if sys.stdout.isatty() else _PIPE_WIDTH
        self._console = RichConsole(width=width, highlight=False, markup=False, soft_wrap=False)

    def line(self, text: str, *, style: str = "") -> None:
        """Print a line."""
        self._console.print(text, style=style or None, soft_wrap=True)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> None:
        """Print a table whose last `numbers` columns are flush right."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
        for index, name in enumerate(header):
            justify: Any = "right" if index >= len(header) - numbers else "left"
            table.add_column(Text(name), justify=justify, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self._console.print(table)


def explain_text(
    text: str, model: Model, *, console: Console, flags_per_1000: float | None = None, top: int = 5
) -> None:
    """Print one block for each decision that `model` takes, or leaves to protection, in `text`."""
    from disambig.model.explain import explain
    from disambig.model.labels import looked_up
    from disambig.text.documents import view_of_texts

    view = view_of_texts([text], model.tokenisation, protected=True)
    least_margin = 0.0
    if model.labels is not None:  # what is left unsaid is explained as well
        least_margin, model = model.labels.least_margin, model.with_least_margin(0.0)
    decisions = model.decide(view, flags_per_1000=flags_per_1000)
    probabilities = None if model.labels is None else model.candidate_probabilities(decisions)
    rate = model.flags_per_1000 if flags_per_1000 is None else flags_per_1000
    threshold = probability_at(model.operating.threshold(flags_per_1000))
    name = f"{model.name} {model.version}"
    what = looked_up(model)
    how = "labels" if model.labels is not None else f"{rate:g} flags per 1,000 words"
    console.line(f"{model.task.name} ({name}, {how})", style="bold")
    if not decisions.noted.any():
        console.line("  no decision: the text has no word that is in question, or all are protected")
    for index in decisions.noted.nonzero()[0].tolist():
        record = decisions.record(index, text)
        best, chosen = record["candidates"][0][0], record["chosen"]
        reasons = explain(model, view, index)
        known = {reason.candidate for reason in reasons if reason.count}
        console.line("")
        console.line(f"  {_headline(record, text)}", style="bold red" if record["flagged"] else "bold")
        evidence = best in known or not reasons
        said = verdict(decisions, index, text, threshold=threshold, evidence=evidence, what=what)
        console.line(f"  {said}")
        if record["margin"] < least_margin:
            console.line(f"  nothing is said: the margin, {record['margin']:.2f}, is below {least_margin:g}")
        names = _ranked(record, shares := _shares(decisions, index, probabilities))
        if shares and names[0] != chosen:
            console.line(f"  {shown(names[0])} is more probable, but this model decides for the best F1")
        seen = _observed(decisions, index)
        kept = [name for rank, name in enumerate(names) if rank < top or name in (seen, chosen)]
        console.table(*_candidates(decisions, index, record, kept, shares), numbers=2 if shares else 1)
        first = chosen if shares else best
        others = [name for name in names if name != first]
        rivals = [seen] if seen is not None and seen != first else others[:1]
        heaviest = _heaviest(reasons, (first, *rivals), top)
        if heaviest:
            counted = any(count for _, _, count, *_ in heaviest)
            head = ("candidate", what.removesuffix("s"), "count", "weight", "adds")
            rows = [head, *heaviest] if counted else [(*row[:2], *row[3:]) for row in (head, *heaviest)]
            console.table(rows[0], rows[1:], numbers=3 if counted else 2)
    for start, end in _protected(text, model, decisions):
        console.line("")
        console.line(f"  {_where(text, start, end)}")
        console.line(f"  left alone: {_kind(text, start, end)}")
    console.line("")


def shown(candidate: str) -> str:
    """Return a candidate for people."""
    return candidate or "(no word)"


def probability_at(log_odds: float) -> float:
    """Return the probability of an error that a threshold on the log-odds stands for."""
    import numpy as np

    from disambig.model.calibration import probabilities

    return float(probabilities(np.array([log_odds]))[0])


def verdict(
    decisions: Decisions,
    index: int,
    text: str,
    *,
    threshold: float,
    evidence: bool = True,
    what: str = "n-grams",
) -> str:
    """Say in a line why a decision is flagged, or why it is not.

    Parameters
    ----------
    threshold : float
        The probability that a flag needs.
    evidence : bool
        Whether any n-gram speaks for the chosen candidate.
    what : str
        What was looked up (see `disambig.model.labels.looked_up`).
    """
    record = decisions.record(index, text)
    group = decisions.table[decisions.groups[index]]
    observed, chosen = int(decisions.observed[index]), int(decisions.chosen[index])
    known = "are in the table" if what == "n-grams" else "were in the training"
    coverage = f"; {record['found']:,} of {record['asked']:,} {what} {known}"
    probability = f"probability {record['probability']:.3f} of an error"
    if record["flagged"]:
        return f"flagged: {probability}, {threshold:.3f} is enough{coverage}"
    if observed < 0 and record["probability"] > 0:
        return f"{shown(record['chosen'])}, with probability {record['probability']:.3f}{coverage}"
    if observed < 0:
        return f"decided; no candidate stands in the text{coverage}"
    if record["found"] == 0:
        return f"not flagged: no evidence, none of {record['asked']:,} n-grams is in the table"
    if chosen == observed:
        return f"not flagged: the word in the text has the highest score{coverage}"
    if group.same(observed, chosen):
        pair = f"{shown(group.candidates[observed])} and {shown(group.candidates[chosen])}"
        return f"not flagged: {pair} are variants{coverage}"
    if not evidence:
        return f"not flagged: no evidence for {shown(group.candidates[chosen])}{coverage}"
    return f"not flagged: {probability} is below the threshold, {threshold:.3f}{coverage}"


def _shares(decisions: Decisions, index: int, probabilities: Floats | None) -> dict[str, float]:
    """Return the probability of each candidate of a decision; nothing of models that choose words."""
    if probabilities is None:
        return {}
    own = probabilities[decisions.offsets[index] : decisions.offsets[index + 1]]
    names = decisions.table[decisions.groups[index]].candidates
    return dict(zip(names, own.tolist(), strict=True))


def _ranked(record: dict[str, Any], shares: dict[str, float]) -> list[str]:
    """Return the candidates as they are shown: by probability, of models that choose words by score."""
    names = [name for name, _ in record["candidates"]]
    if not shares:
        return names
    return sorted(names, key=lambda name: (-round(shares[name], 6), name != record["chosen"]))


def _candidates(
    decisions: Decisions, index: int, record: dict[str, Any], names: Sequence[str], shares: dict[str, float]
) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table of some candidates of a decision."""
    group, scores = decisions.table[decisions.groups[index]], dict(record["candidates"])
    columns = {"candidate": [shown(name) for name in names]}
    if group.glosses:
        glosses = dict(zip(group.candidates, group.glosses, strict=True))
        columns["gloss"] = [glosses[name] for name in names]
    if shares:
        columns["probability"] = [f"{shares[name]:.3f}" for name in names]
    columns["score"] = [f"{round(scores[name], 3) + 0.0:.3f}" for name in names]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def _observed(decisions: Decisions, index: int) -> str | None:
    observed = int(decisions.observed[index])
    return decisions.table[decisions.groups[index]].candidates[observed] if observed >= 0 else None


def _headline(record: dict[str, Any], text: str) -> str:
    arrow = f" -> {record['replacement']}" if record["replacement"] != record["observed"] else ""
    return _where(text, record["start"], record["end"]) + arrow


def _where(text: str, start: int, end: int, *, around: int = 30) -> str:
    place = text[start:end]
    if len(place) > 4 * around:  # a whole document
        place = f"{place[: 2 * around]} ... {place[-around:]}"
    shown = f"{text[max(0, start - around) : start]}[{place}]{text[end : end + around]}"
    return f"{start}-{end}: {' '.join(shown.split())}"


def _heaviest(reasons: Sequence[Reason], candidates: Sequence[str], top: int) -> list[tuple[str, ...]]:
    """Return rows for the reasons that add or take most, `top` for each of `candidates`."""
    rows: list[tuple[str, ...]] = []
    for wanted in candidates:
        own = [reason for reason in reasons if reason.candidate == wanted and reason.contribution]
        own.sort(key=lambda reason: -abs(reason.contribution))
        for reason in own[:top]:
            count = "" if reason.count is None else f"{reason.count:,}"
            adds = f"{reason.contribution:+.3f}"
            rows.append((shown(wanted), reason.evidence, count, f"{reason.weight:+.3f}", adds))
    return rows


def _protected(text: str, model: Model, decisions: Decisions) -> list[tuple[int, int]]:
    """Return the places that would be decided if nothing were protected."""
    from disambig.text.documents import view_of_texts

    view = view_of_texts([text], model.tokenisation, protected=False)
    everything = model.decide(view).without_empty()
    decided = set(zip(decisions.starts.tolist(), decisions.ends.tolist(), strict=True))
    places = zip(everything.starts.tolist(), everything.ends.tolist(), strict=True)
    return [place for place in places if place not in decided]


def _kind(text: str, start: int, end: int) -> str:
    from disambig.text.protected import protected_spans

    for first, last, kind in protected_spans(text):
        if first < end and start < last:
            return kind
    return "name"
