"""Progress bars, rates, summaries, and lines that are processed as they arrive."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from disambig.cli.annotating import AnnotationReporter
from disambig.cli.output import line_blocks
from disambig.cli.progress import ProgressRate, format_duration, format_size
from disambig.errors import UserError
from disambig.jobs import JobReport, Totals

CODE = """
import sys, time
from disambig.cli import progress
progress.begin_command()
progress.LINE_INTERVAL = 0.05
progress.set_quiet("quiet" in sys.argv)
with progress.stages() as report:
    for done in range(4):
        report("learning", done, 4)
        time.sleep(0.15)
        with progress.hidden_progress():
            sys.stdout.write(f"line {done}\\n")
            sys.stdout.flush()
    progress.say("note: a message")
progress.remark("written to x")
"""
BAR = re.compile(r"learning.*[0-9] of 4")
CLEARED = "\x1b[2K"


def without_terminal(*arguments):
    return subprocess.run(
        [sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=True, timeout=120
    )


def on_terminal(*arguments):
    """Return the output and the messages that a terminal receives."""
    mine, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-c", CODE, *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # Linux says so where the other side is closed
            while some := os.read(mine, 4096):
                seen += some
    os.close(mine)
    assert process.returncode == 0
    return seen.decode()


def test_progress_without_a_terminal():
    done = without_terminal()
    assert done.stdout.splitlines() == [f"line {i}" for i in range(4)]
    lines = done.stderr.splitlines()
    assert lines[-2:] == ["note: a message", "written to x"]
    output = lines[:-2]
    assert output and all(re.fullmatch(r"disambig: (starting|learning.*) \(\d+ s\)", line) for line in output)
    assert any("of 4" in line for line in output)
    done = without_terminal("quiet")  # which leaves messages and output
    assert done.stdout.splitlines() == [f"line {i}" for i in range(4)]
    assert done.stderr.splitlines() == ["note: a message"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_the_bar_is_cleared_before_a_line():
    seen = on_terminal()
    assert BAR.search(seen)
    for line in (*(f"line {i}" for i in range(4)), "note: a message", "written to x"):
        before, result, _ = seen.partition(line)
        assert result, line
        last = before.rpartition("\n")[2] if before.endswith("\n") else before[before.rfind("learning") :]
        assert not last or CLEARED in last, (line, last)  # cleared, if anything was there
    assert "learning" not in seen[seen.rfind(CLEARED) :]  # nothing is left behind
    assert "learning" not in on_terminal("quiet")


def test_the_rate_excludes_the_start_up():
    now = iter([0.0, 100.0, 101.0, 103.0])
    rate = ProgressRate("annotating", "B", clock=lambda: next(now))
    rate.report(0, 4_000_000)
    assert (rate.rate(), rate.state()) == (None, "0 B of 4.0 MB")
    rate.report(1_000_000, 4_000_000)  # after a start of 100 seconds
    assert rate.seconds_left() is None
    rate.report(2_000_000, 4_000_000)
    assert rate.line() == "annotating: 2.0 MB of 4.0 MB, 1.0 MB/s, 2 s left"
    rate.report(4_000_000, 4_000_000)
    assert rate.seconds_left() == 0.0


def test_formats_of_stages_sizes_and_durations():
    for stage, done, total, line in (("fitting", 0, 1, "fitting"), ("learning", 3, 40, "learning: 3 of 40")):
        rate = ProgressRate(stage)
        rate.report(done, total)
        assert rate.line() == line
    sizes = {0: "0 B", 999: "999 B", 1234: "1.2 kB", 45_600: "46 kB", 2.5e9: "2.5 GB"}
    assert {number: format_size(number) for number in sizes} == sizes
    durations = {0.4: "0 s", 89: "89 s", 600: "10 min", 7300: "2 h 02 min"}
    assert {seconds: format_duration(seconds) for seconds in durations} == durations


def summary(capsys, report, name=None):
    AnnotationReporter().summary(report, name)
    return capsys.readouterr().err.splitlines()


def test_the_summary_counts_flags_of_tasks_that_can_have_any(capsys):
    totals = Totals(1, 2000, {"spelling": (9, 1), "sense": (69, None), "it": (1, None)})
    assert summary(capsys, JobReport(totals), "out.jsonl") == [
        "1 document, 2,000 words",
        "it: 1 decision",
        "sense: 69 decisions",
        "spelling: 9 decisions, 1 flag (0.50 per 1,000 words)",
        "written to out.jsonl",
    ]
    lines = summary(capsys, JobReport(Totals(1, 10, {})), "a\ndisambig: [D309] b\x1b[2J")
    assert lines[-1] == "written to a\\x0adisambig: [D309] b\\x1b[2J"


def test_the_summary_of_a_resumed_job(capsys):
    for skipped, shards, expected in (
        (1, 1, "nothing left to do: an earlier run finished the job"),
        (1, 3, "1 of 3 shards was finished by an earlier run"),
        (2, 3, "2 of 3 shards were finished by an earlier run"),
    ):
        report = JobReport(Totals(1, 10, {}), shards=shards, skipped=skipped)
        assert summary(capsys, report)[-1] == expected


def test_the_rate_of_words_excludes_the_first_piece(capsys):
    now = iter([0.0, 100.0, 101.0, 102.0])
    reporter = AnnotationReporter(clock=lambda: next(now))
    reporter.begin(300)
    for _ in range(3):
        reporter.listen(100, [])
    report = JobReport(Totals(3, 3000, {}))
    report.fresh.words = 3000
    reporter.summary(report, None)
    assert capsys.readouterr().err == "3 documents, 3,000 words, 1,000 words/s\n"


BLOCK = 512


def numbered_lines(n):
    return [(f"-:{number}", str(number)) for number in range(1, n + 1)]


@pytest.mark.parametrize("n", [0, 1, 3, BLOCK, BLOCK + 1, 12 * BLOCK + 5])
def test_line_blocks_contain_every_line_once_in_order(n):
    result = list(line_blocks(iter(numbered_lines(n))))
    assert [line for block in result for line in block] == numbered_lines(n)
    assert all(1 <= len(block) <= BLOCK for block in result)


def test_a_line_is_yielded_before_the_next_is_read():
    answered = threading.Event()

    def typed():
        for line in numbered_lines(3):
            yield line
            assert answered.wait(10)
            answered.clear()

    seen = []
    for block in line_blocks(typed()):
        seen.append(block)
        answered.set()
    assert seen == [[line] for line in numbered_lines(3)]


def test_an_error_is_raised_after_the_lines_before_it():
    def broken():
        yield from numbered_lines(2)
        raise UserError("D300", path="gone.txt")

    seen = []
    with pytest.raises(UserError, match="D300"):
        for block in line_blocks(broken()):
            seen += block
    assert seen == numbered_lines(2)


def test_stopping_early_ends_the_reader():
    rates = []

    def endless():
        number = 0
        while True:
            number += 1
            rates.append(number)
            yield "-", str(number)

    for _ in line_blocks(endless()):
        break
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and "read" in thread.name:
            thread.join(10)
            assert not thread.is_alive()
    assert len(rates) < 20 * BLOCK
