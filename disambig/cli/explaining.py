"""Explanations as tables: candidates, the n-grams and weights behind them, coverage, why (not) flagged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disambig.data.decisions import Decisions
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


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int


def explain_text(
    text: str, model: Model, *, console: Console, flags_per_1000: float | None = None, top: int = 5
) -> None:
    """Print one block for each decision that `model` takes, or leaves to protection, in `text`."""
    from disambig.text.documents import view_of_texts

    view = view_of_texts([text], model.tokenisation, protected=True)
    decisions = model.decide(view, flags_per_1000=flags_per_1000)
    rate = model.flags_per_1000 if flags_per_1000 is None else flags_per_1000
    console.line(
        f"{model.task.name} ({model.name} {model.version}, {rate:g} flags per 1,000 words)", style="bold"
    )
    if not len(decisions):
        console.line("  no decision: the text has no word that is in question, or all are protected")
    for index in range(len(decisions)):
        record = decisions.record(index, text)
        console.line("")
        console.line(f"  {_headline(record, text)}", style="bold red" if record["flagged"] else "bold")
        console.line(f"  {verdict(decisions, index, text, rate)}")
        candidates = [(name, f"{score:.3f}") for name, score in record["candidates"][:top]]
        shown = [name for name, _ in candidates]
        if record["observed"].lower() not in shown:
            candidates += [
                (name, f"{score:.3f}")
                for name, score in record["candidates"]
                if name == record["observed"].lower()
            ]
        console.table(("candidate", "score"), candidates, numbers=1)
        evidence = _evidence(model.explain(view, decisions, index), shown[0], top)
        if evidence:
            console.table(("candidate", "n-gram", "count", "weight", "adds"), evidence, numbers=3)
    for place in _protected(text, model, decisions, flags_per_1000):
        kind = _kind(text, place)
        console.line("")
        console.line(f"  {_where(text, place.start, place.end)}: left alone: {kind}")


def verdict(decisions: Decisions, index: int, text: str, rate: float) -> str:
    """Say in a line why a decision is flagged, or why it is not."""
    record = decisions.record(index, text)
    group = decisions.table[decisions.groups[index]]
    observed, chosen = int(decisions.observed[index]), int(decisions.chosen[index])
    probability = record["probability"]
    coverage = f"{record['found']:,} of {record['asked']:,} n-grams are in the table"
    if record["flagged"]:
        return f"flagged: probability {probability:.3f} of an error; {coverage}"
    if observed < 0:
        return f"decided; nothing stands in the text to be flagged; {coverage}"
    if record["found"] == 0:
        return f"not flagged: no evidence, none of {record['asked']:,} n-grams is in the table"
    if chosen == observed:
        return f"not flagged: the word in the text has the highest score; {coverage}"
    if group.same(observed, chosen):
        return f"not flagged: {group.candidates[observed]} and {group.candidates[chosen]} are variants; {coverage}"
    return (
        f"not flagged: probability {probability:.3f} of an error is below the threshold "
        f"for {rate:g} flags per 1,000 words; {coverage}"
    )


def _headline(record: dict[str, Any], text: str) -> str:
    arrow = f" -> {record['replacement']}" if record["replacement"] != record["observed"] else ""
    return _where(text, record["start"], record["end"]) + arrow


def _where(text: str, start: int, end: int, *, around: int = 30) -> str:
    left = text[max(0, start - around) : start]
    right = text[end : end + around]
    shown = f"{left}[{text[start:end]}]{right}"
    return f"{start}-{end}: {' '.join(shown.split())}"


def _evidence(
    found: Sequence[tuple[str, str, float, float, float]], best: str, top: int
) -> list[tuple[str, ...]]:
    """Return rows for the n-grams that speak most for the best candidate, then for and against others."""
    ranked = sorted(found, key=lambda row: (row[0] != best, -abs(row[4])))
    rows: list[tuple[str, ...]] = []
    per_candidate: dict[str, int] = {}
    for candidate, ngram, count, weight, adds in ranked:
        seen = per_candidate.get(candidate, 0)
        if seen < top and len(per_candidate) < top + 1 and adds:
            per_candidate[candidate] = seen + 1
            rows.append((candidate, ngram, f"{count:,}", f"{weight:+.3f}", f"{adds:+.3f}"))
    return rows


def _protected(text: str, model: Model, decisions: Decisions, flags_per_1000: float | None) -> list[_Place]:
    """Return the places that would be decided if nothing were protected."""
    from disambig.text.documents import view_of_texts

    everything = model.decide(
        view_of_texts([text], model.tokenisation, protected=False), flags_per_1000=flags_per_1000
    )
    decided = set(zip(decisions.starts.tolist(), decisions.ends.tolist(), strict=True))
    places = zip(everything.starts.tolist(), everything.ends.tolist(), strict=True)
    return [_Place(start, end) for start, end in places if (start, end) not in decided]


def _kind(text: str, place: _Place) -> str:
    from disambig.text.protected import protected_spans

    for start, end, kind in protected_spans(text):
        if start < place.end and place.start < end:
            return kind
    return "name"
