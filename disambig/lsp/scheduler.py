"""Check open documents shortly after each change, in a worker thread."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from disambig.errors import UserError
from disambig.formatting import escape_control_chars
from disambig.lsp.documents import CheckResult, TextDocument, TextState
from disambig.markup import read_layout
from disambig.models import annotator_languages
from disambig.runtime import DeadlineExceeded, processor_time_limit, warm_up

if TYPE_CHECKING:
    from disambig.checking import LiveText
    from disambig.configuration import CheckSettings
    from disambig.models import Annotate


_log = logging.getLogger(__name__)


CHECKS, WARM_UP = "disambig-lsp", "disambig-warm"
THREADS = (CHECKS, WARM_UP)
"""Names of the threads that run models."""


class ThreadQueue:
    """A thread that runs jobs in order."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        threading.Thread(target=self._work, name=CHECKS, daemon=True).start()

    def submit(self, work: Callable[[], object]) -> None:
        """Queue a job; its exceptions are logged."""
        self._jobs.put(work)

    def end(self) -> None:
        """Stop the thread after the queued jobs; no job may be queued afterwards."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (work := self._jobs.get()) is not None:
            try:
                work()
            except Exception:
                _log.exception("a job of the language server failed")


SOON = 0.003
"""Seconds without another change before a text is checked."""
MOST = 2_000_000
"""Maximum number of characters of a text that is checked."""
LONG = 500_000
"""Number of characters above which the user is told at once that diagnostics may take a while."""
SLICE = 6.0
"""Seconds of processor time per slice: other documents have their turn before a long text is continued."""
LIMIT = 9.0
"""Seconds of processor time after which the check of a text is abandoned, if it could not be interrupted."""
_WARM_UP_LENGTH = 1_500
"""Number of characters on which most compiled functions run at least once."""


class LoadedCheckers:
    """Loaded models, shared by all documents and editors whose settings name the same ones.

    Parameters
    ----------
    defaults : mapping of str to Any, optional
        Options of the command: settings that take precedence over settings files, but not over those of an
        editor.
    """

    def __init__(self, defaults: Mapping[str, Any] | None = None) -> None:
        self.defaults = dict(defaults or {})
        self._loaded: dict[object, Annotate] = {}
        self._lock = threading.Lock()
        self._is_warm = False

    def get(self, settings: CheckSettings) -> Annotate:
        """Return the models that settings name.

        Raises
        ------
        UserError
            The errors of `disambig.checking.load_checker`.
        """
        from disambig.checking import load_checker

        with self._lock:
            key = settings.checker
            if key not in self._loaded:
                self._loaded[key] = load_checker(settings)
            return self._loaded[key]

    def warm_up(self, annotate: Annotate, text: str) -> None:
        """Load the compiled functions once, in a thread of its own; checks are faster afterwards."""
        with self._lock:
            if self._is_warm or len(text) < _WARM_UP_LENGTH:
                return
            self._is_warm = True
        work = [text[: 2 * _WARM_UP_LENGTH]]
        threading.Thread(target=lambda: warm_up(lambda: annotate(work)), name=WARM_UP, daemon=True).start()


class CheckScheduler:
    """Schedule the checks of one editor's documents.

    Parameters
    ----------
    checkers : LoadedCheckers
    settings_of : callable
        Returns the settings of a path.
    publish : callable
        Called in the event loop with a document and its result; never for outdated versions or settings.
    tell : callable
        Called in the event loop with a document and a message for the user.
    """

    def __init__(
        self,
        checkers: LoadedCheckers,
        settings_of: Callable[[str], CheckSettings],
        publish: Callable[[TextDocument, CheckResult], None],
        tell: Callable[[TextDocument | None, UserError], None],
    ) -> None:
        self.worker = ThreadQueue()
        self._checkers = checkers
        self._settings_of = settings_of
        self._publish = publish
        self._tell = tell
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timers: dict[TextDocument, asyncio.TimerHandle] = {}

    def schedule(self, document: TextDocument, *, after: float = SOON) -> None:
        """Check a document soon, unless it changes again before that."""
        self._loop = asyncio.get_running_loop()
        self.cancel(document)
        self._timers[document] = self._loop.call_later(after, self._submit, document)

    def cancel(self, document: TextDocument) -> None:
        """Cancel a scheduled check."""
        if timer := self._timers.pop(document, None):
            timer.cancel()

    def load(self, path: str) -> None:
        """Load the models for a text at `path` in advance."""
        self._loop = asyncio.get_running_loop()
        self.worker.submit(lambda: self._preload(path))

    async def run_with(self, document: TextDocument, work: Callable[[TextState], Any]) -> Any:
        """Return the result of `work` on the current text; it runs in the worker thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        state = document.state

        def run() -> None:
            try:
                value, problem = work(state), None
            except Exception as raised:
                value, problem = None, raised
            loop.call_soon_threadsafe(_settle_future, future, value, problem)

        self.worker.submit(run)
        return await future

    def _submit(self, document: TextDocument) -> None:
        self._timers.pop(document, None)
        if not document.is_waiting:
            document.is_waiting = True
            self.worker.submit(lambda: self._check(document))

    def _continue(self, document: TextDocument) -> None:
        """Queue the rest of a long text after other documents, unless a new check is scheduled anyway."""
        if document not in self._timers:
            self._submit(document)

    def _check(self, document: TextDocument) -> None:
        """Check the current version of a document; runs in the worker thread."""
        document.is_waiting = False
        state, settings = document.state, document.settings
        if not document.is_open or document.unchecked is not None:
            return
        try:
            result = self._result(document, state, settings)
        except UserError as problem:
            result = self._failed(document, state, problem)
        except Exception as problem:
            _log.exception("%s could not be checked", escape_control_chars(document.name))
            reason = f"{type(problem).__name__}: {problem}"
            result = self._failed(document, state, UserError("D846", path=document.name, problem=reason))
        if result is not None:
            self._on_loop(self._finish, document, result, settings)

    def _result(self, document: TextDocument, state: TextState, requested: int) -> CheckResult | None:
        """Return the result of a check; None if the text changed or its check was interrupted."""
        from disambig.checking import CorrectingAnnotator, LiveText, flag_candidates, selectable_names
        from disambig.lsp._diagnostics import make_diagnostics, unused_directives

        if len(state.text) > MOST:
            raise UserError("D845", path=document.name, length=len(state.text), most=MOST)
        is_long = UserError("D894", path=document.name, seconds=SLICE)
        if len(state.text) > LONG:
            self._on_loop(self._tell, document, is_long)
        until = time.thread_time() + SLICE
        live = document.live
        if live is None or document.live_settings != requested:
            settings = self._settings_of(document.name)
            annotate = self._checkers.get(settings)
            live = document.live = LiveText(document.name, settings, annotate)
            document.live_settings = requested
            for note in annotate.notes if isinstance(annotate, CorrectingAnnotator) else ():
                self._on_loop(self._tell, document, note)
        is_late = False

        def stop() -> bool:
            nonlocal is_late
            is_late = time.thread_time() > until
            return is_late or not document.is_now(state, requested)

        try:
            with processor_time_limit(LIMIT):
                checked = live.check(state.text, stop)
        except DeadlineExceeded:
            raise UserError("D895", path=document.name, seconds=LIMIT) from None
        if checked is None:
            if is_late and document.is_now(state, requested):  # the finished paragraphs are kept
                self._on_loop(self._tell, document, is_long)
                self._on_loop(self._continue, document)
            return None
        for problem in checked.problems:
            self._on_loop(self._tell, document, problem)
        if not document.is_language_told:
            self._tell_foreign(document, live)
        layout = read_layout(live.name, state.text) if checked.flags else None
        candidates = flag_candidates(checked.flags, live.decisions, state.text, live.annotate, layout)
        self._checkers.warm_up(live.annotate, live.plain.text)
        diagnostics = make_diagnostics(state, checked.flags, candidates)
        # With a selection of models or rules, directives for the others look unused.
        settings = live.settings
        is_partial = settings.tasks or settings.models or settings.rules or settings.excluded
        unused = []
        if spans := [span for span in checked.unused if span.follows_text or not is_partial]:
            names = selectable_names(live.annotate)
            unused = unused_directives(document.name, state, live.plain, spans, names)
        return CheckResult(state.version, checked.flags, tuple(candidates), diagnostics, unused)

    def _tell_foreign(self, document: TextDocument, live: LiveText) -> None:
        """Tell the user once that a text has paragraphs that are not in the language of the models."""
        from disambig.text import describe_foreign, foreign_to_all

        document.is_language_told = True
        languages = annotator_languages(live.annotate)
        paragraphs = [] if live.settings.excluded else foreign_to_all(live.plain.text, languages)
        if paragraphs:
            what = describe_foreign(Counter(one.language for one in paragraphs), languages)
            self._on_loop(self._tell, document, UserError("D348", where=document.name, what=what))

    def _failed(self, document: TextDocument, state: TextState, problem: UserError) -> CheckResult:
        self._on_loop(self._tell, document, problem)
        return CheckResult(state.version, (), (), [])

    def _finish(self, document: TextDocument, result: CheckResult, settings: int) -> None:
        is_newest = document.state.version == result.version and document.settings == settings
        if document.is_open and document.unchecked is None and is_newest:
            self._publish(document, result)

    def _preload(self, path: str) -> None:
        try:
            self._checkers.get(self._settings_of(path))
        except UserError as problem:
            self._on_loop(self._tell, None, problem)

    def _on_loop(self, call: Callable[..., None], *arguments: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *arguments)


def _settle_future(future: asyncio.Future[Any], value: Any, problem: Exception | None) -> None:
    if future.done():
        return
    if problem is not None:
        future.set_exception(problem)
    else:
        future.set_result(value)
