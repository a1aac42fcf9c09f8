"""Counts the fillers of the contexts in which "it" and "they" are seen: all that `fillers` asks of a table.

A table of all n-grams with gaps (``disambig counts build --gaps``) answers the same and is many times
larger. Texts are read twice: for the contexts, then for what fills them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from disambig.api.counts import CONTEXTS
from disambig.api.text import hash_word, hash_words

from .fillers import FILLER_HASHES
from .normalised import IT, THEY, NormalisedWords

Texts = Callable[[], Iterable[str]]
Counted = tuple[NDArray[np.uint64], NDArray[np.uint64]]
_BATCH = 1 << 22
_AROUND = 4


def count_fillers(texts: Texts, *, least: int) -> Counted:
    """Return the n-grams that `fillers` asks for, as ascending keys and their counts.

    Parameters
    ----------
    texts : callable
        Gives the texts anew each time it is called.
    least : int
        How often "it" and "they" together must be seen in a context for it to be kept.
    """
    from .counting_kernels import FILL, contexts_of, count_into, filled_keys

    seed = np.uint64(hash_word(NormalisedWords.name))
    contexts = np.array(CONTEXTS)
    seen: list[NDArray[np.uint64]] = []
    wanted = hash_words([IT, THEY])
    for hashes, sentences in _batches(texts):
        places = np.flatnonzero(np.isin(hashes, wanted))
        seen.append(contexts_of(hashes, sentences, places, contexts, seed))
    first = np.concatenate(seen)  # (n, 4): see `contexts_of`
    del seen
    _, index, often = np.unique(first[:, 0], return_index=True, return_counts=True)
    kept = first[index[often >= least]]  # ascending by the first column
    counts = np.zeros((len(kept), FILL), np.uint64)
    for hashes, sentences in _batches(texts):
        count_into(hashes, sentences, kept[:, 0].copy(), contexts, seed, FILLER_HASHES, counts)
    keys, amounts = filled_keys(kept, counts, FILLER_HASHES)
    keys, index = np.unique(keys, return_index=True)
    return keys[amounts[index] > 0], amounts[index][amounts[index] > 0]


def _batches(texts: Texts) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
    """Yield word hashes and, for each word, where its sentence begins and ends, shape ``(n, 2)``."""
    tokenise = NormalisedWords()
    batch: list[str] = []
    size = 0
    for text in texts():
        batch.append(text)
        size += len(text)
        if size > _BATCH:
            yield _arrays(tokenise, batch)
            batch, size = [], 0
    if batch:
        yield _arrays(tokenise, batch)


def _arrays(tokenise: NormalisedWords, batch: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    view = tokenise(batch)
    sizes = np.diff(view.sentences)
    bounds = np.stack([np.repeat(view.sentences[:-1], sizes), np.repeat(view.sentences[1:], sizes)], axis=1)
    return view.hashes, bounds
