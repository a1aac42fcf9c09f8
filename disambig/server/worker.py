"""One thread asks the models, whose caches are not for several; what waits together is decided together."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from disambig.alarm import TooLong, processor_time_limit
from disambig.batch.annotation import BATCH, annotate_documents
from disambig.batch.sources import Annotate
from disambig.errors import UserError
from disambig.formats.documents import Document
from disambig.formats.results import Annotated

if TYPE_CHECKING:
    from disambig.data.decisions import Decisions

Rates = Mapping[str, float]
"""Flags per 1,000 correct words, by task; a task that is not in it has its model's own."""
Make = Callable[[Sequence[Annotated]], bytes]
"""From the decided texts of a request to its answer."""


@dataclass(eq=False, slots=True)
class _Job:
    texts: Sequence[str]
    rates: Rates
    make: Make
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[bytes]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = sum(map(len, self.texts))


class Worker:
    """The thread, and what waits for it.

    Parameters
    ----------
    annotate : callable
        From rates to a function that decides texts.
    seconds : float
        Processor time that the texts of a batch may take, or a text alone.
    """

    def __init__(self, annotate: Callable[[Rates], Annotate], *, seconds: float = math.inf) -> None:
        self._annotate = annotate
        self._seconds = seconds
        self._waiting: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="disambig models", daemon=True)
        self._thread.start()

    async def ask(self, texts: Sequence[str], rates: Rates, make: Make) -> bytes:
        """Return what `make` makes of the decided texts; without texts nothing is decided.

        `make` runs in the thread of the models, and may ask them.

        Raises
        ------
        UserError
            D313 where a text cannot be decided; D891 where that takes too long; D887 where the server ends;
            what `make` raises.
        """
        loop = asyncio.get_running_loop()
        job = _Job(texts, rates, make, loop, loop.create_future())
        with self._changed:
            if self._ended:
                raise UserError("D887")
            self._waiting.append(job)
            self._changed.notify()
        return await job.answer

    def end(self) -> None:
        """Finish what is in work and refuse the rest."""
        with self._changed:
            self._ended = True
            left = list(self._waiting)
            self._waiting.clear()
            self._changed.notify()
        for job in left:
            _tell(job, UserError("D887"))
        self._thread.join()

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            self._answer(batch)

    def _next(self) -> list[_Job] | None:
        """Return the job that has waited longest, and with it others of the same rates; None at the end.

        Whoever has left is passed over.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            if self._ended:
                return None
            batch: list[_Job] = []
            others: list[_Job] = []
            size = 0
            while self._waiting and size < BATCH:
                job = self._waiting.popleft()
                if job.answer.cancelled():
                    continue
                if not batch or (job.rates == batch[0].rates and size + job.size <= BATCH):
                    batch.append(job)
                    size += job.size
                else:
                    others.append(job)
            self._waiting.extendleft(reversed(others))
            return batch

    def _answer(self, batch: Sequence[_Job]) -> None:
        try:
            found = self._decided(batch)
        except Exception as problem:
            for job in batch:
                _tell(job, problem)
            return
        for job, results in zip(batch, found, strict=True):
            try:
                bad = next((each for each in results if isinstance(each, UserError)), None)
                _tell(job, bad or job.make([each for each in results if isinstance(each, Annotated)]))
            except Exception as problem:
                _tell(job, problem)

    def _decided(self, batch: Sequence[_Job]) -> list[list[Annotated | UserError]]:
        """Decide the texts of all jobs in one call; a text that fails spoils no other."""
        texts = [text for job in batch for text in job.texts]
        documents = [Document(str(i), text, f"text {i}", kind="json") for i, text in enumerate(texts)]
        results: list[Annotated | UserError] = []
        if documents:
            found, bad = annotate_documents(documents, self._limited(self._annotate(batch[0].rates)))
            good = {result.document.path: result for result in found}
            wrong = {each.path: _refusal(each.error) for each in bad}
            results = [good.get(each.path) or wrong[each.path] for each in documents]
        taken = iter(results)
        return [[next(taken) for _ in job.texts] for job in batch]

    def _limited(self, annotate: Annotate) -> Annotate:
        """Return `annotate` that raises D891 where it takes too long."""

        def run(texts: Sequence[str]) -> list[Decisions]:
            try:
                with processor_time_limit(self._seconds):
                    return annotate(texts)
            except TooLong:
                raise UserError("D891", seconds=self._seconds) from None

        return run


def _refusal(problem: UserError) -> UserError:
    """Return what is wrong with a text: that it took too long, rather than that it could not be decided."""
    cause = problem.__cause__
    return cause if isinstance(cause, UserError) and cause.code == "D891" else problem


def _tell(job: _Job, outcome: bytes | Exception) -> None:
    """Hand an answer over to the loop of whoever waits for it."""

    def settle() -> None:
        if job.answer.done():
            return
        if isinstance(outcome, Exception):
            job.answer.set_exception(outcome)
        else:
            job.answer.set_result(outcome)

    _soon(job.loop, settle)


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], Any]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
