"""Constraints for the settings of kernels and learners."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from disambig.api.settings import Constraint, is_number

WEIGHT_CHOICES = ("alignment", "loo")
MOST_REGULARISATION, MOST_DEGREE = 1e100, 100

REGULARISATION = Constraint(
    "D776",
    lambda value: (
        value in ("auto", "loo")
        if isinstance(value, str)
        else is_number(value) and 0 < value <= MOST_REGULARISATION
    ),
)
DEGREE = Constraint("D513", lambda value: value <= MOST_DEGREE, lambda _: {"least": 1, "most": MOST_DEGREE})


def group_weights_constraint(choices: Sequence[str] = ()) -> Constraint:
    """Return the constraint (D777) for None, one of `choices`, or a mapping of weights of feature groups."""

    def accepts(value: Any) -> bool:
        if isinstance(value, Mapping):
            weights = list(value.values())
            return all(is_number(weight) and 0 <= weight < math.inf for weight in weights) and any(weights)
        return value is None or (isinstance(value, str) and value in choices)

    return Constraint("D777", accepts)


def _is_kernel(value: Any) -> bool:
    traits = ("is_linear", "rows", "gram")
    return not isinstance(value, type) and all(hasattr(value, name) for name in traits)


KERNEL = Constraint(
    "D781",
    _is_kernel,
    lambda value: {"seen": value.__name__ if isinstance(value, type) else type(value).__name__},
)
