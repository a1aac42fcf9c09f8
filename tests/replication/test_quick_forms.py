"""The quick forms of the experiments run on the real data (minutes each: `pytest -m replication`)."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from disambig_boosted_lasso import experiments as gao
from disambig_boosted_lasso.experiments.adaptation import BLASSO
from disambig_exponentiated_gradient import experiments as collins
from disambig_exponentiated_gradient.experiments import packed, tagging, tree_lists
from disambig_kernel_rls.experiments import AS_MANY, MFS, SAME, curves, genres, tables
from disambig_random_subspace.experiments import figures, table1
from disambig_variance_svm.experiments import Bergsma2010Table1, Bergsma2010Table2, Bergsma2010Table3

DATA = os.environ.get("DISAMBIG_DATA")
pytestmark = [
    pytest.mark.replication,
    pytest.mark.data,
    pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA"),
]


def run_quick(experiment):
    """Return the result of the quick form of an experiment, and our figures by system and setting."""
    result = experiment().run(data=Path(str(DATA)), quick=True, progress=lambda *values: None)
    assert result.claims
    return result, {(row.system, row.setting): row.ours for row in result.rows}


def run_to_two_places(experiment):
    result, ours = run_quick(experiment)
    assert result.notes and result.places == 2
    return result, ours


@pytest.mark.parametrize("table", [Bergsma2010Table1, Bergsma2010Table2, Bergsma2010Table3])
def test_few_examples(table):
    _, ours = run_quick(table)
    assert all(share is not None and 0 < share <= 100 for share in ours.values())
    assert ours["VAR-SVM", "10"] > ours["CS-SVM", "10"]


@pytest.mark.parametrize(
    "experiment", [table1.Sogaard2012Table1, figures.Sogaard2012Figure5, figures.Sogaard2012Figure6]
)
def test_text_classification(experiment):
    result, ours = run_quick(experiment)
    assert all(share is not None and share <= 100 for share in ours.values())
    assert result.panels
    if experiment is table1.Sogaard2012Table1:
        assert ours["P-RLRS, all", "250"] > ours["P, all", "250"]
        assert ours["SGD, all", "250"] > 70
    if experiment is figures.Sogaard2012Figure5:
        assert ours["instances hurt, all", "250"] < 50


@pytest.mark.parametrize("table", [tables.Popescu2004Table1, tables.Popescu2004Table2])
def test_word_senses(table):
    result, ours = run_quick(table)
    assert result.notes
    assert ours["RLSC-COMB", "coarse"] > ours["RLSC-COMB", "fine"] > ours[MFS, "fine"] + 15
    if table is tables.Popescu2004Table1:
        assert ours["COMB, improved", "fine"] > ours["RLSC-COMB", "fine"]
        assert ours[f"{MFS}, marked phrasal verbs", "verbs"] > ours[MFS, "verbs"]
        assert ours["COMB, marked phrasal verbs", "verbs"] >= ours["RLSC-COMB", "verbs"]


def test_learning_curves_of_word_senses():
    result, ours = run_quick(curves.Popescu2004Curves)
    assert result.notes
    assert ours["RLSC-COMB", "all"] > ours["RLSC-COMB", "50"] > ours["RLSC-COMB", "5"]
    assert ours["RLSC-COMB", "all"] > ours[MFS, "all"] + 10


def test_genre_shift_of_word_senses():
    result, ours = run_quick(genres.Popescu2004Genres)
    assert result.notes
    for system in genres.SYSTEMS:
        assert ours[system, SAME] > ours[system, AS_MANY] > ours[MFS, AS_MANY]


def test_parse_reranking():
    result, _ = run_to_two_places(collins.Collins2005Reranking)
    f1 = {row.system.partition(", ")[2]: row.ours for row in result.rows if row.setting == "F1"}
    assert set(f1) == {tree_lists.PCFG, *tree_lists.LEARNED, collins.ORACLE}
    assert f1[collins.ORACLE] > max(f1[name] for name in (tree_lists.PCFG, *tree_lists.LEARNED)) > 60
    assert min(f1.values()) > 50
    for name in f1:
        ours = {row.setting: row.ours for row in result.rows if row.system.endswith(f", {name}")}
        assert min(ours["recall"], ours["precision"]) <= ours["F1"] <= max(ours["recall"], ours["precision"])


def test_convergence():
    result, _ = run_to_two_places(collins.Collins2005Convergence)
    assert len(result.panels) == 5
    paths = result.details["paths"]
    for name in (collins.ONLINE, collins.BATCH):
        dual = paths[name]["dual"]
        assert all(after >= before * (1 - 1e-9) for before, after in pairwise(dual))
        assert all(p >= d for p, d in zip(paths[name]["primal"], dual, strict=True))
        assert paths[name]["gap"][-1] < paths[name]["gap"][0]
    assert paths[collins.ONLINE]["gap"][0] < paths[collins.BATCH]["gap"][0]


def test_packed_training():
    result, ours = run_quick(collins.Collins2005Packed)
    (treebank,) = {system.partition(",")[0] for system, _ in ours}
    pcfg = ours[f"{treebank}, {packed.PCFG}", "F1"]
    assert pcfg > 60
    for system in packed.LEARNED:
        assert ours[f"{treebank}, {system}", "F1"] > pcfg - 3
    for system in (packed.COST, packed.LOG):
        path = result.details["paths"][f"{system}, online"]
        assert len(path["F1"]) == len(path["gap"]) and path["gap"][-1] < path["gap"][0]
        assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(path["dual"]))


def test_tagging_by_packed_training():
    result, ours = run_quick(collins.Collins2005Tagging)
    for system in (tagging.COST, tagging.LOG):
        assert ours[f"EWT, {system}", "all"] > ours[f"EWT, {tagging.PERCEPTRON}", "all"] - 1
    assert result.details["EWT"][tagging.COST]["C"] > 0 and len(result.claims) == 2


def test_adaptation_of_kana_conversion():
    pytest.importorskip("sudachipy")
    _, ours = run_to_two_places(gao.Gao2006Table1)
    baseline = gao.BASELINE
    for panel in (gao.ONE_LEXICON, gao.OWN_WORDS):
        assert ours[f"{panel}: dialogue, {gao.MAP}", "400"] < ours[f"{panel}: dialogue, {baseline}", "400"]
        assert ours[f"{panel}: law, {BLASSO}", "400"] < ours[f"{panel}: law, {baseline}", "400"]
        assert ours[f"{panel}: novels, {baseline}", "400"] > ours[f"{panel}: dialogue, {baseline}", "400"]
    for (system, setting), rate in ours.items():
        if "best of 20" in system:
            domain, _, model = system.partition(", best of 20, ")
            assert rate < ours[f"{domain}, {model}", setting]


def test_figures_of_kana_conversion():
    pytest.importorskip("sudachipy")
    result, ours = run_to_two_places(gao.Gao2006Figures)
    assert len(result.panels) == 7
    for (system, _), rate in ours.items():
        assert ours[system, "least"] <= rate


def test_head_words_of_kana_conversion():
    pytest.importorskip("sudachipy")
    result, _ = run_to_two_places(gao.Gao2006Headwords)
    assert len(result.rows) == 32


def test_english_lists():
    result, ours = run_quick(gao.Gao2006English)
    assert ours[gao.WRITTEN, "dev: right"] == 0 and ours[gao.WRITTEN, "folds: false"] == 0
    ranked = (*gao.SYSTEMS, gao.FIRST, gao.ORACLE)
    for where in ("dev", "folds"):
        left = {name: ours[name, f"{where}: edits left"] for name in (*ranked, gao.WRITTEN)}
        assert min(left, key=lambda name: left[name]) == gao.ORACLE
        assert all(left[name] < left[gao.WRITTEN] for name in gao.SYSTEMS)
        equal = ours[gao.SHIPS, f"{where}: right, equal false"]
        assert equal == ours[gao.SHIPS, f"{where}: right"] > 30
    wrong = {name: ours[name, "tags: wrong tags"] for name in ranked}
    assert min(wrong, key=lambda name: wrong[name]) == gao.ORACLE
    assert min(wrong[name] for name in gao.OURS) < wrong[gao.FIRST]
    assert set(result.details["tags"]) >= set(gao.SYSTEMS)
