"""A plugin that ``disambig new-plugin`` wrote passes its own tests, and is found, trained and used."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from disambig.scaffold import write_plugin

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from packages import install


def run(*command, folder, path=""):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("kind", "n_parts"), [("labels", 5), ("words", 1)])
def test_it_keeps_the_contracts(tmp_path, monkeypatch, kind, n_parts):
    home = write_plugin(f"my{kind}", tmp_path / "new", kind=kind)
    install(home, monkeypatch)
    own = runpy.run_path(str(home / "tests" / f"test_my{kind}.py"))
    assert len(own["CHECKS"]) == n_parts
    for part, checks in own["CHECKS"].items():
        assert len(checks) > 5, part
        for check in checks:
            check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "lists", "decoder"])
def test_every_kind_passes_its_own_tests(tmp_path, monkeypatch, kind):
    home = write_plugin(f"my{kind}", tmp_path / "new", kind=kind)
    install(home, monkeypatch)
    said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", folder=home, path=home)
    assert " passed" in said and "failed" not in said
    listed = run("-m", "disambig.cli.main", "plugins", f"my{kind}", folder=home, path=home)
    assert "BROKEN" not in listed and f"my{kind}." in listed
    if kind == "lists":
        trained = ["train", "mylists", "--lists", "lists.jsonl", "--output", tmp_path / "model", "--no-test"]
        run("-m", "disambig.cli.main", *trained, folder=home, path=home)
        options = ["--from", "nbest", "--model", tmp_path / "model"]
        best = run("-m", "disambig.cli.main", "annotate", "lists.jsonl", *options, folder=home, path=home)
        assert best.count("model_score") == 4 * 40


@pytest.mark.slow
def test_it_passes_its_own_tests_when_pip_has_installed_it(tmp_path):
    pytest.importorskip("hatchling")
    home, site = write_plugin("kind", tmp_path / "new"), tmp_path / "site"
    pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--no-index"]
    run(*pip, "--no-build-isolation", "--target", site, home, folder=home)
    assert (site / "disambig_kind" / "kind.cfg").is_file()
    said = run("-m", "pytest", "-q", folder=home, path=site)
    assert " passed" in said and "failed" not in said
    assert "learner: kind.Softmax.v1" in run(
        "-m", "disambig.cli.main", "plugins", "kind", folder=home, path=site
    )
    model = tmp_path / "model"
    trained = ["train", "kind", "--labelled", "examples.jsonl", "--output", model, "--no-test"]
    run("-m", "disambig.cli.main", *trained, folder=home, path=site)
    (home / "mail.txt").write_text("Please wait. The train was late.\n")
    decided = run("-m", "disambig.cli.main", "annotate", "mail.txt", "--model", model, folder=home, path=site)
    assert '"chosen": "request"' in decided and '"chosen": "report"' in decided
