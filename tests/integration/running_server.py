"""``disambig serve`` in a child process, on a free port of the loopback address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FAKE = Path(__file__).with_name("fake_models.py")
LISTENING = re.compile(r"listening on http://127\.0\.0\.1:(\d+)")


@contextmanager
def running(
    *arguments: str, fake: bool = False, folder: str | Path = ".", log: list[str] | None = None
) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Yield the port of a running server, and its process, which is ended after the block.

    With `fake`, it has the fake models only. Lines that it writes to standard error are added to `log`.
    """
    program = [str(FAKE)] if fake else ["-m", "disambig.cli.main"]
    command = [sys.executable, *program, "serve", "--port", "0", *arguments]
    settings = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
    environment = {**os.environ, "DISAMBIG_TELL_COMPILING": "0"}
    process = subprocess.Popen(command, cwd=folder, env=environment, **settings)
    lines = [] if log is None else log
    with process, process.stderr:
        try:
            match = None
            while match is None and (line := process.stderr.readline()):
                lines.append(line)
                match = LISTENING.search(line)
            assert match is not None, lines
            reader = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
            reader.start()
            yield int(match[1]), process
            process.terminate()
            process.wait(30)
            reader.join(5)
        finally:
            process.kill()
