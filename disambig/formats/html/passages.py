"""A document as paragraphs, its flags and labels as marks with a card each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from disambig.formats.html.escaping import escape, isolated
from disambig.formats.results import CANDIDATES_KEPT, Annotated

DOCUMENT = "\0"
"""Stands for the document's anchor in what is made here: its number on the page is not yet known."""
COLOURS = 6
_BLANK = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)\s*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = re.compile(r"\s")
SURE = 0.5
"""Probability of a flag from which it is sure: the word is rather wrong than right."""
_LONG = 4_000  # characters of a paragraph that is cut at its lines
_WRAPPED = 45  # characters of the shortest line of prose that was wrapped by hand


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph: how many flags it has and its HTML, without the element around it."""

    flags: int
    html: str
    verse: bool  # its line ends are the author's, not those of a narrow window
    line: int  # where it begins in its file, from 1; 0 where the document is no whole file


def passages(result: Annotated, marked: Sequence[dict[str, Any]]) -> Iterator[Passage]:
    """Yield the paragraphs of a document.

    Parameters
    ----------
    result : Annotated
    marked : sequence of records
        What is to be seen. Each gets the key ``"mark"``: its mark has the anchor ``DOCUMENT-mark``.
    """
    text, number = result.document.text, 0
    lines = 1 if result.document.kind == "file" else 0
    counted = 0
    order = {decisions.task: index for index, decisions in enumerate(result.decisions)}
    marks = _clusters(marked)
    at = 0
    for start, end in _paragraphs(text):
        parts, position, flags = [], start, 0
        if lines:
            lines += len(_LINE_END.findall(text, counted, start))
            counted = start
        while at < len(marks) and marks[at].start < end:
            mark, at = marks[at], at + 1
            number += 1
            for record in mark.records:
                record["mark"] = number
                flags += record["flagged"]
            parts += [escape(text[position : mark.start]), _mark(mark, text, number, order)]
            position = mark.end
        parts.append(escape(text[position:end]))
        yield Passage(flags, "".join(parts), _is_verse(text[start:end]), lines)


def label_records(result: Annotated) -> list[dict[str, Any]]:
    """Return the records of decisions that give a place a label and have nothing to replace.

    Of a place of several words, such as a whole document, the first is marked.
    """
    import numpy as np

    text = result.document.text
    found = [
        decisions.record(int(index), text)
        for decisions in result.decisions
        for index in np.flatnonzero((decisions.observed < 0) & ~decisions.flagged)
    ]
    for record in found:
        space = _SPACE.search(text, record["start"] + 1, record["end"])
        record["end"] = space.start() if space else record["end"]
    return found


@dataclass(frozen=True, slots=True)
class _Cluster:
    start: int
    end: int
    records: list[dict[str, Any]]


def _clusters(records: Sequence[dict[str, Any]]) -> list[_Cluster]:
    """Join records that overlap; in each cluster flags come first, the surest before."""
    found: list[_Cluster] = []
    for record in sorted(records, key=lambda record: (record["start"], -record["end"])):
        start, end = record["start"], record["end"]
        if found and (start < found[-1].end or start == found[-1].start):
            last = found.pop()
            found.append(_Cluster(last.start, max(last.end, end), [*last.records, record]))
        else:
            found.append(_Cluster(start, end, [record]))
    for cluster in found:
        cluster.records.sort(key=lambda record: (not record["flagged"], -record["probability"]))
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches between blank lines; a very long one line by line."""
    start = 0
    ends = [(match.start(), match.end()) for match in _BLANK.finditer(text)]
    for end, following in [*ends, (len(text), len(text))]:
        if end - start > _LONG:
            for match in _LINE_END.finditer(text, start, end):
                if match.start() > start:
                    yield start, match.start()
                start = match.end()
        if end > start:
            yield start, end
        start = following


def _is_verse(paragraph: str) -> bool:
    lines = _LINE_END.split(paragraph.strip())
    return len(lines) > 1 and min(map(len, lines[:-1])) < _WRAPPED


def _mark(cluster: _Cluster, text: str, number: int, order: dict[str, int]) -> str:
    first = cluster.records[0]
    name = f"{DOCUMENT}-{number}"
    seen = text[cluster.start : cluster.end]
    to = escape((first["replacement"] if first["flagged"] else first["chosen"]).strip() or "nothing")
    said = f'data-to="{to}"'
    kind = "l"
    if first["flagged"]:  # what stands in the margin: the style sheet puts it there, so that copies are clean
        sure = first["probability"] >= SURE
        kind = f"f k{order[first['task']] % COLOURS}{'' if sure else ' u'}"
        share = percent(first["probability"]) + ("" if sure else "?")
        said += f' data-from="{escape(shown(first["observed"]))}" data-p="{share}"'
    gap = "" if seen else " gap"
    cards = "".join(map(_entry, cluster.records))
    return (
        f'<mark class="{kind}{gap}" id="{name}" tabindex="0" aria-describedby="{name}c" '
        f"{said}>{escape(seen)}"
        f'<span class="c" role="tooltip" id="{name}c">{cards}</span></mark>'
    )


def _entry(record: dict[str, Any]) -> str:
    """Return what the card says of one decision: from what to what, how sure, the candidates."""
    share = percent(record["probability"])
    if record["flagged"]:
        head = (
            f"<s>{isolated(shown(record['observed']))}</s> → <b>{isolated(shown(record['replacement']))}</b>"
        )
        said = f"{isolated(record['task'])}: wrong with a probability of {share}"
    else:
        named = labelled(record["chosen"], record.get("gloss", ""), strong=True)
        head = f"{isolated(shown(record['observed']))}: {named}"
        said = f"{isolated(record['task'])}: {share} likely"
    found = (
        f'<span class="e">{record["found"]} of {record["asked"]} n-grams or words known</span>'
        if record["asked"]
        else ""
    )
    others = "".join(map(_alternative, record.get("alternatives", ())))
    return f'<span class="h">{head}</span><span class="m">{said}</span>{others}{_candidates(record)}{found}'


def _alternative(other: dict[str, Any]) -> str:
    """Return what the card says of a less sure task's proposal."""
    named = f"{isolated(other['task'])}, {percent(other['probability'])}"
    return f'<span class="m">or <b>{isolated(shown(other["replacement"]))}</b> ({named})</span>'


def labelled(label: str, gloss: str, *, strong: bool = False) -> str:
    """Return a label as HTML, and beside it where to read what it means."""
    name = f"<b>{isolated(label)}</b>" if strong else isolated(label)
    return f"{name} <small>{isolated(gloss)}</small>" if gloss else name


def _candidates(record: dict[str, Any]) -> str:
    kept: Sequence[tuple[str, float]] = record["candidates"][:CANDIDATES_KEPT]
    observed = " ".join(record["observed"].lower().split())
    if observed not in [name for name, _ in kept]:
        kept = [*kept, *(pair for pair in record["candidates"] if pair[0] == observed)]
    known = _known(record, observed)
    low = min(score for _, score in record["candidates"])
    span = max(score for _, score in kept) - low or 1.0
    rows = "".join(
        f'<span class="r{" o" * (name == observed)}">'
        f"<span>{isolated(shown(name))}{' <small>as written</small>' * (name == observed)}</span>"
        f'<i class="w{round(10 * (score - low) / span)}"></i>'
        f'<span class="n">{known.get(name, "")}</span></span>'
        for name, score in kept
    )
    return f'<span class="a">{rows}</span>'


def _known(record: dict[str, Any], observed: str) -> dict[str, str]:
    """Return what is known of the candidates' probabilities; bars show how their scores lie to each other.

    Of a flag the best candidate is weighed against the one that stands there, of a label against all others.
    """
    probability, names = record["probability"], [name for name, _ in record["candidates"]]
    known = {record["chosen"]: percent(probability)}
    rest = (
        observed if record["flagged"] else names[1 - names.index(record["chosen"])] if len(names) == 2 else ""
    )
    if rest in names and rest != record["chosen"]:
        known[rest] = percent(1 - probability)
    return known


def percent(probability: float) -> str:
    """Return a probability for people; what is not certain is neither 0 nor 100 %."""
    return f"{100 * min(max(probability, 0.01), 0.99):.0f}\u00a0%"


def shown(text: str) -> str:
    """Return a candidate for people: that of no word has a sign of its own."""
    return " ".join(text.split()) or "∅"
