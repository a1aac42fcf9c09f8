"""Reliability: whether decisions with a probability of 80 % are right in 80 % of cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

N_BINS = 10


def reliability(predicted: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, Any]:
    """Compare the probabilities of decisions with how often they were right.

    Parameters
    ----------
    predicted : array of float, shape (n,)
        Predicted probability that each decision is right.
    right : array of bool, shape (n,)

    Returns
    -------
    dict
        ``n``; ``bins``, a list of the nonempty ones of `N_BINS` equal ranges, each with ``low``, ``high``,
        ``predicted`` and ``observed`` (means) and ``n``; ``expected_calibration_error``, the mean absolute
        difference of the two over the bins, weighted by size (None for no decision); ``brier``, the mean
        squared difference of probability and outcome (0 is best; None for no decision).
    """
    predicted = np.asarray(predicted, np.float64)
    bin_numbers = np.minimum((predicted * N_BINS).astype(np.int64), N_BINS - 1)
    bins = []
    for number in np.unique(bin_numbers).tolist():
        inside = bin_numbers == number
        bins.append(
            {
                "low": number / N_BINS,
                "high": (number + 1) / N_BINS,
                "predicted": float(predicted[inside].mean()),
                "observed": float(right[inside].mean()),
                "n": int(inside.sum()),
            }
        )
    n = len(predicted)
    gaps = [abs(at["predicted"] - at["observed"]) * at["n"] for at in bins]
    return {
        "n": n,
        "bins": bins,
        "expected_calibration_error": float(sum(gaps) / n) if n else None,
        "brier": float(np.mean((predicted - right) ** 2)) if n else None,
    }


def reliability_lines(result: dict[str, Any]) -> list[str]:
    """Format the result of `reliability` as lines of text."""
    if not result["n"]:
        return []
    lines = [
        f"probability of the chosen candidate: expected calibration error "
        f"{result['expected_calibration_error']:.2%}, Brier score {result['brier']:.4f}",
        "       probability    mean  observed         n",
    ]
    for bin_ in result["bins"]:
        bounds = f"{bin_['low']:.0%} to {bin_['high']:.0%}"
        lines.append(f"  {bounds:>16} {bin_['predicted']:7.1%}  {bin_['observed']:8.1%} {bin_['n']:9,}")
    return lines


def choice_reliability(
    probabilities: NDArray[np.float64],
    offsets: NDArray[np.int64],
    chosen: NDArray[np.int32],
    observed: NDArray[np.int32],
) -> dict[str, Any]:
    """Return the `reliability` of the chosen candidates.

    Parameters
    ----------
    probabilities : array of float, shape (n_candidates,)
    offsets : array of int64, shape (n + 1,)
        Offsets of the candidates of each decision.
    chosen, observed : arrays of int, shape (n,)
        The chosen and the right candidate; decisions whose right candidate is below 0 are left out.
    """
    labelled = observed >= 0
    return reliability(probabilities[offsets[:-1] + chosen][labelled], (chosen == observed)[labelled])
