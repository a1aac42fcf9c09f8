"""Extractor: whether the next word sounds as if "an" stood before it, or "a"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, Features, Group, Instances, TokenView
from disambig.api.features import one_score

from .sounds import ENGLISH, Sounds, read_sounds

A_AN = ("a", "an")


class Sound:
    """One score a candidate: half the log-odds of "an" for "an", the same below zero for "a", else zero.

    Parameters
    ----------
    sounds : path, optional
        A file of how words begin to the ear (see `sounds`); by default the English one.

    Raises
    ------
    UserError
        On first use D998, for a file that has none.
    """

    folders: ClassVar[tuple[str, ...]] = ("sounds",)

    def __init__(self, *, sounds: str | Path | None = None) -> None:
        self.sounds = sounds

    @cached_property
    def heard(self) -> Sounds:
        """How words begin to the ear."""
        return read_sounds(self.sounds or ENGLISH)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> Sound:
        """Return self: what words sound like was counted beforehand."""
        return self

    def state(self) -> Arrays:
        """Return nothing: the file is referred to, not copied."""
        return {}

    def from_state(self, arrays: Arrays) -> Sound:
        """Return self."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the scores: what follows the place says what stands there should sound like."""
        empty = instances.lengths == 0
        last = np.where(empty, instances.positions - 1, instances.positions + instances.lengths - 1)
        offsets = instances.offsets(group)
        row = np.repeat(np.arange(len(instances)), np.diff(offsets))
        texts = list(group.candidates) * len(instances) if instances.own is None else instances.own.texts
        sign = np.array([(text == "an") - (text == "a") for text in texts], np.float32)
        odds = odds_at(self.heard, view, last).astype(np.float32)
        return one_score(sign * odds[row] / np.float32(2), instances, group, "sound")

    def __getstate__(self) -> dict[str, Any]:
        return {"sounds": self.sounds}


def odds_at(sounds: Sounds, view: TokenView, tokens: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log-odds of "an" by what follows each token, shape ``(n,)``."""
    places = zip(view.document_of(tokens).tolist(), view.ends[tokens].tolist(), strict=True)
    return np.fromiter((sounds.before(view.texts[i], end) for i, end in places), np.float64, len(tokens))
