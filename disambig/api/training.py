"""Training beyond one call: marking, splits, labelled examples, saving what was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.model.store import save_model as save_model
    from disambig.training.labelled import train_labelled as train_labelled
    from disambig.training.learned import Learned as Learned
    from disambig.training.lists import train_candidates as train_candidates
    from disambig.training.marking import mark as mark
    from disambig.training.splits import split as split
    from disambig.training.trainer import train_by as train_by
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
