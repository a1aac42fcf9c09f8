"""What is written for parsed sentences: brackets, drawings, JSON, a page."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from disambig_exponentiated_gradient.pictures import page
from disambig_exponentiated_gradient.pictures.terminal import drawn, visible
from disambig_exponentiated_gradient.treebank.constituents import below_top, constituents
from disambig_exponentiated_gradient.treebank.writing import indented, one_line

from .parser import COARSE, LONG, NONE, PARSED, Parsed

BRACKETS, INDENTED, TREE, HTML, JSONL = "brackets", "indented", "tree", "html", "jsonl"
FORMATS = (BRACKETS, INDENTED, TREE, HTML, JSONL)


@dataclass(frozen=True, slots=True)
class Showing:
    """How trees are written.

    Attributes
    ----------
    format : str
        One of `FORMATS`.
    nbest : bool
        Whether scores are written beside, for there may be several trees.
    width : int
        Columns for drawings.
    title : str
        Of a page.
    language : str
    """

    format: str
    nbest: bool = False
    width: int = 100
    title: str = "Trees"
    language: str = "en"

    def head(self) -> str:
        """Return what comes before all sentences."""
        return page.head(self.title, language=self.language) if self.format == HTML else ""

    def foot(self) -> str:
        """Return what comes behind all sentences."""
        return page.foot() if self.format == HTML else ""

    def one(self, number: int, where: str, parsed: Parsed) -> str:
        """Return what is written for a sentence; all end with the end of a line."""
        write = {BRACKETS: _brackets, INDENTED: _indented, TREE: _drawn, HTML: _section, JSONL: _json}
        return write[self.format](self, number, where, parsed)


def _brackets(showing: Showing, number: int, where: str, parsed: Parsed) -> str:
    if not showing.nbest:
        return one_line(parsed.best) + "\n"
    scored = zip(parsed.trees, parsed.scores, strict=True)
    return "".join(f"{number}\t{score:.4f}\t{one_line(tree)}\n" for tree, score in scored)


def _indented(showing: Showing, number: int, where: str, parsed: Parsed) -> str:
    return _headed(showing, number, parsed, [indented(tree) + "\n" for tree in parsed.trees])


def _drawn(showing: Showing, number: int, where: str, parsed: Parsed) -> str:
    if parsed.is_flat:
        reason = _SAID[parsed.kind]
        return f"{visible(parsed.sentence.shown)}\n({reason})\n\n"
    words = parsed.sentence.written
    made = [drawn(below_top(tree), width=showing.width, words=words) for tree in parsed.trees]
    return _headed(showing, number, parsed, made)


def _headed(showing: Showing, number: int, parsed: Parsed, made: Sequence[str]) -> str:
    """Return trees with a blank line behind each, and its number and score before it where they are asked."""
    lines = [
        f"# {number}.{rank}  {score:.4f}\n" if showing.nbest else ""
        for rank, score in enumerate(parsed.scores, 1)
    ]
    return "".join(line + tree + "\n" for line, tree in zip(lines, made, strict=True))


_SAID = {
    PARSED: "",
    COARSE: "by the grammar of plain labels: the other one has no parse",
    NONE: "no parse",
    LONG: "too long to be parsed",
}


def _section(showing: Showing, number: int, where: str, parsed: Parsed) -> str:
    said = []
    for rank, score in enumerate(parsed.scores, 1):
        parts = [f"{rank}.", f"ln P = {score:.2f}"] if showing.nbest and not math.isnan(score) else []
        parts += [_SAID[parsed.kind]] if _SAID[parsed.kind] else []
        said.append(" ".join(parts))
    return page.section(
        number,
        parsed.sentence.shown,
        parsed.trees,
        words=parsed.sentence.written,
        said=said if any(said) else (),
        is_flat=parsed.is_flat,
    )


def _json(showing: Showing, number: int, where: str, parsed: Parsed) -> str:
    """Return an object: with scores asked, a list as ``disambig train --lists`` reads them."""
    sentence = parsed.sentence
    said: dict[str, object] = {
        "id": f"{where}#{number}",
        "text": sentence.shown,
        "words": sentence.written,
        "parse": parsed.kind,
    }
    if showing.nbest:
        said["candidates"] = [
            {"text": one_line(tree), "score": None if math.isnan(score) else round(score, 6), "rank": rank}
            for rank, (tree, score) in enumerate(zip(parsed.trees, parsed.scores, strict=True))
        ]
    else:
        score = parsed.scores[0]
        said |= {
            "tags": parsed.best.tags(),
            "tree": one_line(parsed.best),
            "score": None if math.isnan(score) else round(score, 6),
            "constituents": constituents(parsed.best),
        }
    return json.dumps(said, ensure_ascii=False) + "\n"
