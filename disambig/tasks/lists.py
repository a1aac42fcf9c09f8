"""Lists of candidates from elsewhere, such as the n-best lists of a recogniser: which one is best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.errors import UserError
from disambig.measures.named import measure_of_lists
from disambig.text.view import TokenView
from disambig.types import Decides


@dataclass(frozen=True)
class Lists:
    """Find the best candidate of each list that a reader brings; in a text there is nothing to decide.

    Parameters
    ----------
    name, language : str
        Of the task.
    measure : str
        What a candidate costs beside the reference, where a list says no costs: ``"cer"`` (edits of
        characters), ``"wer"`` (of words) or ``"exact"``.

    Raises
    ------
    UserError
        D487 for a name that is none; D431, D437 for a measure that is none, or none of lists.
    """

    name: str = "rerank"
    language: str = ""
    measure: str = "cer"
    decides: ClassVar[Decides] = Decides("items", "own")

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UserError("D487", name=self.name)
        measure_of_lists(self.measure)

    @property
    def metric(self) -> tuple[str, None]:
        """The measure that decisions serve."""
        return self.measure, None

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group, whose candidates are those of each list."""
        return (Group(self.name, ()),)

    def instances(self, view: TokenView) -> Instances:
        """Return nothing: lists do not stand in texts."""
        none = np.empty(0, np.int32)
        return Instances(np.empty(0, np.int64), none, none, none, CandidateLists.of([]))
