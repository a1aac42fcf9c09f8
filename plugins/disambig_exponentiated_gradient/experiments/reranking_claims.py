"""What the slides say of reranking, and what was asked here, as claims that hold or do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from disambig.api.experiments import Claim
from disambig.api.measures import Outcomes, paired_bootstrap
from disambig.api.tasks import CandidateLists
from disambig_exponentiated_gradient.reranking.lists import TreeLists
from disambig_exponentiated_gradient.treebank.measures import BracketF1

from .described import Ints
from .systems import COST, HINGE, LOG, PCFG, PERCEPTRON

P = 0.05
ASKED = 2.0
"""Points of F1 above the PCFG."""
PAIRS = (
    (PCFG, PERCEPTRON), (PCFG, HINGE), (PCFG, COST), (PCFG, LOG),
    (PERCEPTRON, HINGE), (PERCEPTRON, COST), (PERCEPTRON, LOG), (HINGE, COST),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """Points of F1 by which the second of two systems is better, their interval, and p."""

    points: float
    interval: tuple[float, float]
    p: float

    def __str__(self) -> str:
        return f"{self.points:+.2f} (p = {self.p:.4f})"

    @property
    def is_worse(self) -> bool:
        """Whether the second is significantly worse."""
        return self.points < 0 and self.p < P


@dataclass(frozen=True, slots=True)
class Compared:
    """The differences of pairs of systems."""

    of: Mapping[tuple[str, str], Difference]

    def told(self) -> dict[str, Any]:
        """Return them as plain values."""
        return {
            f"{second} less {first}": {
                "points": round(each.points, 3),
                "interval": [round(end, 3) for end in each.interval],
                "p": round(each.p, 5),
            }
            for (first, second), each in self.of.items()
        }


def compare(test: TreeLists, at: Mapping[str, Ints]) -> Compared:
    """Compare what systems chose, as rows of candidates, by a paired bootstrap over sentences."""
    outcomes = {}
    for name, rows in at.items():
        own = CandidateLists.of([[test.lists.texts[row]] for row in rows.tolist()])
        outcomes[name] = Outcomes.of_lists(own, references=test.references)
    found = {}
    for first, second in PAIRS:
        paired = paired_bootstrap(BracketF1(), outcomes[first], outcomes[second])
        low, high = paired.interval
        found[first, second] = Difference(100 * paired.difference, (100 * low, 100 * high), paired.p)
    return Compared(found)


def claims_of(found: Mapping[str, Compared]) -> list[Claim]:
    """Return each claim with the figures that say so."""

    def told(first: str, second: str) -> str:
        return "; ".join(f"{name} {each.of[first, second]}" for name, each in found.items())

    def better(first: str, second: str, least: float = 0.0) -> bool:
        each = [one.of[first, second] for one in found.values()]
        return all(one.points >= max(least, np.nextafter(0, 1)) and one.p < P for one in each)

    def no_worse(first: str, second: str) -> bool:
        return not any(each.of[first, second].is_worse for each in found.values())

    claims = [
        Claim(f"{system}: reranking beats the PCFG", better(PCFG, system), told(PCFG, system))
        for system in (HINGE, COST, LOG)
    ]
    claims += [
        Claim(
            f"{system}: no worse than the averaged perceptron (not significantly, p < {P:g})",
            no_worse(PERCEPTRON, system),
            told(PERCEPTRON, system),
        )
        for system in (HINGE, COST, LOG)
    ]
    claims.append(
        Claim("cost-sensitive EG is no worse than hinge on F1", no_worse(HINGE, COST), told(HINGE, COST))
    )
    claims.append(
        Claim(
            f"asked here: cost-sensitive EG is at least {ASKED:g} points of F1 above the PCFG",
            better(PCFG, COST, ASKED),
            told(PCFG, COST),
        )
    )
    return claims
