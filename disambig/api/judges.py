"""Decision rules (registered as judges): what they are fitted to, their input and their predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data import Predictions as _JudgedScores, ScoreBatch as ScoreBatch
    from disambig.types import (
        CalibrationData as CalibrationData,
        HasErrorCorpus as HasErrorCorpus,
        RaisesFlags as RaisesFlags,
    )

    JudgedScores = _JudgedScores
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
