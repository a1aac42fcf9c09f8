"""Run one job on a cluster: dispatch items to workers and collect outcomes, surviving lost workers."""

from __future__ import annotations

import os
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from queue import Empty
from typing import TYPE_CHECKING, Any

from disambig.api import UserError
from disambig.api.runners import (
    LogMessage,
    ProgressCallback,
    ProgressCounter,
    Work,
    WorkOutcome,
    last_line,
    logger_levels,
    tell_log,
)

from ._workers import Attempt, ClusterWorker, PendingItem, WorkerPool, WorkerStartup
from .serving import ItemRequest, ItemResult, WorkSetup, process_item
from .session import ClusterSession, PersistentCluster, SessionEvent, open_session, quiet_logging

if TYPE_CHECKING:
    from .engine import DaskRunner

_TICK = 0.25
_AHEAD = 4  # items a worker that may be done before the next in order is
_CONNECT = 10.0  # seconds
_LOSSES = 5
_GRACE = 5.0  # seconds in which a worker that takes too long ends itself


@dataclass(slots=True)
class ClusterRun:
    """The state of one run."""

    engine: DaskRunner
    work: Work
    items: Iterator[Any]
    ordered: bool
    tell: ProgressCallback
    kept_cluster: PersistentCluster | None = None
    pool: WorkerPool = field(default_factory=WorkerPool)
    waiting: deque[PendingItem] = field(default_factory=deque)
    tries: dict[int, Attempt] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    taken: int = 0
    given: int = 0
    logged: set[LogMessage] = field(default_factory=set)
    losses: int = 0  # of the scheduler, since an item was done
    session: ClusterSession | None = None
    startup: WorkerStartup | None = None

    def outcomes(self) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item."""
        self.fill()
        if not self.waiting:
            return
        early: dict[int, WorkOutcome] = {}
        with quiet_logging(), self._closing():
            self.connect()
            while self.waiting or self.tries:
                self.dispatch()
                for outcome in self.receive_outcomes():
                    if not self.ordered:
                        self.given += 1
                        yield outcome
                        continue
                    early[outcome.index] = outcome
                    while self.given in early:
                        self.given += 1
                        yield early.pop(self.given - 1)
                self.fill()

    @contextmanager
    def _closing(self) -> Iterator[None]:
        try:
            yield
        finally:
            if self.session is not None:
                self.session.close()

    def fill(self) -> None:
        """Take items until each worker has one waiting, unless the order holds things up."""
        limit = max(1, len(self.pool.usable))
        while len(self.waiting) < limit and self.taken - self.given < limit * _AHEAD:
            try:
                item = next(self.items)
            except StopIteration:
                return
            self.waiting.append(PendingItem(self.taken, item, ProgressCounter(self.tell)))
            self.taken += 1

    def connect(self) -> None:
        """Find the cluster, and begin to get its workers ready."""
        begin = WorkSetup(self.run, self.work, os.getcwd(), logger_levels())
        self.session = open_session(
            self.engine.scheduler, self.engine.workers, seconds=_CONNECT, kept=self.kept_cluster
        )
        self.startup = WorkerStartup(self.engine, self.session, self.pool, begin, self.numbers)

    def dispatch(self) -> None:
        """Send waiting items to workers with room; what others are slow with, to those with nothing to do."""
        assert self.startup is not None
        if not self.startup.complete():
            return
        while self.waiting and (worker := self.pool.with_room()) is not None:
            self._send(self.waiting.popleft(), worker)
        while not self.waiting and (worker := self.pool.idle()) is not None:
            if (stuck := self.pool.stuck_behind()) is not None:
                self._cancel(stuck)
                self._send(stuck.task, worker)
            elif (slow := self.pool.slowest(time.monotonic())) is not None:
                self._send(slow.task, worker)
            else:
                return

    def _send(self, task: PendingItem, worker: ClusterWorker) -> None:
        assert self.session is not None
        attempt = Attempt(next(self.numbers), task, worker)
        order = ItemRequest(attempt.number, task.item, self.engine.timeout)
        self.tries[attempt.number] = attempt
        worker.tries.append(attempt)
        task.running.append(attempt)
        attempt.future = self.session.submit(
            attempt.number, worker.address, process_item, worker.loaded_work, order
        )

    def receive_outcomes(self) -> list[WorkOutcome]:
        """Wait for news and return what is finished."""
        assert self.session is not None and self.startup is not None
        if not self.session.running():
            self._reconnect()
        found: list[WorkOutcome | None] = []
        queue = self.session.news
        with suppress(Empty):
            self._handle_event(queue.get(timeout=_TICK), found)
            while True:
                self._handle_event(queue.get_nowait(), found)
        found += [self._handle_hang(each) for each in self._overdue()]
        self.startup.check_workers()
        return [outcome for outcome in found if outcome is not None]

    def _handle_event(self, news: SessionEvent, found: list[WorkOutcome | None]) -> None:
        assert self.startup is not None
        if news.kind == "said":
            self._handle_message(*news.value)
        elif news.kind == "workers":
            found += map(self._handle_lost_worker, self.startup.workers(news.value))
        elif not self.startup.handle_event(news):
            found.append(self._handle_end(news))

    def _handle_end(self, news: SessionEvent) -> WorkOutcome | None:
        assert self.session is not None
        attempt = self.tries.get(news.number)
        if attempt is None:  # nobody waits for it any more: its worker is free again
            for worker in self.pool.workers.values():
                worker.hung.discard(news.number)
            return None
        first = attempt.worker.tries[0] is attempt
        self._cancel(attempt)
        if news.kind == "answer":
            return self._handle_result(attempt, news.value)
        if news.kind == "failed":
            return self._count_failure(attempt, news.value)
        if news.kind == "killed" and first:  # Dask tried it itself, on workers of one address
            attempt.task.failed = self.engine.tries - 1
            return self._count_failure(attempt, self._loss_message())
        if news.kind == "gone":  # the scheduler knows nothing of it any more
            self.session.lost = True
        return self._requeue(attempt.task)

    def _handle_message(self, run: str, kind: str, value: Any) -> None:
        if run != self.run:
            return
        if kind == "log":
            said: LogMessage = (value[0], value[1], value[2])
            if said not in self.logged:
                self.logged.add(said)
                tell_log(said)
            return
        attempt = self.tries.get(value[0])
        if attempt is not None:
            attempt.began = attempt.began or time.monotonic()
            attempt.task.counter(value[1])

    def _handle_result(self, attempt: Attempt, answer: ItemResult) -> WorkOutcome | None:
        if attempt.began is not None:
            self.pool.durations.append(time.monotonic() - attempt.began)
        if answer.kind == "user error":
            raise answer.value
        if answer.kind == "left":
            return self._count_failure(attempt, f"workers gave it up {self.engine.tries} times")
        self.losses = 0
        attempt.task.counter(answer.n_messages)
        if answer.kind == "bug":
            return self._finish(attempt.task, problem=last_line(answer.value))
        return self._finish(attempt.task, answer.value)

    def _finish(self, task: PendingItem, result: Any = None, problem: str | None = None) -> WorkOutcome:
        task.done = True
        for other in list(task.running):
            self._cancel(other)
        return task.outcome(result, problem)

    def _cancel(self, attempt: Attempt) -> None:
        """Wait no more for a try; a worker that has begun it leaves it when it next tells how far it is."""
        del self.tries[attempt.number]
        attempt.worker.tries.remove(attempt)
        attempt.task.running.remove(attempt)
        attempt.future.release()

    def _requeue(self, task: PendingItem) -> WorkOutcome | None:
        """Let an item wait for another try, without blame; there is no outcome yet."""
        if not task.running and not task.done:
            self.waiting.appendleft(task)
        return None

    def _count_failure(self, attempt: Attempt, problem: str) -> WorkOutcome | None:
        """Count a try that ended its worker, or hung: after some the item is set aside."""
        task = attempt.task
        task.failed += 1
        if task.failed >= self.engine.tries:
            return self._finish(task, problem=problem)
        return self._requeue(task)

    def _handle_lost_worker(self, worker: ClusterWorker) -> WorkOutcome | None:
        """Try elsewhere what a worker had that is no more: only the first of it can be at fault."""
        if not worker.tries:
            return None
        attempt = self._clear_worker(worker)
        took = time.monotonic() - (attempt.began or time.monotonic())
        late = self.engine.timeout is not None and took >= self.engine.timeout
        return self._count_failure(attempt, self._timeout_message() if late else self._loss_message())

    def _clear_worker(self, worker: ClusterWorker) -> Attempt:
        """Take all from a worker and return what it was at; what waited behind waits for others."""
        for behind in reversed(worker.tries[1:]):
            self._cancel(behind)
            self._requeue(behind.task)
        attempt = worker.tries[0]
        self._cancel(attempt)
        return attempt

    def _overdue(self) -> list[Attempt]:
        """Return what takes too long on workers that do not end themselves: frozen, or without a keeper."""
        if self.engine.timeout is None:
            return []
        latest = time.monotonic() - self.engine.timeout - _GRACE
        return [each for each in self.tries.values() if each.began is not None and each.began < latest]

    def _handle_hang(self, attempt: Attempt) -> WorkOutcome | None:
        assert self.session is not None
        attempt.worker.hung.add(attempt.number)
        self._clear_worker(attempt.worker)
        self.session.restart(attempt.worker.address)
        return self._count_failure(attempt, self._timeout_message())

    def _loss_message(self) -> str:
        return f"it ended its workers {self.engine.tries} times"

    def _timeout_message(self) -> str:
        return f"it took longer than {self.engine.timeout:g} seconds, {self.engine.tries} times"

    def _reconnect(self) -> None:
        """Find the scheduler again; what was under way is done anew.

        Raises
        ------
        UserError
            D854 where it does not come back.
        """
        assert self.session is not None and self.startup is not None
        self.session.close()
        self.losses += 1
        begun = self.startup.open
        for attempt in sorted(self.tries.values(), key=lambda each: -each.task.index):
            self._cancel(attempt)
            self._requeue(attempt.task)
        self.pool.workers.clear()
        until = time.monotonic() + self.engine.patience
        while self.losses <= _LOSSES and time.monotonic() < until and self.engine.scheduler is not None:
            with suppress(UserError):  # not there yet
                self.connect()
                self.startup.open = begun
                return
            time.sleep(1)
        where = self.engine.scheduler or "of this machine"
        raise UserError("D854", address=where, seconds=self.engine.patience)
