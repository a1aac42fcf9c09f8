"""Confusion sets: the English ones that ship, and the reader of anybody's own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from disambig.api import Group, UserError

MOST_WORDS = 2
"""Words a candidate may have."""


def read_confusion_sets(path: str | Path) -> tuple[Group, ...]:
    """Read a file of confusion sets.

    One set a line: candidates separated by ``/``, and behind a tab whatever is to be said of it.
    Empty lines and lines that start with ``#`` are skipped.

    Raises
    ------
    UserError
        D410, with the line, for what is no set; D300-like for an unreadable file.
    """
    try:
        text = Path(path).read_text(encoding="utf8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError("D410", path=path, line=0, problem=problem) from problem
    groups: dict[str, Group] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        said = line.split("\t")[0].strip()
        if not said or said.startswith("#"):
            continue
        try:
            group = confusion_set(said)
        except UserError as problem:
            raise UserError("D410", path=path, line=number, problem=problem.values["problem"]) from problem
        if group.name in groups:
            raise UserError("D410", path=path, line=number, problem=f"{group.name} is there twice")
        groups[group.name] = group
    return tuple(groups.values())


def confusion_set(said: str | Iterable[str]) -> Group:
    """Return the group of a set written as ``"quite/quiet"`` or given as its members.

    Raises
    ------
    UserError
        D411 for fewer than two members, empty ones, repeated ones, or more words than a candidate may have.
    """
    members = said.split("/") if isinstance(said, str) else list(said)
    candidates = tuple(" ".join(member.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()) for member in members)
    name = "/".join(candidates)
    if len(candidates) < 2 or len(set(candidates)) < len(candidates):
        raise UserError("D411", name=name, problem="it needs two or more different words")
    for candidate in candidates:
        if not candidate or len(candidate.split(" ")) > MOST_WORDS:
            raise UserError("D411", name=name, problem=f"{candidate!r} is not one word or two")
    return Group(name, candidates)
