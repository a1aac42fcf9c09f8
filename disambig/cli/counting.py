"""Where ``disambig counts`` works: here and at once, or as a job that goes on after a kill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disambig.batch.engines import LOCAL, EngineOptions

if TYPE_CHECKING:
    from disambig.counts.jobs.job import Place


@dataclass(frozen=True, slots=True)
class Where:
    """The options that say where work is done."""

    engine: str
    options: EngineOptions
    job: Path | None

    @property
    def is_job(self) -> bool:
        """Whether it is a job."""
        here = self.engine == LOCAL and self.options == EngineOptions()
        return self.job is not None or not here

    def place(self, output: Path, command: dict[str, Any], temporary: Path | None = None) -> Place:
        """Return the place of a job for this table: a directory that was named, or one that goes at the end.

        Raises
        ------
        UserError
            Those of `engines.engine`.
        """
        from disambig.batch.engines import engine
        from disambig.counts.jobs.job import Place

        folder = temporary or output.parent
        directory = self.job or folder / f"{output.name}.job"
        return Place(directory.absolute(), self.job is not None, engine(self.engine, self.options), command)


@contextmanager
def goes_on() -> Iterator[None]:
    """Tell who interrupts a job that nothing is lost."""
    from disambig.cli.progress import say

    try:
        yield
    except KeyboardInterrupt:
        say("disambig: interrupted; started again with the same options, the job goes on from here")
        raise
