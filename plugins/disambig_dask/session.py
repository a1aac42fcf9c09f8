"""A connection to a scheduler: find its address, send tasks, and receive events through a queue."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from disambig.api import UserError
from disambig.api.runners import delay_interrupts, leave_out_current_directory

from .serving import TOPIC

_GRACE_SECONDS = 1.0
"""Additional seconds in which Dask may report a problem itself, beyond its own time limit."""


def _on_one_line(problem: Exception) -> str:
    return " ".join(str(problem).split())


def scheduler_address(scheduler: str, *, seconds: float) -> str:
    """Return the address of a scheduler given by its address or by the file that it wrote.

    Errors are found here, before a client is made: Dask waits forever for a missing file and for a silent
    server, and leaves a half-made client behind.

    Raises D853 for a file that is missing or contains no address, for an invalid address, and if nothing
    answers as Dask does within `seconds`; addresses other than ``tcp://`` are not checked.
    """
    from distributed.comm.addressing import resolve_address

    try:
        address = _read_address(Path(scheduler)) if _is_file(scheduler) else scheduler
        resolved = resolve_address(address)
        if resolved.startswith("tcp://"):
            with ThreadPoolExecutor(1) as elsewhere:  # an event loop may already run in this thread
                elsewhere.submit(asyncio.run, _check_reachable(resolved, seconds)).result()
    except OSError as problem:
        raise UserError("D853", address=scheduler, problem=problem.strerror or problem) from None
    except (ValueError, TypeError) as problem:
        raise UserError("D853", address=scheduler, problem=_on_one_line(problem)) from None
    return address


async def _check_reachable(address: str, seconds: float) -> None:
    """Connect to a server and close the connection; ValueError or OSError if it is no scheduler."""
    from distributed.comm import connect

    try:
        connection = await asyncio.wait_for(connect(address, timeout=seconds), seconds + _GRACE_SECONDS)
        await connection.close()
    except asyncio.TimeoutError:
        raise ValueError(f"what listens there does not answer within {seconds:g} seconds") from None
    except OSError:
        raise
    except Exception as problem:
        raise ValueError(f"what answers there is not a scheduler ({type(problem).__name__})") from None


def _is_file(scheduler: str) -> bool:
    return "://" not in scheduler and (scheduler.endswith(".json") or Path(scheduler).is_file())


def _read_address(path: Path) -> str:
    data = path.read_bytes()
    try:
        return str(json.loads(data)["address"])
    except (ValueError, LookupError, TypeError, RecursionError):
        problem = "the file contains no address: give the scheduler.json that the scheduler wrote"
        raise ValueError(problem) from None


_OTHER_LOGGERS = ("tornado.application", "asyncio")
_lock = threading.Lock()
_levels_before: dict[logging.Logger, int] = {}  # levels to restore when the last block ends
_n_blocks = 0


@contextmanager
def quiet_logging() -> Iterator[None]:
    """Silence Dask's loggers; blocks may overlap (threads, alternating runs): the last one restores them."""
    global _n_blocks
    import distributed  # noqa: F401  sets levels as it is imported, which must not be later

    with _lock:
        _n_blocks += 1
        for log in _loud_loggers():
            _levels_before.setdefault(log, log.level)
            log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        with _lock:
            _n_blocks -= 1
            if not _n_blocks:
                for log, level in _levels_before.items():
                    log.setLevel(level)
                _levels_before.clear()


def _loud_loggers() -> list[logging.Logger]:
    """Return Dask's loggers with a level of their own; the others inherit the level of ``distributed``."""
    names = [name for name in list(logging.root.manager.loggerDict) if name.startswith("distributed.")]
    with_levels = [log for log in map(logging.getLogger, names) if log.level]
    return [logging.getLogger("distributed"), *with_levels, *map(logging.getLogger, _OTHER_LOGGERS)]


POLL_INTERVAL = 0.5  # seconds between two requests for the list of workers
_START_ATTEMPTS = 2  # attempts to start a local cluster
_DASK_SETTINGS = {  # of the processes of a local cluster
    # of 2.0 seconds of annotation, Dask's profiler takes 0.2 and returning memory to the system 0.35
    "distributed.worker.profile.enabled": False,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,  # None: not set
    # What every process of a cluster does at intervals, worker or not, took 5 % of a processor; 2 % is left.
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.scheduler.work-stealing": False,  # `WorkerPool` chooses the worker of each item
    "distributed.scheduler.active-memory-manager.start": False,
}
# The scheduler always serves HTTP: by default on port 8787, with a warning if that port is taken.
_ANY_PORT = {"dashboard_address": "127.0.0.1:0"}


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """An event: "answer", "gone", "killed" or "failed" of a task; "message" of a log; or "workers"."""

    kind: str
    number: int = 0
    value: Any = None


@dataclass(slots=True)
class ClusterSession:
    """A client, its cluster if this session started one, and the queue of events."""

    client: Any
    address: str
    cluster: Any = None  # ends with the session
    events: SimpleQueue[SessionEvent] = field(default_factory=SimpleQueue)
    closed: bool = False
    lost: bool = False
    waiting_task: Any = None  # makes an adaptive cluster start workers

    def begin(self) -> None:
        """Start to listen for events."""
        put = self.events.put
        self.client.subscribe_topic(TOPIC, lambda event: put(SessionEvent("message", value=event[1])))
        self.client.loop.add_callback(self._watch)

    def running(self) -> bool:
        """Return True if the connection to the scheduler is not known to be lost."""
        return not self.lost and self.client.status == "running"

    def submit(self, number: int, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Send a task to one worker, after earlier ones, and return its future; its end becomes an event."""
        future = self.submit_kept(number, address, function, *arguments)
        self.client.loop.add_callback(self._follow, number, future)
        return future

    def submit_kept(self, number: int, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Send a task whose result stays on the worker."""
        key = f"disambig-{function.__name__}-{self.client.id}-{number}"
        where = {"workers": [address], "allow_other_workers": False}
        return self.client.submit(function, *arguments, key=key, **where, priority=-number, pure=False)

    def request_workers(self, wanted: bool) -> None:
        """Keep a task waiting if there is no worker, so that an adaptive cluster starts some."""
        if wanted and self.waiting_task is None:
            self.waiting_task = self.client.submit(int, pure=False)
        elif not wanted and self.waiting_task is not None:
            self.waiting_task.release()
            self.waiting_task = None

    def restart(self, address: str) -> None:
        """Ask the nanny of a worker, if it has one, to restart it."""

        async def restart() -> None:
            with suppress(Exception):  # it has no nanny, or is gone
                await self.client.restart_workers([address], timeout=60, raise_for_error=False)

        self.client.loop.add_callback(restart)

    def close(self) -> None:
        """Close the client, and the cluster if this session started it."""
        self.closed = True
        with quiet_logging(), suppress(Exception):  # the scheduler may be gone
            self.client.close(timeout=2)
        _close_cluster(self.cluster)

    async def _follow(self, number: int, future: Any) -> None:
        """Wait for the end of a task, and put it into the queue as an event."""
        from distributed.scheduler import KilledWorker

        try:
            self.events.put(SessionEvent("answer", number, await future))
        except KilledWorker:
            self.events.put(SessionEvent("killed", number))
        except (asyncio.CancelledError, CancelledError):  # the scheduler is gone, or the future was released
            self.events.put(SessionEvent("gone", number))
        except Exception as problem:
            message = f"{type(problem).__name__}: {_on_one_line(problem)}"
            self.events.put(SessionEvent("failed", number, message))

    async def _watch(self) -> None:
        """Put the list of workers into the queue at regular intervals."""
        while not self.closed:
            pause = POLL_INTERVAL
            with suppress(OSError, asyncio.TimeoutError):  # the client's status reports it, too
                identity = await asyncio.wait_for(self.client.scheduler.identity(n_workers=-1), 30)
                workers = identity["workers"]
                # Dask's own "id" is the worker's name, which its nanny reuses; the local directory is new for
                # each process
                by_id = {
                    f"{address} {about.get('local_directory', '')}": (address, about)
                    for address, about in workers.items()
                }
                self.events.put(SessionEvent("workers", value=by_id))
                pause = max(POLL_INTERVAL, len(workers) / 100)
            await asyncio.sleep(pause)


class PersistentCluster:
    """A local cluster for several consecutive sessions."""

    def __init__(self) -> None:
        self._cluster: Any = None

    def get_or_start(self, workers: int) -> Any:
        """Return the cluster; the first call starts it."""
        if self._cluster is None:
            self._cluster = _start_cluster(workers)
        return self._cluster

    def close(self) -> None:
        """Close the cluster."""
        _close_cluster(self._cluster)
        self._cluster = None


def open_session(
    scheduler: str | None, workers: int, *, seconds: float, kept: PersistentCluster | None = None
) -> ClusterSession:
    """Return a session with a scheduler, or with a local cluster: a kept one, or its own.

    Raises D853 if no scheduler answers within `seconds`, or the address is invalid; D920 if no local cluster
    can be started.
    """
    from distributed import Client

    cluster = cluster_to_close = address = None  # `cluster_to_close` ends with the session
    if scheduler is not None:
        address = scheduler_address(scheduler, seconds=seconds)
    elif kept is not None:
        cluster = kept.get_or_start(workers)
    else:
        cluster = cluster_to_close = _start_cluster(workers)
    try:
        client = Client(address or cluster, set_as_default=False, timeout=seconds)
    except BaseException as problem:
        _close_cluster(cluster_to_close)
        if isinstance(problem, OSError | ValueError | TypeError):
            raise UserError("D853", address=scheduler, problem=_on_one_line(problem)) from None
        raise
    session = ClusterSession(client, scheduler or "of this machine", cluster_to_close)
    session.begin()
    return session


def _start_cluster(workers: int) -> Any:
    """Start a local cluster; a worker that is killed during the start costs one more attempt."""
    from dask.config import set as settings
    from distributed import LocalCluster

    leave_out_current_directory()
    for attempts_left in reversed(range(_START_ATTEMPTS)):
        cluster = None
        try:
            # interrupts are delayed: a half-started cluster cannot be closed without a traceback
            with delay_interrupts(), settings(_DASK_SETTINGS):
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    scheduler_kwargs=_ANY_PORT,
                    silence_logs=logging.CRITICAL,
                    preload=["disambig_dask._local_worker"],  # also for workers that are started later
                )
            return cluster
        except Exception as problem:
            if not attempts_left:
                raise UserError("D920", problem=_on_one_line(problem) or type(problem).__name__) from None
        except BaseException:
            _close_cluster(cluster)
            raise
    raise AssertionError


def _close_cluster(cluster: Any) -> None:
    if cluster is not None:
        with quiet_logging(), suppress(Exception):
            cluster.close(timeout=10)
