"""Check a text again after each change; only changed paragraphs are annotated again."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from disambig.checking.baseline import Baseline, read_baseline
from disambig.checking.flags import CheckedText, Flag, find_flags, match_apostrophes, most_certain, plain_word
from disambig.configuration import CheckSettings
from disambig.data import minibatch
from disambig.markup import BREAK, NO_OPTIONS, Layout, PlainText, path_format, read_markup
from disambig.models import ModelSet, join_pieces
from disambig.text import connected_spans

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.models import Annotate


LEAST = 0.02
"""Minimum probability of a candidate that is shown."""
MOST = 5
"""Maximum number of candidates per flag."""
_Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class FlagCandidate:
    """A candidate for the word of a flag.

    Attributes
    ----------
    text : str
        The candidate; "" for no word.
    probability : float
        Probability that the candidate is right.
    edit : (start, end, text)
        The edit that inserts it, and keeps the layout of tables and titles.
    elsewhere : str, optional
        The text that it replaces, if that is next to the flag and not the word of the flag.
    """

    text: str
    probability: float
    edit: _Edit
    elsewhere: str | None = None


def flag_candidates(
    flags: Sequence[Flag],
    decisions: Sequence[Decisions],
    text: str,
    annotate: Annotate,
    layout: Layout | None = None,
) -> list[list[FlagCandidate]]:
    """Return the candidates for each flag without duplicates, the proposed one first.

    There are none if the proposed one does not fit into its table.

    Parameters
    ----------
    flags : sequence of Flag
    decisions : sequence of Decisions
        One per task, including those of the flags.
    text : str
        The text of the file.
    annotate : Annotate
        The models; only a `disambig.models.ModelSet` can rank further candidates.
    layout : Layout, optional
        What corrections must keep.
    """
    models = {model.task.name: model for model in annotate.models} if isinstance(annotate, ModelSet) else {}
    raised = {of_task.task: of_task.take(np.flatnonzero(of_task.flagged)) for of_task in decisions}
    rows = {
        (task, start, start == end): row  # in the file, a word may end elsewhere (`PlainText.shortened`)
        for task, of_task in raised.items()
        for row, (start, end) in enumerate(zip(of_task.starts.tolist(), of_task.ends.tolist(), strict=True))
    }
    shares: dict[str, Any] = {}
    results = []
    for flag in flags:
        listed = [FlagCandidate(flag.replacement, flag.probability, flag.edit)]
        listed += [_alternative(other, flag, text) for other in flag.alternatives]
        row = rows.get((flag.task, flag.start, flag.start == flag.end))
        if row is not None and flag.task in models:
            if flag.task not in shares:
                shares[flag.task] = models[flag.task].candidate_probabilities(raised[flag.task])
            if shares[flag.task] is not None:
                runners = _runners_up(raised[flag.task], row, shares[flag.task], flag, text)
                listed += [
                    replace(runner, probability=runner.probability * flag.probability) for runner in runners
                ]
        results.append(
            [
                listed[0],
                *(
                    candidate
                    for candidate in _unique_candidates(listed)[1:MOST]
                    if candidate.probability >= LEAST
                ),
            ]
        )
    return results if layout is None else [_laid_out(candidates, layout) for candidates in results]


def _laid_out(candidates: Sequence[FlagCandidate], layout: Layout) -> list[FlagCandidate]:
    """Return the candidates that fit into the layout, with the edits that it needs."""
    completed = [(candidate, layout.complete(candidate.edit)) for candidate in candidates]
    if completed[0][1] is None:
        return []
    return [replace(candidate, edit=edit) for candidate, edit in completed if edit is not None]


def _unique_candidates(candidates: Sequence[FlagCandidate]) -> list[FlagCandidate]:
    by_edit: dict[_Edit, FlagCandidate] = {}
    for candidate in candidates:
        by_edit.setdefault(candidate.edit, candidate)
    return list(by_edit.values())


def _alternative(other: dict[str, Any], flag: Flag, text: str) -> FlagCandidate:
    start, end = other["start"], other["end"]
    edit = _candidate_edit(start, end, other["replacement"], text)
    beside = end <= flag.start or flag.end <= start
    elsewhere = text[start:end] if beside and (start, end) != (flag.start, flag.end) else None
    return FlagCandidate(other["replacement"].strip(), other["probability"], edit, elsewhere)


def _runners_up(decisions: Decisions, row: int, shares: Any, flag: Flag, text: str) -> list[FlagCandidate]:
    """Return the most probable candidates other than the written one, with normalised probabilities."""
    from disambig.data import replacement

    first, stop = decisions.offsets[row : row + 2].tolist()
    start, end, observed = flag.start, flag.end, int(decisions.observed[row])
    chances = np.array(shares[first:stop], np.float64)
    if observed >= 0:
        chances[observed] = 0.0
    chances /= chances.sum() or 1.0
    names = decisions.candidate_texts(row)
    results = []
    for number in np.argsort(-chances, kind="stable").tolist()[: MOST + 1]:
        new = match_apostrophes(replacement(names[number], text, start, end), text)
        if new != flag.observed:
            results.append(
                FlagCandidate(new.strip(), float(chances[number]), _candidate_edit(start, end, new, text))
            )
    return results


def _candidate_edit(start: int, end: int, new: str, text: str) -> _Edit:
    from disambig.data import record_edit

    made = record_edit({"start": start, "end": end, "observed": text[start:end], "replacement": new}, text)
    return made["start"], made["end"], made["replacement"]


REACH = 26
"""Words of context around a changed part; the networks of the English models see 25 words on each side."""
FAR = 64
"""Maximum number of parts on each side in which context is searched: most of these have no words."""
_BLANK = re.compile(r"\n\s*\n")
_ITEM = re.compile(rf"\n[^\S\r\n{BREAK}]*(?={BREAK})")
_INDENTED_ON = re.compile(r"\n(?: {4}|\t)[^\S\n]*\n(?: {4}|\t)[^\S\n]*\S")
"""Indented code continues over blank lines that are also indented."""
_MARK = re.compile("[`<>]|~~~")
"""Marks that may begin or end code: parts with them are not cut, as a piece may be parsed differently."""
_WORD = re.compile(r"[^\W_]+(?:[\u2019'.,:][^\W_]+)*")


PartKey = tuple[str, int, int]
"""Text of a part with its context, and the start and end of the part in it."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text, and its context.

    Attributes
    ----------
    start, end : int
        Offsets of the part.
    first, last : int
        Offsets of the part together with its context.
    """

    start: int
    end: int
    first: int
    last: int

    def key(self, text: str) -> PartKey:
        """Return what the flags of the part in `text` depend on."""
        return text[self.first : self.last], self.start - self.first, self.end - self.first


@dataclass(frozen=True, slots=True)
class _PartWords:
    """The number of words of a part, the end of its first `REACH` words, and the start of its last ones.

    If the part must not be cut, these are its own end and start.
    """

    number: int
    head: int
    tail: int


class ParagraphCutter:
    """Cuts a text into parts repeatedly; results of unchanged paragraphs are cached."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[int], list[_PartWords]]] = {}

    def cut(self, text: str) -> list[TextPart]:
        """Return the parts of a text, which cover it without gaps."""
        bounds, words = self._cut(text)
        n = len(words)
        before = [
            0,
            *accumulate(part_words.number for part_words in words),
        ]  # number of words before each part
        parts = []
        for at in range(n):
            low = max(bisect_right(before, before[at] - REACH) - 1, at - FAR, 0)
            high = min(bisect_left(before, before[at + 1] + REACH), at + 1 + FAR, n)
            first = bounds[low] + (words[low].tail if low < at else 0)
            last = bounds[high - 1] + words[high - 1].head if high > at + 1 else bounds[high]
            parts.append(TextPart(bounds[at], bounds[at + 1], first, last))
        return parts

    def _cut(self, text: str) -> tuple[list[int], list[_PartWords]]:
        """Return the starts of all parts and the end of the last one, and the words of each part."""
        bounds, words = [0], []
        cache: dict[str, tuple[list[int], list[_PartWords]]] = {}
        for start, end in pairwise(_blank_line_stretches(text)):
            stretch = text[start:end]
            pieces = cache.get(stretch) or self._known.get(stretch)
            if pieces is None:
                ends = _ends(stretch)
                pieces = ends, [_words(stretch[one:other]) for one, other in pairwise([0, *ends])]
            cache[stretch] = pieces
            bounds += [start + bound for bound in pieces[0]]
            words += pieces[1]
        self._known = cache
        return bounds, words


def _blank_line_stretches(text: str) -> list[int]:
    """Return the offsets at which a text can be cut at blank lines, with its start and end."""
    places = [match.end() for match in _BLANK.finditer(text)]
    if "```" in text or "~~~" in text or "<" in text or _INDENTED_ON.search(text):
        _leave_out(places, text)
    return sorted({0, *places, len(text)})


def _ends(stretch: str) -> list[int]:
    """Return the ends of the parts in a stretch between two cuts at blank lines."""
    places = [match.end() for match in _ITEM.finditer(stretch)]
    if places:
        _leave_out(places, stretch)
    return sorted({*places, len(stretch)} - {0})


def _leave_out(places: list[int], text: str) -> None:
    """Remove the offsets inside code."""
    for start, end in connected_spans(text):
        del places[bisect_right(places, start) : bisect_left(places, end)]


def _words(part: str) -> _PartWords:
    spans = [match.span() for match in _WORD.finditer(part)]
    if len(spans) < REACH or _MARK.search(part):
        return _PartWords(len(spans), len(part), 0)
    return _PartWords(len(spans), spans[REACH - 1][1], spans[-REACH][0])


AT_ONCE = 50_000
"""Characters per batch; between two batches the check can be stopped."""


@dataclass(frozen=True, slots=True)
class _PartFlags:
    """The decisions of each task that raise a flag in a part; empty if there are none."""

    decisions: tuple[Decisions, ...] = ()
    start: int = 0
    """Start of the part in the text to which the offsets refer."""


_NO_FLAGS = _PartFlags()


class IncrementalDecisions:
    """Annotates one text repeatedly, and caches the decisions of its parts.

    Parameters
    ----------
    annotate : Annotate
        The models.
    """

    def __init__(self, annotate: Annotate) -> None:
        self._annotate = annotate
        self._known: dict[PartKey, _PartFlags] = {}

    def update(
        self, text: str, parts: Sequence[TextPart], stop: Callable[[], bool]
    ) -> Sequence[Decisions] | None:
        """Return the decisions of each task that raise a flag; None if `stop` returned True.

        Parameters
        ----------
        text : str
        parts : sequence of TextPart
        stop : callable
            Called before each batch of `AT_ONCE` characters; finished batches are kept.
        """
        keys = [part.key(text) for part in parts]
        known_parts = {key: self._known[key] for key in keys if key in self._known}
        unknown = [number for number, key in enumerate(keys) if key not in known_parts]
        for numbers in minibatch(unknown, AT_ONCE, lambda number: parts[number].end - parts[number].start):
            if stop():
                self._known |= known_parts
                return None
            self._decide(
                text, [parts[number] for number in numbers], [keys[number] for number in numbers], known_parts
            )
        self._known = known_parts
        pieces = [
            (raised.decisions, part.start - raised.start)
            for key, part in zip(keys, parts, strict=True)
            if (raised := known_parts[key]).decisions
        ]
        return join_pieces(pieces) if pieces else ()

    def _decide(
        self, text: str, parts: Sequence[TextPart], keys: Sequence[PartKey], flags: dict[PartKey, _PartFlags]
    ) -> None:
        """Annotate some parts; adjacent parts form one document."""
        stretches = _part_stretches(parts)
        documents = [text[parts[rows[0]].first : parts[rows[-1]].last] for rows in stretches]
        decisions_by_task = self._annotate(documents)
        for number, rows in enumerate(stretches):
            base = parts[rows[0]].first
            of_document = [decisions.in_document(number) for decisions in decisions_by_task]
            raised = [of_task.take(np.flatnonzero(of_task.raised)) for of_task in of_document]
            for row in rows:
                start, end = parts[row].start - base, parts[row].end - base
                flags[keys[row]] = _within(raised, start, end)


def _within(raised: Sequence[Decisions], start: int, end: int) -> _PartFlags:
    rows = [np.flatnonzero((of_task.starts >= start) & (of_task.starts < end)) for of_task in raised]
    if not any(map(len, rows)):
        return _NO_FLAGS
    return _PartFlags(tuple(of_task.take(at) for of_task, at in zip(raised, rows, strict=True)), start)


def _part_stretches(parts: Sequence[TextPart]) -> list[range]:
    """Group adjacent parts into ranges of their numbers."""
    stretches: list[range] = []
    for number, part in enumerate(parts):
        if stretches and parts[number - 1].end == part.start:
            stretches[-1] = range(stretches[-1].start, number + 1)
        else:
            stretches.append(range(number, number + 1))
    return stretches


class LiveText:
    """A text that is checked again after each change. It must be used by one thread at a time.

    Parameters
    ----------
    name : str
        Path of the file, or an invented path: the suffix decides the markup.
    settings : CheckSettings
        The settings of the text.
    annotate : Annotate
        The models, as `disambig.checking.load_checker` loads them.

    Attributes
    ----------
    plain : PlainText
        The text of the last check.
    decisions : sequence of Decisions
        The decisions of the last check that raise a flag, one object per task; empty if there are none.

    Raises
    ------
    UserError
        D30x for a file of words or a baseline that cannot be read, D966 for an invalid baseline.
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
        self._read = markup_reader(name, settings.markup_options)
        self._paragraphs = ParagraphCutter()
        self._parts: list[TextPart] = []
        self._decided = IncrementalDecisions(annotate)

    def check(self, text: str, stop: Callable[[], bool] = lambda: False) -> CheckedText | None:
        """Return the flags of the current text; None if `stop` returned True.

        Parameters
        ----------
        text : str
        stop : callable
            Called now and then during long checks.
        """
        plain = self._read(text)
        parts = [] if self.settings.excluded else self._paragraphs.cut(plain.text)
        decisions = self._decided.update(plain.text, parts, stop)
        if decisions is None:
            return None
        self.plain, self.decisions, self._parts = plain, decisions, parts
        checked = find_flags(
            self.name,
            text,
            plain,
            decisions,
            ignore=self._ignore,
            project_names=self.settings.project_names,
        )
        flags: Sequence[Flag] = checked.flags
        if self._baseline is not None:
            flags = self._baseline.unknown(self.name, plain.text, flags)
        shown = most_certain(flags, checked.words, self.settings.max_flags_per_1000)
        return replace(checked, flags=tuple(shown), left_out=len(flags) - len(shown))

    @property
    def ignored_words(self) -> frozenset[str]:
        """Words that are not flagged."""
        return self._ignore

    def around(self, offset: int) -> tuple[str, int]:
        """Return the part of the last text at an offset with its context, and where the context starts."""
        at = bisect_right(self._parts, offset, key=lambda part: part.start) - 1
        part = self._parts[at]
        return self.plain.text[part.first : part.last], part.first


def markup_reader(name: str, options: Mapping[str, Any] = NO_OPTIONS) -> Callable[[str], PlainText]:
    """Return a function that parses the markup of texts with this name repeatedly.

    Parameters
    ----------
    name : str
    options : mapping of str to object
        See `disambig.markup.read_markup`.
    """
    entry = path_format(name)
    if entry is not None and entry.incremental:
        from disambig.markup import IncrementalMarkdown

        pieces = IncrementalMarkdown()
        return pieces.read
    return lambda text: read_markup(name, text, options)
