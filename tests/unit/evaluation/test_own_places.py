"""Figures of places with candidates of their own: the author's words, made errors, labels."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from toy_learners import MeanDifference

from disambig.cli.main import run
from disambig.data import CandidateLists, Group, Instances
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
from disambig.training import TrainingPlan, train, train_labelled
from disambig.types import Decides

LISTS = {
    "form": ("farm", "form", "from"),
    "from": ("form", "from"),  # each word has a list of its own: "farm" is no slip of "from"
    "farm": ("farm", "form"),
    "gone": ("go", "goes"),  # none of its candidates stands there
}


@dataclass(frozen=True)
class Slips:
    """Decide between a word and what is a slip away from it."""

    name: str = "slips"
    language: str = "en"
    decides: Decides = field(default=Decides("words", "own"))
    groups: tuple = (Group("slips", ()),)

    def instances(self, view):
        texts, document = view.texts, view.document_indices(np.arange(len(view)))
        words = [texts[d][s:e].lower() for d, s, e in zip(document, view.starts, view.ends, strict=True)]
        at = [i for i, word in enumerate(words) if word in LISTS]
        lists = [LISTS[words[i]] for i in at]
        observed = [own.index(words[i]) if words[i] in own else -1 for i, own in zip(at, lists, strict=True)]
        n = len(at)
        return Instances(
            np.array(at, np.int64),
            np.ones(n, np.int32),
            np.zeros(n, np.int32),
            np.array(observed, np.int32),
            CandidateLists.from_texts(lists),
        )


TEXTS = [
    f"He came from the big farm number {n} . She has a new form number {n} . It is gone from here ."
    for n in range(60)
]


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    from disambig.counts import build_table

    path = build_table(tmp_path_factory.mktemp("own") / "own.counts", TEXTS, Words())
    return {
        "task": Slips(),
        "tokenisation": Words(),
        "extractors": {"counts": NgramCounts(counts=path)},
        "learner": MeanDifference(),
        "baseline": NoPreference(),
    }


@pytest.fixture(scope="module")
def model(parts):
    return train(parts, {"train": TEXTS[:40], "dev": TEXTS[40:]}, name="slips", min_examples=2)


def test_how_often_the_authors_word_is_best_and_made_errors_are_found(model):
    found = evaluate(model, TEXTS, rates=(0.0, 1.0, 1000.0))
    assert (found["decisions"], found["accuracy"]) == (240, 1.0)
    (group,) = found["groups"].values()
    # "from" is right twice a text, "farm" and "form" once: in the list of "form" it wins, and nowhere else
    assert (group["n"], group["majority"]) == (240, 0.75)
    none, _, many = found["rates"].values()
    assert none["errors_found"] == 0.0 and none["false_flags"] == many["false_flags"] == 0
    assert many["errors_made"] == none["errors_made"] > 20
    assert many["errors_found"] == many["errors_mended"] == 1.0
    assert set(found["reliability"]) and found["false_alarm_shares"]["0.005"]["errors_found"] == 1.0
    json.dumps(found, allow_nan=False)


def test_errors_that_the_task_does_not_see_are_not_found(model):
    """A list is that of what stands there now: where it lacks the right word that is not suggested."""
    found = evaluate(model, ["She has a new form number 3 ."] * 40, rates=(1000.0,))["rates"]["1000"]
    assert found["errors_made"] > 3 and found["errors_mended"] == found["errors_found"] == 1.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LISTS, "from", ("from", "fro"))
        found = evaluate(model, ["She has a new form number 3 ."] * 40, rates=(1000.0,))["rates"]["1000"]
    assert 0 < found["errors_mended"] < 1


def test_a_judge_that_flags_nothing_has_an_accuracy_and_no_rates(model):
    found = evaluate(replace(model, judge=BestOfList()), TEXTS)
    assert (found["accuracy"], found["rates"]) == (1.0, {})


def test_the_card_has_them(parts, model):
    test = assess_model(model, parts, texts=TEXTS)
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


def labelled(n=24):
    """Return places where the first word of a text says what is right, whatever stands there."""
    made = []
    for i in range(n):
        text, right = (f"A new form number {i} .", "form") if i % 3 else (f"It came form here {i} .", "from")
        start = text.index("form")
        made.append(Labelled(text, start, start + 4, right, f"text {i}", f"made, line {i}"))
    return made


def test_labelled_places_have_an_accuracy(model):
    found = evaluate_labelled(model, labelled())
    assert (found["n"], found["overall"]["accuracy"]) == (24, 1.0)
    assert found["groups"]["slips"]["candidates"]["from"]["n"] == 8
    wrong = replace(labelled()[1], label="farm")
    several = evaluate_labelled(model, [replace(wrong, also=("form",))])
    assert several["overall"]["accuracy"] == 1.0
    found = evaluate_labelled(model, [wrong])
    assert found["groups"]["slips"]["confusions"] == [{"right": "farm", "chosen": "form", "n": 1}]


def test_configs_are_cross_validated(parts):
    found = cross_validate(parts, labelled(), folds=3, min_examples=2)
    assert found["overall"]["model"]["accuracy"] == 1.0
    assert found["overall"]["majority"]["accuracy"] == pytest.approx(16 / 24)
    (wrong,) = found["systems"]["majority"]["slips"]["confusions"]
    assert wrong == {"right": "from", "chosen": "form", "n": 8}
    test = assess_model(
        train_labelled(parts, labelled(), name="slips"), parts, labelled=labelled(), min_examples=2
    )
    assert test["how"].startswith("5-fold") and test["n"] == 24


def test_two_models_are_compared(parts, model):
    other = replace(model, scorers=(None,), name="other")  # the first of each list
    for same in (on_texts(other, model, TEXTS), on_labelled(other, model, labelled())):
        found = compare((other, model), same, draws=50)
        assert [system["value"] for system in found["systems"]][1] == 1.0
        assert found["difference"]["value"] > 0.2
        named = compare((other, model), same, measure="f1:from", draws=50)
        assert named["systems"][1]["value"] == 1.0
    lists = replace(model, task=Lists())
    with pytest.raises(UserError, match="D338"):
        on_texts(lists, lists, TEXTS)
    with pytest.raises(UserError, match="D338"):
        evaluate_labelled(lists, labelled())


def test_learning_curves(parts):
    found = curve_of_texts(parts, TEXTS * 2, sizes=(8, 40), draws=2)
    assert found["points"][-1]["accuracy"] == 1.0 and found["majority"] == 0.75
    assert curve_of_labelled(parts, labelled(), sizes=(15,), draws=5)["points"][0]["accuracy"] == 1.0


def test_the_command_of_curves_takes_places_and_no_items(parts, tmp_path, monkeypatch, capsys):
    (tmp_path / "text.txt").write_text("\n".join(TEXTS))
    monkeypatch.setattr(
        "disambig.training.read_plan", lambda path, **options: TrainingPlan(parts, {}, {}, "slips", "0")
    )
    said = ["curve", "slips.cfg", "--text", str(tmp_path / "text.txt"), "--lines", "--sizes", "30", "--json"]
    with pytest.raises(SystemExit) as ended:
        run([*said, "--draws", "1"])
    assert (ended.value.code, json.loads(capsys.readouterr().out)["points"][0]["accuracy"]) == (0, 1.0)
    items = {**parts, "task": Lists()}
    monkeypatch.setattr(
        "disambig.training.read_plan", lambda path, **options: TrainingPlan(items, {}, {}, "rerank", "0")
    )
    with pytest.raises(SystemExit) as ended:
        run(said)
    assert ended.value.code == 2 and "[D338]" in capsys.readouterr().err


def test_the_doctor_says_what_is_asked(model):
    orders = asked_by_order(model, TEXTS[0])
    # two 2-grams for each candidate of "from", "farm", "form", "gone" and "from"
    assert orders[2][0] > 0 and orders[2][1] == 2 * (2 + 2 + 3 + 2 + 2)
