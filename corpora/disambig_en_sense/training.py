"""Parts of the pack's training: cached views of texts, word vectors from plain text, pruning of weights."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api.features import Vectors, learn_vectors
from disambig.config import resolve
from disambig.models import Model
from disambig.text import Tokenisation, TokenView, view_of_texts


class CachedViews:
    """A tokenisation that returns precomputed views of a fixed set of texts."""

    def __init__(self, tokenisation: Tokenisation, texts: Sequence[str]) -> None:
        self.name = tokenisation.name
        self._number = {text: i for i, text in enumerate(texts)}
        self._view = view_of_texts(list(texts), tokenisation)

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the view of some of the texts."""
        return self._view.take(np.array([self._number[text] for text in texts]))


WORDS = {
    "fiction": 3_000_000,
    "essays": 3_000_000,
    "encyclopedic": 2_000_000,
    "textbooks": 1_500_000,
    "guides": 1_000_000,
    "speeches": 1_000_000,
    "science": 700_000,
    "government": 500_000,
    "manuals": 500_000,
    "health": 500_000,
}
"""Number of words from the beginning of each domain; the domain that contains MASC is not used."""
AT_ONCE = 5_000
"""Number of paragraphs that are tokenised at a time."""
N_WORDS, DIMENSIONS = 40_000, 48


@cache
def vectors(data: Path) -> Vectors:
    """Return the vectors of the most frequent words of ``english/DOMAIN.train.txt.xz``."""
    return learn_vectors(_words(data), n_words=N_WORDS, dimensions=DIMENSIONS)


def _words(data: Path) -> Iterator[NDArray[np.uint64]]:
    """Yield the hashes of the words of plain text."""
    tokens = resolve({"tokens": {"@disambig_tokenisations": "disambig.spacy_tokens.v1"}})["tokens"]
    for domain, max_words in WORDS.items():
        seen = 0
        with lzma.open(data / "english" / f"{domain}.train.txt.xz", "rt", encoding="utf8") as lines:
            while seen < max_words and (paragraphs := list(islice(lines, AT_ONCE))):
                view = view_of_texts([line.strip() for line in paragraphs], tokens)
                seen += len(view)
                yield view.hashes


MIN_WEIGHT_SHARE = 0.05
"""Columns whose weights are all below this share of the word's largest weight are dropped."""


def prune_weights(model: Model) -> Model:
    """Return the model without the columns of each word whose weights are small.

    The mean weight of a column over the senses is subtracted first, because what all senses share does not
    affect the choice.
    """
    scorers = []
    for scorer in model.scorers:
        if scorer is None:
            scorers.append(None)
            continue
        k, d = len(scorer.bias), len(scorer.columns)
        weights = scorer.weights.reshape(k, d)
        weights = weights - weights.mean(axis=0)
        size = np.abs(weights).max(axis=0, initial=0.0)
        kept = size >= MIN_WEIGHT_SHARE * size.max(initial=0.0)
        half = weights[:, kept].astype(np.float16)
        scorers.append(replace(scorer, columns=scorer.columns[kept], weights=half.ravel()))
    return replace(model, scorers=tuple(scorers))
