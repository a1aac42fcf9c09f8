"""An extractor that has learned already, in place of one that a config describes."""

from __future__ import annotations

from dataclasses import dataclass

from disambig.types import FeatureExtractor


@dataclass(frozen=True, slots=True)
class Learned:
    """What `train` takes for an extractor and does not teach again."""

    extractor: FeatureExtractor

    def fit(self, *_: object) -> FeatureExtractor:
        """Return the extractor as it is."""
        return self.extractor
