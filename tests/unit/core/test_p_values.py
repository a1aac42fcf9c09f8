"""p-values are never shown as zero."""

from __future__ import annotations

import pytest

from disambig.formatting import format_p


@pytest.mark.parametrize(
    ("value", "draws", "shown"),
    [
        (0.0, None, "< 0.0001"),
        (1e-300, None, "< 0.0001"),
        (0.0123, None, "0.0123"),
        (1.0, None, "1.0000"),
        (0.0, 2000, "< 0.0005"),
        (0.0004, 50_000, "0.0004"),
        (None, None, "-"),
        (float("nan"), 100, "-"),
    ],
)
def test_a_p_value(value, draws, shown):
    assert format_p(value, draws=draws) == shown
