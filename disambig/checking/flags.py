"""Flags of a text, at their places: what the decisions of several tasks come to. Nothing is written here."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from disambig.checking.directives import Hidden, plain_word, read_directives
from disambig.checking.places import Places
from disambig.errors import UserError
from disambig.text.markup import PlainText

if TYPE_CHECKING:
    from disambig.data.decisions import Decisions
    from disambig.data.trust import Share, Trust


@dataclass(frozen=True, slots=True)
class Flag:
    """A word that should be another.

    Attributes
    ----------
    start, end : int
        Offsets into the text of the file.
    line, column : int
        From 1; columns count characters.
    observed, replacement : str
        What stands there and what should, in the same case; "" where there is or should be no word.
    task : str
    probability : float
        That the replacement should stand there.
    edit : (start, end, text)
        The change that corrects it: with a word a space may have to go or come.
    alternatives : tuple of dict
        What less sure tasks would put there, as records have them.
    trust : Share, optional
        How many of the flags that are at least as sure were right, where that was measured.
    """

    start: int
    end: int
    line: int
    column: int
    observed: str
    replacement: str
    task: str
    probability: float
    edit: tuple[int, int, str]
    alternatives: tuple[dict[str, Any], ...] = ()
    trust: Share | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in one text.

    Attributes
    ----------
    flags : tuple of Flag
        In text order.
    words : int
        Words of the text.
    left_out : int
        Flags above the most that were wanted.
    problems : tuple of UserError
        Comments that are no directives.
    unused : tuple of Hidden
        What directives would hide, where nothing is flagged.
    """

    flags: tuple[Flag, ...]
    words: int
    left_out: int = 0
    problems: tuple[UserError, ...] = ()
    unused: tuple[Hidden, ...] = ()


def flags_of(
    path: str,
    text: str,
    plain: PlainText,
    decisions: Sequence[Decisions],
    *,
    ignore: Collection[str] = (),
    most_per_1000: float | None = None,
) -> Checked:
    """Return the flags of one text.

    Parameters
    ----------
    path : str
        For messages.
    text : str
        As it stands in its file.
    plain : PlainText
        The same without markup, on which was decided.
    decisions : sequence of Decisions
        Of each task, of this text alone, with one flag a place (`disambig.model.one_place`).
    ignore : collection of str
        Words, as `plain_word` returns them, that are left alone.
    most_per_1000 : float, optional
        Most flags for 1,000 words; a text is allowed this share of its words, rounded up.
    """
    from disambig.formats.edits import edit_of
    from disambig.formats.results import count_words

    places = Places(text)
    directives = read_directives(path, text, plain.comments, places)
    found = []
    used: set[Hidden] = set()
    for record, trust in _flagged(decisions, plain.text):
        start, end = record["start"], record["end"]
        observed = text[start:end]
        if record["replacement"] == record["observed"] or observed != plain.text[start:end]:
            continue  # a label, or a pair of words with markup between them
        if plain_word(observed) in ignore:
            continue
        tasks = record["task"], *(each["task"] for each in record["alternatives"])
        if hiding := directives.hiding(start, observed, *tasks):
            used.update(hiding)
            continue
        line, column = places.of(start)
        made = edit_of({**record, "replacement": as_written(record["replacement"], text)}, text)
        edit = made["start"], made["end"], made["replacement"]
        chosen = as_written(record["replacement"], text).strip()
        others = tuple(
            {**each, "replacement": as_written(each["replacement"], text)} for each in record["alternatives"]
        )
        task, sure = record["task"], record["probability"]
        known = None if trust is None else trust.of(observed, chosen, sure)
        found.append(Flag(start, end, line, column, observed, chosen, task, sure, edit, others, known))
    words = count_words(plain.text)
    kept = surest(found, words, most_per_1000)
    unused = tuple(each for each in directives.hidden if each not in used)
    return Checked(tuple(kept), words, len(found) - len(kept), directives.problems, unused)


def surest(flags: Sequence[Flag], words: int, most_per_1000: float | None) -> list[Flag]:
    """Return the surest flags of a text with so many words, in text order: its share of them, rounded up."""
    most = len(flags) if most_per_1000 is None else math.ceil(most_per_1000 * words / 1000)
    return sorted(sorted(flags, key=_surest_first)[:most], key=_in_order)


def choose(flags: Iterable[Flag]) -> tuple[list[Flag], list[Flag]]:
    """Return the flags that can be corrected together, and those that are left, both in text order.

    Of two that overlap the surer one is taken; none is taken that goes over a line end.
    """
    taken: list[Flag] = []
    left: list[Flag] = []
    furthest = -1
    cluster: list[Flag] = []
    for flag in sorted(flags, key=_by_edit):
        start, end, _ = flag.edit
        if start >= furthest:
            _choose_among(cluster, taken, left)
            cluster = []
        cluster.append(flag)
        furthest = max(furthest, end, start + 1)
    _choose_among(cluster, taken, left)
    return sorted(taken, key=_by_edit), sorted(left, key=_in_order)


def corrected(text: str, flags: Sequence[Flag]) -> str:
    """Return `text` with the edits of the flags that `choose` took."""
    parts, at = [], 0
    for flag in flags:
        start, end, new = flag.edit
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _choose_among(cluster: Sequence[Flag], taken: list[Flag], left: list[Flag]) -> None:
    """Sort a few flags that overlap each other into those taken and those left."""
    own: list[Flag] = []
    for flag in sorted(cluster, key=_surest_first):
        over_lines = "\n" in flag.observed or "\r" in flag.observed
        if over_lines or any(_overlap(flag.edit, other.edit) for other in own):
            left.append(flag)
        else:
            own.append(flag)
    taken += own


def _overlap(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    same_place = one[0] == other[0] and (one[0] == one[1]) == (other[0] == other[1])
    return same_place or (one[0] < other[1] and other[0] < one[1])


def _by_edit(flag: Flag) -> tuple[int, int, float]:
    return *flag.edit[:2], -flag.probability


def _surest_first(flag: Flag) -> tuple[float, int, int, str]:
    return -flag.probability, flag.start, flag.end, flag.task


def _in_order(flag: Flag) -> tuple[int, int, float, str]:
    return flag.start, flag.end, -flag.probability, flag.task


def _flagged(decisions: Sequence[Decisions], text: str) -> list[tuple[dict[str, Any], Trust | None]]:
    import numpy as np

    return [
        (of_task.record(int(i), text), of_task.trust)
        for of_task in decisions
        for i in np.flatnonzero(of_task.flagged)
    ]


def as_written(replacement: str, text: str) -> str:
    """Return `replacement` with curly apostrophes, where the text has them."""
    if "'" in replacement and "\u2019" in text and text.count("\u2019") > text.count("'"):
        return replacement.replace("'", "\u2019")
    return replacement
