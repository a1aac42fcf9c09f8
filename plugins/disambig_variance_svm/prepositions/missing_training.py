"""Learn where a preposition may be missing.

Run ``python -m disambig_variance_svm.prepositions.missing_training DATA_DIR``.

It reads ``DATA_DIR/english/*.train.txt.xz``, running text that is assumed to be correct, and writes the
weights that the task *preposition* uses. The same data give the same weights.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from disambig.api import TokenView, Words
from disambig.api.tasks import Gaps, learn_gaps

from .task import MISSING_WEIGHTS, PREPOSITIONS

CHARACTERS = 60_000_000
"""Maximum number of characters that are read from each domain, in paragraphs at equal distances."""
BITS = 19
_PARAGRAPHS = 20_000
LICENCE = "figures derived from text under the licences named in the card of disambig_en"


def learn_missing(data: Path, domains: Sequence[str], *, seed: int = 0) -> Gaps:
    """Return the weights learned from the counted text of some domains, in random order."""
    paragraphs = [text for domain in domains for text in _sample(data, domain)]
    order = np.random.default_rng(seed).permutation(len(paragraphs))

    def views() -> Iterator[TokenView]:
        for start in range(0, len(order), _PARAGRAPHS):
            yield Words()([paragraphs[i] for i in order[start : start + _PARAGRAPHS].tolist()])

    header = {
        "words": list(PREPOSITIONS),
        "sources": [f"english/{domain}.train.txt.xz" for domain in domains],
        "licence": LICENCE,
    }
    return learn_gaps(views(), PREPOSITIONS, bits=BITS, header=header)


def _sample(data: Path, domain: str) -> list[str]:
    with lzma.open(data / "english" / f"{domain}.train.txt.xz", "rt", encoding="utf8") as lines:
        paragraphs = [line.rstrip("\n") for line in lines]
    step = max(1, round(sum(map(len, paragraphs)) / CHARACTERS))
    return paragraphs[::step]


def main(data: Path, folder: Path = MISSING_WEIGHTS) -> None:
    """Learn from all domains and write the weights."""
    names = sorted(path.name.split(".")[0] for path in (data / "english").glob("*.train.txt.xz"))
    learn_missing(data, names).save(folder)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
