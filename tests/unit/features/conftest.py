"""Run tests of extractors with both backends."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["numpy", "numba"])
def engine(request, monkeypatch):
    """The backend of the test, NumPy or Numba."""
    monkeypatch.setenv("DISAMBIG_ENGINE", request.param)
    return request.param
