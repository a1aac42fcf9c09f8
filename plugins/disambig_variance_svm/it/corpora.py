"""Reads the labelled examples of *it*: QA-It and the expletives of UD English EWT."""

from __future__ import annotations

import re
from pathlib import Path

from disambig.api import UserError
from disambig.api.experiments import text_lines
from disambig.api.formats import Labelled, read_conllu

from .task import NON_REFERENTIAL, REFERENTIAL

_PLACE = re.compile(r"\[\[(.*?)\]\]")
_ANSWER = ">>>>>"
"""What stands between a question and its answer in QA-It; a blank line takes its place."""
_CLASSES = {"1": NON_REFERENTIAL, "2": REFERENTIAL, "3": REFERENTIAL}
"""Class 4 is an error of the corpus and left out."""
_QA_COLUMNS = 6
"""Columns of a line that are needed in QA-It."""
_FORM, _RELATION = 1, 7
"""Columns of CoNLL-U."""


def qa_it(data: Path) -> list[Labelled]:
    """Return the examples of QA-It; a document is a pair of question and answer.

    Raises
    ------
    UserError
        D460 for a malformed line; those of `text_lines` for the file.
    """
    path = data / "labelled" / "qa-it" / "qa-it-v1.0.tsv"
    found = []
    for number, line in enumerate(text_lines(path), 1):
        columns = line.split("\t")
        if len(columns) < _QA_COLUMNS:
            problem = f"{len(columns)} columns, not {_QA_COLUMNS} with TABs between them"
            raise _malformed(path, number, problem)
        text, places = _unmarked(columns[4].replace(_ANSWER, "\n\n"))
        classes = columns[5].split(",")
        if len(classes) != len(places):
            raise _malformed(path, number, f"{len(places)} places in [[ ]] and {len(classes)} classes")
        for (start, end), cls in zip(places, classes, strict=True):
            label = _CLASSES.get(cls.strip())
            if label is not None:
                found.append(
                    Labelled(text, start, end, label, f"qa-it {number}", f"{path.name}, line {number}")
                )
    return found


def _malformed(path: Path, number: int, problem: str) -> UserError:
    return UserError("D460", where=f"{path}, line {number}", problem=f"{problem}; this is no QA-It")


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

    Raises
    ------
    UserError
        Those of `read_conllu`.
    """
    return [
        Labelled(
            sentence.spelt,
            token.start,
            token.start + 2,
            NON_REFERENTIAL if sentence.words[word][_RELATION].startswith("expl") else REFERENTIAL,
            f"ewt {sentence.document}",
            path.name,
        )
        for path in sorted((data / "labelled" / "ewt").glob(f"*.{part}.conllu.xz"))
        for sentence in read_conllu(path)
        for token in sentence.tokens
        for word in token.words
        if sentence.words[word][_FORM].lower() == "it"
    ]
