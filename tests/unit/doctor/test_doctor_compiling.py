"""What `doctor --compile` does: every work runs, by its kernels, and the rest of the process as before."""

from __future__ import annotations

import os

import pytest

from disambig.doctor import compiling
from disambig.doctor.finding import OK


def test_counting_runs_through(tmp_path, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", "numba")
    compiling._count(tmp_path)
    assert {"plain", "gaps", "merged", "pruned", "imported"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("engine", [None, "numpy"])
def test_all_works_are_told_and_the_engine_is_as_before(monkeypatch, engine):
    if engine is None:
        monkeypatch.delenv("DISAMBIG_ENGINE", raising=False)
    else:
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    engines, told = [], []

    def broken():
        engines.append(os.environ["DISAMBIG_ENGINE"])
        raise ValueError("this one is broken")

    monkeypatch.setattr(compiling, "_of_models", lambda: [("broken", broken)])
    monkeypatch.setattr(compiling, "_of_learners", lambda: [("learner", lambda: engines.append("learned"))])
    monkeypatch.setattr(compiling, "_count", lambda place: None)
    (finding,) = compiling.compile_all(lambda *what: told.append(what))
    assert engines == ["numba", "learned"]
    assert told == [(f"compiling: {name}", i, 3) for i, name in enumerate(("broken", "counting", "learner"))]
    assert os.environ.get("DISAMBIG_ENGINE") == engine
    assert finding.status == OK and 0 <= finding.numbers["compiled"] <= finding.numbers["kernels"] > 50
