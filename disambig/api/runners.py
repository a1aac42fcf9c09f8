"""Runners of jobs: their input, their results and their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.jobs import (
        DescribesWork as DescribesWork,
        EngineOptions as EngineOptions,
        Function as Function,
        ItemQueue as ItemQueue,
        LogMessage as LogMessage,
        PendingItem as PendingItem,
        PersistentPool as PersistentPool,
        ProgressCallback as ProgressCallback,
        ProgressCounter as ProgressCounter,
        Runner as Runner,
        RunOptions as RunOptions,
        Transport as Transport,
        Work as Work,
        WorkOutcome as WorkOutcome,
        delay_interrupts as delay_interrupts,
        ignore_progress as ignore_progress,
        last_line as last_line,
        leave_out_current_directory as leave_out_current_directory,
        log_message as _tell_log,  # plugins import it as `tell_log`
        logger_levels as logger_levels,
    )

    tell_log = _tell_log
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
