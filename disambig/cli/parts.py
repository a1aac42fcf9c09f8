"""What a plugin brings, in lines: each part with its settings, their defaults and its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from disambig.errors import UserError
from disambig.settings import settings_of
from disambig.shelves import COMMANDS, Part


def lines_of(part: Part, *, whole: bool = False) -> Iterator[str]:
    """Yield what a part's docstring says, its first sentence or the whole of it, and its settings."""
    try:
        factory = part.load()
    except UserError as problem:
        yield f"BROKEN: {problem}"
        return
    if part.kind == COMMANDS:
        yield f"disambig {part.command}: {part.summary}"
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
    """Return the settings of a class or function as one writes them, ``name: type = default``."""
    try:
        parameters = settings_of(factory).values()
    except (TypeError, ValueError):  # what is written in C may have none
        return []
    found = []
    for parameter in parameters:
        if isinstance(parameter.annotation, str):  # shown as it is written, without quotes
            text = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
            default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
            found.append(f"{text}: {parameter.annotation}{default}")
        else:
            found.append(str(parameter))
    return found


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n")[0].split())
    end = re.search(r"\.(?= [A-Z(])", paragraph)  # "et al. 2006" goes on
    return paragraph[: end.end()] if end else paragraph
