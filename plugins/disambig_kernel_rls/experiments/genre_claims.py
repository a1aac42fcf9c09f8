"""What was expected of systems under genre shift, and whether it came true.

Written before the first run, which had no perceptron and SGD with half of the dimensions removed alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.api.evaluation import mcnemar, wilcoxon
from disambig.api.experiments import Claim

from .genre_folds import AS_MANY, OTHER, SAME
from .scored import MFS, SURE

Bools = NDArray[np.bool_]
Hits = dict[str, dict[str, Bools]]
"""By system and condition: whether each test occurrence of all folds was decided rightly."""
COMB, SVM = "RLSC-COMB", "SVM-COMB"


def claims_of(hits: Hits, words: NDArray[np.int64], rivals: Mapping[str, Sequence[str]]) -> list[Claim]:
    """Return the claims.

    Parameters
    ----------
    words : array of int, shape (n,)
        The word of each test occurrence.
    rivals : mapping of str to sequence of str
        Each base learner with its forms in random subspaces.
    """
    other = {name: of[AS_MANY] for name, of in hits.items()}
    there = "learned from other kinds,"
    claims = [
        above(f"{there} {name} is above the most frequent sense", other[name], other[MFS], words)
        for name in (COMB, SVM, *rivals)
    ]
    claims += [
        above(
            f"{COMB} is better learned from the same kind than from as many of others",
            hits[COMB][SAME],
            other[COMB],
            words,
        ),
        above(
            f"all of the other kinds give {COMB} more than as many do", hits[COMB][OTHER], other[COMB], words
        ),
        above(f"{there} {COMB} is above {SVM}", other[COMB], other[SVM], words),
    ]
    for base, robust in rivals.items():
        for name in robust:
            claims += [
                above(f"{there} {name} is above {base}", other[name], other[base], words),
                gains_more(base, name, hits, words),
                above(f"{there} {COMB} is above {name}", other[COMB], other[name], words),
            ]
    return claims


def above(claim: str, first: Bools, second: Bools, words: NDArray[np.int64]) -> Claim:
    """Claim that the first is right more often, and that words say so."""
    p = wilcoxon(by_word(first, words), by_word(second, words))
    return Claim(
        f"{claim} (p < {SURE})",
        bool(first.mean() > second.mean()) and p < SURE,
        f"{100 * first.mean():.2f} and {100 * second.mean():.2f}; p = {p:.2g} across words, "
        f"{mcnemar(first, second):.2g} over occurrences",
    )


def gains_more(base: str, robust: str, hits: Hits, words: NDArray[np.int64]) -> Claim:
    """Claim that random subspaces gain more under genre shift than without."""
    points, gains = [], []
    for condition in (AS_MANY, SAME):
        ours, alone = hits[robust][condition], hits[base][condition]
        points.append(100 * float(ours.mean() - alone.mean()))
        gains.append(by_word(ours, words) - by_word(alone, words))
    p = wilcoxon(*gains)
    return Claim(
        f"{robust} gains more over {base} from other kinds than from the same kind (p < {SURE})",
        points[0] > points[1] and p < SURE,
        f"{points[0]:+.2f} and {points[1]:+.2f} points; p = {p:.2g} across words",
    )


def by_word(hits: Bools, words: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the accuracy on each word."""
    names, number = np.unique(words, return_inverse=True)
    return np.bincount(number, weights=hits, minlength=len(names)) / np.bincount(number)
