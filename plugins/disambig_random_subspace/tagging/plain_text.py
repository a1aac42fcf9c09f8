"""Word classes from plain text: files of one paragraph a line, a domain each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import Model, TokenView, Words
from disambig.api.decoding import ChainScorer
from disambig.api.experiments import text_lines
from disambig.api.features import TokenContext, WordClasses, learn_classes
from disambig.api.text import SpacyTokens

from .task import words_of

DOMAINS = ("fiction", "government", "health", "mixed", "science", "speeches", "technical", "textbooks")
"""What shipped classes and published figures are learned from; a data directory may hold other domains."""
PLAIN = tuple(f"english/{domain}.train.txt.xz" for domain in DOMAINS)
WORDS_A_FILE = 4_000_000
"""Words of each file that are read, at most: so that none outweighs the others."""
_LINES, _FEW_LINES = 10_000, 1_000


def classes_of(
    files: Sequence[Path],
    *,
    most: int = WORDS_A_FILE,
    n_words: int = 20_000,
    sizes: Sequence[int] | None = None,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> WordClasses:
    """Learn word classes from the first words of each file.

    Parameters
    ----------
    files : sequence of Path
        Text, plain or packed.
    most : int
        Words of a file that are read.
    n_words, sizes
        As for `learn_classes`.

    Raises
    ------
    UserError
        D458 where there is too little text; those of `text_lines` for a file.
    """

    def words() -> Iterator[NDArray[np.uint64]]:
        for number, path in enumerate(files):
            progress("reading plain text", number, len(files))
            lines, size = text_lines(path), 0
            while size < most and (some := list(itertools.islice(lines, _LINES))):
                view = Words()(some)
                size += len(view)
                yield view.hashes
        progress("learning word classes", 0, 1)

    if sizes is None:
        return learn_classes(words(), n_words=n_words)
    return learn_classes(words(), n_words=n_words, sizes=sizes)


def token_views(path: Path, most: int) -> Iterator[TokenView]:
    """Yield the first tokens of a file, `most` or a few more, by some paragraphs (errors: `text_lines`)."""
    lines, size = text_lines(path), 0
    tokens = SpacyTokens()
    while size < most and (some := list(itertools.islice(lines, _FEW_LINES))):
        view = tokens(some)
        size += len(view)
        yield view


def tags_in(model: Model, view: TokenView) -> NDArray[np.int64]:
    """Return the number of the tag of each token that is no boundary, by the tagger `model`."""
    scorer, extractor = model.scorers[0], model.extractors[0]
    assert isinstance(scorer, ChainScorer) and isinstance(extractor, TokenContext)
    rows, sequences = extractor.rows(view, words_of(view))
    edges = np.flatnonzero(np.diff(sequences, prepend=-1, append=len(view) + 1))
    return scorer.decode(rows, edges.astype(np.int64))
