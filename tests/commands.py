"""``disambig`` for tests: here, in the process of the test, or as a process of its own.

Here is quick, for what a command reads, says and writes. A process of its own costs most of a second; it is
for what only a process has: signals, closed pipes, workers, its environment, what it imports.
"""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Done:
    """What became of a command: its exit status, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def here(*arguments: object, folder: Path | str = ".", given: str | bytes = "") -> Done:
    """Run ``disambig ARGUMENTS`` in a folder, with something on standard input."""
    from disambig.cli import main

    data = given.encode() if isinstance(given, str) else given
    streams = [io.TextIOWrapper(io.BytesIO(some), "utf8", write_through=True) for some in (data, b"", b"")]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.chdir(folder)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        main.run([*map(str, arguments)])
    return Done(end.value.code, *(stream.buffer.getvalue().decode() for stream in streams[1:]))


def process(
    *arguments: object,
    folder: Path | str = ".",
    given: str = "",
    python: tuple[str, ...] = ("-m", "disambig.cli.main"),
    **settings: Any,
) -> Done:
    """Run ``disambig ARGUMENTS`` as a process of its own, with settings of `subprocess.run`."""
    command = [sys.executable, *python, *map(str, arguments)]
    settings = {"capture_output": True, "check": False, "timeout": 300} | settings
    done = subprocess.run(command, cwd=folder, **{"input": given.encode()} | settings)
    return Done(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())
