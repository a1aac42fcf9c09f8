"""Notes on standard error, the first ones of many."""

from __future__ import annotations

from collections.abc import Callable

from disambig.cli.progress import say

MOST = 20


def notes() -> Callable[[str], None]:
    """Return what prints a note a call, and after `MOST` of them that there are more."""
    said = 0

    def tell(message: str) -> None:
        nonlocal said
        said += 1
        if said <= MOST:
            say(f"note: {message}")
        elif said == MOST + 1:
            say("note: more like these are not shown")

    return tell
