"""Experiments in parts: the same result here and by a runner, and what is said where one fails."""

from __future__ import annotations

import pytest
from commands import here

from disambig.errors import UserError
from disambig.jobs import HasParts, make_runner, run_parts_on_workers

PLUGIN = """
from dataclasses import dataclass
from disambig.api import hookimpl
from disambig.api.experiments import ExperimentResult, ResultRow, run_parts

@dataclass(frozen=True)
class Made:
    title = "made"
    description = "made"
    needs = ()

    def run(self, *, data, quick, progress):
        return run_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data, quick, progress):
        return ["b", "a"][: 1 if quick else None]

    def part(self, name, *, data, quick, progress):
        if (data / name).read_text() == "bad":
            raise RuntimeError("it is bad")
        return len((data / name).read_text())

    def joined(self, found, *, quick):
        return ExperimentResult([ResultRow(name, "", None, float(n), n) for name, n in found.items()])

@hookimpl
def disambig_register_experiments(register):
    register("made.parts.v1", Made)
"""


@pytest.fixture
def data(tmp_path):
    (tmp_path / "a").write_text("four")
    (tmp_path / "b").write_text("sevenly")
    return tmp_path


@pytest.fixture
def made(data, load_with, monkeypatch):
    (data / "made_parts.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(data))
    load_with(made="made_parts")
    import made_parts

    return made_parts.Made()


def silent(*told):
    """Tell nobody."""


def test_parts_are_done_here_and_by_a_runner_alike(made, data):
    assert isinstance(made, HasParts)
    here_done = made.run(data=data, quick=False, progress=silent)
    told = []
    there = run_parts_on_workers(
        "made.parts.v1",
        made,
        make_runner("local"),
        data=data,
        quick=False,
        progress=lambda *said: told.append(said),
    )
    assert there == here_done
    assert [(row.system, row.n) for row in there.rows] == [("b", 7), ("a", 4)]
    assert told == [("b: done", 1, 2), ("a: done", 2, 2)]
    assert [row.system for row in made.run(data=data, quick=True, progress=silent).rows] == ["b"]


def test_a_part_that_fails_is_named(made, data):
    (data / "a").write_text("bad")
    with pytest.raises(UserError, match=r"D931.*made.parts, part 'a'.*it is bad"):
        run_parts_on_workers(
            "made.parts.v1", made, make_runner("local"), data=data, quick=False, progress=silent
        )


def test_an_experiment_without_parts_says_so(tmp_path, monkeypatch):
    from disambig.cli.commands.reproduce import experiments

    name = next(name for name, part in experiments().items() if not isinstance(part.load()(), HasParts))
    needs = experiments()[name].load()().needs
    for pattern in needs:
        (tmp_path / pattern).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / pattern.replace("*", "x")).touch()
    done = here("reproduce", name, "--data", tmp_path, "--workers", "2")
    assert done.returncode == 2
    assert "D930" in done.stderr and f"{name} cannot be divided" in done.stderr
