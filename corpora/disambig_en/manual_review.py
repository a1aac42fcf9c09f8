"""Flags on untouched paragraphs that one person reviewed: which of them show a mistake (`read.tsv`)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from material import HOME

from disambig.formats import Clean

FILE = HOME / "read.tsv"


class ReviewedFlag(NamedTuple):
    """A flag that was read."""

    paragraph: str
    start: int
    end: int
    task: str
    is_mistake: bool


def flags_read() -> list[ReviewedFlag]:
    """Return the flags that were read."""
    lines = FILE.read_text(encoding="utf8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [
        ReviewedFlag(paragraph, int(start), int(end), task, verdict == "mistake")
        for paragraph, start, end, task, verdict in rows
    ]


def mistakes_read(clean: Sequence[Clean]) -> Iterator[tuple[int, int, int]]:
    """Yield the paragraph, by its number, and the offsets of each flag that shows a mistake."""
    number = {paragraph_name(paragraph.text): i for i, paragraph in enumerate(clean)}
    for flag in flags_read():
        if flag.is_mistake and flag.paragraph in number:
            yield number[flag.paragraph], flag.start, flag.end


def counts_by_task() -> list[tuple[str, int, int]]:
    """Return of each task how many flags were read and how many show a mistake; then of all together."""
    flags = flags_read()
    read, real = (Counter(flag.task for flag in some) for some in (flags, [f for f in flags if f.is_mistake]))
    return [(task, read[task], real[task]) for task in sorted(read)] + [("all", len(flags), real.total())]


def paragraph_name(text: str) -> str:
    """Return what a paragraph is called here."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
