"""What was expected of the learners on English lists, and whether it came true.

Written before the first whole run, but not before any: lists of dev, on which corrections are tested, had
been looked at to see that what is here works. That Boosting is below the conditional logit was asked after
it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from disambig.api.experiments import Claim
from disambig.api.measures import Outcomes, measure_named, paired_bootstrap
from disambig.api.tasks import CandidateLists

from .english_learners import BLASSO, BOOSTING, LOGIT
from .english_scoring import Choice

PLAIN = f"{BLASSO}, no n-grams"
FIRST, SHIPS = "first candidate", "what ships"
SURE = 0.05
PAIRS = (
    (BLASSO, FIRST),
    (BOOSTING, FIRST),
    (LOGIT, FIRST),
    (BLASSO, PLAIN),
    (BLASSO, LOGIT),
    (BLASSO, "K-SVM"),
    (BLASSO, BOOSTING),
    (BOOSTING, LOGIT),
)
"""The first is to cost less than the second."""


def below(where: str, found: Mapping[str, Choice], units: NDArray[np.int64], what: str) -> list[Claim]:
    """Claim of each of `PAIRS` that its first system's choices cost less.

    Parameters
    ----------
    units : array of int64, shape (n_lists,)
        What is drawn together.
    what : str
        Their name.
    """
    claims = []
    for name, other in PAIRS:
        drawn = paired_bootstrap(
            measure_named("cost"), outcomes(found[other].cost, units), outcomes(found[name].cost, units)
        )
        low, high = drawn.interval
        claims.append(
            Claim(
                f"{where}: {name} is below {other} (p < {SURE})",
                bool(drawn.difference < 0 and drawn.p < SURE),
                f"mean cost {drawn.second:.4f} and {drawn.first:.4f}, {drawn.difference:+.4f} "
                f"({low:+.4f} to {high:+.4f}); p = {drawn.p:.2g} over {drawn.n_units:,} {what}",
            )
        )
    return claims


def mends_more(where: str, found: Mapping[str, Choice], units: NDArray[np.int64]) -> list[Claim]:
    """Claim that rerankers mend more than what ships does, at as many false changes.

    Parameters
    ----------
    units : array of int64, shape (n_fixes,)
        The project of each mistake.
    """
    claims = []
    for name in (BLASSO, BOOSTING, LOGIT):
        sides = [
            Outcomes.of_group(("not mended", "mended"), np.ones(len(units)), found[each].equal, units=units)
            for each in (SHIPS, name)
        ]
        drawn = paired_bootstrap(measure_named("accuracy"), *sides)
        low, high = (100 * end for end in drawn.interval)
        claims.append(
            Claim(
                f"{where}: {name} mends more than {SHIPS} at as many false changes (p < {SURE})",
                bool(drawn.difference > 0 and drawn.p < SURE),
                f"{100 * drawn.second:.1f} and {100 * drawn.first:.1f} %, {100 * drawn.difference:+.1f} "
                f"({low:+.1f} to {high:+.1f}); p = {drawn.p:.2g} over {drawn.n_units} projects",
            )
        )
    return claims


def outcomes(cost: NDArray[np.float64], units: NDArray[np.int64]) -> Outcomes:
    """Return choices that cost so much, as outcomes of lists of one candidate each."""
    n = len(cost)
    lists = CandidateLists(
        np.arange(n + 1), [""] * n, np.zeros(n), np.zeros(n, np.int32), cost.astype(np.float32)
    )
    return Outcomes.of_lists(lists, units=units)
