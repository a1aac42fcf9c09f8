"""Flags on untouched paragraphs that one reader read: which of them show a mistake (`read.tsv`).

A line names a paragraph of the development part by a hash of its text, where the edit of the flag begins and
ends in it, and its task. What looked wrong for another reason than the one proposed, or like a matter of
style, was taken for right.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from material import HOME

from disambig.formats.fixes.fix import Clean

FILE = HOME / "read.tsv"


class Read(NamedTuple):
    """A flag that was read."""

    paragraph: str
    start: int
    end: int
    task: str
    is_mistake: bool


def flags_read() -> list[Read]:
    """Return the flags that were read."""
    lines = FILE.read_text(encoding="utf8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [
        Read(paragraph, int(start), int(end), task, verdict == "mistake")
        for paragraph, start, end, task, verdict in rows
    ]


def mistakes_read(clean: Sequence[Clean]) -> Iterator[tuple[int, int, int]]:
    """Yield the paragraph, by its number, and the offsets of each flag that shows a mistake."""
    number = {name_of(each.text): i for i, each in enumerate(clean)}
    for flag in flags_read():
        if flag.is_mistake and flag.paragraph in number:
            yield number[flag.paragraph], flag.start, flag.end


def counts_by_task() -> list[tuple[str, int, int]]:
    """Return of each task how many flags were read and how many show a mistake; then of all together."""
    flags = flags_read()
    read, real = (Counter(flag.task for flag in some) for some in (flags, [f for f in flags if f.is_mistake]))
    return [(task, read[task], real[task]) for task in sorted(read)] + [("all", len(flags), real.total())]


def name_of(text: str) -> str:
    """Return what a paragraph is called here."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
