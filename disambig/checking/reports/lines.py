"""Flags as lines for people, as compilers and linters print theirs."""

from __future__ import annotations

from collections.abc import Sequence

from disambig.checking.flags import Flag
from disambig.checking.reports.contract import Ended, Finding
from disambig.formats.readable import on_one_line
from disambig.visible import shown_path


class Lines:
    """A line a flag: ``notes.md:9:36: then -> than (spelling, 0.83)``."""

    def add(self, findings: Sequence[Finding]) -> str:
        """Return the lines of one file."""
        return "".join(line_of(each.name, each.flag, each.outcome) for each in findings)

    def end(self, ended: Ended) -> str:
        """Return nothing: what a run came to is no line of a flag."""
        return ""


def line_of(name: str, flag: Flag, outcome: str = "") -> str:
    """Return the line of a flag in the file `name`, and what became of it."""
    change = f"{on_one_line(flag.observed)} -> {on_one_line(flag.replacement)}"
    place = f"{shown_path(name)}:{flag.line}:{flag.column}"
    said = f"{change} ({flag.task}, {flag.probability:.2f})"
    return f"{place}: {said}{', ' if outcome else ''}{outcome}\n"


def without(left: Sequence[Flag]) -> str:
    """Name the first flags that could not be corrected."""
    return ", ".join(f"{flag.line}:{flag.column} {on_one_line(flag.observed)}" for flag in left[:5])
