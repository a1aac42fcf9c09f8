"""A saved model decides between the groups it was trained for, whatever its task would read now."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from model_files import VIEW, refused, say
from toy_texts import SENTENCES

from disambig.config import resolve
from disambig.data import Group
from disambig.models import load_model, save_model
from disambig.training import train

LINES = ["quite/quiet", "peace/piece"]
GROUPS = tuple(Group(line, tuple(line.split("/"))) for line in LINES)
COLUMNS = ("scores", "probabilities", "flagged", "margins", "found", "asked", "chosen", "groups", "starts")
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
    """A file of sets."""
    load_with(toys="toy_plugin", files="sets_of_files")
    path = tmp_path / "sets.tsv"
    write(path, LINES)
    return path


def write(path, lines):
    if lines is None:
        path.unlink()
    else:
        path.write_text("\n".join(lines))


def trained(path, task):
    config = {
        "task": {"@disambig_tasks": task, "sets": str(path)},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"near": {"@disambig_extractors": "toys.NearbyWords.v1"}},
        "learner": {"@disambig_learners": "toys.Perceptron.v1"},
        "baseline": {"@disambig_learners": "toys.Constant.v1"},
    }
    texts = {"train": SENTENCES * 3, "dev": SENTENCES}
    model = train(resolve(config), texts, name="small", config=config, min_examples=3)
    save_model(model, path.parent / "model")
    return model


def same_decisions(model, again):
    first, second = model.decide(VIEW), again.decide(VIEW)
    assert len(first) == 5
    for column in COLUMNS:
        assert np.array_equal(getattr(first, column), getattr(second, column)), column
    assert again.task.groups == model.task.groups


@pytest.mark.parametrize("task", ["disambig.Candidates.v1", "files.Kept.v1"])
@pytest.mark.parametrize("change", CHANGED)
def test_a_list_that_changes_under_a_model(sets, task, change):
    model = trained(sets, task)
    assert [group.candidates for group in model.task.groups] == [group.candidates for group in GROUPS]
    write(sets, CHANGED[change])
    again = load_model(sets.parent / "model")
    same_decisions(model, again)
    save_model(again, sets.parent / "again")
    same_decisions(model, load_model(sets.parent / "again"))


def test_sets_added_in_use_are_not_part_of_what_is_saved(sets):
    model = trained(sets, "disambig.Candidates.v1").with_groups([Group("is/was", ("is", "was"))])
    save_model(model, sets.parent / "more")
    write(sets, CHANGED["more"])
    again = load_model(sets.parent / "more")
    assert again.task.groups == GROUPS
    assert len(again.with_groups([Group("is/was", ("is", "was"))]).task.groups) == 3


@pytest.mark.parametrize("change", ["another order", "candidates in another order", "more", "fewer"])
def test_a_task_that_takes_no_groups_is_refused_with_others(sets, change):
    trained(sets, "files.Numbered.v1")
    load_model(sets.parent / "model")
    write(sets, CHANGED[change])
    refused(sets.parent / "model", "D409", "numbered")


def test_variants_and_glosses_are_kept(sets):
    model = trained(sets, "files.Kept.v1")
    first = Group("set0", ("quite", "quiet"), (("quite", "quiet"),), ("q.1", ""))
    model = replace(model, task=model.task.of_groups((first, model.task.groups[1])))
    save_model(model, sets.parent / "varied")
    again = load_model(sets.parent / "varied")
    assert again.task.groups == model.task.groups


# Models of before, which say the names only


def named_only(home):
    said = json.loads((home / "model.json").read_text())
    say(home, groups=[group["name"] for group in said["groups"]])
    return home


@pytest.mark.parametrize("change", [None, "another order", "more", "fewer", "a longer set", "no set at all"])
def test_names_of_confusion_sets_say_their_candidates(sets, change):
    model = trained(sets, "disambig.Candidates.v1")
    home = named_only(sets.parent / "model")
    if change == "no set at all":
        write(sets, ["good/bad"])
    elif change:
        write(sets, CHANGED[change])
    same_decisions(model, load_model(home))


def test_names_that_say_no_candidates_must_be_those_of_the_task(sets):
    model = trained(sets, "files.Kept.v1")
    home = named_only(sets.parent / "model")
    same_decisions(model, load_model(home))
    write(sets, CHANGED["fewer"])
    refused(home, "D409", "numbered")


@pytest.mark.parametrize(
    "groups",
    [
        5,
        None,
        [5],
        [None],
        [[]],
        [{}],
        [{"name": "a"}],
        [{"name": 1, "candidates": ["quite", "quiet"]}],
        [{"name": "a", "candidates": [1, 2]}],
        [{"name": "a", "candidates": 5}],
        [{"name": "a", "candidates": ["quite", "quiet"], "variants": [[1]]}],
        [{"name": "a", "candidates": ["quite", "quiet"], "glosses": [1]}],
        ["quite/quiet", {"name": "a", "candidates": ["quite", "quiet"]}],
        [{"name": "a", "candidates": ["quite", "quiet"]}],
        [],
    ],
)
def test_groups_that_are_none(sets, groups):
    trained(sets, "files.Kept.v1")
    say(sets.parent / "model", groups=groups)
    refused(sets.parent / "model", "D405")
