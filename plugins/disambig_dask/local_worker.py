"""What workers of a cluster of this machine do first: leave an interrupt to the process that began them."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Ignore SIGINT, which a terminal sends to all: the job's own process hears it and ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
