"""What the features of a token are: attributes of it and its neighbours, alone and in pairs. No loop here.

`token_context_kernels` and `token_context_arrays` make the same hashes of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LOWER, SHAPE, LONG_SHAPE = 0, 1, 2
PREFIX, SUFFIX = 2, 6
"""The attribute of a prefix of n letters is ``PREFIX + n``, of a suffix ``SUFFIX + n``."""
LONGEST_PREFIX, LONGEST_SUFFIX = 4, 5
CLASS = 1 + SUFFIX + LONGEST_SUFFIX
"""The first of the attributes that are word classes; they are filled in by the caller."""

TEMPLATES = np.array(
    [
        # attribute, place beside the token; attribute, place of a second one, or -1
        *[(attribute, 0, -1, 0) for attribute in (LOWER, SHAPE, LONG_SHAPE)],
        *[(PREFIX + n, 0, -1, 0) for n in range(1, LONGEST_PREFIX + 1)],
        *[(SUFFIX + n, 0, -1, 0) for n in range(1, LONGEST_SUFFIX + 1)],
        *[(LOWER, place, -1, 0) for place in (-2, -1, 1, 2)],
        *[(SUFFIX + 3, place, -1, 0) for place in (-1, 1)],
        *[(SHAPE, place, -1, 0) for place in (-1, 1)],
        *[(LOWER, -1, LOWER, 0), (LOWER, 0, LOWER, 1), (LOWER, -1, LOWER, 1), (LOWER, -2, LOWER, -1)],
        *[(LOWER, 1, LOWER, 2), (SUFFIX + 3, 0, LOWER, -1), (SUFFIX + 3, 0, LOWER, 1)],
    ],
    np.int64,
)


def class_templates(n_classes: int) -> NDArray[np.int64]:
    """Return the features of the classes of words, of `n_classes` each, beside `TEMPLATES`."""
    return np.array(
        [(CLASS + g, place, -1, 0) for g in range(n_classes) for place in (-1, 0, 1)], np.int64
    ).reshape(-1, 4)


BASIS = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
"""FNV-1a's, of which the hashes of attributes are made."""
OUTSIDE = np.uint64(0x51ED270B4C9F7A35)
"""The hash of what is not there: an affix longer than the word, a place before the sentence."""
STEP = np.uint64(0x9E3779B97F4A7C15)
LONGEST_RUN = 4
