"""Models scored on lists of candidates, and answers scored as in Senseval."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from commands import here
from hypothesis import given, strategies as st
from model_configs import model_config
from toy_components import toy_components
from toy_learners import MeanDifference
from toy_ways import ListedWords

from disambig.cli.commands.curve import curve_lines
from disambig.cli.commands.evaluate import labelled_lines
from disambig.config import resolve
from disambig.counts import build_table
from disambig.decision import BestOfList
from disambig.doctor import queries_by_order
from disambig.errors import UserError
from disambig.evaluation import (
    assess_model,
    assessment_line,
    compare,
    credit,
    cross_validate,
    curve_of_labelled,
    curve_of_texts,
    evaluate,
    evaluate_labelled,
    judge_senseval,
    model_answers,
    most_frequent,
    on_labelled,
    on_texts,
    score,
    why_untested,
)
from disambig.features import NgramCounts
from disambig.formats import Labelled, SenseInstance, read_key, read_sensemap, read_senseval
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
    orders = queries_by_order(model, TEXTS[0])
    # two 2-grams for each candidate of "from", "farm", "form", "gone" and "from"
    assert orders[2][0] > 0 and orders[2][1] == 2 * (2 + 2 + 3 + 2 + 2)


def test_card_has_the_figures(components, model):
    test = assess_model(model, components, texts=TEXTS)
    assert test["systems"]["model"]["slips"]["accuracy"] == 1.0
    assert test["systems"]["majority"]["slips"]["accuracy"] == 0.75
    assert set(test["systems"]) == {"model", "majority"}  # the first candidate is no baseline
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


def test_mistakes_that_the_task_knows_are_corrected_at_labelled_places(model):
    class ByRule(ListedWords):
        def certain_mistakes(self, view, instances):
            """Take each "form" that is written for a mistake for "farm"."""
            rows = np.flatnonzero(instances.observed == CANDIDATES["form"].index("form"))
            return rows, np.zeros(len(rows), np.int32), np.full(len(rows), 0.99)

    by_rule = replace(model, task=ByRule(CANDIDATES, "slips"))
    wrong = []
    figures = evaluate_labelled(by_rule, labelled_places(), wrong=wrong)["groups"]["slips"]
    assert {(pair["right"], pair["chosen"], pair["n"]) for pair in figures["confusions"]} == {
        ("form", "farm", 16),
        ("from", "farm", 8),
    }
    assert len(wrong) == 24 and all(record["margin"] >= 0 for record in wrong)
    without_flags = replace(by_rule, judge=BestOfList())
    assert evaluate_labelled(without_flags, labelled_places())["overall"]["accuracy"] == 1.0


def test_a_measure_of_labelled_places(components, model):
    places = [*labelled_places(), replace(labelled_places()[1], label="farm")]
    result = evaluate_labelled(model, places, measure="f1:form")["measure"]
    assert result["name"] == "F1 of 'form'" and result["more_is_better"]
    assert result["systems"]["model"]["value"] == pytest.approx(2 * 16 / (2 * 16 + 1))
    low, high = result["systems"]["model"]["interval"]
    assert low < 2 * 16 / (2 * 16 + 1) <= high == 1.0
    assert "measure" not in evaluate_labelled(model, places)
    folds = cross_validate(components, places, folds=3, min_examples=2, measure="accuracy")
    for system, groups in folds["systems"].items():
        value = folds["measure"]["systems"][system]["value"]
        assert value == pytest.approx(groups["slips"]["accuracy"]), system
    with pytest.raises(UserError, match=r"D443.*'word'.*f1:word"):
        evaluate_labelled(model, places, measure="f1:word")


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


def test_a_measure_of_learning_curves(components):
    result = curve_of_texts(components, TEXTS * 2, sizes=(8, 40), draws=2, measure="f1:from")
    assert [result["measure"][key] for key in ("name", "more_is_better")] == ["F1 of 'from'", True]
    assert [point["measure"]["value"] for point in result["points"]][-1] == 1.0
    assert 0 < result["measure"]["majority"] < 1
    assert "measure" not in curve_of_texts(components, TEXTS * 2, sizes=(8,), draws=1)
    places = labelled_places()
    settings = {"sizes": (15,), "draws": 5}
    labelled = curve_of_labelled(components, places, measure="accuracy", **settings)
    (point,) = labelled["points"]
    assert point["measure"] == {"value": point["accuracy"], "spread": point["spread"]}
    assert labelled["measure"]["majority"] == pytest.approx(labelled["majority"], abs=0.03)
    lines = curve_lines(labelled)
    assert lines[1].split() == "examples accuracy spread accuracy p before p baseline".split()
    assert "100.00%" in lines[2] and lines[-1].endswith("%") and len(lines[-1].split()) == 3
    never = curve_of_labelled(components, places, measure="f1:farm", **settings)["points"][0]["measure"]
    assert never == {"value": None, "spread": None}
    for measure, code in (("f1:word", "D443"), ("cer", "D433"), ("nothing", "D431")):
        with pytest.raises(UserError, match=code):
            curve_of_labelled(components, places, measure=measure, **settings)


def test_curve_command_accepts_places_but_not_lists(components, tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("\n".join(TEXTS))
    plans = [
        TrainingPlan(ResolvedConfig(**{**components, "task": task}), {}, {}, {}, task.name, "0")
        for task in (components["task"], Lists())
    ]
    monkeypatch.setattr("disambig.training.read_plan", lambda path, **options: plans.pop(0))
    command = "curve slips.cfg --text text.txt --lines --sizes 30 --json --draws 1 --measure macro_f1".split()
    done = here(*command, folder=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["points"][0]["accuracy"] == 1.0
    assert json.loads(done.stdout)["measure"]["name"] == "macro F1"
    done = here(*command, folder=tmp_path)
    assert done.returncode == 2 and "[D338]" in done.stderr


KEY = {"1": ("a",), "2": ("a", "b"), "3": ("P",), "4": ("c", "U")}


def test_credit_of_answers():
    result = score({"1": "a", "2": "b", "3": "a", "99": "a"}, KEY)
    assert (result.right, result.tried, result.n) == (2.0, 3.0, 4)
    assert (result.precision, result.recall, result.attempted) == (2 / 3, 2 / 4, 3 / 4)
    assert score({}, KEY).precision == score({}, {}).recall == 0.0
    assert credit({"1": ["a", "b"], "2": ["a", "b"], "4": ()}, KEY) == {"1": 0.5, "2": 1.0}
    assert credit({"1": {"a": 0.75, "b": 0.25}}, KEY) == {"1": 0.75}
    half = score({"1": {"a": 0.5}}, KEY)
    assert (half.precision, half.recall, half.attempted) == (1.0, 1 / 8, 1 / 8)
    assert credit({"1": ["a", "b"]}, KEY, any_of=True) == {"1": 1.0}
    assert credit({"1": ["x", "b"]}, KEY, any_of=True) == {"1": 0.0}
    groups = {"a": frozenset("a"), "b": frozenset("ab"), "c": frozenset("ca")}
    assert credit({"1": "b", "2": "x", "4": "b"}, KEY) == {"1": 0.0, "2": 0.0, "4": 0.0}
    assert credit({"1": "b", "2": "x", "4": "b"}, KEY, groups) == {"1": 1.0, "2": 0.0, "4": 1.0}


@given(st.dictionaries(st.sampled_from("1234"), st.lists(st.sampled_from("abcPU"), max_size=3)))
def test_coarse_scores_are_at_least_the_fine_ones(answers):
    groups = {"a": frozenset("a"), "b": frozenset("ab")}
    fine, coarse = score(answers, KEY), score(answers, KEY, groups)
    assert 0 <= fine.recall <= coarse.recall <= 1 and fine.recall <= fine.attempted <= 1
    assert score(answers, KEY, any_of=True).recall >= fine.recall


def test_most_frequent_sense():
    senses = [("P", "a"), ("a", "b"), ("b",), ("b", "P"), ("P",), ("P",)]
    instances = [SenseInstance(str(i), "w.n", "w", 0, 1, item) for i, item in enumerate(senses)]
    instances.append(SenseInstance("9", "only.n", "w", 0, 1, ("U",)))
    assert most_frequent(instances) == {"w.n": "a", "only.n": "U"}
    assert most_frequent(instances, every=True) == {"w.n": "b", "only.n": "U"}
    assert most_frequent(instances, every=True, unassigned=True)["w.n"] == "P"


@pytest.mark.data
@pytest.mark.skipif("DISAMBIG_DATA" not in os.environ, reason="DISAMBIG_DATA is not set")
def test_senseval_2_most_frequent_sense():
    folder = f"{os.environ['DISAMBIG_DATA']}/labelled/senseval2"
    train = read_senseval(f"{folder}/eng-lex-sample.training.xml.xz")
    test = read_senseval(f"{folder}/eng-lex-sample.evaluation.xml.xz")
    key, groups = read_key(f"{folder}/key.sorted.xz"), read_sensemap(f"{folder}/sensemap.xz")
    assert set(key) == {item.id for item in test}
    assert len(groups) == 814 and not {"P", "U"} & set(groups)

    def compute_scores(**options):
        senses = most_frequent(train, **options)
        answers = {item.id: senses[item.word] for item in test}
        fine = score(answers, key)
        assert fine.attempted == 1.0 and fine.precision == fine.recall
        return round(fine.recall, 3), round(score(answers, key, groups).recall, 3)

    assert compute_scores() == (0.476, 0.552)
    assert compute_scores(every=True) == (0.482, 0.558)
    assert compute_scores(every=True, unassigned=True) == (0.483, 0.557)


SENSES = [["bank.n", ["bank"], ["money", "shore"], []], ["odd.a", ["odd"], ["strange"], []]]
SENSE_CONFIG = model_config(
    ("kernel_rls.Senses.v1", {"words": SENSES}),
    {"local": "disambig.ContextWindow.v1"},
    "kernel_rls.RLSCLin.v1",
    tokenisation="disambig.spacy_tokens.v1",
)


def instance(name, text, head, word="bank.n"):
    start = text.index(head)
    return SenseInstance(name, word, text, start, start + len(head), (), (), name, name)


def examples():
    labelled = []
    for number in range(6):
        for label, text in (("shore", f"river bank {number}"), ("money", f"rich bank {number}")):
            start = text.index("bank")
            labelled.append(Labelled(text, start, start + 4, label, text, text, "bank.n"))
    return labelled


@pytest.fixture(scope="module")
def sense_model():
    return train_labelled(resolve(SENSE_CONFIG), examples(), name="senses", config=SENSE_CONFIG)


def test_answers_every_instance_of_a_known_word(sense_model):
    questions = [
        instance("1", "A river bank 7", "bank"),
        instance("2", "A rich bank 7", "bank"),
        instance("3", "A river bank 7", "bank"),  # the same place under another name
        instance("4", "A rich embankment", "embankment"),  # no form of the word
        instance("5", "A river bank 7", "river", "river.n"),
        instance("6", "How odd of it", "odd", "odd.a"),
    ]
    result = model_answers(sense_model, questions)
    assert result == {"1": "shore", "2": "money", "3": "shore", "4": "money", "6": "strange"}
    assert model_answers(sense_model, [instance("5", "A river", "river", "river.n")]) == {}


def test_does_not_attempt_small_margins(sense_model, tmp_path):
    instances = [instance("1", "A river bank 7", "bank"), instance("2", "The bank", "bank")]
    silent = sense_model.with_least_margin(1.0)
    assert model_answers(sense_model, instances).keys() == {"1", "2"}
    assert model_answers(silent, instances) == {"1": "shore"}
    (tmp_path / "key").write_text("bank 1 shore\nbank 2 shore money\n")
    texts = [item.text.replace("bank", "<head>bank</head>") for item in instances]
    xml = [f'<instance id="{n}"><context>{text}</context></instance>' for n, text in enumerate(texts, 1)]
    xml.append(xml[0].replace('"1"', '"9"'))
    (tmp_path / "a.xml").write_text('<corpus><lexelt item="bank.n">' + "\n".join(xml) + "</lexelt></corpus>")
    notes = []
    labelled, result = judge_senseval(
        silent, [str(tmp_path / "a.xml")], key=str(tmp_path / "key"), tell=notes.append
    )
    assert len(notes) == 1 and "key: left out: 1 instance of" in notes[0]
    assert (result["senseval"]["fine"]["precision"], result["senseval"]["fine"]["recall"]) == (1.0, 0.5)
    figures = evaluate_labelled(silent, labelled)["groups"]["bank.n"]
    assert (figures["accuracy"], figures["attempted"], figures["confusions"]) == (0.5, 0.5, [])
    assert "attempted 50.00%" in labelled_lines("model", {"bank.n": figures})[0]
    figures = evaluate_labelled(sense_model, labelled)["groups"]["bank.n"]
    assert figures["attempted"] == 1.0 and "attempted" not in labelled_lines("model", {"bank.n": figures})[0]


def test_abstaining_is_wrong_if_several_senses_are_right(sense_model):
    text = "The bank"
    both = Labelled(text, 4, 8, "money", text, text, "bank.n", also=("shore",))
    assert evaluate_labelled(sense_model, [both])["groups"]["bank.n"]["accuracy"] == 1.0
    silent = sense_model.with_least_margin(50.0)
    assert evaluate_labelled(silent, [both])["groups"]["bank.n"]["accuracy"] == 0.0
    result = cross_validate(resolve(SENSE_CONFIG), examples(), folds=3, least_margin=50.0)["systems"]
    assert result["model"]["bank.n"]["attempted"] == result["model"]["bank.n"]["accuracy"] == 0.0
    assert result["majority"]["bank.n"]["attempted"] == 1.0
