"""Run ``disambig`` in a test: in the process of the test (`here`) or in a child process (`process`).

`here` is fast, and suffices for what a command reads and writes. A child process takes most of a second; it
is needed for signals, closed pipes, workers, environment variables and imported modules.
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Done(NamedTuple):
    """The exit status and the output of a command."""

    returncode: int
    stdout: str
    stderr: str


def here(
    *arguments: object, folder: Path | str = ".", given: str | bytes = "", stdout: io.StringIO | None = None
) -> Done:
    """Run ``disambig ARGUMENTS`` in this process, in a folder; `given` is the standard input.

    `stdout` replaces the standard output.
    """
    from disambig.cli import main

    data = given.encode() if isinstance(given, str) else given
    streams = [
        io.TextIOWrapper(io.BytesIO(content), "utf8", write_through=True) for content in (data, b"", b"")
    ]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.chdir(folder)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        if stdout is not None:
            patch.setattr(sys, "stdout", stdout)
        main.run([*map(str, arguments)])
    outputs = (stream.buffer.getvalue().decode(errors="surrogateescape") for stream in streams[1:])
    return Done(end.value.code, *outputs)


def process(
    *arguments: object,
    folder: Path | str = ".",
    given: str = "",
    python: tuple[str, ...] = ("-m", "disambig.cli.main"),
    **settings: Any,
) -> Done:
    """Run ``disambig ARGUMENTS`` in a child process, with settings of `subprocess.run`."""
    command = [sys.executable, *python, *map(str, arguments)]
    settings = {"capture_output": True, "check": False, "timeout": 300} | settings
    done = subprocess.run(command, cwd=folder, **{"input": given.encode()} | settings)
    return Done(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())


def exit_status(*arguments: object) -> int:
    """Run ``disambig ARGUMENTS`` in this process with its standard streams, and return the exit status."""
    from disambig.cli import main

    with pytest.raises(SystemExit) as end:
        main.run([*map(str, arguments)])
    return end.value.code
