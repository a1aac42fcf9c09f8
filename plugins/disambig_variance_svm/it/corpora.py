"""Reads the labelled examples of *it*: QA-It and the expletives of UD English EWT."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

from disambig.api import Labelled

from .task import NON_REFERENTIAL, REFERENTIAL

_PLACE = re.compile(r"\[\[(.*?)\]\]")
_ANSWER = ">>>>>"
"""What stands between a question and its answer in QA-It; a blank line takes its place."""
_CLASSES = {"1": NON_REFERENTIAL, "2": REFERENTIAL, "3": REFERENTIAL}
"""Class 4 is an error of the corpus and left out."""


def qa_it(data: Path) -> list[Labelled]:
    """Return the examples of QA-It; a document is a pair of question and answer."""
    path = data / "labelled" / "qa-it" / "qa-it-v1.0.tsv"
    found = []
    for number, line in enumerate(path.read_text(encoding="utf8").splitlines(), 1):
        columns = line.split("\t")
        text, places = _unmarked(columns[4].replace(_ANSWER, "\n\n"))
        for (start, end), cls in zip(places, columns[5].split(","), strict=True):
            label = _CLASSES.get(cls.strip())
            if label is not None:
                found.append(
                    Labelled(text, start, end, label, f"qa-it {number}", f"{path.name}, line {number}")
                )
    return found


def _unmarked(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without its brackets, and where they stood."""
    text, at, places = "", 0, []
    for match in _PLACE.finditer(marked):
        text += marked[at : match.start()]
        places.append((len(text), len(text) + len(match[1])))
        text += match[1]
        at = match.end()
    return text + marked[at:], places


def ewt(data: Path, part: str) -> list[Labelled]:
    """Return each "it" of a part of EWT: non-referential where it is an expletive (``expl``).

    A text is a sentence; a document is that of the treebank.
    """
    found = []
    for path in sorted((data / "labelled" / "ewt").glob(f"*.{part}.conllu.xz")):
        document = ""
        with lzma.open(path, "rt", encoding="utf8") as lines:
            for sentence in lines.read().split("\n\n"):
                rows = sentence.split("\n")
                document = next(
                    (row.split("=")[1].strip() for row in rows if row.startswith("# newdoc id")), document
                )
                text, words = _words([row.split("\t") for row in rows if row and not row.startswith("#")])
                for start, form, relation in words:
                    if form.lower() == "it":
                        label = NON_REFERENTIAL if relation.startswith("expl") else REFERENTIAL
                        found.append(Labelled(text, start, start + 2, label, f"ewt {document}", path.name))
    return found


def _words(rows: list[list[str]]) -> tuple[str, list[tuple[int, str, str]]]:
    """Return a sentence's text and, of each syntactic word, where its token begins, form and relation."""
    text, covered, start, words = "", 0, 0, []
    for row in rows:
        number, form, relation, misc = row[0], row[1], row[7], row[9]
        if "." in number:  # a word that is not said
            continue
        if "-" in number or int(number) > covered:
            start = len(text)
            text += form + ("" if "SpaceAfter=No" in misc else " ")
            covered = int(number.partition("-")[2] or number)
        if "-" not in number:
            words.append((start, form, relation))
    return text, words
