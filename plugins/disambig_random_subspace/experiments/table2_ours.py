"""AP and AP-RLRS as taggers: the only module of this experiment that knows how they are trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from disambig.api import Progress

from .tag_data_penn import Sentence
from .tagger_peers import Run

PASSES, REMOVAL_RATE = 5, 0.1


def our_runs(
    train: Sequence[Sentence],
    tests: Mapping[str, Sequence[Sentence]],
    *,
    sizes: Sequence[int],
    progress: Progress,
) -> list[Run]:
    """Return what AP does, and AP-RLRS with each number of subspaces."""
    raise NotImplementedError
