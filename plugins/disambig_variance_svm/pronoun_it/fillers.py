"""Fillers, the kinds of words that occur in the contexts of an "it": the extractor, and how to count them.

Each of the 14 contexts around a place is filled with (1) it or its, (2) they, them or their, (3) other
pronouns, (4) rare words, (5) any other word; the attribute is log(count + 1) (Bergsma, Lin and Goebel
2008). If "it" refers to something, "they" often occurs in the same contexts; in "it is important to" it
hardly does. The count of (5) is the remainder of the count of the context with a gap, that is, with any
word.

`count_fillers` counts only the n-grams that the extractor looks up. A table of all n-grams with gaps
(``disambig counts build --gaps``) gives the same result and is many times larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import (
    Columns,
    DenseBlocks,
    Features,
    Group,
    Instances,
    StatelessExtractor,
    TokenView,
    UserError,
    by_group,
)
from disambig.api.arrays import minibatch
from disambig.api.counts import CONTEXTS, context_room, open_table
from disambig.api.experiments import Progress
from disambig.api.text import GAP_HASH, NGRAM_PLACES, fmix, hash_word, hash_words

from .task import IT, PRONOUN, RARE, STEMS, THEY, NormalisedWords, check_two_labels

FILLERS = ("it", "they", "other pronouns", "rare words", "other words")
"""Feature groups in the order of their attributes: 14 contexts each, then one bias."""
FILLER_HASHES = hash_words([IT, THEY, PRONOUN, RARE])
N_COLUMNS = len(CONTEXTS) * len(FILLERS) + 1


class FillerCounts(StatelessExtractor):
    """Extractor of filler counts, for a task with two labels.

    The attributes belong to the *second* candidate; those of the first are zero.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table of `variance_svm.NormalisedWords.v1` with gaps.
    """

    describes: ClassVar[str] = "group"

    def __init__(self, *, counts: Any) -> None:
        self.counts: str | Path = counts

    @cached_property
    def table(self) -> Any:
        """The count table, opened on first use."""
        return open_table(self.counts)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the attributes of instances, shape ``(n, 2, 71)``.

        Raises D110 if the table has another tokenisation, D117 if it has no gaps, D455 for a group that does
        not have two candidates.
        """
        check_two_labels(group)
        counts = filler_counts(self.table, view, instances)  # (n, 14, 5)
        n = len(instances)
        values = np.zeros((n, 2, N_COLUMNS), np.float32)
        values[:, 1, :-1] = np.log1p(counts).transpose(0, 2, 1).reshape(n, N_COLUMNS - 1)
        values[:, 1, -1] = 1.0
        costs = (np.arange(2) != instances.observed[:, None]).astype(np.float32)
        n_hits = (counts.sum(axis=2) > 0).sum(axis=1).astype(np.int32)
        n_queries = contexts_in_sentence(view, instances).sum(axis=1).astype(np.int32)
        blocks = DenseBlocks(
            values, np.tile(np.arange(N_COLUMNS), (2, 1)), _columns(group.candidates[1]), costs
        )
        return Features(blocks, np.repeat(n_hits, 2), np.repeat(n_queries, 2))


@lru_cache(maxsize=64)
def _columns(label: str) -> Columns:
    """Return the columns of a label: one object, so that what is computed from it is computed once."""
    names = [
        f"{label}: {' '.join(['.'] * left + [f'<{filler}>'] + ['.'] * right)}"
        for filler in FILLERS
        for left, right in CONTEXTS
    ]
    return Columns(
        np.ones(N_COLUMNS, np.int32),
        np.append(np.repeat(np.arange(len(FILLERS)), len(CONTEXTS)), len(FILLERS)).astype(np.int32),
        (*FILLERS, "bias"),
        [*names, f"{label}: bias"],
    )


def contexts_in_sentence(view: TokenView, instances: Instances) -> NDArray[np.bool_]:
    """Return which contexts are entirely within the sentence, shape ``(n, 14)``."""
    left, right = context_room(view, instances)
    contexts = np.array(CONTEXTS)
    return (left[:, None] >= contexts[:, 0]) & (right[:, None] >= contexts[:, 1])


def filler_counts(table: Any, view: TokenView, instances: Instances) -> NDArray[np.float64]:
    """Return the count of each kind of filler in each context, shape ``(n, 14, 5)``."""
    if view.tokenisation not in table.require(view.tokenisation).gaps:
        raise UserError("D117", path=table.path, ngram="it * to", problem="was built without gaps (--gaps)")
    n = len(instances)
    usable = contexts_in_sentence(view, instances)
    counts = np.zeros((n, len(CONTEXTS), len(FILLERS)))
    for c, (left, right) in enumerate(CONTEXTS):
        rows = np.flatnonzero(usable[:, c])
        if not len(rows):
            continue
        places = instances.positions[rows, None] + np.arange(-left, right + 1)
        words = view.hashes[places]  # (m, left + 1 + right)
        filled = np.repeat(words[:, None], len(FILLER_HASHES), axis=1)
        filled[:, :, left] = FILLER_HASHES
        ngrams = filled.reshape(-1, words.shape[1])
        by_filler = table.counts_of_words(ngrams, tokenisation=view.tokenisation).reshape(len(rows), -1)
        total = table.counts_of_words(any_word(words, left), tokenisation=view.tokenisation)
        rest = np.maximum(total.astype(np.float64) - by_filler.sum(axis=1, dtype=np.float64), 0.0)
        counts[rows, c] = np.column_stack([by_filler, rest])
    return counts


def any_word(words: NDArray[np.uint64], place: int) -> NDArray[np.uint64]:
    """Return the patterns with any word at `place`: a gap inside, or the shorter n-gram at an end.

    `words` has the shape ``(n, order)``.
    """
    if place in (0, words.shape[1] - 1):
        return np.delete(words, place, axis=1)
    pattern = words.copy()
    pattern[:, place] = GAP_HASH
    return pattern


Texts = Callable[[], Iterable[str]]
"""Returns the texts from the start each time it is called."""
KeyCounts = tuple[NDArray[np.uint64], NDArray[np.uint64]]
"""N-gram keys, ascending, and their counts."""
_PLACES = np.array(NGRAM_PLACES, np.uint64)
_BATCH = 1 << 22
"""Number of characters that are tokenised at once."""


def count_fillers(texts: Texts, *, minimum: int) -> KeyCounts:
    """Return the n-grams that `filler_counts` looks up, as ascending keys and their counts.

    `texts` returns the texts from the start each time it is called; they are read twice. `minimum` is the
    minimum count of "it" and "they" together for a context to be kept.
    """
    from ._counting_kernels import FILL, count_into

    seed = np.uint64(hash_word(NormalisedWords.name))
    it_they = hash_words([IT, THEY])
    rows = np.concatenate(  # (n, 3): see `_contexts_at`
        [
            _contexts_at(hashes, sentences, np.flatnonzero(np.isin(hashes, it_they)), seed)
            for hashes, sentences in _batches(texts)
        ]
    )
    _, index, n_occurrences = np.unique(rows[:, 0], return_index=True, return_counts=True)
    names, any_keys, places = rows[index[n_occurrences >= minimum]].T  # names are ascending
    del rows  # frees memory before the second pass
    names, counts = names.copy(), np.zeros((len(names), FILL), np.uint64)
    for hashes, sentences in _batches(texts):
        count_into(hashes, sentences, names, np.array(CONTEXTS), seed, FILLER_HASHES, counts)
    filled = fmix(names[:, None] + _PLACES[places.astype(np.int64), None] * FILLER_HASHES)
    amounts = np.column_stack([counts[:, : len(FILLER_HASHES)], counts.sum(axis=1)]).ravel()
    keys, index = np.unique(np.column_stack([filled, any_keys]), return_index=True)
    return keys[amounts[index] > 0], amounts[index][amounts[index] > 0]


def _contexts_at(
    hashes: NDArray[np.uint64], bounds: NDArray[np.int64], places: NDArray[np.int64], seed: np.uint64
) -> NDArray[np.uint64]:
    """Return the contexts of `places`, one per row: name (see `_counting_kernels`), key with any word, left.

    `bounds`, shape ``(n, 2)``, is the begin and end of each word's sentence.
    """
    contexts = []
    for left, right in CONTEXTS:
        usable = places[(places - left >= bounds[places, 0]) & (places + right < bounds[places, 1])]
        words = hashes[usable[:, None] + np.arange(-left, right + 1)]
        any_keys = fmix(_key_sums(any_word(words, left), seed))
        words[:, left] = 0  # leaves out the term of the filler
        contexts.append(np.column_stack([_key_sums(words, seed), any_keys, np.full_like(any_keys, left)]))
    return np.concatenate(contexts)


def _key_sums(words: NDArray[np.uint64], seed: np.uint64) -> NDArray[np.uint64]:
    """Return the sum that `fmix` turns into the key of each n-gram, from words of shape ``(n, order)``."""
    from disambig.api.kernels import ORDER_STEP

    order = words.shape[1]
    sums = (words * _PLACES[:order]).sum(axis=1, dtype=np.uint64)
    return sums + seed + np.full_like(sums, order) * ORDER_STEP  # arrays wrap around without a warning


def _batches(texts: Texts) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
    """Yield word hashes and the begin and end of each word's sentence, shape ``(n, 2)``."""
    tokenise = NormalisedWords()
    for batch in minibatch(texts(), _BATCH + 1, len):
        view = tokenise(batch)
        begin_end = np.stack([view.sentences[:-1], view.sentences[1:]], axis=1)
        yield view.hashes, np.repeat(begin_end, np.diff(view.sentences), axis=0)


MIN_COUNT = 2
"""Minimum count of "it" and "they" together for the fillers of a context to be kept."""
LAYOUT = 1


def load_fillers(data: Path, *, progress: Progress, quick: bool = False) -> Path:
    """Return the path of a table of fillers for the contexts of "it" and "they" in the counted text.

    With `quick`, only a part of the text is counted. The table is built unless it is in the cache.
    """
    from disambig.api.counts import write_table
    from disambig.api.experiments import cached, text_lines

    from ..plain_text import COUNTED, QUICK_COUNTED, find_files

    sources = find_files(data, QUICK_COUNTED if quick else COUNTED)
    pass_number = 0

    def texts() -> Iterator[str]:
        nonlocal pass_number
        pass_number += 1
        for number, path in enumerate(sources):
            progress(f"counting fillers, pass {pass_number} of 2", number, len(sources))
            yield from text_lines(path)

    def make(path: Path) -> None:
        counted = count_fillers(texts, minimum=MIN_COUNT)
        name = NormalisedWords.name
        write_table(path, [counted], tokenisations=[name], gaps=[name], record="exact", info={})

    details = {"layout": LAYOUT, "least": MIN_COUNT, "tokenisation": NormalisedWords.name}
    return cached("fillers", ".counts", sources=[*sources, STEMS], details=details, make=make)
