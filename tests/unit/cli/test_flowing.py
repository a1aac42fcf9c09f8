"""Lines flow: in their order, none lost, each at once where nothing else waits."""

from __future__ import annotations

import threading

import pytest

from disambig.cli.output import line_blocks
from disambig.errors import UserError

BLOCK = 512


def lines(n):
    return [(f"-:{number}", str(number)) for number in range(1, n + 1)]


@pytest.mark.parametrize("n", [0, 1, 3, BLOCK, BLOCK + 1, 12 * BLOCK + 5])
def test_every_line_once_in_order(n):
    found = list(line_blocks(iter(lines(n))))
    assert [line for block in found for line in block] == lines(n)
    assert all(1 <= len(block) <= BLOCK for block in found)


def test_a_line_is_there_before_the_next_one_is_written():
    answered = threading.Event()

    def typed():
        for line in lines(3):
            yield line
            assert answered.wait(10)
            answered.clear()

    seen = []
    for block in line_blocks(typed()):
        seen.append(block)
        answered.set()
    assert seen == [[line] for line in lines(3)]


def test_what_reading_raises_comes_behind_the_lines_before():
    def broken():
        yield from lines(2)
        raise UserError("D300", path="gone.txt")

    seen = []
    with pytest.raises(UserError, match="D300"):
        for block in line_blocks(broken()):
            seen += block
    assert seen == lines(2)


def test_who_stops_reading_stops_the_reader():
    asked = []

    def endless():
        number = 0
        while True:
            number += 1
            asked.append(number)
            yield "-", str(number)

    for _ in line_blocks(endless()):
        break
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and "read" in thread.name:
            thread.join(10)
            assert not thread.is_alive()
    assert len(asked) < 20 * BLOCK
