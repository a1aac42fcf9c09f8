"""The engine ``dask``: a runner whose items are worked on by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from disambig.api import UserError
from disambig.api.runners import EngineOptions, Outcome, Runner, Tell, Work, nothing

if TYPE_CHECKING:
    from disambig_dask.session import KeptCluster

TRIES = 3
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Dask:
    """The runner on a cluster of Dask.

    Attributes
    ----------
    scheduler : str or None
        Its address (``tcp://host:8786``) or its file (``scheduler.json``); None: a cluster of this machine
        that is there for as long as the job.
    workers : int
        Of a cluster of this machine, its processes; else how many workers to wait for.
    timeout : float or None
        Seconds that an item may take before its worker is ended.
    tries : int
        After so many workers that an item ended, or on which it took too long, it is set aside.
    patience : float
        Seconds to wait for a scheduler that was lost, and for workers where there are none.
    """

    scheduler: str | None = None
    workers: int = 1
    timeout: float | None = None
    tries: int = TRIES
    patience: float = PATIENCE

    def run(
        self, work: Work, items: Iterable[Any], *, ordered: bool = False, tell: Tell = nothing
    ) -> Iterator[Outcome]:
        """Yield the outcome of each item, in their order if asked, else as they are done.

        Raises
        ------
        UserError
            D853 to D855 where there is no cluster; D856 and D857 where a worker is not fit for the work;
            D858 where none can load what it needs; what the work raises as such.
        """
        from disambig_dask.course import Course

        yield from Course(self, work, iter(items), ordered, tell).outcomes()

    @contextmanager
    def staying(self) -> Iterator[Runner]:
        """Give a runner like this one, whose cluster of this machine stands until the block ends."""
        from disambig_dask.session import KeptCluster

        kept = KeptCluster()
        try:
            yield _Staying(self, kept)
        finally:
            kept.close()


@dataclass(frozen=True, slots=True)
class _Staying:
    """The runner of several runs, one after the other, on one cluster."""

    engine: Dask
    kept: KeptCluster

    def run(
        self, work: Work, items: Iterable[Any], *, ordered: bool = False, tell: Tell = nothing
    ) -> Iterator[Outcome]:
        """Yield the outcome of each item: see `Dask.run`."""
        from disambig_dask.course import Course

        yield from Course(self.engine, work, iter(items), ordered, tell, self.kept).outcomes()


def engine(options: EngineOptions) -> Dask:
    """Return the runner that options ask for.

    Raises
    ------
    UserError
        D850 where Dask is not installed.
    """
    if find_spec("distributed") is None:
        raise UserError("D850")
    return Dask(options.scheduler, options.workers, options.timeout)
