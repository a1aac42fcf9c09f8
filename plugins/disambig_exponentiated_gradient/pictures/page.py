"""A page of trees: whole in itself, nothing is loaded from elsewhere, and no script is in it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from disambig.api.formats import escape
from disambig_exponentiated_gradient.treebank.constituents import below_top
from disambig_exponentiated_gradient.treebank.tree import Tree
from disambig_exponentiated_gradient.treebank.writing import indented

from .svg import KINDS, svg

_NAMES = {
    "noun": "noun phrase",
    "verb": "verb phrase",
    "clause": "clause",
    "preposition": "prepositional phrase",
    "modifier": "adjective, adverb and the like",
}


@cache
def _style() -> tuple[str, str]:
    """Return the style sheet and the policy that lets it in, and nothing else."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return style, f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def head(title: str, *, language: str = "en") -> str:
    """Return the page up to its first sentence."""
    style, policy = _style()
    key = "".join(f'<li class="{kind}">{_NAMES[kind]}</li>' for kind in KINDS)
    return f"""<!DOCTYPE html>
<html lang="{escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<header lang="en">
<h1>{escape(title)}</h1>
<ul class="key">{key}</ul>
</header>
<main>
"""


def section(
    number: int,
    sentence: str,
    trees: Sequence[Tree],
    *,
    words: Sequence[str] | None = None,
    said: Sequence[str] = (),
    is_flat: bool = False,
) -> str:
    """Return a sentence and its trees.

    Parameters
    ----------
    number : int
        Of the sentence.
    sentence : str
    trees : sequence of Tree
    words : sequence of str, optional
        What is shown for each word.
    said : sequence of str
        A line above each tree, such as its score.
    is_flat : bool
        Whether there is no parse: no picture is made then.
    """
    parts = [
        f'<section id="s{number}">\n<h2 dir="auto"><span class="n">{number}</span>{escape(sentence)}</h2>\n'
    ]
    for i, tree in enumerate(trees):
        if i < len(said):
            parts.append(f'<p class="score" lang="en">{escape(said[i])}</p>\n')
        if is_flat:
            continue
        drawn = below_top(tree)
        brackets = (
            f'<details lang="en"><summary>brackets</summary><pre>{escape(indented(tree))}</pre></details>'
        )
        parts.append(f'<div class="picture">{svg(drawn, words)}</div>\n{brackets}\n')
    return "".join(parts) + "</section>\n"


def foot() -> str:
    """Return the end of the page."""
    return "</main>\n</body>\n</html>\n"


def page(title: str, sections: Sequence[str]) -> str:
    """Return a whole page of sections."""
    return head(title) + "".join(sections) + foot()
