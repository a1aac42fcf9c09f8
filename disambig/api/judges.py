"""Judges: what they get, and what they make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.types import Flags as Flags
    from disambig.types import Judged as _JudgedScores
    from disambig.types import Scored as Scored

    JudgedScores = _JudgedScores
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
