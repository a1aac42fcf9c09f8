"""What `doctor --compile` does: every work runs, by its kernels, and the rest of the process as before."""

from __future__ import annotations

import os

import pytest

from disambig.doctor import OK, compiling
from disambig.doctor import compiling as works
from disambig.features import ContextProbabilities, ContextWords, NgramCounts, Subsequences, WordNetwork
from disambig.metrics import ErrorRate


def test_counting_runs_through(tmp_path, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", "numba")
    works._count(tmp_path)
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

    todo = [("broken", broken), ("learner", lambda: engines.append("learned"))]
    monkeypatch.setattr(compiling, "compile_works", lambda place: todo)
    (finding,) = compiling.compile_all(lambda *what: told.append(what))
    assert engines == ["numba", "learned"]
    assert told == [("compiling: broken", 0, 2), ("compiling: learner", 1, 2)]
    assert os.environ.get("DISAMBIG_ENGINE") == engine
    assert finding.status == OK and 0 <= finding.numbers["compiled"] <= finding.numbers["kernels"] > 50


def test_every_kind_of_work_is_there(tmp_path):
    names = {name for name, _ in works.compile_works(tmp_path)}
    assert {"counting", "disambig.WordNetwork.v1", "disambig.ErrorRate.v1"} <= names
    assert {"disambig.NoPreference.v1", "disambig.decode.chain_kernels.sample_chains"} <= names


def test_extractors_learn_from_the_sample_and_ask_the_table(tmp_path):
    """A work that fails compiles nothing, and says nothing: it must be one that cannot be done here."""
    works._count(tmp_path)
    for make in (NgramCounts, ContextProbabilities, WordNetwork, ContextWords, Subsequences):
        works._describe(tmp_path, make)
    works._measure(ErrorRate)
