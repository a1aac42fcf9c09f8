"""The page itself: its head with the summary, a section for each document, its end."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from disambig import __version__
from disambig.formats.html.escaping import escape, isolated
from disambig.formats.html.passages import COLOURS, DOCUMENT, labelled
from disambig.formats.html.summary import MOST, WHOLE, Summary
from disambig.plural import many


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
    title = f"{many(*_counted(summary))} in {many(summary.documents, 'document')}"
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
    said = f"{many(document['words'], 'word')}, "
    said += many(decisions, "decision") if labels else many(flags, "flag")
    return (
        f'<section id="d{number}"{row}>\n'
        f'<h2>{isolated(document["title"])} <small lang="en">{said}</small></h2>\n'
        f"{''.join(parts)}</section>\n"
    )


def foot() -> str:
    """Return the end of the page."""
    made = f'<p>Made by disambig {escape(__version__)}. <a href="#">To the top</a></p>'
    return f'</main>\n<footer lang="en">{made}</footer>\n</body>\n</html>\n'


def _gap(paragraphs: int) -> str:
    return (
        f'<p class="hidden" lang="en">{many(paragraphs, "paragraph")} without flags</p>\n'
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
            lines = [f"{count:,} {labelled(label, gloss)}" for label, gloss, count in labels]
            more = len(summary.labels[task]) - len(labels)
            lines += [f"and {more:,} more"] if more else []
            said = "".join(f'<span class="line">{line}</span>' for line in lines)
        else:
            per = 1000 * flags / summary.words if summary.words else 0.0
            rate = f" <small>({per:.1f} per 1,000)</small>"
            said = f"{many(flags, 'flag')}{rate}"
        key = "l" if labels else f"f k{index % COLOURS}"
        rows.append(
            f'<tr><th scope="row"><span class="{key} key">{escape(task)}</span></th>'
            f"<td>{many(decisions, 'decision')}</td><td>{said}</td></tr>"
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
    said = " Bars show how well each fits; percentages count in, too, that what stands there is mostly right."
    return said if summary.flags else ""


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
        counts = f"<td>{many(flags, 'flag')}</td><td>{many(words, 'word')}</td>"
        rows.append(f'<tr><th scope="row">{link}</th>{counts}</tr>')
    more = summary.flagged_documents - len(summary.listed)
    tail = f"<p>and {more:,} more</p>" if more else ""
    return (
        f"<details><summary>{many(summary.flagged_documents, 'document')} with flags</summary>"
        f'<table class="documents">{"".join(rows)}</table>{tail}</details>'
    )


def _counted(summary: Summary) -> tuple[int, str]:
    """Return what the page is about, flags or, where there could be none, decisions: how many, and a noun."""
    return (summary.decisions, "decision") if summary.only_labels else (summary.flags, "flag")


def _left_out(summary: Summary) -> str:
    if summary.whole:
        return ""
    said = f"More than {WHOLE:,} characters of text: only paragraphs with flags are shown"
    if summary.last < summary.documents:
        said += f", and no document after number {summary.last:,}: the page would pass {MOST:,} characters"
    return f'<p class="hint">{said}. All counts are of the whole.</p>'
