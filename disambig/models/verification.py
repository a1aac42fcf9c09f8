"""Verify corrections before they are proposed: corrected text must not be flagged where it was corrected.

A decision is made as if all other words were right. In the corrected text, the models may flag the correction
("an" to "a", and "a" to "an"), or propose another word. So each correction is applied to the text around it,
and the models decide there again:

* Nothing is flagged there: the flag is kept.
* The original is proposed: the more probable of the two flags is kept. Since the other one loses when its
  own correction is verified, the corrected text is not flagged there.
* Another word is proposed, and is not flagged in its turn: it replaces the correction, if it is one of the
  candidates of the decision. Otherwise the flag is dropped, since two models that disagree do not help a
  reader.

At a rate above the default, proposals of another word only count if they are flagged at the default rate as
well: otherwise a word could be flagged at a low rate and not at a higher one.

Before that, of flags near each other, the less probable ones are decided again in the text that the surer
ones correct: "They asks" may become "It asks" or "They ask", and once it is "They ask", nothing is wrong with
"They". A flag is dropped if its probability falls to less than a quarter, unless all the surer ones are
dropped.

If a flag is dropped, those that overlap it (see `disambig.decision.overlaps`) are verified in its place.

Of two neighbouring words only the surer one is flagged at first, since it may be the reason for the other
flag. In "loose you're", it is not: what lost to a neighbour alone is decided again beside the corrected
neighbour (`neighbours` of `verify_flags`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from disambig.data import Decisions, minibatch, record_edit, replacement, surrounding_space
from disambig.decision import edit_slots, resolve_overlaps, restore_flags, surviving_edits, task_ranks

TextEdit = tuple[int, int, str]
"""``text[start:end]`` becomes a text."""
Span = tuple[int, int]
DecideNear = Callable[[Sequence[str], Sequence[Sequence[Span]]], Sequence[Decisions]]
"""Returns the decisions near some spans of each text, without overlapping flags."""

_CONTEXT_WORDS = 26
"""Words on each side of a paragraph that the models see; their networks see 25."""
_CONTEXT_CHARACTERS = 400
_LONGEST_PARAGRAPH = 300
"""Number of characters of a paragraph on each side of a flag that are decided again."""
_NEAR_CHARACTERS = 40
"""Maximum number of characters between two flags that may be about the same mistake."""
_EXPLAINED = 0.25
"""A flag is dropped if correcting the flags near it lowers its probability to less than this share."""
_PARAGRAPH_END = re.compile("\n[^\\S\n]*\n|\u2029")
_WORD = re.compile(r"\w+")
_BATCH_CHARACTERS = 100_000
"""Number of characters of corrected text that are decided together."""
MAX_ROUNDS = 4
"""How often flags are verified in the place of those that were dropped."""


def apply_edits(text: str, edits: Iterable[TextEdit]) -> tuple[str, list[Span]]:
    """Return the text with edits, and the span that each of them wrote: the gap, if it removed a word.

    `edits`: in the order of the text, without overlaps.
    """
    parts, spans, at, length = [], [], 0, 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        length += start - at
        spans.append((length, length + len(new)))
        length += len(new)
        at = end
    corrected = "".join([*parts, text[at:]])
    return corrected, [span if span[0] < span[1] else surrounding_space(corrected, span[0]) for span in spans]


def touches_edit(edit: TextEdit, written: Span, flag: Span) -> bool:
    """Return True if a flag concerns what an edit wrote, and not the word beside it.

    `written` and `flag` are offsets into the corrected text; `written` is as `apply_edits` returns
    it.
    """
    start, end = flag
    if start < end:
        return start < written[1] and written[0] < end
    replaces = edit[0] < edit[1] and edit[2] != ""
    return written[0] < start < written[1] if replaces else written[0] <= start <= written[1]


def flag_edit(decisions: Decisions, row: int, chosen: int, text: str) -> TextEdit:
    """Return the edit of a text that replaces the observed candidate of a decision by another one."""
    start, end = int(decisions.starts[row]), int(decisions.ends[row])
    new = replacement(decisions.candidate_texts(row)[chosen], text, start, end)
    edit = record_edit({"start": start, "end": end, "observed": text[start:end], "replacement": new}, text)
    return edit["start"], edit["end"], edit["replacement"]


def corrections(decisions: Decisions) -> list[int]:
    """Return the flagged decisions that change a word."""
    changed = decisions.flagged & (decisions.observed >= 0) & (decisions.chosen != decisions.observed)
    return np.flatnonzero(changed).tolist()


@dataclass(frozen=True, slots=True)
class DroppedFlag:
    """Why verification dropped a flag. Each correction is a pair of what is written and what replaces it."""

    # corrections of surer flags near it, after which the models find no mistake there
    explained_by: tuple[tuple[str, str], ...] = ()
    # what the models would correct in the text that the flag's own correction writes
    corrected_again: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Flag:
    """A flag to verify, and what was decided about it."""

    task: int
    row: int
    edit: TextEdit  # its edit of the excerpt
    probability: float
    kept: bool = True  # whether the flag is raised
    chosen: int | None = None  # a candidate to choose in place of the one that was chosen
    explained_by: Sequence[_Flag] = ()  # the surer flags because of which it was dropped
    reason: DroppedFlag = DroppedFlag()  # why it was dropped, if it was


def _explains(surer: _Flag, flag: _Flag) -> bool:
    """Return True if the first flag is more probable than the second one and near it."""
    (start, end, _), (other_start, other_end, _) = flag.edit, surer.edit
    is_near = max(start - other_end, other_start - end) <= _NEAR_CHARACTERS
    return surer is not flag and is_near and surer.probability > flag.probability


def _shown_edits(text: str, edits: Iterable[TextEdit]) -> tuple[tuple[str, str], ...]:
    """Return what edits of a text replace, and with what."""
    return tuple((text[start:end].strip(), new.strip()) for start, end, new in edits)


def _shift(edits: Iterable[TextEdit], edit: TextEdit) -> int:
    """Return the number of characters by which the edits before another edit move it."""
    return sum(len(new) - (end - start) for start, end, new in edits if (start, end) < edit[:2])


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """A paragraph with the words around it, and the flags in it."""

    document: int
    start: int
    text: str
    flags: Sequence[_Flag]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A corrected excerpt, and the edit that is verified in it."""

    flag: _Flag
    excerpt: _Excerpt
    edit: TextEdit  # the edit that wrote `written`
    corrected: str  # the excerpt with this edit, and possibly those of other flags
    written: Span  # (start, end)
    without: str  # the same without this edit


@dataclass(frozen=True, slots=True)
class _NewFlag:
    """A flag in a corrected excerpt: its edit, the text after it, and whether it is raised by default."""

    edit: TextEdit
    probability: float
    text: str
    is_default: bool


def verify_flags(
    texts: Sequence[str],
    decisions: Sequence[Decisions],
    decide_near: DecideNear,
    default_limits: Mapping[str, float] | None = None,
    *,
    neighbours: bool = False,
    dropped: dict[tuple[int, int], DroppedFlag] | None = None,
) -> list[Decisions]:
    """Return the decisions with one flag in every place, and only those whose correction is not flagged.

    `texts`: the documents.
    `decisions`: one per task, over all texts; their flags may overlap.
    `decide_near`: decides corrected texts with the same models near what was corrected.
    `default_limits`: probability above which each task flags a word by default; 0 for other tasks.
    `neighbours`: whether a flag that lost to a neighbour is restored if it is raised once the neighbour is
    corrected.
    `dropped`: receives the reason for each flag that is dropped, by the index of its decisions and its row.
    """
    limits = default_limits or {}
    reasons: dict[tuple[int, int], DroppedFlag] = {} if dropped is None else dropped
    verified = _verify(texts, decisions, decide_near, limits, reasons)
    return _restore_neighbours(texts, verified, decide_near, limits, reasons) if neighbours else verified


def _verify(
    texts: Sequence[str],
    decisions: Sequence[Decisions],
    decide_near: DecideNear,
    limits: Mapping[str, float],
    reasons: dict[tuple[int, int], DroppedFlag],
) -> list[Decisions]:
    """Return the decisions with one flag in every place, without those whose correction is flagged."""
    resolved = resolve_overlaps(decisions, texts)
    verified: set[tuple[int, int]] = set()
    for _ in range(MAX_ROUNDS):
        rows = _raised_flags(resolved)
        new = [place for place in rows if place not in verified]
        if not new:
            return resolved
        excerpts = list(_excerpts(texts, resolved, new))
        _Verifier(texts, resolved, decide_near, limits).verify(excerpts)
        flags = [flag for excerpt in excerpts for flag in excerpt.flags]
        again = [
            flag for flag in flags if flag.explained_by and not any(other.kept for other in flag.explained_by)
        ]
        for flag in again:
            flag.kept = True
        verified.update(set(new) - {(flag.task, flag.row) for flag in again})
        changed = [flag for flag in flags if not flag.kept or flag.chosen is not None]
        if not changed:
            return resolved
        reasons.update({(flag.task, flag.row): flag.reason for flag in changed if not flag.kept})
        resolved = resolve_overlaps(_with_verdicts(resolved, changed), texts)
    unverified = set(_raised_flags(resolved)) - verified
    reasons.update(dict.fromkeys(unverified, DroppedFlag()))
    return _without_flags(resolved, unverified)


def _restore_neighbours(
    texts: Sequence[str],
    decisions: Sequence[Decisions],
    decide_near: DecideNear,
    limits: Mapping[str, float],
    reasons: dict[tuple[int, int], DroppedFlag],
) -> list[Decisions]:
    """Return verified decisions with flags that lost to a neighbour, and are raised once it is corrected."""
    hidden = _hidden_neighbours(texts, decisions)
    if not hidden:
        return list(decisions)
    shown = _raised_flags(decisions)
    verifier = _Verifier(texts, decisions, decide_near, limits)
    raised = verifier.raised_beside(_excerpts_with(texts, decisions, shown, hidden), hidden)
    excerpts = _excerpts_with(texts, decisions, shown, raised)
    verifier.verify(excerpts)

    def is_explained(flag: _Flag) -> bool:
        """Return True for a flag about a mistake that is flagged now, as "turning" after "you're" is."""
        return any(other.kept and (other.task, other.row) in raised for other in flag.explained_by)

    stable = [
        flag
        for excerpt in excerpts
        if all(f.chosen is None and (f.kept or is_explained(f)) for f in excerpt.flags)
        for flag in excerpt.flags
    ]
    restored = {(flag.task, flag.row) for flag in stable if flag.kept} & raised
    if not restored:
        return list(decisions)
    dropped = {(flag.task, flag.row): flag.reason for flag in stable if not flag.kept}
    reasons.update(dropped)
    return _without_flags(restore_flags(decisions, restored), set(dropped))


def _hidden_neighbours(texts: Sequence[str], decisions: Sequence[Decisions]) -> set[tuple[int, int]]:
    """Return the task and row of flags that were not raised, though no raised one overlaps them itself."""
    lost = [
        (task, row)
        for task, task_decisions in enumerate(decisions)
        if task_decisions.settled is not None
        for row in task_decisions.settled.lost.tolist()
        if 0 <= task_decisions.observed[row] != task_decisions.chosen[row]
    ]
    if not lost:
        return set()
    shown = _raised_flags(decisions)
    rows = [*lost, *shown]
    documents = np.array([int(decisions[task].documents[row]) for task, row in rows])
    edits = [
        flag_edit(decisions[task], row, int(decisions[task].chosen[row]), texts[document])
        for (task, row), document in zip(rows, documents.tolist(), strict=True)
    ]
    starts, ends = np.array([edit[:2] for edit in edits], np.int64).T
    removes = np.array([not new for _, _, new in edits]) & (starts < ends)
    probabilities = np.array([float(decisions[task].probabilities[row]) for task, row in rows])
    probabilities[len(lost) :] += 1.0  # these were raised, and remain
    ranks = task_ranks([task_decisions.task for task_decisions in decisions])[[task for task, _ in rows]]
    survivors = surviving_edits(documents, edit_slots(starts, ends, removes), probabilities, ranks)
    return {lost[i] for i in np.flatnonzero(survivors[: len(lost)] == np.arange(len(lost))).tolist()}


def _excerpts_with(
    texts: Sequence[str],
    decisions: Sequence[Decisions],
    shown: Iterable[tuple[int, int]],
    hidden: Collection[tuple[int, int]],
) -> list[_Excerpt]:
    """Return the excerpts of flags in which at least one is hidden."""
    return [
        excerpt
        for excerpt in _excerpts(texts, decisions, [*shown, *hidden])
        if any((flag.task, flag.row) in hidden for flag in excerpt.flags)
    ]


def _with_verdicts(decisions: Sequence[Decisions], flags: Sequence[_Flag]) -> list[Decisions]:
    """Return the decisions without the flags that were dropped, and with the candidates chosen instead."""
    changed = list(decisions)
    for task in {flag.task for flag in flags}:
        task_decisions = decisions[task]
        raised, chosen = task_decisions.raised.copy(), task_decisions.chosen.copy()
        probabilities = task_decisions.probabilities.copy()
        for flag in flags:
            if flag.task == task:
                raised[flag.row], probabilities[flag.row] = flag.kept, flag.probability
                chosen[flag.row] = chosen[flag.row] if flag.chosen is None else flag.chosen
        changed[task] = replace(
            task_decisions, flagged=raised, chosen=chosen, probabilities=probabilities, settled=None
        )
    return changed


def _without_flags(decisions: Sequence[Decisions], flags: Collection[tuple[int, int]]) -> list[Decisions]:
    """Return the decisions without some flags, given by task and row."""
    remaining = list(decisions)
    for task in {task for task, _ in flags}:
        flagged = decisions[task].flagged.copy()
        flagged[[row for owner, row in flags if owner == task]] = False
        remaining[task] = replace(decisions[task], flagged=flagged)
    return remaining


def _raised_flags(decisions: Sequence[Decisions]) -> list[tuple[int, int]]:
    """Return the task and row of the flags that change a word."""
    return [(task, row) for task, decided in enumerate(decisions) for row in corrections(decided)]


def _excerpts(
    texts: Sequence[str], decisions: Sequence[Decisions], rows: Iterable[tuple[int, int]]
) -> Iterator[_Excerpt]:
    """Yield the excerpts in which flags, given by task and row, are verified."""
    flags = []
    for task, row in rows:
        task_decisions = decisions[task]
        document = int(task_decisions.documents[row])
        edit = flag_edit(task_decisions, row, int(task_decisions.chosen[row]), texts[document])
        flags.append((document, _Flag(task, row, edit, float(task_decisions.probabilities[row]))))
    flags.sort(key=lambda flag: (flag[0], flag[1].edit[:2]))
    group: list[_Flag] = []
    document = paragraph_end = -1
    for number, flag in flags:
        if group and (number != document or flag.edit[0] >= paragraph_end):
            yield _excerpt(texts[document], document, group)
            group = []
        if not group:
            document = number
            paragraph_end = _paragraph(texts[document], *flag.edit[:2])[1]
        group.append(flag)
    if group:
        yield _excerpt(texts[document], document, group)


def _excerpt(text: str, document: int, flags: list[_Flag]) -> _Excerpt:
    paragraph = _paragraph(text, flags[0].edit[0], max(flag.edit[1] for flag in flags))
    start, end = _context(text, *paragraph)
    for flag in flags:
        flag.edit = flag.edit[0] - start, flag.edit[1] - start, flag.edit[2]
    return _Excerpt(document, start, text[start:end], flags)


def _paragraph(text: str, start: int, end: int) -> Span:
    """Return the paragraph around a span, or a part of it if it is long."""
    low = max(0, start - _LONGEST_PARAGRAPH)
    for match in _PARAGRAPH_END.finditer(text, low, start):
        low = match.end()
    after = _PARAGRAPH_END.search(text, end, end + _LONGEST_PARAGRAPH)
    return low, after.start() if after else min(len(text), end + _LONGEST_PARAGRAPH)


def _context(text: str, start: int, end: int) -> Span:
    """Return a span together with the words around it that the models see."""
    before = list(_WORD.finditer(text, max(0, start - _CONTEXT_CHARACTERS), start))[-_CONTEXT_WORDS:]
    after = list(islice(_WORD.finditer(text, end, end + _CONTEXT_CHARACTERS), _CONTEXT_WORDS))
    return before[0].start() if before else start, after[-1].end() if after else end


@dataclass(frozen=True, slots=True)
class _Verifier:
    """Verifies the flags of texts, all trials of a kind in one call of the models."""

    texts: Sequence[str]
    decisions: Sequence[Decisions]
    decide_near: DecideNear
    default_limits: Mapping[str, float] = field(default_factory=dict)

    def verify(self, excerpts: Sequence[_Excerpt]) -> None:
        """Decide about the flags: with all those of an excerpt corrected, then one at a time if necessary."""
        self._drop_explained(excerpts)
        kept = [replace(excerpt, flags=[f for f in excerpt.flags if f.kept]) for excerpt in excerpts]
        trials = [trial for excerpt in kept for trial in self._joint_trials(excerpt)]
        failed = self._failed(trials)
        alone = [self._single_trial(trial) for trial, _ in failed if len(trial.excerpt.flags) > 1]
        final = [pair for pair in failed if len(pair[0].excerpt.flags) == 1] + self._failed(alone)
        self._resolve_failed(final)

    def raised_beside(
        self, excerpts: Sequence[_Excerpt], hidden: Collection[tuple[int, int]]
    ) -> set[tuple[int, int]]:
        """Return the hidden flags, by task and row, that are raised once the surer ones are corrected."""
        corrected: list[str] = []
        moved: list[dict[TextEdit, tuple[int, int]]] = []
        for excerpt in excerpts:
            minimum = min(flag.probability for flag in excerpt.flags if (flag.task, flag.row) in hidden)
            edits = [
                flag.edit
                for flag in excerpt.flags
                if (flag.task, flag.row) not in hidden and flag.probability >= minimum
            ]
            corrected.append(apply_edits(excerpt.text, edits)[0])
            places = {}
            for flag in excerpt.flags:
                if (flag.task, flag.row) in hidden:
                    start, end, new = flag.edit
                    shift = _shift(edits, flag.edit)
                    places[start + shift, end + shift, new] = flag.task, flag.row
            moved.append(places)
        raised = set()
        spans = [[edit[:2] for edit in places] for places in moved]
        for first, task_decisions in self._decide_near(corrected, spans):
            for row in corrections(task_decisions):
                number = first + int(task_decisions.documents[row])
                edit = flag_edit(task_decisions, row, int(task_decisions.chosen[row]), corrected[number])
                if edit in moved[number]:
                    raised.add(moved[number][edit])
        return raised

    def _drop_explained(self, excerpts: Sequence[_Excerpt]) -> None:
        """Drop the flags that are about a mistake which a surer flag near them corrects."""
        doubtful: list[tuple[_Flag, list[_Flag], str]] = []  # flags, surer ones near them, and the excerpt
        corrected: list[str] = []
        spans: list[list[Span]] = []
        for excerpt in excerpts:
            starts = [flag.edit[0] for flag in excerpt.flags]  # in ascending order
            longest = max(flag.edit[1] - flag.edit[0] for flag in excerpt.flags)
            for flag in excerpt.flags:
                start, end, _ = flag.edit
                first = bisect_left(starts, start - longest - _NEAR_CHARACTERS)
                last = bisect_right(starts, end + _NEAR_CHARACTERS)
                surer = [other for other in excerpt.flags[first:last] if _explains(other, flag)]
                if surer:
                    edits = sorted(other.edit for other in surer)
                    shift = _shift(edits, flag.edit)
                    doubtful.append((flag, surer, excerpt.text))
                    corrected.append(apply_edits(excerpt.text, edits)[0])
                    spans.append([(flag.edit[0] + shift, flag.edit[1] + shift)])
        after = self._probabilities(corrected, spans)
        # Near a span alone, probabilities are lower than in the whole text: the decrease is measured there.
        fallen = [n for n, (flag, *_) in enumerate(doubtful) if after[n] < _EXPLAINED * flag.probability]
        texts, places = [doubtful[n][2] for n in fallen], [[doubtful[n][0].edit[:2]] for n in fallen]
        for n, before in zip(fallen, self._probabilities(texts, places), strict=True):
            flag, surer, text = doubtful[n]
            if after[n] < _EXPLAINED * before:
                flag.kept, flag.explained_by = False, surer
                flag.reason = DroppedFlag(explained_by=_shown_edits(text, [other.edit for other in surer]))

    def _probabilities(self, texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> list[float]:
        """Return the largest probability of a mistake at the one span of each text; 0 without a decision."""
        places = [(text, span) for text, (span,) in zip(texts, spans, strict=True)]
        distinct = list(dict.fromkeys(places))  # in repetitive text, many are the same
        largest = dict.fromkeys(distinct, 0.0)
        distinct_texts, distinct_spans = [text for text, _ in distinct], [[span] for _, span in distinct]
        for first, task_decisions in self._decide_near(distinct_texts, distinct_spans):
            for row in np.flatnonzero(task_decisions.observed >= 0).tolist():
                place = distinct[first + int(task_decisions.documents[row])]
                start, end = place[1]
                if task_decisions.starts[row] <= end and task_decisions.ends[row] >= start:
                    largest[place] = max(largest[place], float(task_decisions.probabilities[row]))
        return [largest[place] for place in places]

    def _decide_near(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> Iterator[tuple[int, Decisions]]:
        """Yield decisions near spans, batch by batch, with the number of the first text of a batch."""
        first = 0
        for batch in minibatch(zip(texts, spans, strict=True), _BATCH_CHARACTERS, lambda pair: len(pair[0])):
            for task_decisions in self.decide_near(*zip(*batch, strict=True)):
                yield first, task_decisions
            first += len(batch)

    def _joint_trials(self, excerpt: _Excerpt) -> Iterator[_Trial]:
        """Yield a trial for each flag of an excerpt in which all of them are corrected."""
        edits = [flag.edit for flag in excerpt.flags]
        corrected, spans = apply_edits(excerpt.text, edits)
        length = 0  # of the corrected text before an edit
        at = 0
        for flag, span in zip(excerpt.flags, spans, strict=True):
            start, end, new = flag.edit
            length += start - at
            without = corrected[:length] + excerpt.text[start:end] + corrected[length + len(new) :]
            yield _Trial(flag, excerpt, flag.edit, corrected, span, without)
            length += len(new)
            at = end

    def _single_trial(self, trial: _Trial) -> _Trial:
        """Return the trial of the same edit in an excerpt without other corrections."""
        text = trial.excerpt.text
        corrected, (span,) = apply_edits(text, [trial.edit])
        return _Trial(trial.flag, trial.excerpt, trial.edit, corrected, span, text)

    def _failed(self, trials: Sequence[_Trial]) -> list[tuple[_Trial, list[_NewFlag]]]:
        """Return the trials that the models flag, unless they restore the original with less certainty."""
        return [
            (trial, flags)
            for trial, flags in zip(trials, self._new_flags(trials), strict=True)
            if any(flag.text != trial.without or flag.probability >= trial.flag.probability for flag in flags)
        ]

    def _new_flags(self, trials: Sequence[_Trial]) -> list[list[_NewFlag]]:
        """Return the flags on what the edit of each trial wrote.

        Flags that propose another word than the original and are not raised by default are left out.
        """
        if not trials:
            return []
        spans: dict[str, list[Span]] = {}
        for trial in trials:
            spans.setdefault(trial.corrected, []).append(trial.written)
        numbers = {text: number for number, text in enumerate(spans)}
        by_text: list[list[tuple[Span, _NewFlag]]] = [[] for _ in spans]
        corrected = list(spans)
        for first, task_decisions in self._decide_near(corrected, list(spans.values())):
            limit = self.default_limits.get(task_decisions.task, 0.0)
            for row in corrections(task_decisions):
                number = first + int(task_decisions.documents[row])
                edit = flag_edit(task_decisions, row, int(task_decisions.chosen[row]), corrected[number])
                text, _ = apply_edits(corrected[number], [edit])
                place = int(task_decisions.starts[row]), int(task_decisions.ends[row])
                probability = float(task_decisions.probabilities[row])
                by_text[number].append((place, _NewFlag(edit, probability, text, probability > limit)))
        return [
            [
                flag
                for place, flag in by_text[numbers[trial.corrected]]
                if (flag.is_default or flag.text == trial.without)
                and touches_edit(trial.edit, trial.written, place)
            ]
            for trial in trials
        ]

    def _resolve_failed(self, failed: Sequence[tuple[_Trial, list[_NewFlag]]]) -> None:
        """Drop the flags of failed trials, or choose the candidate that the models want instead."""
        alternatives, probabilities = [], []
        for trial, flags in failed:
            trial.flag.kept = False
            again = _shown_edits(trial.corrected, [flag.edit for flag in flags])
            trial.flag.reason = DroppedFlag(corrected_again=again)
            if len(flags) == 1 and flags[0].text != trial.without:
                edit = flags[0].edit
                corrected, (span,) = apply_edits(trial.corrected, [edit])
                alternatives.append(_Trial(trial.flag, trial.excerpt, edit, corrected, span, trial.corrected))
                probabilities.append(flags[0].probability)
        new_flags = self._new_flags(alternatives)
        for trial, flags, probability in zip(alternatives, new_flags, probabilities, strict=True):
            flag = trial.flag
            if any(new.text != trial.without for new in flags):
                continue
            if any(new.probability >= probability for new in flags):
                flag.kept = True  # the models would not keep the alternative
                continue
            flag.chosen = self._candidate(trial)
            flag.kept = flag.chosen is not None
            flag.probability = min(flag.probability, probability)

    def _candidate(self, trial: _Trial) -> int | None:
        """Return the candidate of a decision that makes the text of a trial; None if there is none."""
        flag, excerpt = trial.flag, trial.excerpt
        task_decisions, text = self.decisions[flag.task], self.texts[excerpt.document]
        observed = int(task_decisions.observed[flag.row])
        for candidate in range(len(task_decisions.candidate_texts(flag.row))):
            if candidate != observed:
                start, end, new = flag_edit(task_decisions, flag.row, candidate, text)
                edit = start - excerpt.start, end - excerpt.start, new
                if apply_edits(excerpt.text, [edit])[0] == trial.corrected:
                    return candidate
        return None
