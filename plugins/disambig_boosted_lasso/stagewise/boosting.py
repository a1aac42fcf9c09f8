"""Boosting: the feature whose optimal step lowers ExpLoss most, and that step (Gao et al. 2006, figure 1)."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import check_above_zero, check_share
from .learner import Stagewise
from .stepper import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Boosting(Stagewise):
    """Rerank by boosting of ExpLoss, with smoothed or shrunken steps.

    Each step takes the feature whose optimal step lowers ExpLoss most (eq. 7), and moves its weight by
    ``shrinkage * 1/2 log((C+ + smoothing Z) / (C- + smoothing Z))`` (eq. 16 and 9): C+ and C- are the weights
    of the pairs in which the reference has the feature and the other candidate has not, and the other way
    round; Z is ExpLoss. Where counts differ by more than one, what the formula minimises is: ExpLoss with
    pairs of weight ``smoothing Z`` added that have the feature once in the reference, or once in the other.

    Parameters
    ----------
    smoothing : float
        Above zero: the larger, the shorter the steps of rare features.
    shrinkage : float
        What each step is multiplied with, above 0 and 1 at most.
    base : str
        Feature group of the base score: its weight is set first, where ExpLoss is least, and then fixed.
        Where there is no such group, no weight is.
    steps : int, optional
        How many steps are taken. Left open, development data choose; without these, it is all.
    max_steps : int
        Of a path with `steps` left open.
    patience : int
        Steps without a lower cost on development data after which the path ends.
    tolerance : float
        The path ends where no step lowers ExpLoss by more than this share of what it was at first.
    """

    smoothing: float = 1e-4
    shrinkage: float = 1.0

    def __post_init__(self) -> None:
        Stagewise.__post_init__(self)
        check_above_zero("Boosting.smoothing", self.smoothing)
        check_share("Boosting.shrinkage", self.shrinkage)

    def rule(self) -> Steps:
        """Return how steps are chosen."""
        return Steps(grid=False, smoothing=self.smoothing, shrinkage=self.shrinkage)
