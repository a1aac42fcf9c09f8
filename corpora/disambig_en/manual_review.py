"""Flags on unchanged paragraphs that one person reviewed, with the verdicts (`read.tsv`, `readings.jsonl`).

A line of the file has a hash of the text of a paragraph in the development part, the offsets of the flag's
edit in it, and the task. If a paragraph looked wrong for another reason than the proposed one, or like a
matter of style, it was taken as correct. `readings.jsonl` has the flags of both parts that the
models raise at several rates up to four in 1,000 words, read anew with the labels that `disambig evaluate
--readings` counts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from material import HOME

from disambig.formats import Clean, FlagReading, paragraph_digest, read_flag_readings

FILE = HOME / "read.tsv"
READINGS = HOME / "readings.jsonl"


class ReviewedFlag(NamedTuple):
    """A flag that was reviewed."""

    paragraph: str
    start: int
    end: int
    task: str
    is_mistake: bool


def reviewed_flags() -> list[ReviewedFlag]:
    """Return the flags that were reviewed."""
    lines = FILE.read_text(encoding="utf8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [
        ReviewedFlag(paragraph, int(start), int(end), task, verdict == "mistake")
        for paragraph, start, end, task, verdict in rows
    ]


def reviewed_mistakes(clean: Sequence[Clean]) -> Iterator[tuple[int, int, int]]:
    """Yield the index of the paragraph and the offsets of each flag that shows a mistake.

    These are the verdicts of the review and of the readings.
    """
    numbers = {paragraph_name(paragraph.text): i for i, paragraph in enumerate(clean)}
    for flag in reviewed_flags():
        if flag.is_mistake and flag.paragraph in numbers:
            yield numbers[flag.paragraph], flag.start, flag.end
    numbers = {paragraph_digest(paragraph.text): i for i, paragraph in enumerate(clean)}
    for reading in readings():
        if reading.label == "mistake" and reading.paragraph in numbers:
            yield numbers[reading.paragraph], reading.start, reading.end


def counts_by_task() -> list[tuple[str, int, int]]:
    """Return the numbers of reviewed flags and of actual mistakes for each task, and for all together."""
    flags = reviewed_flags()
    reviewed = Counter(flag.task for flag in flags)
    mistakes = Counter(flag.task for flag in flags if flag.is_mistake)
    rows = [(task, reviewed[task], mistakes[task]) for task in sorted(reviewed)]
    return [*rows, ("all", len(flags), mistakes.total())]


def readings() -> list[FlagReading]:
    """Return the flags of both parts that were read with more labels."""
    return read_flag_readings(READINGS)


def counts_by_label() -> list[tuple[str, int]]:
    """Return what the text at the flags is, and the number of flags."""
    flags = readings()
    corrected, counts = sum(flag.right for flag in flags), Counter(flag.label for flag in flags)
    return [
        ("a mistake that the suggestion corrects", corrected),
        ("another mistake", counts["mistake"] - corrected),
        ("informal, or one of several accepted forms", counts["taste"]),
        ("right", counts["wrong"]),
    ]


def paragraph_name(text: str) -> str:
    """Return the hash that names a paragraph in the file."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
