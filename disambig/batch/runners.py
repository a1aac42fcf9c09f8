"""Runners: where the items of a job are worked on, here or in processes of this machine."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from disambig.batch.processes import Processes
from disambig.batch.work import Outcome, Runner, Tell, Told, Work, last_line, nothing
from disambig.errors import UserError


@dataclass(frozen=True, slots=True)
class InProcess:
    """The runner without other processes: one item after the other, here."""

    def run(
        self, work: Work, items: Iterable[Any], *, ordered: bool = False, tell: Tell = nothing
    ) -> Iterator[Outcome]:
        """Yield the outcome of each item in order."""
        function = None
        for index, item in enumerate(items):
            function = function or work.start()
            told = Told(tell)
            try:
                result = function(item, told)
                outcome = Outcome(index, item, result, told=told.amount)
            except (UserError, BrokenPipeError):
                raise
            except Exception:
                outcome = Outcome(index, item, problem=last_line(traceback.format_exc()), told=told.amount)
            yield outcome


def local(workers: int, *, timeout: float | None = None, memory: int | None = None) -> Runner:
    """Return the runner for `workers` processes of this machine; one works in this process.

    With a timeout, the seconds that an item may take, or a bound on the memory of a worker, in bytes, the one
    has a process, too, which can be ended.
    """
    if workers == 1 and timeout is None and memory is None:
        return InProcess()
    return Processes(workers, timeout, memory)
