"""One of several extractors, to be chosen on folds before anything is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.text.view import TokenView
from disambig.types import Arrays, FeatureExtractor, Features


@dataclass(frozen=True, slots=True, eq=False)
class OneOf:
    """Stand for several extractors of which training takes one: see `disambig.training.choosing`.

    A model has the one that was taken, and its config says so. By itself it is the first one.

    Parameters
    ----------
    options : mapping of str to FeatureExtractor
        By their names: ``[extractors.NAME.options.OPTION]``.

    Raises
    ------
    UserError
        D518 where there are fewer than two.
    """

    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        if len(self.options) < 2:
            raise UserError("D518", n=len(self.options))

    @property
    def first(self) -> FeatureExtractor:
        """The first option."""
        found: FeatureExtractor = next(iter(self.options.values()))
        return found

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> FeatureExtractor:
        """Return the first option, fitted."""
        return self.first.fit(view, instances, groups)

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return what the first option says."""
        return self.first.transform(view, instances, group)

    def state(self) -> Arrays:
        """Return the state of the first option."""
        return self.first.state()

    def from_state(self, arrays: Arrays) -> FeatureExtractor:
        """Return the first option with a state."""
        return self.first.from_state(arrays)
