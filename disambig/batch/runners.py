"""Runners: where the items of a job are worked on. They know nothing of documents or models."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from disambig.errors import UserError

Function = Callable[[Any], Any]


class Work(Protocol):
    """What is done to items: sent to each worker once, so it must be small and can be pickled."""

    def start(self) -> Function:
        """Load what is needed and return the function that turns an item into its result."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """An item, with its result or with the reason why there is none."""

    index: int
    item: Any
    result: Any = None
    problem: str | None = None


class Runner(Protocol):
    """Runs items somewhere, each at least once; an item that fails for good has an outcome, too."""

    def run(self, work: Work, items: Iterable[Any], *, ordered: bool = False) -> Iterator[Outcome]:
        """Yield the outcome of each item, in their order if asked, else as they are done.

        Raises
        ------
        UserError
            What the work raises as such (a full disk, an unknown model) ends the run.
        """
        ...


@dataclass(frozen=True, slots=True)
class InProcess:
    """The runner without other processes: one item after the other, here."""

    def run(self, work: Work, items: Iterable[Any], *, ordered: bool = False) -> Iterator[Outcome]:
        """Yield the outcome of each item in order."""
        function = None
        for index, item in enumerate(items):
            function = function or work.start()
            try:
                outcome = Outcome(index, item, function(item))
            except (UserError, BrokenPipeError):
                raise
            except Exception:
                outcome = Outcome(index, item, problem=last_line(traceback.format_exc()))
            yield outcome


def local(workers: int) -> Runner:
    """Return the runner for `workers` processes of this machine; one works in this process."""
    if workers == 1:
        return InProcess()
    from disambig.batch.processes import Processes

    return Processes(workers)


def last_line(trace: str) -> str:
    """Return what a traceback ends in."""
    return trace.strip().splitlines()[-1]
