"""What stands behind an attribute, and its name: optional abilities of extractors, for explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.text.view import TokenView
from disambig.types import FeatureExtractor


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was looked up for one attribute of one instance.

    Attributes
    ----------
    text : str
        Such as the n-gram that was asked for.
    count : int
        How often it was seen; 0 where the source does not have it.
    least : int, optional
        How often it must have been seen for the source to have it: 1 where nothing is left out, None where
        the source may lack it however often it was seen.
    """

    text: str
    count: int
    least: int | None = 1


@runtime_checkable
class Explains(Protocol):
    """An extractor that says for its columns what stands behind them."""

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> Mapping[tuple[str, str], Evidence]:
        """Return the evidence behind the attributes of a single instance, by candidate and column.

        A column is known by its name, without the ``"candidate: "`` before it where there is one. Attributes
        of which nothing was looked up, such as a bias, are left out.
        """


@runtime_checkable
class NamesFeatures(Protocol):
    """An extractor that keeps no names of its features, and finds those of the features of given places."""

    def with_names(self, view: TokenView, instances: Instances) -> FeatureExtractor:
        """Return an extractor of the same features, whose columns that `instances` have are named."""
