"""Decide by the next word whether "its" or "it's" is meant.

Run ``python -m disambig_variance_svm.pronoun_it.apostrophes DATA_DIR`` to count the next words.

People often omit the apostrophe, or put one where none belongs. The words that follow "it's" and "its" were
counted in edited text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError, Words
from disambig.api.arrays import HashVocabulary, minibatch
from disambig.api.features import read_stored, write_stored
from disambig.api.text import hash_word

APOSTROPHES = Path(__file__).parent / "next_words"
FILE = "words.npz"
STEP = 1 / 16
CERTAIN_LOG_ODDS = 3.0
"""Log-odds (for equal frequencies of "it's" and "its") from which on the written form counts as a mistake."""
MIN_COUNT = 3
"""Minimum number of times that a word must follow one of the two."""
PARAGRAPHS = 60_000
"""Maximum number of paragraphs that are counted in each domain."""
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True, eq=False)
class NextWords:
    """The words that follow "it's" and "its", with their log-odds."""

    words: NDArray[np.uint64]  # (m,): hashes of words, ascending
    # int8 (m,): log-odds of "it's" before the word, for equal frequencies of both, in steps of `STEP`
    odds: NDArray[np.int8]
    header: Mapping[str, Any]

    def log_odds(self, words: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the log-odds for the words that follow, zero for rare words."""
        return HashVocabulary(self.words).get(words, self.odds, np.int8(0)) * STEP

    @classmethod
    def load(cls, folder: Path) -> NextWords:
        """Read the words from a folder.

        Raises D498 if the folder does not contain such words.
        """
        header, (words, odds) = read_stored(folder, FILE, ("words", "odds"), code="D498")
        sound = (
            words.dtype == np.uint64
            and odds.dtype == np.int8
            and words.ndim == 1
            and words.shape == odds.shape
            and len(words) > 0
            and bool((words[1:] > words[:-1]).all())
        )
        if not sound:
            raise UserError("D498", path=folder, problem="its words or odds have the wrong type or shape")
        return cls(words, odds, header)

    def save(self, folder: Path) -> None:
        """Write the words into a folder."""
        write_stored(folder, FILE, self.header, words=self.words, odds=self.odds)


@lru_cache(maxsize=1)
def next_words() -> NextWords:
    """Return the words that ship with this plugin; they are read once."""
    return NextWords.load(APOSTROPHES)


def count_next_words(texts: Iterable[str], *, sources: Iterable[str]) -> NextWords:
    """Count the words that follow "its" and "it's" in texts."""
    forms = np.array([hash_word("its"), hash_word("it's")], np.uint64)
    blocks: list[list[NDArray[np.uint64]]] = [[], []]
    for batch in minibatch(texts, _AT_ONCE):
        hashes = Words()(batch).hashes
        for form, of_form in zip(forms, blocks, strict=True):
            of_form.append(hashes[1:][hashes[:-1] == form])
    after_its, after_it_is = map(np.concatenate, blocks)
    words = np.unique(np.concatenate([after_its, after_it_is]))
    counts = np.stack(  # (2, m)
        [
            np.bincount(np.searchsorted(words, after), minlength=len(words))
            for after in (after_its, after_it_is)
        ]
    )
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    share = (counts + 0.5) / totals
    odds = np.log(share[1] / share[0])
    kept = (counts.sum(axis=0) >= MIN_COUNT) & (words != 0)
    steps = np.clip(np.round(odds / STEP), -127, 127).astype(np.int8)
    header = {"sources": list(sources), "its": len(after_its), "it's": len(after_it_is), "step": STEP}
    return NextWords(words[kept], steps[kept], header)


def main(data: Path, output: Path) -> None:
    """Count the next words and save them."""
    from disambig.api.experiments import text_lines

    from ..plain_text import PACK_DOMAINS, counted_files, find_files

    names = counted_files(PACK_DOMAINS)
    texts = (line for path in find_files(data, names) for line in islice(text_lines(path), PARAGRAPHS))
    count_next_words(texts, sources=names).save(output)


if __name__ == "__main__":
    from .._script import run_script

    run_script(__doc__, main, output=APOSTROPHES)
