"""Confusion sets as users write them: in a file, one a line, or as values in a config."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from disambig.data.groups import Group
from disambig.errors import UserError
from disambig.files.opening import decode, read_small

MAX_BYTES = 1_000_000
"""Maximum size of a file of confusion sets."""
MAX_CANDIDATES = 200
"""Maximum number of candidates in a set: every place in a text is decided between all of them."""
MOST_WORDS = 2
"""Words a candidate may have."""
_CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"
_WORD = re.compile(r"[^\W\d_]+('[^\W\d_]+)*")


def read_confusion_sets(path: str | Path) -> tuple[Group, ...]:
    """Read a file of confusion sets.

    One set a line: candidates separated by ``/``, and behind a tab whatever is to be said of it.
    Empty lines and lines that start with ``#`` are skipped.

    Raises
    ------
    UserError
        D410, with the line, for what is no set; D665 for a file without any; D300, D303, D304 and
        D308 for one that cannot be read, D975 for one that is too large.
    """
    text = decode(read_small(str(path), limit=MAX_BYTES), str(path)).removeprefix("\ufeff")
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
    if not groups:
        raise UserError("D665", path=path)
    return tuple(groups.values())


def confusion_set(said: str | Iterable[str]) -> Group:
    """Return the group of a set written as ``"quite/quiet"`` or given as its members.

    Raises
    ------
    UserError
        D411 for fewer than two members, empty ones, repeated ones, more words than a candidate may
        have, or what is never one word in text ("well-known").
    """
    members = said.split("/") if isinstance(said, str) else list(said)
    candidates = tuple(" ".join(member.lower().replace(_CURLY, "'").split()) for member in members)
    name = "/".join(candidates)
    if len(candidates) < 2 or len(set(candidates)) < len(candidates):
        raise UserError("D411", name=name, problem="it needs two or more different words")
    if len(candidates) > MAX_CANDIDATES:
        raise UserError("D411", name=name[:60], problem=f"it has more than {MAX_CANDIDATES:,} candidates")
    for candidate in candidates:
        words = candidate.split(" ")
        if not candidate or len(words) > MOST_WORDS:
            raise UserError("D411", name=name, problem=f"{candidate!r} is not one word or two")
        if not all(_WORD.fullmatch(word) for word in words):
            raise UserError("D411", name=name, problem=f"{candidate!r} is no word: letters and apostrophes")
    return Group(name, candidates)
