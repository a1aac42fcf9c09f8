"""Interrupts wait while a process is begun, which never hears of SIGINT."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import pytest

from disambig.jobs import delay_interrupts

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs masks of signals")
BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


def deaf(connection) -> None:
    connection.send(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_at_the_end_of_the_block(number):
    heard = []
    before = signal.signal(number, lambda *_: heard.append(len(heard)))
    try:
        with delay_interrupts():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            assert not heard
        assert heard == [0]
        os.kill(os.getpid(), number)
        assert heard == [0, 1]
    finally:
        signal.signal(number, before)


def test_it_is_raised_even_where_the_block_fails():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), delay_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            raise RuntimeError("a worker was ended by it")
    finally:
        signal.signal(signal.SIGINT, before)


def test_processes_begun_in_the_block_are_deaf_to_sigint_and_later_ones_are_not():
    def begun() -> str:
        return subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True).stdout.strip()

    with delay_interrupts():
        assert begun() == "True"
    assert begun() == "False"


def test_workers_of_the_standard_library_too():
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with delay_interrupts():
        process = context.Process(target=deaf, args=(theirs,))
        process.start()
    assert ours.poll(60) and ours.recv() is True
    process.join()


def test_outside_the_main_thread_nothing_is_put_off():
    masks = []

    def run() -> None:
        with delay_interrupts():
            masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert signal.SIGINT not in masks[0]
