"""How the tests are run: the number of processes, and the interpreters."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
PLAIN = "not slow and not benchmark and not replication"


@pytest.mark.parametrize(
    ("marks", "arguments", "cores", "workers"),
    [
        (PLAIN, ["tests"], 2, 2),
        (PLAIN, ["tests"], 96, 8),
        (PLAIN, ["tests"], 1, 0),
        (PLAIN, ["tests/unit", "tests/test_runs.py"], 2, 2),
        (PLAIN, ["tests/test_runs.py", "tests/unit/core/test_config.py::test_x"], 2, 0),
        ("slow and not benchmark and not replication", ["tests"], 2, 2),
        ("benchmark", ["tests"], 2, 0),
        ("data and replication", ["tests"], 2, 0),
        ("", ["tests"], 2, 2),
    ],
)
def test_number_of_processes(pytestconfig, monkeypatch, marks, arguments, cores, workers):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    config = SimpleNamespace(option=SimpleNamespace(markexpr=marks), args=arguments)
    assert pytestconfig.hook.pytest_xdist_auto_num_workers(config=config) == workers


def test_interpreters_are_those_of_the_classifiers():
    script = runpy.run_path(str(ROOT / ".ci" / "interpreters"))
    least = f'requires-python = ">={script["claimed"]()[0]}"'
    assert least in (ROOT / "pyproject.toml").read_text(encoding="utf8")
    assert script["interpreter"]("3.0") is None
