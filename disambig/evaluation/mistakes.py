"""Evaluate a checker on mistakes that people made, and on clean text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    PUT_IN,
    TAKEN_OUT,
    PrecisionPoint,
    PrecisionTable,
    distinct_texts,
    edit_kind,
    surrounding_space,
    unordered_pair,
)
from disambig.decision import edit_slots, extend_to_next_word, surviving_edits, task_ranks
from disambig.errors import UserError
from disambig.evaluation.comparison import contingency_table, paired_figures
from disambig.formats import FLAG_LABELS, KINDS, Clean, Fix, FlagReading, fix_kind, paragraph_digest
from disambig.metrics import DRAWS, Accuracy, Outcomes, mcnemar, paired_bootstrap, times_drawn, wilson
from disambig.rules import Correction, RuleSet
from disambig.type_aliases import Bools, Floats, Ints

_WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """A flag with its suggestion.

    Attributes
    ----------
    start, end : int
        Character offsets of the replaced text; equal for an insertion.
    new : str or None
        The suggestion; None if the checker makes none.
    task : str
        The part of the checker that proposes the edit.
    sure : float
        Confidence, higher for a more certain flag; compared with a limit of the task.
    others : tuple of str
        Other suggestions: the mistake counts as corrected if any of them is right.
    """

    start: int
    end: int
    new: str | None
    task: str
    sure: float = 1.0
    others: tuple[str, ...] = ()


class ProposesEdits(Protocol):
    """Something that proposes edits."""

    @property
    def name(self) -> str:
        """Display name."""

    @property
    def tasks(self) -> Sequence[str]:
        """All values of `ProposedEdit.task`."""

    def edits(self, texts: Sequence[str]) -> list[list[ProposedEdit]]:
        """Return all edits that the checker might propose for each text, however uncertain."""


def comparable_words(text: str) -> list[str]:
    """Return words and punctuation for comparing edits, ignoring white space, case and curly apostrophes."""
    # writers and checkers use either apostrophe, and a correction is right with both
    return _WORDS.findall(text.replace("\u2019", "'").casefold())


def corrects(edit: ProposedEdit, fix: Fix) -> bool:
    """Return True if an edit of the text with a mistake gives the words of the corrected text."""
    if edit.new is None:
        return False
    left, right = fix.before[: edit.start], fix.before[edit.end :]
    corrected = comparable_words(fix.corrected())
    blank = " " if edit.start == edit.end else ""  # an inserted word may come without spaces
    suggestions = (left + blank + new + blank + right for new in (edit.new, *edit.others))
    return any(comparable_words(suggestion) == corrected for suggestion in suggestions)


def touches(edit: ProposedEdit, fix: Fix) -> bool:
    """Return True if an edit touches the place of a mistake, or the gap in which a word is missing."""
    start, end = _gap(fix.before, fix.start, fix.end)
    first, last = _gap(fix.before, edit.start, edit.end)
    if start == end or first == last:  # an empty place touches its neighbours, words must overlap
        return first <= end and start <= last
    return first < end and start < last


def _gap(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a place; an empty one is extended over the white space around it."""
    return (start, end) if start < end else surrounding_space(text, start)


READ_LABELS = (*FLAG_LABELS, "unread")
UNREAD = len(FLAG_LABELS)
"""Index of the label of flags that nobody has read."""
Limits = Mapping[str, float]
"""Limit of each task: an edit counts if it exceeds it, and every overlapping or neighbouring edit.

Neighbours that are flagged as well (`neighbours` of `disambig.models.verify_flags`) are not counted.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ProposedEdits:
    """Proposed edits in columns."""

    rows: Ints  # int64 (m,): the mistake or paragraph of each edit
    tasks: Ints  # int64 (m,): index of the task among those of the checker
    sure: Floats  # float64 (m,)
    slots: Ints  # int64 (2, m): the range of text that it occupies (see `disambig.decision.edit_slots`)
    extended_slots: Ints  # int64 (2, m): the same up to the next word, so that neighbouring edits overlap
    # bool (m,): whether it is at the place of the mistake, and whether it corrects it; in a clean paragraph,
    # of a mistake that a reader saw
    at_mistake: Bools
    right: Bools
    labels: Ints  # int64 (m,): in a clean paragraph the index in `READ_LABELS` of what a reader decided
    # str (m,): the words that it exchanges: see `disambig.data.decisions.unordered_pair`
    pairs: NDArray[np.str_]

    def above(self, limits: Floats, ranks: Ints) -> ProposedEdits:
        """Return the edits above the limit of their task; of overlapping ones, only the most certain."""
        kept = self.take(np.flatnonzero(self.sure > limits[self.tasks]))
        survivors = surviving_edits(kept.rows, kept.extended_slots, kept.sure, ranks[kept.tasks])
        return kept.take(np.unique(survivors))

    def take(self, index: Ints) -> ProposedEdits:
        """Return some of the edits."""
        return ProposedEdits(*(getattr(self, column.name)[..., index] for column in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class MistakeTrial:
    """Everything that a checker proposes for texts with mistakes and for clean paragraphs.

    Attributes
    ----------
    name : str
        Name of the checker.
    tasks : tuple of str
    fixes : sequence of Fix
    clean : sequence of Clean
    on_fixes : ProposedEdits
        All edits of the texts with mistakes.
    on_clean : ProposedEdits
        All edits of the clean paragraphs.
    n_readings : int or None
        Number of readings of the clean paragraphs; None if none were given.
    """

    name: str
    tasks: tuple[str, ...]
    fixes: Sequence[Fix]
    clean: Sequence[Clean]
    on_fixes: ProposedEdits
    on_clean: ProposedEdits
    n_readings: int | None = None

    @classmethod
    def from_checker(
        cls,
        checker: ProposesEdits,
        fixes: Sequence[Fix],
        clean: Sequence[Clean] = (),
        readings: Sequence[FlagReading] | None = None,
    ) -> MistakeTrial:
        """Run a checker once on all texts.

        Parameters
        ----------
        readings : sequence of FlagReading, optional
            What a reader decided about flags in the clean paragraphs. An edit has the label of a reading
            that gives the same words; another edit that touches a mistake is a flag at a mistake as well.

        Raises
        ------
        UserError
            D347 for a reading that does not fit its paragraph.
        """
        texts = [*(fix.before for fix in fixes), *(paragraph.text for paragraph in clean)]
        edits = checker.edits(texts)
        index_of = {task: i for i, task in enumerate(checker.tasks)}
        places = _places_read(clean, readings or ())
        on_fixes = []
        for i, fix in enumerate(fixes):
            for edit in edits[i]:
                right = corrects(edit, fix)
                on_fixes.append((i, index_of[edit.task], edit, right or touches(edit, fix), right, UNREAD))
        on_clean = [
            (i, index_of[edit.task], edit, *_verdict(edit, places.get(i, ())))
            for i, text_edits in enumerate(edits[len(fixes) :])
            for edit in text_edits
        ]
        return cls(
            checker.name,
            tuple(checker.tasks),
            fixes,
            clean,
            _columns(on_fixes, texts),
            _columns(on_clean, texts[len(fixes) :]),
            sum(map(len, places.values())) if readings is not None else None,
        )

    def without(self, places: Iterable[tuple[int, int, int]]) -> MistakeTrial:
        """Return the trial without the edits of clean paragraphs that touch certain places.

        Parameters
        ----------
        places : iterable of (paragraph, start, end)
            Mistakes that nobody corrected: flags there are neither right nor wrong.
        """
        paragraphs, starts, ends = np.array([*places], np.int64).reshape(-1, 3).T
        on_clean = self.on_clean
        same_paragraph = on_clean.rows[:, None] == paragraphs
        first, last = on_clean.slots[0][:, None], on_clean.slots[1][:, None]
        # the gap before character i is slot 2 * i (see `edit_slots`)
        touches = same_paragraph & (first <= 2 * ends) & (last >= 2 * starts)
        return replace(self, on_clean=on_clean.take(np.flatnonzero(~touches.any(axis=1))))

    def _flags_above(self, limits: Limits) -> tuple[ProposedEdits, ProposedEdits]:
        """Return the edits of mistakes and of clean paragraphs above the limits, one of overlapping ones."""
        minimum = np.array([limits.get(task, -np.inf) for task in self.tasks])
        ranks = task_ranks(self.tasks)
        return self.on_fixes.above(minimum, ranks), self.on_clean.above(minimum, ranks)

    def at_limits(self, limits: Limits | None = None) -> FoundMistakes:
        """Return the mistakes found by flags above the limit of their task.

        A task that is not in `limits` has no limit. Of overlapping edits only the most certain one counts.
        """
        on_fixes, on_clean = self._flags_above(limits or {})
        n = len(self.fixes)
        detected, right = np.zeros(n, bool), np.zeros(n, bool)
        detected[on_fixes.rows[on_fixes.at_mistake]] = True
        right[on_fixes.rows[on_fixes.right]] = True
        flags, corrected = np.zeros((2, len(READ_LABELS), len(self.tasks), len(self.clean)), np.int64)
        cells = on_clean.labels, on_clean.tasks, on_clean.rows
        np.add.at(flags, cells, 1)
        np.add.at(corrected, cells, on_clean.right)
        return FoundMistakes(detected, right, flags.sum(axis=0), flags, corrected.sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class FoundMistakes:
    """The mistakes that a checker finds at certain limits."""

    # bool (n_fixes,): whether a flag touches the place of each mistake, and whether one corrects it
    detected: Bools
    right: Bools
    flags: Ints  # int64 (n_tasks, n_clean): number of flags of each task in each clean paragraph
    flags_by_label: Ints  # int64 (n_labels, n_tasks, n_clean): the same for each of `READ_LABELS`
    corrected: Ints  # int64 (n_tasks, n_clean): number of flags that correct a mistake that a reader saw


def limit_for(trial: MistakeTrial, task: str, flags: int) -> float:
    """Return the limit at which a task raises at most `flags` flags in the clean paragraphs."""
    sure = np.sort(trial.on_clean.sure[trial.on_clean.tasks == trial.tasks.index(task)])[::-1]
    return float(sure[flags]) if flags < len(sure) else -np.inf


def _places_read(
    clean: Sequence[Clean], readings: Sequence[FlagReading]
) -> dict[int, list[tuple[Fix, FlagReading]]]:
    """Return the readings of each paragraph, each with the edit that was read, by index of the paragraph."""
    by_paragraph: dict[str, list[FlagReading]] = {}
    for reading in readings:
        by_paragraph.setdefault(reading.paragraph, []).append(reading)
    places: dict[int, list[tuple[Fix, FlagReading]]] = {}
    for i, paragraph in enumerate(clean if by_paragraph else ()):
        for reading in by_paragraph.get(paragraph_digest(paragraph.text), ()):
            old = paragraph.text[reading.start : reading.end]
            if len(old) < reading.end - reading.start or old.split() == reading.new.split():
                where = f"{reading.start} to {reading.end}"
                raise UserError("D347", where=reading.where, place=where, old=old, new=reading.new)
            places.setdefault(i, []).append((_edit_read(paragraph, reading), reading))
    return places


def _edit_read(paragraph: Clean, reading: FlagReading) -> Fix:
    """Return the edit that was read as if it were a correction."""
    start, end, new = reading.start, reading.end, reading.new.strip()
    if not new:  # the correction of a superfluous word takes a space with it itself
        old = paragraph.text[start:end]
        start, end = start + len(old) - len(old.lstrip()), end - len(old) + len(old.rstrip())
    old = paragraph.text[start:end]
    return Fix(paragraph.text, start, end, old, new, "", "", fix_kind(old, new), 1, paragraph.repo)


def _verdict(edit: ProposedEdit, places: Iterable[tuple[Fix, FlagReading]]) -> tuple[bool, bool, int]:
    """Return whether an edit is at a mistake that was read, whether it corrects it, and its label."""
    at_mistake = False
    for fix, reading in places:
        if not touches(edit, fix):
            continue
        if corrects(edit, fix):
            return reading.label == "mistake", reading.right, READ_LABELS.index(reading.label)
        at_mistake |= reading.label == "mistake"
    return at_mistake, False, READ_LABELS.index("mistake") if at_mistake else UNREAD


def _columns(
    rows: Sequence[tuple[int, int, ProposedEdit, bool, bool, int]], texts: Sequence[str]
) -> ProposedEdits:
    """Return edits in columns from tuples: row, task, edit, is it at a mistake, is it right, label."""
    numbers = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
    edits = [row[2] for row in rows]
    places = np.array([(edit.start, edit.end) for edit in edits], np.int64).reshape(-1, 2)
    removes = np.array([edit.new == "" for edit in edits], bool)
    slots = edit_slots(places[:, 0], places[:, 1], removes)
    return ProposedEdits(
        numbers[:, 0],
        numbers[:, 1],
        np.array([edit.sure for edit in edits], np.float64),
        slots,
        extend_to_next_word(slots, numbers[:, 0], places[:, 1], texts),
        np.array([row[3] for row in rows], bool),
        np.array([row[4] for row in rows], bool),
        np.array([row[5] for row in rows], np.int64),
        np.array([unordered_pair(texts[i][e.start : e.end], e.new or "") for i, _, e, *_ in rows], np.str_),
    )


FIGURE_DRAWS = 5_000
SHARE = 0.95


def mistake_figures(trial: MistakeTrial, limits: Limits | None = None) -> dict[str, Any]:
    """Return how many mistakes are found and corrected, and how often clean text is flagged.

    Parameters
    ----------
    limits : mapping of str to float, optional
        Limit of each task that flags must exceed.

    Returns
    -------
    dict
        ``projects`` of the mistakes; ``all`` of them, and under ``classes`` those of each class, which has
        its own ``kinds`` and ``subs``. Each has ``n`` and, as shares, ``found`` (a flag is at the place),
        ``right`` (it suggests the writer's correction) and ``wrong`` (it suggests something else), with
        ``found_interval`` and ``right_interval``, which are None for a single project. ``clean`` is None
        without clean paragraphs; else it has ``projects``, ``paragraphs``, ``words``, ``flags``,
        ``per_1000`` words and its ``interval``, and the same flags for each of its ``tasks``. If the trial
        has readings, ``n_readings`` is their number, and all flags and those of each task have ``readings``:
        the flags of each label (see `READ_LABELS`), of which the mistakes have ``right``, the number of
        flags that correct them, and ``wrong_or_unread``, an upper bound of the wrong ones.
    """
    return found_figures(trial, trial.at_limits(limits))


def found_figures(trial: MistakeTrial, flags: FoundMistakes) -> dict[str, Any]:
    """Return the figures (see `mistake_figures`) of the mistakes found at some limits."""
    fixes = trial.fixes
    parts = [("all", "", np.ones(len(fixes), bool))]
    for category in sorted({fix.category for fix in fixes}):
        inside = np.array([fix.category == category for fix in fixes])
        parts.append(("class", category, inside))
        for kind in KINDS:
            parts.append((category, kind, inside & np.array([fix.kind == kind for fix in fixes])))
    parts = [part for part in parts if part[2].any() or part[0] == "all"]
    lines = _subset_figures(flags, [part[2] for part in parts], projects(fixes))
    classes: dict[str, Any] = {}
    for (level, name, inside), line in zip(parts[1:], lines[1:], strict=True):
        if level == "class":
            classes[name] = {**line, "kinds": {}, "subs": _subclass_counts(flags, fixes, inside)}
        else:
            classes[level]["kinds"][name] = line
    return {
        "projects": len({fix.repo for fix in fixes}),
        "all": lines[0],
        "classes": classes,
        "clean": clean_figures(trial, flags) if trial.clean else None,
    }


def clean_figures(trial: MistakeTrial, flags: FoundMistakes) -> dict[str, Any]:
    """Return how often clean text is flagged, by all tasks together and by each task."""
    units = projects(trial.clean)
    words = np.array([len(paragraph.text.split()) for paragraph in trial.clean], np.float64)
    lines = _rates([flags.flags.sum(axis=0), *flags.flags], words, units)
    details = {"projects": len(np.unique(units)), "paragraphs": len(words), "words": int(words.sum())}
    if trial.n_readings is not None:
        details["n_readings"] = trial.n_readings
        corrected = [flags.corrected, *flags.corrected]
        by_task = [flags.flags_by_label.sum(axis=1), *flags.flags_by_label.swapaxes(0, 1)]
        for line, by_label, right in zip(lines, by_task, corrected, strict=True):
            rows = [*by_label, by_label[FLAG_LABELS.index("wrong")] + by_label[UNREAD]]
            names = (*READ_LABELS, "wrong_or_unread")
            line["readings"] = dict(zip(names, _rates(rows, words, units), strict=True))
            line["readings"]["mistake"]["right"] = int(right.sum())
    return {**details, **lines[0], "tasks": dict(zip(trial.tasks, lines[1:], strict=True))}


def _rates(counts: Sequence[NDArray[Any]], words: Floats, units: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the number of flags and the rate per 1,000 words of some counts per paragraph."""
    sums = _bootstrap_sums([words, *counts], units)
    total = float(words.sum())
    return [
        {
            "flags": int(flag_counts.sum()),
            "per_1000": 1000 * float(flag_counts.sum()) / total if total else None,
            "interval": _interval(1000 * sums[:, i], sums[:, 0]),
        }
        for i, flag_counts in enumerate(counts, start=1)
    ]


def projects(texts: Sequence[Any]) -> NDArray[np.int64]:
    """Return the number of the project of each mistake or paragraph."""
    return distinct_texts([text.repo for text in texts])[1]


def _subset_figures(
    flags: FoundMistakes, parts: Sequence[NDArray[np.bool_]], units: NDArray[np.int64]
) -> list[dict[str, Any]]:
    """Return the figures of some subsets of mistakes, all from the same bootstrap draws of projects."""
    columns = [
        column for inside in parts for column in (inside, inside & flags.detected, inside & flags.right)
    ]
    sums = _bootstrap_sums(columns, units)
    subsets = []
    for i in range(len(parts)):
        n, n_found, n_right = (int(columns[3 * i + k].sum()) for k in range(3))
        n_drawn = sums[:, 3 * i]
        subsets.append(
            {
                "n": n,
                "found": _share(n_found, n),
                "found_interval": _interval(sums[:, 3 * i + 1], n_drawn),
                "right": _share(n_right, n),
                "right_interval": _interval(sums[:, 3 * i + 2], n_drawn),
                "wrong": _share(n_found - n_right, n),
            }
        )
    return subsets


def _subclass_counts(
    flags: FoundMistakes, fixes: Sequence[Fix], inside: NDArray[np.bool_]
) -> Mapping[str, Any]:
    """Return the counts of the subclasses of a class, the most frequent first."""
    rows: dict[str, list[int]] = {}
    for i in np.flatnonzero(inside).tolist():
        rows.setdefault(fixes[i].sub or "-", []).append(i)
    return {
        sub: {
            "n": len(index),
            "found": int(flags.detected[index].sum()),
            "right": int(flags.right[index].sum()),
        }
        for sub, index in sorted(rows.items(), key=lambda item: (-len(item[1]), item[0]))
    }


def _bootstrap_sums(columns: Sequence[NDArray[Any]], units: NDArray[np.int64]) -> Floats:
    """Return the column sums of each bootstrap draw of projects, shape ``(n_draws, n_columns)``."""
    n = int(units.max(initial=-1)) + 1
    if n < 2:  # a single project says nothing about the variation between projects
        return np.full((1, len(columns)), np.nan)
    by_unit = np.stack([np.bincount(units, column, minlength=n) for column in columns], axis=1)
    rng = np.random.default_rng(0)
    return np.concatenate([counts @ by_unit for counts in times_drawn(n, FIGURE_DRAWS, rng)])


def _interval(numerators: Floats, denominators: Floats) -> tuple[float, float] | None:
    """Return the percentile interval of quotients; None if no quotient is defined."""
    defined = denominators > 0
    if not defined.any():
        return None
    low, high = np.quantile(numerators[defined] / denominators[defined], ((1 - SHARE) / 2, (1 + SHARE) / 2))
    return float(low), float(high)


def _share(part: int, n: int) -> float | None:
    return part / n if n else None


def compare_trials(
    trials: tuple[MistakeTrial, MistakeTrial], limits: tuple[Limits | None, Limits | None]
) -> dict[str, Any]:
    """Compare how many of the same mistakes two checkers correct.

    Parameters
    ----------
    limits : pair of mappings of str to float
        Limits of the tasks of each checker.

    Returns
    -------
    dict
        As `disambig.evaluation.comparison.compare`, without ``account``; each of the ``systems`` also has its
        ``figures``.
    """
    units = projects(trials[0].fixes)
    results = [trial.at_limits(limit) for trial, limit in zip(trials, limits, strict=True)]
    sides = [
        Outcomes.from_group(("not mended", "mended"), np.ones(len(units)), result.right, units=units)
        for result in results
    ]
    paired = paired_bootstrap(Accuracy(), *sides, draws=DRAWS, seed=0)
    first, second = results[0].right, results[1].right
    figures = paired_figures(paired, [trial.name for trial in trials])
    for system, trial, result in zip(figures["systems"], trials, results, strict=True):
        system["figures"] = found_figures(trial, result)
    return {
        "n": len(units),
        "measure": {"name": "rightly corrected", "unit": "share", "more_is_better": True},
        "units": {"what": "projects", "n": paired.n_units},
        **figures,
        "mcnemar": mcnemar(first, second),
        "table": contingency_table(first, second),
        "pairs": [],
    }


PER_1000 = 5.0
"""Assumed mistakes per 1,000 words, for shares of correct flags: a draft that is written with some care."""
MIN_FLAGS = 20
"""Minimum number of flags behind each point of a curve."""
MIN_PAIR = 30
"""Minimum number of flags of a pair of words for a curve of its own."""
Counts = NDArray[np.int64]
"""Number of flags of each of `_KINDS`."""
_KINDS = RIGHT, WRONG, FALSE = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class _CountedFlags:
    """Flags whose correctness is known, in columns: task, confidence, one of `_KINDS`, pair of words."""

    tasks: NDArray[np.int64]
    sure: Floats
    kinds: NDArray[np.int64]
    pairs: NDArray[np.str_]

    def take(self, mask: NDArray[np.bool_]) -> _CountedFlags:
        return _CountedFlags(self.tasks[mask], self.sure[mask], self.kinds[mask], self.pairs[mask])


def measure_precision(
    trial: MistakeTrial, limits: Limits, *, text: str, per_1000: float = PER_1000
) -> dict[str, PrecisionTable]:
    """Return a precision table for each task with enough flags in a trial.

    `limits`: limit of each task: a pair of words with enough flags above it gets its own curve.
    `text`: description of the source of the mistakes and paragraphs.
    """
    weights = _weights(trial, per_1000)
    all_flags = _count_flags(trial)
    tables = {}
    for number, task in enumerate(trial.tasks):
        flags = all_flags.take(all_flags.tasks == number)
        if len(flags.sure) < MIN_FLAGS or not (flags.kinds == RIGHT).any():
            continue
        shown = flags.pairs[flags.sure > limits.get(task, -np.inf)]
        pairs, counts = np.unique(shown, return_counts=True)
        curves = {
            str(pair): _curve(flags.take(flags.pairs == pair), weights) for pair in pairs[counts >= MIN_PAIR]
        }
        kinds = np.array([edit_kind(pair) for pair in flags.pairs.tolist()])
        for kind in (PUT_IN, TAKEN_OUT):
            if MIN_FLAGS <= (kinds == kind).sum() < len(kinds):
                curves[kind] = _curve(flags.take(kinds == kind), weights)
        tables[task] = PrecisionTable(task, text, per_1000, _curve(flags, weights), curves)
    return tables


def share_at(
    trial: MistakeTrial, task: str, minimum: float, *, kind: str = "", per_1000: float = PER_1000
) -> PrecisionPoint | None:
    """Return the share of correct flags of a task from a probability upwards; None if there are no flags.

    `kind`: `PUT_IN` or `TAKEN_OUT` to count only such flags.
    """
    flags = _count_flags(trial)
    flags = flags.take((flags.tasks == trial.tasks.index(task)) & (flags.sure >= minimum))
    if kind:
        flags = flags.take(np.array([edit_kind(pair) == kind for pair in flags.pairs.tolist()], bool))
    counts = np.bincount(flags.kinds, minlength=len(_KINDS))
    return _point(minimum, counts, _weights(trial, per_1000)) if counts.sum() else None


def precision_by_rule(
    trial: MistakeTrial, limits: Limits, rules: Mapping[str, RuleSet]
) -> dict[str, PrecisionPoint]:
    """Return how often the flags of each rule were right, at the limits of their tasks."""
    flags = _count_flags(trial, limits)
    names = np.array(
        [
            rules[trial.tasks[task]].rule_name(Correction(*pair.partition("/")[::2]))
            for task, pair in zip(flags.tasks.tolist(), flags.pairs.tolist(), strict=True)
        ],
        np.str_,
    )
    points = {}
    for name in np.unique(names).tolist():
        counts = np.bincount(flags.kinds[names == name], minlength=len(_KINDS))
        points[name] = _point(0.0, counts, _weights(trial, PER_1000))
    return points


def _weights(trial: MistakeTrial, per_1000: float) -> Floats:
    """Return for each kind how many flags per 1,000 words one observed flag represents."""
    # Mistakes are rarer in text than in the corpus: a flag at a mistake counts per mistake, one in clean text
    # per word, so that shares are those of text with `per_1000` mistakes per 1,000 words.
    words = sum(len(paragraph.text.split()) for paragraph in trial.clean)
    per_fix, per_clean = per_1000 / max(len(trial.fixes), 1), 1000 / max(words, 1)
    return np.array([per_fix, per_fix, per_clean])


def _count_flags(trial: MistakeTrial, limits: Limits | None = None) -> _CountedFlags:
    """Return the flags above the limits of their tasks whose correctness is known, one per place.

    In a text with a mistake, flags elsewhere are left out: nobody knows what else is wrong there.
    """
    on_fixes, on_clean = trial._flags_above(limits or {})
    on_fixes = on_fixes.take(np.flatnonzero(on_fixes.at_mistake))
    return _CountedFlags(
        np.concatenate([on_fixes.tasks, on_clean.tasks]),
        np.concatenate([on_fixes.sure, on_clean.sure]),
        np.concatenate([np.where(on_fixes.right, RIGHT, WRONG), np.full(len(on_clean.rows), FALSE)]),
        np.concatenate([on_fixes.pairs, on_clean.pairs]),
    )


def _curve(flags: _CountedFlags, weights: Floats) -> tuple[PrecisionPoint, ...]:
    """Return points of rising probability and share, pooling neighbours that would fall (isotonic fit)."""
    negated, inverse = np.unique(-flags.sure, return_inverse=True)  # the most probable first
    table = np.zeros((len(negated), len(_KINDS)), np.int64)
    np.add.at(table, (inverse, flags.kinds), 1)
    blocks: list[tuple[float, Counts]] = []  # minimum probability and counts, the most probable first
    for probability, counts in zip((-negated).tolist(), table, strict=True):
        if blocks and blocks[0][1].sum() < MIN_FLAGS:
            counts = counts + blocks.pop()[1]
        while blocks and _estimate_share(counts, weights) >= _estimate_share(blocks[-1][1], weights):
            counts = counts + blocks.pop()[1]
        blocks.append((probability, counts))
    points = []
    total = np.zeros(len(_KINDS), np.int64)
    for minimum, counts in blocks:
        total = total + counts
        # rounded down, so that the flag at this very probability is still included
        points.append(_point(float(np.floor(1e4 * minimum) / 1e4), total, weights))
    points[-1] = _point(0.0, total, weights)
    rising: list[PrecisionPoint] = []
    for point in points[::-1]:  # drop points that fall: the few most certain flags are the noisiest
        if not rising or point.share > rising[-1].share:
            rising.append(point)
    return tuple(rising)


def _estimate_share(counts: Counts, weights: Floats) -> float:
    weighted = counts * weights
    return float(weighted[RIGHT] / weighted.sum())


def _point(minimum: float, counts: Counts, weights: Floats) -> PrecisionPoint:
    """Return a point, with an interval for the effective number of flags under the weights.

    One correct and one wrong flag are added to the counts (Laplace), so that no share is 0 or 1.
    """
    share = _estimate_share(counts + np.array([1, 0, 1]), weights)
    # Kish's effective sample size
    n = float((counts * weights).sum() ** 2 / (counts * weights**2).sum())
    low, high = wilson(share * n, n)
    right, wrong, false = counts.tolist()
    low, high = round(min(low, share), 4), round(max(high, share), 4)
    return PrecisionPoint(minimum, round(share, 4), low, high, right, wrong, false)
