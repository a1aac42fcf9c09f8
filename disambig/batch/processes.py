"""Worker processes of our own, watched: one that is killed is replaced and its item tried again.

The pools of the standard library break or hang when a worker is killed from outside (by the
system when memory is short, say); here an item that kills its workers is set aside.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from disambig.batch.interrupts import interrupts_put_off, leave_out_current_directory
from disambig.batch.logs import Said, listened_to, send_logs, tell
from disambig.batch.resident import EVERY, resident
from disambig.batch.work import Function, Outcome, Runner, Tell, Told, Work, last_line, nothing
from disambig.errors import UserError

TRIES = 2
_AHEAD = 4  # items per worker that may be done before the next in order is


@dataclass(slots=True)
class _Task:
    index: int
    item: Any
    told: Told
    tries: int = 0

    def done(self, result: Any = None, problem: str | None = None) -> Outcome:
        """Return the outcome."""
        return Outcome(self.index, self.item, result, problem, self.told.amount)


@dataclass(slots=True, eq=False)
class _Worker:
    process: Any
    connection: Connection
    ready: bool = False
    task: _Task | None = None
    began: float = 0.0  # working on the task
    late: bool = False  # it was ended for it
    large: bool = False  # it was ended for its memory

    @property
    def free(self) -> bool:
        """Whether it can be handed an item."""
        return self.ready and not self.late and not self.large and self.task is None

    def turn_to(self, work: Work) -> None:
        """Hand it other work to begin."""
        self.ready = False
        with suppress(BrokenPipeError, ConnectionResetError):  # it died idle: its sentinel tells
            self.connection.send(("work", work))


@dataclass(slots=True)
class _Pool:
    """The state of one run; `idle` workers of an earlier one are used before others are started."""

    work: Work
    limit: int
    items: Iterator[Any]
    ordered: bool
    tell: Tell
    idle: list[_Worker]
    timeout: float | None = None
    memory: int | None = None
    workers: list[_Worker] = field(default_factory=list)
    waiting: deque[_Task] = field(default_factory=deque)
    taken: int = 0
    given: int = 0  # outcomes yielded
    never_started: int = 0
    logged: set[Said] = field(default_factory=set)

    def fill(self) -> None:
        """Take items until each worker has one waiting, unless the order holds things up."""
        while len(self.waiting) < self.limit and self.taken - self.given < self.limit * _AHEAD:
            try:
                item = next(self.items)
            except StopIteration:
                return
            self.waiting.append(_Task(self.taken, item, Told(self.tell)))
            self.taken += 1

    def dispatch(self) -> None:
        """Hand waiting items to idle workers, and start workers while items wait."""
        for worker in self.workers:
            if worker.free and self.waiting:
                worker.task, worker.began = self.waiting.popleft(), time.monotonic()
                with suppress(BrokenPipeError, ConnectionResetError):  # it died idle: its sentinel tells
                    worker.connection.send(("item", worker.task.item))
        starting = sum(not worker.ready for worker in self.workers)
        while len(self.workers) < self.limit and starting < len(self.waiting):
            with interrupts_put_off():  # a worker half started would end with a traceback
                if self.idle:
                    self.workers.append(self.idle.pop())
                    self.workers[-1].turn_to(self.work)
                else:
                    self.workers.append(_start(self.work))
            starting += 1

    def busy(self) -> bool:
        """Tell whether anything is still to come."""
        return bool(self.waiting) or any(worker.task for worker in self.workers)

    def listen(self) -> list[Outcome]:
        """Wait for news of any worker and return what is finished."""
        doors: dict[Any, _Worker] = {}
        for worker in self.workers:
            doors[worker.connection] = worker
            doors[worker.process.sentinel] = worker
        self._end_late()
        self._end_large()
        news = {id(doors[door]): doors[door] for door in wait(list(doors), self._patience())}
        outcomes = []
        for worker in news.values():
            message = _receive(worker.connection)
            outcome = self._died(worker) if message is None else self._told(worker, *message)
            if outcome is not None:
                outcomes.append(outcome)
        return outcomes

    def _patience(self) -> float | None:
        """Return the seconds until the first item takes too long."""
        began = [worker.began for worker in self.workers if worker.task and not worker.late]
        often = None if self.memory is None else EVERY
        if self.timeout is None or not began:
            return often
        left = max(0.0, min(began) + self.timeout - time.monotonic())
        return left if often is None else min(left, often)

    def _end_late(self) -> None:
        """Kill workers whose item takes too long: their end is news like any other."""
        for worker in self.workers:
            if worker.task and not worker.late and self.timeout is not None:
                worker.late = time.monotonic() - worker.began >= self.timeout
                if worker.late:
                    worker.process.kill()

    def _end_large(self) -> None:
        """Kill workers that hold too much memory."""
        for worker in self.workers if self.memory is not None else ():
            if not worker.large and self.memory is not None:
                worker.large = resident(worker.process.pid) > self.memory
                if worker.large:
                    worker.process.kill()

    def _told(self, worker: _Worker, kind: str, value: Any) -> Outcome | None:
        if isinstance(value, UserError):
            raise value
        if kind == "ready":
            worker.ready, self.never_started = True, 0
            return None
        if kind == "log":
            if value not in self.logged:
                self.logged.add(value)
                tell(value)
            return None
        if kind == "no start":
            raise RuntimeError(f"a worker could not start:\n{value}")
        task = worker.task
        assert task is not None
        if kind == "part":
            task.told(value)
            return None
        worker.task = None
        return task.done(problem=last_line(value)) if kind == "bug" else task.done(value)

    def _died(self, worker: _Worker) -> Outcome | None:
        worker.process.join()
        how = f"it held more than {self.memory:,} bytes" if worker.large else _how(worker.process.exitcode)
        worker.connection.close()
        self.workers.remove(worker)
        if not worker.ready:
            self.never_started += 1
            if self.never_started >= TRIES:
                raise UserError("D315", problem=how)
        task = worker.task
        if task is None:
            return None
        task.tries += 1
        if task.tries < TRIES:
            self.waiting.appendleft(task)
            return None
        if worker.late:
            return task.done(problem=f"it took longer than {self.timeout:g} seconds, {TRIES} times")
        return task.done(problem=f"it ended its worker process {TRIES} times ({how})")

    def rest(self) -> None:
        """Leave the workers that are free for the next run, and end the others."""
        self.idle += [worker for worker in self.workers if worker.free]
        _stop([worker for worker in self.workers if not worker.free])


@dataclass(frozen=True, slots=True)
class Processes:
    """The runner with supervised processes on this machine, started as they are needed.

    Attributes
    ----------
    workers : int
    timeout : float or None
        Seconds that an item may take before its worker is ended and another tries.
    memory : int or None
        Bytes that a worker may hold before it is ended and another tries (see `resident`).
    """

    workers: int
    timeout: float | None = None
    memory: int | None = None

    def run(
        self, work: Work, items: Iterable[Any], *, ordered: bool = False, tell: Tell = nothing
    ) -> Iterator[Outcome]:
        """Yield the outcome of each item; one that ends its worker twice has a problem."""
        with self.staying() as runner:
            yield from runner.run(work, items, ordered=ordered, tell=tell)

    @contextmanager
    def staying(self) -> Iterator[Runner]:
        """Give a runner like this one, whose processes wait for the next run until the block ends."""
        idle: list[_Worker] = []
        try:
            yield _Staying(self, idle)
        finally:
            _stop(idle)


@dataclass(frozen=True, slots=True)
class _Staying:
    """The runner of several runs, one after the other; between them its processes are `idle`."""

    settings: Processes
    idle: list[_Worker]

    def run(
        self, work: Work, items: Iterable[Any], *, ordered: bool = False, tell: Tell = nothing
    ) -> Iterator[Outcome]:
        """Yield the outcome of each item; one that ends its worker twice has a problem."""
        wanted = self.settings
        pool = _Pool(
            work, wanted.workers, iter(items), ordered, tell, self.idle, wanted.timeout, wanted.memory
        )
        early: dict[int, Outcome] = {}
        try:
            while True:
                pool.fill()
                pool.dispatch()
                if not pool.busy():
                    return
                for outcome in pool.listen():
                    if not ordered:
                        pool.given += 1
                        yield outcome
                        continue
                    early[outcome.index] = outcome
                    while pool.given in early:
                        pool.given += 1
                        yield early.pop(pool.given - 1)
        finally:
            pool.rest()


def _stop(workers: Iterable[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(5)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.connection.close()


def _start(work: Work) -> _Worker:
    leave_out_current_directory()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work, listened_to()), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _receive(connection: Connection) -> tuple[str, Any] | None:
    try:
        return connection.recv() if connection.poll() else None
    except (EOFError, OSError):
        return None


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"{name}, out of memory?" if name == "SIGKILL" else name
    return f"exit status {code}"


def _serve(connection: Connection, work: Work, levels: Mapping[str, int]) -> None:
    """Work on items until the other end closes, which hears what is logged."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and ends us
    threading.Thread(target=_die_with_parent, daemon=True).start()
    send_logs(levels, connection)
    function = _begun(connection, work)
    while function is not None:
        try:
            kind, value = connection.recv()
        except EOFError:
            return
        if kind == "work":
            del function  # what it holds, before the next loads
            function = _begun(connection, value)
            continue
        try:
            message = "done", function(value, lambda done: connection.send(("part", done)))
        except UserError as problem:
            message = "user error", problem
        except Exception:
            message = "bug", traceback.format_exc()
        connection.send(message)


def _begun(connection: Connection, work: Work) -> Function | None:
    """Begin the work and tell; None where it cannot be begun."""
    try:
        function = work.start()
    except UserError as problem:
        connection.send(("no start", problem))
        return None
    except Exception:
        connection.send(("no start", traceback.format_exc()))
        return None
    connection.send(("ready", None))
    return function


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
