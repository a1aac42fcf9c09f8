"""What the evidence of a model's decisions counts."""

from __future__ import annotations

from disambig.fields import decides, rows_are_shared
from disambig.model.model import Model
from disambig.types import ReadsTable


def looked_up(model: Model) -> str:
    """Return what was looked up for a model's decisions: words, features of tokens, or n-grams."""
    what = decides(model.task)
    if what.where == "documents":
        return "words"
    shared = any(rows_are_shared(extractor) for extractor in model.extractors)
    counted = any(isinstance(extractor, ReadsTable) for extractor in model.extractors)
    return "n-grams" if counted and not shared and not what.together else "features"
