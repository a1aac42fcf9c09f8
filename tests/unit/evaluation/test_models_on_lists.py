"""Figures of models that decide between per-instance candidates: words, synthetic errors, labels."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from commands import here
from toy_components import toy_components
from toy_learners import MeanDifference
from toy_ways import ListedWords

from disambig.counts import build_table
from disambig.decision import BestOfList
from disambig.doctor import asked_by_order
from disambig.errors import UserError
from disambig.evaluation import (
    assess_model,
    assessment_line,
    compare,
    cross_validate,
    curve_of_labelled,
    curve_of_texts,
    evaluate,
    evaluate_labelled,
    on_labelled,
    on_texts,
    why_untested,
)
from disambig.features import NgramCounts
from disambig.formats import Labelled
from disambig.models import NoPreference, card
from disambig.tasks import Lists
from disambig.text import Words
from disambig.training import ResolvedConfig, TrainingPlan, train, train_labelled

CANDIDATES = {
    "form": ("farm", "form", "from"),
    "from": ("form", "from"),  # each word has its own list: "farm" is not a mistake for "from"
    "farm": ("farm", "form"),
    "gone": ("go", "goes"),  # none of its candidates is in the text
}
TEXTS = [
    f"He came from the big farm number {n} . She has a new form number {n} . It is gone from here ."
    for n in range(60)
]


@pytest.fixture(scope="module")
def components(tmp_path_factory):
    path = build_table(tmp_path_factory.mktemp("own") / "own.counts", TEXTS, Words())
    parts = {"extractors": {"counts": NgramCounts(counts=path)}, "learner": MeanDifference()}
    return toy_components(ListedWords(CANDIDATES, "slips"), baseline=NoPreference(), **parts)


@pytest.fixture(scope="module")
def model(components):
    return train(components, {"train": TEXTS[:40], "dev": TEXTS[40:]}, name="slips", min_examples=2)


def test_accuracy_and_recall_of_synthetic_errors(model):
    result = evaluate(model, TEXTS, rates=(0.0, 1.0, 1000.0))
    assert (result["decisions"], result["accuracy"]) == (240, 1.0)
    (group,) = result["groups"].values()
    # "from" is right twice per text, "farm" and "form" once: it only wins in the list of "form"
    assert (group["n"], group["majority"]) == (240, 0.75)
    none, _, many = result["rates"].values()
    assert none["errors_found"] == 0.0 and none["false_flags"] == many["false_flags"] == 0
    assert many["errors_made"] == none["errors_made"] > 20
    assert many["errors_found"] == many["errors_mended"] == 1.0
    assert set(result["reliability"]) and result["false_alarm_shares"]["0.005"]["errors_found"] == 1.0
    json.dumps(result, allow_nan=False)


def test_lists_that_occur_once_are_not_decided_by_their_own_observed_word(model):
    (group,) = evaluate(model, ["From a farm."])["groups"].values()
    # "from" is the second candidate of its list, "farm" the first one
    assert (group["n"], group["majority"]) == (2, 0.5)


def test_corrections_outside_of_the_lists_are_missed(model):
    """The list belongs to the observed word: if it does not contain the right word, that is not suggested."""
    result = evaluate(model, ["She has a new form number 3 ."] * 40, rates=(1000.0,))["rates"]["1000"]
    assert result["errors_made"] > 3 and result["errors_mended"] == result["errors_found"] == 1.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CANDIDATES, "from", ("from", "fro"))
        result = evaluate(model, ["She has a new form number 3 ."] * 40, rates=(1000.0,))["rates"]["1000"]
    assert 0 < result["errors_mended"] < 1


def test_rules_without_flags_have_no_rates(model):
    result = evaluate(replace(model, judge=BestOfList()), TEXTS)
    assert (result["accuracy"], result["rates"]) == (1.0, {})


def test_doctor_counts_queries(model):
    orders = asked_by_order(model, TEXTS[0])
    # two 2-grams for each candidate of "from", "farm", "form", "gone" and "from"
    assert orders[2][0] > 0 and orders[2][1] == 2 * (2 + 2 + 3 + 2 + 2)


def test_card_has_the_figures(components, model):
    test = assess_model(model, components, texts=TEXTS)
    assert test["systems"]["model"]["slips"]["accuracy"] == 1.0
    assert test["systems"]["majority"]["slips"]["accuracy"] == 0.75
    (wrong,) = test["systems"]["majority"]["slips"]["confusions"]
    assert wrong == {"right": "form", "chosen": "from", "n": 60}
    tested = replace(model, provenance={**model.provenance, "test": test})
    assert why_untested(tested) == "" and assessment_line(test).startswith("accuracy 100.0%")
    shown = card(tested, "slips")
    assert "candidates that are specific to each place in a text. Task `slips`" in shown
    assert "| slips | 240 | 100.0% " in shown and "| slips | from | 120 | 1.000 | 1.000 | 1.000 |" in shown
    assert "words replaced at random" in shown and "no figures" not in shown.lower()


def labelled_places(n=24):
    """Return places whose right candidate is the first word of the text, whatever is observed."""
    built = []
    for i in range(n):
        text, right = (f"A new form number {i} .", "form") if i % 3 else (f"It came form here {i} .", "from")
        start = text.index("form")
        built.append(Labelled(text, start, start + 4, right, f"text {i}", f"made, line {i}"))
    return built


def test_accuracy_on_labelled_places(model):
    result = evaluate_labelled(model, labelled_places())
    assert (result["n"], result["overall"]["accuracy"]) == (24, 1.0)
    assert result["groups"]["slips"]["candidates"]["from"]["n"] == 8
    wrong = replace(labelled_places()[1], label="farm")
    several = evaluate_labelled(model, [replace(wrong, also=("form",))])
    assert several["overall"]["accuracy"] == 1.0
    result = evaluate_labelled(model, [wrong])
    assert result["groups"]["slips"]["confusions"] == [{"right": "farm", "chosen": "form", "n": 1}]


def test_cross_validation(components):
    result = cross_validate(components, labelled_places(), folds=3, min_examples=2)
    assert result["overall"]["model"]["accuracy"] == 1.0
    assert result["overall"]["majority"]["accuracy"] == pytest.approx(16 / 24)
    (wrong,) = result["systems"]["majority"]["slips"]["confusions"]
    assert wrong == {"right": "from", "chosen": "form", "n": 8}
    model = train_labelled(components, labelled_places(), name="slips")
    test = assess_model(model, components, labelled=labelled_places(), min_examples=2)
    assert test["how"].startswith("5-fold") and test["n"] == 24


def test_comparison_of_two_models(components, model):
    other = replace(model, scorers=(None,), name="other")  # the first of each list
    for same in (on_texts(other, model, TEXTS), on_labelled(other, model, labelled_places())):
        result = compare((other, model), same, draws=50)
        assert [system["value"] for system in result["systems"]][1] == 1.0
        assert result["difference"]["value"] > 0.2
        named = compare((other, model), same, measure="f1:from", draws=50)
        assert named["systems"][1]["value"] == 1.0
    lists = replace(model, task=Lists())
    with pytest.raises(UserError, match="D338"):
        on_texts(lists, lists, TEXTS)
    with pytest.raises(UserError, match="D338"):
        evaluate_labelled(lists, labelled_places())


def test_learning_curves(components):
    result = curve_of_texts(components, TEXTS * 2, sizes=(8, 40), draws=2)
    assert result["points"][-1]["accuracy"] == 1.0 and result["majority"] == 0.75
    result = curve_of_labelled(components, labelled_places(), sizes=(15,), draws=5)
    assert result["points"][0]["accuracy"] == 1.0


def test_curve_command_accepts_places_but_not_lists(components, tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("\n".join(TEXTS))
    plans = [
        TrainingPlan(ResolvedConfig(**{**components, "task": task}), {}, {}, {}, task.name, "0")
        for task in (components["task"], Lists())
    ]
    monkeypatch.setattr("disambig.training.read_plan", lambda path, **options: plans.pop(0))
    command = "curve slips.cfg --text text.txt --lines --sizes 30 --json --draws 1".split()
    done = here(*command, folder=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["points"][0]["accuracy"] == 1.0
    done = here(*command, folder=tmp_path)
    assert done.returncode == 2 and "[D338]" in done.stderr
