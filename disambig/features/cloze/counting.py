"""Counting the words of running text: which get a number of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from disambig.features.cloze.learning_settings import check_whole
from disambig.features.cloze.vocabulary import Vocabulary, normal_form_of
from disambig.text.hashing import UNKNOWN
from disambig.text.view import END_HASH, SENTENCE_END, SENTENCE_START, START_HASH, TokenView

_BOUNDARIES = {START_HASH: SENTENCE_START, END_HASH: SENTENCE_END}


def count_vocabulary(
    views: Iterable[TokenView], n_words: int, endings: int
) -> tuple[Vocabulary, NDArray[np.int64], list[str]]:
    """Return the most frequent words of some text, how often each is there, and in its normal form.

    Sentence ends are always among them.

    Parameters
    ----------
    views : iterable of TokenView
        Each is looked at once.
    n_words : int
        How many words get a number; fewer where the text has fewer.
    endings : int
        Sets of other words, by their last letters.

    Raises
    ------
    UserError
        D993 for fewer than 3 words, or none that others could share.
    ValueError
        Without any text.
    """
    check_whole("n_words", n_words, least=3)
    check_whole("endings", endings, least=1)
    counts: Counter[int] = Counter()
    spellings: dict[int, str] = dict(_BOUNDARIES)
    for view in views:
        hashes, first, seen = np.unique(view.hashes, return_index=True, return_counts=True)
        own = hashes != UNKNOWN
        hashes, first, seen = hashes[own], first[own], seen[own]
        counts.update(dict(zip(hashes.tolist(), seen.tolist(), strict=True)))
        normal_form = normal_form_of(view.tokenisation)
        documents, starts, ends = view.document_of(first), view.starts[first], view.ends[first]
        for i, word in enumerate(hashes.tolist()):
            if word not in spellings:
                spellings[word] = normal_form(view.texts[documents[i]][starts[i] : ends[i]])
    if not counts:
        raise ValueError("no text to count")
    frequent = [word for word, _ in counts.most_common(n_words) if word not in _BOUNDARIES]
    kept = sorted([*_BOUNDARIES, *frequent[: n_words - len(_BOUNDARIES)]], key=lambda word: -counts[word])
    found = np.array([counts[word] for word in kept], np.int64)
    return Vocabulary(np.array(kept, np.uint64), endings), found, [spellings[word] for word in kept]
