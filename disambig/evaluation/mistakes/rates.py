"""What models find as the rate of flags that they share moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disambig.evaluation.mistakes.checkers import Models
from disambig.evaluation.mistakes.figures import figures
from disambig.evaluation.mistakes.trial import Trial

RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0)


def over_rates(checker: Models, trial: Trial, rates: Sequence[float] = RATES) -> list[dict[str, Any]]:
    """Return a point for each rate, which the models share (see `disambig.model.rates`).

    Returns
    -------
    list of dict
        ``rate``, and ``rates``, what each task gets of it; ``all`` mistakes, ``classes`` of them and
        ``clean`` text as `figures` returns them.

    Raises
    ------
    UserError
        D401 for an impossible rate.
    """
    points = []
    for rate in rates:
        found = figures(trial, checker.limits(rate))
        shared = {"rate": rate, "rates": checker.rates(rate)}
        points.append({**shared, **{name: found[name] for name in ("all", "classes", "clean")}})
    return points
