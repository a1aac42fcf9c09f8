"""The base of extractors that learn nothing from examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from disambig.data import Group, Instances
from disambig.text import TokenView
from disambig.types import Arrays

_Extractor = TypeVar("_Extractor", bound="StatelessExtractor")


class StatelessExtractor:
    """An extractor that learns nothing: what it uses is in its settings, or in a file that they name.

    A subclass only needs `transform`; a saved model stores its settings.
    """

    __slots__ = ()

    def fit(self: _Extractor, view: TokenView, instances: Instances, groups: Sequence[Group]) -> _Extractor:
        """Return the extractor itself."""
        return self

    def state(self) -> Arrays:
        """Return no arrays."""
        return {}

    def from_state(self: _Extractor, arrays: Arrays) -> _Extractor:
        """Return the extractor itself."""
        return self
