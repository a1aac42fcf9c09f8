"""Look-up of keys in sorted arrays, compared with a dict."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from disambig.data import HashVocabulary

hashes = st.integers(0, 40).map(lambda number: number * 2**58)
key_lists = st.sets(hashes, max_size=8).map(sorted)
wanted_arrays = arrays.arrays(
    np.uint64, arrays.array_shapes(max_dims=2, min_side=0, max_side=5), elements=hashes
)


@given(key_lists, wanted_arrays)
def test_lookup_and_contains_against_a_dict(keys, wanted):
    vocabulary = HashVocabulary(np.array(keys, np.uint64))
    index = {key: i for i, key in enumerate(keys)}
    found = vocabulary.lookup(wanted)
    assert found.shape == wanted.shape and found.dtype == np.int64
    assert found.ravel().tolist() == [index.get(key, -1) for key in wanted.ravel().tolist()]
    assert np.array_equal(vocabulary.contains(wanted), found >= 0)


@given(key_lists, wanted_arrays)
def test_get_against_a_dict(keys, wanted):
    vocabulary = HashVocabulary(np.array(keys, np.uint64))
    values = {key: 3 * i + 1 for i, key in enumerate(keys)}
    column = np.array(list(values.values()), np.int16)
    got = vocabulary.get(wanted, column, np.int16(-7))
    assert got.dtype == np.int16
    assert got.ravel().tolist() == [values.get(key, -7) for key in wanted.ravel().tolist()]
    # a default of its own for each key
    same = vocabulary.get(wanted, np.array(keys, np.uint64), wanted)
    assert same.dtype == np.uint64 and np.array_equal(same, wanted)
