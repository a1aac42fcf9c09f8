"""Features from the source of a candidate list: base score, rank and given features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CandidateLists,
    Group,
    Instances,
    PackedStrings,
    maxima,
    offsets_from_sizes,
    strings_from_state,
)
from disambig.features.candidate_ngrams import as_features, columns_named, own_lists
from disambig.features.rows import by_group
from disambig.settings import COUNT, fitted_field, validate_settings
from disambig.text import TokenView
from disambig.types import Arrays, Features

GROUPS = ("base score", "rank", "source")
_FIXED = ("base score", "rank")


@dataclass(frozen=True, slots=True, eq=False)
class SourceFeatures:
    """Extractor of one sparse row per candidate: base score, log(1 + rank), and the features of the source.

    The base score is the distance of a candidate from the best one in its list, divided by the average
    distance of the second-best candidates, so that it does not depend on the scale of the source. Features
    that were not seen in training are left out.

    Parameters
    ----------
    base, rank, features : bool
        Whether to use each of these as features.
    least : int
        Minimum number of training candidates that have a feature.

    Raises
    ------
    UserError
        D452 if `least` is not a whole number of at least 1.
    """

    base: bool = True
    rank: bool = True
    features: bool = True
    least: int = 1
    names: PackedStrings | None = fitted_field(None)
    unit: float = fitted_field(1.0)
    describes: ClassVar[str] = "own"

    def __post_init__(self) -> None:
        validate_settings(self, least=COUNT)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> SourceFeatures:
        """Keep the names of the features that candidates have."""
        own = own_lists(instances, self)
        distances = _distances_from_best(own)
        of_second_best = distances[own.ranks == 1]
        mean = float(np.abs(of_second_best).mean()) if len(of_second_best) else 0.0
        unit = mean if mean > 0 else 1.0
        if own.features is None or not self.features:
            return replace(self, names=PackedStrings.from_words(()), unit=unit)
        counts = np.bincount(own.features.indices, minlength=len(own.feature_names))
        names = [name for name, n in zip(own.feature_names, counts.tolist(), strict=True) if n >= self.least]
        return replace(self, names=PackedStrings.from_words(names), unit=unit)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the rows of all candidates; ValueError if the extractor is not fitted."""
        from scipy.sparse import csr_array, hstack

        if self.names is None:
            raise ValueError("the extractor is not fitted: no features of the source are known")
        own, names = own_lists(instances, self), list(self.names)
        n = len(own.texts)
        fixed = np.stack(
            [_distances_from_best(own) / self.unit * self.base, np.log1p(own.ranks) * self.rank], axis=1
        ).reshape(n, 2)
        parts = [csr_array(fixed)]
        asked = np.zeros(n, np.int64)
        if names:
            column_of = {name: i for i, name in enumerate(names)}
            new_columns = np.array([column_of.get(name, -1) for name in own.feature_names], np.int64)
            parts.append(_map_columns(own.features, new_columns, n, len(names)))
            asked = np.diff(own.features.indptr) if own.features is not None else asked
        rows = csr_array(hstack(parts, format="csr"))
        rows.eliminate_zeros()
        feature_groups = np.array([0, 1] + [2] * len(names), np.int32)
        return as_features(
            rows, columns_named([*_FIXED, *names], feature_groups, GROUPS), instances, group, asked
        )

    def state(self) -> Arrays:
        """Return the names."""
        if self.names is None:
            return {}
        return {"n": np.array([len(self.names)]), "unit": np.array([self.unit]), **self.names.state()}

    def from_state(self, arrays: Arrays) -> SourceFeatures:
        """Return an extractor with the names of `state`; ValueError if the arrays do not fit."""
        if not arrays:
            return self
        unit = float(arrays["unit"][0])
        if not unit > 0:
            raise ValueError("the unit of base scores is not above zero")
        return replace(self, names=strings_from_state(arrays, int(arrays["n"][0])), unit=unit)


def _distances_from_best(own: CandidateLists) -> NDArray[np.float64]:
    """Return the distance of each candidate's score from the best one in its list, zero or less."""
    return own.scores - np.repeat(maxima(own.scores, own.offsets), np.diff(own.offsets))


def _map_columns(rows: Any, to: NDArray[np.int64], n: int, width: int) -> Any:
    """Return rows with their columns moved; columns mapped to -1 are left out."""
    from scipy.sparse import csr_array

    if rows is None:
        return csr_array((n, width))
    columns = to[rows.indices]
    kept = columns >= 0
    starts = offsets_from_sizes(kept)[rows.indptr]
    moved = csr_array((rows.data[kept], columns[kept], starts), (n, width))
    moved.sort_indices()
    return moved
