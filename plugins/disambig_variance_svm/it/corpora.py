"""Reads the labelled examples of *it*: QA-It and the expletives of UD English EWT."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from disambig.api import Labelled, UserError, text_lines

from .task import NON_REFERENTIAL, REFERENTIAL

_PLACE = re.compile(r"\[\[(.*?)\]\]")
_ANSWER = ">>>>>"
"""What stands between a question and its answer in QA-It; a blank line takes its place."""
_CLASSES = {"1": NON_REFERENTIAL, "2": REFERENTIAL, "3": REFERENTIAL}
"""Class 4 is an error of the corpus and left out."""
_QA_COLUMNS, _COLUMNS = 6, 10
"""Columns of a line that are needed in QA-It, and those of CoNLL-U."""
_ID = re.compile(r"[0-9]+([-.][0-9]+)?$")


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
        D324 for a malformed row; those of `text_lines` for a file.
    """
    found = []
    for path in sorted((data / "labelled" / "ewt").glob(f"*.{part}.conllu.xz")):
        for document, rows in _sentences(path):
            text, words = _words(rows)
            for start, form, relation in words:
                if form.lower() == "it":
                    label = NON_REFERENTIAL if relation.startswith("expl") else REFERENTIAL
                    found.append(Labelled(text, start, start + 2, label, f"ewt {document}", path.name))
    return found


def _sentences(path: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the document and the rows of each sentence of a CoNLL-U file."""
    document = ""
    rows: list[list[str]] = []
    for number, line in enumerate(text_lines(path), 1):
        if line.startswith("# newdoc id"):
            document = line.partition("=")[2].strip()
        elif not line:
            yield document, rows
            rows = []
        elif not line.startswith("#"):
            row = line.split("\t")
            if len(row) != _COLUMNS:
                problem = f"{len(row)} columns, not {_COLUMNS} with TABs between them"
                raise UserError("D324", path=path, line=number, problem=problem)
            if not _ID.match(row[0]):
                raise UserError("D324", path=path, line=number, problem=f"{row[0][:20]!r} is no id")
            rows.append(row)
    yield document, rows


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
