"""Write ``stems.txt``, the frequent stems of the normalised view.

Run ``python -m disambig_variance_svm.pronoun_it._stem_selection DATA_DIR``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from disambig.api import Words
from disambig.api.arrays import minibatch
from disambig.api.experiments import text_lines

from .._script import run_script
from ..plain_text import COUNTED, find_files
from .task import IT, NUMBER, PRONOUN, STEMS, THEY, normalise_word

N_STEMS = 5000
_BATCH = 1 << 22


def count_stem_shares(texts: Iterable[str]) -> dict[str, float]:
    """Return the share of each stem among all words of `texts`."""
    counts: Counter[str] = Counter()
    for batch in minibatch(texts, _BATCH + 1, len):
        view = Words()(batch)
        words = np.flatnonzero(view.ends > view.starts)
        _, first, seen = np.unique(view.hashes[words], return_index=True, return_counts=True)
        for (text, start, end), n in zip(view.locate(words[first]), seen.tolist(), strict=True):
            for part in normalise_word(Words.normal_form(text[start:end]), None):
                counts[part] += n
    total = sum(counts.values())
    return {stem: n / total for stem, n in counts.items()}


def main(data: Path) -> None:
    """Write the stems with the largest shares, summed over the domains."""
    shares: Counter[str] = Counter()
    for path in find_files(data, COUNTED):
        shares.update(count_stem_shares(text_lines(path)))
    for name in (IT, THEY, PRONOUN, NUMBER):
        del shares[name]
    stems = [stem for stem, _ in shares.most_common(N_STEMS)]
    STEMS.write_text("\n".join(sorted(stems)) + "\n", encoding="utf8")


if __name__ == "__main__":
    run_script(__doc__, main)
