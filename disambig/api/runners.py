"""Runners of jobs: their input, their results and their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.jobs import DescribesWork as DescribesWork
    from disambig.jobs import EngineOptions as EngineOptions
    from disambig.jobs import Function as Function
    from disambig.jobs import ItemQueue as ItemQueue
    from disambig.jobs import LogMessage as LogMessage
    from disambig.jobs import PendingItem as PendingItem
    from disambig.jobs import PersistentPool as PersistentPool
    from disambig.jobs import ProgressCallback as ProgressCallback
    from disambig.jobs import ProgressCounter as ProgressCounter
    from disambig.jobs import Runner as Runner
    from disambig.jobs import Transport as Transport
    from disambig.jobs import Work as Work
    from disambig.jobs import WorkOutcome as WorkOutcome
    from disambig.jobs import delay_interrupts as delay_interrupts
    from disambig.jobs import ignore_progress as ignore_progress
    from disambig.jobs import last_line as last_line
    from disambig.jobs import leave_out_current_directory as leave_out_current_directory
    from disambig.jobs import log_message as _tell_log  # plugins import it as `tell_log`
    from disambig.jobs import logger_levels as logger_levels

    tell_log = _tell_log
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
