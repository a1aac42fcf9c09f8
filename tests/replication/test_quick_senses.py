"""The quick forms of the experiments on word senses run on the real data (`pytest -m replication`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disambig_kernel_rls.experiments import (
    AS_MANY,
    MFS,
    SAME,
    curves,
    genres,
    tables as table1,
    tables as table2,
)

DATA = os.environ.get("DISAMBIG_DATA")


def rows_of(experiment):
    result = experiment().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    assert result.claims and result.notes
    return {(row.system, row.setting): row.ours for row in result.rows}


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
@pytest.mark.parametrize("table", [table1.Popescu2004Table1, table2.Popescu2004Table2])
def test_quick_form_of_word_senses(table):
    ours = rows_of(table)
    assert ours["RLSC-COMB", "coarse"] > ours["RLSC-COMB", "fine"] > ours[MFS, "fine"] + 15
    if table is table1.Popescu2004Table1:
        assert ours["COMB, improved", "fine"] > ours["RLSC-COMB", "fine"]
        assert ours[f"{MFS}, marked phrasal verbs", "verbs"] > ours[MFS, "verbs"]
        assert ours["COMB, marked phrasal verbs", "verbs"] >= ours["RLSC-COMB", "verbs"]


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_quick_form_of_learning_curves():
    ours = rows_of(curves.Popescu2004Curves)
    assert ours["RLSC-COMB", "all"] > ours["RLSC-COMB", "50"] > ours["RLSC-COMB", "5"]
    assert ours["RLSC-COMB", "all"] > ours[MFS, "all"] + 10


@pytest.mark.replication
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_quick_form_of_genre_shift():
    ours = rows_of(genres.Popescu2004Genres)
    for system in genres.SYSTEMS:
        assert ours[system, SAME] > ours[system, AS_MANY] > ours[MFS, AS_MANY]
