"""Steps down a slope: Adagrad by rows for what a batch sees a part of, Adam for what it sees whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_FIRST, _SECOND = 0.9, 0.999
"""How much of its moments Adam keeps from step to step."""


def adagrad(
    values: Floats, seen: Floats, rows: NDArray[np.int32], gradient: Floats, rate: np.float32
) -> None:
    """Change some rows in place, each at most once (Duchi, Hazan and Singer 2011, one sum a row).

    Parameters
    ----------
    values : array of float32, shape (n, d)
    seen : array of float32, shape (n,)
        The sum of the mean squares of each row's gradients so far.
    rows : array of int32, shape (m,)
    gradient : array of float32, shape (m, d)
    """
    seen[rows] += np.square(gradient).mean(axis=1)
    values[rows] -= gradient * (rate / np.sqrt(seen[rows]))[:, None]


def adam(values: Floats, first: Floats, second: Floats, gradient: Floats, rate: float, number: int) -> None:
    """Change values and their moments in place (Kingma and Ba 2015); steps are numbered from 1 on."""
    first *= np.float32(_FIRST)
    first += np.float32(1 - _FIRST) * gradient
    second *= np.float32(_SECOND)
    second += np.float32(1 - _SECOND) * np.square(gradient)
    mean = np.float32(rate / (1 - _FIRST**number))
    root = np.float32(1 / np.sqrt(1 - _SECOND**number))
    values -= mean * first / (np.sqrt(second) * root + np.float32(1e-8))
