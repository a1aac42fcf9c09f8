"""Notes on standard error, the first ones of many."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

MOST = 20


def notes() -> Callable[[str], None]:
    """Return what prints a note a call, and after `MOST` of them that there are more."""
    said = 0

    def tell(message: str) -> None:
        nonlocal said
        said += 1
        if said <= MOST:
            typer.echo(f"note: {message}", file=sys.stderr)
        elif said == MOST + 1:
            typer.echo("note: more like these are not shown", file=sys.stderr)

    return tell
