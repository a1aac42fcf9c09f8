"""How many examples hypothesis makes for tests whose examples take long: trees, jobs, models that learn."""

from __future__ import annotations

from hypothesis import settings

fewer_examples = settings(deadline=None, max_examples=max(1, settings.default.max_examples // 4))
"""A quarter of what the profile says, which `DISAMBIG_TEST_EXAMPLES` chooses."""
