"""Runners on this machine: in this process, and in supervised worker processes; engines by name."""

from __future__ import annotations

import atexit
import gc
import logging
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker, spawn, util
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Protocol

from disambig.errors import UserError, check_call, nearest_first
from disambig.jobs.work import (
    Function,
    ProgressCallback,
    ProgressCounter,
    Runner,
    RunOptions,
    Work,
    WorkOutcome,
    ignore_progress,
    last_line,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


_MAX_AHEAD = 4  # items per worker that may be finished ahead of the next one in order


@dataclass(slots=True, eq=False)
class PendingItem:
    """An item without an outcome.

    Attributes
    ----------
    failed : int
        Number of attempts that ended their worker or took too long.
    running : int
        Number of further attempts in progress; while there are any, a failed attempt is not repeated.
    """

    index: int
    item: Any
    counter: ProgressCounter
    failed: int = 0
    running: int = 0

    def outcome(self, result: Any = None, problem: str | None = None) -> WorkOutcome:
        """Return the outcome of the item."""
        return WorkOutcome(self.index, self.item, result, problem, self.counter.amount)


class Transport(Protocol):
    """The workers of a run: it sends them the waiting items of a queue, and receives outcomes."""

    def n_workers(self) -> int:
        """Return the number of workers for which items are to wait."""
        ...

    def dispatch(self) -> None:
        """Send waiting items to workers that are free."""
        ...

    def busy(self) -> bool:
        """Return True if workers have items."""
        ...

    def receive(self) -> list[WorkOutcome]:
        """Wait for the workers and return the outcomes of finished items."""
        ...


@dataclass(slots=True)
class ItemQueue:
    """The items of one run.

    Attributes
    ----------
    items : iterator
    tries : int
        An item is set aside when this number of attempts has failed.
    ordered : bool
        Whether outcomes have the order of their items.
    report_progress : callable
        Called with the increase of the progress.
    waiting : deque of PendingItem
        The items that no worker has.
    """

    items: Iterator[Any]
    tries: int
    ordered: bool = False
    report_progress: ProgressCallback = ignore_progress
    waiting: deque[PendingItem] = field(default_factory=deque)
    _taken: int = 0
    _yielded: int = 0
    _early: dict[int, WorkOutcome] = field(default_factory=dict)

    def outcomes(self, transport: Transport) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item."""
        while True:
            self.fill(transport.n_workers())
            transport.dispatch()
            if not (self.waiting or transport.busy()):
                return
            for outcome in transport.receive():
                yield from self._in_order(outcome)

    def fill(self, workers: int) -> None:
        """Take items until one is waiting per worker, unless too many finished items wait for their turn."""
        while len(self.waiting) < workers and self._taken - self._yielded < workers * _MAX_AHEAD:
            try:
                item = next(self.items)
            except StopIteration:
                return
            self.waiting.append(PendingItem(self._taken, item, ProgressCounter(self.report_progress)))
            self._taken += 1

    def repeat(self, pending: PendingItem) -> None:
        """Let an item wait again without counting a failure."""
        if not pending.running:
            self.waiting.appendleft(pending)  # first, since in an ordered run all later outcomes wait for it

    def fail(self, pending: PendingItem, problem: str) -> WorkOutcome | None:
        """Count a failed attempt; repeat it, or return the outcome of an item that is set aside."""
        pending.failed += 1
        if pending.failed >= self.tries:
            return pending.outcome(problem=problem)
        self.repeat(pending)
        return None

    def _in_order(self, outcome: WorkOutcome) -> Iterator[WorkOutcome]:
        """Yield the outcomes whose turn it is."""
        if not self.ordered:
            self._yielded += 1
            yield outcome
            return
        self._early[outcome.index] = outcome
        while self._yielded in self._early:
            self._yielded += 1
            yield self._early.pop(self._yielded - 1)


def leave_out_current_directory() -> None:
    """Make `multiprocessing` start processes without the current directory on their import path.

    Its workers, resource tracker and fork server run as ``python -c ...``, whose path begins with the current
    directory, so that a ``signal.py`` there would be executed in each of them. A worker receives the path of
    its parent afterwards, as usual.
    """
    # All kinds of processes that multiprocessing starts pass one of these functions; no setting covers them
    # all.
    if sys.platform == "win32":
        if (get_command_line := spawn.get_command_line).__module__ != __name__:
            spawn.get_command_line = lambda **settings: _with_clean_path(get_command_line(**settings))
    elif (start := util.spawnv_passfds).__module__ != __name__:
        util.spawnv_passfds = lambda path, args, passfds: start(path, _with_clean_path(args), passfds)


def _with_clean_path(command: Sequence[Any]) -> list[Any]:
    """Return a ``python -c`` command with the setting that keeps the current directory off its path."""
    changed = list(command)
    if "-c" in changed[:-1]:  # a frozen executable has no -c, and no such path
        place = changed.index("-c")
        if sys.version_info >= (3, 11):
            changed.insert(place, "-P")  # from 3.13 on, Python imports linecache before it runs the program
        else:
            changed[place + 1] = "import sys; sys.path[:] = filter(None, sys.path); " + changed[place + 1]
    return changed


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Delay SIGINT and SIGTERM until the block has ended; processes started in it ignore SIGINT.

    A terminal sends SIGINT to all processes of a command; the parent handles it and stops its workers.
    Outside the main thread nothing is delayed. Processes started in the block or later do not import from
    the current directory (see `leave_out_current_directory`).
    """
    leave_out_current_directory()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    handlers: dict[int, Any] = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
    }
    masks = hasattr(signal, "pthread_sigmask")
    if masks:
        resource_tracker.ensure_running()  # started in the block, it would unblock SIGINT
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    for number in handlers:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


_ROOT_LOGGER = "disambig"
LogMessage = tuple[str, int, str]
"""Name of the logger, level, message."""


def logger_levels() -> dict[str, int]:
    """Return the loggers of disambig that have a level in this process, with their levels."""
    loggers = {name: logging.getLogger(name) for name in logging.root.manager.loggerDict}
    return {
        name: log.level
        for name, log in loggers.items()
        if name.partition(".")[0] == _ROOT_LOGGER and log.level != logging.NOTSET
    }


def log_message(message: LogMessage) -> None:
    """Log a message that a worker sent."""
    name, level, text = message
    logging.getLogger(name).log(level, "%s", text)


class _ConnectionHandler(logging.Handler):
    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # the other end was closed
            self._connection.send(("log", (record.name, record.levelno, record.getMessage())))


_IS_LINUX = sys.platform == "linux"
_MEMORY_CHECK_SECONDS = 0.1 if _IS_LINUX else 1.0
"""Seconds between two checks of memory usage, which are cheap on systems with /proc."""


def memory_usage(process: int) -> int:
    """Return the private memory of a process in bytes, or 0 if it is unknown.

    On Linux, mapped files such as count tables are not counted; on other systems they are.
    """
    with suppress(OSError, ValueError, IndexError, subprocess.SubprocessError):
        if _IS_LINUX:
            with open(f"/proc/{process}/status", "rb") as file:
                for line in file:
                    if line.startswith(b"RssAnon:"):
                        return int(line.split()[1]) * 1024
            return 0
        command = ["ps", "-o", "rss=", "-p", str(process)]
        return int(subprocess.run(command, capture_output=True, timeout=5, check=True).stdout) * 1024
    return 0


TRIES = 2


@dataclass(slots=True, eq=False)
class _WorkerProcess:
    """A worker process as seen by its parent; `pending` is its current item."""

    process: Any
    connection: Connection
    ready: bool = False
    pending: PendingItem | None = None
    started_at: float = 0.0  # when it was sent its item
    late: bool = False  # killed because of the timeout
    large: bool = False  # killed because of its memory

    @property
    def free(self) -> bool:
        """Whether the worker can accept an item."""
        return self.ready and not self.late and not self.large and self.pending is None


@dataclass(slots=True)
class _ProcessPool:
    """The processes of one run; `idle` workers of an earlier run are used before new ones are started."""

    work: Work
    queue: ItemQueue
    limit: int
    idle: list[_WorkerProcess]
    timeout: float | None = None
    memory: int | None = None
    workers: list[_WorkerProcess] = field(default_factory=list)
    failed_starts: int = 0
    logged: set[LogMessage] = field(default_factory=set)

    def n_workers(self) -> int:
        """Return the number of workers for which items are to wait."""
        return self.limit

    def dispatch(self) -> None:
        """Send waiting items to free workers, and start more workers while items are waiting."""
        waiting = self.queue.waiting
        for worker in self.workers:
            if worker.free and waiting:
                worker.pending, worker.started_at = waiting.popleft(), time.monotonic()
                with suppress(BrokenPipeError, ConnectionResetError):  # it died: see its sentinel
                    worker.connection.send(("item", worker.pending.item))
        # workers that are still loading will take items soon: start no more than are waiting
        starting = sum(not worker.ready for worker in self.workers)
        while len(self.workers) < self.limit and starting < len(waiting):
            with delay_interrupts():  # interrupting a starting worker would show its traceback
                if self.idle:
                    worker = self.idle.pop()
                    worker.ready = False
                    self.workers.append(worker)
                    with suppress(BrokenPipeError, ConnectionResetError):  # it died: see its sentinel
                        worker.connection.send(("work", self.work))
                else:
                    self.workers.append(_start(self.work))
            starting += 1

    def busy(self) -> bool:
        """Return True if workers have items."""
        return any(worker.pending for worker in self.workers)

    def receive(self) -> list[WorkOutcome]:
        """Wait for messages of workers and return the finished outcomes."""
        sources: dict[Any, _WorkerProcess] = {}
        for worker in self.workers:
            sources[worker.connection] = worker
            sources[worker.process.sentinel] = worker
        self._kill_excessive()
        messages = wait(list(sources), self._seconds_to_wait())
        ready = {id(sources[source]): sources[source] for source in messages}
        outcomes = []
        for worker in ready.values():
            message = _receive(worker.connection)
            outcome = self._handle_exit(worker) if message is None else self._handle_message(worker, *message)
            if outcome is not None:
                outcomes.append(outcome)
        return outcomes

    def _seconds_to_wait(self) -> float | None:
        """Return the seconds until the next timeout or memory check."""
        starts = [worker.started_at for worker in self.workers if worker.pending and not worker.late]
        interval = None if self.memory is None else _MEMORY_CHECK_SECONDS
        if self.timeout is None or not starts:
            return interval
        until_timeout = max(0.0, min(starts) + self.timeout - time.monotonic())
        return until_timeout if interval is None else min(until_timeout, interval)

    def _kill_excessive(self) -> None:
        """Kill the workers that took too long for their item, and those that use too much memory."""
        for worker in self.workers:
            if self.timeout is not None and worker.pending:
                worker.late = worker.late or time.monotonic() - worker.started_at >= self.timeout
            if self.memory is not None:
                worker.large = worker.large or memory_usage(worker.process.pid) > self.memory
            if worker.late or worker.large:
                worker.process.kill()

    def _handle_message(self, worker: _WorkerProcess, kind: str, value: Any) -> WorkOutcome | None:
        """Handle a message of a worker; return the outcome of its item if the item is finished."""
        if isinstance(value, UserError):
            raise value
        if kind == "ready":
            worker.ready, self.failed_starts = True, 0
            return None
        if kind == "log":
            if value not in self.logged:
                self.logged.add(value)
                log_message(value)
            return None
        if kind == "no start":
            raise RuntimeError(f"a worker could not start:\n{value}")
        pending = worker.pending
        assert pending is not None
        if kind == "part":
            pending.counter(value)
            return None
        worker.pending = None
        return pending.outcome(problem=last_line(value)) if kind == "bug" else pending.outcome(value)

    def _handle_exit(self, worker: _WorkerProcess) -> WorkOutcome | None:
        """Remove a worker whose process has ended, and retry its item or return its failure."""
        worker.process.join()
        cause = (
            f"it used more than {self.memory:,} bytes of memory"
            if worker.large
            else _describe_exit(worker.process.exitcode)
        )
        worker.connection.close()
        self.workers.remove(worker)
        if not worker.ready:
            self.failed_starts += 1
            if self.failed_starts >= TRIES:
                raise UserError("D315", problem=cause)
        pending = worker.pending
        if pending is None:
            return None
        if worker.late:
            return self.queue.fail(pending, f"it took longer than {self.timeout:g} seconds, {TRIES} times")
        return self.queue.fail(pending, f"it ended its worker process {TRIES} times ({cause})")

    def release(self) -> None:
        """Keep free workers for the next run, and stop the others."""
        self.idle += [worker for worker in self.workers if worker.free]
        _stop([worker for worker in self.workers if not worker.free])


@dataclass(frozen=True, slots=True)
class ProcessRunner:
    """A runner with supervised processes on this machine, started on demand."""

    workers: int
    # Maximum seconds per item; then its worker is killed and another one retries
    timeout: float | None = None
    # Maximum bytes per worker (see `memory_usage`); then it is killed and another one retries
    memory: int | None = None

    def run(self, work: Work, items: Iterable[Any], **options: Unpack[RunOptions]) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item; an item that ends its worker twice has failed."""
        with self.staying() as runner:
            yield from runner.run(work, items, **options)

    @contextmanager
    def staying(self) -> Iterator[Runner]:
        """Yield a similar runner that keeps its processes for further runs until the block ends."""
        idle: list[_WorkerProcess] = []
        try:
            yield _PersistentRunner(self, idle)
        finally:
            _stop(idle)


@dataclass(frozen=True, slots=True)
class _PersistentRunner:
    """A runner for several consecutive runs, between which its processes are `idle`."""

    settings: ProcessRunner
    idle: list[_WorkerProcess]

    def run(self, work: Work, items: Iterable[Any], **options: Unpack[RunOptions]) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item; an item that ends its worker twice has failed."""
        settings = self.settings
        queue = ItemQueue(iter(items), TRIES, **options)
        pool = _ProcessPool(work, queue, settings.workers, self.idle, settings.timeout, settings.memory)
        try:
            yield from queue.outcomes(pool)
        finally:
            pool.release()


def _stop(workers: Iterable[_WorkerProcess]) -> None:
    """Terminate workers; kill those that are alive after five seconds."""
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(5)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.connection.close()


def _start(work: Work) -> _WorkerProcess:
    """Start a process that does some work."""
    leave_out_current_directory()
    # "fork" would copy locks held by other threads (BLAS, Numba) into a worker, where nobody releases them
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work, logger_levels()), daemon=True)
    process.start()
    theirs.close()  # so that reading ends with EOFError if the worker dies
    return _WorkerProcess(process, ours)


def _receive(connection: Connection) -> tuple[str, Any] | None:
    """Return the next message of a worker; None if it has ended."""
    try:
        return connection.recv() if connection.poll() else None
    except (EOFError, OSError):
        return None


def _describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"{name}, out of memory?" if name == "SIGKILL" else name
    return f"exit status {code}"


def _serve(connection: Connection, work: Work, levels: Mapping[str, int]) -> None:
    """Process items and send log records until the other end closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and stops this worker
    atexit.register(gc.freeze)  # otherwise Python searches all objects for cycles before it exits
    threading.Thread(target=_die_with_parent, daemon=True).start()
    for name, level in levels.items():
        log = logging.getLogger(name)
        log.setLevel(level)
        log.handlers = [_ConnectionHandler(connection)]
        log.propagate = False
    with suppress(EOFError, ConnectionError):  # the parent was killed, and nobody is left to tell
        _serve_items(connection, work)


def _serve_items(connection: Connection, work: Work) -> None:
    function = _start_work(connection, work)
    while function is not None:
        kind, value = connection.recv()
        if kind == "work":
            del function  # free its memory before the next work is loaded
            function = _start_work(connection, value)
            continue
        try:
            message = "done", function(value, lambda done: connection.send(("part", done)))
        except UserError as problem:
            message = "user error", problem
        except Exception:
            message = "bug", traceback.format_exc()
        connection.send(message)


def _start_work(connection: Connection, work: Work) -> Function | None:
    """Start the work and report the result; return None if that fails."""
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
    if (parent := multiprocessing.parent_process()) is not None:
        wait([parent.sentinel])
        os._exit(1)  # from a thread, sys.exit would end only the thread


@dataclass(frozen=True, slots=True)
class InProcessRunner:
    """A runner that processes items one after the other in this process."""

    def run(self, work: Work, items: Iterable[Any], **options: Unpack[RunOptions]) -> Iterator[WorkOutcome]:
        """Return the outcome of each item in order.

        Raises `TypeError` for an unknown option.
        """
        return self._run(work, items, **options)

    def _run(
        self,
        work: Work,
        items: Iterable[Any],
        *,
        ordered: bool = True,  # they always are
        report_progress: ProgressCallback = ignore_progress,
    ) -> Iterator[WorkOutcome]:
        function = None
        for index, item in enumerate(items):
            function = function or work.start()
            counter = ProgressCounter(report_progress)
            try:
                result = function(item, counter)
                outcome = WorkOutcome(index, item, result, progress=counter.amount)
            except (UserError, BrokenPipeError):
                raise
            except Exception:
                outcome = WorkOutcome(
                    index, item, problem=last_line(traceback.format_exc()), progress=counter.amount
                )
            yield outcome


def local_runner(workers: int, *, timeout: float | None = None, memory: int | None = None) -> Runner:
    """Return the runner for `workers` processes on this machine; a single worker runs in this process.

    With a timeout (seconds per item) or a memory limit (bytes per worker), a single worker also has its own
    process, so that it can be killed.
    """
    if workers == 1 and timeout is None and memory is None:
        return InProcessRunner()
    return ProcessRunner(workers, timeout, memory)


LOCAL = "local"


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """A user's options for the engine that runs a job.

    Attributes
    ----------
    workers : int
        Number of worker processes; for a running cluster, number of workers to wait for.
    scheduler : str or None
        Address of a running cluster; None if the engine starts one or needs none.
    timeout : float or None
        Maximum seconds per item (a shard or a batch); None for no limit.
    memory : int or None
        Maximum bytes per worker, for the engine local only; None for no limit.

    Raises
    ------
    UserError
        D859 for a timeout that is not a number above 0.
    """

    workers: int = 1
    scheduler: str | None = None
    timeout: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise UserError("D859", value=self.timeout)


def make_runner(name: str = LOCAL, options: EngineOptions | None = None) -> Runner:
    """Return the runner of an engine.

    Raises D851 for an unknown name, D878 for a memory limit with an engine other than local, D007 if it
    cannot be imported, D414 if what it returns has no method `run`; errors of the engine.

    `name`: ``"local"``, ``"dask"`` or another engine, or a full name such as ``"dask.dask.v1"``.
    """
    options = options or EngineOptions()
    if name == LOCAL:  # no plugin has to be loaded
        return in_processes(options)
    if options.memory is not None:
        raise UserError("D878", name=name)
    from disambig.registry import describe_component, entries

    registered = entries("runners")
    entry = registered.get(name)
    if entry is None:  # a short name, which stands for the newest version of the first owner's engine
        newest: dict[str, Any] = {}
        # the core comes first, then plugins in order of loading
        for full_name, candidate in registered.items():
            short, version = full_name.split(".")[-2], int(full_name.rpartition(".v")[2])
            kept = newest.setdefault(short, (candidate, version))
            if kept[0].owner == candidate.owner and version > kept[1]:
                newest[short] = (candidate, version)
        if name not in newest:
            raise UserError("D851", name=name, names=nearest_first(name, newest))
        entry = newest[name][0]
    factory = entry.load()
    runner: Runner = factory(options)
    wanted = "run(work, items, ordered=False, report_progress=...), which yields a WorkOutcome for each item"
    component = describe_component("runners", factory)
    check_call(component, runner, "run", wanted, None, None, ordered=None, report_progress=None)
    return runner


def in_processes(options: EngineOptions) -> Runner:
    """Return a runner with processes on this machine; see `local_runner`.

    Raises D852 for a scheduler, which local processes do not use.
    """
    if options.scheduler is not None:
        raise UserError("D852", address=options.scheduler, name=LOCAL)
    return local_runner(options.workers, timeout=options.timeout, memory=options.memory)
