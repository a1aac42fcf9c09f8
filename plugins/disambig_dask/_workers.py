"""The workers of a cluster as a job sees them: their start-up, their state, and the items they hold."""

from __future__ import annotations

import logging
import statistics
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from disambig.api import UserError
from disambig.api.runners import PendingItem, last_line

from .serving import ItemResult, WorkSetup, check_environment, expected_environment, load_work, start_work
from .session import ClusterSession, SessionEvent

if TYPE_CHECKING:
    from .engine import DaskRunner


SLOW_SECONDS = 10.0  # an item must take at least this long before another worker tries it, too,
_SLOW_FACTOR = 3  # and at least this many times the median duration


@dataclass(slots=True, eq=False)
class Attempt:
    """An item sent to a worker; `began` is the time at which the worker started it, None before."""

    number: int
    task: PendingItem
    worker: ClusterWorker
    future: Any = None
    began: float | None = None


@dataclass(slots=True, eq=False)
class ClusterWorker:
    """A worker process, and the attempts that were sent to it and have no result yet, in order."""

    id: str
    address: str
    # number of items that are sent at a time: an item that waits on the worker saves a round trip. With
    # several threads the order would be undefined, and so would be the item that ended a worker
    depth: int
    loaded_work: Any = None
    starting: Any = None
    ready: bool = False
    unfit: bool = False
    hung: set[int] = field(default_factory=set)  # numbers of attempts that were abandoned because they hung
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def usable(self) -> bool:
        """Whether items may be sent to it."""
        return self.ready and not self.unfit and not self.hung


@dataclass(slots=True)
class WorkerPool:
    """All workers by their ids, which no later process reuses, and the durations of recent items."""

    workers: dict[str, ClusterWorker] = field(default_factory=dict)
    durations: deque[float] = field(default_factory=lambda: deque(maxlen=101))

    @property
    def usable(self) -> list[ClusterWorker]:
        """The workers that items may be sent to."""
        return [worker for worker in self.workers.values() if worker.usable]

    def with_room(self) -> ClusterWorker | None:
        """Return the worker with the fewest items, if it can take another one."""
        free = [worker for worker in self.usable if len(worker.attempts) < worker.depth]
        return min(free, key=lambda worker: len(worker.attempts), default=None)

    def idle(self) -> ClusterWorker | None:
        """Return a worker without items."""
        return next((worker for worker in self.usable if not worker.attempts), None)

    def stuck_behind(self) -> Attempt | None:
        """Return an attempt that waits behind another one on its worker, the last in line first."""
        for worker in self.workers.values():
            if len(worker.attempts) > 1 and worker.attempts[-1].began is None:
                return worker.attempts[-1]
        return None

    def slowest(self, now: float) -> Attempt | None:
        """Return the attempt that takes far longer than usual, if no other worker tries the same item."""
        usual = statistics.median(self.durations) if self.durations else 0.0
        latest = now - max(SLOW_SECONDS, _SLOW_FACTOR * usual)
        attempts = (attempt for worker in self.workers.values() for attempt in worker.attempts[:1])
        late = [
            attempt for attempt in attempts if attempt.task.running == 1 and (attempt.began or now) < latest
        ]
        return min(late, key=lambda attempt: attempt.began or now, default=None)


_MAX_ENDED = 3  # workers that end while they load; the run is given up then if none is ready
_DEPTH = 2  # see `ClusterWorker`
_log = logging.getLogger("disambig.dask")


@dataclass(slots=True)
class WorkerStartup:
    """Workers of the run and their start-up state."""

    engine: DaskRunner
    session: ClusterSession
    pool: WorkerPool
    setup: WorkSetup
    numbers: Iterator[int]
    open: bool = False  # the first item may be sent, or was sent
    seen: bool = False  # the scheduler's list of workers has come
    n_ended: int = 0  # workers that ended before they were ready
    starting: dict[int, ClusterWorker] = field(default_factory=dict)
    expected: dict[str, Any] | None = None
    too_few_since: float = field(default_factory=time.monotonic)

    def complete(self) -> bool:
        """Return True if items may be sent: all workers are ready, or sending has started already."""
        workers = self.pool.workers
        if not self.open and len(workers) >= self.engine.workers and not self.starting:
            self.open = bool(self.pool.usable)
        return self.open

    def update_workers(self, addresses: Mapping[str, tuple[str, Mapping[str, Any]]]) -> list[ClusterWorker]:
        """Update the set of workers from the scheduler's list, and return the workers that are lost.

        Raises D858 if workers end before any was ready.
        """
        workers = self.pool.workers
        self.seen = True
        for name in addresses.keys() - workers.keys():
            address, details = addresses[name]
            self._start(name, address, details)
        ended = [workers.pop(name) for name in workers.keys() - addresses.keys()]
        for worker in ended:  # a worker without the packages that the work needs ends again and again
            if not worker.ready and not worker.unfit:
                self.n_ended += 1
                self.starting = {n: started for n, started in self.starting.items() if started is not worker}
        if self.n_ended >= _MAX_ENDED and not self.open and not self.pool.usable:
            raise UserError("D858", problem="see the worker's log", times=self.n_ended)
        return ended

    def check_workers(self) -> None:
        """Check that there are enough workers, or wait for them until the patience ends.

        Raises D855 if too few workers come.
        """
        wanted = 1 if self.open else self.engine.workers
        now = time.monotonic()
        if len(self.pool.workers) >= wanted:
            self.too_few_since = now
        self.session.request_workers(self.seen and not self.pool.workers)
        if now - self.too_few_since > self.engine.patience:
            numbers = {"seen": len(self.pool.workers), "wanted": wanted, "seconds": self.engine.patience}
            raise UserError("D855", address=self.session.address, **numbers)

    def handle_event(self, event: SessionEvent) -> bool:
        """Record how the start of a worker ended; return False for any other event.

        Raises D856 and D857 before the first item is sent.
        """
        worker = self.starting.pop(event.number, None)
        if worker is None:
            return False
        if event.kind in ("gone", "killed"):
            if event.kind == "gone":
                self.session.lost = True
            elif self.pool.workers.get(worker.id) is worker:  # another process at its address: start again
                self._begin(worker)
            return True
        try:
            self._check(worker, event)
            worker.ready = True
        except UserError as problem:
            if not self.open:
                raise
            worker.unfit = True
            _log.warning("%s", problem)
        return True

    def _start(self, name: str, address: str, details: Mapping[str, Any]) -> None:
        """Add a worker to the pool and send the work to it."""
        threads = int(details.get("nthreads", 1))
        worker = ClusterWorker(name, address, _DEPTH if threads == 1 else 1)
        self.pool.workers[name] = worker
        if threads > 1:
            message = (
                "the worker %s has %d threads, and one item is done at a time: start more workers with "
                "--nthreads 1"
            )
            _log.info(message, address, threads)
        self._begin(worker)

    def _begin(self, worker: ClusterWorker) -> None:
        """Send the work to a worker; its start-up ends with an event."""
        compared = self.engine.scheduler is not None  # workers of this machine have its environment
        address, number = worker.address, next(self.numbers)
        worker.loaded_work = self.session.submit_kept(number, address, load_work, self.setup)
        number = next(self.numbers)
        self.starting[number] = worker
        worker.starting = self.session.submit(number, address, start_work, worker.loaded_work, compared)
        if compared and self.expected is None:
            self.expected = expected_environment(self.setup.work)

    def _check(self, worker: ClusterWorker, event: SessionEvent) -> None:
        """Check that a worker has loaded the work. Raises D856 or D857, or the error of a local worker."""
        if event.kind == "failed":
            raise UserError("D857", address=worker.address, problem=event.value)
        answer: ItemResult = event.value
        if answer.kind == "user error":
            if self.engine.scheduler is None:
                raise answer.value
            raise UserError("D857", address=worker.address, problem=answer.value)
        if answer.kind == "bug":
            _log.debug("%s", answer.value)
            raise UserError("D857", address=worker.address, problem=last_line(answer.value))
        if self.expected is not None:
            check_environment(self.expected, answer.value, worker.address)
