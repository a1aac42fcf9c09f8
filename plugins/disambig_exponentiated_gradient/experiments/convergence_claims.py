"""What the slides say of convergence, and the plots of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from disambig.api.experiments import Claim, Panel

from .systems import COST, PERCEPTRON

Paths = Mapping[str, Mapping[str, list[float]]]
ONLINE, BATCH = f"{COST}, online", f"{COST}, batch"
CLOSE, TEN = 0.02, 10
"""Relative gap that is close to the limit, and the passes in which the slides have it."""
LITTLE = 0.3
"""Points of F1 from the last."""
SMALLEST = 1e-5


def claims_of(paths: Paths, first: float) -> list[Claim]:
    """Return what the slides say of their plots, with our figures."""
    online = [name for name in paths if name.endswith("online")]
    at_ten = {name: paths[name]["gap"][:TEN][-1] for name in online}
    f1 = {name: (paths[name]["F1"][:TEN][-1], paths[name]["F1"][-1]) for name in online}
    fixed = [name for name in paths if ", eta " in name]
    by_batch = epochs_to(paths[BATCH]["gap"], at_ten[ONLINE])
    falls = {name: _fall(paths[name]["dual"]) for name in [*online, BATCH]}
    by_eta = {name: _fall(paths[name]["dual"]) for name in fixed}
    last, other = paths[ONLINE]["F1"][-1], paths[PERCEPTRON]["F1"]
    return [
        Claim(
            f"EG is close to its limit after ten passes online (relative gap up to {CLOSE:.0%})",
            all(gap <= CLOSE for gap in at_ten.values()),
            "; ".join(f"{name} {gap:.2%}" for name, gap in at_ten.items()),
        ),
        Claim(
            f"... and so is its F1 (within {LITTLE:g} points of that after twenty)",
            all(abs(a - b) <= LITTLE for a, b in f1.values()),
            "; ".join(f"{name} {a:.2f} and {b:.2f}" for name, (a, b) in f1.items()),
        ),
        Claim(
            "online updates need fewer passes than batch ones for the same gap",
            by_batch is None or by_batch > TEN,
            f"the gap after ten passes online, {at_ten[ONLINE]:.2%}, takes "
            + (f"{by_batch} in batches" if by_batch else f"more than {len(paths[BATCH]['gap'])} in batches"),
        ),
        Claim(
            "the dual never falls, online and in batches with halved steps",
            max(falls.values()) <= 1e-9,
            "; ".join(f"{name}: largest fall {fall:.2g} of it" for name, fall in falls.items()),
        ),
        Claim(
            "with one fixed eta the dual rises where eta is small, and not where it is large",
            by_eta[fixed[0]] <= 1e-9 < by_eta[fixed[-1]],
            "; ".join(f"{name}: largest fall {fall:.2g}" for name, fall in by_eta.items()),
        ),
        Claim(
            "cost-sensitive EG ends no lower than the perceptron's best pass, and both above the PCFG",
            last >= max(other) and min(last, max(other)) > first,
            f"{last:.2f}; perceptron {max(other):.2f} at best, {other[-1]:.2f} after {len(other)}; "
            f"PCFG {first:.2f}",
        ),
    ]


def epochs_to(gaps: Sequence[float], gap: float) -> int | None:
    """Return after how many epochs a gap is reached; None where it never is."""
    return next((i for i, each in enumerate(gaps, start=1) if each <= gap), None)


def _fall(dual: Sequence[float]) -> float:
    """Return the largest fall of a dual from one epoch to the next, as a share of its greatest size."""
    values = np.asarray(dual, np.float64)
    if len(values) < 2:
        return 0.0
    return float(np.maximum(values[:-1] - values[1:], 0.0).max() / np.abs(values).max())


def panels_of(paths: Paths, first: float) -> list[Panel]:
    """Return objectives, gaps and F1 against epochs."""
    about: Any = {"x": "epochs", "logarithmic": True}
    compared = [ONLINE, BATCH, *(name for name in paths if ", eta " in name)]
    top = 3.0 * max(paths[ONLINE]["dual"])
    objectives = {
        f"{key}, {name.rpartition(', ')[2]}": _line([min(y, top) for y in paths[name][key]])
        for name in (ONLINE, BATCH)
        for key in ("primal", "dual")
    }
    gaps = {name.removeprefix(f"{COST}, "): _logarithms(paths[name]["gap"]) for name in compared}
    losses = {name: _logarithms(path["gap"]) for name, path in paths.items() if name.endswith("online")}
    most = max(len(path["F1"]) for path in paths.values())
    reached = {name.removeprefix(f"{COST}, "): _line(paths[name]["F1"]) for name in compared}
    reached |= {PERCEPTRON: _line(paths[PERCEPTRON]["F1"]), "PCFG": [(1.0, first), (float(most), first)]}
    every = {name: _line(path["F1"]) for name, path in paths.items() if name.endswith("online")}
    every |= {PERCEPTRON: reached[PERCEPTRON], "PCFG": [(1.0, first), (20.0, first)]}
    return [
        Panel(f"{COST}: primal and dual", y="objective", lines=objectives, **about),
        Panel(f"{COST}: gap", y="log10 of the relative gap", lines=gaps, **about),
        Panel(f"{COST}: test F1", y="F1, %", lines=reached, **about),
        Panel("each loss, online: gap", y="log10 of the relative gap", lines=losses, **about),
        Panel("each loss, online: test F1", y="F1, %", lines=every, **about),
    ]


def _line(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return the places of the figures of epochs; of many some, for the line stays the same."""
    kept = {1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 110, 150, 200, len(values)}
    return [(float(i), float(y)) for i, y in enumerate(values, start=1) if i in kept]


def _logarithms(values: Sequence[float]) -> list[tuple[float, float]]:
    return [(x, float(np.log10(max(y, SMALLEST)))) for x, y in _line(values)]
