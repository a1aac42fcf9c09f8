"""The flags of a text that a client sent, as edits of whole words that it can show and apply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from disambig.checking.directives import read_directives
from disambig.checking.flags import Flag, flags_of, surest
from disambig.checking.live.candidates import Candidate, candidates_of
from disambig.checking.places import Places
from disambig.formats.results import Annotated
from disambig.server.annotated import AnnotatedText
from disambig.server.checker import Checker
from disambig.text.markup import PlainText

_NAME = "text"
MOST_FLAGS = 5_000
"""Flags of a text that are shown: the surest."""
_BEFORE = re.compile(r"\S+[^\S\r\n]*\Z")
_AFTER = re.compile(r"[^\S\r\n]*\S+")
_FAR = 80  # characters in which the word beside is looked for


@dataclass(frozen=True, slots=True)
class Proposal:
    """What should stand there, with the probability that it should."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Shown:
    """A flag as an edit that is neither empty nor invisible.

    Attributes
    ----------
    flag : Flag
        Its offsets are those into the text as it is read.
    start, end : int
        Offsets into the text as the user has it. Where a word is missing or one too many, the word beside
        is taken along.
    proposals : tuple of Proposal
        What to put there: that of the flag, those of less sure tasks, and other candidates.
    """

    flag: Flag
    start: int
    end: int
    proposals: tuple[Proposal, ...]


def shown_flags(text: AnnotatedText, found: Annotated, checker: Checker) -> list[Shown]:
    """Return the flags of a decided text that are to be shown, in text order; `MOST_FLAGS` at most."""
    decisions = [each for each in found.decisions if each.flagged.any()]
    checked = flags_of(_NAME, text.read, PlainText(text.read), decisions, ignore=checker.ignore)
    directives = read_directives(_NAME, text.shown, text.comments, Places(text.shown))
    shown = []
    flags = surest(checked.flags, 1000, MOST_FLAGS)
    candidates = candidates_of(flags, decisions, text.read, checker.loaded)
    for flag, listed in zip(flags, candidates, strict=True):
        each = _shown(flag, text, listed)
        tasks = flag.task, *(other["task"] for other in flag.alternatives)
        if each and not directives.hiding(each.start, flag.observed, *tasks):
            shown.append(each)
    apart = _apart(shown)
    kept = surest([each.flag for each in apart], checked.words, checker.max_flags_per_1000)
    chosen = set(map(id, kept))
    return [each for each in apart if id(each.flag) in chosen]


def _shown(flag: Flag, text: AnnotatedText, candidates: Sequence[Candidate]) -> Shown | None:
    """Return a flag as it is shown; None where it cannot be, because markup is in the way."""
    start, end, new = flag.edit
    for first, last in _around(text.read, start, end, bool(flag.replacement)):
        whole = text.read[first:start] + new + text.read[end:last]
        while last > first and whole[-1:].isspace() and whole[-1] == text.read[last - 1]:
            last, whole = last - 1, whole[:-1]
        if last > first and (place := text.place(first, last)):
            proposals = [Proposal(whole, flag.probability)]
            for other in candidates[1:]:
                begin, stop, put = other.edit
                if first <= begin and stop <= last:
                    changed = text.read[first:begin] + put + text.read[stop:last]
                    proposals += [Proposal(changed, other.probability)] if changed.strip() else []
            return Shown(flag, *place, _distinct(proposals, text.read[first:last]))
    return None


def _apart(shown: Sequence[Shown]) -> list[Shown]:
    """Return the flags without those that overlap a surer one, now that words beside them belong to them."""
    kept: list[Shown] = []
    for each in sorted(shown, key=lambda each: (each.start, each.end)):
        if not kept or kept[-1].end <= each.start:
            kept.append(each)
        elif kept[-1].flag.probability < each.flag.probability:
            kept[-1] = each
    return kept


def _around(text: str, start: int, end: int, puts: bool) -> list[tuple[int, int]]:
    """Return stretches around an edit in which something stands before and after, the best first."""
    if start < end and puts:
        return [(start, end)]
    before = _BEFORE.search(text, max(0, start - _FAR), start)
    after = _AFTER.match(text, end, end + _FAR)
    found = [(before.start(), end)] if before and start < end else []
    found += [(start, after.end())] if after else []
    found += [(before.start(), end)] if before and start == end else []
    return [*found, (start, end)]


def _distinct(proposals: Sequence[Proposal], observed: str) -> tuple[Proposal, ...]:
    first: dict[str, Proposal] = {}
    for each in proposals:
        if each.text != observed:
            first.setdefault(each.text, each)
    return tuple(first.values())
