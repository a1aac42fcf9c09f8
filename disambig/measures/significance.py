"""Whether two systems differ by more than chance: McNemar, chi-squared as papers report it, Wilcoxon.

For any measure the paired bootstrap: `disambig.measures.bootstrap`.
"""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray


def mcnemar(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return the two-sided p of two systems judged on the same examples (McNemar 1947, exact binomial).

    Parameters
    ----------
    first, second : arrays of bool, shape (n,)
        Whether each system was right, example by example.
    """
    return mcnemar_of_counts(int((first & ~second).sum()), int((second & ~first).sum()))


def mcnemar_of_counts(only_first: int, only_second: int) -> float:
    """Return what `mcnemar` does, from how many examples only one of both systems got right."""
    from scipy.special import bdtr

    n = only_first + only_second
    return 1.0 if n == 0 else min(1.0, 2.0 * float(bdtr(min(only_first, only_second), n, 0.5)))


def chi_squared(right_first: int, n_first: int, right_second: int, n_second: int) -> float:
    """Return the p of two systems from the 2 x 2 table of right and wrong ones, without correction.

    It takes the two sets of examples as independent: on the same examples `mcnemar` finds more.
    """
    right, n = right_first + right_second, n_first + n_second
    if n_first == 0 or n_second == 0 or right in (0, n):
        return 1.0
    share = right / n
    variance = share * (1 - share) * (1 / n_first + 1 / n_second)
    difference = right_first / n_first - right_second / n_second
    return erfc(abs(difference) / sqrt(2 * variance))


def wilcoxon(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the two-sided p of two systems judged on the same data sets (Wilcoxon's signed ranks, 1945).

    Parameters
    ----------
    first, second : arrays of float, shape (n,)
        A figure of each system, data set by data set; those with equal figures say nothing.
    """
    from scipy.stats import wilcoxon as signed_ranks

    # rounded: what differs by rounding error is a tie
    differences = np.round(np.asarray(first) - np.asarray(second), 12)
    differences = differences[differences != 0]
    return float(signed_ranks(differences).pvalue) if len(differences) else 1.0
