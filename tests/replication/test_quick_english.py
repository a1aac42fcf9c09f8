"""The quick form of ``gao2006.english`` runs on the real lists (`pytest -m replication`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disambig_boosted_lasso.experiments import FIRST, ORACLE, OURS, SHIPS, SYSTEMS, WRITTEN, Gao2006English

DATA = os.environ.get("DISAMBIG_DATA")


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_quick_form():
    result = Gao2006English().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    ours = {(row.system, row.setting): row.ours for row in result.rows}
    assert ours[WRITTEN, "dev: right"] == 0 and ours[WRITTEN, "folds: false"] == 0
    for where in ("dev", "folds"):
        left = {name: ours[name, f"{where}: edits left"] for name in (*SYSTEMS, FIRST, ORACLE, WRITTEN)}
        assert min(left, key=lambda name: left[name]) == ORACLE
        assert all(left[name] < left[WRITTEN] for name in SYSTEMS)
        equal = ours[SHIPS, f"{where}: right, equal false"]
        assert equal == ours[SHIPS, f"{where}: right"] > 30
    wrong = {name: ours[name, "tags: wrong tags"] for name in (*SYSTEMS, FIRST, ORACLE)}
    assert min(wrong, key=lambda name: wrong[name]) == ORACLE
    assert min(wrong[name] for name in OURS) < wrong[FIRST]
    assert result.claims and set(result.details["tags"]) >= set(SYSTEMS)
