"""Sentences whose tags are known in part: a tagger fills in the rest, bound by what is known.

A corpus of another kind often says something of a word's tag: that it is a verb in this place, or its tag by
other conventions. What a tagger makes of such a sentence is better than what it makes of any other, and worth
learning from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from disambig.api import Model
from disambig.api.decoding import ChainScorer
from disambig.api.features import TokenContext

from .sequences import batch_of

Partly = tuple[Sequence[str], Sequence[Collection[str]]]
"""Words, and the tags that each may have; an empty collection says nothing."""
_AT_ONCE = 2_000


def filled_in(model: Model, sentences: Iterable[Partly]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield words and tags of sentences, by the tagger `model` among the tags that each word may have.

    Tags that the tagger does not know are passed over; where none is left, a word may have any.
    """
    scorer, extractor = model.scorers[0], model.extractors[0]
    assert isinstance(scorer, ChainScorer) and isinstance(extractor, TokenContext)
    tags = model.task.groups[0].candidates
    number = {tag: i for i, tag in enumerate(tags)}
    waiting = iter(sentences)
    while some := list(islice(waiting, _AT_ONCE)):
        # what is observed says nothing here: any tag will do
        batch, _ = batch_of([(words, [tags[0]] * len(words)) for words, _ in some], tags, extractor)
        allowed = np.zeros(batch.costs.shape, bool)
        for row, may in enumerate(may for _, each in some for may in each):
            allowed[row, [number[tag] for tag in may if tag in number]] = True
        labels = iter(scorer.best_among(batch, allowed).tolist())
        for words, _ in some:
            yield list(words), [tags[next(labels)] for _ in words]
