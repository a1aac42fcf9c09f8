"""The quick forms of the experiments on parse reranking run on the real data (`pytest -m replication`)."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from disambig_exponentiated_gradient.experiments import (
    BATCH,
    ONLINE,
    ORACLE,
    Collins2005Convergence,
    Collins2005Reranking,
)
from disambig_exponentiated_gradient.experiments.tree_lists import LEARNED, PCFG

DATA = os.environ.get("DISAMBIG_DATA")
pytestmark = [
    pytest.mark.replication,
    pytest.mark.data,
    pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA"),
]


def result_of(experiment):
    result = experiment().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    assert result.claims and result.notes and result.places == 2
    return result


def test_quick_form_of_reranking():
    result = result_of(Collins2005Reranking)
    f1 = {row.system.partition(", ")[2]: row.ours for row in result.rows if row.setting == "F1"}
    assert set(f1) == {PCFG, *LEARNED, ORACLE}
    assert f1[ORACLE] > max(f1[name] for name in (PCFG, *LEARNED)) > 60
    assert min(f1.values()) > 50
    for name in f1:
        ours = {row.setting: row.ours for row in result.rows if row.system.endswith(f", {name}")}
        assert min(ours["recall"], ours["precision"]) <= ours["F1"] <= max(ours["recall"], ours["precision"])


def test_quick_form_of_convergence():
    result = result_of(Collins2005Convergence)
    assert len(result.panels) == 5
    paths = result.details["paths"]
    for name in (ONLINE, BATCH):
        dual = paths[name]["dual"]
        assert all(after >= before * (1 - 1e-9) for before, after in pairwise(dual))
        assert all(p >= d for p, d in zip(paths[name]["primal"], dual, strict=True))
        assert paths[name]["gap"][-1] < paths[name]["gap"][0]
    assert paths[ONLINE]["gap"][0] < paths[BATCH]["gap"][0]
