"""The engine ``dask``: a runner that processes items on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from disambig.api import UserError
from disambig.api.runners import EngineOptions, ItemQueue, Runner, RunOptions, Work, WorkOutcome

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .session import PersistentCluster

MAX_ATTEMPTS = 3
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class DaskRunner:
    """Runner on a Dask cluster.

    Attributes
    ----------
    scheduler : str or None
        Address (``tcp://host:8786``) or file (``scheduler.json``) of the scheduler; None starts a cluster on
        this machine for the duration of the job.
    workers : int
        Number of processes of a local cluster; with a scheduler, the number of workers to wait for.
    timeout : float or None
        Seconds that an item may take before its worker is ended.
    tries : int
        An item is set aside after it has ended, or timed out on, this number of workers.
    patience : float
        Seconds to wait for a lost scheduler, and for workers if there are none.
    """

    scheduler: str | None = None
    workers: int = 1
    timeout: float | None = None
    tries: int = MAX_ATTEMPTS
    patience: float = PATIENCE

    def run(self, work: Work, items: Iterable[Any], **options: Unpack[RunOptions]) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item: in order if asked for, otherwise as they finish.

        Raises D853 to D855 if there is no cluster; D856 and D857 if a worker does not fit the work; D858 if
        no worker can load what it needs; any user error that the work raises.
        """
        from ._run import ClusterRun

        queue = ItemQueue(iter(items), self.tries, **options)
        yield from ClusterRun(self, work, queue).outcomes()

    @contextmanager
    def staying(self) -> Iterator[Runner]:
        """Yield a runner like this one whose local cluster is kept until the block ends."""
        from .session import PersistentCluster

        kept = PersistentCluster()
        try:
            yield _KeptClusterRunner(self, kept)
        finally:
            kept.close()


@dataclass(frozen=True, slots=True)
class _KeptClusterRunner:
    """Runner of several consecutive runs on one cluster."""

    engine: DaskRunner
    kept: PersistentCluster

    def run(self, work: Work, items: Iterable[Any], **options: Unpack[RunOptions]) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item: see `DaskRunner.run`."""
        from ._run import ClusterRun

        queue = ItemQueue(iter(items), self.engine.tries, **options)
        yield from ClusterRun(self.engine, work, queue, self.kept).outcomes()


def make_engine(options: EngineOptions) -> DaskRunner:
    """Return the runner for the options of a command.

    Raises D850 if Dask is not installed.
    """
    if find_spec("distributed") is None:
        raise UserError("D850")
    return DaskRunner(options.scheduler, options.workers, options.timeout)
