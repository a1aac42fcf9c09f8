"""Stable corrections: none of them is flagged again in the corrected text, so no second run takes it back.

A decision assumes that all other words stay as they are. A correction changes the context of the words around
it: *you're* may become *your*, and then *your* may become *you're* again. The corrected text is therefore
decided again near the corrections, and a correction that would be flagged there is not made.
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
"""Returns the flagged spans of a corrected text, given the text, its plain text and its decisions."""
MAX_ROUNDS = 20
"""If the corrections of a text still undo each other after this many rounds, none of them is made."""


@dataclass(slots=True)
class _PendingEdits:
    """A text, its edits, and the indices of those edits that have not been dropped."""

    text: str
    edits: Sequence[TextEdit]
    kept: list[int]
    cutter: ParagraphCutter
    layout: Layout


@dataclass(frozen=True, slots=True)
class _CorrectedText:
    """A text after its kept edits."""

    pending: _PendingEdits  # the edits
    text: str  # the corrected text
    plain: PlainText  # the corrected text without markup
    written: list[Span]  # the spans that the kept edits wrote
    # further edits of the original text that keep the layout of tables and titles
    layout_edits: list[TextEdit]
    parts: list[TextPart]  # the parts of the corrected text that must be decided again

    def part_keys(self) -> list[PartKey]:
        """Return the keys of the parts."""
        return [part.key(self.plain.text) for part in self.parts]

    def decisions(self, decided: Mapping[PartKey, list[Decisions]]) -> Sequence[Decisions]:
        """Join the decisions of the parts, which `decided` holds by their keys."""
        pieces = [
            (decided[key], part.context_start) for key, part in zip(self.part_keys(), self.parts, strict=True)
        ]
        return join_pieces(pieces) if pieces else ()


def stable_edits(
    texts: Sequence[str],
    edits: Sequence[Sequence[TextEdit]],
    annotate: Annotate,
    find_flagged: FindFlagged,
    read: Callable[[str], PlainText] = PlainText,
    layout_of: Callable[[str], Layout] = Layout,
) -> list[list[int]]:
    """Return the indices of the edits of each text that are not flagged again once all of them are made.

    Only the corrected paragraphs and their context are decided again, those of all texts in one call.

    `edits`: the edits of each text in text order, without overlaps.
    `annotate`: the models that decided the texts.
    `find_flagged`: returns the flagged spans of a corrected text, without words to ignore.
    `read`: returns a text without its markup.
    `layout_of`: returns the layout of a text, into which the edits fit.
    """
    decided: dict[PartKey, list[Decisions]] = {}
    all_pending = [
        _PendingEdits(text, text_edits, list(range(len(text_edits))), ParagraphCutter(), layout_of(text))
        for text, text_edits in zip(texts, edits, strict=True)
    ]
    unsettled = [pending for pending in all_pending if pending.kept]
    for _ in range(MAX_ROUNDS):
        if unsettled:
            unsettled = _drop_flagged(unsettled, annotate, find_flagged, read, decided)
    for pending in unsettled:
        pending.kept = []
    return [pending.kept for pending in all_pending]


@dataclass(frozen=True, slots=True)
class Recheck:
    """The models and options with which a corrected text is checked again."""

    annotate: Annotate
    ignore: Collection[str] = ()  # words and corrections to ignore (see `disambig.checking.find_flags`)
    options: Mapping[str, Any] = field(default_factory=dict)  # see `disambig.markup.read_markup`
    project_names: Collection[str] = ()  # see `disambig.checking.find_flags`

    def flags(self, name: str, text: str, plain: PlainText, decisions: Sequence[Decisions]) -> Sequence[Flag]:
        """Return the flags of a corrected text."""
        return find_flags(
            name, text, plain, decisions, ignore=self.ignore, project_names=self.project_names
        ).flags


def stable_flags(name: str, text: str, flags: Sequence[Flag], recheck: Recheck) -> list[Flag]:
    """Return the flags of a text that are not flagged again once all of them are corrected.

    Flags whose corrections do not fit into their tables are left out.

    `name`: name of the file, whose suffix determines the markup.
    `flags`: flags that do not overlap (see `disambig.checking.select_compatible`).
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


def fixed_point_flags(
    name: str,
    text: str,
    flags: Sequence[Flag],
    recheck: Recheck,
    select: Callable[[Sequence[Flag]], Sequence[Flag]] = lambda flags: flags,
) -> list[Flag]:
    """Return the flags to correct so that a second run finds nothing more to correct.

    A correction may raise a flag for a neighbouring word, which fitted the mistake. The corrected text is
    therefore checked again near the corrections, until nothing new is flagged.

    `name`, `text`, `flags`, `recheck`: see `stable_flags`.
    `select`: returns those of the new flags that may be corrected too; their offsets refer to `text`.
    """
    kept = stable_flags(name, text, flags, recheck)
    decided: dict[PartKey, list[Decisions]] = {}
    cutter, layout = ParagraphCutter(), read_layout(name, text)
    for _ in range(MAX_ROUNDS if kept else 0):
        edits = [flag.edit for flag in kept]
        pending = _PendingEdits(text, edits, list(range(len(edits))), cutter, layout)
        corrected = _apply_kept(pending, lambda new: read_markup(name, new, recheck.options))
        _decide(corrected.part_keys(), recheck.annotate, decided)
        decisions = corrected.decisions(decided)
        untouched = [
            flag
            for flag in recheck.flags(name, corrected.text, corrected.plain, decisions)
            if not any(
                touches_edit(edit, span, (flag.start, flag.end))
                for edit, span in zip(edits, corrected.written, strict=True)
            )
        ]
        new = select_compatible(select(_shift_to_original(untouched, edits, corrected.layout_edits, text)))
        if not new:
            break
        combined = sorted([*kept, *new], key=lambda flag: flag.edit[:2])
        stable = stable_flags(name, text, combined, recheck)
        stable_ids = set(map(id, stable))  # a flag has no hash
        if len(stable) <= len(kept) or not all(id(flag) in stable_ids for flag in kept):
            break
        kept = stable
    return kept


def _shift_to_original(
    flags: Iterable[Flag], edits: Sequence[TextEdit], layout_edits: Sequence[TextEdit], text: str
) -> list[Flag]:
    """Return the flags of a corrected text with their offsets in the original `text`.

    Flags and alternatives that touch what `edits` wrote are left out.
    """
    lines = TextLines(text)
    written: list[Span] = []
    ends: list[int] = []  # ends of the edits in the corrected text
    shift = 0  # the number to add to an offset into the corrected text
    shifts = [0]  # the shift before the first edit, and after each edit
    for (start, end, new), is_correction in _merge_edits(edits, layout_edits):
        ends.append(start - shift + len(new))
        if is_correction:
            written.append((start - shift, ends[-1]))
        shift += end - start - len(new)
        shifts.append(shift)

    def shifted(start: int, end: int) -> Span:
        shift_at_start = shifts[bisect_right(ends, start)]
        return start + shift_at_start, end + shift_at_start

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
        line, column = lines.line_and_column(start)
        alternatives = []
        for alternative in flag.alternatives:
            span = alternative["start"], alternative["end"]
            if not is_written(*span):
                first, last = shifted(*span)
                alternatives.append({**alternative, "start": first, "end": last})
        moved = replace(
            flag,
            start=start,
            end=end,
            line=line,
            column=column,
            edit=(*shifted(*flag.edit[:2]), flag.edit[2]),
            alternatives=tuple(alternatives),
        )
        results.append(moved)
    return results


def _drop_flagged(
    all_pending: Sequence[_PendingEdits],
    annotate: Annotate,
    find_flagged: FindFlagged,
    read: Callable[[str], PlainText],
    decided: dict[PartKey, list[Decisions]],
) -> list[_PendingEdits]:
    """Drop the edits that would be flagged; return the texts that lost some and still have others."""
    corrected_texts = [_apply_kept(pending, read) for pending in all_pending]
    _decide([key for corrected in corrected_texts for key in corrected.part_keys()], annotate, decided)
    again = []
    for corrected in corrected_texts:
        pending = corrected.pending
        flagged = list(find_flagged(corrected.text, corrected.plain, corrected.decisions(decided)))
        kept = [
            index
            for index, span in zip(pending.kept, corrected.written, strict=True)
            if not any(touches_edit(pending.edits[index], span, flag) for flag in flagged)
        ]
        if len(kept) < len(pending.kept):
            pending.kept = kept
            again += [pending] if kept else []
    return again


def _apply_kept(pending: _PendingEdits, read: Callable[[str], PlainText]) -> _CorrectedText:
    edits = [pending.edits[index] for index in pending.kept]
    layout_edits = pending.layout.further(edits)
    merged = _merge_edits(edits, layout_edits)
    text, spans = apply_edits(pending.text, [edit for edit, _ in merged])
    written = [span for span, (_, is_correction) in zip(spans, merged, strict=True) if is_correction]
    plain = read(text)
    parts = [
        part
        for part in pending.cutter.cut(plain.text)
        if any(start <= part.end and part.start <= end for start, end in written)
    ]
    return _CorrectedText(pending, text, plain, written, layout_edits, parts)


def _merge_edits(edits: Sequence[TextEdit], layout_edits: Sequence[TextEdit]) -> list[tuple[TextEdit, bool]]:
    """Return all edits in text order, each with whether it is one of `edits`."""
    merged = [*((edit, True) for edit in edits), *((edit, False) for edit in layout_edits)]
    return sorted(merged, key=lambda item: item[0][:2])


def _decide(keys: Iterable[PartKey], annotate: Annotate, decided: dict[PartKey, list[Decisions]]) -> None:
    """Add the flagged decisions of new parts to `decided`; all new parts are annotated in one call."""
    new = [key for key in dict.fromkeys(keys) if key not in decided]
    if not new:
        return
    decisions_by_task = annotate([part_text for part_text, _, _ in new])
    for number, key in enumerate(new):
        _, start, end = key
        of_part = [decisions.in_document(number) for decisions in decisions_by_task]
        decided[key] = [
            decisions.take(
                np.flatnonzero(decisions.flagged & (decisions.starts >= start) & (decisions.starts < end))
            )
            for decisions in of_part
        ]


@dataclass(frozen=True, slots=True)
class StableSource:
    """A source whose annotator flags only stable corrections, for the output of corrected text."""

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
    """Return the decisions without the flags whose corrections would be flagged again."""
    from disambig.formats import AnnotatedDocument, Document, applied_edits

    flagged_texts = sorted({int(i) for of_task in decisions for i in of_task.documents[of_task.flagged]})
    by_text = [tuple(of_task.in_document(number) for of_task in decisions) for number in flagged_texts]
    applied = [
        applied_edits(AnnotatedDocument(Document(str(number), texts[number], ""), of_text))
        for number, of_text in zip(flagged_texts, by_text, strict=True)
    ]
    edits = [[(edit.start, edit.end, edit.replacement) for edit in text_edits] for text_edits in applied]
    kept = stable_edits([texts[number] for number in flagged_texts], edits, annotate, _changed_spans)
    flagged = [of_task.flagged.copy() for of_task in decisions]
    for number, of_text, text_edits, kept_indices in zip(flagged_texts, by_text, applied, kept, strict=True):
        dropped = {text_edits[j] for j in set(range(len(text_edits))) - set(kept_indices)}
        if not dropped:
            continue
        for task, of_task in enumerate(of_text):
            first = int(np.searchsorted(decisions[task].documents, number))
            for row in np.flatnonzero(of_task.flagged).tolist():
                if _applied_edit(of_task, row, texts[number]) in dropped:
                    flagged[task][first + row] = False
    return [
        replace(of_task, flagged=task_flagged)
        for of_task, task_flagged in zip(decisions, flagged, strict=True)
    ]


def _applied_edit(decisions: Decisions, row: int, text: str) -> Any:
    from disambig.data import record_edit
    from disambig.formats import AppliedEdit

    return AppliedEdit.from_record(record_edit(decisions.record(row, text), text))


def _changed_spans(text: str, plain: PlainText, decisions: Sequence[Decisions]) -> list[Span]:
    """Return the spans of the decisions that change a word."""
    return [
        (int(of_task.starts[i]), int(of_task.ends[i]))
        for of_task in decisions
        for i in np.flatnonzero(
            of_task.flagged & (of_task.observed >= 0) & (of_task.chosen != of_task.observed)
        ).tolist()
    ]
