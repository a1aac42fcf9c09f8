"""Examples of `usage`: the 34 words in UD English EWT, and the same places with another of them.

Only for training and tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import Tokenisation, TokenView
from disambig.api.text import hash_words
from disambig_variance_svm.gate.truth import PREPOSITIONS, read

Bools = NDArray[np.bool_]
HASHES = hash_words(PREPOSITIONS)


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Occurrences of the 34 words: where they stand and whether each is used as a preposition."""

    view: TokenView
    positions: NDArray[np.int64]
    truth: Bools

    def words(self) -> NDArray[np.int64]:
        """Return the index in `PREPOSITIONS` of each occurrence."""
        return index_of(self.view.hashes[self.positions])


def index_of(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the index in `PREPOSITIONS` of each of these words."""
    order = np.argsort(HASHES)
    return order[np.searchsorted(HASHES, hashes, sorter=order)].astype(np.int64)


def examples(paths: list[Path], tokenisation: Tokenisation) -> Examples:
    """Return the occurrences in some CoNLL-U files that are words for `tokenisation` as well."""
    documents = [document for path in paths for document in read(path)]
    view = tokenisation([document.text for document in documents])
    positions = np.flatnonzero(np.isin(view.hashes, HASHES))
    spans = zip(
        view.document_of(positions).tolist(),
        view.starts[positions].tolist(),
        view.ends[positions].tolist(),
        strict=True,
    )
    truth = [documents[number].spans.get((start, end)) for number, start, end in spans]
    known = np.array([value is not None for value in truth])
    return Examples(view, positions[known], np.array([value for value in truth if value is not None]))


def ewt(data: Path, part: str, tokenisation: Tokenisation) -> Examples:
    """Return the occurrences in one part of UD English EWT: train, dev or test."""
    return examples(sorted((data / "labelled" / "ewt").glob(f"*.{part}.conllu*")), tokenisation)


def swap(words: dict[str, NDArray[np.uint64]], rng: np.random.Generator) -> dict[str, NDArray[np.uint64]]:
    """Return the same places with another of the 34 words in each, chosen evenly: mistakes to let through."""
    step = rng.integers(1, len(HASHES), size=len(words["C"]))
    new = (index_of(words["C"]) + step) % len(HASHES)
    return {**words, "C": HASHES[new]}
