"""Runners on this machine, and engines by name."""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from disambig.errors import UserError, nearest_first
from disambig.jobs.processes import ProcessRunner
from disambig.jobs.work import (
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


@dataclass(frozen=True, slots=True)
class InProcessRunner:
    """A runner that processes items one after the other in this process."""

    def run(self, work: Work, items: Iterable[Any], **options: Unpack[RunOptions]) -> Iterator[WorkOutcome]:
        """Return the outcome of each item in order.

        Raises
        ------
        TypeError
            For an unknown option.
        """
        return self._run(work, items, **options)

    def _run(
        self,
        work: Work,
        items: Iterable[Any],
        *,
        ordered: bool = True,  # they always are
        tell: ProgressCallback = ignore_progress,
    ) -> Iterator[WorkOutcome]:
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
    cannot be imported; errors of the engine.

    Parameters
    ----------
    name : str
        ``"local"``, ``"dask"`` or another engine, or a full name such as ``"dask.dask.v1"``.
    """
    options = options or EngineOptions()
    if name == LOCAL:  # no plugin has to be loaded
        return in_processes(options)
    if options.memory is not None:
        raise UserError("D878", name=name)
    from disambig.registry import entries

    registered = entries("runners")
    entry = registered.get(name)
    if entry is None:
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
    runner: Runner = entry.load()(options)
    return runner


def in_processes(options: EngineOptions) -> Runner:
    """Return a runner with processes on this machine; see `local_runner`.

    Raises D852 for a scheduler, which local processes do not use.
    """
    if options.scheduler is not None:
        raise UserError("D852", address=options.scheduler, name=LOCAL)
    return local_runner(options.workers, timeout=options.timeout, memory=options.memory)
