"""Stable corrections: of what they write nothing is flagged, so no second run takes it back.

A decision is made as if all other words stayed. Once it is carried out, it changes what is seen around the
next word: *you're* may become *your*, and *your* in its turn *you're*. So the corrected text is decided again
where it was corrected, and what would be flagged there is not corrected in the first place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from disambig.checking.flags import Flag, find_flags
from disambig.checking.live import ParagraphCutter, TextPart
from disambig.jobs import join_pieces, wrap_annotator
from disambig.markup import NO_OPTIONS, PlainText, read_markup

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.jobs import Annotate, AnnotatorSource

Edit = tuple[int, int, str]
"""``text[start:end]`` becomes a text."""
Span = tuple[int, int]
FindFlagged = Callable[[str, PlainText, "Sequence[Decisions]"], Iterable[Span]]
"""Returns the flagged spans of a corrected text, given it, the same without markup, and the decisions."""
MAX_ROUNDS = 20
"""If the corrections of a text still undo each other after so many rounds, none of them is made."""
_PartKey = tuple[str, int, int]
"""A part with the words around it, and where in that the part begins and ends."""


@dataclass(slots=True)
class _Candidate:
    """A text with the numbers of the edits that are still to be made."""

    text: str
    edits: Sequence[Edit]
    kept: list[int]
    cutter: ParagraphCutter


@dataclass(frozen=True, slots=True)
class _Trial:
    """A text as its edits would make it: where they wrote, and the parts to decide again."""

    candidate: _Candidate
    corrected: str
    plain: PlainText
    written: list[Span]
    parts: list[TextPart]

    def part_keys(self) -> list[_PartKey]:
        """Return the keys of the parts."""
        return [
            (self.plain.text[part.first : part.last], part.start - part.first, part.end - part.first)
            for part in self.parts
        ]


def stable_edits(
    texts: Sequence[str],
    edits: Sequence[Sequence[Edit]],
    annotate: Annotate,
    find_flagged: FindFlagged,
    read: Callable[[str], PlainText] = PlainText,
) -> list[list[int]]:
    """Return the numbers of the edits of each text that are not flagged again once all of them are made.

    Only the paragraphs in which something is corrected are decided, with the words around them that models
    see; those of all texts together.

    Parameters
    ----------
    texts : sequence of str
    edits : sequence of sequences of Edit
        Of each text, in its order; none overlaps another.
    annotate : Annotate
        What decided the texts.
    find_flagged : callable
        Returns what is flagged in a corrected text, words to ignore excepted.
    read : callable
        Takes the markup away.
    """
    decided: dict[_PartKey, list[Decisions]] = {}
    candidates = [
        _Candidate(text, text_edits, list(range(len(text_edits))), ParagraphCutter())
        for text, text_edits in zip(texts, edits, strict=True)
    ]
    unsettled = [candidate for candidate in candidates if candidate.kept]
    for _ in range(MAX_ROUNDS):
        if unsettled:
            unsettled = _drop_flagged(unsettled, annotate, find_flagged, read, decided)
    for candidate in unsettled:
        candidate.kept = []
    return [candidate.kept for candidate in candidates]


def stable_flags(
    name: str,
    text: str,
    flags: Sequence[Flag],
    annotate: Annotate,
    ignore: Collection[str],
    options: Mapping[str, Any] = NO_OPTIONS,
) -> list[Flag]:
    """Return the flags of a text that are not flagged again once all of them are corrected.

    Parameters
    ----------
    name : str
        Name of the file: the suffix tells the markup.
    flags : sequence of Flag
        As `disambig.checking.choose` takes them.
    ignore : collection of str
        Words that are not flagged.
    options : mapping of str to object
        See `disambig.markup.read_markup`.
    """

    def find_flagged(corrected: str, plain: PlainText, decisions: Sequence[Decisions]) -> list[Span]:
        checked = find_flags(name, corrected, plain, decisions, ignore=ignore)
        return [(flag.start, flag.end) for flag in checked.flags]

    edits = [[flag.edit for flag in flags]]
    (kept,) = stable_edits([text], edits, annotate, find_flagged, lambda new: read_markup(name, new, options))
    return [flags[number] for number in kept]


def _drop_flagged(
    candidates: Sequence[_Candidate],
    annotate: Annotate,
    find_flagged: FindFlagged,
    read: Callable[[str], PlainText],
    decided: dict[_PartKey, list[Decisions]],
) -> list[_Candidate]:
    """Drop the edits that would be flagged; return the texts that have others, to be tried again."""
    trials = [_try(candidate, read) for candidate in candidates]
    _decide([key for trial in trials for key in trial.part_keys()], annotate, decided)
    again = []
    for trial in trials:
        candidate = trial.candidate
        pieces = [
            (decided[key], part.first) for key, part in zip(trial.part_keys(), trial.parts, strict=True)
        ]
        flagged = list(find_flagged(trial.corrected, trial.plain, join_pieces(pieces) if pieces else ()))
        kept = [
            number
            for number, span in zip(candidate.kept, trial.written, strict=True)
            if not any(_touches(candidate.edits[number], span, flag) for flag in flagged)
        ]
        if len(kept) < len(candidate.kept):
            candidate.kept = kept
            again += [candidate] if kept else []
    return again


def _try(candidate: _Candidate, read: Callable[[str], PlainText]) -> _Trial:
    corrected, written = _apply(candidate.text, [candidate.edits[number] for number in candidate.kept])
    plain = read(corrected)
    parts = [
        part
        for part in candidate.cutter.cut(plain.text)
        if any(start <= part.end and part.start <= end for start, end in written)
    ]
    return _Trial(candidate, corrected, plain, written, parts)


def _decide(keys: Iterable[_PartKey], annotate: Annotate, decided: dict[_PartKey, list[Decisions]]) -> None:
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


def _apply(text: str, edits: Sequence[Edit]) -> tuple[str, list[Span]]:
    """Return the text with edits, and the span that each of them wrote: the gap, if it removed a word."""
    parts, spans, at, length = [], [], 0, 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        length += start - at
        spans.append((length, length + len(new)))
        length += len(new)
        at = end
    corrected = "".join([*parts, text[at:]])
    return corrected, [span if span[0] < span[1] else _gap(corrected, span[0]) for span in spans]


def _gap(text: str, at: int) -> Span:
    start = end = at
    while start > 0 and text[start - 1].isspace():
        start -= 1
    while end < len(text) and text[end].isspace():
        end += 1
    return start, end


def _touches(edit: Edit, written: Span, flag: Span) -> bool:
    """Return True if a flag is of what an edit wrote, and not of the word beside it."""
    start, end = flag
    if start < end:
        return start < written[1] and written[0] < end
    replaces = edit[0] < edit[1] and edit[2] != ""
    return written[0] < start < written[1] if replaces else written[0] <= start <= written[1]


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
