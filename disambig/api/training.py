"""Training in several steps: labelled datasets, splits, examples, and saving models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.models import save_model as save_model
    from disambig.settings import with_median as with_median
    from disambig.training import (
        FittedExtractor as FittedExtractor,
        ResolvedConfig as ResolvedConfig,
        label_instances as label_instances,
        mean_cost as mean_cost,
        split as split,
        train_by as train_by,
        train_candidates as train_candidates,
        train_labelled as train_labelled,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
