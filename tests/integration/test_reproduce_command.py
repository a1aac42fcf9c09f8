"""``disambig reproduce`` with a small experiment, and what it says to those who ask for what is not there."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import partial

import pytest
from commands import exit_status

from disambig.cli.commands import reproduce
from disambig.experiments import Claim, ExperimentResult, ResultRow
from disambig.registry import Entry

RAN = []


@dataclass(frozen=True)
class Small:
    title: str = "a small table"
    description: str = "two systems"
    needs: tuple[str, ...] = ("texts/*.txt",)

    def run(self, *, data, quick, progress):
        RAN.append((data, quick))
        progress("working", 0, 1)
        rows = [
            ResultRow("sum", "", 70.0, 69.0, 5),
            *(ResultRow("svm", size, 1.0, 2.0, 5) for size in ("10", "100")),
        ]
        return ExperimentResult(rows, [Claim("it works", True, "see above")])


PART = Entry("experiments", "paper.table1.v1", "paper", Small)


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    RAN.clear()
    monkeypatch.setattr(reproduce, "experiments", lambda: {"paper.table1": PART})
    monkeypatch.delenv("DISAMBIG_DATA", raising=False)
    (tmp_path / "data" / "texts").mkdir(parents=True)
    (tmp_path / "data" / "texts" / "a.txt").write_text("a", encoding="utf8")
    return tmp_path / "data"


run = partial(exit_status, "reproduce")


def test_without_a_name_they_are_listed(capsys):
    assert run() == 0
    assert capsys.readouterr().out == "paper.table1  two systems\n"


def test_an_entry_that_cannot_be_imported_does_not_affect_others(monkeypatch, capsys):
    broken = Entry("experiments", "paper.broken.v1", "paper", "no_such_module_anywhere:Table")
    monkeypatch.setattr(reproduce, "experiments", lambda: {"paper.broken": broken, "paper.table1": PART})
    assert run() == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("paper.broken  BROKEN: [D007]") and second == "paper.table1  two systems"


def test_tables_are_printed_written_and_drawn(small, tmp_path, capsys):
    to = tmp_path / "result.json"
    assert run("paper.table1", "--data", small, "--json", to, "--plots", tmp_path / "plots") == 0
    output = capsys.readouterr()
    assert "70.0 / 69.0" in output.out
    assert json.loads(to.read_text(encoding="utf8"))["experiment"] == "paper.table1"
    assert (tmp_path / "plots" / "paper.table1.svg").is_file()
    assert "paper.table1.svg: drawn" in output.err
    assert [(small, False)] == RAN


def test_json_alone_goes_to_a_pipe(small, monkeypatch, capsys):
    monkeypatch.setenv("DISAMBIG_DATA", str(small))
    assert run("paper.table1", "--quick", "--json", "-") == 0
    output = json.loads(capsys.readouterr().out)
    assert output["claims"] == [{"claim": "it works", "holds": True, "evidence": "see above"}]
    assert any("quick" in note for note in output["notes"])
    assert [(small, True)] == RAN


def test_missing_files_are_reported_first(small, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("", encoding="utf8")
    for arguments, code in (
        (("paper.table2", "--data", small), "D720"),
        (("paper.table1",), "D723"),
        (("paper.table1", "--data", tmp_path / "none"), "D724"),
        (("paper.table1", "--data", tmp_path / "empty"), "D721"),
        (("paper.table1", "--data", small, "--json", tmp_path / "none" / "x.json"), "D309"),
        (("paper.table1", "--data", small, "--plots", tmp_path / "file"), "D309"),
    ):
        assert run(*arguments) == 2
        assert f"[{code}]" in capsys.readouterr().err
    assert RAN == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "empty", "file"]


def test_a_target_that_is_a_directory_is_rejected_before_the_work(small, tmp_path, capsys):
    (tmp_path / "plots" / "paper.table1.svg").mkdir(parents=True)
    for arguments in (("--json", tmp_path), ("--plots", tmp_path / "plots")):
        assert run("paper.table1", "--data", small, *arguments) == 2
        assert "[D309]" in capsys.readouterr().err
    assert RAN == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_target_without_permission_is_refused_before_the_work(small, tmp_path, capsys):
    kept, closed = tmp_path / "kept.json", tmp_path / "closed"
    kept.touch(mode=0o400)
    closed.mkdir(mode=0o500)
    for arguments in (("--json", kept), ("--json", closed / "x.json"), ("--plots", closed)):
        assert run("paper.table1", "--data", small, *arguments) == 2
        assert "[D309]" in capsys.readouterr().err
    assert RAN == []


@pytest.mark.parametrize("option", ["--json", "--plots"])
def test_an_interrupted_write_keeps_the_old_file(small, tmp_path, monkeypatch, option):
    old = tmp_path / "paper.table1.svg"
    old.write_text("old", encoding="utf8")

    def stopped(*names):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stopped)
    target = old if option == "--json" else tmp_path
    assert run("paper.table1", "--data", small, option, target) == 130
    assert old.read_text(encoding="utf8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", old.name]


def test_links_and_pipes_are_written_to_and_stay(small, tmp_path):
    link, pipe = tmp_path / "link.json", tmp_path / "pipe"
    link.symlink_to(tmp_path / "there.json")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for target in (link, pipe):
        assert run("paper.table1", "--data", small, "--json", target) == 0
    output = json.loads(os.read(reader, 1 << 16))
    os.close(reader)
    assert link.is_symlink() and pipe.is_fifo()
    assert json.loads((tmp_path / "there.json").read_text(encoding="utf8")) == output


def test_an_interrupted_run_writes_nothing(small, tmp_path, monkeypatch, capsys):
    def interrupted(self, **about):
        raise KeyboardInterrupt

    monkeypatch.setattr(Small, "run", interrupted)
    assert run("paper.table1", "--data", small, "--json", tmp_path / "x.json") == 130
    assert not (tmp_path / "x.json").exists()
    assert capsys.readouterr().out == ""


def test_every_experiment_of_the_plugins_is_listed(monkeypatch):
    monkeypatch.undo()
    names = set(reproduce.experiments())
    assert {"bergsma2010.table1", "bergsma2010.table2", "bergsma2010.table3"} <= names
