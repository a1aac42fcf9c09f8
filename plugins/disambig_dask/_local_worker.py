"""What workers of a cluster of this machine do first: leave an interrupt to the process that began them."""

from __future__ import annotations

import signal
from typing import Any

from disambig.api.runners import leave_out_current_directory


def dask_setup(worker: Any) -> None:
    """Ignore SIGINT, which a terminal sends to all: the job's own process hears it and ends the workers."""
    leave_out_current_directory()  # what is begun here, too
    signal.signal(signal.SIGINT, signal.SIG_IGN)
