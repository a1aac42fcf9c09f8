"""REPLICATION.md says what the results beside it say, and the results have the agreed form."""

from __future__ import annotations

import json
from pathlib import Path

import disambig_boosted_lasso
import disambig_exponentiated_gradient
import disambig_kernel_rls
import disambig_random_subspace
import disambig_variance_svm
import pytest

from disambig.experiments import as_json, fill, from_json

HOMES = {
    "bergsma2010": Path(disambig_variance_svm.__file__).parent,
    "collins2005": Path(disambig_exponentiated_gradient.__file__).parent,
    "gao2006": Path(disambig_boosted_lasso.__file__).parent,
    "popescu2004": Path(disambig_kernel_rls.__file__).parent,
    "sogaard2012": Path(disambig_random_subspace.__file__).parent,
}
NAMES = (
    "bergsma2010.table1",
    "bergsma2010.table2",
    "bergsma2010.table3",
    "collins2005.convergence",
    "collins2005.packed",
    "collins2005.reranking",
    "collins2005.tagging",
    "gao2006.english",
    "gao2006.figures",
    "gao2006.headwords",
    "gao2006.table1",
    "popescu2004.curves",
    "popescu2004.genres",
    "popescu2004.table1",
    "popescu2004.table2",
    "sogaard2012.figure5",
    "sogaard2012.figure6",
    "sogaard2012.table1",
)


def read_result(name):
    path = HOMES[name.partition(".")[0]] / "replication" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf8"))


@pytest.mark.parametrize("paper", HOMES)
def test_no_figure_of_the_tables_is_typed(paper):
    home = HOMES[paper]
    document = (home / "REPLICATION.md").read_text(encoding="utf8")
    assert all(f"<!-- result: {name} -->" in document for name in NAMES if name.startswith(paper))
    assert fill(document, home / "replication", seen_from=home) == document


@pytest.mark.parametrize("name", NAMES)
def test_results_have_the_agreed_form(name):
    result = read_result(name)
    assert result["experiment"] == name
    assert {tuple(row) for row in result["rows"]} == {("system", "setting", "paper", "ours", "n", "spread")}
    assert {tuple(claim) for claim in result["claims"]} == {("claim", "holds", "evidence")}
    assert as_json(name, from_json(result)) == result


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_full_runs(name):
    assert not any("quick run" in note for note in read_result(name)["notes"])


def test_all_figures_of_the_paper_are_included():
    paper = {
        (row["system"], row["setting"]): row["paper"] for row in read_result("bergsma2010.table1")["rows"]
    }
    assert paper["OvA-SVM", "10"] == 16.0
    assert paper["K-SVM+", "100000"] == 75.2
    assert paper["VAR-SVM", "1000"] == 74.7
    assert len(paper) == 2 + 6 * 5
    rows = [row for row in read_result("sogaard2012.table1")["rows"] if row["paper"] is not None]
    paper = {(row["system"], row["setting"]): row["paper"] for row in rows}
    assert paper["P", "25"] == 67.2
    assert paper["P-RLRS", "250"] == 72.6
    assert paper["SGD-RLRS", "150"] == 79.2
    assert paper["SGD: error reduction", "100"] == 15
    assert len(paper) == 6 * 6


def test_text_classification_is_on_all_instances():
    all_rows = [row for row in read_result("sogaard2012.table1")["rows"] if row["system"].endswith(", all")]
    assert {row["n"] for row in all_rows} == {1944}
    assert read_result("sogaard2012.figure5")["details"]["all"] == 1944


def test_word_senses_are_on_all_of_senseval_2():
    paper = {}
    for table in ("table1", "table2"):
        for row in read_result(f"popescu2004.{table}")["rows"]:
            assert row["n"] == 4328 or row["setting"] != "fine"
            if row["paper"] is not None:
                paper[row["system"], row["setting"]] = row["paper"]
    assert [paper[f"{name}", "fine"] for name in ("RLSC-LIN", "RLSC-COMB", "SVM-LIN", "SVM-COMB")] == [
        65.2,
        65.6,
        64.4,
        64.2,
    ]
    assert paper["SVM-COMB", "Senseval-3"] == 70.8 and len(paper) == 4 * 3 + 2


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("collins2005.")])
def test_the_table_of_the_plugin_names_its_experiments(name):
    readme = (HOMES[name.partition(".")[0]] / "README.md").read_text(encoding="utf8")
    assert f"`{name}`" in readme.partition("\n## ")[0]
