"""Tune the models to a project: measure them on its history, choose rates, learn what they wrongly flag.

The history is divided in time. Rates and words to ignore are chosen on the older half; the newer half, which
had no part in the choice, shows what they are worth.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.checking import ModelChecker, correcting_source, plain_word
from disambig.configuration import ProjectSettings
from disambig.data import ARROW, IGNORE_ENTRY, PrecisionTable, ignore_entries
from disambig.errors import UserError
from disambig.evaluation import MistakeTrial, ProposedEdit
from disambig.formats import Clean, Fix
from disambig.formatting import pluralize
from disambig.metrics import wilson
from disambig.mining.history import History
from disambig.mining.miner import (
    UNTOUCHED_DAYS,
    CleanParagraph,
    MinedCorrection,
    MinedProject,
    Miner,
    PackVocabulary,
    Progress,
    ignore_progress,
)
from disambig.type_aliases import Floats

MOST_CLEAN_WORDS = 200_000
"""Maximum number of clean words of each half; of more, a part is chosen that stays the same."""
LEAST_FLAGGED = 2
"""A correction that is proposed in so many untouched paragraphs, and never made, is one to ignore."""
LEAST_WORD = 3
"""The same for a word for which several corrections are proposed."""
ALWAYS, OFTEN = 0.5, 0.3
"""Minimum share of the occurrences of a word that are flagged, to ignore the word, and a correction of it."""
LEAST_CORRECTIONS = 10
"""With fewer corrections in the older half, rates are not chosen."""
STEPS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
"""Rates that are tried for each task, as multiples of its own."""
PRIOR_RIGHT = 100.0
"""The general measurement of the models counts as much as so many right corrections of the project ..."""
PRIOR_WORDS = 100_000.0
"""... and as so many clean words."""
IGNORE_FILE = "disambig-ignore.txt"
"""Name of the file with the words and corrections to ignore, beside the settings file."""
_DAY = 86_400
_WORDS = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class HistoryHalf:
    """The mistakes that were corrected in a half of the history, and clean paragraphs of that time."""

    fixes: Sequence[Fix]
    clean: Sequence[Clean]

    @property
    def words(self) -> int:
        """Number of clean words."""
        return sum(len(paragraph.text.split()) for paragraph in self.clean)


@dataclass(frozen=True, slots=True)
class Measurement:
    """How many mistakes are rightly corrected, and how many flags clean text has.

    Attributes
    ----------
    mistakes, right : int
    words, false_flags : int
        Every flag in clean text counts as false.
    """

    mistakes: int
    right: int
    words: int
    false_flags: int

    def as_json(self) -> dict[str, Any]:
        """Return the figures with 95 % intervals (Wilson)."""
        low, high = wilson(self.right, self.mistakes) if self.mistakes else (0.0, 1.0)
        least, most = wilson(self.false_flags, self.words) if self.words else (0.0, 1.0)
        return {
            "mistakes": self.mistakes,
            "right": self.right,
            "right_share": self.right / self.mistakes if self.mistakes else None,
            "right_interval": [low, high],
            "words": self.words,
            "false_flags": self.false_flags,
            "false_per_1000": 1000 * self.false_flags / self.words if self.words else None,
            "false_interval": [1000 * least, 1000 * most],
        }


@dataclass(frozen=True, slots=True)
class ProjectLayer:
    """What is set for a project.

    Attributes
    ----------
    rates : mapping from task to float
        Flags per 1,000 words of the tasks whose rate is not their own.
    ignore : tuple of str
        Words and corrections to ignore, in the form of the setting `ignore`: ``word``, ``written -> meant``.
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of tuning.

    Attributes
    ----------
    layer : ProjectLayer
        What was chosen on the older half and does no harm on the newer.
    measured : mapping of str to Measurement
        ``"older, as shipped"``, ``"older, tuned"``, ``"newer, as shipped"``, ``"newer, tuned"``. The last is
        of what was chosen on the older half alone.
    divided_at : int
        The end of the older half, in seconds since 1970.
    gained, lost : int
        Mistakes of the newer half that only the tuned models correct, and that only the others correct.
    dropped : tuple of str
        What was chosen on the older half and suppresses a right correction in the newer.
    pairs : tuple of (str, str, int, int)
        The most frequent mistakes of the writers: written, meant, how often, and how many of them are found.
    notes : tuple of str
    """

    layer: ProjectLayer
    measured: Mapping[str, Measurement]
    divided_at: int
    gained: int
    lost: int
    dropped: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str, int, int], ...] = ()
    notes: tuple[str, ...] = ()


class _Trials:
    """The edits that the models propose for a half, with any words ignored."""

    def __init__(self, checker: ModelChecker, half: HistoryHalf, edits: Sequence[list[ProposedEdit]]) -> None:
        self.half, self._checker = half, checker
        self.texts = _history_texts(half)
        self._edits = edits
        self._made: dict[frozenset[str], MistakeTrial] = {}

    @classmethod
    def run(cls, checker: ModelChecker, half: HistoryHalf, ignore: Collection[str]) -> _Trials:
        """Check the texts of a half."""
        texts = _history_texts(half)
        highest = {task: STEPS[-1] * rate for task, rate in checker.rates().items()}
        return cls(checker, half, without_ignored(checker.edits(texts, highest), texts, ignore))

    def folds(self) -> Iterator[tuple[_Trials, _Trials]]:
        """Yield, for each of `FOLDS` folds, the trials without it and those of it alone."""
        n_fixes, n_clean = len(self.half.fixes), len(self.half.clean)
        folds = np.concatenate([np.arange(n_fixes) % FOLDS, np.arange(n_clean) % FOLDS])
        for fold in range(FOLDS):
            yield self._part(folds != fold), self._part(folds == fold)

    def _part(self, wanted: NDArray[np.bool_]) -> _Trials:
        n_fixes = len(self.half.fixes)
        fixes = list(itertools.compress(self.half.fixes, wanted[:n_fixes]))
        clean = list(itertools.compress(self.half.clean, wanted[n_fixes:]))
        edits = list(itertools.compress(self._edits, wanted))
        return _Trials(self._checker, HistoryHalf(fixes, clean), edits)

    @property
    def name(self) -> str:
        return self._checker.name

    def clean_edits(self) -> list[tuple[str, list[ProposedEdit]]]:
        """Return the clean paragraphs with their edits."""
        n_fixes = len(self.half.fixes)
        return list(zip(self.texts[n_fixes:], self._edits[n_fixes:], strict=True))

    @property
    def tasks(self) -> tuple[str, ...]:
        return self._checker.tasks

    def trial(self, ignore: Collection[str] = ()) -> MistakeTrial:
        """Return the trial of these models with further words ignored."""
        key = frozenset(ignore)
        if key not in self._made:
            stored = _StoredEdits(self.name, self.tasks, without_ignored(self._edits, self.texts, key))
            self._made[key] = MistakeTrial.from_checker(stored, self.half.fixes, self.half.clean)
        return self._made[key]

    def measure(self, limits: Mapping[str, float], ignore: Collection[str] = ()) -> Measurement:
        """Return the figures at some limits."""
        outcome = self.trial(ignore).at_limits(limits)
        right, flags = int(outcome.right.sum()), int(outcome.flags.sum())
        return Measurement(len(self.half.fixes), right, self.half.words, flags)

    def right(self, limits: Mapping[str, float], ignore: Collection[str] = ()) -> np.ndarray[Any, Any]:
        """Return which mistakes are rightly corrected."""
        return self.trial(ignore).at_limits(limits).right


def _history_texts(half: HistoryHalf) -> list[str]:
    return [*(fix.before for fix in half.fixes), *(paragraph.text for paragraph in half.clean)]


@dataclass(frozen=True, slots=True)
class _StoredEdits:
    name: str
    tasks: Sequence[str]
    stored: list[list[ProposedEdit]]

    def edits(self, texts: Sequence[str]) -> list[list[ProposedEdit]]:
        return self.stored


def without_ignored(
    edits: Sequence[Sequence[ProposedEdit]], texts: Sequence[str], ignore: Collection[str]
) -> list[list[ProposedEdit]]:
    """Return the edits of texts without those of words or corrections to ignore."""
    return [
        [edit for edit in of_text if not ignore or not _entries(edit, text) & set(ignore)]
        for of_text, text in zip(edits, texts, strict=True)
    ]


def _entries(edit: ProposedEdit, text: str) -> set[str]:
    """Return what an ignore list can hold to suppress an edit."""
    return set(ignore_entries(text, *_stripped(edit, text), (edit.new or "").strip()))


def _stripped(edit: ProposedEdit, text: str) -> tuple[int, int]:
    """Return the place of the written word: an edit may add or remove a space with the word."""
    inner = text[edit.start : edit.end].strip()
    start = text.index(inner, edit.start) if inner else edit.start
    return start, start + len(inner)


def _fix_entries(fix: Fix) -> tuple[str, ...]:
    return ignore_entries(fix.before, fix.start, fix.end, fix.new)


def divide(
    miner: Miner, *, days: int = UNTOUCHED_DAYS, tier: int = 1, progress: Progress = ignore_progress
) -> tuple[HistoryHalf, HistoryHalf, int, MinedProject]:
    """Mine a history and divide it at the median time of its corrections.

    A clean paragraph of the older half was the same for some time at the end of that half; one of the newer
    half was written later and is still the same in HEAD.

    Returns
    -------
    older, newer : HistoryHalf
    divided_at : int
        In seconds since 1970.
    mined : MinedProject

    Raises
    ------
    UserError
        D545 if the history has too little to divide; D964 if git fails.
    """
    mined = miner.mine(days=days, progress=progress)
    corrections = [one for one in mined.corrections if one.tier <= tier]
    history = miner.history
    times = sorted(one.time for one in corrections)
    if len(times) < 2:
        raise UserError("D545", path=history.top, corrections=pluralize(len(times), "word correction"))
    divided_at = times[(len(times) - 1) // 2]
    # at most half of the time that is left, or there would be no paragraph of the newer half
    left = (history.commit_time(history.head) - divided_at) // _DAY
    after = max(1, min(days, left // 2))
    if after < days:
        mined.notes.append(
            f"the newer half has only {left:,} days: its clean paragraphs have not changed for {after:,} days"
        )
    middle = history.commit_at(divided_at) or history.head
    with history.blobs() as blobs:
        old_clean = miner.clean_paragraphs(blobs, middle, days, mined, progress)
        before = max(1, (divided_at - mined.first) // _DAY // 2)
        if not old_clean and before < days:
            old_clean = miner.clean_paragraphs(blobs, middle, before, mined, progress)
            mined.notes.append(f"clean paragraphs of the older half have not changed for {before:,} days")
        earlier = miner.texts(blobs, middle, Counter(), progress)
        now = miner.clean_paragraphs(blobs, history.head, after, mined, progress)
    new_clean = [paragraph for paragraph in now if paragraph.text not in earlier]
    name = mined.name
    older = _half(name, [one for one in corrections if one.time <= divided_at], old_clean)
    newer = _half(name, [one for one in corrections if one.time > divided_at], new_clean)
    return older, newer, divided_at, mined


def _half(name: str, corrections: Sequence[MinedCorrection], clean: Sequence[CleanParagraph]) -> HistoryHalf:
    fixed = {" ".join(one.edit.before.split()) for one in corrections}
    kept = [Clean(one.text, name) for one in _sample(clean) if one.text not in fixed]
    return HistoryHalf([one.fix(name) for one in corrections], kept)


def _sample(clean: Sequence[CleanParagraph]) -> list[CleanParagraph]:
    """Return clean paragraphs of at most `MOST_CLEAN_WORDS` words, by a hash of their text."""
    chosen, words = [], 0
    for paragraph in sorted(clean, key=lambda one: hashlib.sha256(one.text.encode("utf8")).digest()):
        words += len(paragraph.text.split())
        if words > MOST_CLEAN_WORDS:
            break
        chosen.append(paragraph)
    return chosen


def tune(
    checker: ModelChecker,
    older: HistoryHalf,
    newer: HistoryHalf,
    *,
    trust: Mapping[str, PrecisionTable] | None = None,
    ignore: Collection[str] = (),
    divided_at: int = 0,
    notes: Sequence[str] = (),
    progress: Progress = ignore_progress,
) -> Tuning:
    """Choose rates and words to ignore on the older half of a history, and measure them on the newer.

    Parameters
    ----------
    checker : ModelChecker
    older, newer : HistoryHalf
    trust : mapping from task to PrecisionTable, optional
        The general measurement of the models, which counts besides the few mistakes of a project.
    ignore : collection of str
        Words that the project ignores already.
    divided_at : int
    notes : sequence of str
    progress : callable
    """
    notes = list(notes)
    default_limits = checker.limits()
    progress("checking the older half", 0, 1)
    old = _Trials.run(checker, older, ignore)
    progress("checking the newer half", 0, 1)
    new = _Trials.run(checker, newer, ignore)
    chosen_ignore = _effective(old, default_limits, learn_ignored(old, default_limits, trust or {}))
    rates: dict[str, float] = {}
    if len(older.fixes) < LEAST_CORRECTIONS:
        notes.append(f"rates are not chosen: the older half has fewer than {LEAST_CORRECTIONS} mistakes")
    else:
        rates = choose_rates(checker, old, chosen_ignore, trust or {})
        if rates and not is_better_elsewhere(checker, old, chosen_ignore, trust or {}):
            notes.append("in cross-validation on the older half, choosing rates does no good: none are set")
            rates = {}
    limits = default_limits | _limits(checker, rates)
    before, after = new.right(default_limits), new.right(limits, chosen_ignore)
    measured = {
        "older, as shipped": old.measure(default_limits),
        "older, tuned": old.measure(limits, chosen_ignore),
        "newer, as shipped": new.measure(default_limits),
        "newer, tuned": new.measure(limits, chosen_ignore),
    }
    layer, dropped = _keep_harmless(checker, new, rates, chosen_ignore, notes)
    return Tuning(
        layer=layer,
        measured=measured,
        divided_at=divided_at,
        gained=int((after & ~before).sum()),
        lost=int((before & ~after).sum()),
        dropped=dropped,
        pairs=_frequent_pairs(older, newer, old.right(default_limits), before),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class TunedProject:
    """A repository with what tuning found."""

    top: str
    mined: MinedProject
    tuning: Tuning
    own_rates: Mapping[str, float]


def tune_project(
    folder: str,
    *,
    days: int = UNTOUCHED_DAYS,
    tier: int = 1,
    settings: ProjectSettings | None = None,
    progress: Progress = ignore_progress,
) -> TunedProject:
    """Mine the history of a repository and tune the models that the settings of its top folder name.

    Rates that the settings already have, and the results of an earlier tuning, have no influence.

    Parameters
    ----------
    folder : str
        A folder of the work tree.
    days, tier : int
        See `divide`.
    settings : ProjectSettings, optional
        See `Miner`.
    progress : callable

    Raises
    ------
    UserError
        The errors of `disambig.checking.load_checker`, `Miner` and `divide`.
    """
    settings = settings or ProjectSettings()
    chosen = settings.for_file(os.path.join(History(folder).top, "text.txt"))
    theirs = tuple(path for path in chosen.ignore_files if os.path.basename(path) != IGNORE_FILE)
    chosen = replace(chosen, flags_per_1000=None, trust=None, ignore_files=theirs)
    source = correcting_source(chosen)
    checker = ModelChecker(tuple(source.correcting_models()))
    vocabulary = PackVocabulary(checker.models)
    miner = Miner(folder, vocabulary, vocabulary.language, settings=settings, keep_code=False)
    older, newer, divided_at, mined = divide(miner, days=days, tier=tier, progress=progress)
    tuning = tune(
        checker,
        older,
        newer,
        trust=source.measured_precision(),
        ignore=frozenset(map(plain_word, chosen.words_to_ignore())),
        divided_at=divided_at,
        notes=mined.notes,
        progress=progress,
    )
    return TunedProject(miner.history.top, mined, tuning, checker.rates())


def _limits(checker: ModelChecker, rates: Mapping[str, float]) -> dict[str, float]:
    return {task: limit for task, limit in checker.limits(rates or None).items() if task in rates}


def learn_ignored(
    trials: _Trials, limits: Mapping[str, float], trust: Mapping[str, PrecisionTable]
) -> tuple[str, ...]:
    """Return what is proposed again and again in clean text and was never corrected.

    A word is ignored if most of its occurrences are flagged, with different corrections; a correction, if a
    good part of the occurrences of its word are flagged. A correction of a word that is mostly right is only
    ignored together with its neighbour. What is right as a rule, according to the general measurement, must
    be flagged more often: nobody may have seen these mistakes yet. Proposals that lose against overlapping
    ones count as well, since they would be flagged in their place.
    """
    rows: dict[str, set[int]] = defaultdict(set)
    shares: dict[str, list[float]] = defaultdict(list)
    proposed: dict[tuple[str, ...], str] = {}
    meant: dict[str, set[str]] = defaultdict(set)
    counts: Counter[str] = Counter()
    for row, (text, edits) in enumerate(trials.clean_edits()):
        counts.update(map(plain_word, _WORDS.findall(text)))
        for edit in edits:
            if edit.sure <= limits[edit.task]:
                continue
            start, end = _stripped(edit, text)
            new = (edit.new or "").strip()
            entries = ignore_entries(text, start, end, new)
            observed = plain_word(text[start:end])
            proposed[entries] = observed
            meant[observed].add(new.lower())
            table = trust.get(edit.task)
            share = 0.0 if table is None else table.estimate(observed, new, edit.sure).share
            for entry in entries:
                rows[entry].add(row)
                shares[entry].append(share)
    made = {entry for fix in trials.half.fixes for entry in _fix_entries(fix)}

    def is_wrong(entry: str, least: int) -> bool:
        usual = float(np.mean(shares[entry])) >= 0.5
        return entry not in made and len(rows[entry]) >= least + usual

    chosen = set()
    for entries, observed in proposed.items():
        if any("#" in entry or not re.search(IGNORE_ENTRY, entry) for entry in entries):
            continue  # it cannot be written: "#" begins a comment in the file, and "*" makes a pattern
        correction, *specific = entries[1:] if observed else entries
        share = len(rows[correction]) / max(1, counts[observed])
        always = len(rows[observed]) >= ALWAYS * max(1, counts[observed])
        if observed and always and len(meant[observed]) > 1 and is_wrong(observed, LEAST_WORD):
            chosen.add(observed)
        elif observed and share >= OFTEN and is_wrong(correction, LEAST_FLAGGED):
            chosen.add(correction)
        else:
            chosen.update([entry for entry in specific if is_wrong(entry, LEAST_FLAGGED)][:1])
    words = {entry for entry in chosen if ARROW not in entry}
    return tuple(sorted(one for one in chosen if one in words or one.split(f" {ARROW}")[0] not in words))


def _effective(trials: _Trials, limits: Mapping[str, float], ignore: Sequence[str]) -> tuple[str, ...]:
    """Return the entries without which more is flagged: others lose against edits that are not ignored."""
    flags = trials.measure(limits, ignore).false_flags
    others = ((entry, [other for other in ignore if other != entry]) for entry in ignore)
    return tuple(entry for entry, rest in others if trials.measure(limits, rest).false_flags > flags)


def choose_rates(
    checker: ModelChecker,
    trials: _Trials,
    ignore: Collection[str],
    trust: Mapping[str, PrecisionTable],
) -> dict[str, float]:
    """Return the rates at which clean text has the fewest flags, and no fewer mistakes are corrected.

    A rate belongs to each task, so that a task that finds little in this project can give way to one that
    finds more. The few mistakes of a project are weighed together with the general measurement of the models.

    Returns
    -------
    dict
        Rates of the tasks for which another one than their own is chosen.
    """
    default_rates, trial = checker.rates(), trials.trial(ignore)
    tasks = trials.tasks
    options = {task: [step * default_rates[task] for step in STEPS] for task in tasks}
    prior = _prior_right(checker, tasks, options, trust)
    right, false = [], []
    for task in tasks:
        counts = []
        for rate in options[task]:
            alone = dict.fromkeys(tasks, np.inf) | {task: checker.limits({task: rate})[task]}
            outcome = trial.at_limits(alone)
            flags = int(outcome.flags.sum()) + rate * PRIOR_WORDS / 1000
            counts.append((int(outcome.right.sum()), flags / (trials.half.words + PRIOR_WORDS)))
        right.append(np.array([n for n, _ in counts], np.float64) + prior[task])
        false.append(np.array([share for _, share in counts]))
    n_right, n_false = _sums(right), _sums(false)
    # of two choices that are nearly as good, the one that changes less
    steps = np.abs(np.arange(len(STEPS)) - STEPS.index(1.0)).astype(np.float64)
    cost = n_false * (1 + 0.002 * _sums([steps] * len(tasks)))
    shape = n_right.shape
    default = np.ravel_multi_index((STEPS.index(1.0),) * len(tasks), shape)
    enough = np.flatnonzero(n_right.ravel() >= n_right.ravel()[default])
    best = enough[np.argsort(cost.ravel()[enough], kind="stable")]
    least = int(trial.at_limits(checker.limits()).right.sum())
    for at in best[:MOST_TRIED].tolist():
        chosen = np.unravel_index(at, shape)
        rates = {task: options[task][i] for task, i in zip(tasks, chosen, strict=True)}
        if int(trial.at_limits(checker.limits(rates)).right.sum()) >= least:
            return {
                task: float(f"{rates[task]:.3g}")
                for task, i in zip(tasks, chosen, strict=True)
                if STEPS[i] != 1.0
            }
    return {}


def is_better_elsewhere(
    checker: ModelChecker,
    trials: _Trials,
    ignore: Collection[str],
    trust: Mapping[str, PrecisionTable],
) -> bool:
    """Return True if choosing rates is of use on text and mistakes that had no part in the choice.

    In cross-validation, rates must correct no fewer mistakes and flag less, or correct more and not flag
    more. Among millions of combinations of rates, some look better by chance, if there are few mistakes.
    """
    right = flags = own_right = own_flags = 0
    default_limits = checker.limits()
    for learn, held_out in trials.folds():
        rates = choose_rates(checker, learn, ignore, trust)
        chosen, shipped = (
            held_out.measure(default_limits | _limits(checker, rates), ignore),
            held_out.measure(default_limits, ignore),
        )
        right, own_right = right + chosen.right, own_right + shipped.right
        flags, own_flags = flags + chosen.false_flags, own_flags + shipped.false_flags
    is_no_worse = right >= own_right and flags <= own_flags
    return is_no_worse and (right, flags) != (own_right, own_flags)


FOLDS = 5
"""Number of folds of the older half in which a choice of rates is tried."""
MOST_TRIED = 50
"""Maximum number of choices of rates for which overlapping flags are resolved."""


def _sums(rows: Sequence[Floats]) -> Floats:
    """Return the sums of one number of each row, for all choices; shape ``(len(row 0), len(row 1), ...)``."""
    total = np.zeros(())
    for row in rows:
        total = total[..., None] + row
    return total


def _prior_right(
    checker: ModelChecker,
    tasks: Sequence[str],
    options: Mapping[str, Sequence[float]],
    trust: Mapping[str, PrecisionTable],
) -> dict[str, Floats]:
    """Return how many right corrections the general measurement gives each task at each rate.

    At the models' own rates, there are `PRIOR_RIGHT` of all tasks together.
    """

    def right(task: str, rate: float) -> float:
        if task not in trust:
            return 0.0
        limit = checker.limits({task: rate})[task]
        points = trust[task].points
        return float(np.interp(limit, [point.least for point in points], [point.right for point in points]))

    default_rates = checker.rates()
    total = sum(right(task, default_rates[task]) for task in tasks)
    scale = PRIOR_RIGHT / total if total else 0.0
    return {task: scale * np.array([right(task, rate) for rate in options[task]]) for task in tasks}


def _keep_harmless(
    checker: ModelChecker,
    trials: _Trials,
    rates: Mapping[str, float],
    ignore: Sequence[str],
    notes: list[str],
) -> tuple[ProjectLayer, tuple[str, ...]]:
    """Return what does no harm in the newer half, and the entries that suppress a right correction there."""
    default_limits = checker.limits()
    made = {entry for fix in trials.half.fixes for entry in _fix_entries(fix)}
    dropped = tuple(entry for entry in ignore if entry in made)
    kept = tuple(entry for entry in ignore if entry not in dropped)
    with_own = trials.measure(default_limits, kept)
    with_rates = trials.measure(default_limits | _limits(checker, rates), kept)
    if rates and with_rates.right < with_own.right:
        notes.append("the chosen rates correct fewer mistakes of the newer half: they are not set")
        rates = {}
    elif rates and with_rates.false_flags > with_own.false_flags:
        notes.append("the chosen rates raise more flags in the newer half: they are not set")
        rates = {}
    return ProjectLayer(dict(rates), kept), dropped


def _frequent_pairs(
    older: HistoryHalf, newer: HistoryHalf, *right: np.ndarray[Any, Any], most: int = 20
) -> tuple[tuple[str, str, int, int], ...]:
    """Return the pairs that were corrected most often, and how many of these corrections are found."""
    counts: Counter[tuple[str, str]] = Counter()
    hits: Counter[tuple[str, str]] = Counter()
    fixes = itertools.chain(zip(older.fixes, right[0], strict=True), zip(newer.fixes, right[1], strict=True))
    for fix, is_right in fixes:
        pair = plain_word(fix.old), plain_word(fix.new)
        counts[pair] += 1
        hits[pair] += bool(is_right)
    return tuple((*pair, n, hits[pair]) for pair, n in counts.most_common(most) if n > 1)
