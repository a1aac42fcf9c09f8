"""Settings of hypothesis for tests with slow examples (trees, jobs, training), and values for all tests."""

from __future__ import annotations

from hypothesis import settings, strategies as st

fewer_examples = settings(deadline=None, max_examples=max(1, settings.default.max_examples // 4))
"""A quarter of the examples of the profile that `DISAMBIG_TEST_EXAMPLES` selects."""

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
"""Values of any type that a config or a damaged file can contain."""
