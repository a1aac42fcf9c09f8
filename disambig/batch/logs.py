"""What workers log is told by the process that started them: once, however many workers say it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection

ROOT = "disambig"
Said = tuple[str, int, str]
"""Name of the logger, level, message."""


def listened_to() -> dict[str, int]:
    """Return the loggers of ours that somebody set to a level in this process, and these levels."""
    known = {name: logging.getLogger(name) for name in logging.root.manager.loggerDict}
    return {
        name: log.level
        for name, log in known.items()
        if name.partition(".")[0] == ROOT and log.level != logging.NOTSET
    }


def send_logs(levels: Mapping[str, int], connection: Connection) -> None:
    """Send what these loggers say to the other end, from now on; nothing is written here."""
    for name, level in levels.items():
        log = logging.getLogger(name)
        log.setLevel(level)
        log.handlers = [_Sends(connection)]
        log.propagate = False


def tell(said: Said) -> None:
    """Log what a worker sent."""
    name, level, message = said
    logging.getLogger(name).log(level, "%s", message)


class _Sends(logging.Handler):
    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # the other end is gone
            self._connection.send(("log", (record.name, record.levelno, record.getMessage())))
