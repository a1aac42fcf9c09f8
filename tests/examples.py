"""Settings of hypothesis for tests with slow examples: trees, jobs, training."""

from __future__ import annotations

from hypothesis import settings

fewer_examples = settings(deadline=None, max_examples=max(1, settings.default.max_examples // 4))
"""A quarter of the examples of the profile that `DISAMBIG_TEST_EXAMPLES` selects."""
