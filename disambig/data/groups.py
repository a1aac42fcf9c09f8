"""Groups of candidates, and confusion sets as users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from disambig.errors import UserError
from disambig.files import decode, read_small


@dataclass(frozen=True, slots=True)
class Group:
    """A list of candidates that compete for the same place.

    Attributes
    ----------
    name : str
        Unique within its task, such as ``"affect/effect"``.
    candidates : tuple of str
        In normalised form; words are separated by a space (``"may be"``).
    variants : tuple of tuple of str
        Candidates with the same meaning (toward/towards), which are never flagged for one another.
    glosses : tuple of str
        Reference for the meaning of each candidate, such as its key in a dictionary: either none, or one
        per candidate, empty if it is not known.
    learned : bool
        Whether a model was trained for the group. If not, the candidate that was right most often is
        chosen in every context, and its decisions have ``asked`` 0: no evidence was looked up.
    """

    name: str
    candidates: tuple[str, ...]
    variants: tuple[tuple[str, ...], ...] = ()
    glosses: tuple[str, ...] = ()
    learned: bool = True

    def same(self, first: int, second: int) -> bool:
        """Return True if two candidates, given by index, are equal or variants of each other."""
        pair = {self.candidates[first], self.candidates[second]}
        return len(pair) == 1 or any(pair <= set(variants) for variants in self.variants)


MAX_BYTES = 1_000_000
"""Maximum size of a file of confusion sets, in bytes."""
MAX_CANDIDATES = 200
"""Maximum number of candidates in a set, all of which are compared at every place."""
MAX_WORDS = 2
"""Maximum number of words of a candidate."""
_CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"
_WORD = re.compile(r"[^\W\d_]+('[^\W\d_]+)*")


def read_confusion_sets(path: str | Path) -> tuple[Group, ...]:
    """Read a file of confusion sets.

    One set per line: candidates separated by ``/``, optionally followed by a tab and a comment.
    Empty lines and lines that start with ``#`` are skipped.

    Raises
    ------
    UserError
        D410, with the line, for an invalid set; D665 for a file without sets; D300, D303, D304 and
        D308 for one that cannot be read; D975 for one that is too large.
    """
    text = decode(read_small(str(path), limit=MAX_BYTES), str(path)).removeprefix("\ufeff")
    groups: dict[str, Group] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.split("\t")[0].strip()
        if not entry or entry.startswith("#"):
            continue
        try:
            group = confusion_set(entry)
        except UserError as problem:
            raise UserError("D410", path=path, line=number, problem=problem.values["problem"]) from problem
        if group.name in groups:
            raise UserError("D410", path=path, line=number, problem=f"{group.name} occurs twice")
        groups[group.name] = group
    if not groups:
        raise UserError("D665", path=path)
    return tuple(groups.values())


def confusion_set(value: str | Iterable[str]) -> Group:
    """Return the group of a set written as ``"quite/quiet"`` or given as its members.

    Raises
    ------
    UserError
        D411 for fewer than two members, empty or repeated members, members with too many words, or
        members that are never one word in a text ("well-known").
    """
    members = value.split("/") if isinstance(value, str) else list(value)
    candidates = tuple(" ".join(member.lower().replace(_CURLY, "'").split()) for member in members)
    name = "/".join(candidates)
    if len(candidates) < 2 or len(set(candidates)) < len(candidates):
        raise UserError("D411", name=name, problem="it needs two or more different words")
    if len(candidates) > MAX_CANDIDATES:
        raise UserError("D411", name=name[:60], problem=f"it has more than {MAX_CANDIDATES:,} candidates")
    for candidate in candidates:
        words = candidate.split(" ")
        if not candidate or len(words) > MAX_WORDS:
            raise UserError("D411", name=name, problem=f"{candidate!r} is not one word or two")
        if not all(_WORD.fullmatch(word) for word in words):
            raise UserError(
                "D411", name=name, problem=f"{candidate!r} is not a word of letters and apostrophes"
            )
    return Group(name, candidates)
