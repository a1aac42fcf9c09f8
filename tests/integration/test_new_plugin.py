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


def test_it_keeps_the_contracts(tmp_path, monkeypatch):
    home = write_plugin("kind", tmp_path / "new")
    install(home, monkeypatch)
    own = runpy.run_path(str(home / "tests" / "test_kind.py"))
    assert len(own["CHECKS"]) == 5
    for part, checks in own["CHECKS"].items():
        assert len(checks) > 5, part
        for check in checks:
            check()


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
