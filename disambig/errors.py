"""Errors that a user can correct; their codes and messages are in `disambig.messages`.

Bugs of disambig raise ordinary exceptions with a traceback.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from disambig.formatting import escape_control_chars, with_article
from disambig.messages import MESSAGES as MESSAGES

_NAMES = ("path", "where", "output", "directory", "folder", "copy")
"""Fields that can be file names, in which a line end is shown as an escape, not as a blank."""


class UserError(ValueError):
    """An error that the user can correct, shown as one line without a traceback; exit status 2.

    Parameters
    ----------
    code : str
        A key of `MESSAGES`.
    **values
        Values of the fields of the message.
    """

    def __init__(self, code: str, **values: object) -> None:
        self.code = code
        self.values = values
        super().__init__(f"[{code}] {self.text}")

    @property
    def text(self) -> str:
        """The message as one line, without its code, for use inside another message."""
        values = {
            name: str(value).replace("\n", "\\x0a") if name in _NAMES else value
            for name, value in self.values.items()
        }
        return escape_control_chars(" ".join(MESSAGES[self.code].format(**values).split("\n")))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.code, self.values)


def contract_error(component: str, problem: str, wanted: str) -> UserError:
    """Return the error for a component that violates its contract, a mistake of the plugin's author.

    `component`: its description, as `disambig.registry.describe_component` names it.
    `problem`: what is wrong, as a clause: ``"it has no name"``.
    `wanted`: what the contract requires instead, as a noun phrase.
    """
    return UserError("D414", component=component, problem=problem, wanted=wanted)


def check_call(component: str, entry: object, method: str, wanted: str, *args: None, **named: None) -> None:
    """Raise D414 unless an entry has a method that accepts the arguments with which the core calls it.

    `component`: the description of the entry; `wanted`: how the method is called, ``"fit(batch)"``.
    `args`, `named`: None for each argument.
    """
    function = getattr(entry, method, None)
    if not callable(function):
        raise contract_error(component, f"it has no method {method}", wanted)
    check_function(component, function, method, wanted, *args, **named)


def check_function(
    component: str, function: Callable[..., Any], name: str, wanted: str, *args: None, **named: None
) -> None:
    """Raise D414 unless a function of an entry accepts the arguments with which the core calls it."""
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):  # functions written in C may have no signature
        return
    try:
        parameters.bind(*args, **named)
    except TypeError as problem:
        raise contract_error(component, f"{name}{parameters} cannot be called: {problem}", wanted) from None


def describe_value(value: object) -> str:
    """Return the kind of a value for a message: ``an array of int32 of shape (3,)``, ``a list``, ``None``."""
    name, shape = type(value).__name__, getattr(value, "shape", None)
    if name == "ndarray":
        return f"an array of {value.dtype} of shape {shape}"  # type: ignore[attr-defined]
    kind = "None" if value is None else with_article(name)
    return f"{kind} of shape {shape}" if shape else kind


def _rebuild(code: str, values: dict[str, object]) -> UserError:
    return UserError(code, **values)


_LISTED = 12
"""Maximum number of names that a message lists completely."""
_NEAREST = 3


def nearest_first(name: str, names: Iterable[str]) -> str:
    """Join names for a message, those nearest to `name` first.

    Up to 12 names are all listed; of more names, the nearest three are listed and the others counted.
    """
    candidates = sorted(set(names))
    if not candidates:
        return "none (is the plugin that provides it installed? see `disambig plugins`)"
    similarity = {candidate: _similarity(name.lower(), candidate.lower()) for candidate in candidates}
    ordered = sorted(candidates, key=lambda candidate: [-ratio for ratio in similarity[candidate]])
    if len(ordered) > _LISTED:
        return f"{', '.join(ordered[:_NEAREST])} and {len(ordered) - _NEAREST:,} more"
    near = [candidate for candidate in ordered if similarity[candidate][0] >= 0.5]
    return ", ".join(near + [other for other in candidates if other not in near])


def _similarity(name: str, candidate: str) -> tuple[float, float]:
    """Return how similar a name is to the nearest part of a candidate, such as `SumLM`, and to all of it."""
    parts = [candidate, *re.split("[./]", candidate)]
    ratios = [difflib.SequenceMatcher(None, name, part, autojunk=False).ratio() for part in parts]
    return max(ratios), ratios[0]
