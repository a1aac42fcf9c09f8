"""Work on items, and what a runner does with it. Neither knows of documents or models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

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


def last_line(trace: str) -> str:
    """Return what a traceback ends in."""
    return trace.strip().splitlines()[-1]
