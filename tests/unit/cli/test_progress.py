"""What progress looks like: on a terminal, without one, and under --quiet; each in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

CODE = """
import sys, time
from disambig.cli import progress
progress.begin_command()
progress.EVERY = 0.05
progress.set_quiet("quiet" in sys.argv)
with progress.stages() as told:
    for done in range(4):
        told("learning", done, 4)
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
    """Return what a terminal gets as output and messages together."""
    import pty

    mine, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-c", CODE, *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                some = os.read(mine, 4096)
            except OSError:  # Linux says so where the other side is closed
                break
            if not some:
                break
            seen += some
    os.close(mine)
    assert process.returncode == 0
    return seen.decode()


def test_without_a_terminal_there_is_a_line_now_and_then_on_standard_error():
    done = without_terminal()
    assert done.stdout.splitlines() == [f"line {i}" for i in range(4)]
    lines = done.stderr.splitlines()
    assert lines[-2:] == ["note: a message", "written to x"]
    told = lines[:-2]
    assert told and all(re.fullmatch(r"disambig: (starting|learning.*) \(\d+ s\)", line) for line in told)
    assert any("of 4" in line for line in told)


def test_quiet_leaves_messages_and_output():
    done = without_terminal("quiet")
    assert done.stdout.splitlines() == [f"line {i}" for i in range(4)]
    assert done.stderr.splitlines() == ["note: a message"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_on_a_terminal_the_bar_goes_before_a_line_is_written():
    seen = on_terminal()
    assert BAR.search(seen)
    for line in (*(f"line {i}" for i in range(4)), "note: a message", "written to x"):
        before, found, _ = seen.partition(line)
        assert found, line
        last = before.rpartition("\n")[2] if before.endswith("\n") else before[before.rfind("learning") :]
        assert not last or CLEARED in last, (line, last)  # cleared, if anything was there
    assert "learning" not in seen[seen.rfind(CLEARED) :]  # nothing is left behind


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_quiet_on_a_terminal_shows_no_bar():
    assert "learning" not in on_terminal("quiet")
