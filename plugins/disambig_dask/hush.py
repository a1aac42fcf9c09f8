"""Dask's own log is silent while a job says in its own words what happens, or mends it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_OTHERS = ("tornado.application", "asyncio")
_lock = threading.Lock()
_before: dict[logging.Logger, int] = {}  # the levels that return with the last block
_blocks = 0


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Dask; blocks may overlap (other threads, runs that take turns): the last one ends it."""
    global _blocks
    import distributed  # noqa: F401  sets levels as it is imported, which must not be later

    with _lock:
        _blocks += 1
        for log in _loud():
            _before.setdefault(log, log.level)
            log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks:
                for log, level in _before.items():
                    log.setLevel(level)
                _before.clear()


def _loud() -> list[logging.Logger]:
    """Return the loggers of Dask that have a level of their own: others have that of ``distributed``."""
    known = [name for name in list(logging.root.manager.loggerDict) if name.startswith("distributed.")]
    with_levels = [log for log in map(logging.getLogger, known) if log.level]
    return [logging.getLogger("distributed"), *with_levels, *map(logging.getLogger, _OTHERS)]
