"""The words on both sides of a place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.text.view import TokenView


def words_beside(view: TokenView, instances: Instances) -> NDArray[np.uint64]:
    """Return the hashes of the words before and after each place of a view, shape ``(n, 2)``.

    At a sentence's end it is the boundary word.
    """
    before = instances.positions - 1
    after = instances.positions + instances.lengths
    found: NDArray[np.uint64] = view.hashes[np.stack([before, after], axis=1)]
    return found
