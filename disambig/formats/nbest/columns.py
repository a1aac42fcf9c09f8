"""N-best lists by columns: what tasks and learners work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.data.candidate_words import CandidateWords
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.formats.nbest.reader import NBest

Measured = Callable[[Sequence[str], Sequence[str]], NDArray[np.float32]]


def lists_of(items: Sequence[NBest], measure: Measured | None = None) -> CandidateLists:
    """Return lists by columns.

    Parameters
    ----------
    items : sequence of NBest
    measure : callable, optional
        From texts and references to costs: of lists that say no costs and have a reference.

    Returns
    -------
    CandidateLists
        Costs are NaN where neither the list nor the measure says them. Where some lists say their words, the
        texts of others are cut at white space; tags are there where all lists say them.
    """
    plain = CandidateLists.of([item.candidates for item in items])
    scores, costs = np.zeros(len(plain.texts)), np.full(len(plain.texts), np.nan, np.float32)
    open_texts: list[str] = []
    open_references: list[str] = []
    rows: list[range] = []
    for item, start, stop in zip(items, plain.offsets[:-1].tolist(), plain.offsets[1:].tolist(), strict=True):
        if item.scores is not None:
            scores[start:stop] = item.scores
        if item.costs is not None:
            costs[start:stop] = item.costs
        elif item.reference is not None and measure is not None:
            open_texts += item.candidates
            open_references += [item.reference] * len(item.candidates)
            rows.append(range(start, stop))
    if rows and measure is not None:
        costs[np.concatenate([np.array(each) for each in rows])] = measure(open_texts, open_references)
    names = tuple(sorted({name for item in items for each in item.features for name in each}))
    features, words = _features(items, names), _words(items)
    return CandidateLists(plain.offsets, plain.texts, scores, plain.ranks, costs, features, names, words)


def instances_of(lists: CandidateLists) -> Instances:
    """Return lists as instances outside any text; observed is the first candidate of least cost.

    It is -1 in lists whose costs are not known.
    """
    n = len(lists)
    observed = np.full(n, -1, np.int32)
    for i, (start, stop) in enumerate(
        zip(lists.offsets[:-1].tolist(), lists.offsets[1:].tolist(), strict=True)
    ):
        costs = lists.costs[start:stop]
        if not np.isnan(costs).any():
            observed[i] = int(costs.argmin())
    nothing = np.zeros(n, np.int32)
    return Instances(np.arange(n, dtype=np.int64), nothing, nothing, observed, lists)


def _words(items: Sequence[NBest]) -> CandidateWords | None:
    if all(item.words is None for item in items):
        return None
    cut = (item.words or [text.split() for text in item.candidates] for item in items)
    tagged = all(item.tags is not None for item in items)
    tags = (each for item in items for each in item.tags or ()) if tagged else None
    return CandidateWords.of((words for each in cut for words in each), tags)


def _features(items: Sequence[NBest], names: Sequence[str]) -> object:
    if not names:
        return None
    from scipy.sparse import csr_array

    number = {name: i for i, name in enumerate(names)}
    rows = [each for item in items for each in item.features]
    columns = [number[name] for each in rows for name in each]
    values = [float(value) for each in rows for value in each.values()]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in rows])])
    matrix = csr_array((np.array(values), np.array(columns, np.int64), starts), (len(rows), len(names)))
    matrix.sort_indices()
    return matrix
