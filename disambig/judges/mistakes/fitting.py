"""Fits what the judge weighs: a conditional logit over the word that stands there and its rivals.

The log-odds that rival r was meant and not the written word o are

    f(o, r) = x_or . w + written_o + meant_r + pair_or + change_or + beside_o + beside_r

and that o was meant has log-odds zero; the last two terms are of the words before and after the place, each
together with o and with r. Ridges draw all weights to zero, so that of a pair that was hardly ever seen what
is known of its words, of its kind of edit and of all pairs together decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.judges.mistakes.edits import NO_CHANGE
from disambig.judges.mistakes.rivals import Rivals
from disambig.judges.mistakes.terms import ALONE, NO_KEY, Terms, keys_of

Floats = NDArray[np.float64]
RIDGE = 1.0
"""Of the weights of features, each in units of its spread."""
RIDGES = (3.0, 3.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0)
"""Of words written, words meant, pairs, changes, and the four kinds of words beside; in examples."""
LEAST_SEEN = 12
"""Rivals that a word beside must be seen with to get a weight."""
LEAST_WEIGHT = 0.03
"""Smaller weights of words beside are not kept: there are very many of them."""
_STEPS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """Examples: rivals, which was meant, and what each example weighs.

    Attributes
    ----------
    rivals : Rivals
    meant : array of int64, shape (n,)
        0 where the written word was meant, 1 + r for rival r.
    weights : array of float64, shape (n,)
    """

    rivals: Rivals
    meant: NDArray[np.int64]
    weights: Floats

    def take(self, rows: NDArray[np.generic]) -> Cases:
        """Return some of the examples."""
        return Cases(self.rivals.take(rows), self.meant[rows], self.weights[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Weighing:
    """What is learned.

    Attributes
    ----------
    dense : array of float64, shape (len(FEATURES),)
    terms : Terms
    """

    dense: Floats
    terms: Terms

    def log_odds(self, rivals: Rivals) -> Floats:
        """Return f of each rival, shape (n, R); minus infinity where there is none."""
        found = rivals.features @ self.dense + self.terms.sums(
            keys_of(rivals.words, rivals.changes, rivals.beside)
        )
        return np.where(rivals.possible, found, -np.inf)


def joined(parts: Sequence[Cases]) -> Cases:
    """Return the examples of several groups as one."""
    most = max((part.rivals.candidates.shape[1] for part in parts), default=1)

    def wide(values: NDArray[Any], fill: int, columns: int) -> NDArray[Any]:
        missing = [(0, 0)] * values.ndim
        missing[1] = (0, columns - values.shape[1])
        return np.pad(values, missing, constant_values=fill)

    return Cases(
        Rivals(
            np.concatenate([wide(part.rivals.candidates, -1, most) for part in parts]),
            np.concatenate([wide(part.rivals.features, 0, most) for part in parts]),
            np.concatenate([wide(part.rivals.words, 0, most + 1) for part in parts]),
            np.concatenate([wide(part.rivals.changes, NO_CHANGE, most) for part in parts]),
            np.concatenate([part.rivals.beside for part in parts]),
            np.concatenate([part.rivals.evident for part in parts]),
        ),
        np.concatenate([part.meant for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def fit(cases: Cases, *, start: Weighing | None = None) -> Weighing:
    """Return the weights of greatest penalised likelihood; `start` is what is near, where that is known."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    rivals, n = cases.rivals, len(cases.meant)
    possible = rivals.possible
    rows, columns = np.nonzero(possible)
    dense = rivals.features[rows, columns].astype(np.float64)  # (pairs, F)
    spread = np.sqrt((dense**2).mean(axis=0)) if len(dense) else np.ones(dense.shape[1])
    spread[spread == 0] = 1.0
    dense /= spread
    known, kind_of_key, (pair, index) = _terms(
        keys_of(rivals.words, rivals.changes, rivals.beside)[rows, columns]
    )
    pairs = np.arange(len(rows))
    terms = csr_array((np.ones(len(index)), (pair, index)), shape=(len(rows), len(known)))
    ridge = np.concatenate([np.full(dense.shape[1], RIDGE), np.array(RIDGES)[kind_of_key]])
    place = np.full(possible.shape, -1)
    place[rows, columns] = pairs
    chosen = np.flatnonzero((cases.meant > 0) & (cases.weights > 0))
    right = place[chosen, cases.meant[chosen] - 1]
    chosen, right = chosen[right >= 0], right[right >= 0]

    def objective(x: Floats) -> tuple[float, Floats]:
        scores = dense @ x[: dense.shape[1]] + terms @ x[dense.shape[1] :]
        most = np.zeros(n)
        np.maximum.at(most, rows, scores)
        shares = np.exp(scores - most[rows])
        total = np.exp(-most) + np.bincount(rows, shares, minlength=n)
        loss = cases.weights @ (most + np.log(total)) - cases.weights[chosen] @ scores[right]
        mass = cases.weights[rows] * shares / total[rows]
        mass[right] -= cases.weights[chosen]
        slope = np.concatenate([mass @ dense, terms.T @ mass])
        return float(loss + 0.5 * (ridge * x) @ x), slope + ridge * x

    begin = np.zeros(len(ridge))
    if start is not None:
        begin = np.concatenate([start.dense * spread, start.terms.sums(known[:, None])])
    found = minimize(objective, begin, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    weights = np.asarray(found.x)
    split = dense.shape[1]
    kept = np.abs(weights[split:]) > np.where(kind_of_key < ALONE, 1e-4, LEAST_WEIGHT)
    return Weighing(weights[:split] / spread, Terms(known[kept], weights[split:][kept]))


def _terms(
    keys: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the keys that get a weight, ascending, the kind of each, and which pairs have which of them.

    Parameters
    ----------
    keys : array of uint64, shape (n_pairs, n_kinds)
    """
    known, index, seen = np.unique(keys, return_inverse=True, return_counts=True)
    index = index.reshape(keys.shape)
    kind_of_key = np.zeros(len(known), np.int64)
    for kind in range(keys.shape[1]):
        kind_of_key[index[:, kind]] = kind
    kept = ((kind_of_key < ALONE) | (seen >= LEAST_SEEN)) & (known != NO_KEY)
    places = np.where(kept, np.cumsum(kept) - 1, -1)[index]
    pair, kind_at = np.nonzero(places >= 0)
    return known[kept], kind_of_key[kept], (pair, places[pair, kind_at])
