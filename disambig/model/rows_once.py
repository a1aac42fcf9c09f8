"""Features of all groups at once, where they are the same whatever the candidates are.

With one model a word, a text has a few decisions for each of hundreds of groups: what is known of the places
is found once, and then handed out by group. Extractors that allow it have ``rows_are_shared = True``: they
give `CrossedRows`, whose rows say nothing of the candidates. Others may do a part of their work for all
groups (`Prepares`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.crossed_columns import CrossedColumns, own_columns
from disambig.data.batches.sparse import CrossedRows
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.joining import described
from disambig.fields import rows_are_shared
from disambig.text.view import TokenView
from disambig.types import FeatureExtractor, Features, Prepares

OfGroup = Callable[[NDArray[np.int64], Group], Features]
"""Gives the features of some of the instances, which all belong to the group."""
_ANY = Group("any", ("any",))


def features_of(extractors: Sequence[FeatureExtractor], view: TokenView, instances: Instances) -> OfGroup:
    """Return what gives the features of a group's instances, found now where the rows are shared."""
    if instances.own is not None or not all(rows_are_shared(extractor) for extractor in extractors):
        ready = extractors
        if len(instances) and (instances.groups != instances.groups[0]).any():
            ready = [e.prepared(view, instances) if isinstance(e, Prepares) else e for e in extractors]
        return lambda rows, group: described(ready, view, instances.take(rows), group)
    whole = described(extractors, view, instances.unseen(), _ANY)  # what is observed is no candidate of it
    assert isinstance(whole.batch, CrossedRows)
    features, own = whole.batch.rows, own_columns(whole.batch.columns, int(whole.batch.rows.shape[1]))

    def of_group(rows: NDArray[np.int64], group: Group) -> Features:
        k = len(group.candidates)
        costs = instances.take(rows).costs(group).reshape(-1, k)
        batch = CrossedRows(features[rows], costs, CrossedColumns(own, group.candidates))
        return Features(batch, np.repeat(whole.found[rows], k), np.repeat(whole.asked[rows], k))

    return of_group
