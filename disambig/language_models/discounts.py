"""How much is taken from the count of an n-gram that was seen, for those that were not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SMOOTHINGS = ("kneser_ney", "absolute")
FALLBACK = (0.5, 1.0, 1.5)
"""For text whose counts of counts allow no estimate, such as that of a single sentence."""


def discounts_of(counts: NDArray[np.int64], smoothing: str) -> tuple[tuple[float, ...], bool]:
    """Return the discounts of counts of 1, of 2, and of 3 and more; and whether they are the intended ones.

    With n_i n-grams that are counted i times and Y = n_1 / (n_1 + 2 n_2):

    * modified Kneser-Ney (Chen and Goodman 1998, eq. 26): D_i = i - (i + 1) Y n_{i+1} / n_i;
    * absolute discounting (Ney, Essen and Kneser 1994): D = Y for all.

    Where one of the three cannot be had (n_1, n_2 or n_3 is 0) or is not above 0 and at most its count, all
    are Y; where n_1 or n_2 is 0, they are `FALLBACK`.
    """
    n = np.bincount(np.clip(counts, 0, 5), minlength=6).astype(np.float64)
    if not n[1] or not n[2]:
        return FALLBACK, False
    share = float(n[1] / (n[1] + 2 * n[2]))
    if smoothing == "absolute":
        return (share,) * 3, True
    if n[3]:
        found = tuple(float(i - (i + 1) * share * n[i + 1] / n[i]) for i in (1, 2, 3))
        if all(0 < discount <= i for i, discount in enumerate(found, 1)):
            return found, True
    return (share,) * 3, False
