"""Confidence intervals of shares and of means over groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Z95 = 1.959964


def wilson(right: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927); (0, 1) where nothing was seen."""
    if n == 0:
        return 0.0, 1.0
    share, z2 = right / n, Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return float(centre - half), float(centre + half)


def mean_interval(
    tallies: Sequence[tuple[int, int]], *, draws: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean over groups of each group's share.

    The examples of each group are resampled; the groups themselves are not, they are the ones asked for.

    Parameters
    ----------
    tallies : sequence of (int, int)
        Right ones, and all, of each group; no group is empty.
    """
    rng = np.random.default_rng(seed)
    means = np.mean([rng.binomial(n, right / n, size=draws) / n for right, n in tallies], axis=0)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
