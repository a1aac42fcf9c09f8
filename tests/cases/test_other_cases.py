"""Plugins, counts, corpora, training and spaCy: cases after reports on tools of these kinds."""

from __future__ import annotations

import json
import os

import pytest
from commands import process

# --- plugins ---------------------------------------------------------------------------------------------

PLUGIN = """
from disambig.hookspecs import hookimpl

{top}

class Learner:
    pass

@hookimpl
def disambig_register_learners(register):
    register("odd_plugin.Learner.v1", Learner)
"""


@pytest.fixture
def site(tmp_path):
    """Return a function that makes a folder of installed packages, and an environment that uses it."""

    def make(dist_info, value, *, top="", metadata=True):
        folder = tmp_path / "site"
        info = folder / dist_info
        info.mkdir(parents=True)
        info.joinpath("entry_points.txt").write_text(f"[disambig]\nodd_plugin = {value}\n")
        if metadata:
            info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: odd-plugin\nVersion: 1.0\n")
        folder.joinpath("odd_plugin.py").write_text(PLUGIN.format(top=top))
        path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(folder)])
        return {**os.environ, "PYTHONPATH": path}

    return make


def check_goes_on(env, folder, said):
    folder.joinpath("a.md").write_text("It was better then the rest.\n")
    done = process("check", "a.md", "--format", "jsonl", folder=folder, env=env)
    assert done.returncode == 1, done.stderr
    (flag,) = map(json.loads, done.stdout.splitlines())
    assert flag["observed"] == "then"
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_distribution_without_metadata_is_named(site, tmp_path):
    env = site("~dd_plugin-1.0.dist-info", "odd_plugin", metadata=False)
    check_goes_on(env, tmp_path, "~dd_plugin-1.0.dist-info is incomplete")
    listed = process("plugins", env=env, folder=tmp_path)
    assert "[D018]" in listed.stdout and "Traceback" not in listed.stderr
    code = "import spacy; spacy.blank('en').add_pipe('disambig_spelling'); print('made')"
    assert "made" in process("-c", code, python=(), env=env, folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("top", "said"),
    [
        ('raise BaseException("odd")', "BaseException: odd"),
        ('class Panic(BaseException): pass\nraise Panic("no")', "Panic: no"),
    ],
)
def test_a_plugin_that_raises_a_base_exception(site, tmp_path, top, said):
    check_goes_on(site("odd_plugin-1.0.dist-info", "odd_plugin", top=top), tmp_path, said)


@pytest.mark.parametrize(
    "top", ['print("hello from here")', 'import sys; sys.stdout.buffer.write(b"hello from here\\n")']
)
def test_a_plugin_that_prints_does_not_spoil_results(site, tmp_path, top):
    env = site("odd_plugin-1.0.dist-info", "odd_plugin", top=top)
    check_goes_on(env, tmp_path, "[D020] plugin 'odd_plugin' writes to standard output")


@pytest.mark.parametrize("value", ["not a valid : thing ::", "odd-plugin", "odd_plugin:"])
def test_an_entry_point_that_is_not_valid(site, tmp_path, value):
    check_goes_on(site("odd_plugin-1.0.dist-info", value), tmp_path, "[D019] invalid entry point")
