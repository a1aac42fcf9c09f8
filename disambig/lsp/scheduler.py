"""Check open documents shortly after each change, in a worker thread."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from disambig.errors import UserError
from disambig.formatting import escape_control_chars
from disambig.lsp.documents import CheckResult, TextDocument, TextState, make_diagnostics, unused_directives
from disambig.markup import read_layout
from disambig.models import annotator_languages
from disambig.runtime import DeadlineExceeded, processor_time_limit, warm_up

if TYPE_CHECKING:
    from disambig.checking import CheckedText, CheckerCache, FlagCandidate, LiveText
    from disambig.configuration import CheckSettings
    from disambig.models import Annotate


_log = logging.getLogger(__name__)


CHECK_THREAD, WARM_UP_THREAD = "disambig-lsp", "disambig-warm"
THREADS = (CHECK_THREAD, WARM_UP_THREAD)
"""Names of the threads that run models."""


_DATA_HINT = "prose cannot be told from data there"


class ThreadQueue:
    """A thread that runs jobs in order."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        # A daemon: a check cannot be interrupted at any place, and must not keep the process alive.
        threading.Thread(target=self._work, name=CHECK_THREAD, daemon=True).start()

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


CHECK_DELAY = 0.003
"""Seconds without another change before a text is checked."""
CATCH_UP_SECONDS = 2.0
"""Maximum number of seconds that a request waits for the check of its text; an editor may wait to save."""
MAX_CHARACTERS = 2_000_000
"""Maximum number of characters of a text that is checked."""
LONG_TEXT = 500_000
"""Number of characters from which on the user is told at once that the check may take long."""
SLICE_SECONDS = 6.0
"""Processor time per slice of a long check; between two slices, other documents are checked."""
LIMIT_SECONDS = 9.0
"""Processor time after which a check is abandoned, if it could not be interrupted before."""
_WARM_UP_LENGTH = 1_500
"""Number of characters that is enough to run most compiled functions at least once."""


class LoadedCheckers:
    """Loaded models, shared by all documents and editors whose settings name the same models.

    `defaults` are the options of the command: settings that take precedence over settings files, but not over
    those of an editor.
    """

    def __init__(self, defaults: Mapping[str, Any] | None = None) -> None:
        self.defaults = dict(defaults or {})
        self._cache: CheckerCache | None = None
        self._lock = threading.Lock()
        self._is_warm = False

    def get(self, settings: CheckSettings) -> Annotate:
        """Return the models that settings name.

        Raises the errors of `disambig.checking.load_checker`.
        """
        from disambig.checking import CheckerCache

        # Editors have threads of their own: without the lock, each could make a cache and load its models.
        with self._lock:
            self._cache = self._cache or CheckerCache()
            return self._cache.get(settings)

    def warm_up(self, annotate: Annotate, text: str) -> None:
        """Load the compiled functions once, in a thread of its own, to make later checks faster."""
        with self._lock:
            if self._is_warm or len(text) < _WARM_UP_LENGTH:
                return
            self._is_warm = True  # already now, so that no other thread starts the same

        def load() -> None:
            warm_up(lambda: annotate([text[: 2 * _WARM_UP_LENGTH]]))

        threading.Thread(target=load, name=WARM_UP_THREAD, daemon=True).start()


class CheckScheduler:
    """Schedule the checks of one editor's documents.

    `publish`: called in the event loop with a document and its result, but not for outdated texts or
    settings.
    `show_message`: called in the event loop with a document and a message for the user.
    """

    def __init__(
        self,
        checkers: LoadedCheckers,
        get_settings: Callable[[str], CheckSettings],
        publish: Callable[[TextDocument, CheckResult], None],
        show_message: Callable[[TextDocument | None, UserError], None],
    ) -> None:
        self.worker = ThreadQueue()
        self._checkers = checkers
        self._get_settings = get_settings
        self._publish = publish
        self._show_message = show_message
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timers: dict[TextDocument, asyncio.TimerHandle] = {}

    def schedule(self, document: TextDocument, *, after: float = CHECK_DELAY) -> None:
        """Check a document soon, unless it changes again before that."""
        self._loop = asyncio.get_running_loop()
        self.cancel(document)  # the delay starts again with each change
        self._timers[document] = self._loop.call_later(after, self._submit, document)

    def cancel(self, document: TextDocument) -> None:
        """Cancel a scheduled check."""
        if timer := self._timers.pop(document, None):
            timer.cancel()

    def load(self, path: str) -> None:
        """Load the models for a text at `path` in advance."""
        self._loop = asyncio.get_running_loop()
        self.worker.submit(lambda: self._preload(path))

    async def catch_up(self, document: TextDocument) -> None:
        """Run the scheduled check of a document now, and wait for it, but not long."""
        if document in self._timers:
            self.cancel(document)
            self._submit(document)
        # The worker runs its jobs in order, so this empty one ends after the check. The time limit gives up
        # waiting, but does not stop the check.
        with suppress(asyncio.TimeoutError):  # other documents may be first
            await asyncio.wait_for(self.run_with(document, lambda state: None), CATCH_UP_SECONDS)

    async def run_with(self, document: TextDocument, work: Callable[[TextState], Any]) -> Any:
        """Run `work` on the current text in the worker thread, and return its result."""
        future: Future[Any] = Future()
        state = document.state  # now, in the thread of the protocol, which replaces it on each change

        def run() -> None:
            if not future.set_running_or_notify_cancel():  # the editor cancelled its request, or it timed out
                return
            try:
                future.set_result(work(state))
            except Exception as problem:
                future.set_exception(problem)

        self.worker.submit(run)
        return await asyncio.wrap_future(future)

    def _submit(self, document: TextDocument) -> None:
        self._timers.pop(document, None)
        # One job per document is enough: it checks the version that is current when it runs.
        if not document.is_waiting:
            document.is_waiting = True
            self.worker.submit(lambda: self._check(document))

    def _check_rest(self, document: TextDocument) -> None:
        """Queue the rest of a long check after other documents, unless a new check is scheduled."""
        if document not in self._timers:
            self._submit(document)

    def _check(self, document: TextDocument) -> None:
        """Check the current version of a document; runs in the worker thread."""
        document.is_waiting = False  # first: a change from now on must queue another check
        state, settings_version = document.state, document.settings_version
        if not document.is_open or document.sync_error is not None:
            return
        try:
            result = self._run_check(document, state, settings_version)
        except UserError as problem:
            result = self._error_result(document, state, problem)
        except Exception as problem:
            _log.exception("%s could not be checked", escape_control_chars(document.name))
            reason = f"{type(problem).__name__}: {problem}"
            result = self._error_result(
                document, state, UserError("D846", path=document.name, problem=reason)
            )
        if result is not None:
            self._call_in_loop(self._finish, document, result, settings_version)

    def _run_check(
        self, document: TextDocument, state: TextState, settings_version: int
    ) -> CheckResult | None:
        """Return the result of a check; None if the text changed or its check was interrupted."""
        from disambig.checking import flag_candidates
        from disambig.formats import unsupported_error

        if len(state.text) > MAX_CHARACTERS:
            raise UserError("D845", path=document.name, length=len(state.text), most=MAX_CHARACTERS)
        if problem := unsupported_error(document.name, hint=_DATA_HINT):
            raise problem
        long_text_note = UserError("D894", path=document.name, seconds=SLICE_SECONDS)
        if len(state.text) > LONG_TEXT:
            self._show_in_loop(document, long_text_note)
        end_of_slice = time.thread_time() + SLICE_SECONDS  # processor time: other programs may slow this one
        live = self._live_text(document, settings_version)
        is_late = False

        def stop() -> bool:
            nonlocal is_late
            is_late = time.thread_time() > end_of_slice
            return is_late or not document.is_current(state, settings_version)

        try:
            with processor_time_limit(LIMIT_SECONDS):
                checked = live.check(state.text, stop)
        except DeadlineExceeded:
            raise UserError("D895", path=document.name, seconds=LIMIT_SECONDS) from None
        if checked is None:
            if is_late and document.is_current(state, settings_version):  # `live` keeps finished paragraphs
                self._show_in_loop(document, long_text_note)
                self._call_in_loop(self._check_rest, document)
            return None
        for problem in checked.problems:
            self._show_in_loop(document, problem)
        if not document.is_foreign_reported:
            self._report_foreign(document, live)
        layout = read_layout(live.name, state.text) if checked.flags else None
        candidates = flag_candidates(checked.flags, live.decisions, state.text, live.annotate, layout)
        self._checkers.warm_up(live.annotate, live.plain.text)
        return _make_result(state, live, checked, candidates)

    def _live_text(self, document: TextDocument, settings_version: int) -> LiveText:
        """Return the object that checks a document; it is made anew if settings have changed."""
        from disambig.checking import CorrectingAnnotator, LiveText

        if document.live is None or document.live_settings_version != settings_version:
            settings = self._get_settings(document.name)
            annotate = self._checkers.get(settings)
            document.live = LiveText(document.name, settings, annotate)
            document.live_settings_version = settings_version
            for note in annotate.notes if isinstance(annotate, CorrectingAnnotator) else ():
                self._show_in_loop(document, note)
        return document.live

    def _report_foreign(self, document: TextDocument, live: LiveText) -> None:
        """Tell the user once that a text has paragraphs that are not in the language of the models."""
        from disambig.text import describe_foreign, foreign_to_all

        document.is_foreign_reported = True
        languages = annotator_languages(live.annotate)
        paragraphs = [] if live.settings.excluded else foreign_to_all(live.plain.text, languages)
        if paragraphs:
            what = describe_foreign(Counter(paragraph.language for paragraph in paragraphs), languages)
            self._show_in_loop(document, UserError("D348", where=document.name, what=what))

    def _error_result(self, document: TextDocument, state: TextState, problem: UserError) -> CheckResult:
        """Show an error, and return a result without flags."""
        self._show_in_loop(document, problem)
        return CheckResult(state.version, (), (), [])

    def _finish(self, document: TextDocument, result: CheckResult, settings_version: int) -> None:
        """Publish a result unless it is outdated."""
        is_newest = document.state.version == result.version and document.settings_version == settings_version
        if document.is_open and document.sync_error is None and is_newest:
            self._publish(document, result)

    def _preload(self, path: str) -> None:
        try:
            self._checkers.get(self._get_settings(path))
        except UserError as problem:
            self._show_in_loop(None, problem)

    def _show_in_loop(self, document: TextDocument | None, problem: UserError) -> None:
        self._call_in_loop(self._show_message, document, problem)

    def _call_in_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        # pygls and the session may only be used in the thread of the event loop
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)


def _make_result(
    state: TextState, live: LiveText, checked: CheckedText, candidates: list[list[FlagCandidate]]
) -> CheckResult:
    """Return the result of a check with its diagnostics."""
    from disambig.checking import selectable_names

    settings = live.settings
    # If only some models or rules are selected, directives for the others are unused, but right.
    chosen = settings.tasks, settings.models, settings.rules, settings.ignore_rules
    is_partial = any(chosen) or settings.excluded
    unused = []
    if spans := [span for span in checked.unused if span.follows_text or not is_partial]:
        names = selectable_names(live.annotate)
        unused = unused_directives(live.name, state, live.plain, spans, names)
    diagnostics = make_diagnostics(state, checked.flags, candidates)
    return CheckResult(state.version, checked.flags, tuple(candidates), diagnostics, unused)
