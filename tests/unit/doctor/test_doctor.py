"""The checks of the doctor on what is broken: each problem is one line with a way to mend it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from disambig.counts.build import build_table
from disambig.doctor import installation, packs, sample
from disambig.doctor.finding import OK, PROBLEM, WARNING, Finding, guarded
from disambig.plugins import PluginReport
from disambig.text.words import Words


def problems(findings):
    return [finding for finding in findings if finding.status == PROBLEM]


def test_a_check_that_fails_is_a_finding():
    def check():
        yield Finding("x", OK, "first")
        raise RuntimeError("two\nlines")

    first, second = guarded("x", check)
    assert first.status == OK
    assert (second.status, second.what) == (PROBLEM, "RuntimeError: two lines") and second.mend


def test_versions_are_held_against_what_is_required(monkeypatch):
    installed = {"numpy": "1.20.0", "scipy": "1.13.0"}

    def version(name):
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    wanted = ["numpy>=2.0", "scipy>=1.13", "absent>=3", 'pyarrow>=15; extra == "parquet"']
    monkeypatch.setattr(installation, "requires", lambda name: wanted)
    monkeypatch.setattr(installation, "version", version)
    found = list(installation.check_versions())
    assert [(f.what, f.mend) for f in problems(found)] == [
        ("numpy 1.20.0 is not >=2.0", "pip install 'numpy>=2.0'"),
        ("absent is missing", "pip install 'absent>=3'"),
    ]
    assert found[-1].what == "scipy 1.13.0"


def test_a_broken_plugin_is_named(monkeypatch):
    reports = [
        PluginReport("good", "a", "1", "a.b", None, (("tasks", "a.A.v1"),)),
        PluginReport("bad", "b", "2", "b.c", "ImportError: no\nway"),
    ]
    monkeypatch.setattr("disambig.plugins.load_plugins", lambda: reports)
    good, bad = installation.check_plugins()
    assert good.status == OK and "1 parts" in good.what
    assert bad.status == PROBLEM and "bad (b 2) could not be loaded: ImportError: no way" in bad.what
    assert bad.mend == "update or uninstall b"
    monkeypatch.setattr("disambig.plugins.load_plugins", list)
    assert [f.status for f in installation.check_plugins()] == [PROBLEM]


def test_a_forced_engine_is_a_warning(monkeypatch):
    monkeypatch.delenv("DISAMBIG_ENGINE", raising=False)
    assert len(list(installation.check_compiler())) == 1
    monkeypatch.setenv("DISAMBIG_ENGINE", "numpy")
    assert list(installation.check_compiler())[-1].status == WARNING


@dataclass
class Entry:
    value: str
    dist: None = None


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A pack of a table only, installed."""
    home = tmp_path / "tiny_pack"
    home.mkdir()
    build_table(home / "tiny.counts", ["a quiet place to be"] * 3, Words())
    said = {"name": "tiny_pack", "version": "1", "language": "en", "counts": "tiny.counts", "models": {}}
    (home / "pack.json").write_text(json.dumps(said))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(packs, "entry_points", lambda group: [Entry("tiny_pack")])
    return home


def check(quick=False):
    return list(packs.check_packs([], quick=quick))


def test_a_whole_pack_is_well(home):
    found = check()
    assert not problems(found)
    assert "checked byte by byte" in found[-1].what


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "json", "task", "outside"])
def test_a_damaged_pack_is_one_problem_and_how_to_mend_it(home, damage):
    table, said = home / "tiny.counts", home / "pack.json"
    data = table.read_bytes()
    if damage == "cut":
        table.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        table.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    elif damage == "gone":
        said.unlink()
    elif damage == "json":
        said.write_text("{")
    elif damage == "task":
        said.write_text(json.dumps(json.loads(said.read_text()) | {"models": {"x": "models/x"}}))
    else:
        said.write_text(json.dumps(json.loads(said.read_text()) | {"counts": "../other.counts"}))
    (problem,) = problems(check())
    assert "\n" not in problem.what and problem.mend
    if damage == "flip":
        assert not problems(check(quick=True))  # only reading it through shows that


def test_without_a_pack_there_is_a_problem(monkeypatch):
    monkeypatch.setattr(packs, "entry_points", lambda group: [])
    (problem,) = problems(check())
    assert "no pack is installed" in problem.what


def test_a_model_that_is_none_is_a_problem(tmp_path):
    (problem,) = problems(packs.named([str(tmp_path / "nothing")], []))
    assert "D405" in problem.what and problem.mend


def test_the_sample_has_something_for_every_model_of_the_pack():
    from disambig.model.packs import load

    loaded = [load(f"disambig_en/{task}") for task in ("preposition", "spelling", "it")]
    found = list(sample.check_sample(loaded, None))
    assert [f.area for f in found] == ["coverage"] * 3 + ["speed"]
    assert not problems(found)
    assert "5-grams" in found[0].what and "words/s with 3 models" in found[-1].what
    (nothing, *_) = sample.check_sample(loaded[:1], "Zzyx qwv.")
    assert "nothing to decide" in nothing.what


def run(*arguments):
    command = [sys.executable, "-m", "disambig.cli.main", "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_from_the_shell(tmp_path):
    done = run("--json", "--quick", "It is late.")
    found = json.loads(done.stdout)
    assert done.returncode == (2 if any(f["status"] == "problem" for f in found) else 0)
    assert {f["area"] for f in found} >= {"versions", "plugins", "compiler", "packs", "tables", "models"}
    done = run("--quick", "--model", str(tmp_path))
    assert done.returncode == 2
    assert "PROBLEM models:" in done.stdout and "-> train it again" in done.stdout
    assert Path(tmp_path).exists() and "Traceback" not in done.stderr
