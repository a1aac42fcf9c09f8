"""What a long command says at its end."""

from __future__ import annotations

from disambig.batch.job import Report
from disambig.batch.totals import Totals
from disambig.cli.reporting import Reporter


def test_the_summary_counts_flags_of_tasks_that_can_have_any(capsys):
    report = Report(Totals(1, 2000, {"spelling": (9, 1), "sense": (69, None), "it": (1, None)}))
    Reporter().summary(report, "out.jsonl")
    assert capsys.readouterr().err.splitlines() == [
        "1 document, 2,000 words",
        "it: 1 decision",
        "sense: 69 decisions",
        "spelling: 9 decisions, 1 flag (0.50 per 1,000 words)",
        "written to out.jsonl",
    ]
