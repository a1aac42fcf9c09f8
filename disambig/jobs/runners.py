"""Runners of this machine, and engines by name."""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from disambig.errors import UserError, nearest_first
from disambig.jobs.processes import ProcessRunner
from disambig.jobs.work import (
    ProgressCallback,
    ProgressCounter,
    Runner,
    Work,
    WorkOutcome,
    ignore_progress,
    last_line,
)


@dataclass(frozen=True, slots=True)
class InProcessRunner:
    """The runner without other processes: one item after the other, here."""

    def run(
        self,
        work: Work,
        items: Iterable[Any],
        *,
        ordered: bool = False,
        tell: ProgressCallback = ignore_progress,
    ) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item in order."""
        function = None
        for index, item in enumerate(items):
            function = function or work.start()
            counter = ProgressCounter(tell)
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
    """Return the runner for `workers` processes of this machine; one works in this process.

    With a timeout, the seconds that an item may take, or a bound on the memory of a worker, in bytes, the one
    has a process, too, which can be ended.
    """
    if workers == 1 and timeout is None and memory is None:
        return InProcessRunner()
    return ProcessRunner(workers, timeout, memory)


LOCAL = "local"


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What a user says about where a job is done.

    Attributes
    ----------
    workers : int
        Worker processes; of a cluster that is there already, how many to wait for.
    scheduler : str or None
        Where the cluster is; None: the engine makes one, or needs none.
    timeout : float or None
        Seconds that an item (a shard, a batch) may take; None: as long as it likes.
    memory : int or None
        Bytes that a worker may hold, of the engine local; None: as many as it likes.

    Raises
    ------
    UserError
        D859 for a timeout that is no number of seconds above 0.
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

    Parameters
    ----------
    name : str
        ``"local"``, ``"dask"``, ...; or a full name, such as ``"dask.dask.v1"``.
    options : EngineOptions, optional

    Raises
    ------
    UserError
        D851 for an unknown name; D878 for a bound on memory, which is of local workers; D007 for one that
        cannot be imported; what the engine raises.
    """
    options = options or EngineOptions()
    if name == LOCAL:  # no plugin need be loaded
        return in_processes(options)
    if options.memory is not None:
        raise UserError("D878", name=name)
    from disambig.registry import entries

    by_name = entries("runners")
    entry = by_name.get(name)
    if entry is None:
        newest: dict[str, Any] = {}
        for full, part in by_name.items():  # the core comes first, then in the order of plugins
            short, version = full.split(".")[-2], int(full.rpartition(".v")[2])
            first = newest.setdefault(short, (part, version))
            if first[0].owner == part.owner and version > first[1]:
                newest[short] = (part, version)
        if name not in newest:
            raise UserError("D851", name=name, names=nearest_first(name, newest))
        entry = newest[name][0]
    runner: Runner = entry.load()(options)
    return runner


def in_processes(options: EngineOptions) -> Runner:
    """Return the runner in processes of this machine; one worker without a timeout works in this process.

    Raises
    ------
    UserError
        D852 for a scheduler, which is none of this machine's processes.
    """
    if options.scheduler is not None:
        raise UserError("D852", address=options.scheduler, name=LOCAL)
    return local_runner(options.workers, timeout=options.timeout, memory=options.memory)
