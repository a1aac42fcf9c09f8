"""``gao2006.figures``: L1 norms and test errors along the paths, figures 3 to 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, Row

from .adaptation import BLASSO, F_BOOSTING, FSLR
from .corpora import BACKGROUND, DOMAINS, files_of
from .curves import Curve, curves_of
from .material import material

LIKE_ENCARTA = "wikipedia"
"""The domain of figures 3 and 4."""
MARKS = 60
"""Places of a curve that are drawn."""


@dataclass(frozen=True, slots=True)
class Figures:
    """F-Boosting, BLasso and FSLR step by step, on 8,000 sentences of each domain."""

    title: ClassVar[str] = "Gao, Suzuki and Yu 2006, figures 3 to 8: least CER in % along a path, and where"
    description: ClassVar[str] = "L1 norm and test error against iterations: BLasso, F-Boosting, FSLR"
    needs: ClassVar[tuple[str, ...]] = files_of([*BACKGROUND, *(domain.name for domain in DOMAINS)])

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Follow the paths to their ends; with `quick` those of a few sentences."""
        names = [domain.name for domain in DOMAINS]
        found: dict[tuple[str, bool], dict[str, Curve]] = {}
        for number, part in enumerate(material(data, names, quick=quick, progress=progress)):
            progress("following paths", number, len(names))
            for heads in (False, True):
                found[part.domain, heads] = curves_of(part, heads=heads)
        plain = found[LIKE_ENCARTA, False]
        panels = [
            Panel("figure 3: L1 norm", "iterations", "sum of |weight|", lines=_lines(plain, "norms")),
            Panel("figure 3, by loss: L1 norm", "ExpLoss", "sum of |weight|", lines=_by_loss(plain)),
            Panel(f"figure 4: {LIKE_ENCARTA}", "iterations", "test CER, %", lines=_lines(plain, "rates")),
            *(
                Panel(
                    f"figures 5 to 8: {name}, head words",
                    "iterations",
                    "test CER, %",
                    lines=_lines(of, "rates"),
                )
                for (name, heads), of in found.items()
                if heads
            ),
        ]
        return ExperimentResult(
            [row for (name, heads), of in found.items() for row in rows_of(name, heads, of)],
            claims_of(found),
            [
                f"{'a few' if quick else '8,000'} sentences of each domain, lists of the background; steps "
                "of 0.5; ours are followed until no step lowers ExpLoss",
                "the paper draws other domains, and gives no figures to set beside ours: what it says of its "
                "curves stands among the claims",
            ],
            {
                _name(key): {system: curve.details() for system, curve in of.items()}
                for key, of in found.items()
            },
            panels,
            places=2,
        )


def rows_of(name: str, heads: bool, curves: Mapping[str, Curve]) -> list[Row]:
    """Return the least test error of each path, and its last one."""
    what = f"{name}, head words" if heads else name
    return [
        row
        for system, curve in curves.items()
        for row in (
            Row(f"{what}, {system}", "least", None, float(curve.rates.min()), curve.n),
            Row(f"{what}, {system}", "where development data stop", None, curve.stopped, curve.n),
            Row(f"{what}, {system}", "at the end", None, float(curve.rates[-1]), curve.n),
        )
    ]


def claims_of(found: Mapping[tuple[str, bool], Mapping[str, Curve]]) -> list[Claim]:
    """Return what the paper says of its figures."""
    plain = found[LIKE_ENCARTA, False]
    norms = {key: _norms_at_equal_loss(of[BLASSO], of[F_BOOSTING]) for key, of in found.items()}
    below = {key: float((first < second).mean()) for key, (first, second) in norms.items()}
    at_end = {key: float(first[-1] / second[-1]) for key, (first, second) in norms.items()}
    apart = [_late(of) for of in found.values()]
    return [
        Claim(
            "BLasso's L1 norm is below F-Boosting's at equal loss (figure 3)",
            below[LIKE_ENCARTA, False] > 0.9 and at_end[LIKE_ENCARTA, False] < 1,
            f"{LIKE_ENCARTA}: at {below[LIKE_ENCARTA, False]:.0%} of 100 losses; "
            f"{at_end[LIKE_ENCARTA, False]:.3f} of F-Boosting's at the least loss of both",
        ),
        Claim(
            "... and so in every domain, with head words and without",
            all(share > 0.9 and at_end[key] < 1 for key, share in below.items()),
            "; ".join(f"{_name(key)} {below[key]:.0%}, {at_end[key]:.3f}" for key in found),
        ),
        Claim(
            "... and at equal numbers of iterations, as the paper draws it",
            all(_norm_late(of) < 1 for of in found.values()),
            "at the last step that both have: "
            + "; ".join(f"{_name(key)} {_norm_late(of):.3f}" for key, of in found.items()),
        ),
        Claim(
            "in later steps BLasso errs less than F-Boosting (figure 4)",
            _late(plain) > 0,
            f"{LIKE_ENCARTA}: mean difference in the second half of the steps {_late(plain):+.3f} points",
        ),
        Claim(
            "... and so in every domain, with head words and without",
            min(apart) > 0,
            "; ".join(f"{_name(key)} {late:+.3f}" for key, late in zip(found, apart, strict=True)),
        ),
        Claim(
            "with head words the gap is wider",
            all(_late(found[name, True]) > _late(found[name, False]) for name, heads in found if heads),
            "; ".join(
                f"{name} {_late(found[name, False]):+.3f} to {_late(found[name, True]):+.3f}"
                for name, heads in found
                if heads
            ),
        ),
        _reaches(found),
    ]


def _reaches(found: Mapping[tuple[str, bool], Mapping[str, Curve]]) -> Claim:
    """Compare the least errors of the grid search and of the continuous one (figures 5 to 8)."""
    least = {
        name: (float(of[F_BOOSTING].rates.min()), float(of[FSLR].rates.min()))
        for (name, heads), of in found.items()
        if heads
    }
    won = sum(first < second for first, second in least.values())
    return Claim(
        "F-Boosting reaches a lower error than FSLR on three of four test sets (figures 5 to 8)",
        won >= 3,
        "; ".join(f"{name} {first:.2f} and {second:.2f}" for name, (first, second) in least.items()),
    )


def _name(key: tuple[str, bool]) -> str:
    return f"{key[0]}{' with head words' if key[1] else ''}"


def _late(curves: Mapping[str, Curve]) -> float:
    """Return by how much F-Boosting errs more than BLasso in the second half of the steps, in points."""
    first, second = curves[BLASSO].rates, curves[F_BOOSTING].rates
    n = min(len(first), len(second))
    return float((second[n // 2 : n] - first[n // 2 : n]).mean())


def _norm_late(curves: Mapping[str, Curve]) -> float:
    """Return BLasso's L1 norm as a share of F-Boosting's, at the last step that both have."""
    first, second = curves[BLASSO].norms, curves[F_BOOSTING].norms
    n = min(len(first), len(second))
    return float(first[n - 1] / second[n - 1])


def _norms_at_equal_loss(first: Curve, second: Curve) -> tuple[Any, Any]:
    """Return the L1 norms of two paths at 100 losses that both have, from the greatest on."""
    high = min(first.losses[0], second.losses[0])
    low = max(first.losses[-1], second.losses[-1])
    losses = np.linspace(high, low, 102)[1:-1]
    return tuple(np.interp(-losses, -curve.losses, curve.norms) for curve in (first, second))  # type: ignore[return-value]


def _lines(curves: Mapping[str, Curve], which: str) -> dict[str, Sequence[tuple[float, float]]]:
    return {
        system: [(float(at), float(getattr(curve, which)[at])) for at in curve.marks(MARKS)]
        for system, curve in curves.items()
    }


def _by_loss(curves: Mapping[str, Curve]) -> dict[str, Sequence[tuple[float, float]]]:
    return {
        system: [(float(curve.losses[at]), float(curve.norms[at])) for at in curve.marks(MARKS)]
        for system, curve in curves.items()
        if system != FSLR
    }
