"""Log-linear weights of words: learned by logistic regression, kept as a sorted table of small integers.

What `context_words` and `sentence_words` share. A feature is a 32-bit hash (0: none); where it looks is
theirs to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.dense import DenseBlocks
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.text.hashing import hash_word
from disambig.types import Arrays, Features

GROUP_NAME = "context"
STEP = 1 / 32
"""Weights are kept in steps of this size, as 8-bit integers."""

Table = tuple[NDArray[np.uint32], NDArray[np.int8]]
"""Features, ascending, and their weights, shapes ``(m,)`` and ``(m, K)``."""
Tables = dict[int, Table]
"""Tables by the number of their group."""


@lru_cache(maxsize=1024)
def number_of(group: Group) -> int:
    """Return what a group's table is found by, whatever the order of the groups."""
    return hash_word("/".join(group.candidates)) >> 1


def learn_groups(
    groups: Sequence[Group],
    examples: Callable[[int], Instances],
    features: Callable[[Instances], NDArray[np.uint32]],
    *,
    extractor: str,
    C: float,
    kept: int,
    least: int,
) -> Tables:
    """Return the table of each group that can be learned; the others have none.

    A group needs two candidates, each of them right somewhere, and a feature seen `least` times.

    Parameters
    ----------
    groups : sequence of Group
    examples : callable
        From the number of a group to its examples.
    features : callable
        From these to their features (see `learn`).
    extractor : str
        What is named where nothing can be learned.

    Raises
    ------
    UserError
        D423 where no group has such a feature.
    """
    tables: Tables = {}
    tried = 0
    for g, group in enumerate(groups):
        part = examples(g)
        observed = part.observed
        if not 1 < len(group.candidates) == len(np.unique(observed)):
            continue
        tried += len(observed)
        table = learn(features(part), observed, C=C, kept=kept, least=least)
        if table is not None:
            tables[number_of(group)] = table
    if tried and not tables:
        raise UserError("D423", extractor=extractor, n=tried, least=least)
    return tables


def learn(
    keys: NDArray[np.uint32], observed: NDArray[np.int32], *, C: float, kept: int, least: int
) -> Table | None:
    """Return the heaviest weights of a logistic regression; None where no feature is seen `least` times.

    Parameters
    ----------
    keys : array of uint32, shape (n, F)
        The features of each instance; one that stands twice counts twice.
    observed : array of int32, shape (n,)
        Index of the right candidate; each candidate must be there.
    C : float
        Inverse strength of the L2 regulariser.
    kept : int
        Features kept.
    least : int
        How often a feature must be there to be learned.
    """
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    vocabulary, column, seen = np.unique(keys, return_inverse=True, return_counts=True)
    frequent = (seen >= least) & (vocabulary != 0)
    if not frequent.any():
        return None
    number = (np.cumsum(frequent) - 1).astype(np.int32)  # liblinear takes no longer ones
    keep = frequent[column.ravel()]
    rows = np.repeat(np.arange(len(keys), dtype=np.int32), keys.shape[1])[keep]
    x = csr_array(
        (np.ones(len(rows), np.float64), (rows, number[column.ravel()[keep]])),
        (len(keys), int(frequent.sum())),
    )
    solver = "liblinear" if observed.max() == 1 else "lbfgs"
    learned = LogisticRegression(C=C, solver=solver, max_iter=200).fit(x, observed).coef_
    weights = np.vstack([-learned / 2, learned / 2]) if len(learned) == 1 else learned  # (K, F)
    spread = np.abs(weights).max(axis=0) * np.sqrt(seen[frequent])
    heaviest = np.sort(np.argsort(-spread, kind="stable")[:kept])
    steps = np.clip(np.round(weights[:, heaviest].T / STEP), -127, 127).astype(np.int8)
    used = steps.any(axis=1)
    return vocabulary[frequent][heaviest][used], steps[used]


def sums(keys: NDArray[np.uint32], table: Table) -> NDArray[np.int32]:
    """Return the sum of the known features' weights for each candidate, shape ``(n, K)``, in steps."""
    known, weights = table
    if not len(known):
        return np.zeros((len(keys), weights.shape[1]), np.int32)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    rows, features = np.nonzero(known[at] == keys)
    added = weights[at[rows, features]].T.astype(np.float64)  # (K, found): small integers, so exact
    return np.stack([np.bincount(rows, each, minlength=len(keys)) for each in added], axis=1).astype(np.int32)


def as_features(scores: NDArray[np.int32] | None, instances: Instances, group: Group) -> Features:
    """Return sums of weights as one attribute a candidate, shape ``(n, K, 1)``; None: all zero.

    Words around are no n-gram found: they alone never make a flag.
    """
    n, k = len(instances), len(group.candidates)
    values = np.zeros((n, k, 1), np.float32)
    if scores is not None:
        values[:, :, 0] = scores[:, :k] * STEP
    return one_attribute(values, instances, group)


def one_attribute(values: NDArray[np.float32], instances: Instances, group: Group) -> Features:
    """Return what the words around are worth as the only attribute of each candidate, shape ``(n, K, 1)``."""
    n, k = values.shape[:2]
    costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
    nothing = np.zeros(n * k, np.int32)
    batch = DenseBlocks(values, np.arange(k).reshape(k, 1), columns_of(group), costs)
    return Features(batch, nothing, nothing)


@lru_cache(maxsize=1024)
def columns_of(group: Group) -> Columns:
    """Return the meaning of the only attribute of each candidate."""
    k = len(group.candidates)
    names = [f"{candidate}: words around" for candidate in group.candidates]
    return Columns(np.arange(k, dtype=np.int32), np.zeros(k, np.int32), (GROUP_NAME,), names)


def state_of(tables: Mapping[int, Table]) -> Arrays:
    """Return tables as arrays: the keys and weights of all groups, one group behind the other."""
    most = max((weights.shape[1] for _, weights in tables.values()), default=1)
    padded = [np.pad(w, ((0, 0), (0, most - w.shape[1]))) for _, w in tables.values()]
    return {
        "groups": np.array(list(tables), np.int64),
        "sizes": np.array([len(keys) for keys, _ in tables.values()], np.int64),
        "keys": np.concatenate([np.empty(0, np.uint32), *(keys for keys, _ in tables.values())]),
        "weights": np.concatenate([np.empty((0, most), np.int8), *padded]),
    }


def tables_of(arrays: Arrays) -> Tables:
    """Return the tables of a state.

    Raises
    ------
    ValueError
        Where the arrays do not fit together.
    """
    sizes, keys, weights = arrays["sizes"], arrays["keys"], arrays["weights"]
    fits = weights.ndim == 2 and len(weights) == len(keys) == sizes.sum() and (sizes >= 0).all()
    fits = fits and keys.ndim == sizes.ndim == arrays["groups"].ndim == 1
    if not fits or len(sizes) != len(arrays["groups"]) or weights.dtype != np.int8:
        raise ValueError("context words: keys, weights and sizes differ")
    cuts = np.cumsum(sizes)[:-1]
    parts = zip(arrays["groups"].tolist(), np.split(keys, cuts), np.split(weights, cuts), strict=True)
    return {number: (k.astype(np.uint32), w) for number, k, w in parts}
