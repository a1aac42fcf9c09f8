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
from disambig.api.runners import ProgressCounter, WorkOutcome, last_line

from .serving import ItemResult, WorkSetup, check_environment, expected_environment, load_work, start_work
from .session import ClusterSession, SessionEvent

if TYPE_CHECKING:
    from .engine import DaskRunner


SLOW_FACTOR = 10.0  # seconds that an item takes at least before another worker tries it as well
_REMEMBERED_DURATIONS = 3  # and as often as long as usual


@dataclass(slots=True)
class PendingItem:
    """An item on its way: how often it was tried for good, and the tries that run now."""

    index: int
    item: Any
    counter: ProgressCounter
    failed: int = 0
    running: list[Attempt] = field(default_factory=list)
    done: bool = False

    def outcome(self, result: Any = None, problem: str | None = None) -> WorkOutcome:
        """Return the outcome."""
        return WorkOutcome(self.index, self.item, result, problem, self.counter.amount)


@dataclass(slots=True, eq=False)
class Attempt:
    """A task that was sent to a worker, which has begun it at `began` or not yet."""

    number: int
    task: PendingItem
    worker: ClusterWorker
    future: Any = None
    began: float | None = None


@dataclass(slots=True, eq=False)
class ClusterWorker:
    """A worker process; what it was sent and has not answered, in this order.

    Attributes
    ----------
    depth : int
        How much it is sent at a time: what waits there spares the way to and fro. With several threads the
        order would not be sure, and so not which item it was that ended a worker.
    """

    id: str
    address: str
    depth: int
    loaded_work: Any = None
    starting: Any = None
    ready: bool = False
    unfit: bool = False
    hung: set[int] = field(default_factory=set)  # numbers of tries that were given up
    tries: list[Attempt] = field(default_factory=list)

    @property
    def usable(self) -> bool:
        """Whether it can be sent items."""
        return self.ready and not self.unfit and not self.hung


@dataclass(slots=True)
class WorkerPool:
    """All workers by their ids, which no other process has after them, and how long items usually take."""

    workers: dict[str, ClusterWorker] = field(default_factory=dict)
    durations: deque[float] = field(default_factory=lambda: deque(maxlen=101))

    @property
    def usable(self) -> list[ClusterWorker]:
        """Those that can be sent items."""
        return [worker for worker in self.workers.values() if worker.usable]

    def with_room(self) -> ClusterWorker | None:
        """Return the worker that has least to do, if it can take an item."""
        free = [worker for worker in self.usable if len(worker.tries) < worker.depth]
        return min(free, key=lambda worker: len(worker.tries), default=None)

    def idle(self) -> ClusterWorker | None:
        """Return a worker that has nothing to do."""
        return next((worker for worker in self.usable if not worker.tries), None)

    def stuck_behind(self) -> Attempt | None:
        """Return a try that waits behind another on its worker, the last in line first."""
        for worker in self.workers.values():
            if len(worker.tries) > 1 and worker.tries[-1].began is None:
                return worker.tries[-1]
        return None

    def slowest(self, now: float) -> Attempt | None:
        """Return the try that takes far longer than usual, if nobody else tries the same."""
        usual = statistics.median(self.durations) if self.durations else 0.0
        begun = [
            each
            for worker in self.workers.values()
            for each in worker.tries[:1]
            if each.began is not None and len(each.task.running) == 1
        ]
        late = [
            each
            for each in begun
            if now - (each.began or now) > max(SLOW_FACTOR, _REMEMBERED_DURATIONS * usual)
        ]
        return min(late, key=lambda each: each.began or now, default=None)


_ENDS = 3  # workers that end while they load, before any was ready
_DEPTH = 2
_log = logging.getLogger("disambig.dask")


@dataclass(slots=True)
class WorkerStartup:
    """Who is there, and how far each is."""

    engine: DaskRunner
    session: ClusterSession
    crew: WorkerPool
    begin: WorkSetup
    numbers: Iterator[int]
    open: bool = False  # the first item may be sent, or was
    seen: bool = False
    n_ended: int = 0  # workers that were never ready
    starting: dict[int, ClusterWorker] = field(default_factory=dict)
    expected: dict[str, Any] | None = None
    alone_since: float = field(default_factory=time.monotonic)

    def complete(self) -> bool:
        """Tell whether items may be sent: all workers that are there are ready, or it has begun already."""
        crew = self.crew.workers
        if not self.open and len(crew) >= self.engine.workers and not self.starting:
            self.open = bool(self.crew.usable)
        return self.open

    def workers(self, found: Mapping[str, tuple[str, Mapping[str, Any]]]) -> list[ClusterWorker]:
        """Take in which workers there are now, and return those that are no more.

        Raises
        ------
        UserError
            D858 where workers end before any was ready.
        """
        crew = self.crew.workers
        self.seen = True
        for name in found.keys() - crew.keys():
            address, about = found[name]
            self._start(name, address, about)
        gone = [crew.pop(name) for name in crew.keys() - found.keys()]
        for worker in gone:
            if not worker.ready and not worker.unfit:
                self.n_ended += 1
                self._not_starting(worker)
        if self.n_ended >= _ENDS and not self.open and not self.crew.usable:
            raise UserError("D858", problem="see the worker's log", times=self.n_ended)
        return gone

    def check_workers(self) -> None:
        """Make sure that there are workers, or wait for them for a while.

        Raises
        ------
        UserError
            D855 where too few come.
        """
        wanted = 1 if self.open else self.engine.workers
        now = time.monotonic()
        if len(self.crew.workers) >= wanted:
            self.alone_since = now
        self.session.request_workers(self.seen and not self.crew.workers)
        if now - self.alone_since > self.engine.patience:
            raise UserError(
                "D855",
                address=self.session.address,
                seen=len(self.crew.workers),
                wanted=wanted,
                seconds=self.engine.patience,
            )

    def handle_event(self, news: SessionEvent) -> bool:
        """Take in how a start ended; false for news of something else.

        Raises
        ------
        UserError
            D856 and D857, before the first item is sent.
        """
        worker = self.starting.pop(news.number, None)
        if worker is None:
            return False
        if news.kind in ("gone", "killed"):
            if news.kind == "gone":
                self.session.lost = True
            elif self.crew.workers.get(worker.id) is worker:  # another at its address: once more
                self._begin(worker)
            return True
        try:
            self._check(worker, news)
            worker.ready = True
        except UserError as problem:
            if not self.open:
                raise
            worker.unfit = True
            _log.warning("%s", problem)
        return True

    def _start(self, name: str, address: str, about: Mapping[str, Any]) -> None:
        threads = int(about.get("nthreads", 1))
        worker = ClusterWorker(name, address, _DEPTH if threads == 1 else 1)
        self.crew.workers[name] = worker
        if threads > 1:
            _log.info(
                "the worker %s has %d threads, and one item is done at a time: start more workers with "
                "--nthreads 1",
                address,
                threads,
            )
        self._begin(worker)

    def _begin(self, worker: ClusterWorker) -> None:
        compared = self.engine.scheduler is not None
        worker.loaded_work = self.session.submit_kept(
            next(self.numbers), worker.address, load_work, self.begin
        )
        number = next(self.numbers)
        self.starting[number] = worker
        worker.starting = self.session.submit(
            number, worker.address, start_work, worker.loaded_work, compared
        )
        if compared and self.expected is None:
            self.expected = expected_environment(self.begin.work)

    def _not_starting(self, gone: ClusterWorker) -> None:
        for number, worker in list(self.starting.items()):
            if worker is gone:
                del self.starting[number]

    def _check(self, worker: ClusterWorker, news: SessionEvent) -> None:
        if news.kind == "failed":
            raise UserError("D857", address=worker.address, problem=news.value)
        answer: ItemResult = news.value
        if answer.kind == "user error":
            if self.engine.scheduler is None:
                raise answer.value
            raise UserError("D857", address=worker.address, problem=answer.value)
        if answer.kind == "bug":
            problem = last_line(answer.value)
            _log.debug("%s", answer.value)
            raise UserError("D857", address=worker.address, problem=problem)
        if self.expected is not None:
            check_environment(self.expected, answer.value, worker.address)
