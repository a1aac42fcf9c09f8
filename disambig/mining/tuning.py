"""Tune models to a project: measure them on its history, choose rates, and learn words to ignore.

The history is divided in time. Rates and words to ignore are chosen on the older half, and tested on the
newer half.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.checking import ModelChecker, correcting_source
from disambig.configuration import OWN, SHARED, ProjectSettings, is_inside, nearest_settings
from disambig.data import ARROW, IGNORE_ENTRY, PrecisionTable, ignore_entries, plain_word
from disambig.errors import UserError
from disambig.evaluation import MistakeTrial, ProposedEdit
from disambig.files import save_file
from disambig.formats import Clean, Fix
from disambig.formatting import pluralize
from disambig.metrics import wilson
from disambig.mining.miner import (
    UNTOUCHED_DAYS,
    CleanParagraph,
    History,
    MinedCorrection,
    MinedProject,
    Miner,
    PackVocabulary,
)
from disambig.type_aliases import Floats, Progress, no_progress

MAX_CLEAN_WORDS = 200_000
"""Maximum number of clean words of each half; of a longer text, a sample is used that stays the same."""
MIN_CORRECTION_FLAGS = 2
"""Minimum number of clean paragraphs in which a correction is proposed, to ignore the correction."""
MIN_WORD_FLAGS = 3
"""Minimum number of clean paragraphs in which corrections of a word are proposed, to ignore the word."""
MIN_WORD_SHARE, MIN_CORRECTION_SHARE = 0.5, 0.3
"""Minimum share of flagged occurrences of a word, to ignore the word, and to ignore a correction of it."""
MIN_MISTAKES = 10
"""Minimum number of mistakes in the older half to choose rates."""
RATE_FACTORS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
"""Rates that are tried for each task, as multiples of its own rate."""
PRIOR_RIGHT = 100.0
"""Weight of the general measurement of the models, as a number of right corrections of the project."""
PRIOR_WORDS = 100_000.0
"""Weight of the general measurement of the models, as a number of clean words of the project."""
N_FOLDS = 5
"""Number of folds of the older half in which a choice of rates is tested."""
MAX_TRIED = 50
"""Maximum number of combinations of rates that are tested with overlapping flags resolved."""
IGNORE_FILE = "disambig-ignore.txt"
"""Name of the file with words and corrections to ignore, in the folder of the settings file."""
_DAY = 86_400
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class HistoryHalf:
    """The mistakes that were corrected in one half of a history, and the clean paragraphs of that half."""

    fixes: Sequence[Fix]
    clean: Sequence[Clean]

    @property
    def words(self) -> int:
        """The number of clean words."""
        return sum(len(paragraph.text.split()) for paragraph in self.clean)


@dataclass(frozen=True, slots=True)
class Measurement:
    """The number of mistakes that are rightly corrected, and the number of flags in clean text."""

    # number of mistakes, and of those that are rightly corrected
    mistakes: int
    right: int
    # number of clean words, and of flags on them, which all count as false
    words: int
    false_flags: int

    def as_json(self) -> dict[str, Any]:
        """Return the figures with 95 % intervals (Wilson)."""
        right_low, right_high = wilson(self.right, self.mistakes) if self.mistakes else (0.0, 1.0)
        false_low, false_high = wilson(self.false_flags, self.words) if self.words else (0.0, 1.0)
        return {
            "mistakes": self.mistakes,
            "right": self.right,
            "right_share": self.right / self.mistakes if self.mistakes else None,
            "right_interval": [right_low, right_high],
            "words": self.words,
            "false_flags": self.false_flags,
            "false_per_1000": 1000 * self.false_flags / self.words if self.words else None,
            "false_interval": [1000 * false_low, 1000 * false_high],
        }


@dataclass(frozen=True, slots=True)
class ProjectLayer:
    """The settings that tuning chose for a project."""

    # Flags per 1,000 words of the tasks whose rate differs from that of their model
    rates: Mapping[str, float] = field(default_factory=dict)
    # Words and corrections to ignore, in the form of the setting `ignore`: ``word``, ``written -> meant``
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of tuning."""

    layer: ProjectLayer  # the settings that were chosen on the older half and do no harm on the newer half
    # ``"older, as shipped"``, ``"older, tuned"``, ``"newer, as shipped"`` and ``"newer, tuned"``, each with
    # all settings that were chosen on the older half
    measured: Mapping[str, Measurement]
    divided_at: int  # the end of the older half, in seconds since 1970
    # number of mistakes of the newer half that only the tuned models correct, and that only the models as
    # shipped correct
    gained: int
    lost: int
    # entries to ignore that were chosen on the older half, but suppress a right correction in the newer half
    dropped: tuple[str, ...] = ()
    # the most frequent mistakes of the writers: the written word, the meant word, the number of times, and
    # how many of them are found
    pairs: tuple[tuple[str, str, int, int], ...] = ()
    notes: tuple[str, ...] = ()


class _HalfTrials:
    """The edits that the models propose for a half of a history; it can be evaluated with words ignored.

    `edits` are the edits of each text: first the mistakes, then the clean paragraphs.
    """

    def __init__(self, checker: ModelChecker, half: HistoryHalf, edits: Sequence[list[ProposedEdit]]) -> None:
        self.half, self._checker = half, checker
        self.texts = _history_texts(half)
        self._edits = edits
        self._trials: dict[frozenset[str], MistakeTrial] = {}  # by the ignored words

    @classmethod
    def run(cls, checker: ModelChecker, half: HistoryHalf, ignore: Collection[str]) -> _HalfTrials:
        """Check the texts of a half at the highest rates that are tried."""
        texts = _history_texts(half)
        highest = {task: RATE_FACTORS[-1] * rate for task, rate in checker.rates().items()}
        return cls(checker, half, without_ignored(checker.edits(texts, highest), texts, ignore))

    def folds(self) -> Iterator[tuple[_HalfTrials, _HalfTrials]]:
        """Yield, for each of `N_FOLDS` folds, the trials of the other folds and those of the fold."""
        n_fixes, n_clean = len(self.half.fixes), len(self.half.clean)
        folds = np.concatenate([np.arange(n_fixes) % N_FOLDS, np.arange(n_clean) % N_FOLDS])
        for fold in range(N_FOLDS):
            yield self._subset(folds != fold), self._subset(folds == fold)

    def _subset(self, mask: NDArray[np.bool_]) -> _HalfTrials:
        n_fixes = len(self.half.fixes)
        fixes = list(itertools.compress(self.half.fixes, mask[:n_fixes]))
        clean = list(itertools.compress(self.half.clean, mask[n_fixes:]))
        edits = list(itertools.compress(self._edits, mask))
        return _HalfTrials(self._checker, HistoryHalf(fixes, clean), edits)

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
        if key not in self._trials:
            edits = without_ignored(self._edits, self.texts, key)
            stored = _StoredEdits(self._checker.name, self.tasks, edits)
            self._trials[key] = MistakeTrial.from_checker(stored, self.half.fixes, self.half.clean)
        return self._trials[key]

    def measure(self, limits: Mapping[str, float], ignore: Collection[str] = ()) -> Measurement:
        """Return the figures at decision limits by task."""
        outcome = self.trial(ignore).at_limits(limits)
        right, flags = int(outcome.right.sum()), int(outcome.flags.sum())
        return Measurement(len(self.half.fixes), right, self.half.words, flags)

    def right(self, limits: Mapping[str, float], ignore: Collection[str] = ()) -> np.ndarray[Any, Any]:
        """Return whether each mistake is rightly corrected."""
        return self.trial(ignore).at_limits(limits).right


def _history_texts(half: HistoryHalf) -> list[str]:
    return [*(fix.before for fix in half.fixes), *(paragraph.text for paragraph in half.clean)]


@dataclass(frozen=True, slots=True)
class _StoredEdits:
    """A checker that returns known edits."""

    name: str
    tasks: Sequence[str]
    stored: list[list[ProposedEdit]]

    def edits(self, texts: Sequence[str]) -> list[list[ProposedEdit]]:
        return self.stored


def without_ignored(
    edits: Sequence[Sequence[ProposedEdit]], texts: Sequence[str], ignore: Collection[str]
) -> list[list[ProposedEdit]]:
    """Return the edits of texts without those that words or corrections to ignore suppress."""
    return [
        [edit for edit in text_edits if not ignore or not _entries(edit, text) & set(ignore)]
        for text_edits, text in zip(edits, texts, strict=True)
    ]


def _entries(edit: ProposedEdit, text: str) -> set[str]:
    """Return the entries of an ignore list that suppress an edit."""
    return set(ignore_entries(text, *_word_span(edit, text), (edit.new or "").strip()))


def _word_span(edit: ProposedEdit, text: str) -> tuple[int, int]:
    """Return the span of the written word; an edit may add or remove a space with the word."""
    word = text[edit.start : edit.end].strip()
    start = text.index(word, edit.start) if word else edit.start
    return start, start + len(word)


def _fix_entries(fix: Fix) -> tuple[str, ...]:
    return ignore_entries(fix.before, fix.start, fix.end, fix.new)


def divide(
    miner: Miner, *, days: int = UNTOUCHED_DAYS, tier: int = 1, progress: Progress = no_progress
) -> tuple[HistoryHalf, HistoryHalf, int, MinedProject]:
    """Mine a history and divide it at the median time of its corrections.

    A clean paragraph of the older half had not changed for some time at the end of that half; one of the
    newer half was written later and has not changed for some time in HEAD.

    Raises D545 if the history has too little to divide; D964 if git fails.

    Returns `divided_at`: the end of the older half in seconds since 1970.
    """
    mined = miner.mine(days=days, progress=progress)
    corrections = [correction for correction in mined.corrections if correction.tier <= tier]
    history = miner.history
    times = sorted(correction.time for correction in corrections)
    if len(times) < 2:
        corrections_text = pluralize(len(times), "word correction")
        hint = "".join(f"; note: {note}" for note in mined.notes)
        raise UserError("D545", path=history.top, corrections=corrections_text, hint=hint)
    divided_at = times[(len(times) - 1) // 2]
    # Paragraphs of the newer half can only be unchanged for a part of it: at most half of its time.
    newer_days = (history.commit_time(history.head) - divided_at) // _DAY
    newer_clean_days = max(1, min(days, newer_days // 2))
    if newer_clean_days < days:
        mined.notes.append(
            f"the newer half has only {pluralize(newer_days, 'day')}: its clean paragraphs have not "
            f"changed for {pluralize(newer_clean_days, 'day')}"
        )
    middle = history.commit_at(divided_at) or history.head
    with history.blobs() as blobs:
        older_clean = miner.clean_paragraphs(blobs, middle, days, mined, progress)
        older_clean_days = max(1, (divided_at - mined.first) // _DAY // 2)
        if not older_clean and older_clean_days < days:
            older_clean = miner.clean_paragraphs(blobs, middle, older_clean_days, mined, progress)
            mined.notes.append(
                "clean paragraphs of the older half have not changed for "
                + pluralize(older_clean_days, "day")
            )
        older_texts = miner.texts(blobs, middle, Counter(), progress)
        head_clean = miner.clean_paragraphs(blobs, history.head, newer_clean_days, mined, progress)
    newer_clean = [paragraph for paragraph in head_clean if paragraph.text not in older_texts]
    older = [correction for correction in corrections if correction.time <= divided_at]
    newer = [correction for correction in corrections if correction.time > divided_at]
    name = mined.name
    return _half(name, older, older_clean), _half(name, newer, newer_clean), divided_at, mined


def _half(name: str, corrections: Sequence[MinedCorrection], clean: Sequence[CleanParagraph]) -> HistoryHalf:
    """Return a half of the history of the project `name`, with a sample of the clean paragraphs."""
    corrected = {" ".join(correction.edit.before.split()) for correction in corrections}
    kept = [Clean(paragraph.text, name) for paragraph in _sample(clean) if paragraph.text not in corrected]
    return HistoryHalf([correction.fix(name) for correction in corrections], kept)


def _sample(clean: Sequence[CleanParagraph]) -> list[CleanParagraph]:
    """Return clean paragraphs of at most `MAX_CLEAN_WORDS` words, chosen by a hash of their texts."""
    sample, n_words = [], 0
    for paragraph in sorted(clean, key=lambda paragraph: hashlib.sha256(paragraph.text.encode()).digest()):
        n_words += len(paragraph.text.split())
        if n_words > MAX_CLEAN_WORDS:
            break
        sample.append(paragraph)
    return sample


def tune(
    checker: ModelChecker,
    older: HistoryHalf,
    newer: HistoryHalf,
    *,
    trust: Mapping[str, PrecisionTable] | None = None,
    ignore: Collection[str] = (),
    divided_at: int = 0,
    notes: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Tuning:
    """Choose rates and words to ignore on the older half of a history, and measure them on the newer half.

    `trust`: the general measurement of the models, which is combined with the few mistakes of a project.
    `ignore`: words that the project already ignores.
    `divided_at`: the end of the older half in seconds since 1970.
    `notes`: notes to which those of tuning are added.
    """
    notes = list(notes)
    default_limits = checker.limits()
    progress("checking the older half", 0, 1)
    older_trials = _HalfTrials.run(checker, older, ignore)
    progress("checking the newer half", 0, 1)
    newer_trials = _HalfTrials.run(checker, newer, ignore)
    learned = learn_ignored(older_trials, default_limits, trust or {})
    new_ignore = _drop_without_effect(older_trials, default_limits, learned)
    rates: dict[str, float] = {}
    if len(older.fixes) < MIN_MISTAKES:
        notes.append(f"rates are not chosen: the older half has fewer than {MIN_MISTAKES} mistakes")
    else:
        rates = choose_rates(checker, older_trials, new_ignore, trust or {})
        if rates and not is_better_held_out(checker, older_trials, new_ignore, trust or {}):
            notes.append("in cross-validation on the older half, choosing rates does no good: none are set")
            rates = {}
    limits = default_limits | _limits(checker, rates)
    shipped_right = newer_trials.right(default_limits)
    tuned_right = newer_trials.right(limits, new_ignore)
    measured = {
        "older, as shipped": older_trials.measure(default_limits),
        "older, tuned": older_trials.measure(limits, new_ignore),
        "newer, as shipped": newer_trials.measure(default_limits),
        "newer, tuned": newer_trials.measure(limits, new_ignore),
    }
    layer, dropped = _keep_harmless(checker, newer_trials, rates, new_ignore, notes)
    return Tuning(
        layer=layer,
        measured=measured,
        divided_at=divided_at,
        gained=int((tuned_right & ~shipped_right).sum()),
        lost=int((shipped_right & ~tuned_right).sum()),
        dropped=dropped,
        pairs=_frequent_pairs(older, newer, older_trials.right(default_limits), shipped_right),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class TunedProject:
    """A repository with the results of mining and tuning."""

    top: str  # top folder of the work tree
    mined: MinedProject
    tuning: Tuning
    own_rates: Mapping[str, float]  # the rates of the models as shipped


def tune_project(
    folder: str, *, days: int = UNTOUCHED_DAYS, tier: int = 1, progress: Progress = no_progress
) -> TunedProject:
    """Mine the history of a repository and tune the models that the settings of its top folder name.

    Rates in the settings and the results of an earlier tuning are ignored.

    Raises D547 for a bare repository, and the errors of `load_checker`, `Miner` and `divide`.

    `folder`: a folder of the work tree.
    `days` and `tier`: see `divide`.
    """
    history = History(folder)
    if history.repository.is_bare:
        raise UserError("D547", path=folder)
    settings = ProjectSettings()
    text_settings = settings.for_file(os.path.join(history.top, "text.txt"))
    user_files = tuple(path for path in text_settings.ignore_files if os.path.basename(path) != IGNORE_FILE)
    text_settings = replace(text_settings, flags_per_1000=None, trust=None, ignore_files=user_files)
    source = correcting_source(text_settings)
    checker = ModelChecker(tuple(source.correcting_models()))
    vocabulary = PackVocabulary(checker.models)
    miner = Miner(folder, vocabulary, vocabulary.language, settings=settings, keep_code=False)
    older, newer, divided_at, mined = divide(miner, days=days, tier=tier, progress=progress)
    tuning = tune(
        checker,
        older,
        newer,
        trust=source.measured_precision(),
        ignore=frozenset(map(plain_word, text_settings.words_to_ignore())),
        divided_at=divided_at,
        notes=mined.notes,
        progress=progress,
    )
    return TunedProject(miner.history.top, mined, tuning, checker.rates())


def _limits(checker: ModelChecker, rates: Mapping[str, float]) -> dict[str, float]:
    """Return the decision limits of the tasks that have a rate in `rates`."""
    return {task: limit for task, limit in checker.limits(rates or None).items() if task in rates}


def learn_ignored(
    trials: _HalfTrials, limits: Mapping[str, float], trust: Mapping[str, PrecisionTable]
) -> tuple[str, ...]:
    """Return words and corrections that are proposed repeatedly in clean text and were never made.

    A word is ignored if most of its occurrences are flagged, with different corrections. A correction is
    ignored if a considerable share of the occurrences of its word are flagged; otherwise, only together with
    a neighbouring word. Corrections that are mostly right according to the general measurement must be
    flagged more often, because the writers may have overlooked these mistakes. Proposals that overlap more
    certain ones are included: they would be flagged in their place.
    """
    paragraphs: dict[str, set[int]] = defaultdict(set)  # by entry: the paragraphs in which it is flagged
    shares: dict[str, list[float]] = defaultdict(list)  # by entry: the measured shares of right flags
    proposed: dict[tuple[str, ...], str] = {}  # the written word by the entries that suppress a proposal
    replacements: dict[str, set[str]] = defaultdict(set)  # by written word
    counts: Counter[str] = Counter()  # by word
    # Collect the proposals in clean paragraphs, which all count as false alarms, by every entry that would
    # suppress them: the word, the correction, or the correction beside a neighbouring word.
    for number, (text, edits) in enumerate(trials.clean_edits()):
        counts.update(map(plain_word, _WORD.findall(text)))
        for edit in edits:
            if edit.sure <= limits[edit.task]:
                continue
            start, end = _word_span(edit, text)
            replacement = (edit.new or "").strip()
            entries = ignore_entries(text, start, end, replacement)
            observed = plain_word(text[start:end])
            proposed[entries] = observed
            replacements[observed].add(replacement.lower())
            table = trust.get(edit.task)
            share = 0.0 if table is None else table.estimate(observed, replacement, edit.sure).share
            for entry in entries:
                paragraphs[entry].add(number)
                shares[entry].append(share)
    # An entry must not suppress a correction that the writers have made. If such flags are mostly right
    # elsewhere, one more paragraph is needed.
    made = {entry for fix in trials.half.fixes for entry in _fix_entries(fix)}

    def is_wrong(entry: str, min_paragraphs: int) -> bool:
        is_mostly_right = float(np.mean(shares[entry])) >= 0.5
        return entry not in made and len(paragraphs[entry]) >= min_paragraphs + is_mostly_right

    # Of each proposal, choose the most general entry for which there is enough evidence.
    chosen = set()
    for entries, observed in proposed.items():
        if any("#" in entry or not re.search(IGNORE_ENTRY, entry) for entry in entries):
            continue  # it cannot be written: "#" begins a comment in the file, and "*" makes a pattern
        correction, *with_neighbour = entries[1:] if observed else entries
        n_occurrences = max(1, counts[observed])
        word_share = len(paragraphs[observed]) / n_occurrences
        correction_share = len(paragraphs[correction]) / n_occurrences
        varies = len(replacements[observed]) > 1
        if observed and word_share >= MIN_WORD_SHARE and varies and is_wrong(observed, MIN_WORD_FLAGS):
            chosen.add(observed)
        elif (
            observed
            and correction_share >= MIN_CORRECTION_SHARE
            and is_wrong(correction, MIN_CORRECTION_FLAGS)
        ):
            chosen.add(correction)
        else:
            chosen.update([entry for entry in with_neighbour if is_wrong(entry, MIN_CORRECTION_FLAGS)][:1])
    words = {entry for entry in chosen if ARROW not in entry}
    return tuple(
        sorted(entry for entry in chosen if entry in words or entry.split(f" {ARROW}")[0] not in words)
    )


def _drop_without_effect(
    trials: _HalfTrials, limits: Mapping[str, float], ignore: Sequence[str]
) -> tuple[str, ...]:
    """Return the entries without which there are more flags.

    The proposals that other entries suppress overlap more certain ones, and would not be flagged anyway.
    """
    n_flags = trials.measure(limits, ignore).false_flags
    return tuple(
        entry
        for entry in ignore
        if trials.measure(limits, [other for other in ignore if other != entry]).false_flags > n_flags
    )


def choose_rates(
    checker: ModelChecker, trials: _HalfTrials, ignore: Collection[str], trust: Mapping[str, PrecisionTable]
) -> dict[str, float]:
    """Return the rates with the fewest flags in clean text that correct no fewer mistakes.

    Each task has a rate, so that a task that finds little in this project gives way to one that finds more.
    The few mistakes of a project are combined with the general measurement of the models.

    Returns rates of the tasks for which another rate than their own is chosen.
    """
    default_rates, trial = checker.rates(), trials.trial(ignore)
    tasks = trials.tasks
    options = {task: [factor * default_rates[task] for factor in RATE_FACTORS] for task in tasks}
    prior = _prior_right(checker, tasks, options, trust)
    right, false = [], []  # for each task, an array over its rates
    for task in tasks:
        task_right, task_false = [], []
        for rate in options[task]:
            only_task = dict.fromkeys(tasks, np.inf) | {task: checker.limits({task: rate})[task]}
            outcome = trial.at_limits(only_task)
            n_flags = int(outcome.flags.sum()) + rate * PRIOR_WORDS / 1000
            task_right.append(int(outcome.right.sum()))
            task_false.append(n_flags / (trials.half.words + PRIOR_WORDS))
        right.append(np.array(task_right, np.float64) + prior[task])
        false.append(np.array(task_false))
    # an axis for each task, so that one array has all combinations of rates
    total_right, total_false = _sums_of_combinations(right), _sums_of_combinations(false)
    # Of two combinations that are nearly equally good, the one that changes less is preferred.
    default_step = RATE_FACTORS.index(1.0)
    steps = np.abs(np.arange(len(RATE_FACTORS)) - default_step).astype(np.float64)
    cost = total_false * (1 + 0.002 * _sums_of_combinations([steps] * len(tasks)))
    shape = total_right.shape
    default = np.ravel_multi_index((default_step,) * len(tasks), shape)
    allowed = np.flatnonzero(total_right.ravel() >= total_right.ravel()[default])
    best = allowed[np.argsort(cost.ravel()[allowed], kind="stable")]
    min_right = int(trial.at_limits(checker.limits()).right.sum())
    for combination in best[:MAX_TRIED].tolist():
        chosen = np.unravel_index(combination, shape)
        rates = {task: options[task][i] for task, i in zip(tasks, chosen, strict=True)}
        if int(trial.at_limits(checker.limits(rates)).right.sum()) >= min_right:
            return {
                task: float(f"{rates[task]:.3g}")
                for task, i in zip(tasks, chosen, strict=True)
                if RATE_FACTORS[i] != 1.0
            }
    return {}


def is_better_held_out(
    checker: ModelChecker, trials: _HalfTrials, ignore: Collection[str], trust: Mapping[str, PrecisionTable]
) -> bool:
    """Return True if chosen rates are better than the models' own in cross-validation.

    The rates must correct no fewer mistakes with fewer flags, or more mistakes with no more flags. Among
    millions of combinations of rates, some seem better by chance if there are few mistakes.
    """
    right = flags = own_right = own_flags = 0
    default_limits = checker.limits()
    for training, held_out in trials.folds():
        rates = choose_rates(checker, training, ignore, trust)
        tuned = held_out.measure(default_limits | _limits(checker, rates), ignore)
        shipped = held_out.measure(default_limits, ignore)
        right, own_right = right + tuned.right, own_right + shipped.right
        flags, own_flags = flags + tuned.false_flags, own_flags + shipped.false_flags
    is_no_worse = right >= own_right and flags <= own_flags
    return is_no_worse and (right, flags) != (own_right, own_flags)


def _sums_of_combinations(rows: Sequence[Floats]) -> Floats:
    """Return the sum of each combination of one number per row; shape ``(len(row 0), len(row 1), ...)``."""
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
    """Return the number of right corrections of each task at each rate according to the general measurement.

    The numbers are scaled so that at the models' own rates, they add up to `PRIOR_RIGHT`.
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
    trials: _HalfTrials,
    rates: Mapping[str, float],
    ignore: Sequence[str],
    notes: list[str],
) -> tuple[ProjectLayer, tuple[str, ...]]:
    """Return the settings that do no harm in the newer half, and the entries that suppress right corrections.

    `trials` are those of the newer half. Notes about rates that are not set are added to `notes`.
    """
    default_limits = checker.limits()
    made = {entry for fix in trials.half.fixes for entry in _fix_entries(fix)}
    dropped = tuple(entry for entry in ignore if entry in made)
    kept = tuple(entry for entry in ignore if entry not in dropped)
    shipped = trials.measure(default_limits, kept)
    tuned = trials.measure(default_limits | _limits(checker, rates), kept)
    if rates and tuned.right < shipped.right:
        notes.append("the chosen rates correct fewer mistakes of the newer half: they are not set")
        rates = {}
    elif rates and tuned.false_flags > shipped.false_flags:
        notes.append("the chosen rates raise more flags in the newer half: they are not set")
        rates = {}
    return ProjectLayer(dict(rates), kept), dropped


def _frequent_pairs(
    older: HistoryHalf,
    newer: HistoryHalf,
    older_right: np.ndarray[Any, Any],
    newer_right: np.ndarray[Any, Any],
) -> tuple[tuple[str, str, int, int], ...]:
    """Return the pairs that were corrected most often: their counts, and how many of them are found."""
    counts: Counter[tuple[str, str]] = Counter()
    n_right: Counter[tuple[str, str]] = Counter()
    fixes = [*older.fixes, *newer.fixes]
    for fix, is_right in zip(fixes, [*older_right, *newer_right], strict=True):
        pair = plain_word(fix.old), plain_word(fix.new)
        counts[pair] += 1
        n_right[pair] += bool(is_right)
    return tuple((*pair, n, n_right[pair]) for pair, n in counts.most_common(20) if n > 1)


_FIRST_LINE = "# Written by `disambig tune`, which replaces this file: your own words belong in `ignore`.\n"
_COMMENT = "set by `disambig tune`"
_RATES, _TRUST, _FILES = "flags_per_1000", "trust", "ignore_files"


@dataclass(frozen=True, slots=True)
class TunedSettings:
    """The new contents of the settings of a project."""

    path: str  # the settings file
    text: str  # its new contents
    # the file of words and corrections to ignore, and its contents
    ignore_path: str
    ignore_text: str
    keeps_rates: bool  # whether the file has rates of the user, which are kept
    hides: str = ""  # a settings file above the project that will no longer apply; "" if there is none
    # whether each file gets other contents: nothing is written where tuning has learned nothing
    changes_settings: bool = True
    changes_ignored: bool = True

    @property
    def changed(self) -> tuple[str, ...]:
        """The files that `write` writes, the settings last."""
        return (self.ignore_path,) * self.changes_ignored + (self.path,) * self.changes_settings

    def write(self) -> None:
        """Write the files that change, the settings last. Raises D309 if one cannot be written."""
        contents = {self.ignore_path: self.ignore_text, self.path: self.text}
        for path in self.changed:
            with save_file(Path(path)) as write:
                write(contents[path].encode("utf8"))


def tuned_settings(top: str, layer: ProjectLayer) -> TunedSettings:
    """Return the settings of a project with the results of tuning.

    They go to the nearest settings file of the project, or else to a new ``disambig.toml`` in its top folder.
    The file of words to ignore is needed if there are such words, or if an earlier tuning has written it.

    Raises D546 if a file of the user has the name of the file of words to ignore; D972 and similar errors for
    an invalid settings file.

    `top`: top folder of the work tree.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    target, hides = nearest_settings(top, {}).path, ""
    if not target or not is_inside(target, top):
        target, hides = os.path.join(top, OWN[0]), target
    ignore_path = os.path.join(os.path.dirname(target), IGNORE_FILE)
    _check_ours(ignore_path)
    old = Path(target).read_bytes().decode("utf8") if os.path.exists(target) else ""
    try:
        document = tomlkit.parse(old)
        table: Any = document
        if os.path.basename(target) == SHARED:
            table = document["tool"]["disambig"]
        keeps_rates = _set_rates(table, layer.rates)
        if has_ignored := bool(layer.ignore) or os.path.exists(ignore_path):
            _name_ignore_file(table)
        text = tomlkit.dumps(document)
        if "\r\n" in old:  # new lines get the line ends of the file
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    except TOMLKitError as problem:
        raise UserError("D972", path=target, problem=str(problem)) from None
    entries = "".join(f"{entry}\n" for entry in layer.ignore)
    is_changed = text != old
    return TunedSettings(
        target,
        text,
        ignore_path,
        _FIRST_LINE + entries,
        keeps_rates,
        hides if is_changed else "",
        is_changed,
        has_ignored,
    )


def _check_ours(path: str) -> None:
    """Raise D546 if a file exists that no earlier tuning has written."""
    if not os.path.lexists(path):
        return
    try:
        with open(path, "rb") as file:
            is_ours = file.read(len(_FIRST_LINE)) == _FIRST_LINE.encode("ascii")
    except OSError:
        is_ours = False
    if os.path.islink(path) or not is_ours:
        raise UserError("D546", path=path)


def _set_rates(table: Any, rates: Mapping[str, float]) -> bool:
    """Set the rates in a settings table; return True, without a change, if the user has set rates there."""
    import tomlkit

    if _TRUST in table:
        return True
    if _RATES in table:
        trivia = getattr(table[_RATES], "trivia", None)  # a plain number has it as well
        if trivia is None or _COMMENT not in trivia.comment:
            return True
        if not rates:
            del table[_RATES]
    if rates:
        value = tomlkit.inline_table()
        value.update(rates)
        value.comment(_COMMENT)
        table[_RATES] = value
    return False


def _name_ignore_file(table: Any) -> None:
    """Add the file of words to ignore to the list `ignore_files`."""
    import tomlkit

    if _FILES not in table:
        table[_FILES] = tomlkit.array()
    if IGNORE_FILE not in table[_FILES]:
        table[_FILES].append(IGNORE_FILE)
