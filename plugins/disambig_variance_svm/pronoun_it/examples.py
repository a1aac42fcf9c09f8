"""Labelled examples of "it": from QA-It and UD English EWT, and selected by patterns from held-out text.

The selected examples cover kinds that treebanks hardly label, and show a learner how far the frame model
can be trusted. The frequencies, and so the probabilities, come from the treebanks' examples only
(`Labelled.picked`). The text was neither counted nor used to train the frame model.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path

from disambig.api import UserError
from disambig.api.experiments import text_lines
from disambig.api.formats import Labelled, read_conllu

from ..plain_text import PACK_DOMAINS, find_files, held_out_files
from .patterns import LABELS, UNMATCHED, find_examples, first_it, sample_wordings, sentences_with_it
from .task import NON_REFERENTIAL, REFERENTIAL

_PLACE = re.compile(r"\[\[(.*?)\]\]")
_ANSWER = ">>>>>"
"""Separator between a question and its answer in QA-It; it is replaced by a blank line."""
_CLASSES = {"1": NON_REFERENTIAL, "2": REFERENTIAL, "3": REFERENTIAL}
"""Class 4 marks errors in the corpus and is left out."""
_QA_COLUMNS = 6
"""Minimum number of columns in a line of QA-It."""
_FORM, _RELATION = 1, 7
"""Column indices in CoNLL-U."""


def read_qa_it(data: Path) -> list[Labelled]:
    """Return the examples of QA-It; a document is a pair of question and answer.

    Raises D460 for a malformed line; errors of `text_lines` for the file.
    """
    path = data / "labelled" / "qa-it" / "qa-it-v1.0.tsv"
    examples = []
    for number, line in enumerate(text_lines(path), 1):
        columns, problem = line.split("\t"), ""
        if len(columns) < _QA_COLUMNS:
            problem = f"{len(columns)} columns, not {_QA_COLUMNS} with TABs between them"
        else:
            text, places = _remove_brackets(columns[4].replace(_ANSWER, "\n\n"))
            classes = columns[5].split(",")
            if len(classes) != len(places):
                problem = f"{len(places)} places in [[ ]] and {len(classes)} classes"
        if problem:
            where = f"{path}, line {number}"
            raise UserError("D460", where=where, problem=f"{problem}; this is not QA-It")
        for (start, end), cls in zip(places, classes, strict=True):
            label = _CLASSES.get(cls.strip())
            if label is not None:
                examples.append(
                    Labelled(text, start, end, label, f"qa-it {number}", f"{path.name}, line {number}")
                )
    return examples


def _remove_brackets(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without its brackets, and the spans that were in brackets."""
    text, at, places = "", 0, []
    for match in _PLACE.finditer(marked):
        text += marked[at : match.start()]
        places.append((len(text), len(text) + len(match[1])))
        text += match[1]
        at = match.end()
    return text + marked[at:], places


def read_ewt(data: Path, part: str) -> list[Labelled]:
    """Return each "it" in a part of EWT; it is non-referential if it is an expletive (``expl``).

    Each text is a sentence; the documents are those of the treebank.

    Raises the errors of `read_conllu`.
    """
    examples = []
    for path in sorted((data / "labelled" / "ewt").glob(f"*.{part}.conllu.xz")):
        for sentence in read_conllu(path):
            rows = ((token.start, sentence.words[word]) for token in sentence.tokens for word in token.words)
            for start, row in rows:
                if row[_FORM].lower() == "it":
                    label = NON_REFERENTIAL if row[_RELATION].startswith("expl") else REFERENTIAL
                    where = f"ewt {sentence.document}", path.name
                    examples.append(Labelled(sentence.spelt, start, start + 2, label, *where))
    return examples


MAX_BY_KIND: Mapping[str, int] = {
    "weather": 150, "time": 150, "idiom": 150, "cleft": 150, "clause": 1200, "thing": 1000, "same": 100,
}  # fmt: skip
"""Maximum number of examples of each kind."""
MAX_UNMATCHED = 1200
"""Maximum number of examples that no pattern matches."""
LONGEST = 400
"""Maximum number of characters of a sentence."""
SAME_WORDING = 4
"""Maximum number of examples with the same wording (the first words of the match)."""
_Match = tuple[str, str, int, str]
"""Domain, sentence, offset of the "it", and wording."""


def pick_examples(data: Path) -> list[Labelled]:
    """Return examples from the held-out text of the pack's domains; each sentence is a document.

    Raises the errors of `text_lines` for the files.
    """
    matches: dict[str, list[_Match]] = defaultdict(list)
    for domain, path in zip(PACK_DOMAINS, find_files(data, held_out_files(PACK_DOMAINS)), strict=True):
        for paragraph in text_lines(path):
            for sentence in sentences_with_it(paragraph):
                if len(sentence) > LONGEST:
                    continue
                examples = find_examples(sentence, MAX_BY_KIND)
                for kind, start, wording in examples:
                    matches[kind].append((domain, sentence, start, wording))
                if not examples:
                    matches[UNMATCHED].append((domain, sentence, first_it(sentence), sentence))
    rng = random.Random(0)
    picked = []
    for kind, n in {**MAX_BY_KIND, UNMATCHED: MAX_UNMATCHED}.items():
        label, source = LABELS.get(kind, REFERENTIAL), f"a pattern of {kind}"
        sample = sample_wordings(matches[kind], itemgetter(3), maximum=n, most_same=SAME_WORDING, rng=rng)
        for domain, sentence, start, _ in sample:
            document, place = f"picked {sentence}", f"{domain}, {source}"
            picked.append(Labelled(sentence, start, start + 2, label, document, place, picked=True))
    return picked
