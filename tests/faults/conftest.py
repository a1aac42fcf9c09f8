"""Faults: what is done to `disambig` from outside, in a short form or whole. README.md tells its use."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))  # the fake models
sys.path.insert(0, str(Path(__file__).parent))

from fault_tools import SEED


@pytest.fixture(autouse=True)
def seed():
    """Say by which seed what failed can be done again: pytest shows what a failed test printed."""
    print(f"DISAMBIG_FAULTS_SEED={SEED}")
