"""Stable corrections: of what they write nothing is flagged, so no second run takes it back.

A decision is made as if all other words stayed. Once it is carried out, it changes what is seen around the
next word: *you're* may become *your*, and *your* in its turn *you're*. So the corrected text is decided again
where it was corrected, and what would be flagged there is not corrected in the first place.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from disambig.checking.flags import Flag, TextLines, find_flags, select_compatible, select_fitting
from disambig.checking.live import ParagraphCutter, PartKey, TextPart
from disambig.markup import Layout, PlainText, read_layout, read_markup
from disambig.models import TextEdit, apply_edits, join_pieces, touches_edit, wrap_annotator

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.models import Annotate, AnnotatorSource

Span = tuple[int, int]
FindFlagged = Callable[[str, PlainText, "Sequence[Decisions]"], Iterable[Span]]
"""Returns the flagged spans of a corrected text, given it, the same without markup, and the decisions."""
MAX_ROUNDS = 20
"""If the corrections of a text still undo each other after so many rounds, none of them is made."""


@dataclass(slots=True)
class _Candidate:
    """A text with the numbers of the edits that are still to be made."""

    text: str
    edits: Sequence[TextEdit]
    kept: list[int]
    cutter: ParagraphCutter
    layout: Layout


@dataclass(frozen=True, slots=True)
class _Trial:
    """A text as its edits would make it: where they wrote, and the parts to decide again.

    The edits in `further` keep the layout of tables and titles.
    """

    candidate: _Candidate
    corrected: str
    plain: PlainText
    written: list[Span]
    further: list[TextEdit]
    parts: list[TextPart]

    def part_keys(self) -> list[PartKey]:
        """Return the keys of the parts."""
        return [part.key(self.plain.text) for part in self.parts]

    def decisions(self, decided: Mapping[PartKey, list[Decisions]]) -> Sequence[Decisions]:
        """Return the decisions of the parts, given those of each key."""
        pieces = [(decided[key], part.first) for key, part in zip(self.part_keys(), self.parts, strict=True)]
        return join_pieces(pieces) if pieces else ()


def stable_edits(
    texts: Sequence[str],
    edits: Sequence[Sequence[TextEdit]],
    annotate: Annotate,
    find_flagged: FindFlagged,
    read: Callable[[str], PlainText] = PlainText,
    lay_out: Callable[[str], Layout] = Layout,
) -> list[list[int]]:
    """Return the numbers of the edits of each text that are not flagged again once all of them are made.

    Only the paragraphs in which something is corrected are decided, with the words around them that models
    see; those of all texts together.

    Parameters
    ----------
    texts : sequence of str
    edits : sequence of sequences of TextEdit
        Of each text, in its order; none overlaps another.
    annotate : Annotate
        What decided the texts.
    find_flagged : callable
        Returns what is flagged in a corrected text, words to ignore excepted.
    read : callable
        Takes the markup away.
    lay_out : callable
        Returns the layout of a text, into which the edits fit.
    """
    decided: dict[PartKey, list[Decisions]] = {}
    candidates = [
        _Candidate(text, text_edits, list(range(len(text_edits))), ParagraphCutter(), lay_out(text))
        for text, text_edits in zip(texts, edits, strict=True)
    ]
    unsettled = [candidate for candidate in candidates if candidate.kept]
    for _ in range(MAX_ROUNDS):
        if unsettled:
            unsettled = _drop_flagged(unsettled, annotate, find_flagged, read, decided)
    for candidate in unsettled:
        candidate.kept = []
    return [candidate.kept for candidate in candidates]


@dataclass(frozen=True, slots=True)
class Recheck:
    """How a corrected text is checked again.

    Attributes
    ----------
    annotate : Annotate
    ignore : collection of str
        Words that are not flagged.
    options : mapping of str to object
        See `disambig.markup.read_markup`.
    project_names : collection of str
        See `disambig.checking.find_flags`.
    """

    annotate: Annotate
    ignore: Collection[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    project_names: Collection[str] = ()

    def flags(self, name: str, text: str, plain: PlainText, decisions: Sequence[Decisions]) -> Sequence[Flag]:
        """Return the flags of a corrected text."""
        checked = find_flags(
            name, text, plain, decisions, ignore=self.ignore, project_names=self.project_names
        )
        return checked.flags


def stable_flags(name: str, text: str, flags: Sequence[Flag], recheck: Recheck) -> list[Flag]:
    """Return the flags of a text that are not flagged again once all of them are corrected.

    Flags whose corrections do not fit into their tables are left out.

    Parameters
    ----------
    name : str
        Name of the file: the suffix tells the markup.
    flags : sequence of Flag
        As `disambig.checking.select_compatible` takes them.
    recheck : Recheck
    """

    def find_flagged(corrected: str, plain: PlainText, decisions: Sequence[Decisions]) -> list[Span]:
        return [(flag.start, flag.end) for flag in recheck.flags(name, corrected, plain, decisions)]

    flags = select_fitting(flags, layout := read_layout(name, text))
    (kept,) = stable_edits(
        [text],
        [[flag.edit for flag in flags]],
        recheck.annotate,
        find_flagged,
        lambda new: read_markup(name, new, recheck.options),
        lambda text: layout,
    )
    return [flags[number] for number in kept]


def settled_flags(
    name: str,
    text: str,
    flags: Sequence[Flag],
    recheck: Recheck,
    select: Callable[[Sequence[Flag]], Sequence[Flag]] = lambda flags: flags,
) -> list[Flag]:
    """Return the flags to correct so that nothing is left for a second run.

    A correction may raise a flag for a neighbouring word, which was right beside the mistake. The corrected
    text is therefore checked again near the corrections, until nothing new is flagged.

    Parameters
    ----------
    name, text, flags, recheck
        As for `stable_flags`.
    select : callable
        Returns those of further flags that may be corrected too; their places refer to `text`.
    """
    kept = stable_flags(name, text, flags, recheck)
    decided: dict[PartKey, list[Decisions]] = {}
    cutter, layout = ParagraphCutter(), read_layout(name, text)
    for _ in range(MAX_ROUNDS if kept else 0):
        edits = [flag.edit for flag in kept]
        candidate = _Candidate(text, edits, list(range(len(edits))), cutter, layout)
        trial = _try(candidate, lambda new: read_markup(name, new, recheck.options))
        _decide(trial.part_keys(), recheck.annotate, decided)
        decisions = trial.decisions(decided)
        further = recheck.flags(name, trial.corrected, trial.plain, decisions)
        untouched = [
            flag
            for flag in further
            if not any(
                touches_edit(edit, span, (flag.start, flag.end))
                for edit, span in zip(edits, trial.written, strict=True)
            )
        ]
        new, _ = select_compatible(select(_in_original(untouched, edits, trial.further, text)))
        together = sorted([*kept, *new], key=lambda flag: flag.edit[:2])
        stable = stable_flags(name, text, together, recheck) if new else kept
        numbers = set(map(id, stable))
        if len(stable) <= len(kept) or not all(id(flag) in numbers for flag in kept):
            break
        kept = stable
    return kept


def _in_original(
    flags: Iterable[Flag], edits: Sequence[TextEdit], further: Sequence[TextEdit], text: str
) -> list[Flag]:
    """Return flags of a corrected text with their places in the original, but none at what `edits` wrote."""
    places = TextLines(text)
    written: list[Span] = []
    ends: list[int] = []
    shift = 0  # what to add to an offset into the corrected text
    shifts = [0]
    for (start, end, new), is_correction in _in_order(edits, further):
        ends.append(start - shift + len(new))
        if is_correction:
            written.append((start - shift, ends[-1]))
        shift += end - start - len(new)
        shifts.append(shift)

    def shifted(start: int, end: int) -> Span:
        by = shifts[bisect_right(ends, start)]
        return start + by, end + by

    def is_written(start: int, end: int) -> bool:
        return any(
            (start < last and first < end) or start == end == first or first == last == end
            for first, last in written
        )

    results = []
    for flag in flags:
        if is_written(*flag.edit[:2]):
            continue
        start, end = shifted(flag.start, flag.end)
        line, column = places.line_and_column(start)
        alternatives = (other for other in flag.alternatives if not is_written(other["start"], other["end"]))
        moved = replace(
            flag,
            start=start,
            end=end,
            line=line,
            column=column,
            edit=(*shifted(*flag.edit[:2]), flag.edit[2]),
            alternatives=tuple(
                {**other, **dict(zip(("start", "end"), shifted(other["start"], other["end"]), strict=True))}
                for other in alternatives
            ),
        )
        results.append(moved)
    return results


def _drop_flagged(
    candidates: Sequence[_Candidate],
    annotate: Annotate,
    find_flagged: FindFlagged,
    read: Callable[[str], PlainText],
    decided: dict[PartKey, list[Decisions]],
) -> list[_Candidate]:
    """Drop the edits that would be flagged; return the texts that have others, to be tried again."""
    trials = [_try(candidate, read) for candidate in candidates]
    _decide([key for trial in trials for key in trial.part_keys()], annotate, decided)
    again = []
    for trial in trials:
        candidate = trial.candidate
        flagged = list(find_flagged(trial.corrected, trial.plain, trial.decisions(decided)))
        kept = [
            number
            for number, span in zip(candidate.kept, trial.written, strict=True)
            if not any(touches_edit(candidate.edits[number], span, flag) for flag in flagged)
        ]
        if len(kept) < len(candidate.kept):
            candidate.kept = kept
            again += [candidate] if kept else []
    return again


def _try(candidate: _Candidate, read: Callable[[str], PlainText]) -> _Trial:
    edits = [candidate.edits[number] for number in candidate.kept]
    further = candidate.layout.further(edits)
    together = _in_order(edits, further)
    corrected, spans = apply_edits(candidate.text, [edit for edit, _ in together])
    written = [span for span, (_, is_correction) in zip(spans, together, strict=True) if is_correction]
    plain = read(corrected)
    parts = [
        part
        for part in candidate.cutter.cut(plain.text)
        if any(start <= part.end and part.start <= end for start, end in written)
    ]
    return _Trial(candidate, corrected, plain, written, further, parts)


def _in_order(edits: Sequence[TextEdit], further: Sequence[TextEdit]) -> list[tuple[TextEdit, bool]]:
    """Return all edits in the order of the text, and for each of them whether it is one of `edits`."""
    together = [*((edit, True) for edit in edits), *((edit, False) for edit in further)]
    return sorted(together, key=lambda item: item[0][:2])


def _decide(keys: Iterable[PartKey], annotate: Annotate, decided: dict[PartKey, list[Decisions]]) -> None:
    """Decide the parts that are not decided yet, all in one call; only what is flagged is kept."""
    new = [key for key in dict.fromkeys(keys) if key not in decided]
    if not new:
        return
    by_task = annotate([around for around, _, _ in new])
    for number, key in enumerate(new):
        _, start, end = key
        here = [decisions.in_document(number) for decisions in by_task]
        decided[key] = [
            decisions.take(
                np.flatnonzero(decisions.flagged & (decisions.starts >= start) & (decisions.starts < end))
            )
            for decisions in here
        ]


@dataclass(frozen=True, slots=True)
class StableSource:
    """A source whose annotator flags only stable corrections: for corrected text.

    Parameters
    ----------
    source : AnnotatorSource
    """

    source: AnnotatorSource

    def load(self) -> Annotate:
        """Load the models and return the function that annotates texts."""
        annotate = self.source.load()
        return wrap_annotator(lambda texts: stable_decisions(texts, annotate(texts), annotate), annotate)

    def language(self) -> str:
        """Return the language of the texts."""
        return self.source.language()

    def can_flag(self) -> bool:
        """Return True if any of the models flags anything."""
        return self.source.can_flag()

    def describe(self) -> dict[str, Any]:
        """Return the plain values of the source."""
        return self.source.describe()


def stable_decisions(
    texts: Sequence[str], decisions: Sequence[Decisions], annotate: Annotate
) -> list[Decisions]:
    """Return the decisions without the flags that would be flagged again once they are corrected."""
    from disambig.formats import AnnotatedDocument, Document, applied_edits

    numbers = sorted({int(i) for each in decisions for i in each.documents[each.flagged]})
    by_text = [tuple(each.in_document(number) for each in decisions) for number in numbers]
    applied = [
        applied_edits(AnnotatedDocument(Document(str(number), texts[number], ""), in_text))
        for number, in_text in zip(numbers, by_text, strict=True)
    ]
    edits = [[(edit.start, edit.end, edit.replacement) for edit in in_text] for in_text in applied]
    kept = stable_edits([texts[number] for number in numbers], edits, annotate, _changed_spans)
    flags = [each.flagged.copy() for each in decisions]
    for number, in_text, edits_in_text, stay in zip(numbers, by_text, applied, kept, strict=True):
        dropped = {edits_in_text[j] for j in set(range(len(edits_in_text))) - set(stay)}
        if not dropped:
            continue
        for k, each in enumerate(in_text):
            first = int(np.searchsorted(decisions[k].documents, number))
            for row in np.flatnonzero(each.flagged).tolist():
                if _applied_edit(each, row, texts[number]) in dropped:
                    flags[k][first + row] = False
    return [replace(each, flagged=flagged) for each, flagged in zip(decisions, flags, strict=True)]


def _applied_edit(decisions: Decisions, row: int, text: str) -> Any:
    from disambig.data import record_edit
    from disambig.formats import AppliedEdit

    return AppliedEdit.from_record(record_edit(decisions.record(row, text), text))


def _changed_spans(text: str, plain: PlainText, decisions: Sequence[Decisions]) -> list[Span]:
    """Return the spans of the decisions that change a word."""
    return [
        (int(each.starts[i]), int(each.ends[i]))
        for each in decisions
        for i in np.flatnonzero(each.flagged & (each.observed >= 0) & (each.chosen != each.observed)).tolist()
    ]
