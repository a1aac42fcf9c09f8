"""Measure `disambig check` on plain sentences of the kind that learners of English write.

``tests/texts/learner.tsv`` has a sentence a line, its correction and the class of its mistake. Half of the
sentences are right: there the correction is the sentence itself, and the class says to which wrong ones it is
close. All were written before any output was looked at.

    python -m tests.cases.learner_sentences [--show] [OPTION ...]

Each sentence is checked three times: as a document of its own, as a paragraph of one document with all of
them, and in paragraphs of ten, in random order, where the mistakes of one sentence tell about the others.
For each class, the number of wrong sentences that one flag corrects (``right``), that are only flagged
otherwise (``wrong``) or not at all (``missed``) is printed, and of right sentences with a flag (``false``).
``--show`` prints the sentences themselves. All OPTIONs are passed to `disambig check`.
"""

import csv
import itertools
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # also as ``python -m``

from commands import here

TABLE = Path(__file__).parents[1] / "texts" / "learner.tsv"
OUTCOMES = ("right", "wrong", "missed", "false", "silent")
Flag = tuple[int, int, str]
"""Start, end and replacement, as characters of the sentence."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, what it should be, and the class of its mistake."""

    text: str
    correction: str
    kind: str

    @property
    def is_right(self) -> bool:
        return self.text == self.correction

    def outcome(self, flags: list[Flag]) -> str:
        """Return which of `OUTCOMES` flags on this sentence are."""
        if self.is_right:
            return "false" if flags else "silent"
        if not flags:
            return "missed"
        corrected = (self.text[:start] + new + self.text[end:] for start, end, new in flags)
        wanted = _normalise(self.correction)
        return "right" if any(_normalise(text) == wanted for text in corrected) else "wrong"


def _normalise(text: str) -> str:
    return " ".join(text.lower().split())


def read_sentences() -> list[Sentence]:
    with TABLE.open(encoding="utf8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Sentence(row["text"], row["correction"], row["class"]) for row in rows]


LAYOUTS = {"each sentence as a document": 0, "in one document": 1, "in paragraphs of ten": 10}
"""The number of sentences of a paragraph of the one document; 0: a document each."""


def flags_of_sentences(sentences: list[Sentence], *, paragraph: int, options: list[str]) -> list[list[Flag]]:
    """Check all sentences in a layout (`LAYOUTS`). Returns the flags of each sentence."""
    together = paragraph > 0
    between = [(i + 1) % paragraph if together else 0 for i in range(len(sentences))]
    pieces = [item.text + (" " if more else "\n\n") for item, more in zip(sentences, between, strict=True)]
    documents = ["".join(pieces)] if together else [item.text for item in sentences]
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{number:03}.txt" for number in range(len(documents))]
        for name, text in zip(names, documents, strict=True):
            (Path(folder) / name).write_text(text, encoding="utf8")
        ended = here("check", "--format", "json", *options, *names, folder=folder)
    if ended.returncode not in (0, 1):
        raise AssertionError(ended.stderr)
    starts = [0, *itertools.accumulate(map(len, pieces))]
    flags: list[list[Flag]] = [[] for _ in sentences]
    for flag in json.loads(ended.stdout)["flags"]:
        start, end, new = flag["edit"]
        number = int(flag["path"].split(".")[0])
        if together:
            number = max(i for i, first in enumerate(starts) if first <= start)
            start, end = start - starts[number], end - starts[number]
        flags[number].append((start, end, new))
    return flags


def main(arguments: list[str]) -> None:
    sentences = read_sentences()
    options = [argument for argument in arguments if argument != "--show"]
    random.Random(1).shuffle(sentences)
    for layout, paragraph in LAYOUTS.items():
        flags = flags_of_sentences(sentences, paragraph=paragraph, options=options)
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for item, raised in zip(sentences, flags, strict=True):
            outcome = item.outcome(raised)
            for kind in (item.kind, "all"):
                counts[kind][outcome] += 1
            if "--show" in arguments and outcome != "silent":
                made = "; ".join(f"{item.text[start:end]} -> {new}" for start, end, new in raised)
                print(outcome, item.kind, item.text, made, sep="\t")
        print(layout)
        print(f"{'class':22}" + "".join(f"{name:>8}" for name in OUTCOMES[:4]) + "  of right")
        for kind, row in sorted(counts.items(), key=lambda item: item[0] == "all"):
            n_right = row["false"] + row["silent"]
            print(f"{kind:22}" + "".join(f"{row[name]:8}" for name in OUTCOMES[:4]) + f"{n_right:10}")


if __name__ == "__main__":
    main(sys.argv[1:])
