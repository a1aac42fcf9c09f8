"""Curves along paths: loss, L1 norm and test error after each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .adaptation import BLASSO, F_BOOSTING, FSLR
from .material import Material
from .reranking import Described, learner

REGISTERED = {F_BOOSTING: "FBoosting", BLASSO: "BLasso", FSLR: "FSLR"}
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A path, measured.

    Attributes
    ----------
    losses, norms, rates : arrays of float64, shape (n_steps + 1,)
        ExpLoss, L1 norm, and character error rate in % on the test sentences.
    stopped : float
        The error rate of the step that errs least on development sentences.
    stop : int
        That step.
    backward : int
        Steps back.
    n : int
        Test sentences.
    """

    losses: Floats
    norms: Floats
    rates: Floats
    stopped: float
    stop: int
    backward: int
    n: int

    def marks(self, most: int) -> NDArray[np.int64]:
        """Return so many steps, evenly spread."""
        return np.unique(np.linspace(0, len(self.rates) - 1, most).astype(np.int64))

    def details(self) -> dict[str, Any]:
        """Return the curve at some steps, as plain values."""
        marks = self.marks(100)
        return {
            "steps": marks.tolist(),
            "ExpLoss": np.round(self.losses[marks], 2).tolist(),
            "L1": np.round(self.norms[marks], 3).tolist(),
            "CER": np.round(self.rates[marks], 4).tolist(),
            "steps back": self.backward,
            "stopped at": self.stop,
        }


def curves_of(part: Material, *, heads: bool) -> dict[str, Curve]:
    """Return the curves of the three learners of fixed steps on one domain."""
    described = Described.of(part.train.lists, heads=heads)
    dev, test = described.batch(part.dev.lists), described.batch(part.test.lists)
    n = len(part.test.references)
    found = {}
    for system, name in REGISTERED.items():
        path = learner(name).path(described.train)
        beyond = path.costs(test) * n / part.test.characters  # batches count costs from each list's least
        rates = 100 * (beyond + part.test.oracle())
        stop = int(path.costs(dev).argmin())
        found[system] = Curve(
            path.losses, path.norms, rates, float(rates[stop]), stop, int(path.backward.sum()), n
        )
    return found
