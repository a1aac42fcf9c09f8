"""Engines of jobs: what a runner is given, what it gives back, and what a user may say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.batch.engines import EngineOptions as EngineOptions
    from disambig.batch.interrupts import interrupts_put_off as interrupts_put_off
    from disambig.batch.interrupts import leave_out_current_directory as leave_out_current_directory
    from disambig.batch.logs import Said as Said
    from disambig.batch.logs import listened_to as listened_to
    from disambig.batch.logs import tell as _tell_log
    from disambig.batch.work import Describes as Describes
    from disambig.batch.work import Function as Function
    from disambig.batch.work import Outcome as Outcome
    from disambig.batch.work import Runner as Runner
    from disambig.batch.work import Stays as Stays
    from disambig.batch.work import Tell as Tell
    from disambig.batch.work import Told as Told
    from disambig.batch.work import Work as Work
    from disambig.batch.work import last_line as last_line
    from disambig.batch.work import nothing as nothing

    tell_log = _tell_log
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
