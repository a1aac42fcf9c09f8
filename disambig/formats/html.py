"""Annotated texts as an HTML page: paragraphs with marks, the summary, and the index of a job's parts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any

from disambig import __version__
from disambig.files import checked_writer, writing
from disambig.formats.documents import Kind
from disambig.formats.results import CANDIDATES_KEPT, AnnotatedDocument, count_words, flagged_records
from disambig.formatting import escape_control_chars, pluralize

_REPLACED = "\ufffd"
_TABLE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **{code: _REPLACED for code in (*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)},
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&#39;",
}


def escape(text: str) -> str:
    """Return `text` for an element or a quoted attribute.

    Control characters become their pictures (␀), lone surrogates U+FFFD, every line end LF.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def isolated(text: str) -> str:
    """Return `text` as an element of its own, so that its direction changes nothing around it."""
    return f"<bdi>{escape(text)}</bdi>"


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


def passages(result: AnnotatedDocument, marked: Sequence[dict[str, Any]]) -> Iterator[Passage]:
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


def label_records(result: AnnotatedDocument) -> list[dict[str, Any]]:
    """Return the records of decisions that give a place a label and have nothing to replace.

    Of a place of several words, such as a whole document, the first is marked.
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
    """Join records that overlap; in each cluster flags come first, the surest before."""
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
    attributes = f'data-to="{to}"'
    kind = "l"
    if first["flagged"]:  # what stands in the margin: the style sheet puts it there, so that copies are clean
        sure = first["probability"] >= SURE
        kind = f"f k{order[first['task']] % COLOURS}{'' if sure else ' u'}"
        share = format_probability(first["probability"]) + ("" if sure else "?")
        attributes += f' data-from="{escape(show_candidate(first["observed"]))}" data-p="{share}"'
    gap = "" if seen else " gap"
    cards = "".join(map(_entry, cluster.records))
    return (
        f'<mark class="{kind}{gap}" id="{name}" tabindex="0" aria-describedby="{name}c" '
        f"{attributes}>{escape(seen)}"
        f'<span class="c" role="tooltip" id="{name}c">{cards}</span></mark>'
    )


def _entry(record: dict[str, Any]) -> str:
    """Return what the card says of one decision: from what to what, how sure, the candidates."""
    share = format_probability(record["probability"])
    if record["flagged"]:
        head = f"<s>{isolated(show_candidate(record['observed']))}</s> → <b>{isolated(show_candidate(record['replacement']))}</b>"
        summary = f"{isolated(record['task'])}: wrong with a probability of {share}"
    else:
        named = label_html(record["chosen"], record.get("gloss", ""), strong=True)
        head = f"{isolated(show_candidate(record['observed']))}: {named}"
        summary = f"{isolated(record['task'])}: {share} likely"
    evidence = (
        f'<span class="e">{record["found"]} of {record["asked"]} n-grams or words known</span>'
        if record["asked"]
        else ""
    )
    others = "".join(map(_alternative, record.get("alternatives", ())))
    return f'<span class="h">{head}</span><span class="m">{summary}</span>{others}{_candidates(record)}{evidence}'


def _alternative(other: dict[str, Any]) -> str:
    """Return what the card says of a less sure task's proposal."""
    named = f"{isolated(other['task'])}, {format_probability(other['probability'])}"
    return f'<span class="m">or <b>{isolated(show_candidate(other["replacement"]))}</b> ({named})</span>'


def label_html(label: str, gloss: str, *, strong: bool = False) -> str:
    """Return a label as HTML, and beside it where to read what it means."""
    name = f"<b>{isolated(label)}</b>" if strong else isolated(label)
    return f"{name} <small>{isolated(gloss)}</small>" if gloss else name


def _candidates(record: dict[str, Any]) -> str:
    kept: Sequence[tuple[str, float]] = record["candidates"][:CANDIDATES_KEPT]
    observed = " ".join(record["observed"].lower().split())
    if observed not in [name for name, _ in kept]:
        kept = [*kept, *(pair for pair in record["candidates"] if pair[0] == observed)]
    shares = _known(record, observed)
    low = min(score for _, score in record["candidates"])
    span = max(score for _, score in kept) - low or 1.0
    rows = "".join(
        f'<span class="r{" o" * (name == observed)}">'
        f"<span>{isolated(show_candidate(name))}{' <small>as written</small>' * (name == observed)}</span>"
        f'<i class="w{round(10 * (score - low) / span)}"></i>'
        f'<span class="n">{shares.get(name, "")}</span></span>'
        for name, score in kept
    )
    return f'<span class="a">{rows}</span>'


def _known(record: dict[str, Any], observed: str) -> dict[str, str]:
    """Return what is known of the candidates' probabilities; bars show how their scores lie to each other.

    Of a flag the best candidate is weighed against the one that stands there, of a label against all others.
    """
    probability, names = record["probability"], [name for name, _ in record["candidates"]]
    shares = {record["chosen"]: format_probability(probability)}
    rest = (
        observed if record["flagged"] else names[1 - names.index(record["chosen"])] if len(names) == 2 else ""
    )
    if rest in names and rest != record["chosen"]:
        shares[rest] = format_probability(1 - probability)
    return shares


def format_probability(probability: float) -> str:
    """Return a probability for people; what is not certain is neither 0 nor 100 %."""
    return f"{100 * min(max(probability, 0.01), 0.99):.0f}\u00a0%"


def show_candidate(text: str) -> str:
    """Return a candidate for people: that of no word has a sign of its own."""
    return " ".join(text.split()) or "∅"


WHOLE = 1_000_000
"""Characters of text up to which a page shows all of it; above, only paragraphs with flags."""
MOST = 6_000_000
"""Characters of HTML after which no further document is shown."""
_LISTED = 500
_CORRECTIONS = 20
_LABELS = 10


@dataclass(slots=True)
class Summary:
    """Counts of a page.

    Attributes
    ----------
    documents, words, characters, flags : int
    tasks : dict from task to [decisions, flags]
    labels : dict from task to {(label, gloss): count}
    listed : list of (number, title, words, flags)
        The first documents that have flags.
    flagged_documents : int
        How many there are of these.
    last : int
        Number of the last document that is shown where not everything is.
    """

    documents: int = 0
    words: int = 0
    characters: int = 0
    flags: int = 0
    tasks: dict[str, list[int]] = field(default_factory=dict)
    labels: dict[str, dict[tuple[str, str], int]] = field(default_factory=dict)
    listed: list[tuple[int, str, int, int]] = field(default_factory=list)
    flagged_documents: int = 0
    last: int = 0
    _size: int = 0
    _corrections: dict[tuple[str, str, str], list[Any]] = field(default_factory=dict)

    def add(self, document: dict[str, Any]) -> None:
        """Count a document (see `format`)."""
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
        if self._size < MOST:
            self.last = self.documents
        self._size += document["size"]
        for *key, mark in document["corrections"]:
            entry = self._corrections.setdefault((key[0], key[1], key[2]), [0, self.documents, mark])
            entry[0] += 1
        self.flags += flags
        if flags:
            self.flagged_documents += 1
            if len(self.listed) < _LISTED:
                self.listed.append((self.documents, document["title"], document["words"], flags))

    @property
    def decisions(self) -> int:
        """How many decisions all tasks took."""
        return sum(decisions for decisions, _ in self.tasks.values())

    @property
    def only_labels(self) -> bool:
        """Whether every decision gives a label, so that none could be flagged."""
        return 0 < self.decisions == sum(sum(labels.values()) for labels in self.labels.values())

    def frequent_labels(self, task: str) -> list[tuple[str, str, int]]:
        """Return a task's most frequent labels, their glosses and how often they are given."""
        ranked = sorted(self.labels.get(task, {}).items(), key=lambda item: (-item[1], item[0]))
        return [(*key, count) for key, count in ranked[:_LABELS]]

    @property
    def whole(self) -> bool:
        """Whether all text is shown."""
        return self.characters <= WHOLE

    def shows(self, number: int, document: dict[str, Any]) -> bool:
        """Tell whether a document is on the page, wholly or in part."""
        return self.whole or (number <= self.last and bool(document["corrections"]))

    def corrections(self) -> list[tuple[str, str, str, int, str | None]]:
        """Return the most frequent ones: task, from, to, how often, anchor of the first if it is shown.

        One that came once is not frequent.
        """
        repeated = [item for item in self._corrections.items() if item[1][0] > 1]
        ranked = sorted(repeated, key=lambda item: (-item[1][0], item[1][1:], item[0]))
        return [
            (*key, count, f"d{document}-{mark}" if self.whole or document <= self.last else None)
            for key, (count, document, mark) in ranked[:_CORRECTIONS]
        ]


@cache
def _style() -> tuple[str, str]:
    """Return the style sheet and the policy that lets it in, and nothing else."""
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return style, f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def opening(title: str, *, language: str) -> str:
    """Return a page up to its body."""
    style, policy = _style()
    return f"""<!DOCTYPE html>
<html lang="{escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="disambig {escape(__version__)}">
<title>{title}</title>
<style>{style}</style>
</head>"""


def head(summary: Summary, *, language: str) -> str:
    """Return the page up to its first document."""
    title = f"{pluralize(*_counted(summary))} in {pluralize(summary.documents, 'document')}"
    return f"""{opening(title, language=language)}
<body>
<header lang="en">
<h1>{title}</h1>
{_figures(summary)}
{_tasks(summary)}
{_corrections(summary)}
{_documents(summary)}
{_legend(summary)}
<p class="hint">Point at a marked word, tap it, or go from one to the next with the Tab key: \
its alternatives appear.{_bars(summary)}</p>
{_left_out(summary)}
</header>
<main{' class="q"' * bool(summary.flags)}>
"""


def section(document: dict[str, Any], number: int, *, whole: bool, labels: bool) -> str:
    """Return a document; of one that is not shown whole only the paragraphs with flags.

    Where there are only `labels` on the page, its decisions are counted instead of its flags.
    """
    parts, hidden = [], 0
    for flags, verse, line, html in document["passages"]:
        if not (whole or flags):
            hidden += 1
            continue
        parts += [
            _gap(hidden),
            f'<p dir="auto"{" class=v" * verse}{f" data-line={line}" * bool(line)}>'
            f"{html.replace(DOCUMENT, f'd{number}')}</p>\n",
        ]
        hidden = 0
    parts.append(_gap(hidden))
    decisions, flags = (sum(counts[which] for counts in document["tasks"].values()) for which in (0, 1))
    row = ' class="row"' if document["row"] else ""
    counts_text = f"{pluralize(document['words'], 'word')}, "
    counts_text += pluralize(decisions, "decision") if labels else pluralize(flags, "flag")
    return (
        f'<section id="d{number}"{row}>\n'
        f'<h2>{isolated(document["title"])} <small lang="en">{counts_text}</small></h2>\n'
        f"{''.join(parts)}</section>\n"
    )


def foot() -> str:
    """Return the end of the page."""
    made = f'<p>Made by disambig {escape(__version__)}. <a href="#">To the top</a></p>'
    return f'</main>\n<footer lang="en">{made}</footer>\n</body>\n</html>\n'


def _gap(paragraphs: int) -> str:
    return (
        f'<p class="hidden" lang="en">{pluralize(paragraphs, "paragraph")} without flags</p>\n'
        if paragraphs
        else ""
    )


def _figures(summary: Summary) -> str:
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


def _tasks(summary: Summary) -> str:
    rows = []
    for index, (task, (decisions, flags)) in enumerate(summary.tasks.items()):
        labels = summary.frequent_labels(task)
        if labels:
            lines = [f"{count:,} {label_html(label, gloss)}" for label, gloss, count in labels]
            more = len(summary.labels[task]) - len(labels)
            lines += [f"and {more:,} more"] if more else []
            cell = "".join(f'<span class="line">{line}</span>' for line in lines)
        else:
            per = 1000 * flags / summary.words if summary.words else 0.0
            rate = f" <small>({per:.1f} per 1,000)</small>"
            cell = f"{pluralize(flags, 'flag')}{rate}"
        key = "l" if labels else f"f k{index % COLOURS}"
        rows.append(
            f'<tr><th scope="row"><span class="{key} key">{escape(task)}</span></th>'
            f"<td>{pluralize(decisions, 'decision')}</td><td>{cell}</td></tr>"
        )
    return f'<table class="tasks">{"".join(rows)}</table>' if rows else ""


def _legend(summary: Summary) -> str:
    """Return how sure flags look, and others; nothing where there are none."""
    if not summary.flags:
        return ""
    sure = '<span class="f k0 key">filled</span>'
    other = '<span class="f u k0 key">underlined only</span>'
    return (
        f'<p class="hint">{sure} rather wrong than right. {other} and with a ?: worth a look. '
        "Percentages say how probable it is that the word is wrong, where one word in a hundred is.</p>"
    )


def _bars(summary: Summary) -> str:
    """Return what the bars of a flag's card say, and its percentages; nothing where there are no flags."""
    hint = " Bars show how well each fits; percentages count in, too, that what stands there is mostly right."
    return hint if summary.flags else ""


def _corrections(summary: Summary) -> str:
    rows = []
    for _, observed, replacement, count, anchor in summary.corrections():
        pair = f"<s>{isolated(observed)}</s> → <b>{isolated(replacement)}</b>"
        link = f'<a href="#{anchor}">{pair}</a>' if anchor else pair
        rows.append(f"<li>{link} <small>{count:,}&times;</small></li>")
    if not rows:
        return ""
    return f'<h2>Most frequent corrections</h2>\n<ol class="corrections">{"".join(rows)}</ol>'


def _documents(summary: Summary) -> str:
    if summary.documents < 2 or not summary.listed:
        return ""
    rows = []
    for number, title, words, flags in summary.listed:
        name = isolated(title)
        link = f'<a href="#d{number}">{name}</a>' if summary.whole or number <= summary.last else name
        counts = f"<td>{pluralize(flags, 'flag')}</td><td>{pluralize(words, 'word')}</td>"
        rows.append(f'<tr><th scope="row">{link}</th>{counts}</tr>')
    more = summary.flagged_documents - len(summary.listed)
    tail = f"<p>and {more:,} more</p>" if more else ""
    return (
        f"<details><summary>{pluralize(summary.flagged_documents, 'document')} with flags</summary>"
        f'<table class="documents">{"".join(rows)}</table>{tail}</details>'
    )


def _counted(summary: Summary) -> tuple[int, str]:
    """Return what the page is about, flags or, where there could be none, decisions: how many, and a noun."""
    return (summary.decisions, "decision") if summary.only_labels else (summary.flags, "flag")


def _left_out(summary: Summary) -> str:
    if summary.whole:
        return ""
    note = f"More than {WHOLE:,} characters of text: only paragraphs with flags are shown"
    if summary.last < summary.documents:
        note += f", and no document after number {summary.last:,}: the page would pass {MOST:,} characters"
    return f'<p class="hint">{note}. All counts are of the whole.</p>'


@dataclass(frozen=True, slots=True)
class JobPart:
    """A page of a job: its file, what it was made of, and what is in it."""

    name: str
    source: str
    documents: int
    words: int
    flags: int


def parts_page(parts: Sequence[JobPart], *, left: int, language: str) -> str:
    """Return the page; `left` shards have no part (yet)."""
    documents, flags = sum(part.documents for part in parts), sum(part.flags for part in parts)
    title = f"{pluralize(flags, 'flag')} in {pluralize(documents, 'document')}"
    rows = "\n".join(
        f'<tr><td><a href="{escape(part.name)}">{escape(part.name)}</a></td><td>{escape(part.source)}</td>'
        f"<td>{part.documents:,}</td><td>{part.words:,}</td><td>{part.flags:,}</td></tr>"
        for part in parts
    )
    missing = f"<p>{pluralize(left, 'part')} could not be made, or not yet.</p>\n" if left else ""
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
    """One page, complete in itself. Long corpora: only paragraphs with flags (see `Summary`).

    Documents wait in a temporary file, since the summary stands before them.
    """

    language: str = "en"
    name: str = "html"
    suffix: str = ".html"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return some documents as JSON, a line each: their figures and paragraphs."""
        drawn = (_drawn(result) for result in results if not result.document.blank)
        return b"".join(json.dumps(document).encode() + b"\n" for document in drawn)

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the page."""
        with TemporaryFile() as held:
            keep, summary = checked_writer(held, gettempdir()), Summary()
            for chunk in chunks:
                keep(chunk)
                for line in chunk.splitlines():
                    summary.add(json.loads(line))
            write(head(summary, language=self.language).encode())
            with writing(gettempdir()):
                held.seek(0)
            labels = summary.only_labels
            for number, line in enumerate(held, 1):
                document = json.loads(line)
                if summary.shows(number, document):
                    write(section(document, number, whole=summary.whole, labels=labels).encode())
            write(foot().encode())


def _drawn(result: AnnotatedDocument) -> dict[str, Any]:
    flagged, labelled = flagged_records(result), label_records(result)
    paragraphs = list(passages(result, [*flagged, *labelled]))
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
        "corrections": [_correction(record) for record in flagged],
        "passages": [[passage.flags, passage.verse, passage.line, passage.html] for passage in paragraphs],
        "size": sum(len(passage.html) for passage in paragraphs if passage.flags),
    }


def _correction(record: dict[str, Any]) -> list[Any]:
    return [
        record["task"],
        show_candidate(record["observed"]).lower(),
        show_candidate(record["replacement"]).lower(),
        record["mark"],
    ]
