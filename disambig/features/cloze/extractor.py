"""Words in context: how well each candidate fits between the words on both sides, by a model of any word.

One attribute a candidate, its score, which stands for log-odds (see `model`). Where n-gram counts know only
what was seen word for word, this knows what words are like. Candidates of several words, or that the model
does not know, stand `UNKNOWN` below the best of the others, and none stands lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.one_score import one_score
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from disambig.features.cloze.model import Cloze

GROUP_NAME = "words in context"
UNKNOWN = 12.0
"""Log-odds below the best candidate at which one stands that is not known."""


class WordsInContext:
    """Extractor of one score a candidate, of a group or of lists of instances' own.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that brings one.

    Raises
    ------
    UserError
        On first use D990, D991, D402 (see `open_cloze`); D992 for a view of another tokenisation.
    """

    def __init__(self, *, words: str | Path) -> None:
        self.words = words

    @cached_property
    def model(self) -> Cloze:
        """The model, read on first use."""
        from disambig.features.cloze.locate import open_cloze

        return open_cloze(self.words)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> WordsInContext:
        """Return self: the model was learned beforehand."""
        return self

    def state(self) -> Arrays:
        """Return nothing: the model is referred to, not copied."""
        return {}

    def from_state(self, arrays: Arrays) -> WordsInContext:
        """Return self."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the scores; words around are no n-gram found: they alone never make a flag."""
        from disambig.features.cloze.states import Places, scores_of, states_at

        model, n, offsets = self.model, len(instances), instances.offsets(group)
        states = states_at(model, view, Places(instances.positions, instances.positions + instances.lengths))
        if instances.own is not None:
            numbers = model.numbers_of_candidates(instances.own.texts)
        else:
            numbers = np.tile(model.numbers_of_candidates(group.candidates), n)
        scores = scores_of(model, states, np.repeat(np.arange(n), np.diff(offsets)), numbers)
        if n:
            best = np.maximum.reduceat(scores, offsets[:-1])
            floor = np.where(np.isfinite(best), best, np.float32(0)) - np.float32(UNKNOWN)
            scores = np.maximum(scores, np.repeat(floor, np.diff(offsets)))
        return one_score(scores, instances, group, GROUP_NAME)

    def __getstate__(self) -> dict[str, Any]:
        return {"words": self.words}
