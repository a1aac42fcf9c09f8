"""A plugin of small components from end to end, and documented settings of registered entries."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from toy_learners import KernelScorer
from toy_plugin import NearbyWords, Pairs

from disambig import registry
from disambig.config import resolve
from disambig.models import LinearScorer, load_model, save_model
from disambig.settings import get_settings
from disambig.testing import check_extractor, check_tokenisation
from disambig.text import Words
from disambig.training import train

TEXTS = [
    "It was quite good. The room is quiet now. We want peace today. A piece of cake is here.",
    "He is quite sure. A quiet place is nice. They made peace at last. One piece of bread is left.",
    "I am quite happy. The quiet street is long. She found peace there. Have a piece of pie.",
    "You are quite right. Keep quiet now, please. The peace was short. Take a piece of wood.",
] * 3


def sections_of(learner):
    return {
        "task": {"@disambig_tasks": "toys.Pairs.v1"},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"near": {"@disambig_extractors": "toys.NearbyWords.v1", "reach": 1}},
        "learner": {"@disambig_learners": f"toys.{learner}.v1"},
        "baseline": {"@disambig_learners": "toys.Constant.v1"},
    }


def trained(learner):
    config = sections_of(learner)
    texts = {"train": TEXTS, "dev": TEXTS}
    return train(resolve(config), texts, name="toys", config=config, min_examples=5)


@pytest.mark.parametrize("check", check_extractor(NearbyWords(), Pairs(), TEXTS), ids=str)
def test_extractor(check):
    check()


TOKENISATIONS = sorted(set(registry.entries("tokenisations")) - {"disambig.headwords.v1"})  # not for text


@pytest.mark.parametrize("name", TOKENISATIONS)
@pytest.mark.parametrize("settings", [{}, {"layers": ["stem"]}, {"language": "de"}], ids=str)
def test_tokenisation(name, settings):
    tokenisation = registry.get("tokenisations", name)
    if not settings.keys() <= get_settings(tokenisation).keys():
        pytest.skip("it has no such setting")
    texts = ["It's here, isn't it? Mr. Smith's e-mail (3.5%)!", "", "Nothing.\n\nAT&T: “quote”… naïve ß"]
    for check in check_tokenisation(tokenisation(**settings), texts):
        check()


@pytest.mark.parametrize(("learner", "kind"), [("Perceptron", LinearScorer), ("KernelRidge", KernelScorer)])
def test_one_scorer_per_group(learner, kind, load_with, tmp_path):
    load_with(toys="toy_plugin")
    model = trained(learner)
    assert [type(scorer) for scorer in model.scorers] == [kind, kind]
    view = Words()(["It was quite nice, a quiet day. Peace! We had a piece of cake."])
    decisions = model.decide(view)
    assert [decisions.record(i, view.texts[0])["group"] for i in range(4)] == ["quite/quiet"] * 2 + [
        "peace/piece"
    ] * 2
    assert np.array_equal(decisions.chosen, decisions.observed)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model").decide(view)
    assert np.array_equal(again.scores, decisions.scores)
    assert np.array_equal(again.probabilities, decisions.probabilities)


def test_a_group_without_examples_keeps_the_baseline(load_with):
    load_with(toys="toy_plugin")
    config = sections_of("Perceptron") | {
        "task": {"@disambig_tasks": "toys.Pairs.v1", "pairs": ["quite/quiet", "lose/loose"]}
    }
    model = train(resolve(config), {"train": TEXTS, "dev": TEXTS}, name="toys", config=config, min_examples=5)
    assert model.scorers[1] is None
    decisions = model.decide(Words()(["They lose it."]))
    assert decisions.scores.tolist() == [0.0, 0.0]
    assert not decisions.flagged.any()


def test_a_task_of_labels_flags_nothing(load_with):
    """Labels such as senses are not in the text, so nothing is compared or flagged."""
    load_with(toys="toy_plugin")
    model = trained("Perceptron")
    view = Words()([TEXTS[0]])

    class Senses(Pairs):
        def instances(self, view):
            result = super().instances(view)
            result.observed[:] = -1
            return result

    from dataclasses import replace

    decisions = replace(model, task=Senses()).decide(view)
    expected = model.decide(view)
    assert np.array_equal(decisions.chosen, expected.chosen)
    assert not decisions.flagged.any()
    assert (decisions.probabilities == 0).all()
    record = decisions.record(0, TEXTS[0])
    assert record["replacement"] == record["observed"] == "quite"


ENTRIES = [
    pytest.param(factory, id=name)
    for kind in ("tasks", "extractors", "kernels", "learners", "judges", "decoders", "measures", "readers")
    for name, factory in registry.load_all(kind).items()
]


def described(factory):
    """Return the parameter names in the output of `disambig plugins`."""
    message = inspect.getdoc(factory) or ""
    return {name for line in re.findall(r"^(\w[\w, ]*) : ", message, re.M) for name in line.split(", ")}


@pytest.mark.parametrize("factory", ENTRIES)
def test_every_setting_is_described(factory):
    assert set(get_settings(factory)) <= described(factory)


def test_fitted_fields_are_not_settings():
    learned = {"seen", "tables", "known", "keys", "weights", "calibration", "operating"}
    parts = {**registry.load_all("extractors"), **registry.load_all("judges")}
    assert not [name for name, part in parts.items() if learned & set(get_settings(part))]
