"""Works for the checks of runners: small, and importable wherever disambig is, as those of a real job are."""

from __future__ import annotations

import logging
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.batch.work import Function, Tell
from disambig.errors import UserError

LOG = "disambig.testing.said"
_starts: list[str] = []


@dataclass(frozen=True, slots=True)
class Doubling:
    """Doubles what it is given; some texts do worse.

    Attributes
    ----------
    token : str
        Of one run: in each process its starts are counted.
    folder : str
        Where what happens once leaves a mark.
    broken : str
        "error" or "bug": it cannot start; "dies": it ends its process when it starts.
    """

    token: str = ""
    folder: str = ""
    broken: str = ""

    def start(self) -> Function:
        """Return what doubles."""
        if self.broken == "error":
            raise UserError("D300", path="model")
        if self.broken == "bug":
            raise KeyError("a bug")
        if self.broken == "dies":
            os._exit(3)
        _starts.append(self.token)
        logging.getLogger(LOG).info("begun")
        return self._double

    def _double(self, item: Any, tell: Tell) -> Any:
        if item == "starts":
            return os.getpid(), _starts.count(self.token)
        if item == "bug":
            raise KeyError("a bug")
        if item == "full":
            raise UserError("D309", path="out", problem="No space left on device")
        if item == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "die once" and self._first(item):
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "hang" or (item == "hang once" and self._first(item)):
            time.sleep(3600)
        if item == "slow":
            time.sleep(0.5)
        if item == "parts":
            for done in (10, 5, 30):
                tell(done)
        return item * 2

    def _first(self, item: str) -> bool:
        mark = Path(self.folder) / item
        found = mark.exists()
        mark.touch()
        return not found
