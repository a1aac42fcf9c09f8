"""Check that a fitted decision rule returns what its contract says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Predictions, ScoreBatch
from disambig.errors import contract_error
from disambig.types import DecisionRule

METHODS = ("judge", "probabilities", "state", "from_state")
_JUDGED = "a JudgedScores with one entry per instance"
_KINDS = {
    "chosen": ("iu", "integers"),
    "margins": ("f", "floats"),
    "probabilities": ("f", "floats"),
    "flagged": ("b", "booleans"),
    "answered": ("b", "booleans"),
}
_ROUNDING = 1e-6


def check_methods(rule: object) -> None:
    """Raise D414 unless the result of `fit` has the methods of a decision rule."""
    for name in METHODS:
        if not callable(getattr(rule, name, None)):
            part = f"the decision rule {type(rule).__name__}"
            raise contract_error(part, f"the result of fit has no method {name}", "a fitted decision rule")


def check_predictions(rule: DecisionRule, scored: ScoreBatch) -> None:
    """Check what a fitted decision rule returns for some instances.

    Parameters
    ----------
    rule : DecisionRule
    scored : ScoreBatch
        Scores of instances of one or more groups.

    Raises
    ------
    UserError
        D414, which names the rule, what it returned and the contract.
    """
    part, n = f"the decision rule {type(rule).__name__}", len(scored)
    judged: Any = rule.judge(scored)
    if not isinstance(judged, Predictions):
        raise contract_error(part, f"judge returned {_shown(judged)}", _JUDGED)
    for name, (kinds, wanted) in _KINDS.items():
        column = getattr(judged, name)
        if not isinstance(column, np.ndarray) or column.shape != (n,) or column.dtype.kind not in kinds:
            problem = f"{name} of judge is {_shown(column)}"
            raise contract_error(part, problem, f"an array of {n:,} {wanted}, one per instance")
    sizes = np.diff(scored.offsets)
    outside = np.flatnonzero((judged.chosen < 0) | (judged.chosen >= sizes))
    if len(outside):
        row = outside[0]
        problem = (
            f"judge chose candidate {judged.chosen[row]:,} of an instance with {sizes[row]:,} candidates"
        )
        raise contract_error(part, problem, "chosen counts the candidates of each instance from 0")
    _check_range(judged.probabilities, part, "probabilities of judge")
    shares: Any = rule.probabilities(scored)
    if shares is None:
        return
    count = len(scored.scores)
    if not isinstance(shares, np.ndarray) or shares.shape != (count,) or shares.dtype.kind != "f":
        wanted = f"None, or an array of {count:,} floats, one per candidate"
        raise contract_error(part, f"probabilities returned {_shown(shares)}", wanted)
    _check_range(shares, part, "what probabilities returned")


def _check_range(values: NDArray[np.floating[Any]], part: str, what: str) -> None:
    """Raise D414 unless all values are probabilities."""
    bad = values[~((values >= -_ROUNDING) & (values <= 1 + _ROUNDING))]  # also true for NaN
    if len(bad):
        raise contract_error(part, f"{what} has {bad[0]:g}", "numbers from 0 to 1")


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return "None" if value is None else f"a {type(value).__name__}"
