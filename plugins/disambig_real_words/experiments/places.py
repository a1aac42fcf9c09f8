"""Places of held-out text whose word has others that it is mistaken for: what systems choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import Group, Instances, TokenView, Words
from disambig.api.experiments import text_lines
from disambig.api.features import Cloze
from disambig.api.tasks import CandidateLists, word_tokens

from ..relations import Relations

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Places of one domain; of each the word that stands there comes first in its list.

    Attributes
    ----------
    view : TokenView
    instances : Instances
        With candidates of their own, in text order.
    learns : array of bool, shape (n,)
        The places by which systems are weighed: those of the first half of the paragraphs.
    """

    view: TokenView
    instances: Instances
    learns: NDArray[np.bool_]

    def groups(self) -> Mapping[Group, Ints]:
        """Return the places by their candidates, for what knows candidates by the group alone."""
        own = self.instances.own
        assert own is not None
        found: dict[tuple[str, ...], list[int]] = {}
        for i, (start, end) in enumerate(
            zip(own.offsets[:-1].tolist(), own.offsets[1:].tolist(), strict=True)
        ):
            found.setdefault(tuple(own.texts[start:end]), []).append(i)
        return {Group(words[0], words): np.array(rows) for words, rows in found.items()}


def ground_of(path: Path, model: Cloze, related: Relations, *, paragraphs: int, places: int) -> Ground:
    """Return places of a text whose word the model knows, and another of its list as well.

    Parameters
    ----------
    paragraphs, places : int
        How many there are at most; of more a random sample, the same each time.
    """
    rng = np.random.default_rng(0)
    lines = list(text_lines(path))
    taken = np.sort(rng.permutation(len(lines))[:paragraphs])
    view = Words()([lines[i] for i in taken.tolist()])
    lists = _known_lists(model, related)
    number = related.find(view.hashes)
    found = np.flatnonzero((number >= 0) & word_tokens(view))
    found = np.array([i for i in found.tolist() if int(number[i]) in lists], np.int64)
    found = np.sort(rng.permutation(found)[:places])
    chosen = [lists[int(each)] for each in number[found]]
    zeros = np.zeros(len(found), np.int32)
    own = CandidateLists.of(chosen)
    instances = Instances(found, np.ones(len(found), np.int32), zeros, zeros.copy(), own)
    return Ground(view, instances, view.document_of(found) < (len(view.texts) + 1) // 2)


def _known_lists(model: Cloze, related: Relations) -> Mapping[int, Sequence[str]]:
    """Return each word that the model knows with those related words that it knows, if any, by its number."""
    known = model.numbers_of_candidates(related.spellings) >= 0
    lists = {}
    for i in np.flatnonzero(known).tolist():
        others = related.others[related.offsets[i] : related.offsets[i + 1]]
        others = others[known[others]]
        if len(others):
            lists[i] = [related.spellings[i], *(related.spellings[other] for other in others.tolist())]
    return lists
