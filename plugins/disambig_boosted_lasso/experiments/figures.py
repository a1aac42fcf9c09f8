"""``gao2006.figures``: L1 norms and test errors along the paths of the learners, figures 3 to 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api.arrays import Floats
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, ResultRow

from .adaptation import (
    BACKGROUND,
    BLASSO,
    DOMAINS,
    F_BOOSTING,
    FSLR,
    ConversionFeatures,
    DomainLists,
    corpus_files,
    load_domain_lists,
    make_learner,
)

REGISTERED = {F_BOOSTING: "FBoosting", BLASSO: "BLasso", FSLR: "FSLR"}


@dataclass(frozen=True, slots=True, eq=False)
class PathCurve:
    """Measurements along a path."""

    # float64 (n_steps + 1,): ExpLoss, L1 norm, and character error rate in % on the test sentences
    losses: Floats
    norms: Floats
    rates: Floats
    stopped: float  # the error rate of the step with the fewest errors on development sentences
    stop: int  # number of that step
    backward: int  # number of steps back
    n: int  # number of test sentences

    def sampled_steps(self, maximum: int) -> NDArray[np.int64]:
        """Return a number of steps, evenly spread."""
        return np.unique(np.linspace(0, len(self.rates) - 1, maximum).astype(np.int64))

    def details(self) -> dict[str, Any]:
        """Return the curve at some steps, as plain values."""
        marks = self.sampled_steps(100)
        return {
            "steps": marks.tolist(),
            "ExpLoss": np.round(self.losses[marks], 2).tolist(),
            "L1": np.round(self.norms[marks], 3).tolist(),
            "CER": np.round(self.rates[marks], 4).tolist(),
            "steps back": self.backward,
            "stopped at": self.stop,
        }


def measure_curves(part: DomainLists, *, heads: bool) -> dict[str, PathCurve]:
    """Return the curves of the three learners with fixed step length on one domain."""
    features = ConversionFeatures.from_lists(part.train.lists, heads=heads)
    dev, test = features.batch(part.dev.lists), features.batch(part.test.lists)
    n = len(part.test.references)
    curves = {}
    for system, name in REGISTERED.items():
        path = make_learner(name).path(features.train)
        # batches count costs relative to the lowest cost of each list
        beyond = path.costs(test) * n / part.test.characters
        rates = 100 * (beyond + part.test.oracle())
        stop = int(path.costs(dev).argmin())
        curves[system] = PathCurve(
            path.losses, path.norms, rates, float(rates[stop]), stop, int(path.backward.sum()), n
        )
    return curves


LIKE_ENCARTA = "wikipedia"
"""The domain of figures 3 and 4."""
MARKS = 60
"""Number of points of a drawn curve."""


@dataclass(frozen=True, slots=True)
class Gao2006Figures:
    """F-Boosting, BLasso and FSLR step by step, with 8,000 sentences of each domain."""

    title: ClassVar[str] = "Gao, Suzuki and Yu 2006, figures 3 to 8: least CER in % along a path, and where"
    description: ClassVar[str] = "L1 norm and test error against iterations: BLasso, F-Boosting, FSLR"
    needs: ClassVar[tuple[str, ...]] = corpus_files([*BACKGROUND, *(domain.name for domain in DOMAINS)])

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Follow the paths to their ends; with `quick` for a few sentences."""
        names = [domain.name for domain in DOMAINS]
        curves: dict[tuple[str, bool], dict[str, PathCurve]] = {}
        for number, part in enumerate(load_domain_lists(data, names, quick=quick, progress=progress)):
            progress("following paths", number, len(names))
            for heads in (False, True):
                curves[part.domain, heads] = measure_curves(part, heads=heads)
        plain = curves[LIKE_ENCARTA, False]
        by_loss = _lines(plain, "norms", "losses")
        panels = [
            Panel("figure 3: L1 norm", "iterations", "sum of |weight|", lines=_lines(plain, "norms")),
            Panel("figure 3, by loss: L1 norm", "ExpLoss", "sum of |weight|", lines=by_loss),
            Panel(f"figure 4: {LIKE_ENCARTA}", "iterations", "test CER, %", lines=_lines(plain, "rates")),
        ]
        rows, details = [], {}
        for (name, heads), by_learner in curves.items():
            if heads:
                title = f"figures 5 to 8: {name}, head words"
                panels.append(Panel(title, "iterations", "test CER, %", lines=_lines(by_learner, "rates")))
            rows += figure_rows(name, heads, by_learner)
            details[_name((name, heads))] = {system: curve.details() for system, curve in by_learner.items()}
        notes = [
            f"{'a few' if quick else '8,000'} sentences of each domain, lists of the background model; steps "
            "of 0.5; our paths are followed until no step lowers ExpLoss",
            "the paper's figures show other domains and give no numbers to compare with ours; its statements "
            "about the curves are among the claims",
        ]
        return ExperimentResult(rows, figure_claims(curves), notes, details, panels, places=2)


def figure_rows(name: str, heads: bool, curves: Mapping[str, PathCurve]) -> list[ResultRow]:
    """Return the lowest test error of each path, and its last one."""
    label = f"{name}, head words" if heads else name
    return [
        row
        for system, curve in curves.items()
        for row in (
            ResultRow(f"{label}, {system}", "least", None, float(curve.rates.min()), curve.n),
            ResultRow(f"{label}, {system}", "where development data stop", None, curve.stopped, curve.n),
            ResultRow(f"{label}, {system}", "at the end", None, float(curve.rates[-1]), curve.n),
        )
    ]


def figure_claims(curves: Mapping[tuple[str, bool], Mapping[str, PathCurve]]) -> list[Claim]:
    """Return the paper's claims about its figures."""
    plain = curves[LIKE_ENCARTA, False]
    norms = {
        key: _norms_at_equal_loss(by_learner[BLASSO], by_learner[F_BOOSTING])
        for key, by_learner in curves.items()
    }
    below = {key: float((first < second).mean()) for key, (first, second) in norms.items()}
    at_end = {key: float(first[-1] / second[-1]) for key, (first, second) in norms.items()}
    late_differences = [_last_rate(by_learner) for by_learner in curves.values()]
    best_rates = {
        name: [float(by_learner[system].rates.min()) for system in (F_BOOSTING, FSLR)]
        for (name, heads), by_learner in curves.items()
        if heads
    }
    gaps = {name: [_last_rate(curves[name, heads]) for heads in (False, True)] for name in best_rates}
    return [
        Claim(
            "BLasso's L1 norm is below F-Boosting's at equal loss (figure 3)",
            below[LIKE_ENCARTA, False] > 0.9 and at_end[LIKE_ENCARTA, False] < 1,
            f"{LIKE_ENCARTA}: at {below[LIKE_ENCARTA, False]:.0%} of 100 losses; "
            f"{at_end[LIKE_ENCARTA, False]:.3f} of F-Boosting's at the lowest loss that both reach",
        ),
        Claim(
            "... and so in every domain, with head words and without",
            all(share > 0.9 and at_end[key] < 1 for key, share in below.items()),
            "; ".join(f"{_name(key)} {below[key]:.0%}, {at_end[key]:.3f}" for key in curves),
        ),
        Claim(
            "... and at equal numbers of iterations, as in the paper's figure",
            all(_norm_late(by_learner) < 1 for by_learner in curves.values()),
            "at the last step of the shorter path: "
            + "; ".join(f"{_name(key)} {_norm_late(by_learner):.3f}" for key, by_learner in curves.items()),
        ),
        Claim(
            "in later steps BLasso has fewer errors than F-Boosting (figure 4)",
            _last_rate(plain) > 0,
            f"{LIKE_ENCARTA}: mean difference in the second half of the steps "
            f"{_last_rate(plain):+.3f} points",
        ),
        Claim(
            "... and so in every domain, with head words and without",
            min(late_differences) > 0,
            "; ".join(
                f"{_name(key)} {difference:+.3f}"
                for key, difference in zip(curves, late_differences, strict=True)
            ),
        ),
        Claim(
            "with head words the gap is wider",
            all(with_heads > without for without, with_heads in gaps.values()),
            "; ".join(
                f"{name} {without:+.3f} to {with_heads:+.3f}" for name, (without, with_heads) in gaps.items()
            ),
        ),
        Claim(
            "F-Boosting reaches a lower error than FSLR on three of four test sets (figures 5 to 8)",
            sum(grid < continuous for grid, continuous in best_rates.values()) >= 3,
            "; ".join(
                f"{name} {grid:.2f} and {continuous:.2f}" for name, (grid, continuous) in best_rates.items()
            ),
        ),
    ]


def _name(key: tuple[str, bool]) -> str:
    return f"{key[0]}{' with head words' if key[1] else ''}"


def _last_rate(curves: Mapping[str, PathCurve]) -> float:
    """Return the difference in error of F-Boosting and BLasso in the second half of the steps, in points."""
    first, second = curves[BLASSO].rates, curves[F_BOOSTING].rates
    n = min(len(first), len(second))
    return float((second[n // 2 : n] - first[n // 2 : n]).mean())


def _norm_late(curves: Mapping[str, PathCurve]) -> float:
    """Return BLasso's L1 norm as a share of F-Boosting's, at the last step of the shorter path."""
    first, second = curves[BLASSO].norms, curves[F_BOOSTING].norms
    n = min(len(first), len(second))
    return float(first[n - 1] / second[n - 1])


def _norms_at_equal_loss(first: PathCurve, second: PathCurve) -> tuple[Any, Any]:
    """Return the L1 norms of two paths at 100 losses that both reach, in descending order of loss."""
    high = min(first.losses[0], second.losses[0])
    low = max(first.losses[-1], second.losses[-1])
    losses = np.linspace(high, low, 102)[1:-1]
    return tuple(np.interp(-losses, -curve.losses, curve.norms) for curve in (first, second))  # type: ignore[return-value]


def _lines(
    curves: Mapping[str, PathCurve], y: str, x: str | None = None
) -> dict[str, Sequence[tuple[float, float]]]:
    """Return points of each curve, by step or by ExpLoss; ExpLoss of continuous search (FSLR) is left out."""
    lines: dict[str, Sequence[tuple[float, float]]] = {}
    for system, curve in curves.items():
        if x is None or system != FSLR:
            at = curve.sampled_steps(MARKS)
            across = at if x is None else getattr(curve, x)[at]
            lines[system] = list(
                zip(across.astype(float).tolist(), getattr(curve, y)[at].tolist(), strict=True)
            )
    return lines
