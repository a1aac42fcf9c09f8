"""The engine ``dask``: a runner whose items are worked on by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from disambig.api import UserError
from disambig.api.runners import EngineOptions, ProgressCallback, Runner, Work, WorkOutcome, ignore_progress

if TYPE_CHECKING:
    from .session import PersistentCluster

MAX_ATTEMPTS = 3
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class DaskRunner:
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
    tries: int = MAX_ATTEMPTS
    patience: float = PATIENCE

    def run(
        self,
        work: Work,
        items: Iterable[Any],
        *,
        ordered: bool = False,
        tell: ProgressCallback = ignore_progress,
    ) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item, in their order if asked, else as they are done.

        Raises
        ------
        UserError
            D853 to D855 where there is no cluster; D856 and D857 where a worker is not fit for the work;
            D858 where none can load what it needs; what the work raises as such.
        """
        from ._run import ClusterRun

        yield from ClusterRun(self, work, iter(items), ordered, tell).outcomes()

    @contextmanager
    def staying(self) -> Iterator[Runner]:
        """Give a runner like this one, whose cluster of this machine stands until the block ends."""
        from .session import PersistentCluster

        kept = PersistentCluster()
        try:
            yield _KeptClusterRunner(self, kept)
        finally:
            kept.close()


@dataclass(frozen=True, slots=True)
class _KeptClusterRunner:
    """The runner of several runs, one after the other, on one cluster."""

    engine: DaskRunner
    kept: PersistentCluster

    def run(
        self,
        work: Work,
        items: Iterable[Any],
        *,
        ordered: bool = False,
        tell: ProgressCallback = ignore_progress,
    ) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item: see `Dask.run`."""
        from ._run import ClusterRun

        yield from ClusterRun(self.engine, work, iter(items), ordered, tell, self.kept).outcomes()


def make_engine(options: EngineOptions) -> DaskRunner:
    """Return the runner that options ask for.

    Raises
    ------
    UserError
        D850 where Dask is not installed.
    """
    if find_spec("distributed") is None:
        raise UserError("D850")
    return DaskRunner(options.scheduler, options.workers, options.timeout)
