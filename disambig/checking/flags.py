"""Flags of a text, their lines and columns, and the directives in comments that hide flags."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from disambig.errors import UserError
from disambig.markup import PlainText

if TYPE_CHECKING:
    from disambig.data import Decisions, PrecisionEstimate, PrecisionTable


_LINE_END = re.compile("\r\n|\r|\n")
_MARK = "\ufeff"


class TextLines:
    """The lines of a text.

    Parameters
    ----------
    text : str
        With any line ends, a byte order mark included where it has one.
    """

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._text = text
        self._length = len(text)
        self._marked = text.startswith(_MARK)

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both from 1; columns count characters."""
        line, start = self._find_line(offset)
        column = offset - start + 1
        return line, column - (1 if self._marked and line == 1 and column > 1 else 0)

    def in_utf16(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset; columns count UTF-16 code units, no byte order mark."""
        line, start = self._find_line(offset)
        before = self._text[start:offset].removeprefix(_MARK if start == 0 else "")
        return line, len(before.encode("utf-16-le")) // 2 + 1

    def in_utf8(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset; columns count the bytes of the line as it is in the file."""
        line, start = self._find_line(offset)
        return line, len(self._text[start:offset].encode()) + 1

    def line_around(self, offset: int) -> tuple[int, int]:
        """Return start and end, its line end included, of the line that holds `offset`."""
        line = bisect_right(self._starts, offset)
        return self._starts[line - 1], self._starts[line] if line < len(self._starts) else self._length

    def _find_line(self, offset: int) -> tuple[int, int]:
        """Return the number of the line that holds `offset`, and where it begins."""
        line = bisect_right(self._starts, offset)
        return line, self._starts[line - 1]


_DIRECTIVE = re.compile(
    r"(?:<!--|%+|\.\.|#+|//+|/\*+|--+|;+|\{#|\{-)?\s*disambig\s*:\s*(.*?)\s*(?:--+>|\*+/|#\}|-\})?\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""A whole comment, between the marks of any markup."""
_LONGEST = 10_000
_TASK = "task:"
_DIRECTIVES = ("ignore", "ignore-file", "ignore-line", "ignore-next-line", "off", "on")


@dataclass(frozen=True, slots=True)
class HiddenSpan:
    """One thing that a directive hides.

    Attributes
    ----------
    start, end : int
        What begins there is hidden.
    line : int
        That of the comment, from 1.
    said : str
        The directive, with this one item.
    word, task : str
        What alone is hidden, a word as `plain_word` returns it; "" for any.
    """

    start: int
    end: int
    line: int
    directive: str
    word: str = ""
    task: str = ""

    def hides(self, start: int, observed: str, task: str) -> bool:
        """Tell whether a flag of `task` at `start`, where the plain word `observed` stands, is hidden."""
        return (
            self.start <= start < self.end and self.word in ("", observed) and self.task in ("", task.lower())
        )


@dataclass(frozen=True, slots=True)
class Directives:
    """What is hidden in one text.

    Attributes
    ----------
    hidden : tuple of Hidden
        In the order of the comments.
    problems : tuple of UserError
        Comments that are addressed to the checker and say nothing it knows (D641).
    """

    hidden: tuple[HiddenSpan, ...] = ()
    problems: tuple[UserError, ...] = ()

    def hiding(self, start: int, observed: str, *tasks: str) -> list[HiddenSpan]:
        """Return all that hides a flag at `start`, where `observed` stands.

        Parameters
        ----------
        *tasks : str
            That of the flag, and those that would put something else there: one that is hidden takes all.
        """
        word = plain_word(observed)
        return [each for each in self.hidden if any(each.hides(start, word, task) for task in tasks)]


def plain_word(word: str) -> str:
    """Return a word, or several, as they are compared: lower case, plain apostrophes, single spaces."""
    return " ".join(word.lower().replace("\u2019", "'").split())


def read_directives(
    path: str, text: str, comments: Iterable[tuple[int, int]], places: TextLines
) -> Directives:
    """Return what the comments of a text, at their offsets, ask for."""
    reader = _DirectiveReader(path, text, places)
    for start, end in comments:
        match = _DIRECTIVE.match(text[start : min(end, start + _LONGEST)])
        if match:
            reader.read(start, end, match[1])
    return reader.done()


class _DirectiveReader:
    """The directives of one text, read one after the other."""

    def __init__(self, path: str, text: str, places: TextLines) -> None:
        self._path, self._text, self._end, self._places = path, text, len(text), places
        self._hidden: list[HiddenSpan] = []
        self._open: dict[tuple[str, str], HiddenSpan] = {}  # switched off, by what
        self._problems: list[UserError] = []

    def read(self, start: int, end: int, said: str) -> None:
        """Read what one comment, from `start` to `end`, says."""
        what, items = _parse_directive(said)
        line = self._places.line_and_column(start)[0]
        if what not in _DIRECTIVES or not items:
            self._problems.append(UserError("D641", path=self._path, line=line, said=said[:40]))
        elif what == "on":
            self._switch_on(end, line, items)
        elif what == "off":
            for word, task in items:
                found = HiddenSpan(start, self._end + 1, line, _shown(what, word, task), word, task)
                self._open.setdefault((word, task), found)
        else:
            first, last = self._region(what, start, end)
            for word, task in items:
                self._hidden.append(HiddenSpan(first, last, line, _shown(what, word, task), word, task))

    def done(self) -> Directives:
        """Return what was read; what is still switched off is so up to the end."""
        hidden = sorted([*self._hidden, *self._open.values()], key=lambda each: each.line)
        return Directives(tuple(hidden), tuple(self._problems))

    def _region(self, what: str, start: int, end: int) -> tuple[int, int]:
        if what == "ignore-line":
            return self._places.line_around(start)
        if what == "ignore-next-line":
            return self._next_line(max(start, end - 1))
        return 0, self._end + 1

    def _next_line(self, offset: int) -> tuple[int, int]:
        """Return the first line after that of `offset` that is not blank; nothing where there is none."""
        start = self._places.line_around(offset)[1]
        while start < self._end:
            first, last = self._places.line_around(start)
            if first < start:  # the text ends without a line end
                break
            if self._text[first:last].strip():
                return first, last
            start = last
        return self._end, self._end

    def _switch_on(self, end: int, line: int, items: list[tuple[str, str]]) -> None:
        """End what is switched off: all of it, or what is named; without any the comment does nothing."""
        for item in items:
            ended = list(self._open) if item == ("", "") else [item] if item in self._open else []
            self._hidden += [replace(self._open.pop(key), end=end) for key in ended]
            if not ended:
                self._hidden.append(HiddenSpan(end, end, line, _shown("on", *item), *item))


def _parse_directive(said: str) -> tuple[str, list[tuple[str, str]]]:
    """Return what a directive says to do, and to what: (word, task) each; none where it says it wrongly."""
    what, rest = (*said.split(None, 1), "", "")[:2]
    what = what.lower()
    if not rest:
        return what, [] if what == "ignore" else [("", "")]
    items = []
    for item in rest.split(","):
        plain = plain_word(item)
        if plain.startswith(_TASK):
            items.append(("", plain.removeprefix(_TASK).strip()))
        elif plain:
            items.append((plain, ""))
    return what, [item for item in items if any(item)]


def _shown(what: str, word: str, task: str) -> str:
    return " ".join(filter(None, [what, word or (task and f"{_TASK}{task}")]))


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
    trust: PrecisionEstimate | None = None


@dataclass(frozen=True, slots=True)
class CheckedText:
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
    unused: tuple[HiddenSpan, ...] = ()


def find_flags(
    path: str,
    text: str,
    plain: PlainText,
    decisions: Sequence[Decisions],
    *,
    ignore: Collection[str] = (),
    most_per_1000: float | None = None,
) -> CheckedText:
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
        Of each task, of this text alone, with one flag a place (`disambig.decision.overlaps`).
    ignore : collection of str
        Words, as `plain_word` returns them, that are left alone.
    most_per_1000 : float, optional
        Most flags for 1,000 words; a text is allowed this share of its words, rounded up.
    """
    from disambig.data import record_edit
    from disambig.formats import count_words

    places = TextLines(text)
    directives = read_directives(path, text, plain.comments, places)
    found = []
    used: set[HiddenSpan] = set()
    for record, trust in _flagged_records(decisions, plain.text):
        start, end = record["start"], record["end"]
        observed = text[start:end]
        if record["replacement"] == record["observed"] or observed != plain.text[start:end]:
            continue  # a label, or a pair of words with markup between them
        if plain_word(observed) in ignore:
            continue
        tasks = record["task"], *tasks_at(start, end, record["alternatives"])
        if hiding := directives.hiding(start, observed, *tasks):
            used.update(hiding)
            continue
        line, column = places.line_and_column(start)
        made = record_edit({**record, "replacement": as_written(record["replacement"], text)}, text)
        edit = made["start"], made["end"], made["replacement"]
        chosen = as_written(record["replacement"], text).strip()
        alternatives = tuple(
            {**each, "replacement": as_written(each["replacement"], text)} for each in record["alternatives"]
        )
        task, sure = record["task"], record["probability"]
        known = None if trust is None else trust.estimate(observed, chosen, sure)
        found.append(Flag(start, end, line, column, observed, chosen, task, sure, edit, alternatives, known))
    words = count_words(plain.text)
    kept = surest(found, words, most_per_1000)
    unused = tuple(each for each in directives.hidden if each not in used)
    return CheckedText(tuple(kept), words, len(found) - len(kept), directives.problems, unused)


def tasks_at(start: int, end: int, alternatives: Iterable[dict[str, Any]]) -> list[str]:
    """Return the tasks that would put something else in the same place, not those of neighbours."""
    return [each["task"] for each in alternatives if each["start"] <= end and start <= each["end"]]


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


def _flagged_records(
    decisions: Sequence[Decisions], text: str
) -> list[tuple[dict[str, Any], PrecisionTable | None]]:
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
