"""Labelled examples of "it": from QA-It and UD English EWT, and picked by patterns from held-out text."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from disambig.api import UserError
from disambig.api.experiments import text_lines
from disambig.api.formats import Labelled, read_conllu

from ..plain_text import PACK_DOMAINS, find_files, held_out_files
from .patterns import LABELS, match_patterns
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


def read_qa_it(data: Path) -> list[Labelled]:
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


def read_ewt(data: Path, part: str) -> list[Labelled]:
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


MOST: Mapping[str, int] = {"weather": 36, "time": 60, "idiom": 60, "cleft": 30}
"""Examples of each kind, at most."""
SAME_WORDING = 3
"""Examples of one wording (the first words of what matched), at most."""
_SENTENCE = re.compile(r"[^.!?]*\bit\b[^.!?]*[.!?]?", re.IGNORECASE)
_WORDS = 3


def pick_examples(data: Path, *, most: Mapping[str, int] = MOST, seed: int = 0) -> list[Labelled]:
    """Return examples from the held-out text of the pack's domains; a sentence is a document.

    Raises
    ------
    UserError
        Those of `text_lines` for the files.
    """
    found: dict[str, list[tuple[str, str, int, str]]] = defaultdict(list)
    for domain, path in zip(PACK_DOMAINS, find_files(data, held_out_files(PACK_DOMAINS)), strict=True):
        for paragraph in text_lines(path):
            for match in _SENTENCE.finditer(paragraph):
                sentence = match[0].strip()
                for kind, start, words in match_patterns(sentence, most):
                    found[kind].append((domain, sentence, start, " ".join(words.split()[:_WORDS])))
    rng = random.Random(seed)
    return [each for kind, n in most.items() for each in _sample_examples(kind, found[kind], n, rng)]


def _sample_examples(
    kind: str, found: list[tuple[str, str, int, str]], most: int, rng: random.Random
) -> list[Labelled]:
    """Return some in random order, each sentence once and few of each wording."""
    distinct = list(dict.fromkeys(found))
    rng.shuffle(distinct)
    kept: list[Labelled] = []
    seen = Counter[str]()
    for domain, sentence, start, wording in distinct:
        seen[wording] += 1
        if seen[wording] <= SAME_WORDING and len(kept) < most:
            where = f"{domain}, a pattern of {kind}"
            kept.append(
                Labelled(sentence, start, start + 2, LABELS[kind], f"picked {sentence}", where, picked=True)
            )
    return kept
