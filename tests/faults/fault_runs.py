"""Run commands in sessions of their own, and inspect their processes, remaining files and jobs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

DRIVER = Path(__file__).parents[1] / "integration" / "fake_models.py"
FAKE = (str(DRIVER),)
REAL = ("-m", "disambig.cli.main")
LIMIT = 240.0  # seconds after which a command is considered to hang
SECONDS = 60  # the same for a call in this process


@contextlib.contextmanager
def within(what: object):
    """Fail if a block takes longer than `SECONDS`."""

    def end(*_: object) -> None:
        raise AssertionError(f"it hangs: {what}")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def begun(*arguments: object, folder: Path, python: tuple[str, ...] = FAKE, **settings: Any):
    """Start ``disambig ARGUMENTS`` as the leader of a session; temporary files are in `folder`/tmp."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), **settings.pop("env", {})}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, *python, *map(str, arguments)],
        cwd=folder,
        env=environment,
        start_new_session=True,
        **(streams | settings),
    )


def ended(running: subprocess.Popen, case: object = "") -> str:
    """Wait for a command and return its standard error; fail, naming the case, if it hangs."""
    try:
        return running.communicate(timeout=LIMIT)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        left = [named(pid) for pid in members(running.pid)]
        raise AssertionError(f"it hangs: {case} {left}") from None


def members(session: int) -> list[int]:
    """Return the running processes of a session, its leader first."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = _stat(int(entry))
            if len(fields) > 3 and fields[3] == str(session) and fields[0] not in "ZX":
                found.append(int(entry))
    return sorted(found, key=lambda pid: (pid != session, pid))


def workers(session: int) -> list[int]:
    """Return the worker processes of a command, local ones or those of Dask."""
    return [pid for pid in members(session) if pid != session and "spawn_main" in named(pid)]


def hears(pid: int, number: int) -> bool:
    """Return True if a process has a handler for a signal, so that the command has started."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def check(holds: object, *what: object) -> None:
    """Fail with a complete description of the case if a condition does not hold."""
    if not holds:
        raise AssertionError("\n".join(map(str, what)))


def named(pid: int) -> str:
    """Return the command line of a process, or "" if it has exited."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def own_mb(pid: int) -> float:
    """Return the private memory of a process without files, in megabytes; 0 if it has exited."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _stat(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat``, beginning with the state."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def until(holds: Callable[[], object], seconds: float, what: str) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited {seconds} seconds for this: {what}"
        time.sleep(0.02)


def held(job: Path) -> dict[str, Any]:
    """Return the files of a job by name, without values that differ between runs."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in job.rglob("*") if path.is_file() and path.name != ".lock"):
        name = path.relative_to(job).as_posix()
        found[name] = path.read_bytes()
        if path.suffix == ".json":
            found[name] = {**json.loads(found[name]), "seconds": 0, "command": 0}
    return found


def leftovers(folder: Path, *, but: Iterable[str] = ()) -> list[str]:
    """Return the temporary files below a folder, including those in its folder tmp."""
    drafts = [str(path) for path in folder.rglob(".tmp-*")]
    return drafts + [name for name in os.listdir(folder / "tmp") if name not in but]
