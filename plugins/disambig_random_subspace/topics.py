"""Task *topic*: which of some labels a document has (Søgaard and Johannsen 2012, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from disambig.api import Decides, Group, Instances, Tokenisation, TokenView, UserError
from disambig.api.arrays import offsets_from_sizes
from disambig.api.formats import Labelled
from disambig.api.tasks import word_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTask:
    """Assign one label to each document; a document without words (letters or digits) gets none.

    Parameters
    ----------
    labels : sequence of str
        At least two. By default those of the labelled documents, sorted; the config saved with
        the model contains them.
    name : str
        Name of the task: letters, digits and underscores.
    language : str
        Language code of the documents; empty for any language.

    Raises
    ------
    UserError
        D487 for an invalid name, D466 for labels that are fewer than two, empty or equal.
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
        """The labels as one group; no group before the labels are learned."""
        return (Group(self.name, tuple(self.labels)),) if self.labels else ()

    def learn_settings(
        self, labelled: Sequence[Labelled], tokenisation: Tokenisation | None = None
    ) -> dict[str, Any]:
        """Return the labels of labelled documents, sorted, if the config has none."""
        return {} if self.labels else {"labels": sorted({example.label for example in labelled})}

    def instances(self, view: TokenView) -> Instances:
        """Return one instance per document with words: from its first token to its last."""
        is_word = word_tokens(view)
        first, end = view.documents[:-1], view.documents[1:]
        words = offsets_from_sizes(is_word)
        kept = np.flatnonzero(words[end] > words[first])
        n = len(kept)
        positions = first[kept] + 1  # after the start of the first sentence
        lengths = (end[kept] - 1 - positions).astype(np.int32)
        return Instances(positions, lengths, np.zeros(n, np.int32), np.full(n, -1, np.int32))
