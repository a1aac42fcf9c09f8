"""Figures of a trial, with intervals over projects: texts of one project are alike and drawn together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.evaluation.mistakes.trial import Found, Limits, Trial
from disambig.formats.fixes.fix import KINDS, Fix
from disambig.measures.bootstrap import times_drawn

Floats = NDArray[np.float64]
DRAWS = 5_000
SHARE = 0.95


def figures(trial: Trial, limits: Limits | None = None, *, seed: int = 0) -> dict[str, Any]:
    """Return how many mistakes are found and mended, and how often clean text is flagged.

    Parameters
    ----------
    limits : mapping of str to float, optional
        Of each task: flags must be surer.
    seed : int
        Of the bootstrap.

    Returns
    -------
    dict
        ``projects`` of the mistakes; ``all`` of them, and under ``classes`` those of each class, which has
        ``kinds`` and ``subs`` of its own: each ``n``, ``found``, ``right``, ``wrong`` (shares: a flag is at
        the place; it gives what the writer wrote; it does not) with ``found_interval`` and
        ``right_interval``, None where there is one project only. ``clean``, None without any: ``projects``,
        ``paragraphs``, ``words`` and ``flags``, ``per_1000`` words with its ``interval``, and these of each
        of its ``tasks``.
    """
    return of_found(trial, trial.at(limits), seed=seed)


def of_found(trial: Trial, found: Found, *, seed: int = 0) -> dict[str, Any]:
    """Return the `figures` of what was found at some limits."""
    fixes = trial.fixes
    parts = [("all", "", np.ones(len(fixes), bool))]
    for category in sorted({fix.category for fix in fixes}):
        inside = np.array([fix.category == category for fix in fixes])
        parts.append(("class", category, inside))
        for kind in KINDS:
            parts.append((category, kind, inside & np.array([fix.kind == kind for fix in fixes])))
    parts = [part for part in parts if part[2].any() or part[0] == "all"]
    lines = _lines(found, [part[2] for part in parts], projects(fixes), seed)
    classes: dict[str, Any] = {}
    for (level, name, inside), line in zip(parts[1:], lines[1:], strict=True):
        if level == "class":
            classes[name] = {**line, "kinds": {}, "subs": _subs(found, fixes, inside)}
        else:
            classes[level]["kinds"][name] = line
    return {
        "projects": len({fix.repo for fix in fixes}),
        "all": lines[0],
        "classes": classes,
        "clean": of_clean(trial, found, seed=seed) if trial.clean else None,
    }


def of_clean(trial: Trial, found: Found, *, seed: int = 0) -> dict[str, Any]:
    """Return how often clean text is flagged, by all tasks and by each."""
    units = projects(trial.clean)
    words = np.array([len(each.text.split()) for each in trial.clean], np.float64)
    flags = [found.flags.sum(axis=0), *found.flags]
    drawn = _drawn([words, *flags], units, seed)
    intervals = [_interval(1000 * drawn[:, i + 1], drawn[:, 0]) for i in range(len(flags))]
    total = float(words.sum())
    lines = [
        {
            "flags": int(each.sum()),
            "per_1000": 1000 * float(each.sum()) / total if total else None,
            "interval": interval,
        }
        for each, interval in zip(flags, intervals, strict=True)
    ]
    about = {"projects": len(np.unique(units)), "paragraphs": len(words), "words": int(total)}
    return {**about, **lines[0], "tasks": dict(zip(trial.tasks, lines[1:], strict=True))}


def projects(texts: Sequence[Any]) -> NDArray[np.int64]:
    """Return the number of the project that each mistake or paragraph is of."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(each.repo, len(numbers)) for each in texts], np.int64)


def _lines(
    found: Found, parts: Sequence[NDArray[np.bool_]], units: NDArray[np.int64], seed: int
) -> list[dict[str, Any]]:
    """Return the figures of some sets of mistakes, all from the same draws of projects."""
    columns = [column for inside in parts for column in (inside, inside & found.found, inside & found.right)]
    drawn = _drawn(columns, units, seed)
    lines = []
    for i in range(len(parts)):
        n, hits, right = (int(columns[3 * i + k].sum()) for k in range(3))
        below = drawn[:, 3 * i]
        lines.append(
            {
                "n": n,
                "found": _share(hits, n),
                "found_interval": _interval(drawn[:, 3 * i + 1], below),
                "right": _share(right, n),
                "right_interval": _interval(drawn[:, 3 * i + 2], below),
                "wrong": _share(hits - right, n),
            }
        )
    return lines


def _subs(found: Found, fixes: Sequence[Fix], inside: NDArray[np.bool_]) -> Mapping[str, Any]:
    """Return the counts of the kinds within a class, the most frequent first."""
    rows: dict[str, list[int]] = {}
    for i in np.flatnonzero(inside).tolist():
        rows.setdefault(fixes[i].sub or "-", []).append(i)
    return {
        sub: {"n": len(at), "found": int(found.found[at].sum()), "right": int(found.right[at].sum())}
        for sub, at in sorted(rows.items(), key=lambda each: (-len(each[1]), each[0]))
    }


def _drawn(columns: Sequence[NDArray[Any]], units: NDArray[np.int64], seed: int) -> Floats:
    """Return the sums of each column over projects drawn anew, shape ``(DRAWS, n_columns)``; none of few."""
    n = int(units.max(initial=-1)) + 1
    if n < 2:  # one project does not say how others differ
        return np.full((1, len(columns)), np.nan)
    by_unit = np.stack([np.bincount(units, column, minlength=n) for column in columns], axis=1)
    rng = np.random.default_rng(seed)
    return np.concatenate([counts @ by_unit for counts in times_drawn(n, DRAWS, rng)])


def _interval(above: Floats, below: Floats) -> tuple[float, float] | None:
    """Return the percentile interval of quotients; None where nothing is known."""
    known = below > 0
    if not known.any():
        return None
    low, high = np.quantile(above[known] / below[known], ((1 - SHARE) / 2, (1 + SHARE) / 2))
    return float(low), float(high)


def _share(part: int, n: int) -> float | None:
    return part / n if n else None
