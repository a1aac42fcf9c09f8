"""The settings of a part: what a config can give. What `fit` learns, or the core sets, is none."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any, TypeVar

T = TypeVar("T")
_SETTING = "disambig setting"


def fitted_field(default: T) -> T:
    """Return the default of a field that no config sets, in a dataclass that is a part.

    Such a field is what `fit` learns, or what the core gives: ``words: tuple[str, ...] = no_setting(())``.
    """
    field: Any = dataclasses.field(default=default, metadata={_SETTING: False})
    return field  # to type checkers a field is its default, as with `dataclasses.field`


def get_settings(factory: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the settings that a class or function takes, with their true defaults.

    Raises
    ------
    TypeError, ValueError
        For what is written in C and does not tell.
    """
    fields = _fields(factory)
    settings = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        field = fields.get(name)
        if field is not None and not field.metadata.get(_SETTING, True):
            continue
        if field is not None and field.default_factory is not dataclasses.MISSING:
            parameter = parameter.replace(default=field.default_factory())
        settings[name] = parameter
    return settings


def _fields(factory: Any) -> dict[str, dataclasses.Field[Any]]:
    made = dataclasses.fields(factory) if dataclasses.is_dataclass(factory) else ()
    return {field.name: field for field in made}
