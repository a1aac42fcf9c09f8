"""Kana to kanji for programs: a converter, a domain of it, and the model that ranks its candidates again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from disambig.api import Model, UserError
from disambig.api.tasks import CandidateLists, decide_lists

from .converter import Converter
from .places import PACK, place_of
from .stored import in_domain

LEAST = 20
"""Candidates that are ranked again, at least."""


class Candidate(NamedTuple):
    """A conversion of a line.

    Attributes
    ----------
    text : str
    score : float
        The higher the better: of the model that ranks again; without one it is `base`.
    base : float
        ln P, by the converter.
    rank : int
        Place among the candidates by that, from 0.
    words, tags : tuple of str
        Of which it consists, and their parts of speech.
    """

    text: str
    score: float
    base: float
    rank: int
    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Conversion:
    """Converts lines of kana to kanji.

    Attributes
    ----------
    converter : Converter
    reranker : Model, optional
        Ranks the candidates again.
    """

    converter: Converter
    reranker: Model | None = None

    @classmethod
    def load(cls, name: str | Path = PACK, *, domain: str | None = None, rerank: bool = True) -> Conversion:
        """Return the converter of a pack or a folder.

        Parameters
        ----------
        name : str or path
            A pack, a folder that `disambig adapt` made, a model of kana and kanji, or a bare converter.
        domain : str, optional
            One of the converter's domains, such as ``"news"``.
        rerank : bool
            Whether candidates are ranked again, where there is a model for it.

        Raises
        ------
        UserError
            D690 to D693 and D943 for names, D674 and others for damaged files.
        """
        place = place_of(name)
        reranker = place.model() if rerank else None
        converter = Converter.load(place.converter)
        if domain is not None:
            try:
                converter = in_domain(converter, place.converter, domain)
            except UserError as error:
                if error.code != "D692":
                    raise
                raise UserError(error.code, **(error.values | {"path": name})) from None
        return cls(converter, reranker)

    def best(self, lines: Sequence[str]) -> list[str]:
        """Return the best conversion of each line."""
        if self.reranker is None:
            return self.converter.best(lines)
        lists = self.converter.nbest(lines, LEAST)
        chosen = lists.offsets[:-1] + decide_lists(self.reranker, lists).chosen
        return [lists.texts[row] for row in chosen.tolist()]

    def nbest(self, lines: Sequence[str], k: int = 20) -> list[list[Candidate]]:
        """Return the k best conversions of each line, the best first; fewer where there are no more.

        Raises
        ------
        UserError
            D675 for a k that is none, D677 for a text in place of lines.
        """
        lists = self.converter.nbest(lines, k if self.reranker is None else max(k, LEAST))
        scores = lists.scores
        if self.reranker is not None:
            scores = decide_lists(self.reranker, lists).scores.astype(np.float64)
        return [_listed(lists, scores, i, k) for i in range(len(lists))]


def _listed(lists: CandidateLists, scores: np.ndarray, i: int, k: int) -> list[Candidate]:
    first, last = int(lists.offsets[i]), int(lists.offsets[i + 1])
    order = first + np.argsort(-scores[first:last], kind="stable")[:k]
    words = lists.words
    return [
        Candidate(
            lists.texts[row],
            float(scores[row]),
            float(lists.scores[row]),
            int(lists.ranks[row]),
            words.of_candidate(row) if words is not None else (),
            words.tags_of(row) if words is not None else (),
        )
        for row in order.tolist()
    ]
