"""The quick form of table 2 of the random subspaces runs on the real treebanks (`pytest -m replication`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disambig_random_subspace.experiments.table2 import QUICK_SIZES, Table2

DATA = os.environ.get("DISAMBIG_DATA")


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_quick_form():
    result = Table2().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    ours = {(row.system, row.setting): row.ours for row in result.rows}
    assert ours["AP", "web"] > 75 and ours["AP", "Penn"] > ours["AP", "web"]
    assert ours[f"AP-RLRS, K={QUICK_SIZES[-1]}", "web"] > ours["AP", "web"]
    assert ours["spaCy", "web"] > 60 and ours["CRFsuite", "web"] > 60
    assert ours["AP", "web, alike"] > ours["AP", "web"]
