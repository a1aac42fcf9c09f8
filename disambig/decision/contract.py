"""Check that a fitted decision rule returns what its contract says."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Predictions, ScoreBatch
from disambig.errors import contract_error, describe_value
from disambig.registry import describe_component
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


def check_fit(rule: object) -> None:
    """Raise D414 unless a decision rule of a config can be fitted, and restored from a saved model."""
    for name in ("fit", "from_state"):
        if not callable(getattr(rule, name, None)):
            wanted = "a decision rule with fit and from_state"
            raise contract_error(describe_component("judges", rule), f"it has no method {name}", wanted)
    if not is_dataclass(rule):
        seen = f"{type(rule).__name__} is not a dataclass"
        raise contract_error(
            describe_component("judges", rule), seen, "a dataclass whose fields are its settings"
        )


def check_methods(rule: object) -> None:
    """Raise D414 unless the result of `fit` has the methods of a decision rule."""
    part = describe_component("judges", rule)
    for name in METHODS:
        if not callable(getattr(rule, name, None)):
            raise contract_error(part, f"the result of fit has no method {name}", "a fitted decision rule")
    try:
        parameters = inspect.signature(rule.judge)  # type: ignore[attr-defined]
    except (TypeError, ValueError):  # functions written in C may have no signature
        return
    try:
        parameters.bind(None, flags_per_1000=None)
    except TypeError as problem:
        wanted = "judge(scored, *, flags_per_1000=None)"
        raise contract_error(part, f"judge{parameters} cannot be called: {problem}", wanted) from None


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
    part, n = describe_component("judges", rule), len(scored)
    judged: Any = rule.judge(scored)
    if not isinstance(judged, Predictions):
        raise contract_error(part, f"judge returned {describe_value(judged)}", _JUDGED)
    for name, (kinds, wanted) in _KINDS.items():
        column = getattr(judged, name)
        if not isinstance(column, np.ndarray) or column.shape != (n,) or column.dtype.kind not in kinds:
            problem = f"{name} of judge is {describe_value(column)}"
            raise contract_error(part, problem, f"an array of {n:,} {wanted}, one per instance")
    sizes = np.diff(scored.offsets)
    outside = np.flatnonzero((judged.chosen < 0) | (judged.chosen >= sizes))
    if len(outside):
        row = outside[0]
        problem = (
            f"judge chose candidate {judged.chosen[row]:,} of an instance with {sizes[row]:,} candidates"
        )
        raise contract_error(part, problem, "indices of the candidates of each instance, from 0")
    if (negative := judged.margins[~(judged.margins >= 0)]).size:
        problem = f"a margin of judge is {negative[0]:g}"
        raise contract_error(part, problem, "numbers that are not negative")
    _check_range(judged.probabilities, part, "probabilities of judge")
    shares: Any = rule.probabilities(scored)
    if shares is None:
        return
    count = len(scored.scores)
    if not isinstance(shares, np.ndarray) or shares.shape != (count,) or shares.dtype.kind != "f":
        wanted = f"None, or an array of {count:,} floats, one per candidate"
        raise contract_error(part, f"probabilities returned {describe_value(shares)}", wanted)
    _check_range(shares, part, "what probabilities returned")


def _check_range(values: NDArray[np.floating[Any]], part: str, what: str) -> None:
    """Raise D414 unless all values are probabilities."""
    bad = values[~((values >= -_ROUNDING) & (values <= 1 + _ROUNDING))]  # also true for NaN
    if len(bad):
        raise contract_error(part, f"{what} has {bad[0]:g}", "numbers from 0 to 1")
