"""Check that a decision rule keeps its contract and fits its task; the default rule of a task."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Predictions, ScoreBatch
from disambig.errors import UserError, check_call, contract_error, describe_value
from disambig.registry import describe_component
from disambig.types import Between, DecisionRule, RaisesFlags, Task, decides, judged_between, learns_mistakes

_METHODS = ("judge", "probabilities", "state", "from_state")
_JUDGED = "a JudgedScores with one entry per instance"
_COLUMNS = {
    "chosen": ("iu", "integers"),
    "margins": ("f", "floats"),
    "probabilities": ("f", "floats"),
    "flagged": ("b", "booleans"),
    "answered": ("b", "booleans"),
}
_ROUNDING = 1e-6


def check_fit(rule: object) -> None:
    """Raise D414 unless a decision rule of a config can be fitted, and restored from a saved model."""
    part = describe_component("judges", rule)
    for name in ("fit", "from_state"):
        if not callable(getattr(rule, name, None)):
            wanted = "a decision rule with fit and from_state"
            raise contract_error(part, f"it has no method {name}", wanted)
    if not is_dataclass(rule):
        seen = f"{type(rule).__name__} is not a dataclass"
        raise contract_error(part, seen, "a dataclass whose fields are its settings")
    check_call(part, rule, "fit", "fit(data, *, progress)", None, progress=None)
    check_call(part, rule, "from_state", "from_state(arrays, groups)", None, None)


def check_methods(rule: object, component: str = "") -> None:
    """Raise D414, which names `component`, unless the result of `fit` has the methods of a decision rule."""
    part = component or describe_component("judges", rule)
    if rule is None:
        raise contract_error(part, "fit returned None", "a fitted decision rule")
    for name in _METHODS:
        if not callable(getattr(rule, name, None)):
            raise contract_error(part, f"the result of fit has no method {name}", "a fitted decision rule")
    check_call(part, rule, "judge", "judge(scored, *, flags_per_1000=None)", None, flags_per_1000=None)


def check_predictions(rule: DecisionRule, scored: ScoreBatch) -> None:
    """Check what a fitted decision rule returns for some instances.

    `scored` holds the scores of instances of one or more groups. Raises D414, which names the rule, what it
    returned and the contract.
    """
    component, n = describe_component("judges", rule), len(scored)
    predictions: Any = rule.judge(scored)
    if not isinstance(predictions, Predictions):
        raise contract_error(component, f"judge returned {describe_value(predictions)}", _JUDGED)
    for name, (kinds, wanted) in _COLUMNS.items():
        column = getattr(predictions, name)
        if not isinstance(column, np.ndarray) or column.shape != (n,) or column.dtype.kind not in kinds:
            problem = f"{name} of judge is {describe_value(column)}"
            raise contract_error(component, problem, f"an array of {n:,} {wanted}, one per instance")
    sizes = np.diff(scored.offsets)
    outside = np.flatnonzero((predictions.chosen < 0) | (predictions.chosen >= sizes))
    if len(outside):
        i = outside[0]
        seen = f"judge chose candidate {predictions.chosen[i]:,} of an instance with {sizes[i]:,} candidates"
        raise contract_error(component, seen, "indices of the candidates of each instance, from 0")
    if (negative := predictions.margins[~(predictions.margins >= 0)]).size:
        problem = f"a margin of judge is {negative[0]:g}"
        raise contract_error(component, problem, "numbers that are not negative")
    _check_range(predictions.probabilities, component, "probabilities of judge")
    if isinstance(rule, RaisesFlags) and callable(rule.limit):
        limit: Any = rule.limit(None)
        if not isinstance(limit, int | float | np.number) or np.isnan(limit):
            seen = f"limit returned {'nan' if isinstance(limit, float) else describe_value(limit)}"
            raise contract_error(component, seen, "the probability from which it flags, a number")
    probabilities: Any = rule.probabilities(scored)
    if probabilities is None:
        return
    n_candidates = len(scored.scores)
    if (
        not isinstance(probabilities, np.ndarray)
        or probabilities.shape != (n_candidates,)
        or probabilities.dtype.kind != "f"
    ):
        wanted = f"None, or an array of {n_candidates:,} floats, one per candidate"
        raise contract_error(component, f"probabilities returned {describe_value(probabilities)}", wanted)
    _check_range(probabilities, component, "what probabilities returned")


def _check_range(values: NDArray[np.floating[Any]], component: str, what: str) -> None:
    """Raise D414 unless all values are probabilities."""
    bad = values[~((values >= -_ROUNDING) & (values <= 1 + _ROUNDING))]  # also true for NaN
    if len(bad):
        raise contract_error(component, f"{what} has {bad[0]:g}", "numbers from 0 to 1")


_DEFAULT_RULES: dict[Between, str] = {
    "words": "disambig.Corrections.v1",
    "labels": "disambig.Labels.v1",
    "lists": "disambig.Corrections.v1",
}
"""Default decision rules by the kind of candidates, for tasks in a text."""
_RULE_OF_MISTAKES = "disambig.Mistakes.v1"
"""Default rule of a correction task if there is an error corpus."""
_RULE_OF_ITEMS = "disambig.BestOfList.v1"
"""Default rule of a task without a text, in which there is nothing to correct."""
_CANDIDATES: dict[Between, str] = {
    "words": "the words of a group",
    "labels": "labels",
    "lists": "candidates of each instance",
}


def default_rule_config(task: Task, *, mistakes: bool = False) -> dict[str, str]:
    """Return the config section of the default decision rule of a task.

    `mistakes` says whether there is an error corpus to train on.
    """
    decided = decides(task)
    if mistakes and decided.corrects:
        return {"@disambig_judges": _RULE_OF_MISTAKES}
    if decided.where == "items" and decided.between == "lists":
        return {"@disambig_judges": _RULE_OF_ITEMS}
    return {"@disambig_judges": _DEFAULT_RULES[decided.between]}


def check_decision_rule(rule: DecisionRule, task: Task) -> None:
    """Check that a decision rule supports a task. Raises D422 if it does not."""
    supported, seen = judged_between(rule), decides(task).between
    if seen not in supported:
        raise UserError(
            "D422",
            judge=type(rule).__name__,
            known=" or ".join(_CANDIDATES[entry] for entry in supported),
            task=task.name,
            seen=_CANDIDATES[seen],
        )


def check_error_corpus(rule: DecisionRule, task: Task) -> None:
    """Check that an error corpus is of use for a task and its decision rule.

    Raises D427 for a task that does not correct words, D429 for a rule that does not learn from mistakes.
    """
    if not decides(task).corrects:
        raise UserError("D427", task=task.name, seen=_CANDIDATES[decides(task).between])
    if not learns_mistakes(rule):
        raise UserError("D429", judge=type(rule).__name__)
