"""What each group of features adds to scores: for judges that trust one source more than another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.types import CandidateBatch, Linear, Scorer


def parts_of(scorer: Scorer, batch: CandidateBatch) -> NDArray[np.float32] | None:
    """Return the parts of the scores by group of features, ``(n_rows, P)``; None if not linear."""
    if not isinstance(scorer, Linear):
        return None
    same, weights = scorer.linear(batch)
    groups, n = same.columns.groups, len(same.columns.group_names)
    parts = [same.scores(np.where(groups == group, weights, 0.0)) for group in range(n)]
    return np.stack(parts, axis=1).astype(np.float32)
