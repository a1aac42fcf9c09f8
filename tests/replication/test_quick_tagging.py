"""The quick form of tagging by packed training runs on the real treebank (`pytest -m replication`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disambig_exponentiated_gradient.experiments import Collins2005Tagging
from disambig_exponentiated_gradient.experiments.tagging import COST, LOG, PERCEPTRON

DATA = os.environ.get("DISAMBIG_DATA")


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_quick_form():
    result = Collins2005Tagging().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    ours = {(row.system, row.setting): row.ours for row in result.rows}
    for system in (COST, LOG):
        assert ours[f"EWT, {system}", "all"] > ours[f"EWT, {PERCEPTRON}", "all"] - 1
    assert result.details["EWT"][COST]["C"] > 0 and len(result.claims) == 2
