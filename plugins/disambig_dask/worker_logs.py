"""What a worker logs while it works is told to the client; the worker's own logging stays as it is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def heard(levels: Mapping[str, int], say: Callable[[str, Any], None]) -> Iterator[None]:
    """Send what these loggers say in the block as ``say("log", [name, level, message])``, nowhere else."""
    handler = _Sends(say)
    before = []
    for name, level in levels.items():
        log = logging.getLogger(name)
        before.append((log, log.level, log.handlers, log.propagate))
        log.setLevel(level)
        log.handlers, log.propagate = [handler], False
    try:
        yield
    finally:
        for log, level, handlers, propagate in before:
            log.setLevel(level)
            log.handlers, log.propagate = handlers, propagate


class _Sends(logging.Handler):
    def __init__(self, say: Callable[[str, Any], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say("log", [record.name, record.levelno, record.getMessage()])
