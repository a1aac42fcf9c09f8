"""The quick form of each table runs on the real data (minutes: `pytest -m replication`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disambig_random_subspace.experiments import figures as figure5, figures as figure6, table1
from disambig_variance_svm.experiments import Bergsma2010Table1, Bergsma2010Table2, Bergsma2010Table3

DATA = os.environ.get("DISAMBIG_DATA")


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
@pytest.mark.parametrize("table", [Bergsma2010Table1, Bergsma2010Table2, Bergsma2010Table3])
def test_quick_form(table):
    result = table().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    ours = {(row.system, row.setting): row.ours for row in result.rows}
    assert all(share is not None and 0 < share <= 100 for share in ours.values())
    assert ours["VAR-SVM", "10"] > ours["CS-SVM", "10"]
    assert result.claims


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
@pytest.mark.parametrize(
    "experiment", [table1.Sogaard2012Table1, figure5.Sogaard2012Figure5, figure6.Sogaard2012Figure6]
)
def test_quick_form_of_text_classification(experiment):
    result = experiment().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    ours = {(row.system, row.setting): row.ours for row in result.rows}
    assert all(share is not None and share <= 100 for share in ours.values())
    assert result.claims and result.panels
    if experiment is table1.Sogaard2012Table1:
        assert ours["P-RLRS, all", "250"] > ours["P, all", "250"]
        assert ours["SGD, all", "250"] > 70
    if experiment is figure5.Sogaard2012Figure5:
        assert ours["instances hurt, all", "250"] < 50
