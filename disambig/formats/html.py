"""Annotated texts as an HTML page: marked paragraphs, a summary, and an index of the pages of a job."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any

from disambig import __version__
from disambig.files import checked_writer, writing
from disambig.formats.documents import Kind
from disambig.formats.jsonl import CANDIDATES_KEPT, AnnotatedDocument, count_words, flagged_records, rule_name
from disambig.formatting import FEW_MEASURED, describe_share, escape_control_chars, on_one_line, pluralize

_REPLACEMENT = "\ufffd"
_ESCAPES: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **{code: _REPLACEMENT for code in (*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)},
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&#39;",
}


def escape(text: str) -> str:
    """Escape `text` for an element or a quoted attribute.

    Control characters become their symbols (␀), lone surrogates U+FFFD, and every line end LF.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_ESCAPES)


def isolated(text: str) -> str:
    """Return `text` in a ``<bdi>`` element, so that its direction does not affect its surroundings."""
    return f"<bdi>{escape(text)}</bdi>"


DOCUMENT = "\0"
"""Placeholder for the anchor of a document, whose number on the page is not yet known when it is encoded."""
RULE = "\1"
"""Encloses the number of a rule in its document, whose colour on the page is not yet known."""
_RULE = re.compile(f"{RULE}([0-9]+){RULE}")
COLOURS = 7
_BLANK = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)\s*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = re.compile(r"\s")
_MIN_CERTAIN_SHARE = 0.5
"""Share of right flags from which a flag is shown as certain: the word is more likely wrong than right."""
_MAX_PARAGRAPH = 4_000  # longer paragraphs are split at line ends
_MIN_WRAPPED_LINE = 45  # minimum line length of prose that was wrapped by hand


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph: its number of flags, and its HTML without the surrounding element."""

    flags: int
    html: str
    verse: bool  # its line ends are intended, not the result of wrapping
    line: int  # its first line in the file, from 1; 0 if the document is not a whole file


def passages(
    result: AnnotatedDocument, marked: Sequence[dict[str, Any]], rules: dict[str, int]
) -> Iterator[Passage]:
    """Yield the paragraphs of a document.

    `marked`: the decisions to show. Each gets the key ``"mark"``; its mark has the anchor ``DOCUMENT-mark``,
    and the class of its colour has the number of its rule in `rules`, enclosed in `RULE`.
    `rules`: new rules are added.
    """
    text, mark_number = result.document.text, 0
    line = (result.document.line or 1) if result.document.kind == "file" else 0
    counted = 0
    marks = _clusters(marked)
    next_mark = 0
    for start, end in _paragraphs(text):
        parts, position, flags = [], start, 0
        if line:
            line += len(_LINE_END.findall(text, counted, start))
            counted = start
        while next_mark < len(marks) and marks[next_mark].start < end:
            mark, next_mark = marks[next_mark], next_mark + 1
            mark_number += 1
            for record in mark.records:
                record["mark"] = mark_number
                flags += record["flagged"]
            parts += [escape(text[position : mark.start]), _mark_html(mark, text, mark_number, rules)]
            position = mark.end
        parts.append(escape(text[position:end]))
        yield Passage(flags, "".join(parts), _is_verse(text[start:end]), line)


def label_records(result: AnnotatedDocument) -> list[dict[str, Any]]:
    """Return the records of decisions that assign a label and replace nothing.

    In a place of several words, such as a whole document, only the first word is marked.
    """
    import numpy as np

    text = result.document.text
    label_rows = [
        decisions.record(int(index), text)
        for decisions in result.decisions
        for index in np.flatnonzero((decisions.observed < 0) & ~decisions.flagged)
    ]
    for record in label_rows:
        space = _SPACE.search(text, record["start"] + 1, record["end"])
        record["end"] = space.start() if space else record["end"]
    return label_rows


@dataclass(frozen=True, slots=True)
class _Cluster:
    start: int
    end: int
    records: list[dict[str, Any]]


def _clusters(records: Sequence[dict[str, Any]]) -> list[_Cluster]:
    """Join overlapping records; each cluster lists flags first, the most probable ones before others."""
    clusters: list[_Cluster] = []
    for record in sorted(records, key=lambda record: (record["start"], -record["end"])):
        start, end = record["start"], record["end"]
        if clusters and (start < clusters[-1].end or start == clusters[-1].start):
            last = clusters.pop()
            clusters.append(_Cluster(last.start, max(last.end, end), [*last.records, record]))
        else:
            clusters.append(_Cluster(start, end, [record]))
    for cluster in clusters:
        cluster.records.sort(key=lambda record: (not record["flagged"], -record["probability"]))
    return clusters


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the paragraphs between blank lines; a very long one is split into its lines."""
    start = 0
    ends = [(match.start(), match.end()) for match in _BLANK.finditer(text)]
    for end, following in [*ends, (len(text), len(text))]:
        if end - start > _MAX_PARAGRAPH:
            for match in _LINE_END.finditer(text, start, end):
                if match.start() > start:
                    yield start, match.start()
                start = match.end()
        if end > start:
            yield start, end
        start = following


def _is_verse(paragraph: str) -> bool:
    lines = _LINE_END.split(paragraph.strip())
    return len(lines) > 1 and min(map(len, lines[:-1])) < _MIN_WRAPPED_LINE


def _mark_html(cluster: _Cluster, text: str, number: int, rules: dict[str, int]) -> str:
    """Return the mark of a cluster with its cards, which appear on hovering."""
    first = cluster.records[0]
    name = f"{DOCUMENT}-{number}"
    written = text[cluster.start : cluster.end]
    replacement = escape((first["replacement"] if first["flagged"] else first["chosen"]).strip() or "nothing")
    attributes = f'data-to="{replacement}"'
    kind = "l"
    if first["flagged"]:  # the style sheet shows these attributes, so that they are not part of copied text
        is_certain = flag_share(first) >= _MIN_CERTAIN_SHARE
        rule = rules.setdefault(rule_name(first), len(rules))
        kind = f"f k{RULE}{rule}{RULE}{'' if is_certain else ' u'}"
        share = _short_share(first) + ("" if is_certain else "?")
        attributes += f' data-from="{escape(show_candidate(first["observed"]))}" data-p="{share}"'
    gap = "" if written else " gap"
    cards = "".join(_card_html(record, text) for record in cluster.records)
    return (
        f'<mark class="{kind}{gap}" id="{name}" tabindex="0" aria-describedby="{name}c" '
        f"{attributes}>{escape(written)}"
        f'<span class="c" role="tooltip" id="{name}c">{cards}</span></mark>'
    )


def _card_html(record: dict[str, Any], text: str) -> str:
    """Return the card of one decision in `text`: the change, how sure it is, the candidates."""
    if record["flagged"]:
        old, new = show_candidate(record["observed"]), show_candidate(record["replacement"])
        head = f"<s>{isolated(old)}</s> → <b>{isolated(new)}</b>"
        summary = f"{isolated(rule_name(record))}: {describe_certainty(record)}"
    else:
        label = label_html(record["chosen"], record.get("gloss", ""), strong=True)
        head = f"{isolated(show_candidate(record['observed']))}: {label}"
        summary = f"{isolated(record['task'])}: probability {format_probability(record['probability'])}"
    others = "".join(_alternative_html(other, record, text) for other in record.get("alternatives", ()))
    title = f'<span class="h">{head}</span><span class="m">{summary}</span>'
    return f"{title}{others}{_candidates_html(record)}"


def _alternative_html(other: dict[str, Any], record: dict[str, Any], text: str) -> str:
    """Return the card's line for the proposal of another task; empty if it is that of the flag itself.

    A proposal for other words than those of the flag is shown with the words that it replaces.
    """
    start, end = other["start"], other["end"]
    is_same_place = (start, end) == (record["start"], record["end"])
    if is_same_place and other["replacement"] == record["replacement"]:
        return ""
    change = f"<b>{isolated(show_candidate(other['replacement']))}</b>"
    if not is_same_place:
        change = f"<s>{isolated(show_candidate(text[start:end]))}</s> → {change}"
    return f'<span class="m">or {change} ({isolated(other["task"])})</span>'


def label_html(label: str, gloss: str, *, strong: bool = False) -> str:
    """Return a label as HTML, followed by its gloss."""
    name = f"<b>{isolated(label)}</b>" if strong else isolated(label)
    return f"{name} <small>{isolated(gloss)}</small>" if gloss else name


def _candidates_html(record: dict[str, Any]) -> str:
    """Return the card's list of candidates, with their probabilities if these are all that is known.

    A flag whose precision was measured shows no probability: it would be a second number beside it.
    """
    kept: Sequence[tuple[str, float]] = record["candidates"][:CANDIDATES_KEPT]
    observed = " ".join(record["observed"].lower().split())
    if observed not in [name for name, _ in kept]:
        kept = [*kept, *(pair for pair in record["candidates"] if pair[0] == observed)]
    if _is_measured(record):
        hidden = record["chosen"], observed
        others = ", ".join(isolated(show_candidate(name)) for name, _ in kept if name not in hidden)
        return f'<span class="m">also possible: {others}</span>' if others else ""
    shares = _candidate_shares(record, observed)
    rows = "".join(
        f'<span class="r{" o" * (name == observed)}">'
        f"<span>{isolated(show_candidate(name))}{' <small>as written</small>' * (name == observed)}</span>"
        f"{bar(shares[name])}"
        f'<span class="n">{format_probability(shares[name])}</span></span>'
        for name, _ in kept
        if name in shares
    )
    others = ", ".join(isolated(show_candidate(name)) for name, _ in kept if name not in shares)
    also = f'<span class="m">also possible: {others}</span>' if others else ""
    return f'<span class="a">{rows}</span>{also}'


def bar(share: float) -> str:
    """Return a bar whose length is `share` of its place, as a picture that needs no style sheet."""
    return (
        '<svg class="b" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * min(max(share, 0.0), 1.0):.1f}" height="1"/></svg>'
    )


def _candidate_shares(record: dict[str, Any], observed: str) -> dict[str, float]:
    """Return the known probabilities of candidates.

    For a flag, the probability is that of the best candidate against the observed one; for a label, against
    all other candidates.
    """
    probability, names = record["probability"], [name for name, _ in record["candidates"]]
    shares = {record["chosen"]: probability}
    other = ""
    if record["flagged"]:
        other = observed
    elif len(names) == 2:  # the probabilities of two candidates add up to one
        other = names[1 - names.index(record["chosen"])]
    if other in names and other != record["chosen"]:
        shares[other] = 1 - probability
    return shares


def flag_share(record: dict[str, Any]) -> float:
    """Return the measured share of such flags that are right; the model's probability if it is unknown."""
    return float(record["precision"] if _is_measured(record) else record["probability"])


def describe_certainty(record: dict[str, Any]) -> str:
    """Return how sure a flag is, as HTML."""
    if not _is_measured(record):
        return f"wrong with probability {format_probability(record['probability'])}"
    share = describe_share(record["precision"], record["precision_flags"]).replace(" %", "\u00a0%")
    return f"{share} of such flags are right"


def _short_share(record: dict[str, Any]) -> str:
    """Return how sure a flag is, for the margin."""
    share = flag_share(record)
    if _is_measured(record) and record["precision_flags"] < FEW_MEASURED:
        return f"about {format_probability(min(round(share, 1), 0.9))}"
    return format_probability(share)


def _is_measured(record: dict[str, Any]) -> bool:
    """Return True for a flag whose precision was measured."""
    return bool(record.get("precision", -1.0) >= 0)


def format_probability(probability: float) -> str:
    """Format a probability in per cent, from 1 to 99 %, since no decision is certain."""
    return f"{100 * min(max(probability, 0.01), 0.99):.0f}\u00a0%"


def show_candidate(text: str) -> str:
    """Return a candidate for display; the empty candidate is shown as a symbol."""
    return on_one_line(text) or "∅"


LARGE = 50_000
"""Number of characters from which a page shows paragraphs without flags only on request."""
WHOLE = 1_000_000
"""Maximum number of characters for a page with the whole text; others have only paragraphs with flags."""
MAX_PAGE_CHARACTERS = 6_000_000
"""Number of characters of HTML after which no further document is shown."""
_MAX_LISTED = 500
_MAX_CORRECTIONS = 20
_MAX_LABELS = 10


@dataclass(slots=True)
class Summary:
    """Counts of a page."""

    documents: int = 0
    words: int = 0
    characters: int = 0
    flags: int = 0
    tasks: dict[str, list[int]] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)  # the position of a rule decides its colour
    # By task: {(label, gloss): count}
    labels: dict[str, dict[tuple[str, str], int]] = field(default_factory=dict)
    # (number, title, words, flags): the first documents that have flags
    listed: list[tuple[int, str, int, int]] = field(default_factory=list)
    flagged_documents: int = 0  # number of documents that have flags
    last: int = 0  # number of the last document that is shown if not everything is
    _size: int = 0
    _corrections: dict[tuple[str, str, str], list[Any]] = field(default_factory=dict)

    def add(self, document: dict[str, Any]) -> None:
        """Add the counts of an encoded document (see `HtmlFormat.encode`)."""
        self.documents += 1
        self.words += document["words"]
        self.characters += document["characters"]
        flags = 0
        for task, (decisions, flagged) in document["tasks"].items():
            counts = self.tasks.setdefault(task, [0, 0])
            counts[0] += decisions
            counts[1] += flagged
            flags += flagged
        for task, *named, count in document["labels"]:
            labels, key = self.labels.setdefault(task, {}), (named[0], named[1])
            labels[key] = labels.get(key, 0) + count
        if self._size < MAX_PAGE_CHARACTERS:
            self.last = self.documents
        self._size += document["size"]
        for *key, mark in document["corrections"]:
            self.rules[key[0]] = self.rules.get(key[0], 0) + 1
            entry = self._corrections.setdefault((key[0], key[1], key[2]), [0, self.documents, mark])
            entry[0] += 1
        self.flags += flags
        if flags:
            self.flagged_documents += 1
            if len(self.listed) < _MAX_LISTED:
                self.listed.append((self.documents, document["title"], document["words"], flags))

    @property
    def decisions(self) -> int:
        """The number of decisions of all tasks."""
        return sum(decisions for decisions, _ in self.tasks.values())

    @property
    def only_labels(self) -> bool:
        """Whether every decision assigns a label, so that none can be flagged."""
        return 0 < self.decisions == sum(sum(labels.values()) for labels in self.labels.values())

    def frequent_labels(self, task: str) -> list[tuple[str, str, int]]:
        """Return a task's most frequent labels with glosses and counts."""
        ranked = sorted(self.labels.get(task, {}).items(), key=lambda item: (-item[1], item[0]))
        return [(*key, count) for key, count in ranked[:_MAX_LABELS]]

    @property
    def whole(self) -> bool:
        """Whether all text is shown."""
        return self.characters <= WHOLE

    def shows(self, number: int, document: dict[str, Any]) -> bool:
        """Return True if a document is on the page, wholly or in part: if it has flags, or none has any."""
        if self.whole and not self.flags:
            return True
        return (self.whole or number <= self.last) and bool(document["corrections"])

    @property
    def colours(self) -> dict[str, int]:
        """The colour of each rule."""
        return {rule: number % COLOURS for number, rule in enumerate(self.rules)}

    def corrections(self) -> list[tuple[str, str, str, int, str | None]]:
        """Return the most frequent corrections: rule, from, to, count, anchor of the first one if shown.

        Corrections that occur only once are left out.
        """
        repeated = [item for item in self._corrections.items() if item[1][0] > 1]
        ranked = sorted(repeated, key=lambda item: (-item[1][0], item[1][1:], item[0]))
        return [
            (*key, count, f"d{document}-{mark}" if self.whole or document <= self.last else None)
            for key, (count, document, mark) in ranked[:_MAX_CORRECTIONS]
        ]


@cache
def _style(path: Path) -> tuple[str, str]:
    """Return a style sheet and a content security policy that allows only this style sheet."""
    style = path.read_text(encoding="utf8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return style, f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def page_head(title: str, style_sheet: Path, *, language: str, meta: str = "") -> str:
    """Return the beginning of an HTML page, up to its body.

    The page contains its style sheet and loads nothing.

    Parameters
    ----------
    title : str
        As HTML (see `escape`).
    style_sheet : Path
        A file whose text is copied into the page.
    language : str
        Code of the language of the page.
    meta : str
        Further elements, as HTML that begins with a line end.
    """
    style, policy = _style(style_sheet)
    return f"""<!DOCTYPE html>
<html lang="{escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">{meta}
<title>{title}</title>
<style>{style}</style>
</head>"""


def opening(title: str, *, language: str) -> str:
    """Return a page of annotated texts up to its body."""
    made_by = f'\n<meta name="generator" content="disambig {escape(__version__)}">'
    return page_head(title, Path(__file__).with_name("style.css"), language=language, meta=made_by)


def head(summary: Summary, *, language: str) -> str:
    """Return the page up to its first document."""
    title = f"{pluralize(*_counted(summary))} in {pluralize(summary.documents, 'document')}"
    return f"""{opening(title, language=language)}
<body>
<header lang="en">
<h1>{title}</h1>
{_figures_html(summary)}
{_corrections_html(summary)}
{_rules_html(summary)}
{_documents_html(summary)}
{_labels_html(summary)}
{_legend_html(summary)}
<p class="hint">Point at or tap a marked word, or move between marked words with the Tab key, \
to see its alternatives.</p>
{_left_out_html(summary)}
{_switch_html(summary)}
</header>
<main{' class="q"' * bool(summary.flags)}>
"""


def section(
    document: dict[str, Any], number: int, *, whole: bool, labels: bool, colours: Mapping[str, int]
) -> str:
    """Return a document as HTML; unless `whole`, only its paragraphs with flags.

    If there are only `labels` on the page, its decisions are counted instead of its flags.
    """
    parts, hidden = [], 0
    rules = [str(colours[rule]) for rule in document["rules"]]
    for flags, verse, line, html in document["passages"]:
        if not (whole or flags):
            hidden += 1
            continue
        parts += [
            _hidden_html(hidden),
            f'<p dir="auto"{_classes(verse, flags)}{f" data-line={line}" * bool(line)}>'
            f"{_RULE.sub(lambda match: rules[int(match[1])], html).replace(DOCUMENT, f'd{number}')}</p>\n",
        ]
        hidden = 0
    parts.append(_hidden_html(hidden))
    decisions, flags = (sum(counts[which] for counts in document["tasks"].values()) for which in (0, 1))
    row = ' class="row"' if document["row"] else ""
    counts_text = f"{pluralize(document['words'], 'word')}, "
    counts_text += pluralize(decisions, "decision") if labels else pluralize(flags, "flag")
    return (
        f'<section id="d{number}"{row}>\n'
        f'<h2>{isolated(document["title"])} <small lang="en">{counts_text}</small></h2>\n'
        f"{''.join(parts)}</section>\n"
    )


def _classes(verse: bool, flags: int) -> str:
    names = " ".join(["v"] * verse + ["ok"] * (not flags))
    return f' class="{names}"' if names else ""


def foot() -> str:
    """Return the end of the page."""
    made = f'<p>Made by disambig {escape(__version__)}. <a href="#">To the top</a></p>'
    return f'</main>\n<footer lang="en">{made}</footer>\n</body>\n</html>\n'


def _hidden_html(paragraphs: int) -> str:
    return (
        f'<p class="hidden" lang="en">{pluralize(paragraphs, "paragraph")} without flags</p>\n'
        if paragraphs
        else ""
    )


def _figures_html(summary: Summary) -> str:
    count, noun = _counted(summary)
    rate = f"{1000 * count / summary.words:.1f}" if summary.words else "0"
    figures = {
        "documents" if summary.documents != 1 else "document": f"{summary.documents:,}",
        "words" if summary.words != 1 else "word": f"{summary.words:,}",
        noun if count == 1 else f"{noun}s": f"{count:,}",
        f"{noun}s per 1,000 words": rate,
    }
    return (
        '<dl class="figures">'
        + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items())
        + "</dl>"
    )


def _rules_html(summary: Summary) -> str:
    """Return the flags of each rule, the most frequent first, which is also the legend of the colours."""
    if not summary.rules:
        return ""
    maximum, rows = max(summary.rules.values()), []
    for rule, flags in sorted(summary.rules.items(), key=lambda item: -item[1]):
        rate = f"{1000 * flags / summary.words:.1f}" if summary.words else "0"
        rows.append(
            f'<tr><th scope="row"><span class="f k{summary.colours[rule]} key">{escape(rule)}</span></th>'
            f'<td class="bar k{summary.colours[rule]}">{bar(flags / maximum)}</td>'
            f"<td>{flags:,}</td><td>{rate} per 1,000 words</td></tr>"
        )
    table = f'<table class="counts">{"".join(rows)}</table>'
    return f"<details open><summary>By rule</summary>{table}</details>"


def _labels_html(summary: Summary) -> str:
    """Return the labels of each task that assigns some."""
    rows = []
    for task, (decisions, _) in summary.tasks.items():
        if labels := summary.frequent_labels(task):
            lines = [f"{count:,} {label_html(label, gloss)}" for label, gloss, count in labels]
            more = len(summary.labels[task]) - len(labels)
            lines += [f"and {more:,} more"] if more else []
            cell = "".join(f'<span class="line">{line}</span>' for line in lines)
            rows.append(
                f'<tr><th scope="row"><span class="l key">{escape(task)}</span></th>'
                f"<td>{pluralize(decisions, 'decision')}</td><td>{cell}</td></tr>"
            )
    return f'<table class="tasks">{"".join(rows)}</table>' if rows else ""


def _switch_html(summary: Summary) -> str:
    """Return the switch between the whole text and paragraphs with flags; it needs no script."""
    if not summary.flags or not summary.whole:
        return ""
    box = f'<input type="checkbox" id="only"{" checked" * (summary.characters > LARGE)}>'
    return f'<p class="switch"><label>{box} Only paragraphs with flags</label></p>'


def _legend_html(summary: Summary) -> str:
    """Return the legend for flags; empty if there are none."""
    if not summary.flags:
        return ""
    sure = '<span class="f k0 key">filled</span>'
    other = '<span class="f u k0 key">underlined only</span>'
    return (
        f'<p class="hint">{sure}: probably wrong. {other} and marked with a ?: worth checking. '
        "Percentages are the measured share of such flags that are right; for a model that was not measured, "
        "they are its estimate of the probability that the word is wrong.</p>"
    )


def _corrections_html(summary: Summary) -> str:
    rows = []
    for _, observed, replacement, count, anchor in summary.corrections():
        pair = f"<s>{isolated(observed)}</s> → <b>{isolated(replacement)}</b>"
        link = f'<a href="#{anchor}">{pair}</a>' if anchor else pair
        rows.append(f"<li>{link} <small>{count:,}&times;</small></li>")
    if not rows:
        return ""
    items = f'<ol class="corrections">{"".join(rows)}</ol>'
    return f"<details open><summary>Most frequent corrections</summary>{items}</details>"


def _documents_html(summary: Summary) -> str:
    if summary.documents < 2 or not summary.listed:
        return ""
    rows, maximum = [], max(flags for *_, flags in summary.listed)
    for number, title, words, flags in summary.listed:
        name = isolated(title)
        link = f'<a href="#d{number}">{name}</a>' if summary.whole or number <= summary.last else name
        counts = f'<td class="bar">{bar(flags / maximum)}</td><td>{flags:,}</td>'
        counts += f"<td>{pluralize(words, 'word')}</td>"
        rows.append(f'<tr><th scope="row">{link}</th>{counts}</tr>')
    more = summary.flagged_documents - len(summary.listed)
    tail = f"<p>and {more:,} more</p>" if more else ""
    title = f"By document: flags in {summary.flagged_documents:,} of {summary.documents:,}"
    return f'<details><summary>{title}</summary><table class="counts">{"".join(rows)}</table>{tail}</details>'


def _counted(summary: Summary) -> tuple[int, str]:
    """Return count and noun of what the page shows: flags or, if nothing can be flagged, decisions."""
    return (summary.decisions, "decision") if summary.only_labels else (summary.flags, "flag")


def _left_out_html(summary: Summary) -> str:
    if summary.whole:
        hidden = summary.documents - summary.flagged_documents if summary.flags else 0
        note = f"Not shown: {pluralize(hidden, 'document')} without flags."
        return f'<p class="hint">{note}</p>' if hidden else ""
    note = f"More than {WHOLE:,} characters of text: only paragraphs with flags are shown"
    if summary.last < summary.documents:
        limit = f"the limit is {MAX_PAGE_CHARACTERS:,} characters"
        note += f", and no documents after number {summary.last:,} ({limit})"
    return f'<p class="hint">{note}. All counts are for the whole text.</p>'


@dataclass(frozen=True, slots=True)
class JobPart:
    """A page of a job: its file, its source and its counts."""

    name: str
    source: str
    documents: int
    words: int
    flags: int


def parts_page(parts: Sequence[JobPart], *, left: int, language: str) -> str:
    """Return the index of a job's pages; `left` shards have no page (yet)."""
    documents, flags = sum(part.documents for part in parts), sum(part.flags for part in parts)
    title = f"{pluralize(flags, 'flag')} in {pluralize(documents, 'document')}"
    rows = "\n".join(
        f'<tr><td><a href="{escape(part.name)}">{escape(part.name)}</a></td><td>{escape(part.source)}</td>'
        f"<td>{part.documents:,}</td><td>{part.words:,}</td><td>{part.flags:,}</td></tr>"
        for part in parts
    )
    missing = f"<p>{pluralize(left, 'part')} not available (yet).</p>\n" if left else ""
    return f"""{opening(title, language=language)}
<body>
<header lang="en">
<h1>{title}</h1>
{missing}<table>
<thead><tr><th>part</th><th>begins with</th><th>documents</th><th>words</th><th>flags</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</header>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class HtmlFormat:
    """One self-contained page; for a long corpus, only paragraphs with flags (see `Summary`).

    Documents are kept in a temporary file, since the summary comes before them.
    """

    language: str = "en"
    name: str = "html"
    suffix: str = ".html"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Encode some documents as JSON, one per line: their figures and paragraphs."""
        records = (_document_record(result) for result in results if not result.document.blank)
        return b"".join(json.dumps(document).encode() + b"\n" for document in records)

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the page."""
        with TemporaryFile() as file:
            store, summary = checked_writer(file, gettempdir()), Summary()
            for chunk in chunks:
                store(chunk)
                for line in chunk.splitlines():
                    summary.add(json.loads(line))
            write(head(summary, language=self.language).encode())
            with writing(gettempdir()):
                file.seek(0)
            labels, colours = summary.only_labels, summary.colours
            for number, line in enumerate(file, 1):
                document = json.loads(line)
                if summary.shows(number, document):
                    page = section(document, number, whole=summary.whole, labels=labels, colours=colours)
                    write(page.encode())
            write(foot().encode())


def _document_record(result: AnnotatedDocument) -> dict[str, Any]:
    """Return the figures and paragraphs of a document as plain values."""
    flagged, labelled = flagged_records(result), label_records(result)
    rules: dict[str, int] = {}
    paragraphs = list(passages(result, [*flagged, *labelled], rules))
    labels = Counter((record["task"], record["chosen"], record.get("gloss", "")) for record in labelled)
    return {
        "title": escape_control_chars(result.document.id),
        "row": result.document.kind in ("line", "json", "csv", "parquet"),
        "characters": len(result.document.text),
        "words": count_words(result.document.text),
        "tasks": {
            decisions.task: [len(decisions), int(decisions.flagged.sum())] for decisions in result.decisions
        },
        "labels": [[*key, count] for key, count in labels.items()],
        "rules": list(rules),
        "corrections": [_correction(record) for record in flagged],
        "passages": [[passage.flags, passage.verse, passage.line, passage.html] for passage in paragraphs],
        "size": sum(len(passage.html) for passage in paragraphs if passage.flags),
    }


def _correction(record: dict[str, Any]) -> list[Any]:
    return [
        rule_name(record),
        show_candidate(record["observed"]).lower(),
        show_candidate(record["replacement"]).lower(),
        record["mark"],
    ]
