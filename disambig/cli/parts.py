"""What a plugin brings, in lines: each part with its parameters, their defaults and its docstring."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from disambig.errors import UserError
from disambig.shelves import Part


def lines_of(part: Part, *, whole: bool = False) -> Iterator[str]:
    """Yield what a part's docstring says, its first sentence or the whole of it, and its parameters."""
    try:
        factory = part.load()
    except UserError as problem:
        yield f"BROKEN: {problem}"
        return
    said = inspect.getdoc(factory) or ""
    if whole:
        yield from said.splitlines()
        if said:
            yield ""
    elif said:
        yield _first_sentence(said)
    yield from (f"  {parameter}" for parameter in parameters_of(factory))


def parameters_of(factory: Callable[..., Any]) -> list[str]:
    """Return the parameters of a class or function as one writes them, ``name: type = default``."""
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):  # what is written in C may have none
        return []
    made = _made_defaults(factory)
    found = []
    for parameter in parameters:
        if parameter.name in made:
            parameter = parameter.replace(default=made[parameter.name])
        if isinstance(parameter.annotation, str):  # shown as it is written, without quotes
            text = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
            default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
            found.append(f"{text}: {parameter.annotation}{default}")
        else:
            found.append(str(parameter))
    return found


def _made_defaults(factory: Any) -> dict[str, Any]:
    """Return the defaults of a dataclass that are made anew for each object."""
    if not dataclasses.is_dataclass(factory):
        return {}
    return {
        field.name: field.default_factory()
        for field in dataclasses.fields(factory)
        if field.default_factory is not dataclasses.MISSING
    }


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n")[0].split())
    end = re.search(r"\.(?= [A-Z(])", paragraph)  # "et al. 2006" goes on
    return paragraph[: end.end()] if end else paragraph
