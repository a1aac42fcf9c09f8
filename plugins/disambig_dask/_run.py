"""Run one job on a cluster: dispatch items to workers and collect outcomes, surviving lost workers.

The job is driven by one thread, which sends items (`ClusterRun.dispatch`) and handles events in the order of
a queue (`ClusterRun.receive`); Dask's own thread only puts events into it (see `session`). First each worker
loads the work (`_workers.WorkerStartup`); then it has up to two items at a time. An attempt at an item ends

* with an *answer*: the result, an error of the user or of the program, or "left" (see `serving.ItemResult`);
* if its worker is lost, which the scheduler's list of workers shows, or *killed*, which Dask reports. Only
  the first item of a worker can have caused it: this attempt failed, and the others are sent elsewhere;
* if it takes longer than the timeout: its worker ends itself, or is restarted if it cannot;
* as *gone*, if the connection to the scheduler is lost: the session is opened again, and items are repeated.

An item that failed `tries` times is set aside. Two attempts at one item may run at a time, if the first is
slow or waits behind another one: the first answer counts.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from queue import Empty
from typing import TYPE_CHECKING, Any

from disambig.api import UserError
from disambig.api.runners import (
    ItemQueue,
    LogMessage,
    PendingItem,
    Work,
    WorkOutcome,
    last_line,
    logger_levels,
    tell_log,
)

from ._workers import Attempt, ClusterWorker, WorkerPool, WorkerStartup
from .serving import ItemRequest, ItemResult, WorkSetup, process_item
from .session import ClusterSession, PersistentCluster, SessionEvent, open_session, quiet_logging

if TYPE_CHECKING:
    from .engine import DaskRunner

_EVENT_SECONDS = 0.25  # that the run waits for an event before it looks at the workers
_CONNECT_SECONDS = 10.0
_MAX_LOSSES = 5  # of connections to the scheduler, without a finished item in between
_GRACE_SECONDS = 5.0  # in which a worker should end itself after a timeout, before it is restarted


@dataclass(slots=True)
class ClusterRun:
    """The workers of one run on the cluster, and the attempts in progress."""

    engine: DaskRunner
    work: Work
    queue: ItemQueue
    kept_cluster: PersistentCluster | None = None
    pool: WorkerPool = field(default_factory=WorkerPool)
    attempts: dict[int, Attempt] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    logged: set[LogMessage] = field(default_factory=set)
    losses: int = 0  # connections to the scheduler lost since the last finished item
    session: ClusterSession | None = None
    startup: WorkerStartup | None = None

    def outcomes(self) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item."""
        self.queue.fill(self.n_workers())
        if not self.queue.waiting:  # no cluster is needed
            return
        with quiet_logging(), self._closing():
            self.connect()
            yield from self.queue.outcomes(self)

    @contextmanager
    def _closing(self) -> Iterator[None]:
        try:
            yield
        finally:
            if self.session is not None:
                self.session.close()

    def n_workers(self) -> int:
        """Return the number of workers that can take items, at least one."""
        return max(1, len(self.pool.usable))

    def busy(self) -> bool:
        """Return True if workers have items."""
        return bool(self.attempts)

    def connect(self) -> None:
        """Connect to the cluster and start to prepare its workers."""
        setup = WorkSetup(self.run, self.work, os.getcwd(), logger_levels())
        self.session = open_session(
            self.engine.scheduler, self.engine.workers, seconds=_CONNECT_SECONDS, kept=self.kept_cluster
        )
        self.startup = WorkerStartup(self.engine, self.session, self.pool, setup, self.numbers)

    def dispatch(self) -> None:
        """Send waiting items to workers with room; give idle workers the items that others are slow with."""
        assert self.startup is not None
        if not self.startup.complete():
            return
        waiting = self.queue.waiting
        while waiting and (worker := self.pool.with_room()) is not None:
            self._send(waiting.popleft(), worker)
        while not waiting and (worker := self.pool.idle()) is not None:
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
        request = ItemRequest(attempt.number, task.item, self.engine.timeout)
        self.attempts[attempt.number] = attempt
        worker.attempts.append(attempt)
        task.running += 1
        call = process_item, worker.loaded_work, request
        attempt.future = self.session.submit(attempt.number, worker.address, *call)

    def receive(self) -> list[WorkOutcome]:
        """Wait for events and return the outcomes that are finished."""
        assert self.session is not None and self.startup is not None
        if not self.session.running():
            self._reconnect()
        outcomes: list[WorkOutcome | None] = []
        queue = self.session.events
        with suppress(Empty):
            self._handle_event(queue.get(timeout=_EVENT_SECONDS), outcomes)
            while True:
                self._handle_event(queue.get_nowait(), outcomes)
        outcomes += [self._handle_hang(attempt) for attempt in self._overdue()]
        self.startup.check_workers()
        return [outcome for outcome in outcomes if outcome is not None]

    def _handle_event(self, event: SessionEvent, outcomes: list[WorkOutcome | None]) -> None:
        assert self.startup is not None
        if event.kind == "message":
            self._handle_message(*event.value)
        elif event.kind == "workers":
            outcomes += map(self._handle_lost_worker, self.startup.update_workers(event.value))
        elif not self.startup.handle_event(event):
            outcomes.append(self._handle_end(event))

    def _handle_end(self, event: SessionEvent) -> WorkOutcome | None:
        assert self.session is not None
        attempt = self.attempts.get(event.number)
        if attempt is None:  # the attempt was abandoned: its worker is free again
            for worker in self.pool.workers.values():
                worker.hung.discard(event.number)
            return None
        first = attempt.worker.attempts[0] is attempt  # the one that runs, not one that waits behind it
        self._cancel(attempt)
        if event.kind == "answer":
            return self._handle_result(attempt, event.value)
        if event.kind == "failed":
            return self._count_failure(attempt, event.value)
        if event.kind == "killed" and first:  # Dask has already retried it, on workers at one address
            attempt.task.failed = self.engine.tries - 1
            return self._count_failure(attempt, self._loss_message())
        if event.kind == "gone":  # the scheduler no longer knows the task
            self.session.lost = True
        self.queue.repeat(attempt.task)
        return None

    def _handle_message(self, run: str, kind: str, value: Any) -> None:
        """Repeat a record of a worker's log, once for all workers, or count the progress of an item."""
        if run != self.run:  # of another job on the same cluster
            return
        if kind == "log":
            message: LogMessage = (value[0], value[1], value[2])
            if message not in self.logged:
                self.logged.add(message)
                tell_log(message)
            return
        attempt = self.attempts.get(value[0])
        if attempt is not None:
            attempt.began = attempt.began or time.monotonic()
            attempt.task.counter(value[1])

    def _handle_result(self, attempt: Attempt, answer: ItemResult) -> WorkOutcome | None:
        """Return the outcome of an answered item. Raises the user error that the work raised."""
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
        self._cancel_others(task)
        return task.outcome(result, problem)

    def _cancel_others(self, task: PendingItem) -> None:
        """Abandon the attempts of an item that has an outcome."""
        for other in [attempt for attempt in self.attempts.values() if attempt.task is task]:
            self._cancel(other)

    def _cancel(self, attempt: Attempt) -> None:
        """Abandon an attempt; a worker that has started it stops at its next progress message."""
        del self.attempts[attempt.number]
        attempt.worker.attempts.remove(attempt)
        attempt.task.running -= 1
        attempt.future.release()

    def _count_failure(self, attempt: Attempt, problem: str) -> WorkOutcome | None:
        """Count an attempt that ended its worker or hung; after too many failures the item is set aside."""
        outcome = self.queue.fail(attempt.task, problem)
        if outcome is not None:
            self._cancel_others(attempt.task)
        return outcome

    def _handle_lost_worker(self, worker: ClusterWorker) -> WorkOutcome | None:
        """Retry the items of a lost worker elsewhere; only the first of them can have caused the loss."""
        if not worker.attempts:
            return None
        attempt = self._clear_worker(worker)
        seconds = time.monotonic() - (attempt.began or time.monotonic())
        timed_out = self.engine.timeout is not None and seconds >= self.engine.timeout
        return self._count_failure(attempt, self._timeout_message() if timed_out else self._loss_message())

    def _clear_worker(self, worker: ClusterWorker) -> Attempt:
        """Remove all items from a worker and return the running attempt; the others wait again."""
        for behind in reversed(worker.attempts[1:]):
            self._cancel(behind)
            self.queue.repeat(behind.task)
        attempt = worker.attempts[0]
        self._cancel(attempt)
        return attempt

    def _overdue(self) -> list[Attempt]:
        """Return attempts beyond the timeout on workers that cannot end themselves (frozen, no nanny)."""
        if self.engine.timeout is None:
            return []
        latest = time.monotonic() - self.engine.timeout - _GRACE_SECONDS
        return [attempt for attempt in self.attempts.values() if (attempt.began or latest) < latest]

    def _handle_hang(self, attempt: Attempt) -> WorkOutcome | None:
        """Abandon an attempt beyond the timeout, and restart its worker."""
        assert self.session is not None
        if attempt.number not in self.attempts:  # abandoned with another attempt at the same item
            return None
        attempt.worker.hung.add(attempt.number)
        self._clear_worker(attempt.worker)
        self.session.restart(attempt.worker.address)
        return self._count_failure(attempt, self._timeout_message())

    def _loss_message(self) -> str:
        return f"it ended its workers {self.engine.tries} times"

    def _timeout_message(self) -> str:
        return f"it took longer than {self.engine.timeout:g} seconds, {self.engine.tries} times"

    def _reconnect(self) -> None:
        """Connect to the scheduler again; items in progress are repeated.

        Raises D854 if it does not come back.
        """
        assert self.session is not None and self.startup is not None
        self.session.close()
        self.losses += 1
        was_open = self.startup.open
        for attempt in sorted(self.attempts.values(), key=lambda attempt: -attempt.task.index):
            self._cancel(attempt)
            self.queue.repeat(attempt.task)
        self.pool.workers.clear()
        # a local cluster is gone with its scheduler
        may_return = self.losses <= _MAX_LOSSES and self.engine.scheduler is not None
        deadline = time.monotonic() + self.engine.patience
        while may_return and time.monotonic() < deadline:
            with suppress(UserError):  # not available yet
                self.connect()
                self.startup.open = was_open
                return
            time.sleep(1)
        where = self.engine.scheduler or "of this machine"
        raise UserError("D854", address=where, seconds=self.engine.patience)
