"""How processes are started: interrupts wait meanwhile, and the current directory is not on their path."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker, spawn, util
from typing import Any

_FIRST_LINE = "import sys; sys.path[:] = filter(None, sys.path); "


def leave_out_current_directory() -> None:
    """Start processes of `multiprocessing` without the current directory on their path, from now on.

    Its workers, its resource tracker and its fork server are ``python -c ...``, whose path begins with the
    current directory, so that a ``signal.py`` there would run in each of them. A worker is given the path of
    its parent afterwards, as ever. ``python -P`` does the same, but only from Python 3.11 on.
    """
    # every kind of process that multiprocessing starts passes one of these, and no setting reaches them all
    if sys.platform == "win32":
        if spawn.get_command_line.__module__ != __name__:
            spawn.get_command_line = _wrapped_command_line(spawn.get_command_line)
    elif util.spawnv_passfds.__module__ != __name__:
        util.spawnv_passfds = _wrapped_start(util.spawnv_passfds)


def _wrapped_command_line(usual: Any) -> Any:
    def get_command_line(**settings: Any) -> list[str]:
        return _with_first_line(usual(**settings))

    return get_command_line


def _wrapped_start(usual: Any) -> Any:
    def spawnv_passfds(path: Any, args: Sequence[Any], passfds: Any) -> int:
        return int(usual(path, _with_first_line(args), passfds))

    return spawnv_passfds


def _with_first_line(command: Sequence[Any]) -> list[Any]:
    """Return a command in which the program of ``python -c`` first takes "" from its path."""
    changed = list(command)
    if "-c" in changed[:-1]:  # an executable made of a program has none, and no such path
        place = changed.index("-c") + 1
        changed[place] = _FIRST_LINE + changed[place]
    return changed


@contextmanager
def interrupts_put_off() -> Iterator[None]:
    """Hear SIGINT and SIGTERM when the block has ended; a process begun in it is born deaf to SIGINT.

    A terminal sends SIGINT to all processes: whoever began them hears it and ends them. Outside the main
    thread nothing is put off. Those begun in it, and all that follow, do not import from the current
    directory (`leave_out_current_directory`).
    """
    leave_out_current_directory()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    usual: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    masks = hasattr(signal, "pthread_sigmask")
    if masks:
        resource_tracker.ensure_running()  # begun in the block it would let SIGINT through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    for number in usual:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in usual.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
