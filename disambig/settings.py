"""The settings of a component that a config can set, as opposed to fields that are learned by `fit`."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any, TypeVar

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

    Raises
    ------
    TypeError, ValueError
        If the factory is written in C and has no signature.
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
