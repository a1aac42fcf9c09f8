"""From settings to the models that check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from disambig.batch.sources import ModelSource
from disambig.configuration.settings import Settings

if TYPE_CHECKING:
    from disambig.batch.sources import Annotate


def load_checker(settings: Settings) -> Annotate:
    """Load the models that correct words, as the settings say.

    Raises
    ------
    UserError
        D4xx for an unknown name or a damaged model; D322 if no model takes confusion sets; D644 for a model
        that chooses labels; what is wrong with a file of confusion sets.
    """
    rate: Any = settings.flags_per_1000  # a number, or a table of numbers by task
    source = ModelSource(
        models=(*settings.tasks, *settings.models), flags_per_1000=rate, sets=settings.confusion_sets()
    )
    return source.load_correcting()
