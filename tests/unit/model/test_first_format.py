"""Models of format 1, which the packs were shipped in, decide the same; what is damaged is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from model_files import VIEW, arrays_of, configure, put_arrays, refused, say

from disambig.config import resolve
from disambig.decision import Corrections, Labels
from disambig.formats import Labelled
from disambig.models import load_model, save_model
from disambig.training import train_labelled


def as_first(home, *without):
    """Make a saved model one of format 1, by hand: the judge's arrays lie with the weights."""
    said = json.loads((home / "model.json").read_text())
    arrays, judging = arrays_of(home), arrays_of(home, "judge.npz")
    if "bias" in judging:
        moved = {f"labels.{name}": array for name, array in judging.items() if name not in without}
        said["flags_per_1000"] = 0.0
    else:
        said["flags_per_1000"] = float(judging.pop("flags_per_1000")[0])
        rooms = {"rates": "operating", "thresholds": "operating"}
        moved = {
            f"{rooms.get(name, 'calibration')}.{name}": array
            for name, array in judging.items()
            if name not in without
        }
    config = (home / "config.cfg").read_text()
    plain = re.sub(r"\[judge\]\n(?:[^\[\n].*\n)*\n?", "", config)
    assert plain != config and "judge" not in plain
    (home / "config.cfg").write_text(plain)
    (home / "judge.npz").unlink()
    said["groups"] = [group["name"] for group in said["groups"]]
    said = {**said, "format": 1, "files": {"config.cfg": {}, "weights.npz": {}}}
    (home / "model.json").write_text(json.dumps(said))
    put_arrays(home, arrays | moved)
    return home


@pytest.fixture
def labelling(load_with, tmp_path):
    """A model of labels, trained on a few examples."""
    load_with(toys="toy_plugin")
    config = {
        "task": {"@disambig_tasks": "toys.Marks.v1", "pairs": ["quite/quiet"]},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"near": {"@disambig_extractors": "toys.NearbyWords.v1"}},
        "learner": {"@disambig_learners": "toys.Perceptron.v1"},
        "baseline": {"@disambig_learners": "toys.Constant.v1"},
    }
    labelled = []
    for i in range(12):
        for text, label in ((f"It is quite good {i}.", "quite"), (f"A quite place {i}.", "quiet")):
            start = text.index("quite")
            labelled.append(Labelled(text, start, start + 5, label, text))
    model = train_labelled(resolve(config), labelled, name="marks", config=config, least_margin=0.25)
    save_model(model, tmp_path / "model")
    return model


COLUMNS = ("scores", "probabilities", "flagged", "margins", "found", "asked", "chosen", "starts")


def same_decisions(model, again, **settings):
    first, second = model.decide(VIEW, **settings), again.decide(VIEW, **settings)
    assert len(first) > 0
    for column in COLUMNS:
        assert np.array_equal(getattr(first, column), getattr(second, column)), column
    one, other = (each.candidate_probabilities(first) for each in (model, again))
    assert np.array_equal(one, other)


def test_a_model_of_format_1_decides_the_same(model, home, tmp_path):
    again = load_model(as_first(home))
    assert isinstance(again.judge, Corrections) and again.flags_per_1000 == model.flags_per_1000
    same_decisions(model, again)
    same_decisions(model, again, flags_per_1000=8.0)
    save_model(again, tmp_path / "newer")
    assert json.loads((tmp_path / "newer" / "model.json").read_text())["format"] == 2
    same_decisions(model, load_model(tmp_path / "newer"))


def test_a_model_of_labels_of_format_1_decides_the_same(labelling, tmp_path):
    home = tmp_path / "model"
    assert load_model(home).judge.least_margin == 0.25
    again = load_model(as_first(home))
    assert isinstance(again.judge, Labels) and again.judge.least_margin == 0.25
    same_decisions(labelling, again)
    assert again.flags_per_1000 == 0


def test_the_oldest_models_of_labels_had_no_least_margin(labelling, tmp_path):
    again = load_model(as_first(tmp_path / "model", "least_margin"))
    assert again.judge.least_margin == 0
    same_decisions(labelling.with_least_margin(0), again)


def test_the_oldest_models_of_words_had_no_probabilities_of_candidates(model, home):
    again = load_model(as_first(home, "scales", "certainty"))
    assert again.candidate_probabilities(again.decide(VIEW)) is None
    assert np.array_equal(again.decide(VIEW).probabilities, model.decide(VIEW).probabilities)


@pytest.mark.parametrize("name", ["pooled", "groups", "rates", "thresholds"])
def test_a_model_of_format_1_without_a_part_of_its_judge_is_refused(home, name):
    refused(as_first(home, name), "D405", name)


@pytest.mark.parametrize(
    "changes", [{"flags_per_1000": -1}, {"flags_per_1000": "many"}, {"flags_per_1000": None}]
)
def test_absurd_rates_of_format_1(home, changes):
    say(as_first(home), **changes)
    refused(home, "D405")


@pytest.mark.parametrize(("name", "damage"), [("scale", -1.0), ("bias", np.nan), ("offset", 1e38)])
def test_absurd_arrays_of_labels(labelling, tmp_path, name, damage):
    arrays = arrays_of(tmp_path / "model", "judge.npz")
    put_arrays(tmp_path / "model", arrays | {name: np.full_like(arrays[name], damage)}, "judge.npz")
    refused(tmp_path / "model", "D405")


def test_a_judge_that_a_config_names_is_loaded_and_another_one_is_refused(home):
    configure(home, "disambig.Corrections.v1", "disambig.Labels.v1")
    refused(home, "D405")  # the arrays are not those of labels
    configure(home, "disambig.Labels.v1", "disambig.Nothing.v1")
    refused(home, "D001", "disambig.Nothing.v1")
