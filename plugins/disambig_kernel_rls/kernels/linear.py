"""The linear kernel over normalised rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .normalised import NormalisedRows, products


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear(NormalisedRows):
    """The inner product of normalised rows: a learner keeps weights of columns and no training rows.

    See `NormalisedRows` for the parameters. "row" is the kernel of RLSC-LIN, "groups" with equal weights
    that of RLSC-COMB (Popescu 2004, section 3).
    """

    @property
    def is_linear(self) -> bool:
        """True."""
        return True

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return ``<x, y>`` for each pair of rows, shape (n, m)."""
        return products(left, right)
