"""Check a text again after each change; only changed paragraphs are annotated again."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from disambig.checking.baseline import read_baseline
from disambig.checking.flags import CheckedText, Flag, find_flags, match_apostrophes, most_certain
from disambig.configuration import CheckSettings
from disambig.data import minibatch, plain_word, rank_alternatives, record_edit, replacement
from disambig.markup import BREAK, NO_OPTIONS, Layout, PlainText, path_format, read_markup
from disambig.models import ModelSet, join_pieces
from disambig.text import connected_spans

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.models import Annotate


MIN_PROBABILITY = 0.02
"""Minimum probability of a further candidate that is shown."""
MAX_CANDIDATES = 5
"""Maximum number of candidates per flag."""
_Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class FlagCandidate:
    """A candidate for the word of a flag."""

    text: str  # the candidate; "" for no word
    probability: float  # probability that the candidate is right
    edit: _Edit  # the edit that inserts the candidate, and keeps the layout of tables and titles
    # the text that it replaces, if that is a neighbour of the flagged word; None for the flagged word
    elsewhere: str | None = None


def flag_candidates(
    flags: Sequence[Flag],
    decisions: Sequence[Decisions],
    text: str,
    annotate: Annotate,
    layout: Layout | None = None,
) -> list[list[FlagCandidate]]:
    """Return the candidates for each flag without duplicates, the proposed one first.

    A flag whose proposed correction does not fit into its table has no candidates.

    `decisions`: one per task; they include those of the flags.
    `text`: the text of the file.
    `annotate`: the models; only a `disambig.models.ModelSet` can rank further candidates.
    `layout`: the layout that corrections must keep.
    """
    models = {model.task.name: model for model in annotate.models} if isinstance(annotate, ModelSet) else {}
    flagged = {of_task.task: of_task.take(np.flatnonzero(of_task.flagged)) for of_task in decisions}
    rows = {
        (task, start, start == end): row  # in the file, a word may end elsewhere (`PlainText.shortened`)
        for task, of_task in flagged.items()
        for row, (start, end) in enumerate(zip(of_task.starts.tolist(), of_task.ends.tolist(), strict=True))
    }
    probabilities: dict[str, Any] = {}  # by task: those of all candidates of its flagged decisions
    results = []
    for flag in flags:
        proposed = FlagCandidate(flag.replacement, flag.probability, flag.edit)
        candidates = [proposed]
        candidates += [_alternative_candidate(other, flag, text) for other in flag.alternatives]
        task, row = flag.task, rows.get((flag.task, flag.start, flag.start == flag.end))
        if row is not None and task in models:
            if task not in probabilities:
                probabilities[task] = models[task].candidate_probabilities(flagged[task])
            if probabilities[task] is not None:
                candidates += _model_candidates(flagged[task], row, probabilities[task], flag, text)
        further = _unique_candidates(candidates)[1:MAX_CANDIDATES]
        shown = [candidate for candidate in further if candidate.probability >= MIN_PROBABILITY]
        results.append([proposed, *shown])
    return results if layout is None else [_fit_to_layout(candidates, layout) for candidates in results]


def _fit_to_layout(candidates: Sequence[FlagCandidate], layout: Layout) -> list[FlagCandidate]:
    """Return the candidates that fit into the layout, their edits completed with those that it needs."""
    completed = [(candidate, layout.complete(candidate.edit)) for candidate in candidates]
    if completed[0][1] is None:
        return []
    return [replace(candidate, edit=edit) for candidate, edit in completed if edit is not None]


def _unique_candidates(candidates: Sequence[FlagCandidate]) -> list[FlagCandidate]:
    by_edit: dict[_Edit, FlagCandidate] = {}
    for candidate in candidates:
        by_edit.setdefault(candidate.edit, candidate)
    return list(by_edit.values())


def _alternative_candidate(other: dict[str, Any], flag: Flag, text: str) -> FlagCandidate:
    start, end = other["start"], other["end"]
    edit = _candidate_edit(start, end, other["replacement"], text)
    beside = end <= flag.start or flag.end <= start
    elsewhere = text[start:end] if beside and (start, end) != (flag.start, flag.end) else None
    return FlagCandidate(other["replacement"].strip(), other["probability"], edit, elsewhere)


def _model_candidates(
    decisions: Decisions, row: int, probabilities: Any, flag: Flag, text: str
) -> list[FlagCandidate]:
    """Return the candidates of a decision that its model finds most probable, other than the written one.

    The probability of the flag is divided between them in proportion to their probabilities.
    """
    start, end, texts = flag.start, flag.end, decisions.candidate_texts(row)
    results = []
    for number, share in rank_alternatives(decisions, row, probabilities)[: MAX_CANDIDATES + 1]:
        new = match_apostrophes(replacement(texts[number], text, start, end), text)
        if new != flag.observed:
            probability = share * flag.probability
            results.append(FlagCandidate(new.strip(), probability, _candidate_edit(start, end, new, text)))
    return results


def _candidate_edit(start: int, end: int, new: str, text: str) -> _Edit:
    edit = record_edit({"start": start, "end": end, "observed": text[start:end], "replacement": new}, text)
    return edit["start"], edit["end"], edit["replacement"]


CONTEXT_WORDS = 26
"""Words of context on each side of a changed part; the networks of the English models see 25."""
MAX_CONTEXT_PARTS = 64
"""Maximum number of parts on each side that serve as context; it matters if most parts have no words."""
_BLANK_LINE = re.compile(r"\n\s*\n")
_ITEM_BREAK = re.compile(rf"\n[^\S\r\n{BREAK}]*(?={BREAK})")
_INDENTED_ON = re.compile(r"\n(?: {4}|\t)[^\S\n]*\n(?: {4}|\t)[^\S\n]*\S")
"""Blank lines in indented code, which do not end it."""
_CODE_MARK = re.compile("[`<>]|~~~")
"""Marks that may begin or end code. A part with them is context as a whole: a piece may parse differently."""
_WORD = re.compile(r"[^\W_]+(?:[\u2019'.,:][^\W_]+)*")


PartKey = tuple[str, int, int]
"""Text of a part with its context, and the start and end of the part in it."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text, and its context."""

    # offsets of the part
    start: int
    end: int
    # offsets of the part together with its context
    context_start: int
    context_end: int

    def key(self, text: str) -> PartKey:
        """Return a key for caches: everything in `text` on which the flags of the part depend."""
        return (
            text[self.context_start : self.context_end],
            self.start - self.context_start,
            self.end - self.context_start,
        )


@dataclass(frozen=True, slots=True)
class _PartWords:
    """The number of words in a part, and which of them are context for the neighbouring parts."""

    number: int
    head_end: int  # end of the first `CONTEXT_WORDS` words, or of the part if it is short or must not be cut
    # start of the last `CONTEXT_WORDS` words, or of the part if it is short or must not be cut
    tail_start: int


class ParagraphCutter:
    """Cuts a text into parts repeatedly; results of unchanged paragraphs are cached."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[list[int], list[_PartWords]]] = {}

    def cut(self, text: str) -> list[TextPart]:
        """Return the parts of a text, which cover it without gaps."""
        bounds, words = self._cut(text)
        n = len(words)
        n_before = [0, *accumulate(part_words.number for part_words in words)]  # words before each part
        parts = []
        for i in range(n):
            # the nearest parts on each side that have enough words together; of the last, only those words
            low = max(bisect_right(n_before, n_before[i] - CONTEXT_WORDS) - 1, i - MAX_CONTEXT_PARTS, 0)
            high = min(bisect_left(n_before, n_before[i + 1] + CONTEXT_WORDS), i + 1 + MAX_CONTEXT_PARTS, n)
            context_start = bounds[low] + (words[low].tail_start if low < i else 0)
            context_end = bounds[high - 1] + words[high - 1].head_end if high > i + 1 else bounds[high]
            parts.append(TextPart(bounds[i], bounds[i + 1], context_start, context_end))
        return parts

    def _cut(self, text: str) -> tuple[list[int], list[_PartWords]]:
        """Return the starts of all parts with the end of the last one, and the words of each part."""
        bounds, words = [0], []
        cache: dict[str, tuple[list[int], list[_PartWords]]] = {}  # only stretches of the current text
        for start, end in pairwise(_blank_line_bounds(text)):
            stretch = text[start:end]
            stretch_parts = cache.get(stretch) or self._cache.get(stretch)
            if stretch_parts is None:
                cuts = [match.end() for match in _ITEM_BREAK.finditer(stretch)]
                if cuts:
                    _remove_inside_code(cuts, stretch)
                ends = sorted({*cuts, len(stretch)} - {0})
                stretch_parts = ends, [_count_words(stretch[i:j]) for i, j in pairwise([0, *ends])]
            cache[stretch] = stretch_parts
            bounds += [start + part_end for part_end in stretch_parts[0]]
            words += stretch_parts[1]
        self._cache = cache
        return bounds, words


def _blank_line_bounds(text: str) -> list[int]:
    """Return the offsets at which a text can be cut at blank lines, with its start and end."""
    cuts = [match.end() for match in _BLANK_LINE.finditer(text)]
    if "```" in text or "~~~" in text or "<" in text or _INDENTED_ON.search(text):
        _remove_inside_code(cuts, text)
    return sorted({0, *cuts, len(text)})


def _remove_inside_code(offsets: list[int], text: str) -> None:
    """Remove the offsets inside code from a sorted list."""
    for start, end in connected_spans(text):
        del offsets[bisect_right(offsets, start) : bisect_left(offsets, end)]


def _count_words(part: str) -> _PartWords:
    spans = [match.span() for match in _WORD.finditer(part)]
    if len(spans) < CONTEXT_WORDS or _CODE_MARK.search(part):
        return _PartWords(len(spans), len(part), 0)
    return _PartWords(len(spans), spans[CONTEXT_WORDS - 1][1], spans[-CONTEXT_WORDS][0])


BATCH_CHARACTERS = 50_000
"""Characters per batch; a check can be stopped between two batches."""


@dataclass(frozen=True, slots=True)
class _PartFlags:
    """The decisions that raise a flag in a part."""

    decisions: tuple[Decisions, ...] = ()  # one object per task; empty if no task raises a flag
    start: int = 0  # start of the part in the text to which the offsets of the decisions refer


_NO_FLAGS = _PartFlags()


class IncrementalDecisions:
    """Annotates one text repeatedly, and caches the decisions of its parts. `annotate` runs the models."""

    def __init__(self, annotate: Annotate) -> None:
        self._annotate = annotate
        self._cache: dict[PartKey, _PartFlags] = {}

    def update(
        self, text: str, parts: Sequence[TextPart], stop: Callable[[], bool]
    ) -> Sequence[Decisions] | None:
        """Return the decisions of each task that raise a flag; None if `stop` returned True.

        The cache keeps only the parts of this text.

        `stop`: called before each batch of `BATCH_CHARACTERS` characters; finished batches stay in the cache.
        """
        keys = [part.key(text) for part in parts]
        flags = {key: self._cache[key] for key in keys if key in self._cache}
        new = [(part, key) for part, key in zip(parts, keys, strict=True) if key not in flags]
        for batch in minibatch(new, BATCH_CHARACTERS, lambda item: item[0].end - item[0].start):
            if stop():
                self._cache |= flags
                return None
            self._decide(text, batch, flags)
        self._cache = flags
        pieces = [
            (part_flags.decisions, part.start - part_flags.start)
            for key, part in zip(keys, parts, strict=True)
            if (part_flags := flags[key]).decisions
        ]
        return join_pieces(pieces) if pieces else ()

    def _decide(
        self, text: str, parts: Sequence[tuple[TextPart, PartKey]], flags: dict[PartKey, _PartFlags]
    ) -> None:
        """Annotate parts and add their flags to `flags`; adjacent parts form one document."""
        runs = _adjacent_runs(parts)
        documents = [text[run[0][0].context_start : run[-1][0].context_end] for run in runs]
        decisions_by_task = self._annotate(documents)
        for number, run in enumerate(runs):
            document_start = run[0][0].context_start
            of_document = [decisions.in_document(number) for decisions in decisions_by_task]
            raised = [of_task.take(np.flatnonzero(of_task.raised)) for of_task in of_document]
            for part, key in run:
                flags[key] = _flags_in_part(raised, part.start - document_start, part.end - document_start)


def _flags_in_part(raised: Sequence[Decisions], start: int, end: int) -> _PartFlags:
    rows = [np.flatnonzero((of_task.starts >= start) & (of_task.starts < end)) for of_task in raised]
    if not any(map(len, rows)):
        return _NO_FLAGS
    decisions = tuple(of_task.take(task_rows) for of_task, task_rows in zip(raised, rows, strict=True))
    return _PartFlags(decisions, start)


def _adjacent_runs(parts: Sequence[tuple[TextPart, PartKey]]) -> list[list[tuple[TextPart, PartKey]]]:
    """Group parts that follow each other without gaps."""
    runs: list[list[tuple[TextPart, PartKey]]] = []
    for part, key in parts:
        if runs and runs[-1][-1][0].end == part.start:
            runs[-1].append((part, key))
        else:
            runs.append([(part, key)])
    return runs


class LiveText:
    """A text that is checked again after each change. It must be used by one thread at a time.

    Raises D974 for a file of words or a baseline that a settings file names and that does not exist, D30x
    for one that cannot be read, D966 for an invalid baseline.

    `name`: path of the file, or an invented path, whose suffix determines the markup.
    `settings`: the settings of the text.
    `annotate`: the models, as `disambig.checking.load_checker` loads them.
    Attribute `plain`: the text of the last check.
    Attribute `decisions`: the decisions of the last check that raise a flag, one object per task; empty if
    there are none.
    Attribute `ignored_words`: words and corrections to ignore (see `plain_word`).
    """

    def __init__(self, name: str, settings: CheckSettings, annotate: Annotate) -> None:
        self.name = name
        self.settings = settings
        self.annotate = annotate
        self.plain = PlainText("")
        self.decisions: Sequence[Decisions] = ()
        self.ignored_words = frozenset(map(plain_word, settings.words_to_ignore()))
        baseline = settings.baseline_path()
        self._baseline = None if baseline is None else read_baseline(baseline)
        self._read = markup_reader(name, settings.markup_options)
        self._cutter = ParagraphCutter()
        self._parts: list[TextPart] = []
        self._incremental = IncrementalDecisions(annotate)

    def check(self, text: str, stop: Callable[[], bool] = lambda: False) -> CheckedText | None:
        """Return the flags of the current text; None if `stop` returned True.

        `stop`: called repeatedly during long checks.
        """
        plain = self._read(text)
        parts = [] if self.settings.excluded else self._cutter.cut(plain.text)
        decisions = self._incremental.update(plain.text, parts, stop)
        if decisions is None:
            return None
        self.plain, self.decisions, self._parts = plain, decisions, parts
        checked = find_flags(
            self.name,
            text,
            plain,
            decisions,
            ignore=self.ignored_words,
            project_names=self.settings.project_names,
        )
        flags: Sequence[Flag] = checked.flags
        if self._baseline is not None:
            flags = self._baseline.peek_new_flags(self.name, plain.text, flags)
        shown = most_certain(flags, checked.words, self.settings.max_flags_per_1000)
        return replace(checked, flags=tuple(shown))

    def around(self, offset: int) -> tuple[str, int]:
        """Return the part of the last text at `offset` with its context, and the start of the context."""
        part = self._parts[bisect_right(self._parts, offset, key=lambda part: part.start) - 1]
        return self.plain.text[part.context_start : part.context_end], part.context_start


def markup_reader(name: str, options: Mapping[str, Any] = NO_OPTIONS) -> Callable[[str], PlainText]:
    """Return a function that parses the markup of texts with this name repeatedly.

    `options`: see `disambig.markup.read_markup`.
    """
    entry = path_format(name)
    if entry is not None and entry.incremental and name.lower().endswith(entry.suffixes):  # no template
        from disambig.markup import IncrementalMarkdown

        return IncrementalMarkdown().read
    return lambda text: read_markup(name, text, options)
