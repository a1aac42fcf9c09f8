"""How often each known term stands in each instance: by a kernel where that is worth it, else by NumPy."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.engine import use_numba
from disambig.features.rows.one_row import Rows
from disambig.features.tfidf.words import PAIRS, Known, Terms
from disambig.text.view import TokenView

_MOST_BITS = 18


def by_kernel(terms: Terms, view: TokenView, instances: Instances, known: Known) -> Rows | None:
    """Return the counts of known terms, and how many words of each instance are known, and there are.

    None where NumPy is to do it: for little work, and for other terms than words of instances and pairs.
    """
    if terms.around is not None or terms.layer is not None or known.hashes is None or not len(known):
        return None
    lengths = instances.lengths.astype(np.int64)
    room = int(lengths.sum()) * (2 if terms.pairs else 1) + len(instances)
    if not use_numba(room):
        return None
    from scipy.sparse import csr_array

    from disambig.features.tfidf.row_kernels import count_terms

    n = len(instances)
    indptr, columns, counts = np.zeros(n + 1, np.int32), np.empty(room, np.int32), np.empty(room)
    found, asked = np.zeros(n, np.int64), np.zeros(n, np.int64)
    begins, shift = _directory(known, known.hashes)
    size = count_terms(
        view.hashes,
        terms.counted_tokens(view),
        view.starts == view.ends,
        instances.positions,
        instances.positions + lengths,
        terms.pairs,
        np.uint64(PAIRS),
        known.hashes,
        begins,
        shift,
        indptr,
        columns,
        counts,
        found,
        asked,
    )
    rows = csr_array((counts[:size], columns[:size], indptr), (n, len(known)))
    rows.has_canonical_format = True
    return rows, found, asked


_directories: WeakKeyDictionary[Known, tuple[NDArray[np.int32], np.uint64]] = WeakKeyDictionary()


def _directory(known: Known, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int32], np.uint64]:
    """Return where the hashes with each value of their top bits begin, and the shift to these bits."""
    if known not in _directories:
        bits = min(max(len(hashes).bit_length(), 1), _MOST_BITS)
        tops = (hashes >> np.uint64(64 - bits)).astype(np.int64)
        sizes = np.bincount(tops, minlength=1 << bits)
        begins = np.append(0, np.cumsum(sizes)).astype(np.int32)
        _directories[known] = begins, np.uint64(64 - bits)
    return _directories[known]
