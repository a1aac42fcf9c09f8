"""Features of the instances of all groups: what is the same for several is worked out once.

With one model a word, a text has a few decisions for each of hundreds of groups: what is known of the places
is found once, and then handed out by group. Extractors that allow it have ``rows_are_shared = True``: they
give `CrossedRows`, whose rows say nothing of the candidates. Others may describe several groups at once
(`DescribesTogether`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.crossed_columns import CrossedColumns, own_columns
from disambig.data.batches.sparse import CrossedRows
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.joining import described, described_all
from disambig.fields import rows_are_shared
from disambig.text.view import TokenView
from disambig.types import FeatureExtractor, Features

Block = tuple[int, NDArray[np.int64]]
"""The number of a group, and some of its instances."""
Described = tuple[int, NDArray[np.int64], Instances, Features]
"""The same, with these instances and their features."""
TOGETHER = 4096
"""From so many instances on no more are described at once: their features stay near the cache."""
_ANY = Group("any", ("any",))


def features_of(
    extractors: Sequence[FeatureExtractor],
    view: TokenView,
    instances: Instances,
    groups: Sequence[Group],
    blocks: Iterable[Block],
) -> Iterator[Described]:
    """Yield the features of each block.

    Parameters
    ----------
    instances : Instances
        Of all blocks.
    groups : sequence of Group
        By their numbers.
    """
    if instances.own is None and all(rows_are_shared(extractor) for extractor in extractors):
        yield from _of_shared_rows(extractors, view, instances, groups, blocks)
        return
    for some in _bunches(blocks):
        parts = [(instances.take(rows), groups[number]) for number, rows in some]
        found = described_all(extractors, view, parts)
        for (number, rows), (taken, _), features in zip(some, parts, found, strict=True):
            yield number, rows, taken, features


def _of_shared_rows(
    extractors: Sequence[FeatureExtractor],
    view: TokenView,
    instances: Instances,
    groups: Sequence[Group],
    blocks: Iterable[Block],
) -> Iterator[Described]:
    whole = described(extractors, view, instances.unseen(), _ANY)  # what is observed is no candidate of it
    assert isinstance(whole.batch, CrossedRows)
    features, own = whole.batch.rows, own_columns(whole.batch.columns, int(whole.batch.rows.shape[1]))
    for number, rows in blocks:
        group, taken = groups[number], instances.take(rows)
        k = len(group.candidates)
        costs = taken.costs(group).reshape(-1, k)
        batch = CrossedRows(features[rows], costs, CrossedColumns(own, group.candidates))
        found, asked = (np.repeat(each[rows], k) for each in (whole.found, whole.asked))
        yield number, rows, taken, Features(batch, found, asked)


def _bunches(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    held: list[Block] = []
    waiting = 0
    for block in blocks:
        held.append(block)
        waiting += len(block[1])
        if waiting >= TOGETHER:
            yield held
            held, waiting = [], 0
    if held:
        yield held
