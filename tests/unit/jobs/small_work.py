"""Work for worker processes: they import this module, and start faster without pytest and the tests."""

from __future__ import annotations

import logging
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from disambig.errors import UserError


@dataclass(frozen=True)
class Doubling:
    """Work that doubles numbers; some items kill the process or fail."""

    directory: str = ""
    broken: str = ""

    def start(self):
        if self.broken == "dies":
            os._exit(3)
        return self.double

    def double(self, item, report_progress):
        if item == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "die once":
            flag = Path(self.directory) / "died"
            if not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return "second try"
        if item == "exit":
            os._exit(7)
        if item == "parts":
            for done in (10, 5, 30):
                report_progress(done)
            return 30
        if item == "parts, dying once":
            report_progress(20)
            self.double("die once", report_progress)
            return self.double("parts", report_progress)
        return item * 2


@dataclass(frozen=True)
class Logging:
    """Work that logs at the start, like compilation; each item waits so that several workers start."""

    def start(self):
        logging.getLogger("disambig.said_by_workers").info("compiling, kept in %s", "here")
        logging.getLogger("disambig.said_by_workers").debug("a detail")
        return self.wait

    def wait(self, item, report_progress):
        time.sleep(0.2)
        return os.getpid()


@dataclass(frozen=True)
class Named:
    """Work that returns its name and the process id; it cannot start if it is broken."""

    name: str
    broken: bool = False

    def start(self):
        if self.broken:
            raise UserError("D300", path="model")
        return self.where

    def where(self, item, report_progress):
        time.sleep(0.1)
        return self.name, os.getpid()


def send_blocked(connection) -> None:
    connection.send(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
