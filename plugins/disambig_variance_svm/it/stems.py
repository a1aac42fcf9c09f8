"""Makes ``stems.txt``, the frequent stems of `normalised`: each domain of the text counts the same.

    python plugins/disambig_variance_svm/it/stems.py DATA

DATA is a directory with the text of `plain_text`, one paragraph a line.
"""

from __future__ import annotations

import lzma
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from disambig.api import Words
from disambig_variance_svm.it.normalised import IT, NUMBER, PRONOUN, STEMS, THEY, normalised
from disambig_variance_svm.plain_text import COUNTED, files

N_STEMS = 5000
_BATCH = 1 << 22


def stem_shares(texts: Iterable[str]) -> dict[str, float]:
    """Return the share of each stem among all words of `texts`."""
    counts: Counter[str] = Counter()
    for batch in _batches(texts):
        view = Words()(batch)
        words = np.flatnonzero(view.ends > view.starts)
        _, first, seen = np.unique(view.hashes[words], return_index=True, return_counts=True)
        first = words[first]
        documents = view.document_of(first)
        for document, at, n in zip(documents.tolist(), first.tolist(), seen.tolist(), strict=True):
            word = Words.normal_form(batch[document][view.starts[at] : view.ends[at]])
            for part in normalised(word, None):
                counts[part] += n
    total = sum(counts.values())
    return {stem: n / total for stem, n in counts.items()}


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def main(data: Path) -> None:
    """Write the stems of largest share, added up over the domains."""
    shares: Counter[str] = Counter()
    for path in files(data, COUNTED):
        with lzma.open(path, "rt", encoding="utf8") as lines:
            shares.update(stem_shares(line.rstrip("\n") for line in lines))
    for name in (IT, THEY, PRONOUN, NUMBER):
        del shares[name]
    stems = [stem for stem, _ in shares.most_common(N_STEMS)]
    STEMS.write_text("\n".join(sorted(stems)) + "\n", encoding="utf8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
