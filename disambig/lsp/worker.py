"""A thread that does one thing after the other, for all that asks the models."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

_log = logging.getLogger(__name__)


class Worker:
    """Does what it is given, in order."""

    def __init__(self) -> None:
        self._given: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        threading.Thread(target=self._work, name="disambig-lsp", daemon=True).start()

    def give(self, work: Callable[[], object]) -> None:
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
