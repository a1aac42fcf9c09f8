"""Learn where a preposition may be missing.

Run ``python -m disambig_variance_svm.prepositions.missing_training DATA_DIR``.

It reads ``DATA_DIR/english/*.train.txt.xz``, running text that is assumed to be correct, and writes the
weights that the task *preposition* uses. The same data give the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from disambig.api import UserError, Words
from disambig.api.arrays import minibatch
from disambig.api.tasks import Gaps, learn_gaps

from .._script import run_script
from ..plain_text import counted_files, find_files, sample_paragraphs
from .task import MISSING_WEIGHTS, PREPOSITIONS

CHARACTERS = 60_000_000
"""Maximum number of characters that are read from each domain, in paragraphs at equal distances."""
BITS = 19
"""Logarithm of the number of hash buckets."""
_PARAGRAPHS = 20_000
"""Number of paragraphs that are tokenised at once."""
LICENCE = "figures derived from text under the licences named in the card of disambig_en"


def learn_missing(data: Path, domains: Sequence[str]) -> Gaps:
    """Return the weights learned from the counted text of some domains, in random order."""
    sources = counted_files(domains)
    paragraphs = [text for path in find_files(data, sources) for text in sample_paragraphs(path, CHARACTERS)]
    order = np.random.default_rng(0).permutation(len(paragraphs))

    views = (Words()(batch) for batch in minibatch((paragraphs[i] for i in order.tolist()), _PARAGRAPHS))
    header = {"words": list(PREPOSITIONS), "sources": list(sources), "licence": LICENCE}
    return learn_gaps(views, PREPOSITIONS, bits=BITS, header=header)


def main(data: Path, output: Path) -> None:
    """Learn from all domains and write the weights. Raises D300 if there are none."""
    pattern = data / "english" / "*.train.txt.xz"
    names = sorted(path.name.split(".")[0] for path in pattern.parent.glob(pattern.name))
    if not names:
        raise UserError("D300", path=pattern)
    learn_missing(data, names).save(output)


if __name__ == "__main__":
    run_script(__doc__, main, output=MISSING_WEIGHTS)
