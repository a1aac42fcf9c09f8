"""The quick forms of the experiments on kana and kanji run on the real data (`pytest -m replication`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disambig_boosted_lasso.experiments import (
    BASELINE,
    MAP,
    ONE_LEXICON,
    OWN_WORDS,
    Gao2006Figures,
    Gao2006Headwords,
    Gao2006Table1,
)
from disambig_boosted_lasso.experiments.adaptation import BLASSO

DATA = os.environ.get("DISAMBIG_DATA")
NEEDED = [
    pytest.mark.replication,
    pytest.mark.data,
    pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA"),
]
pytestmark = NEEDED


def result_of(experiment):
    pytest.importorskip("sudachipy")
    result = experiment().run(data=Path(str(DATA)), quick=True, progress=lambda *said: None)
    assert result.claims and result.notes and result.places == 2
    return result


def test_quick_form_of_adaptation():
    ours = {(row.system, row.setting): row.ours for row in result_of(Gao2006Table1).rows}
    for panel in (ONE_LEXICON, OWN_WORDS):
        assert ours[f"{panel}: dialogue, {MAP}", "400"] < ours[f"{panel}: dialogue, {BASELINE}", "400"]
        assert ours[f"{panel}: law, {BLASSO}", "400"] < ours[f"{panel}: law, {BASELINE}", "400"]
        assert ours[f"{panel}: novels, {BASELINE}", "400"] > ours[f"{panel}: dialogue, {BASELINE}", "400"]
    for (system, setting), rate in ours.items():
        if "best of 20" in system:
            domain, _, model = system.partition(", best of 20, ")
            assert rate < ours[f"{domain}, {model}", setting]


def test_quick_form_of_the_figures():
    result = result_of(Gao2006Figures)
    assert len(result.panels) == 7
    ours = {(row.system, row.setting): row.ours for row in result.rows}
    for (system, _), rate in ours.items():
        assert ours[system, "least"] <= rate


def test_quick_form_of_head_words():
    assert len(result_of(Gao2006Headwords).rows) == 32
