"""Task *tag*: the part of speech of every token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Decides, Group, Instances, TokenView, UserError


@dataclass(frozen=True, kw_only=True)
class Tags:
    """Label each token with one tag of a tag set; the tags of a sentence are decided together.

    Parameters
    ----------
    tags : sequence of str
        The tag set, such as that of the Penn Treebank.
    name, language : str

    Raises
    ------
    UserError
        D792 for tags that are fewer than two, empty or twice there.
    """

    tags: Sequence[str]
    name: str = "tag"
    language: str = "en"
    decides: ClassVar[Decides] = Decides("tokens", "labels", together=True)

    def __post_init__(self) -> None:
        given = list(self.tags)
        if isinstance(self.tags, str) or len(given) < 2 or len(set(given)) < len(given) or "" in given:
            raise UserError("D792", tags=self.tags)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group: the tag set."""
        return (Group("tag", tuple(self.tags)),)

    def instances(self, view: TokenView) -> Instances:
        """Return every token of `view` but the boundaries of sentences."""
        positions = words_of(view)
        n = len(positions)
        return Instances(positions, np.ones(n, np.int32), np.zeros(n, np.int32), np.full(n, -1, np.int32))


def words_of(view: TokenView) -> NDArray[np.int64]:
    """Return the tokens of a view that are no boundaries of sentences, shape ``(n_words,)``."""
    return np.flatnonzero(view.ends > view.starts)
