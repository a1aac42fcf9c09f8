"""Progress of work in stages, on a terminal's standard error and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from disambig.training.trainer import Progress


@contextmanager
def stages() -> Iterator[Progress]:
    """Yield a callback ``(stage, done, total)`` that draws one bar a stage."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True)) as bars:
        ids: dict[str, object] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in ids:
                ids[stage] = bars.add_task(stage, total=total)
            bars.update(ids[stage], completed=done + 1)  # type: ignore[arg-type]

        yield show
