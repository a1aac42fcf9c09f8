"""Several commands on one directory at once: one works, the others say so, and the result is right."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fault_dial import amount, chance
from fault_runs import begun, check, ended, held, leftovers

pytestmark = pytest.mark.slow
JOB = ("annotate", "lines.txt", "--lines", "--shard-size", "0.004")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("two")
    lines = (f"Line {n} tells of a quite place.{' SLOW' if n % 16 == 0 else ''}\n" for n in range(400))
    (folder / "lines.txt").write_text("".join(lines))
    running = begun(*JOB, "--output", "whole", folder=folder)
    said = ended(running)
    assert running.returncode == 0, said
    return folder, held(folder / "whole")


def test_one_wins_and_the_others_say_so(corpus):
    folder, whole = corpus
    lost = 0
    for trial in range(amount(2, 200)):
        numbers = chance("two", trial)
        output = f"out{trial}"
        runs = []
        for _ in range(numbers.choice((2, 2, 3, 4))):
            more = ("--workers", numbers.choice((1, 2)))
            runs.append(begun(*JOB, "--output", output, *more, folder=folder))
            time.sleep(numbers.choice((0, 0, 0.3)))
        said = [ended(running) for running in runs]
        status = [running.returncode for running in runs]
        check(0 in status and set(status) <= {0, 2}, trial, status, *said)
        for number, text in zip(status, said, strict=True):
            if number == 2:
                lost += 1
                check(text.startswith("disambig: [D312]") and text.count("\n") == 1, trial, text)
        check(held(folder / output) == whole, trial, "another result")
        check(not leftovers(folder), trial, leftovers(folder))
    assert lost, "none was ever in the way of another"


def test_a_second_job_in_the_same_directory_is_rejected_even_with_force(corpus):
    folder, whole = corpus
    first = begun(*JOB, "--output", "held", folder=folder)
    while not (folder / "held" / "shards").exists() and first.poll() is None:
        time.sleep(0.01)
    other = begun("annotate", "lines.txt", "--lines", "--output", "held", "--force", folder=folder)
    said, status = ended(other), other.returncode
    ended(first)
    assert first.returncode == 0
    assert status == 2 and said.startswith("disambig: [D312]"), said
    assert held(folder / "held") == whole
