"""What a long command says at its end."""

from __future__ import annotations

from disambig.cli.annotating import AnnotationReporter
from disambig.jobs import JobReport, Totals


def test_the_summary_counts_flags_of_tasks_that_can_have_any(capsys):
    report = JobReport(Totals(1, 2000, {"spelling": (9, 1), "sense": (69, None), "it": (1, None)}))
    AnnotationReporter().summary(report, "out.jsonl")
    assert capsys.readouterr().err.splitlines() == [
        "1 document, 2,000 words",
        "it: 1 decision",
        "sense: 69 decisions",
        "spelling: 9 decisions, 1 flag (0.50 per 1,000 words)",
        "written to out.jsonl",
    ]


def test_a_name_of_several_lines_is_shown_on_one(capsys):
    AnnotationReporter().summary(JobReport(Totals(1, 10, {})), "a\ndisambig: [D309] b\x1b[2J")
    assert capsys.readouterr().err.splitlines()[-1] == "written to a\\x0adisambig: [D309] b\\x1b[2J"


def test_a_job_that_goes_on_says_so_in_whole_sentences(capsys):
    for skipped, shards, said in (
        (1, 1, "nothing left to do: an earlier run finished the job"),
        (1, 3, "1 of 3 shards was finished by an earlier run"),
        (2, 3, "2 of 3 shards were finished by an earlier run"),
    ):
        report = JobReport(Totals(1, 10, {}), shards=shards, skipped=skipped)
        AnnotationReporter().summary(report, None)
        assert capsys.readouterr().err.splitlines()[-1] == said


def test_the_rate_is_that_of_all_but_the_first_piece(capsys, monkeypatch):
    now = iter([100.0, 101.0, 102.0])
    monkeypatch.setattr("disambig.cli.annotating.time.monotonic", lambda: next(now))
    reporter = AnnotationReporter()
    reporter.begin(300)
    for _ in range(3):
        reporter.listen(100, [])
    report = JobReport(Totals(3, 3000, {}))
    report.fresh.words = 3000
    reporter.summary(report, None)
    assert capsys.readouterr().err == "3 documents, 3,000 words, 1,000 words/s\n"
