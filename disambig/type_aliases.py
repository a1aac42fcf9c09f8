"""Type aliases of arrays and callbacks that many modules share; `Floats` and the like are of any shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Ranks = NDArray[np.uint16]
Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the number of steps done, and their total number."""
OpenProgress = Callable[[str, int, int | None], object]
"""Like `Progress`, but the total number is None if it is unknown."""


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Do nothing: the default of `Progress` and `OpenProgress`."""
