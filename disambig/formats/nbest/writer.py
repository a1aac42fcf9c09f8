"""N-best lists, written: as they were read, the best candidate first, with what was decided."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from disambig.data.decisions import Decisions
from disambig.formats.nbest.reader import NBest


def lines_of(items: Sequence[NBest], decisions: Decisions) -> Iterator[str]:
    """Yield the line of each list: ``"model_score"`` and ``"rank"``, from 0 in the source, join a candidate.

    Parameters
    ----------
    items : sequence of NBest
    decisions : Decisions
        One for each of them, in their order.
    """
    for i, item in enumerate(items):
        low, high = int(decisions.offsets[i]), int(decisions.offsets[i + 1])
        scores = decisions.scores[low:high].astype(np.float64)
        order = np.argsort(-scores, kind="stable").tolist()
        listed = item.source["candidates"]
        candidates = [{**listed[c], "model_score": round(float(scores[c]), 6), "rank": c} for c in order]
        said = {
            **item.source,
            "candidates": candidates,
            "probability": round(float(decisions.probabilities[i]), 6),
            "margin": round(float(decisions.margins[i]), 4) if len(listed) > 1 else None,
        }
        yield json.dumps(said, ensure_ascii=False)
