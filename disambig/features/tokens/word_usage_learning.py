"""Word classes by use: which tags a tagger gave a word in much plain text, and how often it has a capital.

The text is tagged by a tagger that knows less; what it says of a word, summed over all places, is surer than
what it says of one. Capitals are counted away from the begin of sentences and from headings, where all
words have them: a word that never has one in the midst of a sentence is no name at its begin either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.features.tokens.word_classes import WordClasses
from disambig.text import characters
from disambig.text.view import TokenView

SIZES = (48, 256)
EDGES = (0.02, 0.1, 0.3, 0.6, 0.9, 0.98)
"""Where one class of capitals ends and the next begins, in shares of the places counted."""
_FEWEST = 4
_HEADING = 0.6
_SMALL, _CAPITAL, _CAPITALS = 1, 2, 3


def learn_usage(
    tagged: Iterable[tuple[TokenView, NDArray[np.integer]]],
    n_tags: int,
    *,
    least: int = 5,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> WordClasses:
    """Gather words by their tags, at several degrees of fineness, and, in the last class, by capitals.

    Parameters
    ----------
    tagged : iterable of (view, tags)
        Tags by number, one for each token that is no boundary.
    n_tags : int
    least : int
        How often a word must occur.
    sizes : sequence of int
        How many classes of tags there are, at each degree of fineness.
    seed : int

    Raises
    ------
    UserError
        D458 where the text has fewer different words than classes are asked for.
    """
    parts = [_used(view, np.asarray(tags, np.int64)) for view, tags in tagged]
    hashes, numbers, letters = (
        np.concatenate([part[i] for part in parts]) if parts else np.zeros(0, np.int64) for i in range(3)
    )
    words, which = np.unique(hashes.astype(np.uint64), return_inverse=True)
    n = len(words)
    table = np.bincount(which * n_tags + numbers, minlength=n * n_tags).reshape(n, n_tags)
    kept = table.sum(axis=1) >= least
    if kept.sum() < max(sizes):
        raise UserError("D458", n=int(kept.sum()), classes=max(sizes))
    small, capital, capitals = (
        np.bincount(which[letters == kind], minlength=n) for kind in (_SMALL, _CAPITAL, _CAPITALS)
    )
    from sklearn.cluster import MiniBatchKMeans

    points = np.sqrt(table[kept] / table[kept].sum(axis=1, keepdims=True))
    columns = [
        MiniBatchKMeans(size, random_state=seed, batch_size=4096, n_init=1).fit(points).labels_
        for size in sizes
    ]
    columns.append(_of_capitals(small, capital, capitals)[kept])
    return WordClasses(words[kept], np.stack(columns, axis=1).astype(np.uint16))


def _of_capitals(
    small: NDArray[np.int64], capital: NDArray[np.int64], capitals: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the class of each word: 0 for one seen too seldom, the last for one all in capitals."""
    total = small + capital + capitals
    share = (capital + capitals) / np.maximum(total, 1)
    found = 1 + np.digitize(share, EDGES)
    found[(share > 0.5) & (capitals > 0.8 * (capital + capitals))] = len(EDGES) + 2
    found[total < _FEWEST] = 0
    return found


def _used(
    view: TokenView, tags: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int8]]:
    """Return hash, tag and kind of letters of each token; the kind is 0 where it is not to be counted."""
    words = np.flatnonzero(view.ends > view.starts)
    texts = view.texts
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    before = (np.cumsum(lengths) - lengths)[view.document_of(words)]
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    table = characters.table(characters.size_for(int(codes.max(initial=0))))
    kinds = table[codes] >> np.uint32(characters.CLASS_SHIFT)
    first, last = kinds[view.starts[words] + before], kinds[view.ends[words] + before - 1]
    letters = np.where(first >= characters.LETTER, _SMALL, 0)
    letters[first == characters.UPPER] = _CAPITAL
    long = view.ends[words] - view.starts[words] > 1
    letters[(first == characters.UPPER) & (last == characters.UPPER) & long] = _CAPITALS
    sentence = view.sentences.searchsorted(words, side="right")
    n = np.bincount(sentence[letters > 0], minlength=len(view.sentences) + 1)
    high = np.bincount(sentence[letters > _SMALL], minlength=len(view.sentences) + 1)
    begins = np.diff(sentence, prepend=-1) > 0
    letters[begins | (high > _HEADING * n)[sentence]] = 0
    return view.hashes[words], tags, letters.astype(np.int8)
