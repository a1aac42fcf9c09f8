"""Made errors: some right words of a view replaced by other candidates, to see whether they are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.counts.contexts import Candidates
from disambig.judges.corrections import substitutes
from disambig.judges.segmented import same_matrix
from disambig.text.view import TokenView


@dataclass(frozen=True, slots=True, eq=False)
class Substituted:
    """A view with errors in it, and where they are.

    Attributes
    ----------
    view : TokenView
        Made of hashes alone its texts are as they were.
    rows : array of int64, shape (m,)
        The instances whose word was replaced.
    swapped : array of int32, shape (m,)
        The candidate that stands there now.
    documents, starts : arrays of int, shape (m,)
        Where that is.
    """

    view: TokenView
    rows: NDArray[np.int64]
    swapped: NDArray[np.int32]
    documents: NDArray[np.int64]
    starts: NDArray[np.int32]


def substitute(
    view: TokenView,
    instances: Instances,
    groups: Sequence[Group],
    *,
    share: float,
    rng: np.random.Generator,
) -> Substituted:
    """Replace a random `share` of the instances, each by one of its group's other candidates at random.

    Variants are no errors and never chosen; neither are candidates with another number of words.
    """
    hashes = view.hashes.copy()
    chosen = rng.random(len(instances)) < share
    rows_of, swapped_of = [], []
    for g in np.unique(instances.groups[chosen]):
        rows = np.flatnonzero(chosen & (instances.groups == g))
        candidates = Candidates.of(groups[g])
        barred = same_matrix(groups[g]) | (candidates.lengths[:, None] != candidates.lengths)
        swapped, possible = substitutes(barred[instances.observed[rows]], rng)
        rows, swapped = rows[possible], swapped[possible]
        for place in range(candidates.longest):
            inside = candidates.lengths[swapped] > place
            hashes[instances.positions[rows[inside]] + place] = candidates.words[swapped[inside], place]
        rows_of.append(rows)
        swapped_of.append(swapped)
    none = np.empty(0, np.int64)
    rows = np.concatenate([none, *rows_of])
    positions = instances.positions[rows]
    return Substituted(
        replace(view, hashes=hashes),
        rows,
        np.concatenate([none, *swapped_of]).astype(np.int32),
        view.document_of(positions),
        view.starts[positions],
    )
