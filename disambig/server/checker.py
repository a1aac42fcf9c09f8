"""The models of a server, and the thread that runs them."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from disambig.checking import CorrectingAnnotator, load_checker
from disambig.configuration import CheckSettings
from disambig.data import plain_word
from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, Document
from disambig.models import (
    BATCH_CHARACTERS,
    Annotate,
    annotate_documents,
    load_standalone,
    task_rates,
    unused_writing,
    with_writing,
    wrap_annotator,
)
from disambig.rules import Rule, find_rule
from disambig.runtime import DeadlineExceeded, processor_time_limit

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.models import Model, StandaloneModel


Rates = Mapping[str, float]
"""Flags per 1,000 correct words, by task; other tasks have the rate of their model."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of a request for the models."""

    rates: Rates
    writing: str | None = None  # kind of writing; by default that of the settings


MakeResponse = Callable[[Sequence[AnnotatedDocument]], bytes]
"""Turns the annotated texts of a request into the body of its response."""


@dataclass(eq=False, slots=True)
class _CheckJob:
    """A request in the queue."""

    texts: Sequence[str]
    options: CheckOptions
    make_response: MakeResponse
    response: Future[bytes] = field(default_factory=Future)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = sum(map(len, self.texts))


_MIN_SHARE, _MAX_SHARE = 1 / 16, 1 / 2
"""Shares of the time limit; batches become larger below the first one, and smaller above the second one."""


class ModelThread:
    """A thread that runs the models, and the queue of its jobs.

    `annotate`: takes options and returns a function that annotates texts.
    `seconds`: maximum processor time for a batch of texts, or for one text.
    """

    def __init__(self, annotate: Callable[[CheckOptions], Annotate], *, seconds: float = math.inf) -> None:
        self._annotate = annotate
        self._seconds = seconds
        self._max_characters = BATCH_CHARACTERS
        self._queue: deque[_CheckJob] = deque()
        self._changed = threading.Condition()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._work, name="disambig models", daemon=True)
        self._thread.start()

    async def ask(self, texts: Sequence[str], options: CheckOptions, make_response: MakeResponse) -> bytes:
        """Annotate texts and return the response that `make_response` builds from them.

        `make_response` runs in the thread of the models and may use them. `texts` may be empty.

        Raises D313 if a text cannot be annotated; D891 if that takes too long; D887 if the server stops; the
        errors of `make_response`.
        """
        job = _CheckJob(texts, options, make_response)
        with self._changed:
            if self._is_stopped:
                raise UserError("D887")
            self._queue.append(job)
            self._changed.notify()
        return await asyncio.wrap_future(job.response)

    def end(self) -> None:
        """Finish the current batch, reject the queued jobs and stop the thread."""
        with self._changed:
            self._is_stopped = True
            rejected = list(self._queue)
            self._queue.clear()
            self._changed.notify()
        # Outside of the lock, because setting an exception calls the callbacks of the future.
        for job in rejected:
            if job.response.set_running_or_notify_cancel():
                job.response.set_exception(UserError("D887"))
        self._thread.join()

    def _work(self) -> None:
        while (batch := self._next_batch()) is not None:
            start = time.thread_time()
            self._answer(batch)
            seconds = time.thread_time() - start
            # A batch that exceeds the limit fails as a whole, so its size falls faster than it rises.
            if seconds > _MAX_SHARE * self._seconds:
                self._max_characters = max(1, sum(job.size for job in batch) // 4)
            elif seconds < _MIN_SHARE * self._seconds:
                self._max_characters = min(BATCH_CHARACTERS, 2 * self._max_characters)

    def _next_batch(self) -> list[_CheckJob] | None:
        """Return the oldest job and further jobs with the same options; None if the thread is to stop.

        Cancelled jobs are dropped.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_stopped)
            if self._is_stopped:
                return None
            batch: list[_CheckJob] = []
            others: list[_CheckJob] = []
            size = 0
            maximum = self._max_characters
            while self._queue and size < maximum:
                job = self._queue.popleft()
                if not batch or (job.options == batch[0].options and size + job.size <= maximum):
                    # False for a request whose client left; from here on, it cannot be cancelled any more
                    if job.response.set_running_or_notify_cancel():
                        batch.append(job)
                        size += job.size
                else:
                    others.append(job)
            self._queue.extendleft(reversed(others))  # back to the front, in their order
            return batch

    def _answer(self, batch: Sequence[_CheckJob]) -> None:
        """Annotate the texts of a batch of jobs together, and set the response of each job."""
        try:
            results_per_job = self._annotate_batch(batch)
        except Exception as problem:
            for job in batch:
                job.response.set_exception(problem)
            return
        # One job at a time: an error of a text, or of making a response, concerns only its own request.
        for job, results in zip(batch, results_per_job, strict=True):
            try:
                for result in results:
                    if isinstance(result, UserError):
                        raise result
                documents = [result for result in results if isinstance(result, AnnotatedDocument)]
                job.response.set_result(job.make_response(documents))
            except Exception as problem:
                job.response.set_exception(problem)

    def _annotate_batch(self, batch: Sequence[_CheckJob]) -> list[list[AnnotatedDocument | UserError]]:
        """Annotate the texts of all jobs in one call; a text that fails does not affect the others."""
        texts = [text for job in batch for text in job.texts]
        documents = [Document(str(i), text, f"text {i}", kind="json") for i, text in enumerate(texts)]
        results: dict[str, AnnotatedDocument | UserError] = {}
        if documents:
            annotate = self._with_time_limit(self._annotate(batch[0].options))
            annotated, failed = annotate_documents(documents, annotate)
            results |= {result.document.path: result for result in annotated}
            results |= {failure.path: _most_specific(failure.error) for failure in failed}
        in_order = iter([results[document.path] for document in documents])
        return [[next(in_order) for _ in job.texts] for job in batch]

    def _with_time_limit(self, annotate: Annotate) -> Annotate:
        """Return a version of `annotate` that raises D891 if it takes too long."""

        def run(texts: Sequence[str]) -> list[Decisions]:
            try:
                with processor_time_limit(self._seconds):
                    return annotate(texts)
            except DeadlineExceeded:
                raise UserError("D891", seconds=self._seconds) from None

        return wrap_annotator(run, annotate)


def _most_specific(problem: UserError) -> UserError:
    """Return the time limit (D891) if it caused the error, otherwise the error itself."""
    cause = problem.__cause__  # `annotate_documents` puts D313 around errors of a text
    return cause if isinstance(cause, UserError) and cause.code == "D891" else problem


PICKY_FACTOR = 3.0
"""Factor on the rate of false alarms if a client requests more flags."""


@dataclass(frozen=True, slots=True)
class ServerChecker:
    """The models and settings of a server."""

    loaded: CorrectingAnnotator  # the models that correct words, with their measured precision
    rates: Rates  # flags per 1,000 correct words for requests that do not give a rate
    ignore: frozenset[str] = frozenset()  # words to ignore, as `plain_word` returns them
    max_flags_per_1000: float | None = None  # maximum number of flags per 1,000 words of a text
    # parsers and converters by the names under which they are served
    standalone: Mapping[str, StandaloneModel] = field(default_factory=dict)

    @classmethod
    def from_settings(cls, settings: CheckSettings, *, standalone: Sequence[str] = ()) -> ServerChecker:
        """Load the models that settings name, and standalone models by their names or folders.

        Raises the errors of `disambig.checking.load_checker` and
        `disambig.models.load_standalone`, and those of the files of words to ignore; D896 for two standalone
        models of the same name.
        """
        standalone_models: dict[str, StandaloneModel] = {}
        for name_or_path in standalone:
            name = Path(name_or_path).name if Path(name_or_path).is_dir() else name_or_path
            if name in standalone_models:
                raise UserError("D896", name=name)
            standalone_models[name] = load_standalone(name_or_path)
        loaded = load_checker(settings)
        set_rates = task_rates(loaded.models, loaded.rates)
        rates = {
            model.task.name: set_rates.get(model.task.name, model.flags_per_1000) for model in loaded.models
        }
        ignore = frozenset(map(plain_word, settings.words_to_ignore()))
        return cls(loaded, rates, ignore, settings.max_flags_per_1000, standalone_models)

    @property
    def models(self) -> Mapping[str, Model]:
        """The models by task."""
        return {model.task.name: model for model in self.loaded.models}

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules of the models by name; if two models have a rule, that of the first one."""
        from disambig.types import task_rules

        models = tuple(self.models.values())[::-1]
        return {rule.name: rule for model in models for rule in task_rules(model.task).rules}

    def rule(self, name: str) -> Rule:
        """Return the rule of a flag."""
        return self.rules.get(name) or find_rule(name)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the models, such as ``"en"``, without duplicates."""
        return tuple(dict.fromkeys(model.language or "en" for model in self.models.values()))

    @property
    def flags_per_1000(self) -> float:
        """Sum of the rates of all tasks."""
        return sum(self.rates.values())

    def options_for(
        self, flags_per_1000: float | None = None, *, picky: bool = False, writing: str | None = None
    ) -> CheckOptions:
        """Return the options of a request.

        Raises D401 for an invalid rate.

        `flags_per_1000`: rate of all tasks together; by default the rates of the settings.
        `picky`: whether to show more flags. It has no effect if the settings have a minimum precision,
        because a rate would replace that.
        `writing`: kind of writing; by default that of the settings.
        """
        return CheckOptions(self._rates(flags_per_1000, picky), writing)

    def _rates(self, flags_per_1000: float | None, picky: bool) -> Rates:
        rates = self.rates
        if flags_per_1000 is not None:
            rates = task_rates(list(self.models.values()), flags_per_1000)
        elif self.loaded.least is not None:
            return rates
        return {task: PICKY_FACTOR * rate for task, rate in rates.items()} if picky else rates

    def note(self, options: CheckOptions) -> UserError | None:
        """Return a note for the client if its kind of writing has no effect on these models."""
        return unused_writing(self.loaded.models, options.writing)

    def annotate(self, options: CheckOptions) -> Annotate:
        """Return a function that annotates texts with the given options.

        A request with another rate than that of the settings replaces a minimum precision in the settings.
        """
        return replace(
            self.loaded,
            models=with_writing(self.loaded.models, options.writing),
            rates=options.rates,
            least=self.loaded.least if options.rates == self.rates else None,
        )

    def warm_up(self, texts: Sequence[str]) -> None:
        """Annotate texts, so that no request has to wait for compilation or for opening files."""
        decide = self.annotate(self.options_for())
        decide(texts[:1])
        decide(texts)
        for model in self.standalone.values():
            model.records(["1"])
