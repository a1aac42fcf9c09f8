"""Configs in, objects out; errors name the file and the place."""

from __future__ import annotations

import pytest

from disambig.config import read_config, resolve, write_config
from disambig.errors import UserError
from disambig.text.words import Words


def test_round_trip(tmp_path):
    config = {
        "task": {"@disambig_tasks": "toys.Pairs.v1", "pairs": ["a/b", "it's/its"]},
        "learner": {"@disambig_learners": "toys.Perceptron.v1"},
        "numbers": {"C": 1e-05, "n": 3, "free": None, "yes": True},
    }
    write_config(config, tmp_path / "x.cfg")
    assert read_config(tmp_path / "x.cfg") == config


def test_overrides_by_dotted_names(tmp_path):
    (tmp_path / "x.cfg").write_text("[learner]\nC = 1.0\n")
    assert read_config(tmp_path / "x.cfg", {"learner.C": 0.5}) == {"learner": {"C": 0.5}}


@pytest.mark.parametrize("content", [None, b"\xff\xfe[a]", b"[a", b"a = 1", b"[a]\nx = ${b.c}\n"])
def test_what_is_no_config(tmp_path, content):
    path = tmp_path / "x.cfg"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_config(path)
    assert caught.value.code == "D005"
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nested_objects_are_built_first(load_with):
    load_with(toys="toy_plugin")
    built = resolve({"a": {"b": {"@disambig_tokenisations": "disambig.words.v1"}, "n": 1}})
    assert isinstance(built["a"]["b"], Words)
    assert built["a"]["n"] == 1


@pytest.mark.parametrize(
    ("section", "code", "seen"),
    [
        ({"@disambig_tasks": "toys.Pears.v1"}, "D001", "toys.Pairs.v1"),
        ({"@disambig_taks": "toys.Pairs.v1"}, "D001", "@disambig_tasks"),
        ({"@disambig_tasks": "toys.Pairs.v1", "pears": 1}, "D005", "pears"),
        ({"@disambig_tasks": "toys.Pairs.v1", "pairs": 7}, "D005", "pairs"),
        ({"deep": {"@disambig_learners": "nothing.v1"}}, "D001", "nothing.v1"),
    ],
)
def test_what_cannot_be_built(load_with, section, code, seen):
    load_with(toys="toy_plugin")
    with pytest.raises(UserError) as caught:
        resolve({"task": section})
    assert caught.value.code == code
    assert seen in str(caught.value)
    assert "\n" not in str(caught.value)
