"""Saved groups, and models of earlier formats: they decide the same; damage is rejected."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from model_files import (
    VIEW,
    assert_rejected,
    change_description,
    edit_config,
    read_arrays,
    toy_config,
    write_arrays,
)
from toy_texts import SENTENCES

from disambig.config import resolve
from disambig.data import Group
from disambig.decision import Corrections, Labels
from disambig.formats import Labelled
from disambig.models import load_model, save_model
from disambig.training import train, train_labelled

COLUMNS = "scores probabilities flagged margins n_hits n_queries chosen groups starts".split()


def to_format_1(home, *without):
    """Convert a saved model to format 1, which stored the arrays of the decision rule with the weights."""
    description = json.loads((home / "model.json").read_text())
    arrays, rule_arrays = read_arrays(home), read_arrays(home, "judge.npz")
    if "bias" in rule_arrays:
        moved = {f"labels.{name}": array for name, array in rule_arrays.items() if name not in without}
        description["flags_per_1000"] = 0.0
    else:
        description["flags_per_1000"] = float(rule_arrays.pop("flags_per_1000")[0])
        parts = {name: "operating" for name in ("rates", "thresholds")}
        kept = {name: array for name, array in rule_arrays.items() if name not in without}
        moved = {f"{parts.get(name, 'calibration')}.{name}": array for name, array in kept.items()}
    config = (home / "config.cfg").read_text()
    plain = re.sub(r"\[judge\]\n(?:[^\[\n].*\n)*\n?", "", config)
    assert plain != config and "judge" not in plain
    (home / "config.cfg").write_text(plain)
    (home / "judge.npz").unlink()
    description["groups"] = [group["name"] for group in description["groups"]]
    description = {**description, "format": 1, "files": {"config.cfg": {}, "weights.npz": {}}}
    (home / "model.json").write_text(json.dumps(description))
    write_arrays(home, arrays | moved)
    return home


@pytest.fixture
def label_model(load_with, tmp_path):
    """A model of labels, trained on a few examples."""
    load_with(toys="toy_plugin")
    config = toy_config("toys.Marks.v1", pairs=["quite/quiet"])
    labelled = []
    for i in range(12):
        for text, label in ((f"It is quite good {i}.", "quite"), (f"A quite place {i}.", "quiet")):
            start = text.index("quite")
            labelled.append(Labelled(text, start, start + 5, label, text))
    model = train_labelled(resolve(config), labelled, name="marks", config=config, least_margin=0.25)
    save_model(model, tmp_path / "model")
    return model


def assert_equal_decisions(model, again, **settings):
    first, second = model.decide(VIEW, **settings), again.decide(VIEW, **settings)
    assert len(first) > 0
    for column in COLUMNS:
        assert np.array_equal(getattr(first, column), getattr(second, column)), column
    one, other = (item.candidate_probabilities(first) for item in (model, again))
    assert np.array_equal(one, other)


def test_format_1_decides_the_same(model, home, tmp_path):
    again = load_model(to_format_1(home))
    assert isinstance(again.judge, Corrections) and again.flags_per_1000 == model.flags_per_1000
    assert_equal_decisions(model, again)
    assert_equal_decisions(model, again, flags_per_1000=8.0)
    save_model(again, tmp_path / "newer")
    assert json.loads((tmp_path / "newer" / "model.json").read_text())["format"] == 2
    assert_equal_decisions(model, load_model(tmp_path / "newer"))


@pytest.mark.parametrize(("without", "least_margin"), [((), 0.25), (("least_margin",), 0)])
def test_format_1_of_labels_decides_the_same(label_model, tmp_path, without, least_margin):
    home = tmp_path / "model"
    assert load_model(home).judge.least_margin == 0.25
    again = load_model(to_format_1(home, *without))
    assert isinstance(again.judge, Labels) and again.judge.least_margin == least_margin
    assert_equal_decisions(label_model.with_least_margin(least_margin), again)
    assert again.flags_per_1000 == 0


def test_format_1_without_candidate_probabilities(model, home):
    again = load_model(to_format_1(home, "scales", "certainty"))
    assert again.candidate_probabilities(again.decide(VIEW)) is None
    assert np.array_equal(again.decide(VIEW).probabilities, model.decide(VIEW).probabilities)


@pytest.mark.parametrize("name", ["pooled", "groups", "rates", "thresholds"])
def test_rejects_format_1_without_arrays_of_its_rule(home, name):
    assert_rejected(to_format_1(home, name), "D405", name)


@pytest.mark.parametrize("rate", [-1, "many", None])
def test_rejects_invalid_rates_of_format_1(home, rate):
    change_description(to_format_1(home), flags_per_1000=rate)
    assert_rejected(home, "D405")


@pytest.mark.parametrize(("name", "damage"), [("scale", -1.0), ("bias", np.nan), ("offset", 1e38)])
def test_rejects_invalid_arrays_of_labels(label_model, tmp_path, name, damage):
    arrays = read_arrays(tmp_path / "model", "judge.npz")
    write_arrays(tmp_path / "model", arrays | {name: np.full_like(arrays[name], damage)}, "judge.npz")
    assert_rejected(tmp_path / "model", "D405")


def test_rejects_another_decision_rule_in_the_config(home):
    edit_config(home, "disambig.Corrections.v1", "disambig.Labels.v1")
    assert_rejected(home, "D405")  # the arrays are not those of labels
    edit_config(home, "disambig.Labels.v1", "disambig.Nothing.v1")
    assert_rejected(home, "D001", "disambig.Nothing.v1")


LINES = ["quite/quiet", "peace/piece"]
GROUPS = tuple(Group(line, tuple(line.split("/"))) for line in LINES)
CHANGED = {
    "another order": ["peace/piece", "quite/quiet"],
    "candidates in another order": ["quiet/quite", "piece/peace"],
    "more": ["lose/loose", *LINES, "was/place"],
    "fewer": ["peace/piece"],
    "a longer set": ["quite/quiet/quit", "peace/piece"],
    "no set at all": ["quite"],
    "no file": None,
}


@pytest.fixture
def sets(load_with, tmp_path):
    """A file of confusion sets."""
    load_with(toys="toy_plugin", files="sets_of_files")
    path = tmp_path / "sets.tsv"
    write_sets(path, LINES)
    return path


def write_sets(path, lines):
    if lines is None:
        path.unlink()
    else:
        path.write_text("\n".join(lines))


def train_model(path, task):
    config = toy_config(task, sets=str(path))
    texts = {"train": SENTENCES * 3, "dev": SENTENCES}
    model = train(resolve(config), texts, name="small", config=config, min_examples=3)
    save_model(model, path.parent / "model")
    return model


def assert_same_groups(model, again):
    assert_equal_decisions(model, again)
    assert again.task.groups == model.task.groups


@pytest.mark.parametrize("task", ["disambig.Candidates.v1", "files.Kept.v1"])
@pytest.mark.parametrize("change", CHANGED)
def test_model_keeps_its_groups_if_the_list_changes(sets, task, change):
    model = train_model(sets, task)
    assert [group.candidates for group in model.task.groups] == [group.candidates for group in GROUPS]
    write_sets(sets, CHANGED[change])
    again = load_model(sets.parent / "model")
    assert_same_groups(model, again)
    save_model(again, sets.parent / "again")
    assert_same_groups(model, load_model(sets.parent / "again"))


def test_added_sets_are_not_saved(sets):
    model = train_model(sets, "disambig.Candidates.v1").with_groups([Group("is/was", ("is", "was"))])
    save_model(model, sets.parent / "more")
    write_sets(sets, CHANGED["more"])
    again = load_model(sets.parent / "more")
    assert again.task.groups == GROUPS
    assert len(again.with_groups([Group("is/was", ("is", "was"))]).task.groups) == 3


@pytest.mark.parametrize("change", ["another order", "candidates in another order", "more", "fewer"])
def test_rejects_changed_groups_of_a_task_that_cannot_restore_them(sets, change):
    train_model(sets, "files.Numbered.v1")
    load_model(sets.parent / "model")
    write_sets(sets, CHANGED[change])
    assert_rejected(sets.parent / "model", "D409", "numbered")


def test_keeps_variants_and_glosses(sets):
    model = train_model(sets, "files.Kept.v1")
    first = Group("set0", ("quite", "quiet"), (("quite", "quiet"),), ("q.1", ""))
    model = replace(model, task=model.task.of_groups((first, model.task.groups[1])))
    save_model(model, sets.parent / "varied")
    again = load_model(sets.parent / "varied")
    assert again.task.groups == model.task.groups


# Older models store the names of groups only
def without_candidates(home):
    description = json.loads((home / "model.json").read_text())
    change_description(home, groups=[group["name"] for group in description["groups"]])
    return home


@pytest.mark.parametrize("change", [None, "another order", "more", "fewer", "a longer set", "no set at all"])
def test_derives_candidates_from_names_of_sets(sets, change):
    model = train_model(sets, "disambig.Candidates.v1")
    home = without_candidates(sets.parent / "model")
    if change == "no set at all":
        write_sets(sets, ["good/bad"])
    elif change:
        write_sets(sets, CHANGED[change])
    assert_same_groups(model, load_model(home))


def test_other_names_must_equal_those_of_the_task(sets):
    model = train_model(sets, "files.Kept.v1")
    home = without_candidates(sets.parent / "model")
    assert_same_groups(model, load_model(home))
    write_sets(sets, CHANGED["fewer"])
    assert_rejected(home, "D409", "numbered")


PAIR = {"name": "a", "candidates": ["quite", "quiet"]}
INVALID = [5, None, [5], [None], [[]], [{}], [{"name": "a"}], [PAIR], [], ["quite/quiet", PAIR]]
CHANGES = [{"name": 1}, {"candidates": [1, 2]}, {"candidates": 5}, {"variants": [[1]]}, {"glosses": [1]}]


@pytest.mark.parametrize("groups", [*INVALID, *([{**PAIR, **change}] for change in CHANGES)])
def test_rejects_invalid_groups(sets, groups):
    train_model(sets, "files.Kept.v1")
    change_description(sets.parent / "model", groups=groups)
    assert_rejected(sets.parent / "model", "D405")
