"""Check open texts soon after each change, in a thread."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from disambig.errors import UserError
from disambig.formatting import escape_control_chars
from disambig.lsp.documents import CheckResult, TextDocument, TextState
from disambig.runtime import DeadlineExceeded, processor_time_limit, warm_up

if TYPE_CHECKING:
    from disambig.configuration import CheckSettings
    from disambig.jobs import Annotate


_log = logging.getLogger(__name__)


class ThreadQueue:
    """Does what it is given, in order."""

    def __init__(self) -> None:
        self._given: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        threading.Thread(target=self._work, name="disambig-lsp", daemon=True).start()

    def submit(self, work: Callable[[], object]) -> None:
        """Let something be done; what it raises is logged."""
        self._given.put(work)

    def end(self) -> None:
        """End when all that was given is done; nothing is to be given any more."""
        self._given.put(None)

    def _work(self) -> None:
        while (work := self._given.get()) is not None:
            try:
                work()
            except Exception:
                _log.exception("work of the language server failed")


SOON = 0.003
"""Seconds without another change after which a text is checked."""
MOST = 2_000_000
"""Characters of a text that is checked."""
LONG = 500_000
"""Characters of a text from which on the user is told at once that its diagnostics may take a while."""
SLICE = 6.0
"""Seconds of processor time after which others have their turn before the rest of a long text is checked."""
LIMIT = 9.0
"""Seconds of processor time after which a text is given up whose paragraphs leave no turn to others."""
_ENOUGH = 1_500
"""Characters that most kernels have something to do with."""


class LoadedCheckers:
    """Models, loaded once for all settings and editors that ask for the same."""

    def __init__(self) -> None:
        self._loaded: dict[object, Annotate] = {}
        self._lock = threading.Lock()
        self._is_warm = False

    def get(self, settings: CheckSettings) -> Annotate:
        """Return the models that settings ask for.

        Raises
        ------
        UserError
            As `disambig.checking.loading.load_checker`.
        """
        from disambig.checking import load_checker

        with self._lock:
            key = settings.checker
            if key not in self._loaded:
                self._loaded[key] = load_checker(settings)
            return self._loaded[key]

    def warm_up(self, annotate: Annotate, text: str) -> None:
        """Make the kernels ready, once, in a thread of its own: from then on all is quicker."""
        with self._lock:
            if self._is_warm or len(text) < _ENOUGH:
                return
            self._is_warm = True
        work = [text[: 2 * _ENOUGH]]
        threading.Thread(
            target=lambda: warm_up(lambda: annotate(work)), name="disambig-warm", daemon=True
        ).start()


class CheckScheduler:
    """Checks the texts of one editor.

    Parameters
    ----------
    checkers : Checkers
    settings_of : callable
        Returns what holds for a path.
    publish : callable
        Given a text and what was found in it, on the event loop; never for a version or settings that are
        not the newest.
    tell : callable
        Given what a user is to know, on the event loop.
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
        """Let a text be checked soon, unless it changes again before that."""
        self._loop = asyncio.get_running_loop()
        self.cancel(document)
        self._timers[document] = self._loop.call_later(after, self._give, document)

    def cancel(self, document: TextDocument) -> None:
        """Do not check a text that somebody asked for."""
        if timer := self._timers.pop(document, None):
            timer.cancel()

    def load(self, path: str) -> None:
        """Load the models that a text at `path` would be checked by, before there is one."""
        self._loop = asyncio.get_running_loop()
        self.worker.submit(lambda: self._loaded(path))

    async def run_with(self, document: TextDocument, work: Callable[[TextState], Any]) -> Any:
        """Return what `work` makes of a text, in the thread that asks the models."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        state = document.state

        def run() -> None:
            try:
                found, problem = work(state), None
            except Exception as raised:
                found, problem = None, raised
            loop.call_soon_threadsafe(_settle_future, future, found, problem)

        self.worker.submit(run)
        return await future

    def _give(self, document: TextDocument) -> None:
        self._timers.pop(document, None)
        if not document.is_waiting:
            document.is_waiting = True
            self.worker.submit(lambda: self._check(document))

    def _go_on(self, document: TextDocument) -> None:
        """Check the rest of a long text when others had their turn, unless it is checked anew anyway."""
        if document not in self._timers:
            self._give(document)

    def _check(self, document: TextDocument) -> None:
        """Check a text as it is now; runs in the worker's thread."""
        document.is_waiting = False
        state, settings = document.state, document.settings
        if not document.is_open or document.unchecked is not None:
            return
        try:
            found = self._found(document, state, settings)
        except UserError as problem:
            found = self._failed(document, state, problem)
        except Exception as problem:
            _log.exception("%s could not be checked", escape_control_chars(document.name))
            said = f"{type(problem).__name__}: {problem}"
            found = self._failed(document, state, UserError("D846", path=document.name, problem=said))
        if found is not None:
            self._on_loop(self._finish, document, found, settings)

    def _found(self, document: TextDocument, state: TextState, asked: int) -> CheckResult | None:
        from disambig.checking import CorrectingAnnotator, LiveText, flag_candidates
        from disambig.lsp._diagnostics import make_diagnostics, unused_directives

        if len(state.text) > MOST:
            raise UserError("D845", path=document.name, length=len(state.text), most=MOST)
        is_long = UserError("D894", path=document.name, seconds=SLICE)
        if len(state.text) > LONG:
            self._on_loop(self._tell, document, is_long)
        until = time.thread_time() + SLICE
        live = document.live
        if live is None or document.live_settings != asked:
            settings = self._settings_of(document.name)
            annotate = self._checkers.get(settings)
            live = document.live = LiveText(document.name, settings, annotate)
            document.live_settings = asked
            for note in annotate.notes if isinstance(annotate, CorrectingAnnotator) else ():
                self._on_loop(self._tell, document, note)
        is_late = False

        def stop() -> bool:
            nonlocal is_late
            is_late = time.thread_time() > until
            return is_late or not document.is_now(state, asked)

        try:
            with processor_time_limit(LIMIT):
                checked = live.check(state.text, stop)
        except DeadlineExceeded:
            raise UserError("D895", path=document.name, seconds=LIMIT) from None
        if checked is None:
            if is_late and document.is_now(state, asked):  # what is decided by now is kept
                self._on_loop(self._tell, document, is_long)
                self._on_loop(self._go_on, document)
            return None
        for problem in checked.problems:
            self._on_loop(self._tell, document, problem)
        candidates = flag_candidates(checked.flags, live.decisions, state.text, live.annotate)
        self._checkers.warm_up(live.annotate, live.plain.text)
        diagnostics = make_diagnostics(state, checked.flags, candidates)
        some = live.settings.tasks or live.settings.models or live.settings.excluded  # others may need them
        unused = [] if some else unused_directives(document.name, state, live.plain, checked.unused)
        return CheckResult(state.version, checked.flags, tuple(candidates), diagnostics, unused)

    def _failed(self, document: TextDocument, state: TextState, problem: UserError) -> CheckResult:
        self._on_loop(self._tell, document, problem)
        return CheckResult(state.version, (), (), [])

    def _finish(self, document: TextDocument, found: CheckResult, settings: int) -> None:
        is_newest = document.state.version == found.version and document.settings == settings
        if document.is_open and document.unchecked is None and is_newest:
            self._publish(document, found)

    def _loaded(self, path: str) -> None:
        try:
            self._checkers.get(self._settings_of(path))
        except UserError as problem:
            self._on_loop(self._tell, None, problem)

    def _on_loop(self, call: Callable[..., None], *arguments: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *arguments)


def _settle_future(future: asyncio.Future[Any], found: Any, problem: Exception | None) -> None:
    if future.done():
        return
    if problem is not None:
        future.set_exception(problem)
    else:
        future.set_result(found)
