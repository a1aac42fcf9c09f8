from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

pytest.importorskip("pygls")

from disambig.lsp import LoadedCheckers, serving


def test_a_connection_that_no_editor_made_is_closed():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ours = socket.create_connection(listening.getsockname(), timeout=20)
        theirs, _ = listening.accept()
    thread = threading.Thread(target=serving._serve_connection, args=(theirs, LoadedCheckers()), daemon=True)
    with ours, contextlib.suppress(ConnectionResetError):  # what it sent was not read
        thread.start()
        ours.sendall(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        while ours.recv(1 << 16):
            pass
    thread.join(20)
    assert not thread.is_alive()


class Listening:
    """Gives connections, or fails to, and is interrupted at the end."""

    def __init__(self, *given: object) -> None:
        self.given = list(given)

    def accept(self) -> tuple[object, str]:
        one = self.given.pop(0)
        if isinstance(one, BaseException):
            raise one
        return one, "address"


def test_where_no_connection_can_be_made_the_next_one_is_waited_for(monkeypatch):
    served: list[object] = []
    monkeypatch.setattr(serving, "PAUSE", 0.0)
    monkeypatch.setattr(serving, "_serve_connection", lambda connection, checkers: served.append(connection))
    problem = OSError(errno.EMFILE, "too many open files")
    with pytest.raises(KeyboardInterrupt):
        serving._serve_all(Listening("one", problem, "two", KeyboardInterrupt()), LoadedCheckers())
    for thread in threading.enumerate():
        if thread.name == "disambig-editor":
            thread.join(20)
    assert sorted(served) == ["one", "two"]


def test_no_more_editors_are_served_at_once_than_there_is_room_for(monkeypatch):
    most, served, end = [], threading.Semaphore(0), threading.Event()
    now: list[object] = []

    def serve(connection, checkers) -> None:
        now.append(connection)
        most.append(len(now))
        served.release()
        end.wait(20)
        now.remove(connection)

    monkeypatch.setattr(serving, "MOST", 2)
    monkeypatch.setattr(serving, "_serve_connection", serve)
    listening = Listening(*range(5), KeyboardInterrupt())

    def run() -> None:
        with pytest.raises(KeyboardInterrupt):
            serving._serve_all(listening, LoadedCheckers())

    thread = threading.Thread(target=run)
    thread.start()
    assert served.acquire(timeout=20)
    assert served.acquire(timeout=20)
    assert not served.acquire(timeout=0.2)
    end.set()
    thread.join(20)
    assert listening.given == []
    assert max(most) == 2


@pytest.fixture(params=["told by the system", "asked for"])
def without(request, monkeypatch):
    """Watch processes with and without what Linux has for it."""
    monkeypatch.setattr(serving, "LOOK", 0.05)
    if request.param == "asked for":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


@pytest.mark.skipif(os.name != "posix", reason="other systems know no signals")
@pytest.mark.usefixtures("without")
def test_a_process_has_ended_when_it_was_killed_or_is_not_there():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        ended: list[bool] = []
        stop = threading.Event()
        thread = threading.Thread(target=lambda: ended.append(serving.wait_for_exit(process.pid, stop)))
        thread.start()
        thread.join(0.3)
        assert ended == []
        os.kill(process.pid, signal.SIGKILL)
        thread.join(20)
        assert ended == [True]  # nobody asked for its exit status
        assert serving.wait_for_exit(process.pid, stop)
    assert serving.wait_for_exit(process.pid, stop)
    assert serving.wait_for_exit(2**70, stop)


@pytest.mark.usefixtures("without")
def test_a_process_that_lives_is_watched_until_nobody_waits():
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    assert not serving.wait_for_exit(os.getpid(), stop)
    assert not serving.wait_for_exit(0, threading.Event())
    assert not serving.wait_for_exit(-1, threading.Event())


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the system does not say when one started")
def test_a_later_process_of_the_same_number_is_another(monkeypatch):
    monkeypatch.setattr(serving, "LOOK", 0.05)
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    starts = iter(["100", "100", "200"])
    monkeypatch.setattr(serving, "_process_start", lambda pid: next(starts))
    assert serving.wait_for_exit(1, threading.Event())
