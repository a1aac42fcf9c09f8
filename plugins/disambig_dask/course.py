"""The course of one job on a cluster: items go to workers, outcomes come back, whatever ends on the way.

Which worker an item goes to is decided here and not by the scheduler, so that it is known which item it
was that ended a worker.
"""

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
from disambig.api.runners import Outcome, Said, Tell, Told, Work, last_line, listened_to, tell_log
from disambig_dask.crew import Crew, Task, Try, Worker
from disambig_dask.hush import quiet
from disambig_dask.muster import Muster
from disambig_dask.serving import Answer, Begin, Order, done
from disambig_dask.session import KeptCluster, News, Session, connect

if TYPE_CHECKING:
    from disambig_dask.engine import Dask

_TICK = 0.25
_AHEAD = 4  # items a worker that may be done before the next in order is
_CONNECT = 10.0  # seconds
_LOSSES = 5
_GRACE = 5.0  # seconds in which a worker that takes too long ends itself


@dataclass(slots=True)
class Course:
    """The state of one run."""

    engine: Dask
    work: Work
    items: Iterator[Any]
    ordered: bool
    tell: Tell
    kept: KeptCluster | None = None
    crew: Crew = field(default_factory=Crew)
    waiting: deque[Task] = field(default_factory=deque)
    tries: dict[int, Try] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    taken: int = 0
    given: int = 0
    logged: set[Said] = field(default_factory=set)
    losses: int = 0  # of the scheduler, since an item was done
    session: Session | None = None
    muster: Muster | None = None

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcome of each item."""
        self.fill()
        if not self.waiting:
            return
        early: dict[int, Outcome] = {}
        with quiet(), self._closing():
            self.connect()
            while self.waiting or self.tries:
                self.dispatch()
                for outcome in self.hear():
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
        limit = max(1, len(self.crew.usable))
        while len(self.waiting) < limit and self.taken - self.given < limit * _AHEAD:
            try:
                item = next(self.items)
            except StopIteration:
                return
            self.waiting.append(Task(self.taken, item, Told(self.tell)))
            self.taken += 1

    def connect(self) -> None:
        """Find the cluster, and begin to get its workers ready."""
        begin = Begin(self.run, self.work, os.getcwd(), listened_to())
        self.session = connect(self.engine.scheduler, self.engine.workers, seconds=_CONNECT, kept=self.kept)
        self.muster = Muster(self.engine, self.session, self.crew, begin, self.numbers)

    def dispatch(self) -> None:
        """Send waiting items to workers with room; what others are slow with, to those with nothing to do."""
        assert self.muster is not None
        if not self.muster.complete():
            return
        while self.waiting and (worker := self.crew.with_room()) is not None:
            self._send(self.waiting.popleft(), worker)
        while not self.waiting and (worker := self.crew.idle()) is not None:
            if (stuck := self.crew.stuck_behind()) is not None:
                self._forget(stuck)
                self._send(stuck.task, worker)
            elif (slow := self.crew.slowest(time.monotonic())) is not None:
                self._send(slow.task, worker)
            else:
                return

    def _send(self, task: Task, worker: Worker) -> None:
        assert self.session is not None
        attempt = Try(next(self.numbers), task, worker)
        order = Order(attempt.number, task.item, self.engine.timeout)
        self.tries[attempt.number] = attempt
        worker.tries.append(attempt)
        task.running.append(attempt)
        attempt.future = self.session.submit(attempt.number, worker.address, done, worker.held, order)

    def hear(self) -> list[Outcome]:
        """Wait for news and return what is finished."""
        assert self.session is not None and self.muster is not None
        if not self.session.running():
            self._reconnect()
        found: list[Outcome | None] = []
        queue = self.session.news
        with suppress(Empty):
            self._take(queue.get(timeout=_TICK), found)
            while True:
                self._take(queue.get_nowait(), found)
        found += [self._hangs(each) for each in self._overdue()]
        self.muster.look()
        return [outcome for outcome in found if outcome is not None]

    def _take(self, news: News, found: list[Outcome | None]) -> None:
        assert self.muster is not None
        if news.kind == "said":
            self._said(*news.value)
        elif news.kind == "workers":
            found += map(self._died, self.muster.workers(news.value))
        elif not self.muster.takes(news):
            found.append(self._ended(news))

    def _ended(self, news: News) -> Outcome | None:
        assert self.session is not None
        attempt = self.tries.get(news.number)
        if attempt is None:  # nobody waits for it any more: its worker is free again
            for worker in self.crew.workers.values():
                worker.hung.discard(news.number)
            return None
        first = attempt.worker.tries[0] is attempt
        self._forget(attempt)
        if news.kind == "answer":
            return self._answered(attempt, news.value)
        if news.kind == "failed":
            return self._blame(attempt, news.value)
        if news.kind == "killed" and first:  # Dask tried it itself, on workers of one address
            attempt.task.failed = self.engine.tries - 1
            return self._blame(attempt, self._ending())
        if news.kind == "gone":  # the scheduler knows nothing of it any more
            self.session.lost = True
        return self._again(attempt.task)

    def _said(self, run: str, kind: str, value: Any) -> None:
        if run != self.run:
            return
        if kind == "log":
            said: Said = (value[0], value[1], value[2])
            if said not in self.logged:
                self.logged.add(said)
                tell_log(said)
            return
        attempt = self.tries.get(value[0])
        if attempt is not None:
            attempt.began = attempt.began or time.monotonic()
            attempt.task.told(value[1])

    def _answered(self, attempt: Try, answer: Answer) -> Outcome | None:
        if attempt.began is not None:
            self.crew.durations.append(time.monotonic() - attempt.began)
        if answer.kind == "user error":
            raise answer.value
        if answer.kind == "left":
            return self._blame(attempt, f"workers gave it up {self.engine.tries} times")
        self.losses = 0
        attempt.task.told(answer.told)
        if answer.kind == "bug":
            return self._finish(attempt.task, problem=last_line(answer.value))
        return self._finish(attempt.task, answer.value)

    def _finish(self, task: Task, result: Any = None, problem: str | None = None) -> Outcome:
        task.done = True
        for other in list(task.running):
            self._forget(other)
        return task.outcome(result, problem)

    def _forget(self, attempt: Try) -> None:
        """Wait no more for a try; a worker that has begun it leaves it when it next tells how far it is."""
        del self.tries[attempt.number]
        attempt.worker.tries.remove(attempt)
        attempt.task.running.remove(attempt)
        attempt.future.release()

    def _again(self, task: Task) -> Outcome | None:
        """Let an item wait for another try, without blame; there is no outcome yet."""
        if not task.running and not task.done:
            self.waiting.appendleft(task)
        return None

    def _blame(self, attempt: Try, problem: str) -> Outcome | None:
        """Count a try that ended its worker, or hung: after some the item is set aside."""
        task = attempt.task
        task.failed += 1
        if task.failed >= self.engine.tries:
            return self._finish(task, problem=problem)
        return self._again(task)

    def _died(self, worker: Worker) -> Outcome | None:
        """Try elsewhere what a worker had that is no more: only the first of it can be at fault."""
        if not worker.tries:
            return None
        attempt = self._alone(worker)
        took = time.monotonic() - (attempt.began or time.monotonic())
        late = self.engine.timeout is not None and took >= self.engine.timeout
        return self._blame(attempt, self._late() if late else self._ending())

    def _alone(self, worker: Worker) -> Try:
        """Take all from a worker and return what it was at; what waited behind waits for others."""
        for behind in reversed(worker.tries[1:]):
            self._forget(behind)
            self._again(behind.task)
        attempt = worker.tries[0]
        self._forget(attempt)
        return attempt

    def _overdue(self) -> list[Try]:
        """Return what takes too long on workers that do not end themselves: frozen, or without a keeper."""
        if self.engine.timeout is None:
            return []
        latest = time.monotonic() - self.engine.timeout - _GRACE
        return [each for each in self.tries.values() if each.began is not None and each.began < latest]

    def _hangs(self, attempt: Try) -> Outcome | None:
        assert self.session is not None
        attempt.worker.hung.add(attempt.number)
        self._alone(attempt.worker)
        self.session.restart(attempt.worker.address)
        return self._blame(attempt, self._late())

    def _ending(self) -> str:
        return f"it ended its workers {self.engine.tries} times"

    def _late(self) -> str:
        return f"it took longer than {self.engine.timeout:g} seconds, {self.engine.tries} times"

    def _reconnect(self) -> None:
        """Find the scheduler again; what was under way is done anew.

        Raises
        ------
        UserError
            D854 where it does not come back.
        """
        assert self.session is not None and self.muster is not None
        self.session.close()
        self.losses += 1
        begun = self.muster.open
        for attempt in sorted(self.tries.values(), key=lambda each: -each.task.index):
            self._forget(attempt)
            self._again(attempt.task)
        self.crew.workers.clear()
        until = time.monotonic() + self.engine.patience
        while self.losses <= _LOSSES and time.monotonic() < until and self.engine.scheduler is not None:
            with suppress(UserError):  # not there yet
                self.connect()
                self.muster.open = begun
                return
            time.sleep(1)
        where = self.engine.scheduler or "of this machine"
        raise UserError("D854", address=where, seconds=self.engine.patience)
