"""Which senses an occurrence can have, where the data mark the multiwords that it may be part of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .occurrences import Index, Occurrences

NEARLY_ALWAYS = 0.9
"""A sense whose training occurrences are marked as often as this is had by marked occurrences alone."""


def possible(occurrences: Occurrences, train: Index, test: Index, senses: Sequence[str]) -> NDArray[np.bool_]:
    """Return which senses of a word each occurrence in `test` can have, shape ``(n, K)``.

    One that is marked has a sense of its multiword, by the name before ``%``; one that is not has a sense
    that is not (nearly) always marked in `train`. Where nothing is left, every sense is possible.

    Parameters
    ----------
    train : array of int64
        Occurrences that have senses.
    test : array of int64
        Of these only the marks are looked at.
    senses : sequence of str
        Those of `train`.
    """
    names = np.array([sense.partition("%")[0].lower() for sense in senses])
    number = {sense: k for k, sense in enumerate(senses)}
    marked, all_of = np.zeros(len(senses)), np.zeros(len(senses))
    for row in train.tolist():
        has = [number[sense] for sense in occurrences.senses[row]]
        all_of[has] += 1
        marked[has] += bool(occurrences.multiwords[row])
    free = marked < NEARLY_ALWAYS * all_of
    found = np.empty((len(test), len(senses)), bool)
    for at, row in enumerate(test.tolist()):
        multiword = occurrences.multiwords[row]
        found[at] = names == multiword if multiword else free
    found[~found.any(axis=1)] = True
    return found
