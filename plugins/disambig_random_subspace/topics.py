"""Task *topic*: which of some labels a document has (Søgaard and Johannsen 2012, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from disambig.api import Decides, Group, Instances, Tokenisation, TokenView, UserError
from disambig.api.formats import Labelled
from disambig.api.tasks import word_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTask:
    """Give each document one of some labels; one without a word (a letter or digit) gets none.

    Parameters
    ----------
    labels : sequence of str
        Two at least. Left out, they are those of the labelled documents, sorted; the config saved with
        the model names them.
    name : str
        Name of the task: letters, digits and underscores.
    language : str
        Code of the language of the documents; empty for any.

    Raises
    ------
    UserError
        D487 for a name that is none, D466 for labels that are fewer than two, empty or equal.
    """

    labels: Sequence[str] = ()
    name: str = "topic"
    language: str = ""
    decides: ClassVar[Decides] = Decides("documents", "labels")

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UserError("D487", name=self.name)
        labels = list(self.labels)
        if labels and (len(set(labels)) < max(2, len(labels)) or not all(map(str.strip, labels))):
            raise UserError("D466", labels=", ".join(map(repr, labels[:8])))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The labels as one group; none where the labels are still to come from the data."""
        return (Group(self.name, tuple(self.labels)),) if self.labels else ()

    def learn_settings(
        self, labelled: Sequence[Labelled], tokenisation: Tokenisation | None = None
    ) -> dict[str, Any]:
        """Return the labels of labelled documents, sorted, where the config names none."""
        return {} if self.labels else {"labels": sorted({example.label for example in labelled})}

    def instances(self, view: TokenView) -> Instances:
        """Return one instance a document with a word in it: from its first token to its last."""
        is_word = word_tokens(view)
        first, end = view.documents[:-1], view.documents[1:]
        words = np.concatenate([[0], np.cumsum(is_word)])
        kept = np.flatnonzero(words[end] > words[first])
        n = len(kept)
        positions = first[kept] + 1  # behind the first sentence's start
        lengths = (end[kept] - 1 - positions).astype(np.int32)
        return Instances(positions, lengths, np.zeros(n, np.int32), np.full(n, -1, np.int32))
