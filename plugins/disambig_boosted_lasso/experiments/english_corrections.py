"""Lists of corrections: a paragraph as written, and with the changes that the shipped models might make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api.evaluation import Edit, ModelChecker
from disambig.api.formats import Clean, Fix, read_clean, read_fixes
from disambig.api.measures import costs_of, measure_named
from disambig.api.tasks import CandidateLists, CandidateWords

from .english_rows import Seen, candidates_of

FOLDER = Path("labelled") / "fixes"
CLASSES = ("preposition", "confusion")
"""The mistakes that the shipped models decide."""
BEST, MOST = 4, 20
"""The surest changes that are combined; candidates of a list, at most."""
AROUND = 2
"""Words before and after all changes that n-grams of three reach."""
WORDS = 0
"""The only entry of `Seen.words`."""
_CUT = re.compile(r"\w+(?:'\w+)*|[^\w\s]")
_SURE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Corrections:
    """The lists of some paragraphs, those with a mistake first.

    Attributes
    ----------
    seen : Seen
    n_fixes : int
        Paragraphs that have a mistake.
    changes : array of int64, shape (n_candidates,)
        How many changes a candidate makes.
    mends : array of bool, shape (n_candidates,)
        Whether one of them corrects the mistake.
    default : array of int64, shape (n_lists,)
        The candidate that the models choose at their own rates of flags.
    units : array of int64, shape (n_lists,)
        The project of each paragraph.
    words : array of int64, shape (n_lists,)
        How many each paragraph has.
    """

    seen: Seen
    n_fixes: int
    changes: NDArray[np.int64]
    mends: NDArray[np.bool_]
    default: NDArray[np.int64]
    units: NDArray[np.int64]
    words: NDArray[np.int64]

    @property
    def lists(self) -> CandidateLists:
        """The lists with their costs: edits of words to the corrected text."""
        return self.seen.lists


def read_part(data: Path, part: str, *, every: int = 1) -> tuple[list[Fix], list[Clean]]:
    """Return the surest mistakes of a part of those classes, and clean paragraphs; every so many-th."""
    fixes = read_fixes(data / FOLDER / f"{part}.jsonl.xz", tier=1)
    known = [fix for fix in fixes if fix.category in CLASSES]
    return known[::every], read_clean(data / FOLDER / f"clean.{part}.jsonl.xz")[::every]


def corrections_of(checker: ModelChecker, fixes: Sequence[Fix], clean: Sequence[Clean]) -> Corrections:
    """Return the lists of all paragraphs: what a checker might change, and each of the best together."""
    texts = [*(fix.before for fix in fixes), *(each.text for each in clean)]
    references = [*(fix.corrected() for fix in fixes), *(each.text for each in clean)]
    limits = checker.limits()
    windows, scores, counts, told = [], [], [], []
    mends, default, wanted = [], [], []
    for number, (text, reference, edits) in enumerate(
        zip(texts, references, checker.edits(texts), strict=True)
    ):
        kept = sorted(edits, key=lambda edit: -edit.sure)
        own = sorted(choices(kept), key=lambda chosen: (-sum(log_odds(kept[i]) for i in chosen), chosen))
        whole = [written(text, [kept[i] for i in chosen]) for chosen in own]
        right = words_of(reference)
        found = range(len(kept)) if number < len(fixes) else ()
        good = {i for i in found if words_of(written(text, [kept[i]])) == right}
        flagged = tuple(i for i, edit in enumerate(kept) if edit.sure > limits[edit.task])
        windows += list(_windows(text, kept, own))
        wanted += [" ".join(right)] * len(own)
        told += [" ".join(words_of(each)) for each in whole]
        scores.append([sum(log_odds(kept[i]) for i in chosen) for chosen in own])
        counts += [features_of(text, [kept[i] for i in chosen]) for chosen in own]
        mends += [number < len(fixes) and not good.isdisjoint(chosen) for chosen in own]
        default.append(_nearest(own, flagged))
    sizes = np.array([len(each) for each in scores], np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    names = tuple(sorted({name for each in counts for name in each}))
    lists = CandidateLists(
        offsets,
        told,
        np.concatenate([np.array(each) for each in scores]),
        (np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)).astype(np.int32),
        costs_of(measure_named("wer"), told, wanted),
        _matrix(counts, names),
        names,
    )
    projects: dict[str, int] = {}
    repos = [*(fix.repo for fix in fixes), *(each.repo for each in clean)]
    return Corrections(
        Seen(lists, (CandidateWords.of(windows),)),
        len(fixes),
        np.array([int(each.get("changes", 0)) for each in counts], np.int64),
        np.array(mends, np.bool_),
        np.array(default, np.int64),
        np.array([projects.setdefault(repo, len(projects)) for repo in repos], np.int64),
        np.array([len(text.split()) for text in texts], np.int64),
    )


def part_of(part: Corrections, index: NDArray[np.int64]) -> Corrections:
    """Return some of the lists, those with a mistake first."""
    index = np.concatenate([index[index < part.n_fixes], index[index >= part.n_fixes]])
    rows = candidates_of(part.lists.offsets, index)
    return Corrections(
        part.seen.take(index),
        int((index < part.n_fixes).sum()),
        part.changes[rows],
        part.mends[rows],
        part.default[index],
        part.units[index],
        part.words[index],
    )


def choices(edits: Sequence[Edit]) -> list[tuple[int, ...]]:
    """Return which of some edits, the surest first, a candidate makes: none, each alone, the best together.

    Edits that touch each other are not made together. There are at most `MOST`, none and single ones first.
    """
    best = range(min(BEST, len(edits)))
    together = [
        chosen
        for size in range(2, BEST + 1)
        for chosen in combinations(best, size)
        if all(_apart(edits[i], edits[j]) for i, j in combinations(chosen, 2))
    ]
    together.sort(key=lambda chosen: -sum(log_odds(edits[i]) for i in chosen))
    return [(), *((i,) for i in range(len(edits))), *together][:MOST]


def log_odds(edit: Edit) -> float:
    """Return the log odds of an edit to be right."""
    sure = min(max(edit.sure, _SURE), 1 - _SURE)
    return float(np.log(sure / (1 - sure)))


def written(text: str, edits: Sequence[Edit]) -> str:
    """Return a text with edits made, which do not overlap."""
    for edit in sorted(edits, key=lambda edit: (-edit.start, -edit.end)):
        text = text[: edit.start] + (edit.new or "") + text[edit.end :]
    return text


def words_of(text: str) -> list[str]:
    """Return words and marks as texts are compared: blanks, case and curls of ' play no part."""
    return _CUT.findall(text.replace("\u2019", "'").casefold())


def features_of(text: str, edits: Sequence[Edit]) -> dict[str, float]:
    """Return what a candidate is beside its words: what is changed by which model, and how sure that is."""
    found: dict[str, float] = {}
    for edit in edits:
        old, new = (" ".join(words_of(each)) for each in (text[edit.start : edit.end], edit.new or ""))
        kind = "insert" if not old else "replace" if new else "delete"
        for name, value in (
            ("changes", 1.0),
            (f"{edit.task}: {kind}", 1.0),
            (f"{edit.task}: {old} > {new}", 1.0),
            (f"{edit.task}: log odds", log_odds(edit)),
            (f"{edit.task}: {kind}, log odds", log_odds(edit)),
        ):
            found[name] = found.get(name, 0.0) + value
    return found


def _windows(text: str, edits: Sequence[Edit], own: Sequence[tuple[int, ...]]) -> Iterator[list[str]]:
    """Yield the words of each candidate from just before the first place of any edit to just after the last.

    The words beyond are those of all candidates: no n-gram of them tells one from another.
    """
    if not edits:
        yield []
        return
    first, last = min(edit.start for edit in edits), max(edit.end for edit in edits)
    before, after = words_of(text[:first])[-AROUND:], words_of(text[last:])[:AROUND]
    for chosen in own:
        made = written(text[:last], [edits[i] for i in chosen])[first:]
        yield [*before, *words_of(made), *after]


def _nearest(own: Sequence[tuple[int, ...]], flagged: tuple[int, ...]) -> int:
    """Return the candidate with these edits, or else with as many of them as one has, the surest first."""
    if flagged in own:
        return own.index(flagged)
    inside = [chosen for chosen in own if set(chosen) <= set(flagged)]
    return own.index(max(inside, key=lambda chosen: (len(chosen), [-i for i in chosen])))


def _apart(one: Edit, other: Edit) -> bool:
    first, second = sorted((one, other), key=lambda edit: (edit.start, edit.end))
    return first.end < second.start


def _matrix(counts: Sequence[dict[str, float]], names: Sequence[str]) -> Any:
    from scipy.sparse import csr_array

    number = {name: i for i, name in enumerate(names)}
    starts = np.concatenate([[0], np.cumsum([len(each) for each in counts])])
    columns = np.array([number[name] for each in counts for name in each], np.int64)
    values = np.array([value for each in counts for value in each.values()], np.float64)
    found = csr_array((values, columns, starts), (len(counts), len(names)))
    found.sort_indices()
    return found
