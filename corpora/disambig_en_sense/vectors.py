"""Word vectors from plain text: what words are like that MASC has rarely or not at all."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api.features import Vectors, learn_vectors
from disambig.config import resolve
from disambig.text.documents import view_of_texts

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
"""How many words of each domain, from its beginning; none of the one that MASC is in."""
AT_ONCE = 5_000
"""Paragraphs that are cut into words together."""
KNOWN, DIMENSIONS = 40_000, 48


@cache
def vectors(data: Path) -> Vectors:
    """Return the vectors of the most frequent words of ``english/DOMAIN.train.txt.xz``."""
    return learn_vectors(_words(data), n_words=KNOWN, dimensions=DIMENSIONS)


def _words(data: Path) -> Iterator[NDArray[np.uint64]]:
    tokens = resolve({"tokens": {"@disambig_tokenisations": "disambig.spacy_tokens.v1"}})["tokens"]
    for domain, most in WORDS.items():
        seen = 0
        with lzma.open(data / "english" / f"{domain}.train.txt.xz", "rt", encoding="utf8") as lines:
            while seen < most and (some := list(islice(lines, AT_ONCE))):
                view = view_of_texts([line.strip() for line in some], tokens)
                seen += len(view)
                yield view.hashes
