"""States of scorers side by side in one file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.models import stack, unstack

kinds = st.sampled_from([np.float32, np.float64, np.int8, np.int64, np.uint64, np.bool_])


@given(st.lists(st.booleans(), min_size=1, max_size=4), kinds, st.integers(0, 3), st.integers(0, 2**32))
def test_states_come_back_as_they_were(present, dtype, ndim, seed):
    rng = np.random.default_rng(seed)
    states = []
    for there in present:
        shape = tuple(rng.integers(0, 4, size=ndim))
        array = rng.integers(0, 2, size=shape).astype(dtype) if ndim else np.array(rng.integers(2), dtype)
        other = {"count": np.array([2**53 + 1, 2**63], np.uint64)}
        states.append({"array": array, **other} if there else {})
    again = unstack(stack(states), len(states))
    for state, back in zip(states, again, strict=True):
        assert state.keys() == back.keys()
        for key, array in state.items():
            assert back[key].dtype == array.dtype
            assert back[key].shape == array.shape
            assert (back[key] == array).all()


def test_states_that_differ_in_kind_are_refused():
    with pytest.raises(TypeError, match="one dtype in every group"):
        stack([{"a": np.zeros(2)}, {"a": np.zeros(2, int)}])
    with pytest.raises(TypeError, match="plain arrays"):
        stack([{"a": np.array([None])}])
