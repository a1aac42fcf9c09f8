"""The models of a server, and the thread that asks them."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from disambig.checking import CorrectingAnnotator as Loaded
from disambig.checking import load_checker, plain_word
from disambig.configuration import CheckSettings
from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, Document
from disambig.jobs import BATCH, Annotate, annotate_documents
from disambig.runtime import DeadlineExceeded, processor_time_limit

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.models import Model


Rates = Mapping[str, float]
"""Flags per 1,000 correct words, by task; a task that is not in it has its model's own."""
Make = Callable[[Sequence[AnnotatedDocument]], bytes]
"""From the decided texts of a request to its answer."""


@dataclass(eq=False, slots=True)
class _CheckJob:
    texts: Sequence[str]
    rates: Rates
    make: Make
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[bytes]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = sum(map(len, self.texts))


class ModelThread:
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
        self._waiting: deque[_CheckJob] = deque()
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
        job = _CheckJob(texts, rates, make, loop, loop.create_future())
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
            _set_result(job, UserError("D887"))
        self._thread.join()

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            self._answer(batch)

    def _next(self) -> list[_CheckJob] | None:
        """Return the job that has waited longest, and with it others of the same rates; None at the end.

        Whoever has left is passed over.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            if self._ended:
                return None
            batch: list[_CheckJob] = []
            others: list[_CheckJob] = []
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

    def _answer(self, batch: Sequence[_CheckJob]) -> None:
        try:
            found = self._decided(batch)
        except Exception as problem:
            for job in batch:
                _set_result(job, problem)
            return
        for job, results in zip(batch, found, strict=True):
            try:
                bad = next((each for each in results if isinstance(each, UserError)), None)
                _set_result(
                    job, bad or job.make([each for each in results if isinstance(each, AnnotatedDocument)])
                )
            except Exception as problem:
                _set_result(job, problem)

    def _decided(self, batch: Sequence[_CheckJob]) -> list[list[AnnotatedDocument | UserError]]:
        """Decide the texts of all jobs in one call; a text that fails spoils no other."""
        texts = [text for job in batch for text in job.texts]
        documents = [Document(str(i), text, f"text {i}", kind="json") for i, text in enumerate(texts)]
        results: list[AnnotatedDocument | UserError] = []
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
            except DeadlineExceeded:
                raise UserError("D891", seconds=self._seconds) from None

        return run


def _refusal(problem: UserError) -> UserError:
    """Return what is wrong with a text: that it took too long, rather than that it could not be decided."""
    cause = problem.__cause__
    return cause if isinstance(cause, UserError) and cause.code == "D891" else problem


def _set_result(job: _CheckJob, outcome: bytes | Exception) -> None:
    """Hand an answer over to the loop of whoever waits for it."""

    def settle() -> None:
        if job.answer.done():
            return
        if isinstance(outcome, Exception):
            job.answer.set_exception(outcome)
        else:
            job.answer.set_result(outcome)

    _call_soon(job.loop, settle)


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], Any]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)


PICKY = 3.0
"""So many times as many false alarms are accepted where a client asks for more."""


@dataclass(frozen=True, slots=True)
class ServerChecker:
    """What a server checks with.

    Attributes
    ----------
    loaded : Loaded
        The models that correct words, and what was measured of them.
    rates : mapping from task to float
        Flags per 1,000 correct words that hold where a request asks for none.
    ignore : frozenset of str
        Words that are left alone, as `plain_word` returns them.
    max_flags_per_1000 : float or None
        Most flags for 1,000 words of a text.
    """

    loaded: Loaded
    rates: Rates
    ignore: frozenset[str] = frozenset()
    max_flags_per_1000: float | None = None

    @classmethod
    def from_settings(cls, settings: CheckSettings) -> ServerChecker:
        """Load the models that settings ask for.

        Raises
        ------
        UserError
            As for `disambig.checking.loading.load_checker`, and for the files of words to leave alone.
        """
        from disambig.models import task_rates

        loaded = load_checker(settings)
        assert isinstance(loaded, Loaded)
        asked = task_rates(loaded.models, loaded.rates)
        rates = {each.task.name: asked.get(each.task.name, each.flags_per_1000) for each in loaded.models}
        ignore = frozenset(map(plain_word, settings.words_to_ignore()))
        return cls(loaded, rates, ignore, settings.max_flags_per_1000)

    @property
    def models(self) -> Mapping[str, Model]:
        """The models by task."""
        return {each.task.name: each for each in self.loaded.models}

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the models, such as ``"en"``, each once."""
        return tuple(dict.fromkeys(each.language or "en" for each in self.models.values()))

    @property
    def flags_per_1000(self) -> float:
        """All rates together."""
        return sum(self.rates.values())

    def rates_for(self, flags_per_1000: float | None = None, *, picky: bool = False) -> Rates:
        """Return the rates of a request.

        Parameters
        ----------
        flags_per_1000 : float, optional
            Of all tasks together; by default what the settings say.
        picky : bool
            Whether more is to be shown; nothing where the settings say how many flags are to be right, which
            a rate would take the place of.

        Raises
        ------
        UserError
            D401 for a number that is no rate.
        """
        from disambig.models import task_rates

        rates = self.rates
        if flags_per_1000 is not None:
            rates = task_rates(list(self.models.values()), flags_per_1000)
        elif self.loaded.least is not None:
            return rates
        return {task: PICKY * rate for task, rate in rates.items()} if picky else rates

    def annotate(self, rates: Rates) -> Annotate:
        """Return the function that decides texts at some rates.

        How many flags are to be right, where settings say so, holds at the rates of the settings alone: a
        request that asks for others asks for them in its place.
        """
        return replace(self.loaded, rates=rates, least=self.loaded.least if rates == self.rates else None)

    def warm_up(self, texts: Sequence[str]) -> None:
        """Decide some texts, so that nobody waits for what is compiled or opened on first use."""
        decide = self.annotate(self.rates)
        decide(texts[:1])
        decide(texts)
