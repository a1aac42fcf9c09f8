"""What batches have in common whose instances all have the same number of candidates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class EqualLists:
    """A batch with ``costs`` of shape (n, K): zero for the right candidates of each instance."""

    __slots__ = ()
    costs: NDArray[np.float32]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each instance's rows begin, shape ``(n + 1,)``."""
        n, k = self.costs.shape
        return np.arange(n + 1, dtype=np.int64) * k

    @property
    def cost(self) -> NDArray[np.float32]:
        """What each row costs, zero for the right ones, shape ``(n * K,)``."""
        return self.costs.ravel()

    @property
    def layout(self) -> NDArray[np.int64]:
        """The offsets: each row is a candidate of its own."""
        return self.offsets
