"""Extractor of what the patterns say of an "it" (`patterns`): they are sure, but of most places say nothing.

What was learned where they hold (`habits`) is known of other places, too, and is less sure where they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, Columns, DenseBlocks, Features, Group, Instances, TokenView, UserError

from .patterns import LABELS, told
from .task import REFERENTIAL

NAME = "patterns"
KINDS = tuple(LABELS)
_THINGS = np.array([LABELS[kind] == REFERENTIAL for kind in KINDS])
SCALE = 2.0
"""What a pattern that holds is as an attribute; learners draw the weights of small attributes to zero."""


@dataclass(frozen=True, slots=True)
class ItPatterns:
    """One attribute a kind of pattern, for a task that labels "it" with one of two labels."""

    describes: ClassVar[str] = "group"

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> ItPatterns:
        """Return self: the patterns are written."""
        return self

    def state(self) -> Arrays:
        """Return nothing."""
        return {}

    def from_state(self, arrays: Arrays) -> ItPatterns:
        """Return self."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return an attribute a candidate for each of `KINDS`, shape ``(n, 2, len(KINDS))``.

        Raises
        ------
        UserError
            D455 for a group of more than two.
        """
        if len(group.candidates) != 2:
            raise UserError("D455", group=group.name, n=len(group.candidates))
        said = SCALE * kinds_told(view, instances)
        values = np.stack([-said, said], axis=1).astype(np.float32)
        columns = Columns(
            np.repeat(np.arange(2, dtype=np.int32), len(KINDS)),
            np.zeros(2 * len(KINDS), np.int32),
            (NAME,),
            [f"{candidate}: a pattern of {kind}" for candidate in group.candidates for kind in KINDS],
        )
        costs = (np.arange(2) != instances.observed[:, None]).astype(np.float32)
        nothing = np.zeros(2 * len(instances), np.int32)
        column_of = np.arange(2 * len(KINDS)).reshape(2, -1)
        return Features(DenseBlocks(values, column_of, columns, costs), nothing, nothing)


def kinds_told(view: TokenView, instances: Instances) -> NDArray[np.bool_]:
    """Return which kinds of pattern hold at each place, in its sentence, shape ``(n, len(KINDS))``.

    Where one holds by which nothing is referred to, those of things do not: "it stopped raining".
    """
    found = np.zeros((len(instances), len(KINDS)), bool)
    sentences = np.searchsorted(view.sentences, instances.positions, side="right") - 1
    documents = view.document_of(instances.positions)
    for sentence in np.unique(sentences).tolist():
        rows = np.flatnonzero(sentences == sentence)
        first, behind = view.sentences[sentence : sentence + 2].tolist()
        start, end = int(view.starts[first:behind].min()), int(view.ends[first:behind].max())
        row_of = {int(view.starts[instances.positions[row]]) - start: row for row in rows.tolist()}
        for kind, place, _ in told(view.texts[documents[rows[0]]][start:end]):
            if place in row_of:
                found[row_of[place], KINDS.index(kind)] = True
    found[:, _THINGS] &= ~found[:, ~_THINGS].any(axis=1, keepdims=True)
    return found
