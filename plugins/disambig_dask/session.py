"""One connection to a scheduler: tasks go out, news comes in through a queue; others decide what it means."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from disambig.api import UserError
from disambig.api.runners import interrupts_put_off, leave_out_current_directory
from disambig_dask.finding import address_of
from disambig_dask.hush import quiet
from disambig_dask.serving import TOPIC

LOOK = 0.5  # seconds between two looks at the workers
_STARTS = 2  # of a cluster of this machine
_QUICK = {  # of 2.0 seconds of annotation, Dask's profiler takes 0.2; giving memory back at every turn, 0.35
    "distributed.worker.profile.enabled": False,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,  # None: not set
}
_ANY_PORT = {"dashboard_address": "127.0.0.1:0"}  # it serves HTTP even so: on 8787, or warns that it is taken


@dataclass(frozen=True, slots=True)
class News:
    """What happened: a task's "answer", or it is "gone", "killed", "failed"; "said" by one; "workers" now."""

    kind: str
    number: int = 0
    value: Any = None


@dataclass(slots=True)
class Session:
    """A client, its cluster if it is ours, and the queue of news."""

    client: Any
    address: str
    cluster: Any = None  # that ends with the session
    news: SimpleQueue[News] = field(default_factory=SimpleQueue)
    closed: bool = False
    lost: bool = False
    bait: Any = None

    def begin(self) -> None:
        """Listen from now on."""
        self.client.subscribe_topic(TOPIC, lambda event: self.news.put(News("said", value=event[1])))
        self.client.loop.add_callback(self._watch)

    def running(self) -> bool:
        """Tell whether the scheduler is there, as far as is known."""
        return not self.lost and self.client.status == "running"

    def submit(self, number: int, address: str, function: Callable[..., Any], *given: Any) -> Any:
        """Send a task to one worker, after those sent before, and return its future; its end will be news."""
        future = self.keep(number, address, function, *given)
        self.client.loop.add_callback(self._follow, number, future)
        return future

    def keep(self, number: int, address: str, function: Callable[..., Any], *given: Any) -> Any:
        """Send a task whose result stays where it is."""
        return self.client.submit(
            function,
            *given,
            key=f"disambig-{function.__name__}-{self.client.id}-{number}",
            workers=[address],
            allow_other_workers=False,
            priority=-number,
            pure=False,
        )

    def call_for_workers(self, wanted: bool) -> None:
        """Leave a task waiting where there is no worker: a cluster that adapts to its load starts some."""
        if wanted and self.bait is None:
            self.bait = self.client.submit(int, pure=False)
        elif not wanted and self.bait is not None:
            self.bait.release()
            self.bait = None

    def restart(self, address: str) -> None:
        """Ask the keeper of a worker, if it has one, to end it and to begin another."""

        async def restart() -> None:
            with suppress(Exception):  # it has no keeper, or is gone
                await self.client.restart_workers([address], timeout=60, raise_for_error=False)

        self.client.loop.add_callback(restart)

    def close(self) -> None:
        """Let go of everything; a cluster of ours ends."""
        self.closed = True
        with quiet(), suppress(Exception):  # the scheduler may be gone
            self.client.close(timeout=2)
        _close(self.cluster)

    async def _follow(self, number: int, future: Any) -> None:
        from distributed.scheduler import KilledWorker

        try:
            self.news.put(News("answer", number, await future))
        except KilledWorker:
            self.news.put(News("killed", number))
        except (asyncio.CancelledError, CancelledError):  # the scheduler is gone, or nobody waits
            self.news.put(News("gone", number))
        except Exception as problem:
            said = " ".join(str(problem).split())
            self.news.put(News("failed", number, f"{type(problem).__name__}: {said}"))

    async def _watch(self) -> None:
        while not self.closed:
            pause = LOOK
            with suppress(OSError, asyncio.TimeoutError):  # the client's status says it, too
                found = await asyncio.wait_for(self.client.scheduler.identity(n_workers=-1), 30)
                workers = found["workers"]
                self.news.put(
                    News("workers", value={process_of(a, each): (a, each) for a, each in workers.items()})
                )
                pause = max(LOOK, len(workers) / 100)
            await asyncio.sleep(pause)


def process_of(address: str, about: Mapping[str, Any]) -> str:
    """Return what tells a worker's process from all others, before and after it.

    Dask's own "id" is its name, which its keeper gives to the next one, too; its folder is made anew by each.
    """
    return f"{address} {about.get('local_directory', '')}"


class KeptCluster:
    """A cluster of this machine for several sessions, one after the other."""

    def __init__(self) -> None:
        self._cluster: Any = None

    def standing(self, workers: int) -> Any:
        """Return it; the first session starts it."""
        if self._cluster is None:
            self._cluster = _cluster(workers)
        return self._cluster

    def close(self) -> None:
        """End it."""
        _close(self._cluster)
        self._cluster = None


def connect(
    scheduler: str | None, workers: int, *, seconds: float, kept: KeptCluster | None = None
) -> Session:
    """Return a session with a scheduler, or with a cluster of this machine: one that is kept, or its own.

    Raises
    ------
    UserError
        D853 where none answers within `seconds`, or none can; D920 where no cluster of this machine can be
        started.
    """
    from distributed import Client

    cluster = None
    if scheduler is None:
        cluster = _cluster(workers) if kept is None else kept.standing(workers)
    address = None if scheduler is None else address_of(scheduler, seconds=seconds)
    try:
        client = Client(address or cluster, set_as_default=False, timeout=seconds)
    except (OSError, ValueError, TypeError) as problem:
        _close(cluster if kept is None else None)
        raise UserError("D853", address=scheduler, problem=" ".join(str(problem).split())) from None
    except BaseException:
        _close(cluster if kept is None else None)
        raise
    session = Session(client, scheduler or "of this machine", cluster if kept is None else None)
    session.begin()
    return session


def _cluster(workers: int) -> Any:
    """Return a cluster of this machine; a worker that is killed while it starts costs one more try."""
    from dask.config import set as settings
    from distributed import LocalCluster

    leave_out_current_directory()
    for left in reversed(range(_STARTS)):
        made = None
        try:
            # a cluster half started does not end without a traceback
            with interrupts_put_off(), settings(_QUICK):
                made = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    scheduler_kwargs=_ANY_PORT,
                    silence_logs=logging.CRITICAL,
                    preload=["disambig_dask.local_worker"],  # of those that are begun later, too
                )
            return made
        except Exception as problem:
            if not left:
                said = " ".join(str(problem).split())
                raise UserError("D920", problem=said or type(problem).__name__) from None
        except BaseException:
            _close(made)
            raise
    raise AssertionError


def _close(cluster: Any) -> None:
    if cluster is not None:
        with quiet(), suppress(Exception):
            cluster.close(timeout=10)
