"""What the tests of extractors share: the two engines."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["numpy", "numba"])
def engine(request, monkeypatch):
    """Compute with one engine after the other."""
    monkeypatch.setenv("DISAMBIG_ENGINE", request.param)
    return request.param
