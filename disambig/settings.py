"""The settings of a component that a config can set, as opposed to fields that are learned by `fit`.

A component checks its settings by constraints: ``validate_settings(self, passes=COUNT, alpha=ABOVE_ZERO)``.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from numbers import Integral, Real
from typing import Any, TypeVar

from disambig.errors import UserError, nearest_first

T = TypeVar("T")
_SETTING = "disambig setting"


def fitted_field(default: T) -> T:
    """Return the default of a dataclass field that a config cannot set.

    Such a field is learned by `fit` or set by the core: ``words: tuple[str, ...] = fitted_field(())``.
    """
    field: Any = dataclasses.field(default=default, metadata={_SETTING: False})
    return field  # typed like the default, as `dataclasses.field` is


def get_settings(factory: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the settings that a class or function accepts, with their defaults.

    Raises `TypeError` or `ValueError` if the factory is written in C and has no signature.
    """
    fields = {}
    if dataclasses.is_dataclass(factory):
        fields = {field.name: field for field in dataclasses.fields(factory)}
    settings = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        field = fields.get(name)
        if field is not None and not field.metadata.get(_SETTING, True):
            continue
        if field is not None and field.default_factory is not dataclasses.MISSING:
            parameter = parameter.replace(default=field.default_factory())
        settings[name] = parameter
    return settings


def is_number(value: Any) -> bool:
    """Return True if `value` is a real number in the range of floats, NaN or infinity, but not a bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    return not isinstance(value, Integral) or abs(int(value)) <= sys.float_info.max


def is_whole(value: Any) -> bool:
    """Return True if `value` is an integer of any size, but not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


@dataclasses.dataclass(frozen=True, slots=True)
class Constraint:
    """The values that a setting may have.

    Attributes
    ----------
    code : str
        Error code for invalid values. Its message may use the fields ``setting`` and ``value``.
    accepts : callable
        Returns True for a valid value; called with values of any type.
    details : callable
        Returns further fields of the message for an invalid value.
    """

    code: str
    accepts: Callable[[Any], bool]
    details: Callable[[Any], Mapping[str, Any]] = lambda value: {}

    @property
    def or_none(self) -> Constraint:
        """The same constraint, but None is valid too."""
        return dataclasses.replace(self, accepts=lambda value: value is None or self.accepts(value))

    def check(self, setting: str, value: Any) -> None:
        """Raise UserError `code` for an invalid value; `setting` is its name in the message."""
        if not self.accepts(value):
            raise UserError(self.code, setting=setting, value=value, **self.details(value))


def validate_settings(component: object, /, **constraints: Constraint) -> None:
    """Check the fields of a component in the order of `constraints`.

    Raises
    ------
    UserError
        The error of the first constraint that is violated; the setting is called ``Class.field``.
    """
    for name, constraint in constraints.items():
        constraint.check(f"{type(component).__name__}.{name}", getattr(component, name))


def real_number(code: str, accepts: Callable[[Any], bool]) -> Constraint:
    """Return the constraint for numbers for which `accepts` returns True."""
    return Constraint(code, lambda value: is_number(value) and accepts(value))


def whole_number(code: str, minimum: int) -> Constraint:
    """Return the constraint for integers of at least `minimum`."""
    return Constraint(code, lambda value: is_whole(value) and value >= minimum, lambda _: {"least": minimum})


def whole_number_between(minimum: int, maximum: int, code: str = "D513") -> Constraint:
    """Return the constraint for integers from `minimum` to `maximum`."""
    wanted = f"a whole number from {minimum:,} to {maximum:,}"
    return Constraint(
        code,
        lambda value: is_whole(value) and minimum <= value <= maximum,
        lambda value: {"least": minimum, "most": maximum, "wanted": wanted},
    )


def choice(code: str, names: Sequence[str]) -> Constraint:
    """Return the constraint for `names`. The message may use ``names``: the valid ones, nearest first."""
    return Constraint(
        code,
        lambda value: isinstance(value, str) and value in names,
        lambda value: {"names": nearest_first(str(value), names)},
    )


MAX_C = 1e12
"""Weights stop changing long before this C; sums and squares of much larger numbers would overflow."""
ABOVE_ZERO = real_number("D760", lambda value: 0 < value < math.inf)
NON_NEGATIVE = real_number("D780", lambda value: 0 <= value < math.inf)
SHARE_BELOW_ONE = real_number("D770", lambda value: 0 <= value < 1)
COUNT, NON_NEGATIVE_COUNT = whole_number("D452", 1), whole_number("D457", 0)
SVM_C = Constraint(
    "D700",
    lambda value: is_number(value) and 0 < value <= MAX_C,
    lambda value: {"seen": repr(value), "most": MAX_C},
)
DECODER = Constraint(
    "D711",
    lambda value: value is None or (hasattr(value, "best") and hasattr(value, "marginals")),
    lambda value: {"seen": type(value).__name__},
)


def with_median(learner: T, setting: str, reports: Sequence[Mapping[str, Any]]) -> T:
    """Return a learner with the median of what earlier fits chose for a setting.

    The learner is returned unchanged if its own setting is not None, or if a report has no choice.
    """
    from statistics import median

    chosen: list[Any] = [report.get(setting) for report in reports]
    if getattr(learner, setting) is not None or not chosen or None in chosen:
        return learner
    kind = int if all(isinstance(value, int) for value in chosen) else float
    changed: T = dataclasses.replace(learner, **{setting: kind(median(chosen))})  # type: ignore[type-var]
    return changed
