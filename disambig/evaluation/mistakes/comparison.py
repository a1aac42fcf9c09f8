"""Two checkers on the same mistakes: how they differ, and whether by more than chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from disambig.evaluation.mistakes.figures import of_found, projects
from disambig.evaluation.mistakes.trial import Limits, Trial
from disambig.measures.bootstrap import DRAWS, paired_bootstrap
from disambig.measures.choices import Accuracy
from disambig.measures.outcomes import Outcomes
from disambig.measures.significance import mcnemar


def compare_trials(
    trials: tuple[Trial, Trial],
    limits: tuple[Limits | None, Limits | None],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, Any]:
    """Compare what two checkers mend of the same mistakes.

    Parameters
    ----------
    limits : pair of mappings of str to float
        Of the tasks of each.
    draws, seed : int
        Of the bootstrap, which draws projects.

    Returns
    -------
    dict
        As `disambig.evaluation.comparison.compare`, without ``account``; each of the ``systems`` has its
        ``figures``, too.
    """
    units = projects(trials[0].fixes)
    found = [trial.at(each) for trial, each in zip(trials, limits, strict=True)]
    sides = [
        Outcomes.of_group(("not mended", "mended"), np.ones(len(units)), each.right, units=units)
        for each in found
    ]
    paired = paired_bootstrap(Accuracy(), *sides, draws=draws, seed=seed)
    first, second = found[0].right, found[1].right
    values = zip(
        trials,
        found,
        (paired.first, paired.second),
        (paired.first_interval, paired.second_interval),
        strict=True,
    )
    return {
        "n": len(units),
        "measure": {"name": "rightly corrected", "unit": "share", "more_is_better": True},
        "units": {"what": "projects", "n": paired.n_units},
        "systems": [
            {
                "model": trial.name,
                "value": value,
                "interval": interval,
                "figures": of_found(trial, each, seed=seed),
            }
            for trial, each, value, interval in values
        ],
        "difference": {
            "value": paired.difference,
            "interval": paired.interval,
            "p": paired.p,
            "draws": paired.draws,
        },
        "mcnemar": mcnemar(first, second),
        "table": {
            "both": int((first & second).sum()),
            "first": int((first & ~second).sum()),
            "second": int((~first & second).sum()),
            "neither": int((~first & ~second).sum()),
        },
        "pairs": [],
    }
