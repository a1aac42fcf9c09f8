"""The feature groups of a problem, each with a kernel of its own, and what each weighs in their sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, UserError, nearest_first
from disambig.api.batches import own_columns

from ..kernels.linear import Linear
from ..kernels.normalised import in_shares, products
from ..reading import read
from .leave_one_out import Quality, qualities
from .problem import Problem, prepare
from .scorers import ColumnWeights
from .systems import Dual, Primal, System

Floats = NDArray[np.float64]
UNIT = Linear(normalise="groups")
STEPS = (0.25, 0.125, 0.0625)
"""How much weight the search moves from one feature group to another, one size after the other."""


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """A problem whose kernel is a weighted sum of normalised linear kernels, one a feature group.

    Attributes
    ----------
    problem : Problem
        Of rows normalised by feature group with equal weights, see `UNIT`.
    names : tuple of str
    group_of : array of int, shape (d,)
        Of the columns of the problem's rows.
    """

    problem: Problem
    names: tuple[str, ...]
    group_of: NDArray[np.int64]

    @classmethod
    def of(cls, batch: CandidateBatch) -> FeatureGroups:
        """Return the feature groups of a batch; raises as `prepare`."""
        crossed = read(batch)
        problem = prepare(crossed, UNIT)
        own = own_columns(crossed.columns, int(crossed.rows.shape[1]))
        return cls(problem, own.group_names, own.groups[problem.columns].astype(np.int64))

    def shares(self, weights: Mapping[str, float]) -> Floats:
        """Return a user's weights, divided by their sum.

        Raises
        ------
        UserError
            D451 for a weight of no feature group, D476 for a feature group without one.
        """
        for name in weights:
            if name not in self.names:
                raise UserError("D451", setting="weights", name=name, names=nearest_first(name, self.names))
        for name in self.names:
            if name not in weights:
                raise UserError("D476", name=name, seen="none")
        shares = in_shares(weights)
        return np.array([shares[name] for name in self.names], np.float64)

    def equal(self) -> Floats:
        """Return equal weights."""
        return np.full(len(self.names), 1.0 / max(len(self.names), 1))

    def scale(self, shares: Floats) -> Floats:
        """Return what the rows' columns are multiplied with under these weights, shape (d,)."""
        return np.sqrt(shares * len(self.names))[self.group_of]

    def rows(self, shares: Floats) -> Any:
        """Return the rows under these weights."""
        from scipy.sparse import csr_array

        rows = self.problem.rows
        data = rows.data * self.scale(shares)[rows.indices]
        return csr_array((data, rows.indices, rows.indptr), rows.shape)

    def scorer(self, shares: Floats, weights: Floats, bias: Floats | None = None) -> ColumnWeights:
        """Return the scorer of weights of the columns of `rows`, shape (d, K), and a bias, shape (K,)."""
        scaled = weights * self.scale(shares)[:, None]
        return self.problem.scorer(UNIT, scaled, bias=bias, shares=shares)

    def by_name(self, shares: Floats) -> dict[str, float]:
        """Return what each feature group weighs, plain, for reports."""
        return dict(zip(self.names, shares.tolist(), strict=True))

    @cached_property
    def grams(self) -> Floats:
        """The kernel of each feature group, shape (n_groups, n, n), each one (or zero) on its diagonal."""
        rows = self.problem.rows.tocsc()
        parts = [rows[:, np.flatnonzero(self.group_of == g)] for g in range(len(self.names))]
        return len(self.names) * np.array([products(part.tocsr(), part.tocsr()) for part in parts])

    def gram(self, shares: Floats) -> Floats:
        """Return the weighted sum of `grams`, shape (n, n)."""
        return np.tensordot(shares, self.grams, axes=1)

    def system(self, shares: Floats) -> System:
        """Return the system under these weights, in its smaller form."""
        n, d = self.problem.rows.shape
        if d < n:
            return Primal(self.rows(shares).toarray())
        if "grams" in vars(self):
            return Dual(self.gram(shares))
        rows = self.rows(shares)
        return Dual(products(rows, rows))


def aligned(groups: FeatureGroups) -> Floats:
    """Return weights in the proportions of the kernels' alignments with the targets.

    The alignment of two kernels is the cosine of their matrices (Cristianini et al. 2002), here of the
    centred ones (Cortes et al. 2012): uncentred, whatever is positive everywhere is aligned. The targets'
    kernel is the inner product of the examples' targets. Negative alignments weigh nothing; if none is
    above zero, the weights are equal.
    """
    found = np.maximum(alignments(groups.grams, groups.problem.targets), 0.0)
    return found / found.sum() if found.sum() > 0 else groups.equal()


def alignments(grams: Floats, targets: Floats) -> Floats:
    """Return the centred alignment of each kernel with the targets, shape (n_kernels,); 0 of a constant one.

    Parameters
    ----------
    grams : array of float64, shape (n_kernels, n, n)
    targets : array of float64, shape (n, K)
    """
    centred = targets - targets.mean(axis=0)
    # H T H has rank K: <HKH, HTH> = <HK, (HY)(HY)'> = sum of (HY)' K (HY)'s diagonal
    size = float(np.linalg.norm(centred.T @ centred))
    found = np.zeros(len(grams))
    for g, gram in enumerate(grams):
        means = gram.mean(axis=0)
        inner = gram - means - means[:, None] + means.mean()
        length = float(np.linalg.norm(inner))
        if length > 1e-12 * len(gram) and size > 0:
            found[g] = np.einsum("ik,ik->", centred, inner @ centred) / (length * size)
    return found


def searched(groups: FeatureGroups, regularisation: float) -> Floats:
    """Return weights, of sum one, half-way from equal ones to the best by leave-one-out.

    From equal weights on, weight is moved from one feature group to another as long as that helps, by each
    of `STEPS` in turn. Each trial is one factorisation. A few hundred examples do not say more about the
    weights than the direction: the whole way did worse on examples left out of the search.
    """

    def tried(shares: Floats) -> Quality:
        return qualities(groups.problem, groups.system(shares), [regularisation])[0]

    if groups.problem.rows.shape[1] >= groups.problem.rows.shape[0]:
        _ = groups.grams  # made once, for all trials
    best = groups.equal()
    found = tried(best)
    for step in STEPS:
        best, found = _climb(best, found, step, tried)
    return (best + groups.equal()) / 2


def _climb(
    best: Floats, found: Quality, step: float, tried: Callable[[Floats], Quality]
) -> tuple[Floats, Quality]:
    """Move `step` of weight between two feature groups until no move is better."""
    moved = True
    while moved:
        moved = False
        for giver, taker in np.argwhere(~np.eye(len(best), dtype=bool)):
            part = min(step, best[giver])
            if part < 1e-9:
                continue
            shares = best.copy()
            shares[giver] -= part
            shares[taker] += part
            other = tried(shares)
            if other > found:
                best, found, moved = shares, other, True
    return best, found
