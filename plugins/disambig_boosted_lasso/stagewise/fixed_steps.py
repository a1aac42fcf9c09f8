"""Steps of one length: FSLR, F-Boosting and BLasso (Gao et al. 2006, section 4, figure 2)."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import check_above_zero, check_flag, check_from_zero
from .learner import Stagewise
from .stepper import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class FSLR(Stagewise):
    """Rerank by forward stagewise linear regression: chosen as in boosting, steps of one length.

    Parameters
    ----------
    eps : float
        Length of a step.
    truncate : bool
        Whether the optimal step is taken where it is smaller than `eps`, as the paper does.
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

    eps: float = 0.5
    truncate: bool = True

    def __post_init__(self) -> None:
        Stagewise.__post_init__(self)
        check_above_zero(f"{type(self).__name__}.eps", self.eps)
        check_flag(f"{type(self).__name__}.truncate", self.truncate)

    def rule(self) -> Steps:
        """Return how steps are chosen: eq. (7) and (11)."""
        return Steps(grid=False, eps=self.eps, truncate=self.truncate)


@dataclass(frozen=True, slots=True, kw_only=True)
class FBoosting(FSLR):
    """Rerank by F-Boosting: the step of `eps` that lowers ExpLoss most. It is BLasso without steps back.

    From where no step of `eps` lowers ExpLoss on, features are chosen by their optimal steps, which are
    smaller; if these are not taken (`truncate`), the path ends there.

    Parameters
    ----------
    eps : float
        Length of a step; features are chosen by what one of this length does.
    truncate : bool
        Whether the optimal step of the feature is taken where it is smaller than `eps`, as the paper does.
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

    def rule(self) -> Steps:
        """Return how steps are chosen: eq. (12) and (13)."""
        return Steps(grid=True, eps=self.eps, truncate=self.truncate)


@dataclass(frozen=True, slots=True, kw_only=True)
class BLasso(FBoosting):
    """Rerank by the boosted lasso: steps of `eps` forth, and back where that lowers LassoLoss.

    LassoLoss is ``ExpLoss + alpha * L1 norm``; alpha is what a step forth lowered ExpLoss by for each unit of
    its length, the least so far. Before each step forth the weight whose step of `eps` toward zero raises
    ExpLoss least is drawn back, if LassoLoss falls by more than `theta` (eq. 14 and 15). Where a weight is
    less than `eps` the step ends at zero, and what it raises ExpLoss by is held against its length. Where no
    step of `eps` lowers ExpLoss it goes on as F-Boosting does.

    Parameters
    ----------
    theta : float
        What a step back must lower LassoLoss by.
    eps : float
        Length of a step; features are chosen by what one of this length does.
    truncate : bool
        Whether the optimal step of the feature is taken where it is smaller than `eps`, as the paper does. If
        not, the path approaches that of the lasso as `eps` falls.
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

    theta: float = 0.0

    def __post_init__(self) -> None:
        FSLR.__post_init__(self)
        check_from_zero("BLasso.theta", self.theta)

    def rule(self) -> Steps:
        """Return how steps are chosen: eq. (12) to (15)."""
        return Steps(grid=True, eps=self.eps, truncate=self.truncate, theta=self.theta)
