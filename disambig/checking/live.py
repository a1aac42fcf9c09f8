"""Check a text again after each change; only changed paragraphs are decided anew."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from disambig.checking.baseline import Baseline, read_baseline
from disambig.checking.flags import CheckedText, Flag, as_written, find_flags, plain_word, surest
from disambig.configuration import CheckSettings
from disambig.jobs import ModelAnnotator, join_pieces
from disambig.markup import BREAK, MARKDOWN, PlainText, read_markup
from disambig.text import connected_spans

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.jobs import Annotate


LEAST = 0.02
"""A candidate that is less probable is not named."""
MOST = 5
_Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class FlagCandidate:
    """What may stand there.

    Attributes
    ----------
    text : str
        "" for no word.
    probability : float
        That it should stand there.
    edit : (start, end, text)
        The change that puts it there.
    elsewhere : str, optional
        What it stands in the place of, where that is not the place of the flag but beside it.
    """

    text: str
    probability: float
    edit: _Edit
    elsewhere: str | None = None


def flag_candidates(
    flags: Sequence[Flag], decisions: Sequence[Decisions], text: str, annotate: Annotate
) -> list[list[FlagCandidate]]:
    """Return the candidates of each flag, what is proposed first, no two that come to the same.

    Parameters
    ----------
    decisions : sequence of Decisions
        A task each, the flags among them.
    text : str
        The text as it stands in its file.
    annotate : Annotate
        What decided; models that are no `disambig.jobs.annotation.ModelAnnotator` name no runners-up.
    """
    models = (
        {each.task.name: each for each in annotate.models} if isinstance(annotate, ModelAnnotator) else {}
    )
    raised = {each.task: each.take(np.flatnonzero(each.flagged)) for each in decisions}
    rows = {
        (task, *place): row
        for task, each in raised.items()
        for row, place in enumerate(zip(each.starts.tolist(), each.ends.tolist(), strict=True))
    }
    shares: dict[str, Any] = {}
    found = []
    for flag in flags:
        listed = [FlagCandidate(flag.replacement, flag.probability, flag.edit)]
        listed += [_alternative(each, flag, text) for each in flag.alternatives]
        row = rows.get((flag.task, flag.start, flag.end))
        if row is not None and flag.task in models:
            if flag.task not in shares:
                shares[flag.task] = models[flag.task].candidate_probabilities(raised[flag.task])
            if shares[flag.task] is not None:
                runners = _runners_up(raised[flag.task], row, shares[flag.task], text)
                listed += [replace(each, probability=each.probability * flag.probability) for each in runners]
        found.append([listed[0], *(each for each in _each_once(listed)[1:MOST] if each.probability >= LEAST)])
    return found


def _each_once(candidates: Sequence[FlagCandidate]) -> list[FlagCandidate]:
    found: dict[_Edit, FlagCandidate] = {}
    for each in candidates:
        found.setdefault(each.edit, each)
    return list(found.values())


def _alternative(other: dict[str, Any], flag: Flag, text: str) -> FlagCandidate:
    start, end = other["start"], other["end"]
    edit = _candidate_edit(start, end, other["replacement"], text)
    beside = end <= flag.start or flag.end <= start
    elsewhere = text[start:end] if beside and (start, end) != (flag.start, flag.end) else None
    return FlagCandidate(other["replacement"].strip(), other["probability"], edit, elsewhere)


def _runners_up(decisions: Decisions, row: int, shares: Any, text: str) -> list[FlagCandidate]:
    """Return the most probable candidates, each with its share in all but what stands there."""
    from disambig.data import replacement

    first, stop = decisions.offsets[row : row + 2].tolist()
    start, end, observed = int(decisions.starts[row]), int(decisions.ends[row]), int(decisions.observed[row])
    own = np.array(shares[first:stop], np.float64)
    if observed >= 0:
        own[observed] = 0.0
    own /= own.sum() or 1.0
    names = decisions.candidate_texts(row)
    found = []
    for number in np.argsort(-own, kind="stable").tolist()[: MOST + 1]:
        new = as_written(replacement(names[number], text, start, end), text)
        if new != text[start:end]:
            found.append(
                FlagCandidate(new.strip(), float(own[number]), _candidate_edit(start, end, new, text))
            )
    return found


def _candidate_edit(start: int, end: int, new: str, text: str) -> _Edit:
    from disambig.data import record_edit

    made = record_edit({"start": start, "end": end, "observed": text[start:end], "replacement": new}, text)
    return made["start"], made["end"], made["replacement"]


REACH = 26
"""Words; the networks of the English models see 25 to each side."""
FAR = 64
"""Parts to each side beyond which no words are looked for: most of these have none."""
_BLANK = re.compile(r"\n\s*\n")
_ITEM = re.compile(rf"\n[^\S\r\n{BREAK}]*(?={BREAK})")
_INDENTED_ON = re.compile(r"\n(?: {4}|\t)[^\S\n]*\n(?: {4}|\t)[^\S\n]*\S")
"""Code that is indented goes on over blank lines which are indented, too."""
_MARK = re.compile("[`<>]|~~~")
"""What may begin or end code: a piece of it is no code."""
_WORD = re.compile(r"[^\W_]+(?:[\u2019'.,:][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text, and what it is decided with.

    Attributes
    ----------
    start, end : int
        Offsets into the text.
    first, last : int
        Offsets of the part with the words around it.
    """

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _PartWords:
    """The words of a part: how many, where the first `REACH` of them end, and where the last ones begin.

    Where it may not be cut these are its own end and begin.
    """

    number: int
    head: int
    tail: int


class ParagraphCutter:
    """Cuts one text again and again; it keeps what it found between the blank lines of the last time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[int], list[_PartWords]]] = {}

    def cut(self, text: str) -> list[TextPart]:
        """Return the parts of a text, which follow each other without a gap."""
        bounds, words = self._cut(text)
        n = len(words)
        before = [0, *accumulate(each.number for each in words)]  # words before each part
        parts = []
        for at in range(n):
            low = max(bisect_right(before, before[at] - REACH) - 1, at - FAR, 0)
            high = min(bisect_left(before, before[at + 1] + REACH), at + 1 + FAR, n)
            first = bounds[low] + (words[low].tail if low < at else 0)
            last = bounds[high - 1] + words[high - 1].head if high > at + 1 else bounds[high]
            parts.append(TextPart(bounds[at], bounds[at + 1], first, last))
        return parts

    def _cut(self, text: str) -> tuple[list[int], list[_PartWords]]:
        """Return where the parts begin, and where the last one ends; and the words of each."""
        bounds, words = [0], []
        known: dict[str, tuple[list[int], list[_PartWords]]] = {}
        for start, end in pairwise(_blank_line_stretches(text)):
            stretch = text[start:end]
            found = known.get(stretch) or self._known.get(stretch)
            if found is None:
                ends = _ends(stretch)
                found = ends, [_words(stretch[one:other]) for one, other in pairwise([0, *ends])]
            known[stretch] = found
            bounds += [start + own for own in found[0]]
            words += found[1]
        self._known = known
        return bounds, words


def _blank_line_stretches(text: str) -> list[int]:
    """Return where a text can be cut at blank lines, its begin and its end; [0] of nothing."""
    places = [match.end() for match in _BLANK.finditer(text)]
    if "```" in text or "~~~" in text or "<" in text or _INDENTED_ON.search(text):
        _leave_out(places, text)
    return sorted({0, *places, len(text)})


def _ends(stretch: str) -> list[int]:
    """Return where the parts of a stretch without a blank line, or with code that has some, end."""
    places = [match.end() for match in _ITEM.finditer(stretch)]
    if places:
        _leave_out(places, stretch)
    return sorted({*places, len(stretch)} - {0})


def _leave_out(places: list[int], text: str) -> None:
    """Leave out the places within code."""
    for start, end in connected_spans(text):
        del places[bisect_right(places, start) : bisect_left(places, end)]


def _words(part: str) -> _PartWords:
    spans = [match.span() for match in _WORD.finditer(part)]
    if len(spans) < REACH or _MARK.search(part):
        return _PartWords(len(spans), len(part), 0)
    return _PartWords(len(spans), spans[REACH - 1][1], spans[-REACH][0])


AT_ONCE = 50_000
"""Characters decided together; then somebody may say that it is not wanted any more."""
_Key = tuple[str, int, int]
"""A part with the parts around it, and where in that it begins and ends."""


@dataclass(frozen=True, slots=True)
class _PartFlags:
    """The decisions of each task that raise a flag in a part; none at all where no task has any."""

    decisions: tuple[Decisions, ...] = ()
    start: int = 0
    """Where the part begins in what the offsets count in."""


_NOTHING = _PartFlags()


class IncrementalDecisions:
    """Decides one text again and again, and keeps what the last time came to.

    Parameters
    ----------
    annotate : Annotate
        The models.
    """

    def __init__(self, annotate: Annotate) -> None:
        self._annotate = annotate
        self._known: dict[_Key, _PartFlags] = {}

    def update(
        self, text: str, parts: Sequence[TextPart], stop: Callable[[], bool]
    ) -> Sequence[Decisions] | None:
        """Return the decisions of each task that raise a flag; None where `stop` told to leave it.

        Parameters
        ----------
        stop : callable
            Asked after every `AT_ONCE` characters; what was decided by then is kept.
        """
        keys = [
            (text[part.first : part.last], part.start - part.first, part.end - part.first) for part in parts
        ]
        known = {key: self._known[key] for key in keys if key in self._known}
        unknown = [number for number, key in enumerate(keys) if key not in known]
        for numbers in _batches(parts, unknown):
            if stop():
                self._known |= known
                return None
            self._decide(
                text, [parts[number] for number in numbers], [keys[number] for number in numbers], known
            )
        self._known = known
        pieces = [
            (raised.decisions, part.start - raised.start)
            for key, part in zip(keys, parts, strict=True)
            if (raised := known[key]).decisions
        ]
        return join_pieces(pieces) if pieces else ()

    def _decide(
        self, text: str, parts: Sequence[TextPart], keys: Sequence[_Key], known: dict[_Key, _PartFlags]
    ) -> None:
        """Decide some parts: those that touch as one document."""
        stretches = _part_stretches(parts)
        documents = [text[parts[rows[0]].first : parts[rows[-1]].last] for rows in stretches]
        found = self._annotate(documents)
        for number, rows in enumerate(stretches):
            base = parts[rows[0]].first
            own = [decisions.in_document(number) for decisions in found]
            raised = [each.take(np.flatnonzero(each.raised)) for each in own]
            for row in rows:
                start, end = parts[row].start - base, parts[row].end - base
                known[keys[row]] = _within(raised, start, end)


def _within(raised: Sequence[Decisions], start: int, end: int) -> _PartFlags:
    rows = [np.flatnonzero((each.starts >= start) & (each.starts < end)) for each in raised]
    if not any(map(len, rows)):
        return _NOTHING
    return _PartFlags(tuple(each.take(at) for each, at in zip(raised, rows, strict=True)), start)


def _batches(parts: Sequence[TextPart], numbers: Sequence[int]) -> list[list[int]]:
    batches: list[list[int]] = []
    held = AT_ONCE
    for number in numbers:
        if held >= AT_ONCE:
            batches.append([])
            held = 0
        batches[-1].append(number)
        held += parts[number].end - parts[number].start
    return batches


def _part_stretches(parts: Sequence[TextPart]) -> list[range]:
    """Return the numbers of parts that touch each other, together."""
    stretches: list[range] = []
    for number, part in enumerate(parts):
        if stretches and parts[number - 1].end == part.start:
            stretches[-1] = range(stretches[-1].start, number + 1)
        else:
            stretches.append(range(number, number + 1))
    return stretches


class LiveText:
    """A text that is checked again after each change. It belongs to one thread at a time.

    Parameters
    ----------
    name : str
        Path of its file, or a made-up one: the suffix tells the markup.
    settings : Settings
        What holds for it. Its models are `annotate`.
    annotate : Annotate
        The models, as `disambig.checking.loading.load_checker` loads them.

    Attributes
    ----------
    plain : PlainText
        What was decided last time.
    decisions : sequence of Decisions
        Those of the last time that raise a flag, a task each; none at all where there is no such decision.

    Raises
    ------
    UserError
        D30x for a file of words or a baseline that cannot be read, D966 for what is no baseline.
    """

    def __init__(self, name: str, settings: CheckSettings, annotate: Annotate) -> None:
        self.name = name
        self.settings = settings
        self.annotate = annotate
        self.plain = PlainText("")
        self.decisions: Sequence[Decisions] = ()
        self._ignore = frozenset(map(plain_word, settings.words_to_ignore()))
        self._baseline: Baseline | None = (
            None if settings.baseline is None else read_baseline(settings.baseline)
        )
        self._read = markup_reader(name)
        self._paragraphs = ParagraphCutter()
        self._parts: list[TextPart] = []
        self._decided = IncrementalDecisions(annotate)

    def check(self, text: str, stop: Callable[[], bool] = lambda: False) -> CheckedText | None:
        """Return the flags of the text as it is now; None where `stop` told to leave it.

        Parameters
        ----------
        stop : callable
            Asked now and then, in a text of which much is to be decided.
        """
        plain = self._read(text)
        parts = [] if self.settings.excluded else self._paragraphs.cut(plain.text)
        decisions = self._decided.update(plain.text, parts, stop)
        if decisions is None:
            return None
        self.plain, self.decisions, self._parts = plain, decisions, parts
        checked = find_flags(self.name, text, plain, decisions, ignore=self._ignore)
        flags: Sequence[Flag] = checked.flags
        if self._baseline is not None:
            flags = self._baseline.unknown(self.name, plain.text, flags)
        shown = surest(flags, checked.words, self.settings.max_flags_per_1000)
        return replace(checked, flags=tuple(shown), left_out=len(flags) - len(shown))

    @property
    def ignored_words(self) -> frozenset[str]:
        """Words that are not flagged."""
        return self._ignore

    def around(self, offset: int) -> tuple[str, int]:
        """Return what was decided together with a place of the text of last time, and where that begins."""
        at = bisect_right(self._parts, offset, key=lambda part: part.start) - 1
        part = self._parts[at]
        return self.plain.text[part.first : part.last], part.first


def markup_reader(name: str) -> Callable[[str], PlainText]:
    """Return what reads the markup of a text of that name, again and again."""
    if os.path.splitext(name)[1].lower() in MARKDOWN:
        from disambig.markup import IncrementalMarkdown

        pieces = IncrementalMarkdown()
        return lambda text: PlainText(*pieces.read(text))
    return lambda text: read_markup(name, text)
