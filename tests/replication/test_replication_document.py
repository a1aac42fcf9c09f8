"""REPLICATION.md says what the results beside it say, and the results have the agreed form."""

from __future__ import annotations

import json
from pathlib import Path

import disambig_variance_svm
import pytest

from disambig.experiments.document import fill
from disambig.experiments.report import as_json, of_json

HOME = Path(disambig_variance_svm.__file__).parent
RESULTS = HOME / "replication"
NAMES = ("bergsma2010.table1", "bergsma2010.table2", "bergsma2010.table3")


def test_no_figure_of_the_tables_is_typed():
    document = (HOME / "REPLICATION.md").read_text(encoding="utf8")
    assert all(f"<!-- result: {name} -->" in document for name in NAMES)
    assert fill(document, RESULTS, seen_from=HOME) == document


@pytest.mark.parametrize("name", NAMES)
def test_results_have_the_agreed_form(name):
    said = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf8"))
    assert said["experiment"] == name
    assert {tuple(row) for row in said["rows"]} == {("system", "setting", "paper", "ours", "n", "spread")}
    assert {tuple(claim) for claim in said["claims"]} == {("claim", "holds", "evidence")}
    assert as_json(name, of_json(said)) == said


def test_the_papers_figures_are_all_there():
    said = json.loads((RESULTS / "bergsma2010.table1.json").read_text(encoding="utf8"))
    paper = {(row["system"], row["setting"]): row["paper"] for row in said["rows"]}
    assert paper["OvA-SVM", "10"] == 16.0
    assert paper["K-SVM+", "100000"] == 75.2
    assert paper["VAR-SVM", "1000"] == 74.7
    assert len(paper) == 2 + 6 * 5
