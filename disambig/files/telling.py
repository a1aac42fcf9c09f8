"""What is broken in a file of examples: reported with its line, or an error."""

from __future__ import annotations

from collections.abc import Callable

from disambig.errors import UserError

Tell = Callable[[str], None]
"""Gets one line, with its code."""
Say = Callable[[str, str], None]
"""Gets file and line, and what is broken there."""


def teller(*, strict: bool, tell: Tell | None) -> Say:
    """Return what to do with a broken place: raise D488, or tell of it, if there is someone to tell."""

    def say(where: str, problem: str) -> None:
        error = UserError("D488", where=where, problem=problem)
        if strict:
            raise error
        if tell is not None:
            tell(str(error))

    return say
