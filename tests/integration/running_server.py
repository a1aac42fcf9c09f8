"""``disambig serve`` as a process of its own, on a free port of the loopback address."""

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
    """Give the port of a server that answers, and its process; it is ended behind the block.

    With `fake` the fake models are its only ones. What it writes to standard error is added to `log`, a line
    each.
    """
    program = [str(FAKE)] if fake else ["-m", "disambig.cli.main"]
    command = [sys.executable, *program, "serve", "--port", "0", *arguments]
    settings = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
    environment = {**os.environ, "DISAMBIG_TELL_COMPILING": "0"}
    process = subprocess.Popen(command, cwd=folder, env=environment, **settings)
    lines = [] if log is None else log
    with process, process.stderr:
        try:
            found = None
            while found is None and (line := process.stderr.readline()):
                lines.append(line)
                found = LISTENING.search(line)
            assert found is not None, lines
            reader = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
            reader.start()
            yield int(found[1]), process
            process.terminate()
            process.wait(30)
            reader.join(5)
        finally:
            process.kill()
