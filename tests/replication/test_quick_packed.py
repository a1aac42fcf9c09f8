"""The quick form of packed training runs on the real treebank (`pytest -m replication`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disambig_exponentiated_gradient.experiments import Collins2005Packed
from disambig_exponentiated_gradient.experiments.packed import COST, LEARNED, LOG, PCFG

DATA = os.environ.get("DISAMBIG_DATA")


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_quick_form():
    result = Collins2005Packed().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    ours = {(row.system, row.setting): row.ours for row in result.rows}
    (treebank,) = {system.partition(",")[0] for system, _ in ours}
    assert ours[f"{treebank}, {PCFG}", "F1"] > 60
    for system in LEARNED:
        assert ours[f"{treebank}, {system}", "F1"] > ours[f"{treebank}, {PCFG}", "F1"] - 3
    for system in (COST, LOG):
        path = result.details["paths"][f"{system}, online"]
        assert len(path["F1"]) == len(path["gap"]) and path["gap"][-1] < path["gap"][0]
        assert all(b >= a - 1e-9 * abs(a) for a, b in zip(path["dual"], path["dual"][1:], strict=False))
